"""Finish reasons: providers have many names for few ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Ending:
    """How a reply ended.

    Attributes:
        name: as it is recorded: in lower case, and `length` for everything that means it.
        kind: `end`: the model ended its turn; `length`: no room was left; `filter`: the reply was withheld; `fault`:
            the server broke off; `unknown`: any other name.
    """

    name: str
    kind: Literal["end", "length", "filter", "fault", "unknown"]


_END = frozenset((
    "stop", "end_turn", "stop_sequence", "eos", "eos_token", "endoftext", "completed", "complete", "finished",
    "finish", "done", "success", "tool_calls", "tool_use", "tool_call", "function_call",
    "finish_reason_unspecified", "finish_reason_stop",
))  # fmt: skip
_LENGTH = frozenset((
    "length", "max_tokens", "max_output_tokens", "model_length", "max_length", "token_limit",
    "max_completion_tokens", "incomplete", "max_tokens_reached", "context_length",
    "model_context_window_exceeded", "finish_reason_max_tokens",
))  # fmt: skip
_FILTER = re.compile(
    r"content[_ -]?filter|sensitive|safety|recitation|prohibited|blocklist|spii|refus|moderat|blocked|guardrail|censor"
)
_FAULT = re.compile(
    r"error|abort|cancel|insufficient_system_resource|time_?out|overload|interrupt|unavailable|fail"
)


def ending(reason: str) -> Ending:
    """Return the meaning of a finish reason, `content_filter: …` and upper case included."""
    name = reason.strip().lower()
    if not name or name in _END:
        return Ending(name, "end")
    if name in _LENGTH:
        return Ending("length", "length")
    if _FILTER.search(name):
        return Ending(name, "filter")
    if _FAULT.search(name):
        return Ending(name, "fault")
    return Ending(name, "unknown")
