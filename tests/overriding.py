"""Options of a command with some given anew: an option that is given twice is refused."""

from __future__ import annotations


def overriding(usual: tuple[object, ...], *given: object) -> tuple[object, ...]:
    """Return the usual arguments but for options that are given, each of which takes a value, and the given ones."""
    kept: list[object] = []
    skips = 0
    for each in usual:
        skips = 2 if isinstance(each, str) and each.startswith("--") and each in given else max(0, skips - 1)
        if not skips:
            kept.append(each)
    return (*kept, *given)
