"""What was put before a model, made again from a run: its trials are played with the recorded replies alone.

A request is shown only where its hash is the one on record, so it is what was sent, to the letter.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from reflex_bench.core.errors import RunStopped, UsageError
from reflex_bench.core.jsonl import read_lines
from reflex_bench.harness.planning.plan import Plan, make_plan
from reflex_bench.harness.planning.resolving import checked
from reflex_bench.harness.running.chain import Chain, SingleFlight
from reflex_bench.harness.running.memory_io import begin
from reflex_bench.harness.storage.journal import Call, Journal, recorded_reply
from reflex_bench.harness.storage.manifest import config_of, with_recorded_prompts
from reflex_bench.harness.storage.run_info import read_info
from reflex_bench.models.base import Reply, Request


class _FoundError(RunStopped):
    """Ends the replay: the request that was looked for is made again."""


class Rebuilding:
    """Stands for the journal and for the models: it answers what is on record, and keeps the request looked for.

    Args:
        path: the run directory.
        task: whose calls are answered.
        role: `actor`, `reflector`, …
        trial: of the call that is looked for.
        step: of it; None for the first of its role.
    """

    def __init__(self, path: Path, task: str, role: str, trial: int, step: int | None) -> None:
        rows = [
            row for row in read_lines(path / "calls.jsonl") if row["task"] == task and not row.get("lost")
        ]
        self._recorded = {
            (row["attempt"], row["role"], row["call"], row["request"]): recorded_reply(row) for row in rows
        }
        self._wanted = (role, trial, step)
        self._request: Request | None = None
        self.found: Request | None = None

    def reply(
        self, call: Call, request: str, characters: int, ask: Callable[[], Reply], again: int = 0
    ) -> Reply:
        """See `Journal.reply`; a request that is not on record ends the replay."""
        recorded = self._recorded.get((call.attempt, call.role, call.number, request))
        if recorded is None:
            where = f"trial {call.trial}, step {call.step}, {call.role}"
            raise UsageError(
                f"the prompt cannot be made again: what this version of reflex would send at {where} is not what is on "
                "record"
            )
        role, trial, step = self._wanted
        if (call.role, call.trial) == (role, trial) and step in (None, call.step):
            ask()
            self.found = self._request
            raise _FoundError("found")
        return recorded

    def complete(self, model: str, role: str, request: Request) -> Reply:
        """Keep a request instead of sending it."""
        self._request = request
        return Reply("")


def rebuild(path: Path, arm: str, task: str, trial: int, role: str, step: int | None) -> Request:
    """Return a request of a run, made again and checked against its recorded hash.

    Args:
        path: the run directory.
        arm: in which it was made, or shared.
        task: its id.
        trial: from 1.
        role: `actor`, `evaluator`, `step_evaluator` or `reflector`.
        step: of the trial; None for the first of the role.

    Raises:
        UsageError: there was no such call, or this version of reflex would send another request.
    """
    info = read_info(path)
    with closing(make_plan(checked(config_of(info)))) as opened:
        plan, _ = with_recorded_prompts(opened, info)
        rebuilding = Rebuilding(path, task, role, trial, step)
        _play(plan, path, arm, task, trial, rebuilding)
    if rebuilding.found is None:
        raise UsageError(
            f"{path}: trial {trial} of {task} has no call of {role}" + (f" at step {step}" if step else "")
        )
    return rebuilding.found


def _play(plan: Plan, path: Path, arm: str, task: str, trial: int, rebuilding: Rebuilding) -> None:
    (played,) = (each for each in plan.arms if each.name == arm)
    tasks = [each for each in plan.split.tasks if each.id == task]
    memory = begin(plan, played, path)
    if memory.cross_task and trial > 1:
        raise UsageError(
            f"arm {arm!r} learns across tasks: prompts after its first trial hang on all tasks, and are not made again"
        )
    if not tasks:
        raise UsageError(f"{path}: the split has no task {task!r} today")
    errors: list[Any] = []
    chain = Chain(
        plan,
        played,
        tasks[0],
        SingleFlight(),
        cast(Journal, rebuilding),
        rebuilding.complete,
        lambda row, seconds: errors.append(row["error"]) if row["outcome"] == "error" else None,
        threading.Event(),
        memory,
    )
    try:
        while chain.step():
            pass
    except _FoundError:
        return
    if errors:
        raise UsageError(str(errors[0]).removeprefix("UsageError: "))
