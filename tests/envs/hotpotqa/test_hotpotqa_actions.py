"""Reading actions: literal completions from public reports and published logs, and what real models write.

`data/hotpotqa/hotpotqa_action_cases.jsonl` names for each case where it was seen.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from growth import grows_linearly

from reflex_bench.envs import completions
from reflex_bench.envs.hotpotqa.parsing.actions import read_action, split_command
from reflex_bench.envs.hotpotqa.parsing.tools import from_tool_call, tools

CASES = Path(__file__).parents[2] / "data" / "hotpotqa" / "hotpotqa_action_cases.jsonl"
ERRORS = {"reasoning_not_closed": "unclosed_reasoning"}


@pytest.mark.parametrize(
    "case",
    [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()],
    ids=lambda c: c["name"],
)
def test_published_cases_are_read_as_expected(case: dict[str, Any]) -> None:
    action = read_action(case["completion"], "repair")
    expected = case["expected"]
    if "error" in expected:
        assert action.command is None
        assert action.error == ERRORS.get(expected["error"], expected["error"])
        return
    assert action.command == f"{expected['verb'].capitalize()}[{expected['arg']}]"
    assert action.error is None
    assert action.repairs.count("extra_actions") == expected["extra_actions"]
    assert ("cut_invented_observation" in action.repairs) is expected["cut_hallucinated_observation"]


# completion, thought, command, repairs
REPAIRED = [
    ("Thought: I need it.\nAction: Search[Corvel]", "I need it.", "Search[Corvel]", []),
    ("Search[Corvel]", "", "Search[Corvel]", []),
    (" Search[Corvel] \n", "", "Search[Corvel]", []),
    ("Finish[]", "", "Finish[]", []),
    ("Finish[  ]", "", "Finish[]", []),
    ("Thought 2: so\nAction 2: Finish[B]", "so", "Finish[B]", ["step_number"]),
    ("ACTION: SEARCH[Corvel]", "", "Search[Corvel]", ["letter_case"]),
    ("Finish[x].", "", "Finish[x]", ["trailing_text"]),
    ("Finish[1871] because of [2] and [3]", "", "Finish[1871]", ["trailing_text"]),
    ("Finish[1871]]", "", "Finish[1871]", ["stray_bracket"]),
    ("Finish[Corvel [x]\nThought: y", "", "Finish[Corvel [x]", ["stray_bracket", "trailing_text"]),
    ("Finish[red,\ngreen,\nand blue]", "", "Finish[red, green, and blue]", ["joined_lines"]),
    ("Search[Corvel\nThought: and then", "", "Search[Corvel]", ["unclosed_bracket", "trailing_text"]),
    ("Search[List of compositions [draft]]", "", "Search[List of compositions [draft]]", []),
    ("Search[Bo (band)] and Search[Al]", "", "Search[Bo (band)]", ["extra_actions"]),
    ("Search[a] and Search[b]]", "", "Search[a]", ["extra_actions"]),
    ("Search[a]\nSearch[b]\nFinish[c]", "", "Search[a]", ["extra_actions"] * 2),
    # After the answer, a whole new task: seen with small models.
    (
        "Thought: ok\nAction: Finish[no]\n\nQuestion: Who?\nAction: Search[b]",
        "ok",
        "Finish[no]",
        ["extra_actions"],
    ),
    ("Search[A]\nObservation: made up\nAction: Finish[B]", "", "Search[A]", ["cut_invented_observation"]),
    ("Search[A] Observation 1: it is [b]]", "", "Search[A]", ["cut_invented_observation"]),
    ("Search[A]\n**Observation**\nmade up", "", "Search[A]", ["cut_invented_observation"]),
    ("Search[A]\nObservation：made up", "", "Search[A]", ["cut_invented_observation"]),
    (
        "**Thought 1:** I need it.\n\n**Action 1:** **Search[Corvel]**\n",
        "I need it.",
        "Search[Corvel]",
        ["markdown", "step_number", "markdown"],
    ),
    ("### Action\n- `Search[Corvel]`", "", "Search[Corvel]", ["markdown"]),
    ("1. Search[Corvel]", "", "Search[Corvel]", ["markdown"]),
    ("**Search**[Corvel]", "", "Search[Corvel]", ["markdown"]),
    ("> Search[Corvel]", "", "Search[Corvel]", ["prompt_prefix"]),
    ("> Thought: x\n> Action: Search[Corvel]", "x", "Search[Corvel]", ["prompt_prefix"]),
    ("```text\nAction: Lookup[dam]\n```", "", "Lookup[dam]", ["code_fence"]),
    ("```Search[Corvel]```", "", "Search[Corvel]", ["markdown"]),
    ("<think>Finish[1]? No.</think>\nSearch[Corvel]", "", "Search[Corvel]", ["reasoning_removed"]),
    ("<Thinking>a</Thinking><think>b</think>Finish[c]", "", "Finish[c]", ["reasoning_removed"] * 2),
    ("<think>a <think>b</think> c</think>Finish[d]", "", "Finish[d]", ["reasoning_removed"] * 2),
    ("Finish[1]\n</think>\nSearch[Corvel]", "", "Search[Corvel]", ["reasoning_removed"]),
    ("Search[A]\n<think>and now", "", "Search[A]", ["trailing_text"]),
    ("Thought: x.\r\nAction: Search[Corvel]\r\n", "x.", "Search[Corvel]", ["line_endings"]),
    ("Thought: x.\rAction: Search[Corvel]", "x.", "Search[Corvel]", ["line_endings"]),
    ("Thought: x. Action: Search[Corvel]", "x.", "Search[Corvel]", ["inline_action"]),
    ("I should look. Search[Corvel]", "I should look.", "Search[Corvel]", ["inline_action"]),
    ("Thought: Search[Corvel]", "", "Search[Corvel]", ["wrong_label"]),
    ("Thought: Search[Al]\nAction: Search[Corvel]", "Search[Al]", "Search[Corvel]", []),
    ("Action: Search\nAction Input: Corvel", "", "Search[Corvel]", ["action_input"]),
    ("Action: Search: Corvel", "", "Search[Corvel]", ["colon_form"]),
    ("Action:\n\nSearch[Corvel]", "", "Search[Corvel]", ["spacing"]),
    ("Action: Search [Corvel]", "", "Search[Corvel]", ["spacing"]),
    ("Action: Search(Lake (old) Corvel)", "", "Search[Lake (old) Corvel]", ["other_punctuation"]),
    (
        "思考：我需要它。\nAction：Search［Corvel］",
        "我需要它。",
        "Search[Corvel]",
        ["other_punctuation"],
    ),
    ("行动：Search【Corvel】", "", "Search[Corvel]", ["wrong_label", "other_punctuation"]),
    ("Aktion 1: Search[Corvel]", "", "Search[Corvel]", ["wrong_label"]),
    ('Search["Corvel"]', "", 'Search["Corvel"]', []),
    ('Finish["Corvel"]', "", 'Finish["Corvel"]', []),
]


@pytest.mark.parametrize(("completion", "thought", "command", "repairs"), REPAIRED)
def test_what_models_write_is_repaired_and_every_repair_is_named(
    completion: str, thought: str, command: str, repairs: list[str]
) -> None:
    action = read_action(completion, "repair")
    assert (action.thought, action.command, action.error) == (thought, command, None)
    assert list(action.repairs) == repairs


ERRONEOUS = [
    ("", "empty"),
    (" \n\t", "empty"),
    ("OK.", "no_action"),
    ("Thought: I should search", "no_action"),
    ("I might use Search[Corvel]", "no_action"),
    ("Thought 1: I might use Search[Corvel] later.", "no_action"),
    ("Search (the film) is about a search.", "no_action"),
    ("I did some research[1].", "no_action"),
    ('{"name": "compare", "arguments": {"query": "Corvel"}}', "unknown_action"),
    ('{"name": "search", "arguments": {"query": 7}}', "bad_arguments"),
    ('Thought: I plan {"name": "search", "arguments": {"query": "Corvel"}}', "no_action"),
    ("Search[title]", "placeholder"),
    ("Action 2: Lookup[words]", "placeholder"),
    ("Finish[answer]", "placeholder"),
    ("Search[<topic>]", "placeholder"),
    ("Action: Finish the task", "no_action"),
    ("Observation: it is 1871.\nAction: Finish[1871]", "no_action"),
    ("Action: go to desk 1", "no_action"),
    ("Search[", "no_action"),
    ("Search[]", "empty_argument"),
    ("Action: Lookup[ ]", "empty_argument"),
    ("Compare[A and B]", "unknown_action"),
    ("Action 4: Compare[A and B]\nAction 5: Finish[A]", "unknown_action"),
    ("Action:\nCompare[A]", "unknown_action"),
    ("<think>I could Finish[1871] now", "unclosed_reasoning"),
    ("a</think>b<think>Finish[1]", "unclosed_reasoning"),
]


@pytest.mark.parametrize(("completion", "error"), ERRONEOUS)
def test_where_there_is_no_action_the_reason_is_named(completion: str, error: str) -> None:
    action = read_action(completion, "repair")
    assert (action.command, action.error) == (None, error)


@pytest.mark.parametrize(
    ("completion", "command", "error"),
    [
        ("Thought: I need it.\nAction: Search[Corvel]", "Search[Corvel]", None),
        ("Search[Corvel]\n", "Search[Corvel]", None),
        ("Finish[]", "Finish[]", None),
        ('Finish[Corvel (] , locally "Corv" )]', 'Finish[Corvel (] , locally "Corv" )]', None),
        ("Action: Search[Corvel]", None, "format"),
        ("Thought 1: I need it.\nAction 1: Search[Corvel]", None, "format"),
        ("Search[Corvel].", None, "format"),
        ("Search[A], Search[B]", None, "format"),
        ("`Search[Corvel]`", None, "format"),
        ("Search[Cor\nvel]", None, "format"),
        ("search[Corvel]", None, "unknown_action"),
        ("Compare[A and B]", None, "unknown_action"),
        ("Lookup[]", None, "empty_argument"),
        ("Search[title]", None, "placeholder"),
        ("Search[Title]", "Search[Title]", None),
        ("", None, "empty"),
    ],
)
def test_the_strict_policy_takes_the_exact_form_alone(
    completion: str, command: str | None, error: str | None
) -> None:
    action = read_action(completion, "strict")
    assert (action.command, action.error, action.repairs) == (command, error, ())


def test_the_strict_policy_keeps_the_thought() -> None:
    assert (
        read_action("Thought: Look it up. Now.\nAction: Lookup[dam]", "strict").thought == "Look it up. Now."
    )


def test_verbs_that_are_not_allowed_are_unknown() -> None:
    assert read_action("Search[Corvel]", "repair", actions=("Finish",)).error == "unknown_action"
    assert read_action("Finish[Corvel]", "repair", actions=("Finish",)).command == "Finish[Corvel]"


def test_every_repair_is_in_the_table_of_the_module() -> None:
    documented = set(re.findall(r"`(\w+)`(?=[,` \w]*  )", completions.__doc__ or ""))
    used = {repair for _, _, _, repairs in REPAIRED for repair in repairs}
    assert used | {"argument_name"} <= documented


def test_commands_can_be_read_back() -> None:
    assert split_command("Finish[[N.S. 9 May] 1871]") == ("Finish", "[N.S. 9 May] 1871")
    assert split_command("search[x] ") == ("Search", "x")
    assert split_command("Finish[]") == ("Finish", "")
    assert split_command("Compare[x]") is None
    assert split_command("Search[x") is None
    assert split_command("") is None


@pytest.mark.parametrize(
    "piece",
    ["Search[", "Search[\n", "Search(\n", "Action: Search[\nx\n", "x Action: Search[\n", ". Search[ ", "Finish[a]]",
     "<think>", "</think>", "Observation", "Observation ", "[", "]", "* ", "> ", "Action", "Action:\n", "\r", "```\n",
     "x: Search[a\n", "Action: Search\n\n", "<action>", "{", '{"a":', "<|im_end|>", "<tool_call>x\n{",
     "`Search[x] ", "<answer>", "Answer:\n", "Search {", "[INST]", "a<|im_end|><|im_start|>assistant",
     "<|channel|>final<|message|>", "\u200d"],
)  # fmt: skip
def test_reading_takes_time_in_proportion_to_length(piece: str) -> None:
    assert grows_linearly(lambda length: read_action(piece * (length // len(piece)), "repair"), 10_000)


def test_tools_are_described_for_every_verb() -> None:
    schemas = tools()
    assert [schema["function"]["name"] for schema in schemas] == ["Search", "Lookup", "Finish"]
    for schema in schemas:
        parameters = schema["function"]["parameters"]
        assert parameters["required"] == list(parameters["properties"])
    assert [schema["function"]["name"] for schema in tools(("Finish",))] == ["Finish"]


@pytest.mark.parametrize(
    ("name", "arguments", "command", "error", "repairs"),
    [
        ("Search", '{"entity": "Corvel"}', "Search[Corvel]", None, ()),
        ("Finish", {"answer": ""}, "Finish[]", None, ()),
        ("Finish", {"answer": "[N.S. 9 May]\n1871"}, "Finish[[N.S. 9 May] 1871]", None, ()),
        ("search", '{"entity": "Corvel"}', "Search[Corvel]", None, ("letter_case",)),
        ("Search", '{"query": "Corvel"}', "Search[Corvel]", None, ("argument_name",)),
        ("Search", '{"entity": ""}', None, "empty_argument", ()),
        ("Search", '{"a": "x", "b": "y"}', None, "bad_arguments", ()),
        ("Finish", '{"answer": 1871}', None, "bad_arguments", ()),
        ("Search", '{"entity": "Cor', None, "bad_arguments", ()),
        ("Search", "[1]", None, "bad_arguments", ()),
        ("Search", "", None, "bad_arguments", ()),
        ("Compare", "{}", None, "unknown_action", ()),
    ],
)
def test_tool_calls_become_the_same_actions(
    name: str, arguments: Any, command: str | None, error: str | None, repairs: tuple[str, ...]
) -> None:
    action = from_tool_call(name, arguments)
    assert (action.command, action.error, action.repairs) == (command, error, repairs)


def test_further_tool_calls_are_counted() -> None:
    action = from_tool_call("Lookup", {"keyword": "dam"}, thought="so", extra=2)
    assert action.command == "Lookup[dam]"
    assert action.repairs == ("extra_actions", "extra_actions")
    assert action.thought == "so"
