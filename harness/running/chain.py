"""Chain of trials of one task in one arm, and what several chains of one task share."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar, cast

from reflex_bench.agents import schema
from reflex_bench.agents.base import Reflection, Step, StepVerdict, Trajectory, Verdict, Watch
from reflex_bench.agents.evaluation.evaluators import as_judged
from reflex_bench.agents.memory.base import Memory, TaskMemory
from reflex_bench.agents.reflection import structured
from reflex_bench.agents.reflexion import reflexion
from reflex_bench.agents.transcripts import error_class_of, summary_of
from reflex_bench.core.errors import ModelError, RunStopped, TrialError
from reflex_bench.envs.base import Action, Task
from reflex_bench.harness.parts.doors import Door, is_ours
from reflex_bench.harness.planning.arms import Arm, fingerprint
from reflex_bench.harness.planning.plan import Plan
from reflex_bench.harness.planning.roles import RoleConfig
from reflex_bench.harness.running.role_client import RoleClient
from reflex_bench.harness.running.settling import environment_after, settled
from reflex_bench.harness.storage.journal import Call, Journal
from reflex_bench.harness.storage.records import (
    Spent,
    Where,
    error_row,
    read_spent,
    read_trajectory,
    trial_row,
)
from reflex_bench.harness.storage.refused import is_for_good, is_refusal
from reflex_bench.models.base import Reply, Request

PLAYING = ("actor", "step_evaluator")
"""The roles whose calls are part of playing a trial, and shared with it."""

CALLS_OF_A_JUDGE = 2 * schema.MAX_CALLS
"""Enough for two judges in one verdict, as `all` and `any` may combine them; a third passes nothing."""

T = TypeVar("T")


class SingleFlight:
    """What the chains of one task have in common: whoever asks first makes it, the others wait for it.

    Args:
        rows: trials of this task that an earlier process finished.
        idle: is entered while somebody waits.
        refused: by attempt, how often an endpoint refused it to earlier processes.
    """

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]] = (),
        idle: Callable[[], AbstractContextManager[object]] = nullcontext,
        refused: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._idle = idle
        # Of arms that share a trial, one may have been refused what came after it.
        errors_first = sorted(rows, key=lambda row: row["outcome"] != "error")
        self.rows, self.refused = {row["attempt"]: row for row in errors_first}, refused
        self._guard = threading.Lock()
        self._made: dict[str, Future[Any]] = {}

    def once(self, key: str, make: Callable[[], T]) -> T:
        """Return `make()`, called once for each key; what it raises, it raises for all who ask."""
        with self._guard:
            future = self._made.get(key)
            if mine := future is None:
                future = self._made[key] = Future()
        if mine:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
        elif not future.done():
            with self._idle():
                future.exception()
        return cast(T, future.result())


@dataclass
class Chain:
    """One task in one arm, a trial at a time, so that an arm whose tasks learn from one another can go in rounds.

    Attributes:
        complete: calls a model by its name in the plan, in a role.
        write: takes a finished trial's row and its wall time in seconds.
        memory: the arm's.
        failed: whether infrastructure ended the chain.
        refused: whether it did so for good: nothing is owed.
    """

    plan: Plan
    arm: Arm
    task: Task
    shared: SingleFlight
    journal: Journal
    complete: Callable[[str, str, Request], Reply]
    write: Callable[[dict[str, Any], float], None]
    stopping: threading.Event
    memory: Memory
    failed: bool = False
    refused: bool = False

    def __post_init__(self) -> None:
        trials, memory = self.plan.trials, self.memory.view(self.task)
        self._trials = reflexion(
            self._attempt, self._evaluate, self._reflect, memory, trials, self.plan.independent
        )
        self._where, self._sample = Where(self.arm.name, self.task, 1, ""), ""
        self._shown: tuple[str, ...] = ()
        self._environment, self._earlier = self.arm.environment, list[Trajectory]()
        self._spent: dict[str, Spent] = {}
        self._failures: list[tuple[str, str]] = []

    def step(self) -> bool:
        """Plays the next trial and writes its row; False where none follows.

        Raises:
            RunStopped: no further call can be made.
        """
        started = time.perf_counter()
        try:
            judged = next(self._trials)
            trial, more = settled(self._environment, judged)
            row = {**trial_row(self._where, trial, self._spent), **more}
        except RunStopped:
            raise
        except TrialError as error:
            row = self._error_row(str(error), None, is_refusal(error))
        except Exception as error:
            # A fault of a plug-in, or of ours, costs one trial and is shown; it must not cost a night's run.
            row = self._error_row(f"{type(error).__name__}: {error}", traceback.format_exc())
        self.write(row, time.perf_counter() - started)
        ended = row["passed"] and not self.plan.independent
        return not (self.failed or ended or row["trial"] == self.plan.trials)

    def _error_row(self, message: str, trace: str | None, refused: bool = False) -> dict[str, Any]:
        self.failed = True
        row = error_row(self._where, message, self._shown, self._spent, trace)
        if refused:
            row["refused"] = self.shared.refused.get(self._where.attempt, 0) + 1
        self.refused = is_for_good(row)
        return row

    def _attempt(self, trial: int, memory: tuple[str, ...]) -> Trajectory:
        apart = None if self.plan.config.share_first_trial else self.arm.name
        # Seeds follow from what is tried, not from who tries it: a recorded run can be replayed, and engines compared.
        self._sample = fingerprint([self.plan.config.seed, self.task.id, trial, memory, apart])
        acting = self.arm.key("run", "acting", "watching")
        lineage = [self._sample, self.task.fingerprint, acting, self._where.attempt]
        self._where = Where(self.arm.name, self.task, trial, fingerprint(lineage))
        self._shown, self._spent = memory, {}
        self._environment = environment_after(self.arm.environment, self._earlier)
        played, spent = self.shared.once(self._where.attempt, lambda: self._play(trial, memory))
        self._spent = dict(spent)
        self._earlier.append(played)
        return played

    def _play(self, trial: int, memory: tuple[str, ...]) -> tuple[Trajectory, dict[str, Spent]]:
        recorded = self.shared.rows.get(self._where.attempt)
        if recorded is not None and is_for_good(recorded):
            raise ModelError(recorded["error"], "content_filter")
        if recorded is not None:
            return read_trajectory(recorded, self.task), read_spent(recorded, PLAYING)
        ask = self._asking("actor", self.arm.actor, self.plan.max_calls)
        watching = self._asking("step_evaluator", self.arm.evaluation, self.plan.max_calls)
        self._spent = {"actor": ask.spent, "step_evaluator": watching.spent}
        environment, watch = self._environment, self._watch(watching)
        if is_ours(self.arm.agent) and is_ours(environment):
            played = self.arm.agent(self.task, trial, memory, environment, ask, self.arm.limits, watch)
        else:
            door = Door(self.arm.agent, environment, ask)
            played = door.play(self.task, trial, memory, self.arm.limits, watch)
        return played, self._spent

    def _watch(self, ask: RoleClient) -> Watch | None:
        judge = self.arm.step_evaluator
        if judge is None:
            return None

        def watch(opening: str, steps: Sequence[Step]) -> StepVerdict:
            if len(steps) % judge.every:
                return StepVerdict("on_track")
            return judge(opening, steps, self.arm.environment.prompts, ask)

        return watch

    def _evaluate(self, trajectory: Trajectory) -> Verdict:
        def make() -> tuple[Verdict, Spent]:
            ask = self._asking("evaluator", self.arm.evaluation, limit=CALLS_OF_A_JUDGE)
            return self.arm.evaluator(trajectory, self.arm.environment.prompts, ask), ask.spent

        key = fingerprint([self._where.attempt, self.arm.key("judging")])
        verdict, self._spent["evaluator"] = self.shared.once(key, make)
        return verdict

    def _reflect(self, trajectory: Trajectory, verdict: Verdict, memory: TaskMemory) -> Reflection | None:
        failed, earlier = as_judged(trajectory, verdict), memory.all()
        error_class = error_class_of(failed)
        alike = [summary for kind, summary in self._failures if kind == error_class]
        history = tuple(alike[-self.plan.config.history :]) if self.plan.config.history else ()

        def make() -> tuple[Reflection | None, Spent]:
            ask = self._asking("reflector", self.arm.reflection, limit=structured.MAX_CALLS)
            prompts = self.arm.environment.prompts
            return self.arm.reflector(failed, earlier, prompts, ask, history), ask.spent

        key = fingerprint(
            [self._where.attempt, self.arm.key("run", "judging", "reflecting"), earlier, history]
        )
        made, self._spent["reflector"] = self.shared.once(key, make)
        self._failures.append((error_class, summary_of(failed, made.text if made else "")))
        return made

    def _asking(self, role: str, config: RoleConfig, limit: int) -> RoleClient:
        call = Call(self._where.attempt, 0, self.arm.name, self.task.id, self._where.trial, 0, role)
        complete = partial(self.complete, config.model, role)
        native = role == "actor" and self.plan.limits.actions == "tools"
        tools = self.arm.environment.tools() if native else ()
        read = self._read if role == "actor" else None
        in_one, stopping = self.plan.limits.layout.text, self.stopping
        return RoleClient(
            complete, config, self.journal, call, self._sample, limit, stopping, tools, read, in_one
        )

    def _read(self, text: str) -> Action:
        return self.arm.environment.read_action(text, self.plan.limits.parse)
