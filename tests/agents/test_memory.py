"""The sliding memory, and what all memories have in common."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from reflex_bench.agents.memory.base import Inbox, Memory, Shown, SlidingMemory
from reflex_bench.agents.memory.building import build
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Task
from reflex_bench.models.options import ModelOptions

MUG = Task("t1", "put", "put a mug on the desk", "00")
PEN = Task("t2", "put", "put a pen on the shelf", "00")

KINDS: dict[str, Callable[[], Memory]] = {
    "sliding": build,
    "retrieval": lambda: build("retrieval", 2),
    "retrieval of the arm": lambda: build("retrieval", 2, scope="arm", capacity=9),
    "strategy": lambda: build("strategy", 2, half_life=3, capacity=9),
}
each_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())


def texts(shown: tuple[Shown, ...]) -> list[str]:
    return [item.text for item in shown]


# Sliding.


def test_the_memory_slides_over_the_last_reflections_on_the_task() -> None:
    view = SlidingMemory(2).view(MUG)
    seen = []
    for trial in range(1, 5):
        seen.append(texts(view.shown()))
        view.add(f"lesson {trial}", trial)
    assert seen == [[], ["lesson 1"], ["lesson 1", "lesson 2"], ["lesson 2", "lesson 3"]]
    assert view.all() == ("lesson 1", "lesson 2", "lesson 3", "lesson 4")


def test_by_default_three_are_shown() -> None:
    view = build().view(MUG)
    for trial in range(1, 6):
        view.add(f"lesson {trial}", trial)
    assert texts(view.shown()) == ["lesson 3", "lesson 4", "lesson 5"]


@pytest.mark.parametrize("kind", ["sliding", "retrieval", "strategy"])
def test_a_memory_of_size_zero_keeps_and_shows_nothing(kind: str) -> None:
    memory = build(kind, 0)
    memory.view(MUG).add("look in the drawer", 1)
    memory.commit()
    assert memory.view(MUG).shown() == ()
    assert memory.view(MUG).all() == ("look in the drawer",)


def test_how_often_a_reflection_was_shown_and_helped_is_counted() -> None:
    memory = SlidingMemory(2)
    view = memory.view(MUG)
    for trial in range(1, 4):
        view.outcome([item.id for item in view.shown()], success=trial == 3)
        view.add(f"lesson {trial}", trial, "action_error")
    rows = memory.dump()
    assert [(row["id"], row["shown"], row["helped"]) for row in rows] == [
        ("t1#1", 2, 1),
        ("t1#2", 1, 1),
        ("t1#3", 0, 0),
    ]
    assert rows[0] | {"shown": 0, "helped": 0} == {
        "id": "t1#1",
        "task": "t1",
        "about": "put a mug on the desk",
        "trial": 1,
        "text": "lesson 1",
        "error_class": "action_error",
        "shown": 0,
        "helped": 0,
        "evicted": False,
    }


# All of them.


@pytest.mark.parametrize("make", [KINDS["sliding"], KINDS["retrieval"]], ids=["sliding", "retrieval"])
def test_a_memory_that_is_not_cross_task_shows_a_task_nothing_of_another_and_does_so_at_once(
    make: Callable[[], Memory],
) -> None:
    memory = make()
    assert not memory.cross_task
    memory.view(MUG).add("the mug is in the sink", 1)
    assert memory.view(PEN).shown() == ()
    assert texts(memory.view(MUG).shown()) == ["the mug is in the sink"]
    memory.commit()
    assert memory.view(PEN).shown() == ()


@pytest.mark.parametrize(
    "make",
    [KINDS["retrieval of the arm"], KINDS["strategy"]],
    ids=["retrieval of the arm", "strategy"],
)
def test_a_cross_task_memory_shows_what_others_wrote_but_only_when_the_round_is_over(
    make: Callable[[], Memory],
) -> None:
    memory = make()
    assert memory.cross_task
    memory.view(MUG).add("open the drawers first", 1)
    assert memory.view(PEN).shown() == memory.view(MUG).shown() == ()
    assert memory.dump() == []
    assert memory.view(MUG).all() == ("open the drawers first",)
    memory.commit()
    assert texts(memory.view(PEN).shown()) == texts(memory.view(MUG).shown()) == ["open the drawers first"]
    assert memory.view(PEN).all() == ()


@each_kind
def test_a_memory_can_be_carried_over_as_json(make: Callable[[], Memory]) -> None:
    first = make()
    play(first, workers=1, seed=0, rounds=3)
    second = make()
    second.load(json.loads(json.dumps(first.dump())))
    assert second.dump() == first.dump()
    for task in TASKS:
        assert second.view(task).shown() == first.view(task).shown()
        assert second.view(task).all() == first.view(task).all()
    for memory in (first, second):
        play(memory, workers=1, seed=0, rounds=2)
    assert second.dump() == first.dump()


@each_kind
def test_ids_stay_unique_when_rows_were_removed_by_hand(make: Callable[[], Memory]) -> None:
    memory = make()
    for trial, text in enumerate(("open the fridge", "look under the bed"), 1):
        memory.view(MUG).add(text, trial)
    memory.commit()
    edited = make()
    edited.load(memory.dump()[1:])
    edited.view(MUG).add("turn the lamp on", 3)
    edited.commit()
    ids = [row["id"] for row in edited.dump()]
    assert len(ids) == len(set(ids)) == 2


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"trial": "first"}, "row 2: no reflection \\(trial: "),
        ({"mood": "good"}, "row 2: no reflection \\(mood: "),
        ({"id": "t1#1"}, "row 2: the id 't1#1' comes a second time"),
    ],
)
def test_a_row_that_is_none_is_refused(change: dict[str, Any], complaint: str) -> None:
    memory = build()
    memory.view(MUG).add("one", 1)
    memory.view(MUG).add("two", 2)
    first, second = memory.dump()
    with pytest.raises(UsageError, match=complaint):
        build().load([first, {**second, **change}])


def test_the_rows_of_one_kind_are_no_lessons_of_another() -> None:
    memory = build()
    memory.view(MUG).add("one", 1)
    with pytest.raises(UsageError, match="row 1: no lesson"):
        build("strategy").load(memory.dump())


# Rounds.

TASKS = [
    Task(f"t{n:02}", "put", f"put a {thing} on the desk", "00") for n, thing in enumerate("abcdefghijkl")
]
ADVICE = ["open every drawer", "do not go in circles", "take what the task asks for", "look on the shelves"]


def play(memory: Memory, workers: int, seed: int, rounds: int = 4) -> list[tuple[str, int, list[str]]]:
    """Plays an arm whose trials go by chance, but by the same chance for the same trial; returns what was shown."""
    delays = random.Random(seed)
    log: list[tuple[str, int, list[str]]] = []

    def trial(task: Task, number: int, delay: float) -> None:
        view = memory.view(task)
        shown = view.shown()
        time.sleep(delay)
        chance = random.Random(f"{task.id} {number} {texts(shown)}")
        log.append((task.id, number, texts(shown)))
        view.outcome([item.id for item in shown], chance.random() < 0.6)
        view.add(f"{chance.choice(ADVICE)} in room {chance.randrange(9)}", number)

    for number in range(1, rounds + 1):
        order = delays.sample(TASKS, len(TASKS))
        with ThreadPoolExecutor(workers) as threads:
            list(threads.map(lambda task: trial(task, number, delays.random() / 500), order))  # noqa: B023
        memory.commit()
    return sorted(log)


@each_kind
def test_any_number_of_workers_in_any_order_makes_the_same_memory(make: Callable[[], Memory]) -> None:
    alone = make()
    expected = play(alone, workers=1, seed=0)
    assert any(shown for _, _, shown in expected)
    for seed in range(1, 6):
        memory = make()
        assert play(memory, workers=16, seed=seed) == expected
        assert memory.dump() == alone.dump()


def test_what_chains_hand_in_comes_out_by_task_and_then_in_their_own_order() -> None:
    inbox: Inbox[str] = Inbox()
    for task, item in [("t2", "first"), ("t1", "second"), ("t2", "third"), ("t1", "fourth")]:
        inbox.put(task, f"{task} {item}")
    assert inbox.take() == ["t1 second", "t1 fourth", "t2 first", "t2 third"]
    assert inbox.take() == []


# What a configuration describes.


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, {"memory": "sliding", "memory_size": 3}),
        (
            {"kind": "retrieval", "scope": None, "half_life": None},
            {
                "memory": "retrieval",
                "memory_size": 3,
                "memory_scope": "task",
                "memory_similarity": "tfidf",
                "memory_capacity": 200,
                "memory_evict": "usefulness",
            },
        ),
        (
            {"kind": "strategy", "size": 5, "half_life": 4.0, "capacity": 20, "evict": "age"},
            {
                "memory": "strategy",
                "memory_size": 5,
                "memory_scope": "arm",
                "memory_similarity": "tfidf",
                "memory_half_life": 4.0,
                "memory_capacity": 20,
                "memory_evict": "age",
            },
        ),
    ],
)
def test_the_settings_on_the_row_are_those_in_force(options: Any, settings: dict[str, Any]) -> None:
    assert build(**options).settings() == settings


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"kind": "slidding"}, "unknown memory 'slidding'; did you mean 'sliding'"),
        ({"scope": "arm"}, "option of the memory 'sliding': 'scope'; known: size"),
        ({"kind": "retrieval", "half_life": 3}, "option of the memory 'retrieval': 'half_life'"),
        ({"kind": "strategy", "scope": "task"}, "option of the memory 'strategy': 'scope'"),
        ({"kind": "retrieval", "scope": "arms"}, "did you mean 'arm'"),
        ({"kind": "retrieval", "evict": "ages"}, "did you mean 'age'"),
        ({"kind": "strategy", "evict": "useful"}, "did you mean 'usefulness'"),
        ({"kind": "strategy", "similarity": "tf-idf"}, "did you mean 'tfidf'"),
    ],
)
def test_what_does_not_exist_is_named(options: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        build(**options)


def test_an_endpoint_for_embeddings_is_passed_on() -> None:
    with pytest.raises(UsageError, match="base URL"):
        build("retrieval", endpoint=ModelOptions(base_url="nowhere"), similarity="endpoint/tiny")
