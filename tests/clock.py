"""A clock that only the pauses of the code under test set on."""

from __future__ import annotations

import threading
import time


class Clock(threading.Event):
    """Ends the waiting of a model that is given it as `stopping`, and tells it the time.

    A pause between two attempts is noted and passes at once, and no time passes otherwise: what is tested does not
    depend on how fast this machine is.

    Attributes:
        pauses: seconds of each pause.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = time.monotonic()
        self.pauses: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Lets so many seconds pass; whether the waiting has an end."""
        assert timeout is not None
        self.pauses.append(timeout)
        self.now += timeout
        return self.is_set()
