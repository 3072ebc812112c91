"""Turns at computing, for threads that would otherwise fight for the interpreter.

One interpreter computes for one thread at a time. Threads that find out by its own lock which of them it is wake up for
nothing, move from processor to processor, and get it in no order: a request that could go out waits behind much that
could wait. Threads that queue take less time for the same work, and who is about to ask a server goes first
(`scripts/bench harness` measures both).

A thread that has the turn gives it up while it waits for a server, another process, another chain or a pause to end.
No result depends on that: who has queued for `PATIENCE` goes on without. All others wait so long, though.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

PATIENCE = 1.0
"""Seconds. A turn takes some milliseconds; who has one for this long is blocked, or builds an index of many pages."""


class Urgency(IntEnum):
    """Who is next; among equals, who came first."""

    SEND = 0
    """A connection is free for its request."""
    READ = 1
    """It has been answered."""
    COMPUTE = 2


class Turns:
    """What one group of threads takes turns at."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_taken = False
        self._number = itertools.count()
        self._waiting: list[tuple[Urgency, int, threading.Lock]] = []

    @contextmanager
    def one(self) -> Iterator[None]:
        """Has the turn inside, unless it is given up or did not come."""
        _mine.turns = self
        take_back()
        try:
            yield
        finally:
            give_up()
            _mine.turns = None

    def take(self, urgency: Urgency) -> bool:
        """Waits for the turn; False where it did not come."""
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return True
            handed_over = threading.Lock()
            handed_over.acquire()
            me = (urgency, next(self._number), handed_over)
            heapq.heappush(self._waiting, me)
        if handed_over.acquire(timeout=PATIENCE):
            return True
        with self._lock:
            if me not in self._waiting:
                return True  # it came at the last moment
            self._waiting.remove(me)
            heapq.heapify(self._waiting)
            return False

    def give(self) -> None:
        """Hands the turn over to whoever is next."""
        with self._lock:
            if self._waiting:
                heapq.heappop(self._waiting)[2].release()
            else:
                self._is_taken = False


class _Mine(threading.local):
    """What the running thread takes turns at, and whether it is its turn."""

    turns: Turns | None = None
    has_turn = False


_mine = _Mine()


def give_up() -> None:
    """Lets others compute; nothing where the thread does not have the turn."""
    if _mine.turns is not None and _mine.has_turn:
        _mine.has_turn = False
        _mine.turns.give()


def take_back(urgency: Urgency = Urgency.COMPUTE) -> None:
    """Waits for the turn; nothing where the thread takes none, or has it."""
    if _mine.turns is not None and not _mine.has_turn:
        _mine.has_turn = _mine.turns.take(urgency)


@contextmanager
def waiting(urgency: Urgency = Urgency.COMPUTE) -> Iterator[None]:
    """Gives the turn up while the thread waits for something else."""
    give_up()
    try:
        yield
    finally:
        take_back(urgency)
