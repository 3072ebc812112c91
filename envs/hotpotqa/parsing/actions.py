"""Reads Search, Lookup and Finish out of what models write.

Two policies. `strict` takes the exact form alone, `Thought: …` and `Action: Verb[argument]` on a line each, or the
bare `Verb[argument]`. `repair` takes what real models write, and names each liberty in `Action.repairs`; see
`reflex_bench.envs.completions` for the names. There is no list of admissible commands here, so a run with the policy
`admissible` is refused; the function reads as under `repair`.

Errors (`Action.error`): `empty`, `no_action`, `unknown_action`, `empty_argument` (Search and Lookup need one;
`Finish[]` is the empty answer), `placeholder` (`Search[title]`, copied from the instruction), `unclosed_reasoning` (the
token limit was hit inside the reasoning), under `strict` also `format`, and from tool calls also `bad_arguments`.

A verb in the middle of a sentence ("I might use Search[x] later") is no action. Quotation marks inside square brackets
stay in the command; a search ignores one pair of them when it resolves a title. The first action counts. Work is
linear in the length of the completion. The published failures behind these rules: noahshinn/reflexion#43 and #47,
llama_index#14736, NeMo-Agent-Toolkit#1667, smolagents#1915, and 55 lines of the published Reflexion logs that hold
several actions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reflex_bench.envs.base import Action, ParsePolicy
from reflex_bench.envs.completions import Cleaned, TextCall, clean, first_text_call
from reflex_bench.envs.completions.characters import narrow
from reflex_bench.envs.hotpotqa.parsing.action_extraction import first_call, labelled_call
from reflex_bench.envs.hotpotqa.parsing.argument import CALL
from reflex_bench.envs.hotpotqa.parsing.completion_cleanup import (
    DECORATION,
    before_observation,
    prose,
    without_fences,
)
from reflex_bench.envs.hotpotqa.parsing.tools import from_text_call
from reflex_bench.envs.hotpotqa.parsing.verbs import VERBS, checked, split_command, verb_of

__all__ = ["VERBS", "checked", "read_action", "split_command"]

_EXACT = re.compile(r"([A-Za-z_]{1,30})\[")
_EXACT_TURN = re.compile(
    r"[ \n]*(?:Thought: [^\r\n<{]*\nAction: )?(?:Search|Lookup|Finish)\[[^\r\n<{\[\]]*\][ \n]*\Z"
)
_DRESSED = re.compile(r"[={\\]|observation", re.IGNORECASE)
_TAGS = re.compile(r"<[|｜/]{0,2}[A-Za-z_][\w:▁ -]{0,30}[|｜]?>")
_WIDE = re.compile("[Ａ-Ｚａ-ｚ]+(?:[ \u3000][Ａ-Ｚａ-ｚ]+)?|[０-９]{1,3}(?=\\s?[:：])")
_WORDS = {
    *("search", "lookup", "look up", "finish", "thought", "action", "observation", "action input"),
    *map(str, range(100)),
}
_ESCAPED = re.compile(r"(?:search|look[ _-]?up|finish)\\\[", re.IGNORECASE)
_BACKSLASH = re.compile(r"\\([\[\]_*(){}])")


def read_action(completion: str, policy: ParsePolicy, actions: Sequence[str] = VERBS) -> Action:
    """Return the action in a completion, as a canonical command `Verb[argument]`. Never raises.

    Args:
        completion: what the model wrote.
        policy: see the module's text.
        actions: the verbs that are allowed, out of `VERBS`; any other is an `unknown_action`.
    """
    if not completion.strip():
        return Action(error="empty")
    if policy == "strict":
        return _strict(completion.strip(), actions)
    if completion.isascii() and _EXACT_TURN.match(completion):
        exact = _strict(completion.strip(), actions)
        if exact.error is None and not _DRESSED.search(exact.command or ""):
            return exact  # as most are: what follows would find nothing to do
    return _repaired(completion, actions)


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
    reply = clean(completion)
    repairs = reply.repairs
    text = _unescaped(_narrow_words(reply.text, repairs), repairs)
    text = without_fences(before_observation(text, repairs), repairs)
    call, tool = first_call(text), first_text_call(text)
    if tool and (call is None or tool.start <= call.start):
        action = _from_text(tool, text, repairs, actions)
        if action.command is not None or call is None:
            return action
    if call is None:
        if reply.only_reasoning or reply.unclosed:
            return _in_reasoning(reply, prose(text), actions)
        return Action(prose(text), error="no_action", repairs=tuple(repairs))
    rest = text[call.end :]
    extra = len(CALL.findall(rest))
    repairs.extend(call.repairs)
    if "tag" not in call.repairs and ("<" in rest or "<" in text[: call.start]) and _TAGS.search(text):
        repairs.append("tag")
    if not extra and (reply.unclosed or _TAGS.sub("", rest).strip(DECORATION)):
        repairs.append("trailing_text")
    repairs.extend(["extra_actions"] * extra)
    return checked(_thought(text[: call.start]), call.verb, call.argument, actions, repairs)


def _from_text(tool: TextCall, text: str, repairs: Sequence[str], actions: Sequence[str]) -> Action:
    """Return the action of a tool call in a text; its name may be a whole action, as in `{"action": "Search[x]"}`."""
    thought = _thought(text[: tool.start])
    repairs = [*repairs, *["extra_actions"] * len(CALL.findall(tool.rest))]
    written = first_call(tool.name) if "[" in tool.name or ":" in tool.name else None
    if written is None and verb_of(tool.name) is None:
        values = [tool.arguments] if isinstance(tool.arguments, str) else list(tool.arguments.values())
        written = next((call for one in values if isinstance(one, str) and (call := first_call(one))), None)
    if written is None:
        return from_text_call(tool, thought, repairs, actions)
    thought = "\n".join(filter(None, (thought, tool.thought.strip())))
    return checked(
        thought, written.verb, written.argument, actions, [*repairs, "tool_call", *written.repairs]
    )


def _in_reasoning(reply: Cleaned, thought: str, actions: Sequence[str]) -> Action:
    """Return the action of a turn that was written inside the reasoning marks, with nothing after them."""
    text = before_observation(reply.reasoning, reply.repairs)
    named = [*reply.repairs, "action_in_reasoning"]
    if call := labelled_call(text, last_line=reply.unclosed):
        return checked(thought, call.verb, call.argument, actions, [*named, *call.repairs])
    tool = first_text_call(text) if "tool_call" in text and not reply.unclosed else None
    if tool and verb_of(tool.name):
        return from_text_call(tool, thought, named, actions)
    error = "unclosed_reasoning" if reply.unclosed else "no_action"
    return Action(thought, error=error, repairs=tuple(reply.repairs))


def _thought(text: str) -> str:
    return prose(_TAGS.sub("", text) if "<" in text else text)


def _narrow_words(text: str, repairs: list[str]) -> str:
    """Return the text with labels, verbs and step numbers in ordinary letters; arguments stay as they are."""
    if text.isascii() or not _WIDE.search(text):
        return text
    narrowed = _WIDE.sub(lambda word: narrow(word[0]) if narrow(word[0]).lower() in _WORDS else word[0], text)
    if narrowed != text:
        repairs.append("full_width")
    return narrowed


def _unescaped(text: str, repairs: list[str]) -> str:
    if "\\" not in text or not _ESCAPED.search(text):
        return text
    repairs.append("markdown")
    return _BACKSLASH.sub(r"\1", text)
