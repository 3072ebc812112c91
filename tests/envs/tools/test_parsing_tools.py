"""Calls of tools in what models write; expected commands by hand, forms from the chat templates of model families."""

from __future__ import annotations

import json

import pytest

from reflex_bench.envs.tools.parsing import MAX_ARGUMENTS, command_of, read_action, read_call, split_command

CALL = 'tool_orders_v3 {"order_id": "ORD-1042"}'

FORMS = [
    (f"Thought: I look.\nAction: {CALL}", []),
    (f"Action: {CALL}\n", []),
    (f"**Action 2:** `{CALL}`", []),
    ('Thought: x\nAction: tool_orders_v3\nAction Input: {"order_id": "ORD-1042"}', ["action_input"]),
    ('Action: tool_orders_v3({"order_id": "ORD-1042"})', ["call_form"]),
    ("Action: tool_orders_v3 {'order_id': 'ORD-1042',}", ["json_form"]),
    (f"{CALL}", ["action_label"]),
    (
        '<tool_call>{"name": "tool_orders_v3", "arguments": {"order_id": "ORD-1042"}}</tool_call>',
        ["tool_call"],
    ),
    ('{"action": "tool_orders_v3", "action_input": {"order_id": "ORD-1042"}}', ["tool_call"]),
    (f"Action: {CALL}\nObservation: HTTP 200", ["cut_invented_observation"]),
    (f"Action: {CALL}\nAction: {CALL}", ["extra_actions"]),
    (f"<think>hm</think>Action: {CALL}", ["reasoning_removed"]),
]


@pytest.mark.parametrize(("text", "repairs"), FORMS)
def test_a_call_is_found_in_every_form_and_each_liberty_is_named(text: str, repairs: list[str]) -> None:
    found = read_action(text, "repair")
    assert (found.command, found.error) == (CALL, None)
    assert set(repairs) <= set(found.repairs)
    assert bool(repairs) == bool(found.repairs)


def test_the_thought_before_a_call_is_kept() -> None:
    assert read_action(f"Thought: I look.\nAction: {CALL}", "repair").thought == "I look."


def test_strict_takes_the_exact_form_alone() -> None:
    assert read_action(f"Thought: I look.\nAction: {CALL}", "strict").command == CALL
    for text, repairs in FORMS:
        if repairs:
            assert read_action(text, "strict").error == "format"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "empty"),
        ("I am not sure what to do.", "no_action"),
        ("Action: tool_id {}", "placeholder"),
        ("Action: tool_orders_v3 ORD-1042", "bad_arguments"),
        ("Action: tool_orders_v3 [1]", "bad_arguments"),
        ("<think>Let me see", "unclosed_reasoning"),
    ],
)
def test_what_is_no_call_is_told_by_name(text: str, error: str) -> None:
    found = read_action(text, "repair")
    assert (found.command, found.error) == (None, error)


def test_no_name_is_mended_into_that_of_a_tool() -> None:
    assert read_action("Action: tool_order_v3 {}", "repair").command == "tool_order_v3 {}"


def test_giving_up_is_an_action() -> None:
    assert read_action("Thought: no way\nAction: give up", "repair").command == "give up"


@pytest.mark.parametrize(
    "arguments",
    [
        "[" * 1000 + "]" * 1000,
        '{"a": ' * 1000 + "1" + "}" * 1000,
        json.dumps({"a": "x" * 10_000_000}),
        '{"a": "' + "\x00\x1b[31m",
        "{" * 200_000,
        "null",
        '"text"',
    ],
)
def test_arguments_of_any_size_and_depth_are_refused_and_never_raise(arguments: str) -> None:
    for found in (
        read_action(f"Action: tool_x {arguments}", "repair"),
        read_call("tool_x", arguments, "", 0),
    ):
        assert found.command is None or len(found.command) <= MAX_ARGUMENTS


def test_sql_and_markup_in_arguments_stay_as_they_are() -> None:
    nasty = {"note": "'; DROP TABLE orders; -- <script>alert(1)</script> \x1b[31m"}
    found = read_call("tool_note_v1", json.dumps(nasty), "", 0)
    assert split_command(found.command or "") == ("tool_note_v1", nasty)


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    assert read_call("tool_x", '{"a": "\\ud83d"}', "", 0).command == 'tool_x {"a": "?"}'


def test_a_command_is_read_back_as_it_was_written() -> None:
    arguments = {"b": [1, {"c": None}], "a": "ü"}
    assert split_command(command_of("tool_x", arguments)) == ("tool_x", arguments)
    assert split_command("tool_x") == ("tool_x", {})
    assert split_command("tool_x [1]") is None
    assert split_command("") is None


def test_further_calls_of_a_reply_are_counted() -> None:
    assert read_call("tool_x", "{}", "I look", 2).repairs == ("extra_actions", "extra_actions")
