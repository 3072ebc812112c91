"""Tool calls that a model wrote as text, in the forms of the model families, and bare JSON.

Known forms: `<tool_call>{"name": …, "arguments": …}</tool_call>` (Hermes, Qwen), `<tool_call>` with `<arg_key>` (GLM),
`<function=…>` (Llama 3.1, Qwen3-Coder), `<invoke name=…>` (Claude, DeepSeek V3.2, MiniMax), `[TOOL_CALLS]` (Mistral),
`<|tool_call_begin|>` (Kimi), `<｜tool▁call▁begin｜>` (DeepSeek), `call:…{…}` (Gemma), `✿FUNCTION✿` (Qwen-Agent),
`<tool>…</tool><tool_input>…` (LangChain's XML agent), JSON at the beginning of a line, fenced, labelled or bare.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reflex_bench.envs.completions.labels import ACTION, COLON
from reflex_bench.envs.completions.values import value_at

MAX_ATTEMPTS = 8
"""Places at which one reply is tried; keeps the work linear."""
MAX_DEPTH = 4
"""Wrappers round a call."""

_NAME = r"[\"']?([\w.:/ -]{1,60}?)[\"']?"
_HEAD = re.compile(
    rf"<[|｜]tool_call_begin[|｜]>\s*{_NAME}(?::\d+)?\s*<[|｜]tool_call_argument_begin[|｜]>"
    rf"|<｜tool▁call▁begin｜>\s*(?:function\s*<｜tool▁sep｜>)?\s*{_NAME}\s*(?:<｜tool▁sep｜>|\n)"
    rf"|\[TOOL_CALLS\]\s*(?=\w){_NAME}\s*(?:\[CALL_ID\]\w{{0,40}})?\s*(?:\[ARGS\]|(?={{))"
    rf"|<function(?:=|\s+name=){_NAME}\s*>"
    rf"|<(?:[\w｜|]{{1,20}}[:｜|])?invoke\s+name={_NAME}\s*>"
    rf"|✿FUNCTION✿\s*{COLON}\s*{_NAME}\s*\n\s*✿ARGS✿\s*{COLON}"
    rf"|\bcall:{_NAME}\s*(?={{)"
    rf"|^>>>\s*{_NAME}\s*\n(?=\s*{{)"
    rf"|<tool_call>\s*{_NAME}\s*(?=<arg_key>|\n\s*{{)"
    rf"|<(?:tool|tool_name|name|function_name)>\s*{_NAME}\s*</(?:tool|tool_name|name|function_name)>",
    re.MULTILINE,
)
_HINT = re.compile(r"[<＜]|\[TOOL|✿|call:|>>>")
_JSON = re.compile(
    rf"^[ \t>*_`#•-]*(?:(?:{ACTION}|tool[ _]?calls?|function[ _]?calls?|json|output|response)[ *_`]*\d{{0,4}}"
    rf"[ *_`]*{COLON}[ *_`]*)?\s{{0,4}}(?:`{{1,3}}(?:json|python|tool_code|text)?\s{{0,4}})?"
    rf"(?:(?:</?[|｜]?[\w:▁ -]{{1,40}}[|｜]?>|\[TOOL_CALLS\])\s{{0,4}}){{0,4}}((?:\[\s{{0,4}})?{{)",
    re.MULTILINE | re.IGNORECASE,
)
_REGION_END = re.compile(
    r"</(?:[\w｜|:]{0,20})?(?:function|invoke|tool_call|tool_calls)>|<[|｜]tool[_▁]call[_▁]end[|｜]>"
)
_PARAMETER = re.compile(
    r"<(?:[\w｜|]{1,20}[:｜|])?(?:parameter|param|arg)(?:=|\s+name=)[\"']?([\w -]{1,40})[\"']?[^<>]{0,60}>(.*?)"
    r"(?:</(?:[\w｜|]{1,20}[:｜|])?(?:parameter|param|arg)>|$)"
    r"|<arg_key>\s*([\w -]{1,40}?)\s*</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|$)"
    r"|<([a-z_]{1,30})>([^<>]*)(?:</\5>|$)",
    re.DOTALL,
)
_SPACE = re.compile(r"\s*(?:```(?:json)?\s*)?")
_QUOTE = re.compile(r"<escape>|<\|\"\|>")

_NAMES = (
    *(
        "name",
        "tool",
        "tool_name",
        "toolname",
        "function",
        "function_name",
        "recipient_name",
        "action",
        "action_name",
    ),
    *("action_type", "command", "next_action", "api", "method", "type"),
)
_ARGUMENTS = (
    *(
        "arguments",
        "parameters",
        "args",
        "input",
        "action_input",
        "actioninput",
        "tool_input",
        "toolinput",
        "params",
    ),
    *(
        "kwargs",
        "argument",
        "parameter",
        "tool_args",
        "tool_arguments",
        "function_args",
        "action_args",
        "inputs",
    ),
)
_WRAPPERS = (
    "tool_calls",
    "function_calls",
    "tool_call",
    "function_call",
    "tool_uses",
    "calls",
    "actions",
    "function",
)
_THOUGHTS = (
    "thought",
    "thoughts",
    "think",
    "thinking",
    "reasoning",
    "reason",
    "rationale",
    "plan",
    "analysis",
    "explanation",
)
_ASIDE = (
    *_THOUGHTS,
    "id",
    "call_id",
    "tool_call_id",
    "type",
    "observation",
    "step",
    "confidence",
    "memory",
    "reflection",
)


@dataclass(frozen=True, slots=True)
class TextCall:
    """A tool call written as text.

    Attributes:
        start: where it begins; what precedes is the thought.
        rest: the text behind it.
        name: of the tool, as written; may be a whole action.
        arguments: by name, or one value without a name.
        thought: what the call itself carries as a thought.
        more: further calls in the same list.
    """

    start: int
    rest: str
    name: str
    arguments: Mapping[str, Any] | str
    thought: str = ""
    more: int = 0


def first_text_call(text: str) -> TextCall | None:
    """Return the first tool call in a text; None where there is none. Never raises."""
    brace = "{" in text
    marked = _HINT.search(text) is not None
    if not brace and not marked:
        return None
    text = _QUOTE.sub('"', text)
    call = _headed(text) if marked else None
    bare = _bare(text) if brace else None
    if call and bare:
        return bare if bare.start < call.start else call
    return call or bare


def interpreted(value: Any, depth: int = 0) -> tuple[str, Mapping[str, Any] | str, str, int] | None:
    """Return (name, arguments, thought, further calls) of a value that is a call; None for any other."""
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, list):
        if depth and value and all(isinstance(item, str) for item in value):
            return value[0], {}, "", len(value) - 1  # whole actions
        calls = [item for item in value if isinstance(item, Mapping)]
        first = interpreted(calls[0], depth + 1) if calls else None
        return (*first[:3], first[3] + len(calls) - 1) if first else None
    if not isinstance(value, Mapping):
        return None
    written = {_key(key): str(key) for key in value}
    fields = {_key(key): item for key, item in value.items()}
    thought = next((text for key in _THOUGHTS if isinstance(text := fields.get(key), str)), "")
    inner = next((call for key in _WRAPPERS if (call := interpreted(fields.get(key), depth + 1))), None)
    if inner:
        return inner[0], inner[1], inner[2] or thought, inner[3]
    name = next((key for key in _NAMES if isinstance(fields.get(key), str) and fields[key].strip()), None)
    if name is not None:
        return fields[name].strip(), _arguments_of(fields, name), thought, 0
    rest = {key: item for key, item in fields.items() if key not in _ASIDE}
    if len(rest) != 1:
        return None
    key, item = next(iter(rest.items()))
    if isinstance(item, Mapping) and (key in (*_NAMES, *_ARGUMENTS) or {*map(_key, item)} & {*_NAMES}):
        deeper = interpreted(item, depth + 1)
        return (deeper[0], deeper[1], deeper[2] or thought, deeper[3]) if deeper else None
    if isinstance(item, list) and key in _NAMES:
        listed = interpreted(item, depth + 1)
        return (listed[0], listed[1], listed[2] or thought, listed[3]) if listed else None
    return (written[key], item, thought, 0) if isinstance(item, (Mapping, str)) else None


def _key(key: object) -> str:
    return str(key).strip().lower().replace("-", "_").replace(" ", "_")


def _arguments_of(fields: Mapping[str, Any], name: str) -> Mapping[str, Any] | str:
    for key in _ARGUMENTS:
        if key in fields and key != name:
            item = fields[key]
            if isinstance(item, str):
                return as_mapping(item)
            if isinstance(item, Mapping):
                return item
            return {str(n): one for n, one in enumerate(item)} if isinstance(item, list) else {key: item}
    return {key: item for key, item in fields.items() if key != name and key not in _ASIDE}


def as_mapping(text: str) -> Mapping[str, Any] | str:
    """Return the object that a text is the JSON of, else the text."""
    stripped = text.strip()
    if stripped.startswith("{"):
        value = value_at(stripped, 0)
        if value and isinstance(value[0], Mapping):
            return value[0]
    return text


def _headed(text: str) -> TextCall | None:
    for attempt, head in enumerate(_HEAD.finditer(text)):
        if attempt >= MAX_ATTEMPTS:
            break
        name = next((group for group in head.groups() if group), "").strip()
        arguments, end = _arguments_at(text, head.end())
        if arguments is not None:
            rest = text[end:]
            return TextCall(head.start(), rest, name, arguments, more=len(_HEAD.findall(rest)))
    return None


def _arguments_at(text: str, start: int) -> tuple[Mapping[str, Any] | str | None, int]:
    space = _SPACE.match(text, start)
    start = space.end() if space else start
    if text[start : start + 1] == "{":
        value = value_at(text, start)
        if value and isinstance(value[0], Mapping):
            return value[0], value[1]
        return None, start
    region = _REGION_END.search(text, start)
    end = region.start() if region else len(text)
    found: dict[str, str] = {}
    for parameter in _PARAMETER.finditer(text, start, min(end, start + 4000)):
        key, value_text = (group for group in parameter.groups() if group is not None)
        found[key.strip()] = value_text.strip()
    if found:
        return found, end
    line = text[start:end].strip().split("\n")[0]
    return (line or None if region else None), end


def _bare(text: str) -> TextCall | None:
    for attempt, opening in enumerate(_JSON.finditer(text)):
        if attempt >= MAX_ATTEMPTS:
            break
        value = value_at(text, opening.start(1))
        call = interpreted(value[0]) if value else None
        if value and call:
            return TextCall(opening.start(), text[value[1] :], call[0], call[1], call[2], call[3])
    return None
