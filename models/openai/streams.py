"""Assembles a streamed answer (server-sent events) to the answer in one piece."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reflex_bench.models.openai.reasoning import FIELDS

DONE = "[DONE]"
_LAST_OF_RESPONSES = ("response.completed", "response.incomplete", "response.failed", "error")
"""Events of the Responses API after which none comes; all but the error carry the whole answer."""
_JOINED = ("content", "refusal", *FIELDS)


def is_stream(text: str) -> bool:
    """Return whether a body is a stream of events, comments before the first one included."""
    for line in text.lstrip().splitlines()[:50]:
        if line.startswith(("data:", "event:")):
            return True
        if line.strip() and not line.startswith((":", "id:", "retry:")):
            return False
    return False


def without_comments(text: str) -> str:
    """Return a body without the comment lines by which some servers keep a connection alive before they answer."""
    lines = text.lstrip().splitlines(keepends=True)
    while lines and (lines[0].startswith(":") or not lines[0].strip()):
        del lines[0]
    return "".join(lines)


def join_stream(text: str) -> dict[str, Any] | None:
    """Return the whole answer in a stream; None where the stream broke off, or holds nothing that is one.

    A stream has ended where it says so (`[DONE]`) or has told why (`finish_reason`).
    """
    whole: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    ended = False
    for data in _events(text):
        if data == DONE:
            ended = True
            continue
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if not isinstance(chunk, dict):
            return None
        if chunk.get("error"):
            return chunk
        if chunk.get("type") in _LAST_OF_RESPONSES:
            response = chunk.get("response")
            return response if isinstance(response, dict) else {"error": chunk}
        _add(chunk, whole, choice)
        ended = ended or bool(choice.get("finish_reason"))
    if not ended or not choice:
        return None
    return {**whole, "choices": [choice]}


def _events(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith("data:"):
            yield line[5:].strip()


def _add(chunk: Mapping[str, Any], whole: dict[str, Any], choice: dict[str, Any]) -> None:
    whole.update({name: value for name, value in chunk.items() if name != "choices" and value is not None})
    choices = chunk.get("choices")
    for each in choices if isinstance(choices, list) else ():
        if not isinstance(each, dict) or each.get("index") not in (0, None):
            continue
        choice.update({key: each[key] for key in ("finish_reason", "error") if each.get(key) is not None})
        if isinstance(each.get("text"), str):
            choice["text"] = choice.get("text", "") + each["text"]
        # Some servers stream whole messages.
        part = each.get("delta") or each.get("message")
        if isinstance(part, dict):
            _add_part(part, choice.setdefault("message", {"role": "assistant"}))


def _add_part(part: Mapping[str, Any], message: dict[str, Any]) -> None:
    for key in _JOINED:
        if isinstance(part.get(key), str):
            before = message.get(key)
            message[key] = (before if isinstance(before, str) else "") + part[key]
        elif isinstance(part.get(key), list):
            before = message.get(key)
            message[key] = (before if isinstance(before, list) else []) + part[key]
    details = part.get("reasoning_details")
    if isinstance(details, list):
        message["reasoning_details"] = [*message.get("reasoning_details", ()), *details]
    calls = part.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            _add_call(call, message.setdefault("tool_calls", []))


def _add_call(call: Mapping[str, Any], calls: list[dict[str, Any]]) -> None:
    function = call.get("function")
    if not isinstance(function, dict):
        return
    index = call.get("index")
    place = index if isinstance(index, int) and 0 <= index <= len(calls) else len(calls)
    if place == len(calls):
        calls.append({"function": {"name": "", "arguments": ""}})
    for key in ("name", "arguments"):
        if isinstance(function.get(key), str):
            calls[place]["function"][key] += function[key]
