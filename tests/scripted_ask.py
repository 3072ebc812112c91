"""An `Ask` for agents, reflectors and judges that a test calls by themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from reflex_bench.models.base import Message, Reply


class Script:
    """Says its lines in order, and keeps what it was sent. See `reflex_bench.agents.base.Ask`.

    Args:
        lines: texts, replies, exceptions that are raised, or other values, which are said as JSON.

    Attributes:
        heard: the conversation of every call.
        steps, stops: the step and the stop sequences of every call.
    """

    def __init__(self, *lines: Any) -> None:
        self.lines = list(lines)
        self.heard: list[list[Message]] = []
        self.steps: list[int] = []
        self.stops: list[tuple[str, ...]] = []

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        self.heard.append(list(messages))
        self.steps.append(step)
        self.stops.append(tuple(stop))
        line = self.lines.pop(0)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Reply):
            return line
        return Reply(line if isinstance(line, str) else json.dumps(line))
