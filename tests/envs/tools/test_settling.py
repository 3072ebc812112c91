"""What happens when a trial in the library is over: released, dropped, undone."""

from __future__ import annotations

from typing import Any

import pytest
from small_business import Desked, opened

from reflex_bench.envs.tools.settling import Settling, released

LOAN = {"loan_id": "LN-233"}


def played(**controls: Any) -> Desked:
    """A trial that extended a loan and sent one reminder, which is what was wanted."""
    desk = opened(controls)
    desk.call("tool_extend_v1", **LOAN, due="2025-06-16")
    desk.call("tool_remind_v1", **LOAN, fee=2)
    return desk


def wanted(world: Any) -> bool:
    return bool(world.sent == ["LN-233"] and world.due["LN-233"] == "2025-06-16")


def settle(desk: Desked, passed: bool, trial: int = 1) -> None:
    Settling(desk.pipeline, trial, wanted).settle(passed)


def test_what_is_held_is_really_done_once_the_trial_passed() -> None:
    desk = played(barrier=True)
    assert desk.library.sent == []
    settle(desk, passed=True)
    assert wanted(desk.library)
    assert [each.mode for each in desk.library.ledger] == ["real", "released"]
    assert desk.desk.counts["barrier_released"] == 1


def test_what_is_held_is_dropped_and_the_rest_undone_where_it_did_not_pass() -> None:
    desk = played(barrier=True)
    settle(desk, passed=False)
    assert (desk.library.sent, desk.library.due["LN-233"]) == ([], "2025-06-02")
    assert [each.mode for each in desk.library.ledger] == ["undone", "dropped"]
    assert desk.desk.counts["barrier_right_not_released"] == 1


def test_nothing_is_undone_without_a_control_for_it() -> None:
    desk = played()
    settle(desk, passed=False)
    assert wanted(desk.library)


def test_compensation_undoes_the_newest_first_and_counts_what_cannot_be() -> None:
    desk = played(compensate=True)
    desk.call("tool_extend_v1", **LOAN, due="2025-07-01")
    settle(desk, passed=False)
    # The newest first: back to 16 June, then to 2 June.
    assert (desk.library.due["LN-233"], desk.library.sent) == ("2025-06-02", ["LN-233"])
    assert (desk.desk.counts["compensate_undone"], desk.desk.counts["compensate_cannot"]) == (2, 1)


def test_never_releases_nothing() -> None:
    desk = played(barrier={"release": "never"})
    settle(desk, passed=True)
    assert desk.library.sent == []


@pytest.mark.parametrize(("release", "people"), [("approver", 1), ("two_approvers", 2)])
def test_an_approver_who_is_always_right_releases_what_is_right_and_takes_time(
    release: str, people: int
) -> None:
    right, wrong = (played(barrier={"release": release, "right": 1.0, "minutes": 12}) for _ in range(2))
    wrong.call("tool_remind_v1", loan_id="LN-240", fee=1)
    before = right.desk.clock.milliseconds
    for desk in (right, wrong):
        settle(desk, passed=False)
    assert right.library.sent == ["LN-233"]
    assert wrong.library.sent == []
    assert right.desk.minutes == 12 * people
    assert right.desk.clock.milliseconds - before == 12 * 60_000 * people


def test_an_approver_errs_as_often_as_is_set() -> None:
    released_of = 0
    for trial in range(400):
        desk = played(barrier={"release": "approver", "right": 0.8})
        settle(desk, passed=True, trial=trial)
        released_of += wanted(desk.library)
    # A binomial of 400 at 0.8 has a standard deviation of 8; five of them.
    assert 320 - 40 <= released_of <= 320 + 40


def test_a_copy_in_which_everything_is_released_leaves_the_world_alone() -> None:
    desk = played(barrier=True)
    copy: Any = released(desk.desk.world, 0, 0)
    assert (copy.sent, desk.library.sent) == (["LN-233"], [])
