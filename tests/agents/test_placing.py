"""Where a memory stands before a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from reflex_bench.agents.base import Layout, Limits
from reflex_bench.agents.memory.placing import directive
from reflex_bench.agents.messages import Writer
from reflex_bench.agents.react import react
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Environment, Task
from reflex_bench.harness.planning.opening import open_environment
from reflex_bench.harness.planning.plan import make_plan
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.models.base import Message, Reply

MEMORY = (
    "At step 4 the drawer was empty. Next time go to shelf 2 first.",
    "The mug was dirty.",
)


class Listening:
    """A model that looks about and notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[list[Message]] = []

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        self.asked.append(list(messages))
        return Reply("look")


@pytest.fixture(scope="module")
def world() -> tuple[Environment, Task]:
    environment = open_environment({"name": "alfworld"})
    return environment, environment.load(1).tasks[0]


def asked(
    world: tuple[Environment, Task], layout: Layout, memory: tuple[str, ...] = MEMORY
) -> list[list[Message]]:
    """What a model is asked in a trial of three steps."""
    model = Listening()
    react(world[1], 2, memory, world[0], model, Limits(max_steps=3, layout=layout))
    return model.asked


def test_a_directive_has_a_line_for_what_failed_and_one_for_what_is_required() -> None:
    assert directive(MEMORY).splitlines() == [
        "Directives that follow from earlier, failed attempts, oldest first:",
        "1. This failed: At step 4 the drawer was empty.",
        "1. Required now: Next time go to shelf 2 first.",
        "2. This failed: The mug was dirty.",
    ]


def test_in_the_system_message_it_stands_at_the_head_and_nowhere_else(
    world: tuple[Environment, Task],
) -> None:
    plain, placed = asked(world, Layout(), ()), asked(world, Layout(memory="system"))
    for before, after in zip(plain, placed, strict=True):
        assert after[0] == replace(before[0], content=f"{directive(MEMORY)}\n\n{before[0].content}")
        assert after[1:] == before[1:]


def test_behind_every_turn_it_is_not_kept(world: tuple[Environment, Task]) -> None:
    plain, placed = asked(world, Layout(), ()), asked(world, Layout(memory="every_turn"))
    reminder = (
        "\n\nThis is what you wrote down after earlier, failed attempts, oldest first:\n"
        "- At step 4 the drawer was empty. Next time go to shelf 2 first.\n- The mug was dirty."
    )
    assert len(placed) == 3
    for before, after in zip(plain, placed, strict=True):
        assert after[:-1] == before[:-1]
        assert after[-1] == replace(before[-1], content=before[-1].content + reminder)


@pytest.mark.parametrize("place", ["task", "system", "every_turn"])
@pytest.mark.parametrize("text", [False, True])
def test_without_a_memory_its_place_changes_nothing(
    world: tuple[Environment, Task], place: str, text: bool
) -> None:
    layout = Layout(text=text)
    assert asked(world, replace(layout, memory=place), ()) == asked(world, layout, ())  # type: ignore[arg-type]


def test_in_a_running_text_it_stands_before_the_agents_line(world: tuple[Environment, Task]) -> None:
    last = asked(world, Layout(text=True, memory="every_turn"))[-1]
    assert "\n- The mug was dirty." in last[-2].text
    assert last[-1].text == ">"
    assert [each for each in last[:-2] if "The mug was dirty" in each.text] == []


def test_before_the_instruction_where_that_stands_last(world: tuple[Environment, Task]) -> None:
    writer = Writer(world[0].prompts, Layout(instruction_last=True, memory="system"))
    [*_, last] = writer.opening("put", "You see.", MEMORY)
    assert f"\n\n{directive(MEMORY)}\n\n{world[0].prompts.instruction}\n\n" in last.content


def test_an_arm_says_where_its_memory_stands_and_has_prompts_of_its_own() -> None:
    arms = "arms={react: , task: {reflector: reflexion}, system: {reflector: reflexion, memory: {place: system}}}"
    plan = make_plan(resolve([arms], {"environment": {"name": "alfworld"}, "tasks": 1}))
    react_arm, task, system = plan.arms
    plan.close()
    assert "memory_place" not in task.settings
    assert system.settings["memory_place"] == "system"
    assert react_arm.settings["prompt_hash"] == task.settings["prompt_hash"] == "v2:401c40b07583dc3f"
    assert system.settings["prompt_hash"] != task.settings["prompt_hash"]
    assert task.limits == react_arm.limits == plan.limits
    assert system.limits.layout.memory == "system"


def test_a_place_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match=r"memory\.place.*'task', 'system' or 'every_turn'"):
        resolve(["memory.place=head"], {"environment": {"name": "alfworld"}})
