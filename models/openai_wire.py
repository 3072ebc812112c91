"""Requests of the OpenAI-compatible protocol, as plain JSON values; its replies are read in `openai_reading`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reflex_bench.models.base import Message, Request
from reflex_bench.models.openai_learned import Learned, shaped
from reflex_bench.models.openai_reading import model_names, read
from reflex_bench.models.openai_reasoning import sent_back
from reflex_bench.models.openai_responses import NOT_THERE, STATELESS, request_body
from reflex_bench.models.registry import Api

__all__ = ["AGENT_MARK", "PATHS", "as_text", "body", "known_of", "model_names", "posted", "read", "stops"]

PATHS: Mapping[Api, str] = {
    "chat": "/chat/completions",
    "completions": "/completions",
    "responses": "/responses",
}

AS_ASKED = Learned()

AGENT_MARK = ">"

MAX_STOPS = 4
"""More are refused by OpenAI (API reference, `stop`)."""

SEED_RANGE = 2**31
"""Seeds are sent modulo this: the smallest range among servers (a signed 32-bit integer)."""


def body(name: str, api: Api, request: Request, learned: Learned = AS_ASKED) -> dict[str, Any]:
    """What is asked for, as the endpoint takes it; for the Responses API still in the form of the chat API.

    Args:
        name: the model's name at the endpoint.
        api: decides the path in `PATHS` and the shape.
        request: what is asked.
        learned: what this endpoint wants otherwise.
    """
    content: dict[str, Any] = {"model": name}
    if api != "completions":
        content["messages"] = [_turn(turn) for turn in request.messages]
    else:
        content["prompt"] = _sendable(as_text(request.messages))
    content["temperature"] = request.temperature
    content["max_tokens"] = request.max_tokens
    if stop := stops(api, request):
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
    """What goes over the wire for what `body` made."""
    return request_body(asked) if api == "responses" else asked


def known_of(api: Api) -> Learned:
    """What is known of an endpoint before it was asked anything: what its API does not have."""
    return Learned(dropped=NOT_THERE) if api == "responses" else AS_ASKED


def _turn(turn: Message) -> dict[str, Any]:
    said, more = sent_back(turn.content, turn.reasoning, turn.form) if turn.reasoning else (turn.content, {})
    return {"role": turn.role, "content": _sendable(said), **more}


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
    if api != "completions" or any(turn.startswith(stop) for stop in request.stop):
        return request.stop
    return (*request.stop, turn)
