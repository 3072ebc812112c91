"""The hash that journal and replay share."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from reflex_bench.models.base import Message, Request, ToolCall
from reflex_bench.models.hashing import IncrementalRequestHash, request_hash

ASKED = Request((Message("system", "Spiel"), Message("user", "Tür ü")), 0.5, 64, ("\n",), 7)
CALL = ToolCall("Search", "{}")


def test_the_hash_is_taken_over_canonical_json() -> None:
    text = (
        '{"max_tokens":64,"messages":[["system","Spiel"],["user","T\\u00fcr \\u00fc"]],'
        '"seed":7,"stop":["\\n"],"temperature":0.5}'
    )
    assert request_hash(ASKED) == hashlib.sha256(text.encode()).hexdigest()


def test_everything_that_decides_a_reply_changes_it() -> None:
    changes = [
        {"temperature": 0.0},
        {"max_tokens": 65},
        {"stop": ()},
        {"stop": ("\n", "")},
        {"seed": 8},
        {"seed": None},
        {"messages": ASKED.messages[1:]},
        {"messages": ASKED.messages[::-1]},
        {"messages": (Message("user", "Spiel"), ASKED.messages[1])},
        {"messages": (Message("system", "SpielTür ü"), Message("user", ""))},
        {"messages": (Message("system", "Spiel", "hm", "reasoning"), ASKED.messages[1])},
        {"messages": (Message("system", "Spiel", text="Spiel:"), ASKED.messages[1])},
        {"messages": (Message("system", "Spiel", call=CALL, call_id="1"), ASKED.messages[1])},
        {"messages": (Message("system", "Spiel", call=CALL, call_id="2"), ASKED.messages[1])},
        {"messages": (Message("system", "Spiel", call_id="1"), ASKED.messages[1])},
        {"in_one": True},
        {"more": {"top_p": 0.5}},
        {"more": {"seed": None}},
    ]
    hashes = {request_hash(replace(ASKED, **change)) for change in changes}
    assert len(hashes | {request_hash(ASKED)}) == len(changes) + 1


def test_a_running_text_and_a_call_of_a_tool_stand_in_the_hash_where_there_are_any() -> None:
    turns = (Message("user", "Tür", text="Tür:"), Message("assistant", "I look.", call=CALL, call_id="c1"))
    text = (
        '{"max_tokens":64,"messages":[["user","T\\u00fcr",{"text":"T\\u00fcr:"}],'
        '["assistant","I look.",{"call":["Search","{}"],"call_id":"c1"}]],'
        '"seed":7,"stop":["\\n"],"temperature":0.5,"text":true}'
    )
    assert (
        request_hash(replace(ASKED, messages=turns, in_one=True)) == hashlib.sha256(text.encode()).hexdigest()
    )


def test_the_way_a_number_is_written_does_not() -> None:
    assert request_hash(replace(ASKED, temperature=1)) == request_hash(replace(ASKED, temperature=1.0))


def test_text_that_is_no_valid_unicode_has_a_hash_too() -> None:
    assert len(request_hash(Request((Message("user", "\ud800"),)))) == 64


TURNS = [
    Message("system", "play"),
    Message("user", "Tür"),
    Message("assistant", "go"),
    Message("user", "You go."),
]


@pytest.mark.parametrize(
    "lengths",
    [(1, 2, 4), (2, 2), (4, 1, 3), (3, 0, 2)],
    ids=["growing", "the same again", "begun anew", "emptied"],
)
def test_a_conversation_hashed_as_it_grows_has_the_hash_of_the_whole(lengths: tuple[int, ...]) -> None:
    growing = IncrementalRequestHash()
    for length in lengths:
        asked = replace(ASKED, messages=tuple(TURNS[:length]), seed=length)
        assert growing.hash(asked) == request_hash(asked)
        assert growing.characters == sum(len(message.content) for message in asked.messages)


def test_a_conversation_that_was_changed_or_gets_another_limit_is_hashed_anew() -> None:
    growing = IncrementalRequestHash()
    growing.hash(replace(ASKED, messages=tuple(TURNS)))
    assert growing.repeated == 0
    changed = replace(ASKED, messages=(*TURNS[:2], Message("assistant", "look")))
    assert growing.hash(changed) == request_hash(changed)
    assert growing.repeated == len("play") + len("Tür"), "what both begin with"
    longer = replace(ASKED, messages=(*changed.messages, TURNS[3]), max_tokens=7, tools=({"name": "x"},))
    assert growing.hash(longer) == request_hash(longer)
    assert growing.repeated == growing.characters - len("You go.") - len('[{"name": "x"}]')


def test_definitions_of_tools_count_as_a_part_of_every_prompt() -> None:
    growing, tools = IncrementalRequestHash(), ({"name": "Tür"},)
    for length in (2, 4):
        growing.hash(replace(ASKED, messages=tuple(TURNS[:length]), tools=tools))
    assert growing.characters == len('[{"name": "Tür"}]') + len("play" + "Tür" + "go" + "You go.")
    assert growing.repeated == len('[{"name": "Tür"}]') + len("play" + "Tür")
    other = (*TURNS[:1], Message("user", "Another"))
    growing.hash(replace(ASKED, messages=other, tools=tools))
    assert growing.repeated == len('[{"name": "Tür"}]') + len("play")
