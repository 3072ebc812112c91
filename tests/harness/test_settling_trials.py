"""What becomes of a trial once it is judged, in an environment of the test's own where something does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from reflex_bench.agents.base import Outcome, Step, Trajectory, Verdict
from reflex_bench.agents.react import GIVE_UP
from reflex_bench.agents.reflexion import Trial
from reflex_bench.core.jsonl import as_line
from reflex_bench.envs.base import HANDED_OVER, Environment, Task
from reflex_bench.envs.declarations import Settlement
from reflex_bench.harness.running.settling import commands_of, environment_after, settled, write_further
from reflex_bench.harness.storage.records import BULKY, Where, brief, read_trajectory, trial_row

TASK = Task("t-1", "sum", "add it up", "0" * 64)


class Bank:
    """A trial is won where its deposits are 3, but only if it passed: what did not pass is taken back."""

    def __init__(self, carries: bool = True, before: int = 0) -> None:
        self.carries, self.before = carries, before

    def after(self, earlier: Sequence[Sequence[str]]) -> Bank:
        return Bank(self.carries, self.before + sum(int(each) for commands in earlier for each in commands))

    def settle(self, task: Task, commands: Sequence[str], passed: bool) -> Settlement:
        total = self.before + sum(map(int, commands)) if passed else self.before
        lines = {"deposits": [{"amount": int(each)} for each in commands]}
        return Settlement(won=total == 3, result={"total": total}, lines=lines)


def bank(**how: Any) -> Environment:
    return cast(Environment, Bank(**how))


def played(outcome: Outcome, *actions: str | None, reason: str = "") -> Trajectory:
    steps = tuple(Step(n, "…", "", action, "noted", reason=reason) for n, action in enumerate(actions, 1))
    return Trajectory(TASK, 1, (), "deposit", steps, outcome, {"total": 0})


def judged(trajectory: Trajectory, passed: bool) -> Trial:
    return Trial(trajectory, Verdict(passed, "rules"))


def test_the_commands_of_a_trial_are_what_its_environment_executed() -> None:
    assert commands_of(played("gave_up", "1", None, "2", GIVE_UP)) == ("1", "2")


def test_a_trial_that_is_right_and_passed_is_a_success() -> None:
    trial, more = settled(bank(), judged(played("success", "1", "2"), True))
    assert (trial.trajectory.outcome, trial.trajectory.result) == ("success", {"total": 3})
    assert more == {"lines": {"deposits": [{"amount": 1}, {"amount": 2}]}}


def test_a_right_trial_that_did_not_pass_is_no_success_and_is_read_again_as_it_was_judged() -> None:
    trial, more = settled(bank(), judged(played("success", "1", "2"), False))
    assert (trial.trajectory.outcome, trial.trajectory.result, more["ended"]) == (
        "failure",
        {"total": 0},
        "success",
    )
    row = {**trial_row(Where("a", TASK, 1, "x"), trial, {}), **more}
    assert (row["outcome"], row["success"]) == ("failure", False)
    assert read_trajectory(json.loads(json.dumps(row)), TASK).outcome == "success"
    assert {"lines", "ended"} <= set(BULKY)
    assert "lines" not in brief(row)


def test_a_hand_over_that_was_not_right_in_the_end_stays_one() -> None:
    trial, _ = settled(bank(), judged(played("success", "3", reason=HANDED_OVER), False))
    assert trial.trajectory.outcome == HANDED_OVER


def test_an_environment_in_which_nothing_is_settled_changes_nothing() -> None:
    before = judged(played("failure", "1"), False)
    assert settled(cast(Environment, SimpleNamespace()), before) == (before, {})


@pytest.mark.parametrize(("carries", "wanted"), [(True, 3), (False, 0)])
def test_a_trial_begins_where_the_ones_before_it_ended_where_the_world_is_carried(
    carries: bool, wanted: int
) -> None:
    earlier = [played("failure", "1"), played("failure", "2")]
    environment = cast(Bank, environment_after(bank(carries=carries), earlier))
    assert environment.before == wanted
    assert cast(Bank, environment_after(bank(), [])).before == 0


def test_further_records_are_written_with_the_trial_that_they_are_of(tmp_path: Path) -> None:
    folder = tmp_path / "trajectories"
    folder.mkdir()
    for number in (2, 1):
        row = {"attempt": f"x{number}", "arm": "a", "task": "t-1", "trial": number}
        row["lines"] = {"deposits": [{"amount": number}]}
        (folder / f"a.trial-{number}.jsonl").write_bytes(as_line(row))
    write_further(bank(), tmp_path)
    written = [
        json.loads(line) for line in (tmp_path / "deposits.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert written == [
        {"attempt": "x1", "arm": "a", "task": "t-1", "trial": 1, "amount": 1},
        {"attempt": "x2", "arm": "a", "task": "t-1", "trial": 2, "amount": 2},
    ]
    (tmp_path / "deposits.jsonl").unlink()
    write_further(cast(Environment, SimpleNamespace()), tmp_path)
    assert not (tmp_path / "deposits.jsonl").exists()
