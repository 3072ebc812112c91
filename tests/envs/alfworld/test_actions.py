"""Reading ALFWorld actions: what is taken, what is named, and what is refused."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflex_bench.envs.alfworld.parsing import actions
from reflex_bench.envs.alfworld.parsing.actions import read_action
from reflex_bench.envs.base import Action

GO = "go to desk 1"


@pytest.mark.parametrize(
    "command",
    [
        GO,
        "open drawer 2",
        "close drawer 2",
        "take mug 2 from shelf 1",
        "move mug 2 to desk 1",
        "put mug 2 in/on desk 1",
        "put spoon 1 in drawer 1",
        "put pin 1 in drawer 1",
        "put candle 1 on shelf 1",
        "clean mug 2 with sinkbasin 1",
        "heat mug 2 with microwave 1",
        "cool mug 2 with fridge 1",
        "slice bread 1 with knife 1",
        "use desklamp 1",
        "examine computer 1",
        "look",
        "inventory",
        "help",
        "give up",
        "go to desk",  # the game's to refuse
    ],
)
@pytest.mark.parametrize("policy", ["strict", "repair"])
def test_a_command_in_its_exact_form_is_taken_as_it_stands(command: str, policy: actions.ParsePolicy) -> None:
    assert read_action(command, policy) == Action(command=command)


@pytest.mark.parametrize("policy", ["strict", "repair"])
def test_a_thought_is_a_turn_without_a_command_and_without_an_error(policy: actions.ParsePolicy) -> None:
    assert read_action("think: I need a mug.", policy) == Action(thought="I need a mug.")


UNTIDY = [
    ("\n> go to desk 1", GO, ("empty_first_line", "prompt_prefix")),
    ("> go to desk 1", GO, ("prompt_prefix",)),
    ("go to desk 1.", GO, ("full_stop",)),
    ('"go to desk 1"', GO, ("quotes",)),
    ("[go to desk 1]", GO, ("brackets",)),
    ("Go To Desk 1", GO, ("letter_case",)),
    ("go  to   desk 1", GO, ("spacing",)),
    ("go to the desk 1", GO, ("article",)),
    ("act: go to desk 1", GO, ("action_label",)),
    ("Action 3: go to desk 1", GO, ("action_label",)),
    ("**Action:** `go to desk 1`", GO, ("markdown", "action_label")),
    ("1. go to desk 1", GO, ("numbering",)),
    ("Step 2: go to desk 1", GO, ("numbering",)),
    ("- go to desk 1", GO, ("numbering",)),
    ("```\ngo to desk 1\n```", GO, ("code_fence",)),
    ("```text\ngo to desk 1\n```", GO, ("code_fence",)),
    ("OK.\ngo to desk 1", GO, ("cut_invented_observation",)),
    ("> OK.\n> go to desk 1", GO, ("cut_invented_observation", "prompt_prefix")),
    ("go to desk 1\ntake mug 1 from desk 1", GO, ("extra_actions",)),
    ("go to desk 1\nThat is all.", GO, ("trailing_text",)),
    (
        "go to desk 1\nYou arrive at desk 1. On the desk 1, you see a mug 1.\n> take mug 1 from desk 1",
        GO,
        ("cut_invented_observation", "extra_actions"),
    ),
    ("Action 1: look\nObservation 1: a desk\nAction 2: inventory", "look", None),
    ("go to desk 1, then take mug 1 from desk 1", GO, ("extra_actions",)),
    ("go to desk 1 to find a mug", GO, ("trailing_text",)),
    ("look (around)", "look", ("brackets", "trailing_text")),
    ("put apple 1 in/on fridge 1.", "put apple 1 in/on fridge 1", ("full_stop",)),
    ("Put Apple 1 In/On Fridge 1", "put apple 1 in/on fridge 1", ("letter_case",)),
    ("Give up!", "give up", ("full_stop", "letter_case")),
]


@pytest.mark.parametrize(("completion", "command", "repairs"), UNTIDY)
def test_repair_takes_an_untidy_command_and_names_every_liberty(
    completion: str, command: str, repairs: tuple[str, ...] | None
) -> None:
    action = read_action(completion, "repair")
    assert (action.command, action.error) == (command, None)
    if repairs is not None:
        assert action.repairs == repairs


@pytest.mark.parametrize(
    "completion", [row[0] for row in UNTIDY if not row[0].startswith(("go to desk 1\n", "Action"))]
)
def test_strict_refuses_what_repair_mends(completion: str) -> None:
    action = read_action(completion, "strict")
    assert (action.command, action.error) == (None, "unknown_action")


def test_strict_takes_the_first_line_and_counts_what_it_cuts() -> None:
    action = read_action("\ngo to desk 1\nYou arrive at desk 1.\nopen drawer 1\n", "strict")
    assert action.command == GO
    assert action.repairs == ("empty_first_line", "cut_invented_observation", "extra_lines")


@pytest.mark.parametrize(
    ("completion", "repairs"),
    [
        ("think: look there.\ngo to desk 1", ()),
        ("Thought: look there.\nAction: go to desk 1", ("thought_label", "action_label")),
        ("Thought 1: look there. Action 1: go to desk 1", ("thought_label", "inline_action", "action_label")),
        ("> think: look there. > go to desk 1", ("prompt_prefix", "inline_action", "prompt_prefix")),
        ("look there.\n\ngo to desk 1", ("unlabelled_thought",)),
        ("think: look\nOK.\nthink: there.\ngo to desk 1", ("cut_invented_observation", "joined_thoughts")),
    ],
)
def test_a_thought_and_a_command_in_one_completion_are_one_step(
    completion: str, repairs: tuple[str, ...]
) -> None:
    assert read_action(completion, "repair") == Action("look there.", GO, None, repairs)


@pytest.mark.parametrize(
    "completion", ["<think>look there.</think>\n\ngo to desk 1", "look there.\n</think>\ngo to desk 1"]
)
def test_text_in_reasoning_marks_is_no_thought_that_would_be_shown_again(completion: str) -> None:
    assert read_action(completion, "repair") == Action("", GO, None, ("reasoning_removed",))


@pytest.mark.parametrize(
    ("completion", "thought", "repairs"),
    [
        ("go to desk 1 > take pen 1 from desk 1", "", ("extra_actions",)),
        (
            "OK. > go to desk 1 > use desklamp 1 > examine baseballbat 1.",
            "",
            ("cut_invented_observation", "inline_action", "prompt_prefix", "extra_actions", "extra_actions"),
        ),
        (
            "think: I need a pan. > go to desk 1 > take pan 1 from desk 1" + " > look" * 60,
            "I need a pan.",
            ("inline_action", "prompt_prefix", *["extra_actions"] * 61),
        ),
        ("go to desk 1" + " > go to shelf 2" * 40, "", ("inline_action", *["extra_actions"] * 40)),
    ],
)
def test_of_a_chain_of_commands_on_one_line_the_first_is_taken(
    completion: str, thought: str, repairs: tuple[str, ...]
) -> None:
    assert read_action(completion, "repair") == Action(thought, GO, None, repairs)


@pytest.mark.parametrize("policy", ["strict", "repair", "admissible"])
@pytest.mark.parametrize("completion", ["go to receptacle", "take object from receptacle"])
def test_the_instructions_own_words_for_a_thing_are_no_command(
    completion: str, policy: actions.ParsePolicy
) -> None:
    assert read_action(completion, policy).error == "placeholder"


@pytest.mark.parametrize("policy", ["strict", "repair"])
@pytest.mark.parametrize("completion", ["", "  \n\n\t", "think:", "think:   "])
def test_nothing_said_is_the_error_empty(completion: str, policy: actions.ParsePolicy) -> None:
    action = read_action(completion, policy)
    assert (action.command, action.error) == (None, "empty")


@pytest.mark.parametrize("policy", ["strict", "repair"])
def test_reasoning_that_never_ends_is_an_error_even_if_a_command_stands_in_it(
    policy: actions.ParsePolicy,
) -> None:
    action = read_action("<think>First I\ngo to desk 1", policy)
    assert (action.command, action.error) == (None, "unclosed_reasoning")


@pytest.mark.parametrize(
    ("completion", "error"),
    [
        ("I will go to the desk now.", "no_action"),
        ("Open the drawers one by one", "no_action"),
        ("pick up mug 1", "no_action"),
        ("goto desk 1", "no_action"),
        ("Action: pick up mug 1", "unknown_action"),
        ("> walk to desk 1", "unknown_action"),
        ("**Thought: the lamp.**\n\n**Action: look at the clock under the lamp.**", "unknown_action"),
    ],
)
def test_what_only_resembles_a_command_is_never_executed(completion: str, error: str) -> None:
    action = read_action(completion, "repair")
    assert (action.command, action.error) == (None, error)


def test_a_thought_with_the_prompts_mark_is_a_thought_like_any_other() -> None:
    assert read_action("> think: **the lamp**", "repair") == Action("the lamp", repairs=("prompt_prefix",))


def test_reasoning_followed_by_nothing_is_empty() -> None:
    assert read_action("<think>hm</think>\n", "repair") == Action("", None, "empty", ("reasoning_removed",))


WORDS = st.sampled_from(
    (
        *(
            "think:",
            "Thought:",
            "Action:",
            ">",
            "```",
            "OK.",
            "<think>",
            "</think>",
            "You arrive",
            "**",
            '"',
            "(",
            "2.",
            "<action>",
            "</action>",
            "<|im_end|>",
            "<|channel|>final<|message|>",
            "行动：",
            "\u200b",
            '{"action":',
            "}",
            "goto",
        ),
        *("go to", "desk 1", "take", "mug 1", "from", "the", "look", "and", "at", "give", "up", ".", "\n"),
    )
)
COMPLETIONS = st.text() | st.lists(WORDS, max_size=25).map(" ".join)


@given(COMPLETIONS)
def test_any_text_gets_a_command_an_error_or_a_thought(completion: str) -> None:
    for policy in ("strict", "repair", "admissible"):
        action = read_action(completion, policy, (GO, "take mug 1 from desk 1"))
        assert (action.command is None) or (action.error is None)
        assert action.command or action.error or action.thought


@given(COMPLETIONS)
def test_a_command_has_only_words_that_were_written_in_their_order(completion: str) -> None:
    command = read_action(completion, "repair").command
    if command is not None:
        assert re.search(r"[\s\S]*?".join(map(re.escape, command.split())), completion.lower())


@given(COMPLETIONS)
def test_a_command_read_is_read_again_without_repairs(completion: str) -> None:
    command = read_action(completion, "repair").command
    if command is not None:
        assert read_action(command, "strict") == Action(command=command)


@given(COMPLETIONS)
def test_a_well_formed_reply_is_read_the_same_under_all_policies(completion: str) -> None:
    strict = read_action(completion, "strict")
    marked = (
        "<" in completion or "[" in completion
    )  # of reasoning and tools: not the form that `strict` knows
    if completion.isascii() and not marked and not strict.repairs and (strict.command or strict.thought):
        assert read_action(completion, "repair") == strict
        assert read_action(completion, "admissible", ("look", strict.command or GO)) == strict


@pytest.mark.parametrize(
    "piece",
    ["> ", "**", "think: ", "Action: ", "a ", "1. ", "> look\n", "go to ", "desk 1 and ", "<think>", "<action>",
     "<action>look", '{"a":', "{", "<|im_end|>", "a<|im_end|><|im_start|>assistant", "<tool_call>x\n{", "`look` ",
     "\\boxed{", "行动：", "1. look\n", "go to desk 1 > "],
)  # fmt: skip
def test_time_grows_with_the_length_and_no_faster(piece: str) -> None:
    def seconds(copies: int) -> float:
        text = piece * copies
        started = time.process_time()
        read_action(text, "repair")
        return time.process_time() - started

    assert min(seconds(20_000) for _ in range(3)) < 10 * min(seconds(5_000) for _ in range(3)) + 0.02
