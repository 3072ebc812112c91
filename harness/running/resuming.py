"""Settings that may change when a run is resumed: those that do not bear on how a trial is played."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.harness.planning.layers import merge
from reflex_bench.harness.planning.sources import read_source

MAY_CHANGE = (
    *(
        "endpoint.base_url",
        "endpoint.timeout",
        "endpoint.max_retries",
        "endpoint.patience",
        "endpoint.prices",
    ),
    *(
        "limits.max_connections",
        "limits.max_workers",
        "limits.requests_per_minute",
        "limits.tokens_per_minute",
    ),
    *("limits.cost", "limits.tokens", "limits.time", "limits.stop_after_errors"),
)


def changes_of(sources: Iterable[str], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with which a run goes on, on top of those with which it began.

    Args:
        sources: `key=value` pairs or files; later ones win.
        flags: nested settings from the command line; they win over all sources.

    Raises:
        UsageError: a source is not readable, or a setting would make later trials another experiment.
    """
    changes: dict[str, Any] = {}
    for source in sources:
        changes = merge(changes, read_source(source, ("endpoint", "limits")).settings)
    changes = merge(changes, flags)
    for name in _names(changes):
        if not any(name == may or name.startswith(f"{may}.") for may in MAY_CHANGE):
            if difflib.get_close_matches(name, MAY_CHANGE, n=1, cutoff=0.85):
                raise unknown("setting", name, MAY_CHANGE)
            raise UsageError(
                f"resume: {name} stays as the run began, or its trials would not be of one experiment; "
                f"these may change: {', '.join(MAY_CHANGE)}"
            )
    return changes


def _names(settings: Mapping[str, Any], before: str = "") -> Iterable[str]:
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _names(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"
