"""Decides whether a call that failed is made again, and when."""

from __future__ import annotations

import random
import time

from reflex_bench.core.errors import ModelError, RunStopped
from reflex_bench.models.options import ModelOptions

FIRST_PAUSE = 0.5
"""Seconds, doubled with every further attempt and shortened by up to half at random, so that calls fall out of step"""

MAX_PAUSE = 30.0
"""Seconds between two attempts where the endpoint asks for none."""

MAX_UNREADABLE = 2
"""Further attempts after an unreadable body: each may have been paid for."""

RETRIED = ("server", "timeout", "connection", "malformed", "empty")
"""The kinds of faults that may be gone next time; rate limits apart, which are waited for."""


class Retries:
    """The attempts at one call.

    Attributes:
        count: further attempts made so far.

    Args:
        options: `max_retries` bounds the attempts after a fault, `patience` (seconds) the wait for a rate limit.
    """

    def __init__(self, options: ModelOptions) -> None:
        self.count = 0
        self._options = options
        self._faults = self._refusals = 0
        self._refused_since: float | None = None

    def wait(self, failure: ModelError) -> bool:
        """Waits until the next attempt; False, at once, where there is to be none.

        Raises:
            RunStopped: the run is being stopped.
        """
        self._options.faults[failure.kind] += 1
        pause = self._pause_refused(failure) if failure.kind == "rate_limit" else self._pause_failed(failure)
        if pause is None:
            return False
        if self._options.stopping.wait(pause):
            raise RunStopped("stopping")
        self.count += 1
        return True

    def _pause_refused(self, failure: ModelError) -> float | None:
        now = time.monotonic()
        if self._refused_since is None:
            self._refused_since = now
        self._refusals += 1
        pause = _backoff(self._refusals) if failure.retry_after is None else failure.retry_after
        return pause if now + pause <= self._refused_since + self._options.patience else None

    def _pause_failed(self, failure: ModelError) -> float | None:
        most = self._options.max_retries
        if failure.kind == "malformed":
            most = min(most, MAX_UNREADABLE)
        if failure.kind not in RETRIED or self._faults >= most:
            return None
        self._faults += 1
        pause = _backoff(self._faults) if failure.retry_after is None else failure.retry_after
        return pause if pause <= self._options.patience else None


def _backoff(attempt: int) -> float:
    longest = min(MAX_PAUSE, FIRST_PAUSE * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.5, 1.0)
