"""How fast one endpoint is asked: as fast as it answers, and no faster than it and the person allow."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from reflex_bench.harness.errors import RunStopped
from reflex_bench.models.registry import ModelOptions

CUT = 0.5
"""What is left of the limit on calls in flight when the endpoint refuses one for its rate limit."""

SLACK = 0.25
"""Seconds by which a late call may catch up with a rate; the more, the rougher the rate."""

LOOK_UP = 0.5
"""Seconds after which a waiting thread looks whether the run is being stopped."""


class Pace:
    """Lets calls begin, one thread a call.

    At most `max_connections` are in flight; while the endpoint answers 429, fewer: each refusal halves the limit, each
    answered call raises it by its share of one, so that a limit's worth of answers adds one connection (additive
    increase, multiplicative decrease: Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for Congestion
    Avoidance in Computer Networks", 1989). Calls that were in flight when the limit was cut do not cut it again.

    Args:
        options: `max_connections`, `requests_per_minute`, `tokens_per_minute` and `stopping` count.
    """

    def __init__(self, options: ModelOptions) -> None:
        self._most = options.max_connections
        self._limit = float(self._most)
        self._in_flight = 0
        self._cut_at = self._closed_until = 0.0
        self._requests = Rate(options.requests_per_minute)
        self._tokens = Rate(options.tokens_per_minute)
        self._stopping = options.stopping
        self._changed = threading.Condition()

    @property
    def limit(self) -> int:
        """Calls that may be in flight now."""
        return int(self._limit)

    @contextmanager
    def turn(self, tokens: float) -> Iterator[float]:
        """Waits until a call may begin, and is entered while it goes on; gives the time at which it began.

        Args:
            tokens: how many the call will probably take; put right by `took`.

        Raises:
            RunStopped: the run is being stopped.
        """
        with self._changed:
            while (wait := self._wait()) > 0:
                self._changed.wait(min(wait, LOOK_UP))
                if self._stopping.is_set():
                    raise RunStopped("stopping")
            self._in_flight += 1
            begun = time.monotonic()
            self._requests.take(1, begun)
            self._tokens.take(tokens, begun)
        try:
            yield begun
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify()

    def _wait(self) -> float:
        """Seconds until a call may begin, as far as can be seen now."""
        if self._in_flight >= self.limit:
            return LOOK_UP
        now = time.monotonic()
        return max(self._closed_until - now, self._requests.wait(now), self._tokens.wait(now))

    def answered(self, tokens: float) -> None:
        """Takes note of an answer.

        Args:
            tokens: taken beyond those foreseen; may be negative.
        """
        with self._changed:
            if self._limit < self._most:
                self._limit = min(self._most, self._limit + 1 / self._limit)
                self._changed.notify()
            self._tokens.take(tokens, time.monotonic())

    def refused(self, begun: float, pause: float | None) -> bool:
        """Takes note, during its turn, of a call that was refused for the endpoint's rate limit.

        Args:
            begun: when the refused call began.
            pause: seconds that the endpoint asks to wait, if it does: then nobody asks it before.

        Returns:
            Whether that lowered the limit.
        """
        with self._changed:
            now = time.monotonic()
            if pause is not None:
                self._closed_until = max(self._closed_until, now + pause)
            if begun < self._cut_at:
                return False
            self._cut_at = now
            self._limit = max(1.0, min(self._limit, self._in_flight) * CUT)
            return True


class Rate:
    """So much a minute, evenly. What takes more than is there is let through, and the next waits the longer.

    Args:
        per_minute: None: any amount.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60.0 / per_minute if per_minute else 0.0
        self._due = 0.0

    def wait(self, now: float) -> float:
        """Seconds until something may be taken."""
        return self._due - now

    def take(self, amount: float, now: float) -> None:
        """Takes an amount, or gives some of it back."""
        if self._seconds_each:
            self._due = max(self._due, now - SLACK) + amount * self._seconds_each
