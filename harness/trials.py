"""`trials.jsonl` as a data frame: one row a trial, every line checked."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

_COUNTS = ("steps", "thoughts", "invalid_actions", "unparsed", "repairs", "calls", "memory_shown")
_MEASURES = (
    *("prompt_tokens", "completion_tokens", "cached_tokens", "reflection_tokens", "cost", "seconds"),
    *("prompt_characters", "repeated_characters"),
)
_TEXTS = ("arm", "task", "task_type", "attempt", "outcome", "digest", "error")
_MAPPINGS = {"repair_kinds": "repair", "result": "result"}


def read_trials(file: Path) -> pd.DataFrame:
    """The recorded trials, in the order of the file; none where there is no file yet.

    A torn last line is a trial still owed and is left out. Unknown numbers are NaN, and so are the counts that a trial
    of somebody else's run has as null; what an environment measured is in the columns `result.<name>`, how often a
    repair was made in `repair.<name>`.

    Raises:
        UsageError: a line is damaged or says something impossible.
    """
    import pandas as pd

    names = (*_TEXTS, "trial", "success", "reflected", *_COUNTS, *_MEASURES)
    columns: dict[str, list[Any]] = {name: [] for name in (*names, "passed")}
    mappings: dict[str, list[Mapping[str, Any]]] = {name: [] for name in _MAPPINGS}
    for number, row in _lines(file):
        _check_row(row, f"{file}, line {number}")
        for name in names:
            # A trial that ended in an error has no counts of steps: none were finished that say anything.
            columns[name].append(row.get(name, 0 if name in (*_COUNTS, "reflected") else None))
        columns["passed"].append(row.get("passed", row["success"]))
        for name in _MAPPINGS:
            mappings[name].append(row.get(name) or {})
    for name, prefix in _MAPPINGS.items():
        for key in dict.fromkeys(key for each in mappings[name] for key in each):
            columns[f"{prefix}.{key}"] = [each.get(key) for each in mappings[name]]
    try:
        return pd.DataFrame({name: _series(name, values) for name, values in columns.items()})
    except (ValueError, TypeError) as problem:
        raise UsageError(f"{file}: a number is not a number: {problem}") from None


def _series(name: str, values: list[Any]) -> pd.Series[Any]:
    import pandas as pd

    if name in ("success", *_MEASURES) or (name in _COUNTS and None in values):
        return pd.Series([math.nan if value is None else value for value in values], dtype="float64")
    if name in ("trial", *_COUNTS) or name.startswith("repair."):
        return pd.Series([value or 0 for value in values], dtype="int64")
    if name == "reflected" and None in values:
        return pd.Series([math.nan if value is None else bool(value) for value in values], dtype="float64")
    if name in ("reflected", "passed"):
        return pd.Series([bool(value) for value in values], dtype="bool")
    return pd.Series(values, dtype="object")


def _lines(file: Path) -> Iterator[tuple[int, Any]]:
    if not file.exists():
        return
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                yield number, json.loads(line)
            except ValueError:
                if line.endswith(b"\n"):
                    raise UsageError(
                        f"{file}, line {number}: not JSON; restore the line or remove it"
                    ) from None


def _check_row(row: Any, where: str) -> None:
    if not isinstance(row, dict):
        raise UsageError(f"{where}: a trial must be a JSON object")
    for name in ("arm", "task", "outcome"):
        if not isinstance(row.get(name), str):
            raise UsageError(f"{where}: {name!r} must be a text, not {row.get(name)!r}")
    trial = row.get("trial")
    if type(trial) is not int or trial < 1:
        raise UsageError(f"{where}: 'trial' must be a whole number from 1, not {trial!r}")
    outcome = row["outcome"]
    expected = None if outcome == "error" else outcome == "success"
    if "success" not in row or row["success"] is not expected:
        raise UsageError(
            f"{where}: outcome {outcome!r} goes with success {expected}, not {row.get('success')!r}"
        )
