"""Client of one model in one role during one trial, with the journal between it and the agent."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from reflex_bench.agents.base import CallLimit
from reflex_bench.agents.reflection.cutting import wants_room
from reflex_bench.core.errors import ContextOverflow, ModelError, RunStopped
from reflex_bench.envs.base import Action
from reflex_bench.harness.planning.roles import RoleConfig
from reflex_bench.harness.storage.journal import Call, Journal
from reflex_bench.harness.storage.records import Spent
from reflex_bench.models.base import Message, Reply, Request
from reflex_bench.models.hashing import IncrementalRequestHash


@dataclass
class RoleClient:
    """One model in one role during one trial: an `Ask`, with the journal between it and the model.

    Attributes:
        call: which call of the run the next one is, but for number and step.
        sample: what the seeds of this trial are made from.
        limit: most calls.
        tools: native tools that the model may call.
        read: makes an action of a text; None in roles that do not act.
        in_one: conversations are sent as one running text.
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
    read: Callable[[str], Action] | None = None
    in_one: bool = False
    spent: Spent = field(default_factory=Spent)
    conversation: IncrementalRequestHash = field(default_factory=IncrementalRequestHash)

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        """See `reflex_bench.agents.base.Ask`."""
        if self.spent.calls >= self.limit:
            raise CallLimit(f"{self.limit} model calls")
        about, number = self.call, self.spent.calls + 1
        call = Call(about.attempt, number, about.arm, about.task, about.trial, step, about.role)
        seed = derive_seed(self.sample, call.role, call.number)
        asked, turns = self.role, sent_back(messages, self.role.send_reasoning)
        request = Request(
            messages=turns,
            temperature=asked.temperature,
            max_tokens=asked.max_tokens,
            stop=tuple(stop),
            seed=seed,
            tools=self.tools,
            more=asked.further_fields(),
            in_one=self.in_one,
        )
        reply = self._reply(call, request)
        again = 0
        while request.max_tokens < asked.max_tokens_ceiling and wants_room(reply, again, self.read):
            again += 1
            request = replace(request, max_tokens=min(2 * request.max_tokens, asked.max_tokens_ceiling))
            try:
                reply = self._reply(call, request, again)
            except ModelError as failure:
                # The prompt fits, so much room beside it does not; and a recorded run may never have asked this.
                if isinstance(failure, ContextOverflow) or failure.kind == "not_recorded":
                    break
                raise
        self.spent.calls += 1
        self.spent.asked_again += bool(again)
        self.spent.cut_off += wants_room(reply, 0, self.read)
        return reply

    def _reply(self, call: Call, request: Request, again: int = 0) -> Reply:
        """Return the reply to one request, recorded or new, and counted."""

        def ask() -> Reply:
            if self.stopping.is_set():
                raise RunStopped("stopping")
            return self.complete(request)

        name, conversation = self.conversation.hash(request), self.conversation
        characters, repeated = conversation.characters, conversation.repeated
        try:
            reply = self.journal.reply(call, name, characters, ask, again)
        except ModelError as failure:
            self.spent.add_lost(failure.lost)
            raise
        self.spent.add(reply, characters, repeated)
        return reply


def sent_back(messages: Sequence[Message], which: Literal["none", "last", "all"]) -> tuple[Message, ...]:
    """Return a conversation with the reasoning of its assistant's turns: of none, of the last one, of all."""
    thought = [place for place, turn in enumerate(messages) if turn.reasoning]
    if which == "all" or not thought:
        return tuple(messages)
    dropped = set(thought[:-1] if which == "last" else thought)
    return tuple(
        replace(turn, reasoning="", form="") if place in dropped else turn
        for place, turn in enumerate(messages)
    )


def derive_seed(sample: str, role: str, number: int) -> int:
    """Return a seed of its own for every call of a run: 31 bits, which every server takes."""
    digest = hashlib.sha256(f"{sample}/{role}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
