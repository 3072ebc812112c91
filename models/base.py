"""What a model is to the rest of the harness: chat messages in, one reply with its usage out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A native tool call, as it came: the arguments are JSON text that nobody has checked."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that decides a reply.

    Attributes:
        messages: the conversation so far, oldest first.
        temperature: 0 for greedy.
        max_tokens: most tokens the reply may have.
        stop: sequences at which generation ends.
        seed: differs for every (arm, task, trial, step), so that k samples are k samples; a server may ignore it.
        tools: definitions of native tools in the form of the chat completions API.
    """

    messages: tuple[Message, ...]
    temperature: float = 0.0
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    seed: int | None = None
    tools: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; None where the server did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


CHARACTERS_PER_TOKEN = 4
"""A rough rule for English text, used where a number is needed before or instead of the server's own count."""


def estimated_tokens(messages: Iterable[Message]) -> float:
    """About how many tokens a conversation has."""
    return sum(len(message.content) for message in messages) / CHARACTERS_PER_TOKEN


def tokens_of(usage: Usage) -> int | None:
    """Tokens of prompt and reply together; None where the server did not say."""
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return usage.prompt_tokens + usage.completion_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes:
        text: the completion; never None, possibly empty.
        usage: tokens.
        finish: the server's finish reason (`stop`, `length`, …), "" where unknown.
        cost: US dollars, None where unknown (never 0 for unknown).
        seconds: wall time of the call, retries included.
        model: the name the server answered with (a snapshot name may be more exact than what was asked for).
        server: `system_fingerprint` or what else names the server, "" where unknown.
        calls: native tool calls, in order.
        retries: further attempts that it took.
        timeouts: how many of the attempts before timed out; each had sent the whole prompt.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    finish: str = ""
    cost: float | None = None
    seconds: float = 0.0
    model: str = ""
    server: str = ""
    calls: tuple[ToolCall, ...] = ()
    retries: int = 0
    timeouts: int = 0


class Model(Protocol):
    """A chat model. `complete` may be called from several threads at once.

    Attributes:
        name: as the person wrote it, e.g. `openai/gpt-4o-mini` or `simulated`.
        simulated: True for anything that is no language model; tables say so wherever its numbers stand.
    """

    name: str
    simulated: bool

    def check(self) -> Sequence[str]:
        """Makes sure before the first paid call that the model can answer; returns warnings, one line each.

        Raises:
            UsageError: it cannot; the message says what would be right.
        """
        ...

    def complete(self, request: Request) -> Reply:
        """One reply.

        Raises:
            ContextOverflow: the prompt does not fit.
            RunStopped: no call can succeed (wrong key, model gone).
            ModelError: this call failed for good.
        """
        ...

    def cost(self, usage: Usage) -> float | None:
        """US dollars for so many tokens; None where the price is unknown, never 0 in its stead."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """What belongs in `run.json`: endpoint (without secrets), API kind; for `simulated` its version."""
        ...

    def close(self) -> None:
        """Frees connections; safe to call twice."""
        ...
