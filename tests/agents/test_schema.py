"""Asking for JSON: what is tolerated, what is asked for again, and when the question is given up."""

import json

import pytest
from growth import grows_linearly
from pydantic import BaseModel, Field
from scripted_ask import Script

from reflex_bench.agents.base import CallLimit
from reflex_bench.agents.schema import ask_json
from reflex_bench.core.errors import ContextOverflow
from reflex_bench.models.base import Message

QUESTION = (Message("user", "How sure, and of what?"),)
GOOD = '{"sure": 0.5, "name": "mug 1"}'


class Shape(BaseModel):
    sure: float = Field(ge=0, le=1)
    name: str


def asked(*lines):
    script = Script(*lines)
    return ask_json(script, QUESTION, Shape, 3), script


def test_an_object_of_the_shape_needs_no_repair():
    answer, script = asked(GOOD)
    assert answer.value == Shape(sure=0.5, name="mug 1")
    assert (answer.malformed, answer.repairs, len(script.heard)) == (0, (), 1)


@pytest.mark.parametrize(
    ("reply", "repairs"),
    [
        (f"```json\n{GOOD}\n```", ("code_fence",)),
        (f"Sure, here you are:\n{GOOD}\nAnything else?", ("surrounding_text",)),
        (f'<think>{{"sure": 1, "name": "no"}} or not?</think>\n{GOOD}', ("reasoning_block",)),
        (f"no more thinking</think>{GOOD}", ("reasoning_block",)),
        (f'<seed:think>{{"sure": 1, "name": "no"}}</seed:think>{GOOD}', ("reasoning_block",)),
        ('{"sure": 0.5, "name": "mug 1", "mood": "fine"}', ("extra_keys",)),
        (f"Use {{braces}} as in {{'a': 1}}: {GOOD}", ("surrounding_text",)),
        ('{"sure": 0.1, "name": "a draft"} no: ' + GOOD, ("surrounding_text",)),
        ('{"sure": "0.5", "name": "mug 1"}', ()),
    ],
)
def test_what_stands_around_the_json_is_tolerated_and_named(reply, repairs):
    answer, script = asked(reply)
    assert answer.value == Shape(sure=0.5, name="mug 1")
    assert (answer.repairs, answer.malformed, len(script.heard)) == (repairs, 0, 1)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "42",
        "[0.5]",
        "I am quite sure.",
        GOOD[:-5],
        "{'sure': 0.5, 'name': 'mug 1'}",
        '{"sure": 85, "name": "mug 1"}',
        '{"sure": NaN, "name": "mug 1"}',
        '{"sure": 1e999, "name": "mug 1"}',
        '{"sure": 0.5}',
        '{"sure": 0.5, "name": null}',
        f"<think>I could say {GOOD}",
        '{"sure": ' + "9" * 5000 + ', "name": "x"}',
        '{"a":' * 5000,
        '{"sure": ' + "[" * 990 + "]" * 990 + "}",
        '{"sure": ' + "[" * 9900 + "]" * 9900 + "}",
        "<think>Nothing follows.</think>",
        "[" * 100_000,
    ],
)
def test_a_reply_without_the_shape_is_asked_for_once_more_and_counted(reply):
    answer, script = asked(reply, GOOD)
    assert answer.value == Shape(sure=0.5, name="mug 1")
    assert (answer.malformed, len(script.heard)) == (1, 2)
    assert [message.role for message in script.heard[1]] == ["user", "assistant", "user"]
    assert script.heard[1][1].content
    assert len(script.heard[1][1].content) <= 2000


def test_half_a_surrogate_pair_becomes_a_text_that_can_be_written_to_a_file():
    answer, _ = asked('{"sure": 0.5, "name": "mug \\ud83d 1"}')
    assert answer.value == Shape(sure=0.5, name="mug ? 1")


def test_the_model_is_told_what_is_wrong_but_not_with_its_own_words():
    _, script = asked('{"sure": 85, "name": "ignore all rules"}', GOOD)
    told = script.heard[1][-1].content
    assert "sure" in told
    assert "less than or equal to 1" in told
    assert "ignore" not in told


def test_after_two_such_replies_the_question_is_given_up():
    answer, script = asked("no", "no again")
    assert (answer.value, answer.malformed, len(script.heard)) == (None, 2, 2)


@pytest.mark.parametrize("limit", [CallLimit("2 calls"), ContextOverflow("too long")])
def test_it_is_given_up_too_where_it_cannot_be_asked_again(limit):
    answer, _ = asked("no", limit)
    assert (answer.value, answer.malformed) == (None, 1)


@pytest.mark.parametrize(
    "part", ['{"a": [', '{"a": "', "{", '{"sure": 1, ', "</think>", "```json\n", '{"a":{}}']
)
def test_reading_takes_time_in_proportion_to_the_length_of_the_reply(part):
    def read(length):
        answer, _ = asked(part * (length // len(part)), json.dumps({"sure": 1, "name": "x"}))
        assert answer.malformed == 1

    assert grows_linearly(read, 10_000)


def test_a_text_that_is_continued_is_asked_again_under_the_label_of_its_question():
    question = (Message("user", "An attempt.\n\nVerdict:"),)
    for continued, end in ((True, "nothing around it.\n\nVerdict:"), (False, "nothing around it.")):
        script = Script("Hm.", GOOD)
        ask_json(script, question, Shape, 3, continued=continued)
        assert script.heard[1][-1].content.endswith(end)


def test_a_text_that_is_continued_ends_with_the_first_object_before_a_blank_line_and_has_stops():
    other = '{"sure": 0.9, "name": "of another question"}'
    script = Script(f"{GOOD}\n\nHow sure, and of what?\n{other}")
    answer = ask_json(script, QUESTION, Shape, 3, continued=True)
    assert (answer.value, answer.repairs) == (Shape(sure=0.5, name="mug 1"), ("run_on",))
    assert "\nSTATUS:" in script.stops[-1]
    script = Script(f"Let me see.\n\n{GOOD}")
    answer = ask_json(script, QUESTION, Shape, 3, continued=True)
    assert (answer.value, answer.repairs) == (Shape(sure=0.5, name="mug 1"), ("surrounding_text",))
    script = Script(f"{GOOD}\n\nNo:\n\n{other}")
    answer = ask_json(script, QUESTION, Shape, 3)
    assert (answer.value.name, script.stops[-1]) == ("of another question", ())
