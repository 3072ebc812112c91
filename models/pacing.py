"""Rate limiter of one endpoint: as fast as it answers, and no faster than it and the person allow."""

from __future__ import annotations

import threading
import time
from collections import deque

from reflex_bench.core.errors import RunStopped
from reflex_bench.models.local_server import HOSTED
from reflex_bench.models.options import ModelOptions

CUT = 0.5
"""What is left of the limit on calls in flight when the endpoint refuses one for its rate limit, or one times out."""

SLACK = 0.25
"""Seconds by which a late call may catch up with a rate; the more, the rougher the rate."""

LOOK_UP = 0.5
"""Seconds after which a waiting thread looks whether the run is being stopped."""


class RateLimiter:
    """Lets calls begin, each in a thread of its own.

    At most `max_connections` are in flight; while the endpoint answers 429 or not in time, fewer: each such call halves
    the limit, each answered call raises it by its share of one, so that a limit's worth of answers adds one connection
    (additive increase, multiplicative decrease: Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for
    Congestion Avoidance in Computer Networks", 1989). Calls that were in flight when the limit was cut do not cut it
    again.

    Args:
        options: `max_connections`, `requests_per_minute`, `tokens_per_minute` and `stopping` count.
        connections: calls in flight at a time where the options name no number.
    """

    def __init__(self, options: ModelOptions, connections: int = HOSTED) -> None:
        self._most = options.max_connections or connections
        self._limit = float(self._most)
        self._in_flight = 0
        self._peak = 1  # of calls in flight since the limit was last cut
        self._cut_at = self._closed_until = 0.0
        self._requests = Rate(options.requests_per_minute)
        self._tokens = Rate(options.tokens_per_minute)
        self._stopping = options.stopping
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._call = threading.local()

    @property
    def most(self) -> int:
        """Calls that may be in flight while the endpoint answers all in time."""
        return self._most

    @most.setter
    def most(self, connections: int) -> None:
        with self._lock:
            self._most, self._limit = connections, float(connections)
            self._wake()

    @property
    def limit(self) -> int:
        """Calls that may be in flight now."""
        return int(self._limit)

    def acquire(self, tokens: float) -> None:
        """Waits until a call of this thread may begin, first come first served.

        Args:
            tokens: how many the call will probably take; put right by `answered`.

        Raises:
            RunStopped: the run is being stopped.
        """
        with self._lock:
            mine = threading.Event()
            self._waiting.append(mine)
            wait = self._wait(mine)
        while wait > 0:
            mine.wait(wait)
            mine.clear()
            with self._lock:
                if self._stopping.is_set():
                    self._waiting.remove(mine)
                    raise RunStopped("stopping")
                wait = self._wait(mine)
        with self._lock:
            self._waiting.popleft()
            self._in_flight += 1
            self._peak = max(self._peak, self._in_flight)
            self._call.in_flight, self._call.begun, self._call.tokens = True, time.monotonic(), tokens
            self._requests.take(1, self._call.begun)
            self._tokens.take(tokens, self._call.begun)
            self._wake()

    def release(self) -> None:
        """End the call of this thread; do nothing where none is in flight."""
        if getattr(self._call, "in_flight", False):
            self._call.in_flight = False
            with self._lock:
                self._in_flight -= 1
                self._wake()

    def _wake(self) -> None:
        if self._waiting:
            self._waiting[0].set()

    def _wait(self, mine: threading.Event) -> float:
        """Return seconds after which to see again whether a call may begin; 0 or less: now."""
        if self._waiting[0] is not mine or self._in_flight >= self.limit:
            return LOOK_UP
        now = time.monotonic()
        return min(LOOK_UP, max(self._closed_until, self._requests.due, self._tokens.due) - now)

    def on_success(self, tokens: int | None) -> None:
        """Takes note that the last call of this thread was answered.

        Args:
            tokens: that it took; None where the server did not say.
        """
        with self._lock:
            if self._limit < self._most:
                self._limit = min(self._most, self._limit + 1 / self._limit)
                self._wake()
            if tokens is not None:
                self._tokens.take(tokens - self._call.tokens, time.monotonic())

    def on_429(self, pause: float | None) -> bool:
        """Takes note that the last call of this thread was refused for the endpoint's rate limit, or timed out.

        Args:
            pause: seconds that the endpoint asks to wait, if it does: then nobody asks it before.

        Returns:
            Whether that lowered the limit.
        """
        with self._lock:
            now = time.monotonic()
            if pause is not None:
                self._closed_until = max(self._closed_until, now + pause)
            if self._call.begun < self._cut_at:
                return False
            self._cut_at = now
            self._limit = max(1.0, min(self._limit, self._peak) * CUT)
            self._peak = max(1, self._in_flight)
            return True


class Rate:
    """So much a minute, evenly. What takes more than is there is let through, and the next waits the longer.

    Attributes:
        due: the time, on the monotonic clock, from which on something may be taken.

    Args:
        per_minute: None: any amount.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60.0 / per_minute if per_minute else 0.0
        self.due = 0.0

    def take(self, amount: float, now: float) -> None:
        """Takes an amount, or gives some of it back."""
        if self._seconds_each:
            self.due = max(self.due, now - SLACK) + amount * self._seconds_each
