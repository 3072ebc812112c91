"""How far a run has come: what is counted, and how long it will take yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from reflex_bench.harness.planning.plan import make_plan
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.harness.running import progress
from reflex_bench.harness.running.progress import Tally
from reflex_bench.harness.storage.manifest import describe
from reflex_bench.harness.storage.store import Store
from reflex_bench.models.base import Reply, Usage


class Clock:
    now = 1000.0


@pytest.fixture
def tally(tmp_path, monkeypatch) -> Iterator[tuple[Tally, Clock]]:
    """Of a run of two tasks in two arms, three trials of thirty steps each, and a clock that stands."""
    clock = Clock()
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    with (
        closing(make_plan(resolve([], {"tasks": 2}))) as plan,
        closing(Store.create(tmp_path / "run", describe(plan, "run", []))) as store,
    ):
        yield Tally(plan, store), clock


def call(tally: Tally, times: int, role: str = "actor") -> None:
    for _ in range(times):
        tally.calling()
        tally.called(role, Reply("look", Usage(10, 2)))


def row(arm: str, task: str, attempt: str, steps: int, trial: int, passed: bool) -> dict[str, object]:
    outcome = "success" if passed else "failure"
    return {"arm": arm, "task": task, "attempt": attempt, "steps": steps, "trial": trial} | {
        "passed": passed,
        "success": passed,
        "outcome": outcome,
    }


def test_while_no_chain_has_ended_the_time_left_is_a_bound_from_steps(tally) -> None:
    counted, clock = tally
    assert counted.left() == (False, None)
    call(counted, 5)
    clock.now += 10
    # 4 chains of 3 trials of 30 steps are at most 360 steps; 5 of them took 10 s.
    assert counted.left() == (True, 355 * 10 / 5)


def test_once_a_chain_has_ended_the_others_are_taken_to_be_as_long(tally) -> None:
    counted, clock = tally
    call(counted, 8)
    counted.trial(row("react", "a", "one", 5, 1, True))
    clock.now += 10
    # 5 steps are written and 3 under way; 4 chains of 5 steps each.
    assert counted.left() == (False, (20 - 8) * 10 / 8)
    # The same attempt in the other arm is no step that was done: it was shared.
    counted.trial(row("reflexion", "a", "one", 5, 1, True))
    assert counted.left() == (False, (20 - 13) * 10 / 13)


def test_a_chain_ends_with_its_last_trial_and_counts_all_of_them(tally) -> None:
    counted, clock = tally
    call(counted, 60)
    clock.now += 60
    for trial in (1, 2):
        counted.trial(row("react", "a", f"r{trial}", 20, trial, False))
    assert counted.left()[0]
    counted.trial(row("react", "a", "r3", 20, 3, False))
    assert counted.left() == (False, 4 * 60 - 60.0)


def test_calls_are_counted_while_they_are_under_way_and_when_they_failed(tally) -> None:
    counted, clock = tally
    counted.calling()
    counted.calling()
    assert (counted.in_flight, counted.calls, counted.steps) == (2, 0, 0)
    counted.called("actor", None)
    counted.called("reflector", Reply("why", Usage(7, 3)))
    assert (counted.in_flight, counted.calls, counted.steps, counted.tokens) == (0, 2, 0, 10)
    clock.now += 30
    assert counted.calls_a_minute() == 4
    clock.now += 31
    assert counted.calls_a_minute() == 0
