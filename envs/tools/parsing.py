"""Reads calls of tools out of what models write: `Action: tool_orders_v3 {"order_id": "ORD-1042"}`.

A command is the name of a tool, or of `respond`, `hand_over` or `cancel`, and its arguments as canonical JSON. No name
is ever mended into that of a tool: what a model calls is what is called. `strict` takes the exact form alone; `repair`
takes what real models write, and names each liberty (see `reflex_bench.envs.completions`). Nothing here raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.base import Action, ParsePolicy
from reflex_bench.envs.completions import Cleaned, TextCall, clean, first_text_call
from reflex_bench.envs.completions.labels import ACTION, COLON, INPUT, OBSERVATION, THOUGHT
from reflex_bench.envs.completions.values import value_at

GIVE_UP = "give up"
MAX_ARGUMENTS = 50_000
"""Characters of the arguments of one call; no tool takes more."""
MAX_DEPTH = 50
"""Objects and lists in one another."""

_NAME = r"[A-Za-z_][\w.-]{0,99}"
_COMMAND = re.compile(rf"({_NAME})(?: (\{{.*))?", re.DOTALL)
_STRICT = re.compile(rf"(?:Thought: ([^\n]*)\n)?Action: ({_NAME}) (\{{.*\}})")
_LABEL = re.compile(
    rf"^[ \t>*_`#•-]{{0,8}}(?:{ACTION})[ *_`]*\d{{0,4}}[ *_`]*{COLON}[ \t*_`]*", re.MULTILINE | re.IGNORECASE
)
_THOUGHT = re.compile(
    rf"^[ \t>*_`#•-]{{0,8}}(?:{THOUGHT})[ *_`]*\d{{0,4}}[ *_`]*{COLON}[ \t*_`]*", re.MULTILINE | re.IGNORECASE
)
_OBSERVATION = re.compile(
    rf"^[ \t>*_`#•-]{{0,8}}(?:{OBSERVATION})[ *_`]*\d{{0,4}}[ *_`]*{COLON}", re.MULTILINE | re.IGNORECASE
)
_HEAD = re.compile(rf"[`\"'*]*({_NAME})[`\"'*]*")
_INPUT = re.compile(
    rf"\s{{0,4}}(?:(?:{INPUT})[ *_`]*\d{{0,4}}[ *_`]*{COLON})?\s{{0,4}}(?:```(?:json)?\s{{0,4}})?\(?\s{{0,4}}",
    re.IGNORECASE,
)
_BARE = re.compile(rf"^[ \t>*_`-]{{0,8}}({_NAME})[ \t]{{0,4}}\(?[ \t]{{0,4}}(?={{)", re.MULTILINE)
_PLACEHOLDERS = frozenset({"tool_id", "tool_name", "name_of_the_tool"})


def command_of(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as a command."""
    return f"{name} {json.dumps(arguments, ensure_ascii=False, sort_keys=True)}"


def split_command(command: str) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the arguments of a command; None where it is none."""
    match = _COMMAND.fullmatch(command)
    if match is None:
        return None
    if match[2] is None:
        return match[1], {}
    try:
        arguments = json.loads(match[2])
    except (ValueError, RecursionError):
        return None
    return (match[1], arguments) if isinstance(arguments, dict) else None


def read_action(completion: str, policy: ParsePolicy) -> Action:
    """Find the call in a completion. Never raises.

    Errors: `empty`, `no_action`, `placeholder`, `bad_arguments` (no JSON object, or more than any tool takes),
    `unclosed_reasoning`, and under `strict` `format`.
    """
    if not completion.strip():
        return Action(error="empty")
    if policy == "strict":
        match = _STRICT.fullmatch(completion.strip())
        arguments = _object(match[3]) if match else None
        if match is None or arguments is None:
            return Action(error="format")
        return _checked((match[1] or "").strip(), match[2], arguments, [])
    reply = clean(completion)
    text, repairs = _before_observation(reply.text, reply.repairs), reply.repairs
    found = _labelled(text, repairs) or _written(text, repairs)
    if found is not None:
        return found
    if reply.only_reasoning or reply.unclosed:
        return _in_reasoning(reply)
    return Action(_prose(text), error="no_action", repairs=tuple(repairs))


def read_call(name: str, arguments: str | Mapping[str, Any], thought: str, extra: int) -> Action:
    """Return the action of a native tool call. Never raises."""
    repairs = ["extra_actions"] * extra
    values = arguments if isinstance(arguments, Mapping) else _loose(arguments or "{}", repairs)
    if values is None or not re.fullmatch(_NAME, name):
        return Action(thought, error="bad_arguments", repairs=tuple(repairs))
    return _checked(thought, name, values, repairs)


def _checked(thought: str, name: str, arguments: Mapping[str, Any], repairs: list[str]) -> Action:
    if name in _PLACEHOLDERS:
        return Action(thought, error="placeholder", repairs=tuple(repairs))
    try:
        command = command_of(name, arguments) if _depth(arguments) <= MAX_DEPTH else ""
    except (RecursionError, TypeError, ValueError):
        command = ""
    if not command or len(command) > MAX_ARGUMENTS:
        return Action(thought, error="bad_arguments", repairs=tuple(repairs))
    # A lone surrogate is a legal escape in JSON, but no file and no server takes the text it makes.
    return Action(thought, command.encode("utf-8", "replace").decode("utf-8"), repairs=tuple(repairs))


def _depth(value: Any) -> int:
    """How deep objects and lists stand in one another; counted without recursion."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        each, depth = waiting.pop()
        deepest = max(deepest, depth)
        if depth > MAX_DEPTH:
            return depth
        if isinstance(each, Mapping):
            waiting += [(inner, depth + 1) for inner in each.values()]
        elif isinstance(each, list):
            waiting += [(inner, depth + 1) for inner in each]
    return deepest


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _loose(text: str, repairs: list[str]) -> Mapping[str, Any] | None:
    """The JSON object that a text is, or nearly is."""
    exact = _object(text)
    if exact is not None:
        return exact
    start = text.find("{")
    value = value_at(text, start) if 0 <= start < MAX_ARGUMENTS else None
    if value is None or not isinstance(value[0], dict):
        return None
    repairs.append("json_form")
    return value[0]


