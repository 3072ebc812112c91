"""How lessons gain and lose trust, merge, fade and make room."""

from __future__ import annotations

from typing import Any

import pytest

from reflex_bench.agents.memory.base import Evict
from reflex_bench.agents.memory.strategy import StrategyMemory
from reflex_bench.envs.base import Task

MUG = Task("t1", "heat", "heat a mug and put it on the desk", "00")
PEN = Task("t2", "put", "put a pen on the shelf", "00")
CUP = Task("t3", "heat", "heat a cup", "00")

MICROWAVE = "Use the microwave for whatever has to be heated."
DRAWERS = "Open the drawers before you decide that a thing is not there."


def learned(memory: StrategyMemory, *texts: str, task: Task = MUG) -> StrategyMemory:
    for text in texts:
        memory.view(task).add(text, 1)
    memory.commit()
    return memory


def tried(memory: StrategyMemory, *successes: bool, id: str = "L1") -> dict[str, Any]:
    """One round in which so many trials were shown a lesson; its row afterwards."""
    for success in successes:
        memory.view(PEN).outcome([id], success)
    memory.commit()
    return row(memory, id)


def row(memory: StrategyMemory, id: str = "L1") -> dict[str, Any]:
    return next(row for row in memory.dump() if row["id"] == id)


def shown(memory: StrategyMemory, task: Task = MUG) -> list[str]:
    return [item.text for item in memory.view(task).shown()]


def rounds(memory: StrategyMemory, count: int) -> StrategyMemory:
    for _ in range(count):
        memory.commit()
    return memory


# Trust.


def test_a_new_lesson_is_trusted_enough_to_be_shown_to_any_task() -> None:
    memory = learned(StrategyMemory(), DRAWERS)
    assert row(memory)["confidence"] == 0.7
    assert shown(memory, MUG) == shown(memory, PEN) == [DRAWERS]


def test_a_success_raises_the_confidence_by_a_twentieth_and_a_failure_lowers_it_by_three() -> None:
    memory = learned(StrategyMemory(), DRAWERS, MICROWAVE)
    after = tried(memory, True, True)
    assert (after["confidence"], after["shown"], after["helped"]) == (0.8, 2, 2)
    after = tried(memory, False)
    assert (after["confidence"], after["shown"], after["helped"]) == (0.65, 3, 2)
    assert row(memory, "L2")["confidence"] == 0.7


def test_confidence_stays_between_nothing_and_certainty() -> None:
    memory = learned(StrategyMemory(), DRAWERS, MICROWAVE)
    assert tried(memory, *[True] * 9)["confidence"] == 1.0
    assert tried(memory, *[False] * 9, id="L2")["confidence"] == 0.0


def test_a_lesson_is_shown_only_above_one_half() -> None:
    # 0.7 - 0.15 = 0.55; 0.55 - 0.15 + 2 * 0.05 = 0.5.
    memory = learned(StrategyMemory(), DRAWERS)
    assert tried(memory, False)["state"] == "shown"
    assert shown(memory) == [DRAWERS]
    after = tried(memory, False, True, True)
    assert (after["confidence"], after["state"]) == (0.5, "doubted")
    assert shown(memory) == []


def test_a_lesson_is_retired_below_three_tenths_and_stays_in_the_file() -> None:
    # 0.7 - 3 * 0.15 + 0.05 = 0.3, and one failure more.
    memory = learned(StrategyMemory(), DRAWERS)
    after = tried(memory, False, False, False, True)
    assert (after["confidence"], after["state"]) == (0.3, "doubted")
    after = tried(memory, False)
    assert (after["confidence"], after["state"], after["text"]) == (0.15, "retired", DRAWERS)


# Duplicates.


def test_a_lesson_in_other_words_is_merged_and_keeps_its_sources() -> None:
    memory = learned(StrategyMemory(), MICROWAVE, DRAWERS)
    again = "Next time: " + DRAWERS
    learned(memory, again, task=PEN)
    assert [each["text"] for each in memory.dump()] == [MICROWAVE, DRAWERS]
    assert row(memory, "L2")["confidence"] == 0.7
    assert row(memory, "L2")["sources"] == [
        {"task": "t1", "number": 2, "trial": 1, "text": DRAWERS, "error_class": ""},
        {"task": "t2", "number": 1, "trial": 1, "text": again, "error_class": ""},
    ]
    assert memory.view(PEN).all() == (again,)


def test_two_tasks_that_learn_the_same_in_one_round_make_one_lesson() -> None:
    memory = StrategyMemory()
    memory.view(PEN).add(DRAWERS, 1)
    memory.view(MUG).add("So: " + DRAWERS, 1)
    memory.commit()
    assert [each["text"] for each in memory.dump()] == ["So: " + DRAWERS]


