"""Seeded random choices that are the same on every Python version and platform.

Only `random.Random(str)` and its `random` are used: that is the one sequence that the standard library promises to keep
for a given seed (https://docs.python.org/3/library/random.html#notes-on-reproducibility); `choice`, `sample` and
`shuffle` have changed between versions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class SeededRandom:
    """A stream of choices named by a key; equal keys give equal streams, others independent ones.

    Args:
        key: any parts; their text is the seed.
    """

    def __init__(self, *key: object) -> None:
        self._next = random.Random("/".join(map(str, key))).random

    def below(self, limit: int) -> int:
        """Return a whole number in [0, limit)."""
        return int(self._next() * limit)

    def between(self, low: int, high: int) -> int:
        """Return a whole number in [low, high]."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        """Return True with a probability from 0 to 1."""
        return self._next() < probability

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    def pick_where(self, items: Sequence[T], fits: Callable[[T], bool], looks: int = 400) -> T | None:
        """Return an item that fits, or None if there is none among the first `looks` from a random place onwards."""
        if not items:
            return None
        start = self.below(len(items))
        for offset in range(min(looks, len(items))):
            item = items[(start + offset) % len(items)]
            if fits(item):
                return item
        return None

    def weighted(self, items: Sequence[T], weights: Sequence[int]) -> T:
        """Return one item, by whole-number weights of which at least one is positive."""
        left = self.below(sum(weights))
        for item, weight in zip(items, weights, strict=True):
            left -= weight
            if left < 0:
                return item
        raise ValueError("no weight is positive")

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return all items in random order."""
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return up to `count` different items in random order (Fisher and Yates, from the front)."""
        result = list(items)
        size = min(count, len(result))
        for at in range(size):
            other = at + self.below(len(result) - at)
            result[at], result[other] = result[other], result[at]
        return result[:size]
