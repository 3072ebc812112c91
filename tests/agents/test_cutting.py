"""Replies that ended because no room was left: which are whole all the same, and which are asked for again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reflex_bench.agents.reflection.cutting import missing, wants_room
from reflex_bench.envs.alfworld.parsing.actions import read_action as read_command
from reflex_bench.envs.base import Action
from reflex_bench.envs.hotpotqa.parsing.actions import read_action as read_search
from reflex_bench.models.base import Reply, ToolCall


def alfworld(text: str) -> Action:
    return read_command(text, "repair")


def hotpotqa(text: str) -> Action:
    return read_search(text, "repair")


@pytest.mark.parametrize(
    ("read", "text", "what"),
    [
        (hotpotqa, "Thought: the lake.\nAction: Search[Lake Mer", "end"),
        (hotpotqa, "Thought: the lake.\nAction: Search[Lake Mer]", ""),
        (hotpotqa, "Thought: the lake was", "action"),
        (hotpotqa, "Action: Finish[Par", "end"),
        (alfworld, "go to cabinet 1", "end"),
        (alfworld, "go to cabi", "end"),
        (alfworld, "think: I should look", "action"),
        (alfworld, "", "answer"),
    ],
)
def test_an_action_is_whole_where_more_text_would_not_change_it(
    read: Callable[[str], Action], text: str, what: str
) -> None:
    assert missing(Reply(text, finish="length"), read) == what
    assert missing(Reply(text, finish="stop"), read) == "", "what ended by itself is whole"


def test_a_call_is_whole_where_its_arguments_are() -> None:
    cut = Reply("", finish="length", calls=(ToolCall("Search", '{"entity": "Lake Mer'),))
    whole = Reply("", finish="length", calls=(ToolCall("Search", '{"entity": "Lake Mer"}'),))
    assert (missing(cut, hotpotqa), missing(whole, hotpotqa)) == ("end", "")


def test_a_role_that_does_not_act_is_only_asked_again_where_it_said_nothing() -> None:
    assert not wants_room(Reply("I should have", finish="length"), 0)
    assert wants_room(Reply("", finish="length", reasoning="Hm."), 0)


def test_a_text_that_does_not_come_to_an_action_is_given_room_twice_and_no_more() -> None:
    rambling = Reply("Thought: and then, and then", finish="length")
    assert [wants_room(rambling, again, hotpotqa) for again in (0, 1, 2)] == [True, True, False]
    assert wants_room(Reply("", finish="length"), 5, hotpotqa)
