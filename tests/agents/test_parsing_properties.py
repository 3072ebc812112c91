"""Whatever a model replies, its readers say what they make of it: no exception, no guess, no text nobody can write."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from broken import TEXTS, VALUES, examples, spoilt
from growth import grows_linearly
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from reflex_bench.agents.base import Limits, Step, Trajectory
from reflex_bench.agents.conversation import parse_reply
from reflex_bench.agents.evaluation.judge import Assessment, Judgement
from reflex_bench.agents.guards import is_loop
from reflex_bench.agents.memory.building import build
from reflex_bench.agents.messages import format_turn
from reflex_bench.agents.reflection.audit import RULES, audit
from reflex_bench.agents.reflection.structured import Diagnosis
from reflex_bench.agents.schema import ask_json
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.environment import create as alfworld
from reflex_bench.envs.alfworld.generator.first.game import generate_one
from reflex_bench.envs.alfworld.official.engine import NOTHING_HAPPENS
from reflex_bench.envs.alfworld.parsing import actions as household
from reflex_bench.envs.base import Environment, Task
from reflex_bench.envs.hotpotqa.environment import create as hotpotqa
from reflex_bench.envs.hotpotqa.parsing import actions as questions
from reflex_bench.models.base import Reply, ToolCall

pytestmark = pytest.mark.slow

DIAGNOSIS = {
    "failed_step": 2,
    "expected": "a mug",
    "observed": "nothing",
    "deviation_type": "premise_error",
    "root_cause": "It was elsewhere.",
    "correction": "Look in drawer 1.",
    "confidence": 0.8,
}
SHAPES: tuple[type[BaseModel], ...] = (Diagnosis, Judgement, Assessment)
STEPS = tuple(Step(n, "look", "", "look", f"You see a mug {n} and a desk 1.") for n in range(1, 4))
PLAYED = Trajectory(
    Task("t", "put", "put a mug", ""), 2, (), "You see a bed 1 and a desk 2.", STEPS, "failure", {}, ""
)


def asked(reply: str, shape: type[BaseModel]) -> BaseModel | None:
    return ask_json(lambda *_, **__: Reply(reply), (), shape, 1).value


@examples(150)
@given(TEXTS)
def test_any_text_in_place_of_json_is_read_or_given_up(text: str) -> None:
    for shape in SHAPES:
        asked(text, shape)
        asked(f"```json\n{json.dumps(DIAGNOSIS)}{text}", shape)


@examples(200)
@given(spoilt(DIAGNOSIS) | VALUES.map(json.dumps).map(str.encode))
@example(b'{"failed_step": ' + b"9" * 400 + b"}")
def test_a_spoilt_object_is_taken_whole_or_not_at_all(reply: bytes) -> None:
    for shape in SHAPES:
        value = asked(reply.decode("utf-8", "surrogatepass"), shape)
        if value is not None:
            assert shape.model_validate(value.model_dump()) == value
            assert json.dumps(value.model_dump(), ensure_ascii=False, allow_nan=False).encode()


@examples(150)
@given(TEXTS, TEXTS)
@example("Next time, start at step " + "9" * 5000 + ".", "")
@example("I need " + "9" * 5000 + " more steps; this is trial number " + "9" * 5000, "")
def test_the_audit_of_any_text_names_rules(text: str, earlier: str) -> None:
    for verbs in ((), ("go to", "take")):
        failed = audit(text, PLAYED, (earlier,), 30, verbs)
        assert [rule for rule in RULES if rule in failed] == list(failed)
        assert "not_repeated" in audit(f"word {text}", PLAYED, (f"word {text}",), 30, verbs)


def test_a_number_too_long_to_be_read_is_a_number_too_high() -> None:
    assert "cites_trajectory" in audit("At step " + "9" * 5000 + " take mug 1.", PLAYED, (), 30, ())
    assert "within_limits" in audit("It takes " + "9" * 5000 + " steps.", PLAYED, (), 30, ())
    assert "known_history" in audit("As in trial " + "9" * 5000 + ".", PLAYED, (), 30, ())


@examples(100)
@given(st.lists(st.tuples(st.none() | TEXTS, TEXTS), max_size=12), st.integers(0, 5))
def test_any_steps_are_a_loop_or_none(turns: list[tuple[str | None, str]], cycles: int) -> None:
    steps = [Step(n, "", "", action, seen) for n, (action, seen) in enumerate(turns, 1)]
    if is_loop(steps, cycles):
        assert len(steps) > cycles > 0


@cache
def environments() -> tuple[Environment, ...]:
    return alfworld({}), hotpotqa({})


CALLS = st.builds(
    ToolCall,
    st.sampled_from(["Search", "finish", " Lookup ", ""]) | TEXTS,
    TEXTS | spoilt({"entity": "Lake Merrin"}).map(lambda data: data.decode("utf-8", "replace")),
)


@examples(200)
@given(TEXTS, st.lists(CALLS, max_size=3))
@example("", [ToolCall("Search", r'{"entity": "\ud800"}')])
@example("", [ToolCall("Finish", r'{"answer": "half \udfff of a pair"}')])
def test_every_reply_becomes_an_action_and_a_turn_that_can_be_sent_again(
    text: str, calls: list[ToolCall]
) -> None:
    # What a model wrote reaches the parsers without half surrogate pairs; the arguments of a call may still spell them.
    reply = Reply(text.encode("utf-8", "replace").decode(), calls=tuple(calls))
    for environment in environments():
        for policy in ("strict", "repair", "admissible"):
            limits = Limits(max_steps=5, parse=policy)
            action = parse_reply(reply, environment, limits)
            assert action.command is None or action.error is None
            turn = format_turn(action, reply.text, environment.prompts)
            assert turn.strip()
            assert turn.encode()
            if action.error is not None:
                assert len(turn) < 300


@cache
def opened() -> Game:
    game = Game.from_json(generate_one(0, 1).game)
    for command in ("go to sidetable 1", "look"):
        game.step(command)
    return game


@st.composite
def nearly(draw: st.DrawFn, commands: tuple[str, ...]) -> str:
    """A command with a sign lost, put in, doubled or in another letter case."""
    command = draw(st.sampled_from(commands))
    at = draw(st.integers(0, len(command) - 1))
    put = draw(st.sampled_from(["", command[at].upper(), command[at] * 2, " ", "1", "\n", "the ", "\u200b"]))
    return command[:at] + put + command[at + 1 :]


@examples(300)
@given(TEXTS | nearly(opened().admissible))
def test_a_household_executes_nothing_but_what_is_admissible_to_the_letter(command: str) -> None:
    game = opened().copy()
    before = game.admissible
    step = game.step(command)
    if command.strip() not in before:
        assert (step.valid, step.observation) == (False, NOTHING_HAPPENS)
        assert game.admissible == before


@examples(100)
@given(st.data())
def test_a_memory_file_is_taken_or_refused_row_by_row(data: st.DataObject) -> None:
    note = {
        "id": "t#1",
        "task": "t",
        "about": "put a mug",
        "trial": 1,
        "text": "Look.",
        "shown": 2,
        "helped": 1,
    }
    source = {"task": "t", "number": 1, "trial": 1, "text": "Look.", "error_class": ""}
    lesson = {
        "id": "L1",
        "text": "Look.",
        "confidence": 0.7,
        "age": 1,
        "shown": 2,
        "helped": 1,
        "sources": [source],
    }
    for kind, row in (("sliding", note), ("retrieval", note), ("strategy", lesson)):
        try:
            value: Any = json.loads(data.draw(spoilt(row)))
        except (ValueError, RecursionError):
            continue
        remember(kind, value)


@pytest.mark.parametrize("changed", [{"helped": 10**400}, {"shown": -2}, {"trial": 10**400}])
def test_a_memory_row_with_an_impossible_count_is_refused(changed: dict[str, int]) -> None:
    row = {"id": "t#1", "task": "t", "about": "", "trial": 1, "text": "Look."} | changed
    for kind in ("sliding", "retrieval"):
        with pytest.raises(UsageError, match=f"memory, row 1: no reflection .{next(iter(changed))}"):
            build(kind).load([row])


@pytest.mark.parametrize("changed", [{"confidence": float("nan")}, {"age": 10**400}, {"confidence": 7}])
def test_a_lesson_with_an_impossible_number_is_refused(changed: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=f"memory, row 1: no lesson .{next(iter(changed))}"):
        build("strategy").load([{"id": "L1", "text": "Look."} | changed])


def remember(kind: str, row: Any) -> None:
    memory = build(kind)
    try:
        memory.load([row])
    except UsageError:
        return
    memory.commit()
    assert json.dumps(memory.dump(), allow_nan=False)
    memory.view(Task("t", "put", "put a mug", "")).shown("a room")


LONG = (
    *("[", "]", "(", "<think>", "```\n", "```json{", '{"a":', "\\", '"', "-", " ", "\n", "a", "9", "\u0301"),
    *("Search[", "Search [a\n", "Lookup(a) ", "Finish[x] ", "Action: ", "Thought:\n", "think: ", "Observation"),
    *("<action>", "<|im_end|>", "a<|im_end|><|im_start|>assistant", "<tool_call>x\n{"),
    *("\\boxed{", "行动：", "\u200b", "Answer: "),
    *("<|channel|>final<|message|>", "`look` ", "goto ", "[INST]", "I will ", "'", "\u200d"),
    *("step 1 ", "Aa ", "trial ", "do not. ", "commands ", "next time "),
)  # fmt: skip
READERS = {
    "hotpotqa, repair": lambda text: questions.read_action(text, "repair"),
    "hotpotqa, strict": lambda text: questions.read_action(text, "strict"),
    "alfworld, repair": lambda text: household.read_action(text, "repair"),
    "alfworld, strict": lambda text: household.read_action(text, "strict"),
    "alfworld, admissible": lambda text: household.read_action(text, "admissible", opened().admissible),
    "json": lambda text: asked(text, Diagnosis),
    "audit": lambda text: audit(text, PLAYED, (text,), 30, ("go to", "take")),
}


@pytest.mark.parametrize("name", READERS)
def test_no_repeated_sign_makes_a_reader_slower_than_the_length_of_the_reply(name: str) -> None:
    slow = [
        piece
        for piece in LONG
        if not grows_linearly(lambda n, piece=piece: READERS[name](piece * (n // len(piece))), 1500)
    ]
    assert not slow
