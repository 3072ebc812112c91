"""A server of the campaigns: the simulated player behind HTTP, which can give other answers, vanish and come back."""

from __future__ import annotations

import contextlib
import re
import socket
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from loopback import Answer, Call, Loopback, chat

from reflex_bench.models.base import Message, Request
from reflex_bench.models.hashing import request_hash
from reflex_bench.models.simulated.model import answer

OPENING = re.compile(r"you see [^\n]*\s+Your task is to: [^\n]*")
"""What tells the tasks of prompts apart; examples stand before it."""


def request_of(call: Call) -> Request:
    """The request that a post was made from."""
    body = call.body
    turns = tuple(Message(turn["role"], turn["content"]) for turn in body["messages"])
    stop, room = tuple(body.get("stop") or ()), body.get("max_tokens", body.get("max_completion_tokens"))
    return Request(turns, body.get("temperature", 0.7), room, stop, body.get("seed"))


def play(call: Call) -> Answer:
    """The simulated player behind a server: it reads the messages of the request, and nothing else."""
    return chat(answer(request_of(call)))


@dataclass(frozen=True)
class Post:
    """One post among all.

    Attributes:
        call: what came in.
        key: hash of its request, as in `calls.jsonl`.
        number: of the post, from 1.
        request: number of the request among the different ones, from 1.
        before: how often this request had been posted.
        task: number of its task among the different ones, from 1.
    """

    call: Call
    key: str
    number: int
    request: int
    before: int
    task: int


@dataclass
class Posts:
    """What a server was asked, by request.

    Attributes:
        times: of each post of a request, in seconds of a clock that does not jump.
        spoiled: how many of them were not answered properly.
        tasks: the openings of tasks, with their numbers.
        spoiled_tasks: the openings of the tasks with posts that were not.
    """

    times: dict[str, list[float]] = field(default_factory=dict)
    spoiled: Counter[str] = field(default_factory=Counter)
    tasks: dict[str, int] = field(default_factory=dict)
    spoiled_tasks: set[str] = field(default_factory=set)

    def counts(self) -> Counter[str]:
        return Counter({key: len(times) for key, times in self.times.items()})


class Server(Loopback):
    """Plays properly, except where `spoil` has another answer.

    Args:
        spoil: gives the answer to a post, or None for the proper one.
        latency: seconds before every proper answer.
    """

    def __init__(self, spoil: Callable[[Post], Answer | None] | None = None, latency: float = 0.0) -> None:
        self.posted = Posts()
        self.spoil, self.latency = spoil, latency
        self._counting = threading.Lock()
        self._is_away = False
        self._leaving: threading.Thread | None = None
        super().__init__(self._decide)

    def note_fault(self) -> None:
        """A client that is killed leaves half a request behind: no news. Anything else is."""
        if not isinstance(sys.exc_info()[1], ValueError):
            traceback.print_exc()

    def _decide(self, call: Call) -> Answer:
        key = request_hash(request_of(call))
        task = OPENING.findall("\n".join(turn["content"] for turn in call.body["messages"]))[-1]
        with self._counting:
            seen = self.posted
            times = seen.times.setdefault(key, [])
            number = 1 + sum(map(len, seen.times.values()))
            known = seen.tasks.setdefault(task, len(seen.tasks) + 1)
            post = Post(call, key, number, list(seen.times).index(key) + 1, len(times), known)
            times.append(time.monotonic())
        spoiled = self.spoil(post) if self.spoil else None
        if spoiled is None:
            return play(call).but(wait=self.latency)
        with self._counting:
            self.posted.spoiled[key] += 1
            self.posted.spoiled_tasks.add(task)
        return spoiled

    def vanish(self, seconds: float | None = None) -> None:
        """Refuses connections and breaks those there are, for a while or until `come_back`."""
        self._is_away = True
        self._server.shutdown()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._thread.join()
        if seconds is not None:
            time.sleep(seconds)
            self._listen_again()

    def vanish_soon(self, seconds: float | None = None) -> None:
        """As `vanish`, from a thread of its own: the server waits for one that answers before it goes."""
        self._leaving = threading.Thread(target=self.vanish, args=(seconds,))
        self._leaving.start()

    def come_back(self) -> None:
        """Listens where it did before; does nothing where it never left."""
        self._wait_until_gone()
        if self._is_away:
            self._listen_again()

    def close(self) -> None:
        """Also waits for a server that is about to come back: nobody else would close that."""
        self._wait_until_gone()
        super().close()

    def _wait_until_gone(self) -> None:
        if self._leaving is not None:
            self._leaving.join()

    def _listen_again(self) -> None:
        self._listen(self._server.server_port)
        self._is_away = False
