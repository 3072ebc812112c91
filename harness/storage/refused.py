"""Refused trials, whose content an endpoint rejects: after some attempts they are no longer owed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reflex_bench.core.errors import ModelError

MAX_ATTEMPTS = 3
"""Times that a trial is refused before it is refused for good: in the run itself and in two resumes."""

_KINDS = ("content_filter", "never_fits")
"""Kinds of `ModelError` that the same request meets again, whenever it is sent."""


def is_refusal(error: Exception) -> bool:
    """Return whether the endpoint refuses what a request says, or how much it says."""
    return isinstance(error, ModelError) and error.kind in _KINDS


def is_for_good(row: Mapping[str, Any]) -> bool:
    """Return whether the trial of a row ended in an error and is not tried again."""
    times = row.get("refused")
    return row.get("outcome") == "error" and isinstance(times, int) and times >= MAX_ATTEMPTS


def is_owed(row: Mapping[str, Any]) -> bool:
    """Return whether the trial of a row ended in an error and is tried again."""
    return row["outcome"] == "error" and not is_for_good(row)


def times_refused(known: object, rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how often each attempt was refused.

    Args:
        known: what `run.json` says of it: times by attempt.
        rows: of trials on record.
    """
    told = known.items() if isinstance(known, Mapping) else ()
    times = {str(attempt): each for attempt, each in told if type(each) is int}
    for row in rows:
        if type(row.get("refused")) is int:
            times[row["attempt"]] = max(row["refused"], times.get(row["attempt"], 0))
    return times
