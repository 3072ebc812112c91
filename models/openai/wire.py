"""Writes requests of the OpenAI-compatible protocol as plain JSON values; `reading` reads the replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reflex_bench.models.base import Message, Request
from reflex_bench.models.openai.errors.adaptation import Learned, shaped
from reflex_bench.models.openai.reading import model_names, read_reply
from reflex_bench.models.openai.reasoning import sent_back
from reflex_bench.models.openai.responses import NOT_THERE, STATELESS, request_body
from reflex_bench.models.options import Api

__all__ = ["PATHS", "as_text", "body", "known_of", "model_names", "posted", "read_reply"]

PATHS: Mapping[Api, str] = {
    "chat": "/chat/completions",
    "completions": "/completions",
    "responses": "/responses",
}

AS_ASKED = Learned()

MAX_STOPS = 4
"""More are refused by OpenAI (API reference, `stop`)."""

SEED_RANGE = 2**31
"""Seeds are sent modulo this: the smallest range among servers (a signed 32-bit integer)."""


def body(name: str, api: Api, request: Request, learned: Learned = AS_ASKED) -> dict[str, Any]:
    """Return what is asked for, as the endpoint takes it; for the Responses API still in the form of the chat API.

    Args:
        name: the model's name at the endpoint.
        api: decides the path in `PATHS` and the shape.
        request: what is asked.
        learned: what this endpoint wants otherwise.
    """
    content: dict[str, Any] = {"model": name}
    if api == "completions":
        content["prompt"] = _sendable(as_text(request.messages))
    elif request.in_one:
        content["messages"] = [{"role": "user", "content": _sendable(as_text(request.messages))}]
    else:
        content["messages"] = [_turn(turn) for turn in request.messages]
    content["temperature"] = request.temperature
    content["max_tokens"] = request.max_tokens
    if stop := request.stop:
        content["stop"] = list(stop[:MAX_STOPS])
    if request.tools and api != "completions":
        content["tools"] = list(request.tools)
    if request.seed is not None:
        content["seed"] = request.seed % SEED_RANGE
    if api == "responses":
        content |= STATELESS
    for field, value in request.more.items():
        content[field] = value
        if value is None:
            del content[field]
    return shaped(content, learned)


def posted(api: Api, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what goes over the wire for what `body` made."""
    return request_body(asked) if api == "responses" else asked


def known_of(api: Api) -> Learned:
    """Return what is known of an endpoint before it was asked anything: what its API does not have."""
    return Learned(dropped=NOT_THERE) if api == "responses" else AS_ASKED


def _sendable(text: str) -> str:
    """Return text that can be posted: half a surrogate pair, as pages and files may hold, is replaced."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def _turn(turn: Message) -> dict[str, Any]:
    """Return one message of a chat."""
    said, more = sent_back(turn.content, turn.reasoning, turn.form) if turn.reasoning else (turn.content, {})
    message: dict[str, Any] = {"role": turn.role, "content": _sendable(said), **more}
    if turn.call:
        function = {"name": turn.call.name, "arguments": _sendable(turn.call.arguments)}
        message["content"] = message["content"] or None
        message["tool_calls"] = [{"id": turn.call_id, "type": "function", "function": function}]
    elif turn.role == "tool":
        message["tool_call_id"] = turn.call_id
    return message


def as_text(messages: Sequence[Message]) -> str:
    """Return a conversation as one text to be continued: its turns one after the other, each as it says that it reads.

    How a turn reads, and how the next one is begun, belongs to the environment
    (`reflex_bench.envs.text_form.TextForm`); what says nothing of it (a request for a reflection) stands as it is.
    """
    return "\n".join(turn.text or turn.content for turn in messages)
