"""A chain: one task in one arm, trial after trial; and what several chains of one task have in common."""

from __future__ import annotations

import hashlib
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, cast

from reflex_bench.agents.base import CallLimit, Trajectory
from reflex_bench.agents.memory import Memory, SlidingMemory
from reflex_bench.agents.reflexion import reflexion
from reflex_bench.envs.base import Task
from reflex_bench.harness.config import RoleConfig
from reflex_bench.harness.errors import RunStopped, TrialError
from reflex_bench.harness.journal import Call, Journal
from reflex_bench.harness.plan import Arm, Plan, fingerprint
from reflex_bench.harness.rows import Spent, Where, error_row, read_trajectory, trial_row
from reflex_bench.models.base import Message, Reply, Request
from reflex_bench.models.hashing import request_hash

T = TypeVar("T")


class Shared:
    """What the chains of one task have in common: whoever asks first makes it, the others wait for it.

    Args:
        rows: trials of this task that an earlier process finished.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        self.rows = {row["attempt"]: row for row in rows}
        self._guard = threading.Lock()
        self._made: dict[str, Future[Any]] = {}

    def once(self, key: str, make: Callable[[], T]) -> T:
        """`make()`, called once for each key; what it raises, it raises for all who ask."""
        with self._guard:
            future = self._made.get(key)
            if mine := future is None:
                future = self._made[key] = Future()
        if mine:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
        return cast(T, future.result())


@dataclass
class Asking:
    """One model in one role during one trial: an `Ask`, with the journal between it and the model.

    Attributes:
        call: which call of the run the next one is, but for number and step.
        sample: what the seeds of this trial are made from.
        limit: most calls.
        tools: native tools that the model may call.
        stopping: once set, no further call is made.
    """

    complete: Callable[[Request], Reply]
    role: RoleConfig
    journal: Journal
    call: Call
    sample: str
    limit: int
    stopping: threading.Event
    tools: tuple[Mapping[str, Any], ...] = ()
    spent: Spent = field(default_factory=Spent)

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        """See `reflex_bench.agents.base.Ask`."""
        if self.spent.calls >= self.limit:
            raise CallLimit(f"{self.limit} model calls")
        call = replace(self.call, number=self.spent.calls + 1, step=step)
        seed = derive_seed(self.sample, call.role, call.number)
        asked = self.role
        request = Request(tuple(messages), asked.temperature, asked.max_tokens, tuple(stop), seed, self.tools)

        def ask() -> Reply:
            if self.stopping.is_set():
                raise RunStopped("stopping")
            return self.complete(request)

        reply = self.journal.reply(call, request_hash(request), ask)
        self.spent.add(reply)
        return reply


def derive_seed(sample: str, role: str, number: int) -> int:
    """A seed of its own for every call of a run: 31 bits, which every server takes."""
    digest = hashlib.sha256(f"{sample}/{role}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


@dataclass
class Chain:
    """One task in one arm.

    Attributes:
        complete: calls a model by its name in the plan.
        write: takes a finished trial's row and its wall time in seconds.
    """

    plan: Plan
    arm: Arm
    task: Task
    shared: Shared
    journal: Journal
    complete: Callable[[str, Request], Reply]
    write: Callable[[dict[str, Any], float], None]
    stopping: threading.Event

    def run(self) -> None:
        """Runs what is owed of the chain and writes a row for each trial.

        Raises:
            RunStopped: no further call can be made.
        """
        self._where, self._sample = Where(self.arm.name, self.task, 1, ""), ""
        self._shown: tuple[str, ...] = ()
        self._acting, self._reflecting = Spent(), Spent()
        self._started = time.perf_counter()
        memory = SlidingMemory(self.arm.memory.size)
        try:
            for trial in reflexion(self._attempt, _passed, self._reflect, memory, self.plan.config.trials):
                self._finish(trial_row(self._where, trial, self._acting, self._reflecting))
        except RunStopped:
            raise
        except TrialError as error:
            self._fail(str(error), None)
        except Exception as error:
            # A fault of a plug-in, or of ours, costs one trial and is shown; it must not cost a night's run.
            self._fail(f"{type(error).__name__}: {error}", traceback.format_exc())

    def _fail(self, message: str, trace: str | None) -> None:
        self._finish(error_row(self._where, message, self._shown, self._acting + self._reflecting, trace))

    def _finish(self, row: dict[str, Any]) -> None:
        now = time.perf_counter()
        self.write(row, now - self._started)
        self._started = now

    def _attempt(self, trial: int, memory: tuple[str, ...]) -> Trajectory:
        apart = None if self.plan.config.share_first_trial else self.arm.name
        # Seeds follow from what is tried, not from who tries it: a recorded run can be replayed, and engines compared.
        self._sample = fingerprint([self.plan.config.seed, self.task.id, trial, memory, apart])
        lineage = [self._sample, self.task.fingerprint, self.arm.acting_key, self._where.attempt]
        self._where = Where(self.arm.name, self.task, trial, fingerprint(lineage))
        self._shown = memory
        self._acting, self._reflecting = Spent(), Spent()
        played, self._acting = self.shared.once(self._where.attempt, lambda: self._play(trial, memory))
        return played

    def _play(self, trial: int, memory: tuple[str, ...]) -> tuple[Trajectory, Spent]:
        recorded = self.shared.rows.get(self._where.attempt)
        if recorded is not None:
            return read_trajectory(recorded, self.task), Spent(**recorded["spent"]["actor"])
        ask = self._asking("actor", self.arm.actor, self.plan.max_calls)
        self._acting = ask.spent
        return self.arm.agent(
            self.task, trial, memory, self.plan.environment, ask, self.plan.limits
        ), ask.spent

    def _reflect(self, failed: Trajectory, memory: Memory) -> str | None:
        earlier = memory.all()
        key = fingerprint([self._where.attempt, self.arm.reflecting_key, earlier])

        def make() -> tuple[str | None, Spent]:
            ask = self._asking("reflector", self.arm.reflecting, limit=2)
            return self.arm.reflector(failed, earlier, self.plan.environment.prompts, ask), ask.spent

        text, self._reflecting = self.shared.once(key, make)
        return text

    def _asking(self, role: str, config: RoleConfig, limit: int) -> Asking:
        call = Call(self._where.attempt, 0, self.arm.name, self.task.id, self._where.trial, 0, role)
        complete = partial(self.complete, config.model)
        native = role == "actor" and self.plan.limits.actions == "tools"
        tools = self.plan.environment.tools() if native else ()
        return Asking(complete, config, self.journal, call, self._sample, limit, self.stopping, tools)


def _passed(trajectory: Trajectory) -> bool:
    return trajectory.success
