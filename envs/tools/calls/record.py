"""The line of `tool_calls.jsonl` about one call of an agent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class CallRecord:
    """A call as it is recorded; the harness adds attempt, arm, task and trial.

    Attributes:
        step: of the agent's turn, from 1; only turns with an action have one.
        call: number in the task, over all its trials.
        request: hash of the text of the request that the agent works on.
        tool, version: what was called; the version is empty where there is no such tool.
        arguments: as sent.
        key: that made a repeat harmless.
        effect: class of the tool.
        mode: `real`, `held`, `released`, `undone`, `dropped`; empty where nothing was written.
        status: of HTTP; None where no answer came, 0 where it was refused before.
        error_type, layer: what it is called if it failed.
        state: of the executor in which the call ended: `validating`, `executing`, `observing`.
        why: what ended it there.
        bytes, cut: of the answer as it came, and characters left out for the agent.
        start, seconds: on the virtual clock.
        price: of all tries.
        tries: how often it was sent.
        controls: that did something about it.
        refused_by: the control that refused it.
    """

    step: int
    call: int
    request: str
    tool: str
    version: str
    arguments: Mapping[str, Any]
    key: str | None
    effect: str
    mode: str
    endpoint: str
    status: int | None
    error_type: str
    layer: str
    state: str
    why: str
    bytes: int
    cut: int
    start: float
    seconds: float
    price: float
    tries: int
    controls: Sequence[str] = field(default_factory=tuple)
    refused_by: str = ""

    def line(self) -> dict[str, Any]:
        """Return it as it is written."""
        told = {name: getattr(self, name) for name in self.__slots__}
        return {**told, "arguments": dict(self.arguments), "controls": list(self.controls)}


def request_hash(text: str) -> str:
    """Return the first 16 hexadecimal digits of the sha256 of a request's text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