def test_what_only_sounds_alike_is_a_lesson_of_its_own() -> None:
    # 0.83 alike.
    advice = "Go to drawer {} and take the pen from there, then put it on the shelf."
    memory = learned(StrategyMemory(), advice.format(1), advice.format(2))
    assert len(memory.dump()) == 2


def test_a_lesson_that_was_retired_for_failing_does_not_come_back_by_being_written_again() -> None:
    memory = learned(StrategyMemory(), DRAWERS)
    tried(memory, False, False, False)
    learned(memory, DRAWERS)
    (only,) = memory.dump()
    assert (only["state"], len(only["sources"])) == ("retired", 2)
    assert shown(memory) == []


# Choice.


def test_of_the_trusted_lessons_those_most_like_the_task_are_shown_oldest_first() -> None:
    cup = "A cup is often beside the sink."
    memory = learned(
        StrategyMemory(2), "To heat a thing, use the microwave.", DRAWERS, cup, "Switch on every lamp."
    )
    assert shown(memory, CUP) == ["To heat a thing, use the microwave.", cup]
    tried(memory, False, False)
    assert shown(memory, CUP) == [DRAWERS, cup]


def test_of_lessons_equally_alike_the_more_trusted_is_shown_and_then_the_newer() -> None:
    memory = learned(StrategyMemory(1), "xyzzy", "plugh", "frobnicate")
    assert shown(memory) == ["frobnicate"]
    tried(memory, True)
    assert shown(memory) == ["xyzzy"]


# Fading.


def test_confidence_fades_by_the_half_life_and_a_faded_lesson_is_retired() -> None:
    # 0.7 * 2 ** (-age / 4) is 0.589 at 1, 0.495 at 2, 0.350 at 4 and 0.294 at 5.
    memory = learned(StrategyMemory(half_life=4), DRAWERS)
    states = []
    for _ in range(6):
        states.append(row(memory)["state"])
        memory.commit()
    assert states == ["shown", "shown", "doubted", "doubted", "doubted", "retired"]
    assert row(memory)["confidence"] == 0.7


def test_without_a_half_life_nothing_fades() -> None:
    assert row(rounds(learned(StrategyMemory(), DRAWERS), 99))["state"] == "shown"


@pytest.mark.parametrize("how", ["written again", "helped"])
def test_a_lesson_that_is_used_is_young_again(how: str) -> None:
    memory = rounds(learned(StrategyMemory(half_life=4), DRAWERS), 1)
    assert row(memory)["age"] == 1
    if how == "helped":
        tried(memory, True)
    else:
        learned(memory, DRAWERS)
    assert row(memory)["age"] == 0


def test_failing_does_not_make_a_lesson_young() -> None:
    assert tried(learned(StrategyMemory(half_life=4), DRAWERS), False)["age"] == 1


def test_a_lesson_that_faded_away_is_back_when_it_is_written_again() -> None:
    memory = rounds(learned(StrategyMemory(half_life=4), DRAWERS), 6)
    assert shown(memory) == []
    learned(memory, DRAWERS)
    assert shown(memory) == [DRAWERS]
    assert len(memory.dump()) == 1


# Room.


@pytest.mark.parametrize(("evict", "gone"), [("usefulness", "plugh"), ("age", "xyzzy")])
def test_beyond_the_capacity_one_makes_room_and_stays_in_the_file(evict: Evict, gone: str) -> None:
    memory = learned(StrategyMemory(3, capacity=2, evict=evict), "xyzzy")
    learned(memory, "plugh")
    tried(memory, False, id="L2")
    learned(memory, "frobnicate")
    left = [text for text in ("xyzzy", "plugh", "frobnicate") if text != gone]
    assert shown(memory) == left
    assert states(memory) == {gone: "evicted", **dict.fromkeys(left, "shown")}


def states(memory: StrategyMemory) -> dict[str, str]:
    return {each["text"]: each["state"] for each in memory.dump()}


def test_retired_lessons_take_no_room() -> None:
    memory = learned(StrategyMemory(3, capacity=1), "xyzzy")
    tried(memory, False, False, False)
    learned(memory, "plugh")
    assert states(memory) == {"xyzzy": "retired", "plugh": "shown"}


def test_an_evicted_lesson_is_forgotten_and_can_be_learned_anew() -> None:
    memory = learned(learned(StrategyMemory(3, capacity=1), "xyzzy"), "plugh")
    assert states(memory)["xyzzy"] == "evicted"
    learned(memory, "xyzzy")
    assert [(each["id"], each["state"]) for each in memory.dump()] == [
        ("L1", "evicted"),
        ("L2", "evicted"),
        ("L3", "shown"),
    ]


def test_a_memory_that_is_carried_over_counts_ages_and_confidences_on() -> None:
    memory = learned(StrategyMemory(half_life=4), DRAWERS)
    tried(memory, False)
    second = StrategyMemory(half_life=4)
    second.load(memory.dump())
    assert tried(second, False) == tried(memory, False)
    assert (row(second)["age"], row(second)["confidence"]) == (2, 0.4)
