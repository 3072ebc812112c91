"""Choices that come out the same on every machine and Python."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A stream of choices named by its key.

    Only `random.Random(str)` and `.random()` are used: both have been stable since Python 3.2, whereas `choice`,
    `sample` and `shuffle` have changed between versions.

    Args:
        key: what the stream is for; streams with different keys are independent of one another.
    """

    def __init__(self, *key: object) -> None:
        self._next = random.Random("/".join(str(part) for part in key)).random

    def below(self, count: int) -> int:
        """A whole number from 0 to `count` - 1."""
        return int(self._next() * count)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: float) -> bool:
        """True in `percent` of 100 cases."""
        return self._next() * 100 < percent

    def pick(self, items: Sequence[T]) -> T:
        """One of `items`."""
        return items[self.below(len(items))]

    def pick_where(self, items: Sequence[T], fits: Callable[[T], bool], looks: int = 400) -> T | None:
        """One of `items` that fits, or None if there is none among the first `looks` from a random place onwards."""
        if not items:
            return None
        start = self.below(len(items))
        for offset in range(min(looks, len(items))):
            item = items[(start + offset) % len(items)]
            if fits(item):
                return item
        return None

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All of `items` in random order."""
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Up to `count` different ones of `items`, in random order (Fisher-Yates, from the front)."""
        result = list(items)
        most = min(count, len(result))
        for at in range(most):
            other = at + self.below(len(result) - at)
            result[at], result[other] = result[other], result[at]
        return result[:most]
