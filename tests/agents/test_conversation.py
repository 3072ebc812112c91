"""How a turn is begun, asked for, read and kept in each form: questions played on the invented encyclopedia."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from scripted_ask import Script

from reflex_bench.agents.act import act
from reflex_bench.agents.base import CallLimit, Layout, Limits, Trajectory
from reflex_bench.agents.cot import cot
from reflex_bench.agents.react import react
from reflex_bench.envs.base import Environment, Prompts, Task
from reflex_bench.envs.hotpotqa.environment import create
from reflex_bench.models.base import Message, Reply, ToolCall
from reflex_bench.models.openai.wire import as_text

TEXT = Layout(text=True)
PAGES = "Search[Nowhere at all]"


def ends(script: Script) -> list[str]:
    """Return the last line of each text that was sent."""
    return [as_text(messages).rpartition("\n")[2] for messages in script.heard]


@pytest.fixture(scope="module")
def quiz() -> Iterator[tuple[Environment, Task]]:
    environment = create({})
    yield environment, environment.load(10).tasks[0]
    environment.close()


def play(quiz: tuple[Environment, Task], script: Script, agent: Any = react, **limits: Any) -> Trajectory:
    environment, task = quiz
    played: Trajectory = agent(task, 1, (), environment, script, Limits(**{"max_steps": 2} | limits))
    return played


def test_a_turn_of_the_running_text_is_begun_numbered_and_stopped_at_its_observation(quiz: Any) -> None:
    script = Script(f"I look.\nAction 1: {PAGES}", "I guess.\nAction 2: Finish[x]")
    played = play(quiz, script, layout=TEXT)
    assert ends(script) == ["Thought 1:", "Thought 2:"]
    assert [stops[0] for stops in script.stops] == ["\nObservation 1:", "\nObservation 2:"]
    turn = f"Thought 1: I look.\nAction 1: {PAGES}\nObservation 1: Could not find [Nowhere at all]."
    assert turn in as_text(script.heard[1])
    assert [(step.thought, step.action, step.repairs) for step in played.steps] == [
        ("I look.", PAGES, ()),
        ("I guess.", "Finish[x]", ()),
    ]


def test_what_was_begun_for_a_model_and_written_again_by_it_is_read_once(quiz: Any) -> None:
    played = play(
        quiz, Script(f"Thought 1: I look.\nAction 1: {PAGES}"), layout=TEXT, max_steps=1, parse="strict"
    )
    assert (played.steps[0].thought, played.steps[0].action) == ("I look.", PAGES)


def test_a_thought_without_an_action_is_asked_for_its_action_alone(quiz: Any) -> None:
    script = Script("I look.", PAGES, "I know.\nAction 2: Finish[x]")
    played = play(quiz, script, layout=TEXT)
    assert ends(script) == ["Thought 1:", "Action 1:", "Thought 2:"]
    first = played.steps[0]
    assert (first.thought, first.action, first.error) == ("I look.", PAGES, None)
    assert first.repairs.count("asked_for_action") == 1
    assert f"Thought 1: I look.\nAction 1: {PAGES}\nObservation 1:" in as_text(script.heard[2])


def test_in_a_chat_the_action_is_asked_for_in_a_turn_that_does_not_stay(quiz: Any) -> None:
    script = Script("Thought: I look.", f"Action: {PAGES}", "Action: Finish[x]")
    played = play(quiz, script)
    assert [turn.content for turn in script.heard[1][-2:]] == [
        "Thought: I look.",
        quiz[0].prompts.thought_observation,
    ]
    assert script.heard[2][-2].content == f"Thought: I look.\nAction: {PAGES}"
    assert script.heard[2][:-2] == script.heard[0]
    assert played.steps[0].repairs.count("asked_for_action") == 1


def test_where_no_call_is_left_to_ask_again_the_first_reply_stands(quiz: Any) -> None:
    played = play(quiz, Script("Thought: I look.", CallLimit("one call"), CallLimit("one call")))
    assert [(step.thought, step.action) for step in played.steps] == [("I look.", None)]
    assert played.outcome == "budget"


def test_a_prefilled_turn_of_a_chat_is_gone_on_with(quiz: Any) -> None:
    script = Script(f" I look.\nAction: {PAGES}")
    played = play(quiz, script, max_steps=1, parse="strict", layout=Layout(prefill=True))
    assert script.heard[0][-1] == Message("assistant", "Thought:")
    assert (played.steps[0].thought, played.steps[0].action) == ("I look.", PAGES)


def test_act_begins_with_the_action_and_chain_of_thought_with_the_thought(quiz: Any) -> None:
    acting, thinking = Script("Finish[x]"), Script("Hm.\nAction 1: Finish[x]")
    assert play(quiz, acting, act, layout=TEXT).steps[0].action == "Finish[x]"
    assert play(quiz, thinking, cot, layout=TEXT).steps[0].thought == "Hm."
    assert (ends(acting), ends(thinking)) == (["Action 1:"], ["Thought 1:"])
    assert "Thought" not in as_text(acting.heard[0])


@pytest.mark.parametrize(("places", "shown"), [(None, 6), ((), 0), ((0, 2), 2)])
def test_as_many_examples_are_shown_as_are_asked_for(quiz: Any, places: Any, shown: int) -> None:
    script = Script("Action: Finish[x]")
    play(quiz, script, layout=Layout(examples=places))
    assert sum(turn.content.count("Question: ") for turn in script.heard[0]) == shown + 1


def test_examples_in_one_message_no_labels_and_the_instruction_last(quiz: Any) -> None:
    script = Script("Finish[x]")
    layout = Layout(example_turns=False, labels=False, instruction_last=True)
    play(quiz, script, layout=layout)
    (only,) = script.heard[0]
    assert only.role == "user"
    assert "\n> I have to find who designed" in only.content
    assert "Action:" not in only.content
    order = [
        only.content.index(part) for part in ("Harrowgill", "You answer a question", "Here is your task.")
    ]
    assert order == sorted(order)


def test_with_tools_examples_and_history_are_calls_and_results(quiz: Any) -> None:
    call = Reply("I look.", calls=(ToolCall("Search", '{"entity": "Nowhere at all"}'),))
    script = Script(call, Reply("", calls=(ToolCall("Finish", '{"answer": "x"}'),)))
    play(quiz, script, actions="tools")
    first, second = script.heard
    assert "Action:" not in first[0].content
    assert "Search[" not in first[0].content
    example = next(turn for turn in first if turn.role == "assistant")
    assert (example.call, example.content) == (
        ToolCall("Search", '{"entity": "Harrowgill Viaduct"}'),
        "I have to find who designed the Harrowgill Viaduct, then where that person was born.",
    )
    for turn, answer in pairwise(first):
        assert (answer.role == "tool" and answer.call_id == turn.call_id) == (turn.call is not None)
    calls = [turn.call_id for turn in second if turn.call]
    assert len(set(calls)) == len(calls), "servers may refuse an id that was used before"
    assert {len(each) for each in calls} == {9}
    said, seen = second[-2:]
    assert said.call is not None
    assert json.loads(said.call.arguments) == {"entity": "Nowhere at all"}
    assert (seen.role, seen.call_id) == ("tool", said.call_id)


@pytest.mark.parametrize(
    ("written", "repairs"),
    [
        ("Action: Finish[x]", ("no_tool_call",)),
        # Servers that do not know the model's own form of a call pass it on as text.
        (
            '<tool_call>\n{"name": "Finish", "arguments": {"answer": "x"}}\n</tool_call>',
            ("tool_call", "no_tool_call"),
        ),
        ('{"name": "Finish", "arguments": {"answer": "x"}}', ("tool_call", "no_tool_call")),
    ],
)
def test_an_action_that_was_written_and_not_called_is_a_repair_of_its_own_name(
    quiz: Any, written: str, repairs: tuple[str, ...]
) -> None:
    played = play(quiz, Script(written), actions="tools")
    assert (played.steps[0].action, played.steps[0].repairs) == ("Finish[x]", repairs)


def test_an_environment_that_states_no_form_is_written_behind_marks_as_before(quiz: Any) -> None:
    environment, _ = quiz
    texts = environment.prompts
    bare = Prompts(
        instruction=texts.instruction,
        examples={},
        thought_observation="OK.",
        invalid_observation="What?",
        reflection_instruction="",
        reflection_examples=(),
    )
    script = Script("Action: Finish[x]")
    react(quiz[1], 1, (), environment, script, Limits(max_steps=1, layout=TEXT), prompts=bare)
    assert ends(script) == [">"]
    assert script.stops == [("\n>",)]