def _labelled(text: str, repairs: list[str]) -> Action | None:
    """The call behind the first label of an action that has one."""
    for label in _LABEL.finditer(text):
        head = _HEAD.match(text, label.end())
        words = text[label.end() : label.end() + 40].strip(" `*\"'.").lower()
        if words.startswith(GIVE_UP):
            return Action(_prose(text[: label.start()]), GIVE_UP, repairs=tuple(repairs))
        if head is None:
            continue
        thought = _prose(text[: label.start()])
        return _with_arguments(text, thought, head[1], head.end(), repairs)
    return None


def _with_arguments(text: str, thought: str, name: str, end: int, repairs: list[str]) -> Action | None:
    gap = _INPUT.match(text, end)
    start = gap.end() if gap else end
    if gap and re.search(INPUT, gap[0], re.IGNORECASE):
        repairs.append("action_input")
    if gap and "(" in gap[0]:
        repairs.append("call_form")
    if text[start : start + 1] != "{":
        if text[end : end + 40].split("\n")[0].strip(" `*()"):
            # Something else than an object stands behind the name.
            return Action(thought, error="bad_arguments", repairs=tuple(repairs))
        return _checked(thought, name, {}, repairs)
    value = value_at(text, start)
    if value is None or not isinstance(value[0], dict):
        return Action(thought, error="bad_arguments", repairs=tuple(repairs))
    if _object(text[start : value[1]]) is None:
        repairs.append("json_form")
    rest = text[value[1] :]
    further = len(_LABEL.findall(rest))
    repairs.extend(["extra_actions"] * further)
    if not further and rest.strip(" \n`)*."):
        repairs.append("trailing_text")
    return _checked(thought, name, value[0], repairs)


def _written(text: str, repairs: list[str]) -> Action | None:
    """A call without a label: of another form of tool calls, or a name and an object on a line."""
    bare, call = _BARE.search(text), first_text_call(text)
    if bare and (call is None or bare.start() <= call.start):
        repairs.append("action_label")
        return _with_arguments(text, _prose(text[: bare.start()]), bare[1], bare.end(), repairs)
    return _from_text(call, text, repairs) if call else None


def _from_text(call: TextCall, text: str, repairs: list[str]) -> Action | None:
    repairs.extend(["tool_call", *["extra_actions"] * call.more])
    thought = "\n".join(filter(None, (_prose(text[: call.start]), call.thought.strip())))
    if not re.fullmatch(_NAME, call.name):
        return None
    if isinstance(call.arguments, str):
        return Action(thought, error="bad_arguments", repairs=tuple(repairs))
    return _checked(thought, call.name, call.arguments, repairs)


def _in_reasoning(reply: Cleaned) -> Action:
    named = [*reply.repairs, "action_in_reasoning"]
    text = _before_observation(reply.reasoning, named)
    found = None if reply.unclosed else _labelled(text, named)
    if found is not None and found.command is not None:
        return found
    return Action(error="unclosed_reasoning" if reply.unclosed else "no_action", repairs=tuple(reply.repairs))


def _before_observation(text: str, repairs: list[str]) -> str:
    label = _OBSERVATION.search(text)
    if label is None:
        return text
    repairs.append("cut_invented_observation")
    return text[: label.start()]


def _prose(text: str) -> str:
    lines = (_THOUGHT.sub("", line).strip().strip("*_`").strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith("```"))
