"""Hash of a request, by which the journal is searched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from reflex_bench.models.base import Message, Request, characters_of, characters_of_tools


def request_hash(request: Request) -> str:
    """Return the SHA-256 (64 hex digits) over everything that decides a reply.

    That is messages, temperature, max_tokens, stop and seed; where there are any, tools, further fields, the running
    text, tool calls and reasoning that is sent back.

    The JSON it is taken over is canonical (sorted keys, no spaces, ASCII), so that machines and Python
    versions agree.
    """
    return IncrementalRequestHash().hash(request)


class IncrementalRequestHash:
    """Hashes the requests of a conversation that grows at its end, each from where the one before ended.

    Attributes:
        characters: of the last request's messages.
        repeated: how many of these stand at the beginning of the request before, message by message: what a prefix
            cache can serve.
    """

    def __init__(self) -> None:
        self.characters = self.repeated = 0
        self._messages: tuple[Message, ...] = ()
        self._state, self._begun_with = hashlib.sha256(), -1
        self._settings: tuple[Any, ...] = ()
        self._tail = ""

    def hash(self, request: Request) -> str:
        """Return `request_hash` of the next request."""
        known, now = self._messages, request.messages
        defined = characters_of_tools(request.tools)
        if known and now[: len(known)] == known:
            self.repeated = self.characters
        else:
            alike = _alike(now, known)
            self.repeated = _characters(now[:alike]) + (defined if alike else 0)
            known = ()
        if not known or request.max_tokens != self._begun_with:
            known, self.characters = (), defined
            # The keys are sorted: what stands before the messages is known at once, what stands behind them comes last.
            self._begun_with = request.max_tokens
            self._state = hashlib.sha256(f'{{"max_tokens":{_json(request.max_tokens)},"messages":['.encode())
        added = now[len(known) :]
        if added:
            text = ",".join(map(_turn, added))
            self._state.update((f",{text}" if known else text).encode())
        self._messages = now
        self.characters += _characters(added)
        whole = self._state.copy()
        whole.update(f'],"seed":{_json(request.seed)},{self._rest(request)}'.encode())
        return whole.hexdigest()

    def _rest(self, request: Request) -> str:
        """Return what follows the seed; in one conversation it is always the same."""
        settings = (request.stop, request.temperature, request.tools, request.more, request.in_one)
        if settings != self._settings:
            rest: dict[str, Any] = {"stop": list(request.stop), "temperature": float(request.temperature)}
            if request.tools:
                rest["tools"] = list(request.tools)
            if request.in_one:
                rest["text"] = True
            if request.more:
                # Sorts behind the others, as this part of the text must.
                rest["with"] = dict(request.more)
            self._settings, self._tail = settings, _json(rest)[1:]
        return self._tail


def _alike(now: Sequence[Message], before: Sequence[Message]) -> int:
    """Return how many messages two conversations begin with in common."""
    pairs = zip(now, before, strict=False)
    return next(
        (count for count, (mine, other) in enumerate(pairs) if mine != other), min(len(now), len(before))
    )


def _turn(turn: Message) -> str:
    thought = f",{_json(turn.reasoning)},{_json(turn.form)}" if turn.reasoning else ""
    more: dict[str, Any] = {"text": turn.text} if turn.text else {}
    if turn.call_id:
        more |= {
            "call": [turn.call.name, turn.call.arguments] if turn.call else None,
            "call_id": turn.call_id,
        }
    written = f",{_json(more)}" if more else ""
    return f"[{_json(turn.role)},{_json(turn.content)}{thought}{written}]"


def _characters(messages: Sequence[Message]) -> int:
    return sum(map(characters_of, messages))


_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode
