"""Runs in this process whose model is a constant: for measuring what the harness takes, and nothing else."""

from __future__ import annotations

import dataclasses
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from reflex_bench.harness.planning.plan import Plan, make_plan
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.harness.running.runner import Runner
from reflex_bench.harness.storage.manifest import describe
from reflex_bench.harness.storage.store import Store
from reflex_bench.models.base import Model, Reply, Request, Usage

TASKS, STEPS = 134, 30


class Constant:
    """A model in this process that says the same to everything; it keeps what it was asked."""

    name, simulated = "constant", True

    def __init__(self, text: str = "look") -> None:
        self._reply = Reply(text, Usage(100, 5, 0), "stop", 0.0)
        self.asked: list[Request] | None = None

    def check(self) -> tuple[str, ...]:
        return ()

    def complete(self, request: Request) -> Reply:
        if self.asked is not None:
            self.asked.append(request)
        return self._reply

    def cost(self, usage: Usage) -> float | None:
        return 0.0

    def settings(self) -> Mapping[str, Any]:
        return {}

    def close(self) -> None:
        pass


class Counting:
    """Is told how a run goes, and counts its trials."""

    def __init__(self, at: Callable[[int], None] = lambda trials: None) -> None:
        self._trials, self._at = 0, at

    def calling(self) -> None:
        pass

    def called(self, role: str, reply: Reply | None) -> None:
        pass

    def stopping(self, calls: int) -> None:
        pass

    def trial(self, row: dict[str, Any]) -> None:
        self._trials += 1
        self._at(self._trials)

    def chain(self, arm: str) -> None:
        pass


def plan_of(stand_in: Model | None = None, **settings: Any) -> Plan:
    """134 games of 30 calls each, unless the settings say otherwise; loops do not end them."""
    games = {
        "environment": {"name": "alfworld"},
        "tasks": TASKS,
        "trials": 1,
        "arms": "react",
        "limits": {"cycles": 0, "max_steps": STEPS},
    }
    limits = games["limits"] | settings.pop("limits", {})
    plan = make_plan(resolve([], games | settings | {"limits": limits}))
    if stand_in is None:
        return plan
    return dataclasses.replace(plan, models=dict.fromkeys(plan.models, stand_in))


def run(plan: Plan, progress: Counting | None = None) -> tuple[float, float]:
    """Runs a plan in a new directory; seconds on the clock and of processor time."""
    with tempfile.TemporaryDirectory() as folder, closing(plan):
        store = Store.create(Path(folder) / "run", describe(plan, "run", ["bench"]))
        clock, processor = time.perf_counter(), time.process_time()
        ended = Runner(plan, store, progress or Counting()).run()
        took = time.perf_counter() - clock, time.process_time() - processor
        store.close()
    if ended.status != "complete" or ended.errors:
        sys.exit(f"the run did not go as it should: {ended}")
    return took
