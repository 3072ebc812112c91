"""Translates chat requests to the Responses API, and its answers to chat completions.

Everything else (what is learned of an endpoint, errors, usage, retries) is shared with the chat API. Requests are
stateless: nothing is stored at the endpoint, and reasoning comes back encrypted, so that it can be sent again with the
turn that it led to. Shapes: OpenAI's API reference, "Create a model response" and "The response object", and the guide
"Reasoning models", section on encrypted reasoning items; the same types are in `openai.types.responses`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NOT_THERE = ("seed", "stop")
"""Fields of the chat API that this one does not have; what `stop` would have done is done here."""

STATELESS: Mapping[str, Any] = {"store": False, "include": ["reasoning.encrypted_content"]}
"""Fields of every request."""

ITEMS = "reasoning_items"
"""The key of a chat message under which its turn stands as items of this API."""

FORM = "responses"
"""The form of reasoning that is kept as such items (`reflex_bench.models.openai.reasoning.Split.form`)."""

_RENAMED = {
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
}
_REASONING_KEYS = ("id", "summary", "content", "encrypted_content")


def request_body(chat: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is posted for the body of a chat request, whose messages may have `ITEMS`."""
    left_out = {*NOT_THERE, "messages", "tools", "tool_choice", "response_format", "reasoning_effort"}
    body = {_RENAMED.get(name, name): value for name, value in chat.items() if name not in left_out}
    body.pop("stream_options", None)  # its usage comes with the last event in any case
    turns = list(chat["messages"])
    if len(turns) > 1 and turns[0]["role"] == "system":
        body["instructions"] = turns.pop(0)["content"]
    body["input"] = list(_input(turns))
    if chat.get("tools"):
        body["tools"] = [_flat(tool) for tool in chat["tools"]]
    if "tool_choice" in chat:
        body["tool_choice"] = _flat(chat["tool_choice"])
    if "reasoning_effort" in chat:
        body["reasoning"] = {"effort": chat["reasoning_effort"], **_mapping(chat.get("reasoning"))}
    if "response_format" in chat:
        body["text"] = {"format": _format(chat["response_format"]), **_mapping(chat.get("text"))}
    return body


