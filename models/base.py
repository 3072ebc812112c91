"""Protocol and records of models: chat messages in, one reply with its usage out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A native tool call, as it came: the arguments are JSON text that nobody has checked."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. One that ends with an assistant turn is to be gone on with right there.

    Attributes:
        role: whose turn.
        content: what was said.
        reasoning: what the model thought before, where it is to be sent back; "" where it is not.
        form: the field in which it is sent back (`reflex_bench.models.openai.reasoning.Split.form`).
        text: how the turn reads where the conversation is one running text; "" where it reads as it is.
        call: the native tool call that an assistant turn makes.
        call_id: under which that call is sent; of a tool's turn, the call that it answers.
    """

    role: Role
    content: str
    reasoning: str = ""
    form: str = ""
    text: str = ""
    call: ToolCall | None = None
    call_id: str = ""


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
        more: further fields of the request, as JSON values, e.g. `top_p`; texts may have `${NAME}` for secrets.
        in_one: the conversation is one running text, also where messages could be sent.
    """

    messages: tuple[Message, ...]
    temperature: float = 0.0
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    seed: int | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)
    in_one: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; None where the server did not say.

    Attributes:
        prompt_tokens: of the prompt, those from a cache included.
        completion_tokens: generated, reasoning included.
        cached_tokens: of the prompt's, how many a prefix cache served.
        reasoning_tokens: of the completion's, how many were reasoning.
        reasoning_estimated: they were worked out from the lengths of the texts.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    reasoning_estimated: bool = False


CHARACTERS_PER_TOKEN = 4
"""A rough rule for English text, used where a number is needed before or instead of the server's own count."""


def estimated_tokens(messages: Iterable[Message]) -> float:
    """About how many tokens a conversation has."""
    return sum(map(characters_of, messages)) / CHARACTERS_PER_TOKEN


def characters_of(message: Message) -> int:
    """Return how long a turn is as it is sent."""
    called = len(message.call.name) + len(message.call.arguments) if message.call else 0
    return len(message.text or message.content) + len(message.reasoning) + called


def characters_of_tools(tools: Sequence[Mapping[str, Any]]) -> int:
    """Return how long the definitions of native tools are as they are sent: they are a part of every prompt."""
    return len(json.dumps(list(tools), ensure_ascii=False)) if tools else 0


def tokens_of(usage: Usage) -> int | None:
    """Return tokens of prompt and reply together; None where the server did not say."""
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return usage.prompt_tokens + usage.completion_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes:
        text: the completion without reasoning; never None, possibly empty.
        usage: tokens.
        finish: the server's finish reason (`stop`, `length`, …), "" where unknown.
        cost: US dollars, None where unknown (never 0 for unknown).
        seconds: wall time of the call, retries included.
        model: the name the server answered with (a snapshot name may be more exact than what was asked for).
        server: `system_fingerprint` or what else names the server, "" where unknown.
        calls: native tool calls, in order.
        retries: further attempts that it took.
        reasoning: what the model thought before it answered; no part of the text.
        reasoning_form, reasoning_data: where it stood, and as JSON what cannot be made again from its text, for sending
            it back (`reflex_bench.models.openai.reasoning`).
        cut_here: the text was cut at a stop after it had come.
        lost: earlier answers to this call that were empty, with what they took: paid for and of no use.
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
    reasoning: str = ""
    reasoning_form: str = ""
    reasoning_data: str = ""
    cut_here: bool = False
    lost: tuple[Reply, ...] = ()

    @property
    def is_empty(self) -> bool:
        """No answer at all: neither a text nor a call."""
        return not self.text.strip() and not self.calls


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
        """Return one reply.

        Raises:
            ContextOverflow: the prompt does not fit.
            RunStopped: no call can succeed (wrong key, model gone).
            ModelError: this call failed for good.
        """
        ...

    def cost(self, usage: Usage) -> float | None:
        """Return US dollars for so many tokens; None where the price is unknown, never 0 in its stead."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """Return what belongs in `run.json`: endpoint (without secrets), API kind; for `simulated` its version."""
        ...

    def close(self) -> None:
        """Frees connections; safe to call twice."""
        ...
