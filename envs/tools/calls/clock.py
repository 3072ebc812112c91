"""Virtual time: what passes while a call is under way, or while somebody waits. Nobody waits for real."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Clock:
    """The clock of a task's world.

    Attributes:
        milliseconds: since the beginning of the task's image. Whole numbers, so that sums are exact everywhere.
    """

    milliseconds: int = 0

    @property
    def seconds(self) -> int:
        """Whole seconds since the beginning, as tools are told the time."""
        return self.milliseconds // 1000

    def advance(self, milliseconds: int) -> None:
        """Let time pass.

        Raises:
            ValueError: it would run backwards.
        """
        if milliseconds < 0:
            raise ValueError(f"time cannot run backwards by {milliseconds} ms")
        self.milliseconds += milliseconds
