"""Detects texts that copy others or repeat themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

COPIED_WORDS = 8
"""So many words in a row are no coincidence."""
REPEATED_WORDS, REPEATED_TIMES = 5, 3
"""So many words in a row, so many times, are a loop."""

_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())


def copies(text: str, sources: Iterable[str], own: Iterable[str] = ()) -> bool:
    """Return whether a text has `COPIED_WORDS` words in a row that stand in a source.

    Args:
        text: what was written.
        sources: from which nothing may be copied.
        own: what may be quoted, also where a source has it, too.
    """
    found = set(_runs(words(text), COPIED_WORDS))
    copied = {run for source in sources for run in _runs(words(source), COPIED_WORDS) if run in found}
    return bool(copied) and not copied <= {run for each in own for run in _runs(words(each), COPIED_WORDS)}


def repeats_itself(text: str, names: Iterable[str]) -> bool:
    """Return whether a text has `REPEATED_WORDS` words in a row `REPEATED_TIMES` times.

    Args:
        text: what was written.
        names: long names, which may well be repeated.
    """
    counted = Counter(_runs(words(text), REPEATED_WORDS))
    often = [" ".join(run) for run, times in counted.items() if times >= REPEATED_TIMES]
    return any(all(f" {run} " not in f" {name} " for name in names) for run in often)


def _runs(sequence: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(sequence[start:] for start in range(length)), strict=False)
