"""Seeded choices that come out the same on every Python version and platform.

Only `random.Random.random` is used: it is the one method whose sequence the standard library promises to keep
for a given seed (https://docs.python.org/3/library/random.html#notes-on-reproducibility).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A stream of choices named by a key; equal keys give equal streams.

    Args:
        key: any parts; their text is the seed.
    """

    def __init__(self, *key: object) -> None:
        self._random = random.Random("/".join(map(str, key)))

    def below(self, limit: int) -> int:
        """A whole number in [0, limit)."""
        return int(self._random.random() * limit)

    def between(self, low: int, high: int) -> int:
        """A whole number in [low, high]."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[int]) -> T:
        """One item, with whole-number weights of which at least one is positive."""
        left = self.below(sum(weights))
        for item, weight in zip(items, weights, strict=True):
            left -= weight
            if left < 0:
                return item
        raise ValueError("no weight is positive")

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A copy in random order (Fisher and Yates)."""
        deck = list(items)
        for last in range(len(deck) - 1, 0, -1):
            other = self.below(last + 1)
            deck[last], deck[other] = deck[other], deck[last]
        return deck
