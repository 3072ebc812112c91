"""What is found again, and what has to make room."""

from __future__ import annotations

import pytest

from reflex_bench.agents.memory.base import Evict, Scope
from reflex_bench.agents.memory.retrieval import RetrievalMemory
from reflex_bench.envs.base import Task

MUG = Task("t1", "heat", "heat a mug and put it on the desk", "00")
PEN = Task("t2", "put", "put a pen on the shelf", "00")
CUP = Task("t3", "heat", "heat a cup", "00")

FRIDGE, MICROWAVE, LAMP = (
    "The fridge was empty.",
    "Use the microwave to heat a mug.",
    "The lamp was in my way.",
)


def shown(memory: RetrievalMemory, task: Task, opening: str = "") -> list[str]:
    return [item.text for item in memory.view(task).shown(opening)]


def written(memory: RetrievalMemory, task: Task, *texts: str) -> RetrievalMemory:
    for trial, text in enumerate(texts, 1):
        memory.view(task).add(text, trial)
    memory.commit()
    return memory


def test_the_reflection_most_like_the_task_is_shown_and_not_the_newest() -> None:
    assert shown(written(RetrievalMemory(1), MUG, FRIDGE, MICROWAVE, LAMP), MUG) == [MICROWAVE]


def test_what_is_shown_is_in_the_order_of_writing() -> None:
    memory = written(RetrievalMemory(2), MUG, "Then put the mug on the desk.", FRIDGE, MICROWAVE)
    assert shown(memory, MUG) == ["Then put the mug on the desk.", MICROWAVE]


def test_of_two_that_are_equally_alike_the_newer_is_shown() -> None:
    memory = written(RetrievalMemory(1), PEN, "xyzzy", "plugh")
    assert shown(memory, PEN) == ["plugh"]


def test_the_opening_observation_is_compared_too_where_it_is_known() -> None:
    memory = written(RetrievalMemory(1), PEN, "Nothing is in the safe.", "Nothing is in the bin.")
    assert shown(memory, PEN) == ["Nothing is in the bin."]
    assert shown(memory, PEN, "You see a bed, a safe and a chair.") == ["Nothing is in the safe."]


def test_in_the_scope_of_a_task_the_others_are_not_searched() -> None:
    memory = written(written(RetrievalMemory(1), MUG, MICROWAVE), CUP, LAMP)
    assert shown(memory, CUP) == [LAMP]


def test_in_the_scope_of_the_arm_the_task_is_compared_with_the_tasks_written_about() -> None:
    # By itself neither text has a word in common with the query.
    memory = RetrievalMemory(1, scope="arm")
    written(memory, MUG, "Hurry.")
    written(memory, PEN, "Wait.")
    assert shown(memory, CUP) == ["Hurry."]


@pytest.mark.parametrize("scope", ["task", "arm"])
@pytest.mark.parametrize(
    ("evict", "kept"), [("usefulness", ["first", "third"]), ("age", ["second", "third"])]
)
def test_beyond_the_capacity_one_makes_room_and_stays_in_the_file(
    scope: Scope, evict: Evict, kept: list[str]
) -> None:
    memory = RetrievalMemory(3, scope=scope, capacity=2, evict=evict)
    view = memory.view(MUG)
    written(memory, MUG, "first", "second")
    first, second = view.shown()
    # first: (1 + 1) / (1 + 2) = 2/3; second: (0 + 1) / (1 + 2) = 1/3; the new one: 1/2.
    view.outcome([first.id], success=True)
    view.outcome([second.id], success=False)
    view.add("third", 3)
    memory.commit()
    assert shown(memory, MUG) == kept
    assert view.all() == ("first", "second", "third")
    rows = {row["text"]: row["evicted"] for row in memory.dump()}
    assert rows == {text: text not in kept for text in ("first", "second", "third")}


def test_of_those_equally_useful_the_oldest_makes_room() -> None:
    memory = written(RetrievalMemory(3, capacity=2), MUG, "first", "second", "third")
    assert shown(memory, MUG) == ["second", "third"]


def test_one_that_was_never_shown_counts_as_half_useful() -> None:
    # first: (1 + 1) / (1 + 2) = 2/3.
    memory = written(RetrievalMemory(3, capacity=1), MUG, "first")
    memory.view(MUG).outcome(["t1#1"], success=True)
    assert shown(written(memory, MUG, "second"), MUG) == ["first"]


@pytest.mark.parametrize("scope", ["task", "arm"])
def test_a_memory_that_is_carried_over_into_a_smaller_one_makes_room_at_once(scope: Scope) -> None:
    memory = written(RetrievalMemory(scope=scope), MUG, "first", "second", "third")
    smaller = RetrievalMemory(scope=scope, capacity=1)
    smaller.load(memory.dump())
    assert shown(smaller, MUG) == ["third"]
