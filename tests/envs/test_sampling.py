"""Which tasks stand for a split."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Split, Task
from reflex_bench.envs.sampling import allot, first, stratified

UNSEEN = {"clean": 31, "cool": 21, "examine": 18, "heat": 23, "put": 24, "puttwo": 17}
"""The types of the 134 games of valid_unseen."""


def split_of(sizes: dict[str, int]) -> Split:
    tasks = [Task(f"{kind}/{n:03}", kind, "", "") for kind, size in sizes.items() for n in range(size)]
    return Split("s", tuple(sorted(tasks, key=lambda task: task.id)))


def sample(split: Split, count: int, seed: int = 0) -> Split:
    return stratified(split, count, lambda task: task.type, "type", seed)


@pytest.mark.parametrize(
    ("count", "seats"),
    [
        # 20 × size / 134 is clean 4.63, cool 3.13, examine 2.69, heat 3.43, put 3.58, puttwo 2.54: 17 whole seats; the
        # three largest remainders are those of examine, clean and put.
        (20, {"clean": 5, "cool": 3, "examine": 3, "heat": 3, "put": 4, "puttwo": 2}),
        # 50 × size / 134 is 11.57, 7.84, 6.72, 8.58, 8.96, 6.34: 46 whole seats; put, cool, examine and heat gain one.
        (50, {"clean": 11, "cool": 8, "examine": 7, "heat": 9, "put": 9, "puttwo": 6}),
        (134, UNSEEN),
    ],
)
def test_the_seats_are_those_of_the_largest_remainder_worked_out_by_hand(
    count: int, seats: dict[str, int]
) -> None:
    assert allot(UNSEEN, count) == seats


@given(
    st.dictionaries(st.sampled_from("abcdefg"), st.integers(1, 40), min_size=1),
    st.data(),
)
def test_no_stratum_loses_a_seat_when_the_sample_grows_and_none_is_far_from_its_share(
    sizes: dict[str, int], data: st.DataObject
) -> None:
    whole = sum(sizes.values())
    count = data.draw(st.integers(1, whole))
    seats = allot(sizes, count)
    assert sum(seats.values()) == count
    assert all(0 <= seats[name] <= sizes[name] for name in sizes)
    assert all(abs(seats[name] - sizes[name] * count / whole) < 2 for name in sizes)
    if count < whole:
        larger = allot(sizes, count + 1)
        assert all(seats[name] <= larger[name] for name in sizes)


def test_a_sample_follows_its_seed_alone_and_grows_with_its_size() -> None:
    split = split_of(UNSEEN)
    taken = [{task.id for task in sample(split, count).tasks} for count in (5, 20, 50, 134)]
    assert [len(ids) for ids in taken] == [5, 20, 50, 134]
    assert taken[0] < taken[1] < taken[2] < taken[3]
    assert sample(split, 20) == sample(split, 20)
    assert sample(split, 20).tasks != sample(split, 20, seed=1).tasks
    ids = [task.id for task in sample(split, 20).tasks]
    assert ids == sorted(ids)


def test_a_sample_is_drawn_from_the_whole_stratum() -> None:
    split = split_of({"a": 100})
    chosen = Counter(task.id for seed in range(200) for task in sample(split, 10, seed).tasks)
    # Each of the 100 tasks is expected 20 times in 200 samples of 10; 5 and 40 are more than four deviations away.
    assert len(chosen) == 100
    assert 5 < min(chosen.values()) <= max(chosen.values()) < 40


def test_the_first_tasks_are_the_first_by_id_and_the_note_says_so() -> None:
    taken = first(split_of({"b": 3, "a": 2}), 3)
    assert [task.id for task in taken.tasks] == ["a/000", "a/001", "b/000"]
    assert taken.notes == ("3 of 5 tasks were taken, the first by id",)


@pytest.mark.parametrize("count", [0, 6])
def test_a_sample_that_the_split_cannot_give_is_refused(count: int) -> None:
    for take in (lambda: first(split_of({"a": 5}), count), lambda: sample(split_of({"a": 5}), count)):
        with pytest.raises(UsageError, match=f"cannot take {count} tasks; s has 5"):
            take()
