"""One model in one role during one trial, with the journal between it and the agent."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reflex_bench.agents.base import CallLimit
from reflex_bench.harness.config import RoleConfig
from reflex_bench.harness.errors import RunStopped
from reflex_bench.harness.journal import Call, Journal
from reflex_bench.harness.rows import Spent
from reflex_bench.models.base import Message, Reply, Request
from reflex_bench.models.hashing import Growing


@dataclass
class Asking:
    """One model in one role during one trial: an `Ask`, with the journal between it and the model.

    Attributes:
        call: which call of the run the next one is, but for number and step.
        sample: what the seeds of this trial are made from.
        limit: most calls.
        tools: native tools that the model may call.
        spent: what the calls so far took.
        conversation: how far the calls so far have it.
        stopping: once set, no further call is made.
    """

    complete: Callable[[Request], Reply]
    role: RoleConfig
    journal: Journal
    call: Call
    sample: str
    limit: int
    stopping: threading.Event
    tools: tuple[Mapping[str, Any], ...] = ()
    spent: Spent = field(default_factory=Spent)
    conversation: Growing = field(default_factory=Growing)

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        """See `reflex_bench.agents.base.Ask`."""
        if self.spent.calls >= self.limit:
            raise CallLimit(f"{self.limit} model calls")
        about, number = self.call, self.spent.calls + 1
        call = Call(about.attempt, number, about.arm, about.task, about.trial, step, about.role)
        seed = derive_seed(self.sample, call.role, call.number)
        asked = self.role
        request = Request(tuple(messages), asked.temperature, asked.max_tokens, tuple(stop), seed, self.tools)

        def ask() -> Reply:
            if self.stopping.is_set():
                raise RunStopped("stopping")
            return self.complete(request)

        name, conversation = self.conversation.hash(request), self.conversation
        reply = self.journal.reply(call, name, conversation.characters, ask)
        self.spent.add(reply, conversation.characters, conversation.repeated)
        return reply


def derive_seed(sample: str, role: str, number: int) -> int:
    """A seed of its own for every call of a run: 31 bits, which every server takes."""
    digest = hashlib.sha256(f"{sample}/{role}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
