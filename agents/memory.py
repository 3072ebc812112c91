"""What is remembered between the trials of a task."""

from __future__ import annotations

from typing import Protocol


class Memory(Protocol):
    """The reflections of one task in one arm."""

    def shown(self) -> tuple[str, ...]:
        """What the next trial is shown, oldest first."""
        ...

    def all(self) -> tuple[str, ...]:
        """Everything kept so far, oldest first."""
        ...

    def add(self, reflection: str) -> None:
        """Keeps a reflection."""
        ...


class SlidingMemory:
    """The last `size` reflections of this task.

    Reflexion bounds its memory to 1-3 experiences (Shinn et al., 2023, section 3, "Memory"); 3 is used for ALFWorld.

    Args:
        size: how many are shown; 0 shows none.
    """

    def __init__(self, size: int = 3) -> None:
        self._size = size
        self._kept: list[str] = []

    def shown(self) -> tuple[str, ...]:
        """The newest `size` reflections, oldest first."""
        return tuple(self._kept[-self._size :]) if self._size else ()

    def all(self) -> tuple[str, ...]:
        """Every reflection of this task, oldest first."""
        return tuple(self._kept)

    def add(self, reflection: str) -> None:
        """Keeps a reflection."""
        self._kept.append(reflection)
