"""Requests and replies of the OpenAI-compatible protocol, as plain JSON values.

Replies are read by hand and not through the `openai` package's types: those accept whatever a server sends (a
missing `choices` becomes an attribute error much later), and building them costs more time than the rest of a
call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reflex_bench.harness.errors import ModelError
from reflex_bench.models.base import Message, Reply, Request, ToolCall, Usage
from reflex_bench.models.openai_faults import complaint_in, one_line
from reflex_bench.models.registry import Api

PATHS: Mapping[Api, str] = {"chat": "/chat/completions", "completions": "/completions"}

AGENT_MARK = ">"

MAX_STOPS = 4
"""More are refused by OpenAI (API reference, `stop`)."""

SEED_RANGE = 2**31
"""Seeds are sent modulo this: the smallest range among servers (a signed 32-bit integer)."""


def body(name: str, api: Api, request: Request, changed: Mapping[str, str | None]) -> dict[str, Any]:
    """What is posted for a request.

    Args:
        name: the model's name at the endpoint.
        api: decides the path in `PATHS` and the shape.
        request: what is asked.
        changed: parameters that this endpoint wants under another name, or (None) not at all.
    """
    content: dict[str, Any] = {"model": name}
    if api == "chat":
        content["messages"] = [
            {"role": turn.role, "content": _sendable(turn.content)} for turn in request.messages
        ]
    else:
        content["prompt"] = _sendable(as_text(request.messages))
    content["temperature"] = request.temperature
    content["max_tokens"] = request.max_tokens
    if stop := stops(api, request):
        content["stop"] = list(stop[:MAX_STOPS])
    if request.tools and api == "chat":
        content["tools"] = list(request.tools)
    if request.seed is not None:
        content["seed"] = request.seed % SEED_RANGE
    for old, new in changed.items():
        if old in content:
            value = content.pop(old)
            if new:
                content[new] = value
    return content


def _sendable(text: str) -> str:
    """Text that can be posted: half a surrogate pair, as pages and files may hold, is replaced."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def as_text(messages: Sequence[Message]) -> str:
    """A conversation as one text to be continued, in the style of the papers' ALFWorld prompts.

    System and user texts stand as they are, each line of an assistant turn behind `> `; the text ends in `>`
    on a line of its own, where the agent's next turn begins (ReAct, Yao et al., 2023, appendix C.2). A
    conversation in which the model has not spoken yet and that ends in a colon (`Reflection:`) is to be
    completed right there.
    """
    parts: list[str] = []
    for turn in messages:
        if turn.role == "assistant":
            parts.extend(f"{AGENT_MARK} {line}" for line in turn.content.splitlines() or [""])
        else:
            parts.append(turn.content)
    is_open = all(turn.role != "assistant" for turn in messages) and parts[-1:] and parts[-1].endswith(":")
    return "\n".join(parts if is_open else [*parts, AGENT_MARK])


def stops(api: Api, request: Request) -> tuple[str, ...]:
    """Where a reply ends: at the request's stops and, in a running text, where another turn would begin."""
    turn = f"\n{AGENT_MARK}"
    if api == "chat" or any(turn.startswith(stop) for stop in request.stop):
        return request.stop
    return (*request.stop, turn)


def read(content: bytes, api: Api, stop: Sequence[str]) -> Reply:
    """The reply in the body of a successful answer, without cost and time.

    Text is cut at the first stop again: some servers include it, ignore some, or were not sent all. A reply
    without text is a valid one, with the text "".

    Args:
        content: the body.
        api: which of the two shapes it has.
        stop: from `stops`.

    Raises:
        ModelError: `malformed`, `server` (an error in a successful answer's body) or `content_filter`.
    """
    data = _json_object(content)
    choice = _first_choice(data)
    finish = _name(choice.get("finish_reason"))
    if finish == "content_filter":
        raise ModelError("the endpoint's content filter withheld the reply", kind="content_filter")
    if finish == "error" or choice.get("error"):
        raise ModelError(
            f"the endpoint broke off: {complaint_in(choice).message or 'no reason given'}", kind="server"
        )
    text = _text(choice, api)
    if api == "completions":
        text = text.removeprefix(" ")
    cut = min((at for at in map(text.find, stop) if at >= 0), default=None)
    return Reply(
        text=text[:cut],
        usage=_usage(data.get("usage")),
        finish=finish if cut is None else "stop",
        model=_name(data.get("model")),
        server=_name(data.get("system_fingerprint")),
        calls=_calls(choice),
    )


def _json_object(content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        shown = one_line(content[:2000].decode("utf-8", "replace"), 120)
        raise ModelError(f"the answer is not JSON: {shown or 'an empty body'}", kind="malformed") from None
    if not isinstance(data, dict):
        raise ModelError(f"the answer is JSON, but no object: {one_line(str(data), 120)}", kind="malformed")
    return data


def _first_choice(data: dict[str, Any]) -> dict[str, Any]:
    choices = data.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    if data.get("error"):
        raise ModelError(f"an error in place of a reply: {complaint_in(data).message}", kind="server")
    raise ModelError("the answer holds no choices", kind="malformed")


def _text(choice: dict[str, Any], api: Api) -> str:
    holder = choice.get("message") if api == "chat" else choice
    key = "content" if api == "chat" else "text"
    if not isinstance(holder, dict) or (api == "completions" and key not in holder):
        raise ModelError("the answer's first choice holds no reply", kind="malformed")
    content = holder.get(key)
    if isinstance(content, list):
        # Some servers send parts; those of another type (reasoning) are no part of the text.
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "".join(str(part.get("text") or "") for part in parts)
    if content is None:
        return ""
    if not isinstance(content, str):
        raise ModelError(f"the reply's {key} is no text", kind="malformed")
    # Half a surrogate pair is legal JSON, and nothing that could be written to a file.
    return content.encode("utf-8", "replace").decode("utf-8")


def _calls(choice: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The native tool calls of a reply; what has no name is none."""
    message = choice.get("message")
    listed = message.get("tool_calls") if isinstance(message, dict) else None
    calls = listed if isinstance(listed, list) else ()
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    return tuple(
        ToolCall(_name(function["name"]), _arguments(function.get("arguments")))
        for function in functions
        if isinstance(function, dict) and isinstance(function.get("name"), str)
    )


def _arguments(value: object) -> str:
    """The arguments as JSON text, as which most servers send them; some send the object itself."""
    text = value if isinstance(value, str) else json.dumps(value) if value else ""
    return text.encode("utf-8", "replace").decode("utf-8")


def _usage(usage: object) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), _count(cached))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _name(value: object) -> str:
    return one_line(value, 200) if isinstance(value, str) else ""


def model_names(content: bytes) -> set[str]:
    """Every name and alias in the body of `GET /models`; none where the body cannot be read."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return set()
    entries = data.get("data") if isinstance(data, dict) else data
    names: set[str] = set()
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            aliases = entry.get("aliases")
            listed = [entry.get("id"), *(aliases if isinstance(aliases, list) else ())]
            names.update(name for name in listed if isinstance(name, str))
    return names
