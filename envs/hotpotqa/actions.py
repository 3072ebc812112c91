"""Reads Search, Lookup and Finish out of what models write.

Two policies. `strict` takes the exact form alone, `Thought: …` and `Action: Verb[argument]` on a line each, or the
bare `Verb[argument]`. `repair` takes what real models write, and names each liberty in `Action.repairs`:

============================  ======================================================================================
repair                        what was done
============================  ======================================================================================
`line_endings`                CRLF or CR read as LF
`reasoning_removed`           text in reasoning tags (`<think>…</think>`) dropped, once per closing tag
`cut_invented_observation`    everything from the first `Observation:` on dropped
`code_fence`                  fence lines (three backticks) dropped
`markdown`                    emphasis, bullets, headings or backticks around a label or an action ignored
`prompt_prefix`               a leading `>` ignored
`step_number`                 `Action 2:` read as `Action:`
`letter_case`                 `search[…]` or `action:` read as `Search[…]`, `Action:`
`spacing`                     a space between verb and bracket, or the action on the line after its label
`other_punctuation`           round, full-width or lenticular brackets, or a full-width colon
`inline_action`               the action stood at the end of a line of prose
`wrong_label`                 the action stood behind another label than `Action:`
`action_input`                `Action: Search` and `Action Input: …` joined
`colon_form`                  `Action: Search: …` read as `Search[…]`
`joined_lines`                an argument over several lines joined
`stray_bracket`               an argument with unbalanced brackets taken up to the last one; a doubled last one dropped
`unclosed_bracket`            the closing bracket was missing
`trailing_text`               text after the action ignored
`extra_actions`               a further action ignored, once for each
`argument_name`               a tool call's only text taken, although it had another name
============================  ======================================================================================

Errors (`Action.error`): `empty`, `no_action`, `unknown_action`, `empty_argument` (Search and Lookup need one;
`Finish[]` is the empty answer), `unclosed_reasoning` (the token limit was hit inside the reasoning), under `strict`
also `format`, and from tool calls also `bad_arguments`.

A verb in the middle of a sentence ("I might use Search[x] later") is no action, and neither is raw JSON. Quotation
marks stay in the command; a search ignores one pair of them when it resolves a title. The first action counts. Work
is linear in the length of the completion. The published failures behind these rules: noahshinn/reflexion#43 and #47,
llama_index#14736, NeMo-Agent-Toolkit#1667, smolagents#1915, and 55 lines of the published Reflexion logs that hold
several actions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reflex_bench.envs.base import Action, ParsePolicy
from reflex_bench.envs.hotpotqa.brackets import CALL
from reflex_bench.envs.hotpotqa.calls import first_call
from reflex_bench.envs.hotpotqa.completion import (
    DECORATION,
    before_observation,
    prose,
    without_fences,
    without_reasoning,
)

VERBS = ("Search", "Lookup", "Finish")

_EXACT = re.compile(r"([A-Za-z_]{1,30})\[")


def read_action(completion: str, policy: ParsePolicy, actions: Sequence[str] = VERBS) -> Action:
    """The action in a completion, as a canonical command `Verb[argument]`. Never raises.

    Args:
        completion: what the model wrote.
        policy: `strict` or `repair`, see the module's text.
        actions: the verbs that are allowed, out of `VERBS`; any other is an `unknown_action`.
    """
    if not completion.strip():
        return Action(error="empty")
    return _strict(completion.strip(), actions) if policy == "strict" else _repaired(completion, actions)


def split_command(command: str) -> tuple[str, str] | None:
    """(verb, argument) of a canonical command, in any letter case; None where it is none."""
    head, bracket, tail = command.strip().partition("[")
    verb = head.strip().capitalize()
    if not bracket or not tail.endswith("]") or verb not in VERBS:
        return None
    return verb, tail[:-1].strip()


def checked(thought: str, verb: str, argument: str, actions: Sequence[str], repairs: Sequence[str]) -> Action:
    """The action, or the error where the verb is not allowed or its argument is missing."""
    # A command is one line, whatever counts as a line break.
    argument = " ".join(argument.split()) if len(argument.splitlines()) > 1 else argument.strip()
    if verb not in actions:
        return Action(thought, error="unknown_action", repairs=tuple(repairs))
    if not argument and verb != "Finish":
        return Action(thought, error="empty_argument", repairs=tuple(repairs))
    return Action(thought, f"{verb}[{argument}]", repairs=tuple(repairs))


def _strict(text: str, actions: Sequence[str]) -> Action:
    lines = text.split("\n")
    thought = ""
    if len(lines) == 2 and lines[0].startswith("Thought: ") and lines[1].startswith("Action: "):
        thought = lines[0][len("Thought: ") :].strip()
        lines = [lines[1][len("Action: ") :]]
    verb = _EXACT.match(lines[0])
    if len(lines) != 1 or verb is None:
        return Action(thought, error="format")
    argument = lines[0][verb.end() : -1]
    if not lines[0].endswith("]") or CALL.search(argument):
        return Action(thought, error="format")
    return checked(thought, verb.group(1), argument.strip(), actions, ())


def _repaired(completion: str, actions: Sequence[str]) -> Action:
    repairs: list[str] = []
    text = completion
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        repairs.append("line_endings")
    text, unclosed = without_reasoning(text, repairs)
    text = without_fences(before_observation(text, repairs), repairs)
    call = first_call(text)
    if call is None:
        error = "unclosed_reasoning" if unclosed else "no_action"
        return Action(prose(text), error=error, repairs=tuple(repairs))
    rest = text[call.end :]
    extra = len(CALL.findall(rest))
    repairs.extend(call.repairs)
    if not extra and (unclosed or rest.strip(DECORATION)):
        repairs.append("trailing_text")
    repairs.extend(["extra_actions"] * extra)
    return checked(prose(text[: call.start]), call.verb, call.argument, actions, repairs)
