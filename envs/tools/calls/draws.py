"""Draws that follow from what they are about, and from nothing else: no order of calls, no state."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

_DIGITS = 13
"""Hexadecimal digits of a draw: 52 bits, all of which a float holds."""


def draw(*key: object) -> float:
    """Return a number in [0, 1) that follows from a key: the beginning of the sha256 of its text."""
    text = "\x1f".join(map(str, key))
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return int(digest[:_DIGITS], 16) / 16.0**_DIGITS


def between(low: int, high: int, *key: object) -> int:
    """Return a whole number from `low` to `high`, both included, that follows from a key."""
    return low + int(draw(*key) * (high - low + 1))


def pick(items: Sequence[T], *key: object) -> T:
    """Return the one of some items that a key stands for."""
    return items[int(draw(*key) * len(items))]


def canonical(arguments: Mapping[str, Any]) -> str:
    """Return arguments as a text that does not depend on their order."""
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