def _input(turns: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the conversation as items.

    A call must be followed by its output: the next turn, of the tool or of the user.
    """
    called = ""
    for place, turn in enumerate(turns):
        content = turn["content"] or ""
        if called:
            yield {"type": "function_call_output", "call_id": called, "output": content}
            called = ""
            continue
        items = turn.get(ITEMS) or []
        following = turns[place + 1]["role"] if place + 1 < len(turns) else ""
        call = next(filter(_is_call, items), None)
        if call is not None and following in ("user", "tool"):
            yield from items
            called = str(call["call_id"])
            continue
        # What the harness read out of the reply stands for its text; reasoning must come right before that.
        yield from (item for item in items if item.get("type") == "reasoning")
        if turn.get("tool_calls") and following == "tool":
            if content:
                yield {"role": turn["role"], "content": content}
            (made,) = turn["tool_calls"]
            called = made["id"]
            yield {"type": "function_call", "call_id": called, **made["function"]}
            continue
        yield {"role": "user" if turn["role"] == "tool" else turn["role"], "content": content}


def _is_call(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "function_call" and bool(item.get("call_id"))


def _flat(tool: Any) -> Any:
    """Return a tool, or the choice of one, without the inner object that the chat API has."""
    if not isinstance(tool, Mapping) or not isinstance(tool.get("function"), Mapping):
        return tool
    flat = {"type": "function", **tool["function"]}
    # Left out, it means true here and false in the chat API; true refuses schemas with optional properties.
    return flat if len(flat) == 2 else {"strict": False, **flat}


def _format(asked: Any) -> Any:
    if not isinstance(asked, Mapping) or not isinstance(asked.get("json_schema"), Mapping):
        return asked
    return {"type": asked.get("type"), **asked["json_schema"]}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def as_completion(data: dict[str, Any]) -> dict[str, Any]:
    """Return an answer in the form of a chat completion; what is no answer of this API is returned as it is.

    A failed response becomes an object with its `error` and no choices, as errors in place of replies are told.
    """
    output = data.get("output")
    if "choices" in data or not isinstance(output, list):
        return data
    if data.get("status") == "failed" or data.get("error"):
        return {"error": data.get("error") or {"message": "the response failed", "code": "server_error"}}
    items = [item for item in output if isinstance(item, dict)]
    calls = [item for item in items if item.get("type") == "function_call"]
    texts, refusals = zip(*map(_said, items), strict=True) if items else ((), ())
    message: dict[str, Any] = {"role": "assistant", "content": "\n".join(text for text in texts if text)}
    if refusal := "\n".join(said for said in refusals if said):
        message["refusal"] = refusal
    if calls:
        message["tool_calls"] = [{"id": call.get("call_id"), "function": call} for call in calls]
    if thought := "\n\n".join(filter(None, map(_thought, items))):
        message["reasoning_content"] = thought
    if any(item.get("type") == "reasoning" for item in items):
        message[ITEMS] = _kept(items)
    choice = {"index": 0, "finish_reason": _finish(data, bool(calls)), "message": message}
    return {"model": data.get("model"), "usage": data.get("usage"), "choices": [choice]}


def _finish(data: Mapping[str, Any], has_calls: bool) -> str:
    """Return the finish reason as the chat API would name it; a state that is no end of a response stays as it is."""
    status = data.get("status")
    if status == "incomplete":
        reason = _mapping(data.get("incomplete_details")).get("reason")
        return reason if isinstance(reason, str) and reason else "incomplete"
    if status in ("completed", None):
        return "tool_calls" if has_calls else "stop"
    # With `queued` and `in_progress` the endpoint works in the background, and no reply has come yet.
    return f"interrupted: {status}"


def _said(item: Mapping[str, Any]) -> tuple[str, str]:
    """Return text and refusal of a message; "" of any other item."""
    content = item.get("content") if item.get("type") == "message" else None
    if isinstance(content, str):
        return content, ""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    text = "".join(
        part["text"]
        for part in parts
        if part.get("type") in ("output_text", "text") and isinstance(part.get("text"), str)
    )
    refusal = "".join(part["refusal"] for part in parts if isinstance(part.get("refusal"), str))
    return text, refusal


def _thought(item: Mapping[str, Any]) -> str:
    """Return the reasoning that can be read: its text, where the endpoint shows that, else its summary."""
    if item.get("type") != "reasoning":
        return ""
    for name, between in (("content", ""), ("summary", "\n\n")):
        parts = item.get(name)
        said = (
            [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        )
        if text := between.join(each for each in said if isinstance(each, str)):
            return text
    return ""


def _kept(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the items of a turn that can be sent again: reasoning, and the first call with what was said before it.

    Nothing is stored at the endpoint, so reasoning without its content is a reference to nothing. The harness carries
    out one call a turn: further ones would lack their outputs.
    """
    kept: list[dict[str, Any]] = []
    said: list[dict[str, Any]] = []
    for item in items:
        if item.get("type") == "reasoning" and (item.get("encrypted_content") or item.get("content")):
            told = {name: item[name] for name in _REASONING_KEYS if item.get(name) is not None}
            kept.append({"type": "reasoning", "summary": [], **told})
            said.append(kept[-1])
        elif item.get("type") == "message" and _said(item)[0]:
            said.append({"role": "assistant", "content": _said(item)[0]})
        elif item.get("type") == "function_call" and _is_whole(item):
            call = {name: item[name] for name in ("type", "call_id", "name", "arguments")}
            return [*said, call] if kept else []
    return kept


def items_of(data: str) -> list[dict[str, Any]]:
    """Return the items in what was kept of a turn's reasoning; none where it can be read but not be sent again."""
    try:
        items = json.loads(data)
    except (ValueError, RecursionError):
        return []
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _is_whole(call: Mapping[str, Any]) -> bool:
    """Return whether a call has all that the endpoint wants of one that is sent back."""
    if not all(isinstance(call.get(name), str) and call[name] for name in ("call_id", "name", "arguments")):
        return False
    try:
        return isinstance(json.loads(call["arguments"]), dict)
    except (ValueError, RecursionError):
        return False
