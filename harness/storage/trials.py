"""Reads recorded trials: the short lines as a data frame, the whole ones unchanged, every line checked."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reflex_bench.core.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

MAX_TRIALS = 10_000
"""Of one task; a number beyond it is a mistake, and tables have a column for each."""

_COUNTS = (
    *("steps", "thoughts", "invalid_actions", "unparsed", "repairs", "calls", "memory_shown"),
    *("reasoning_tokens", "reasoning_estimated", "asked_again", "cut_off", "lost_calls", "refused"),
)
_MEASURES = (
    *("prompt_tokens", "completion_tokens", "cached_tokens", "reflection_tokens", "cost", "seconds"),
    *("prompt_characters", "repeated_characters"),
)
_MAX_INTEGER = 2**53
"""Beyond it a floating-point number is no longer exact."""
_TEXTS = ("arm", "task", "task_type", "attempt", "outcome", "digest", "error")
_FLAGS = ("reflected", "reflection_written", "reflection_kept", "reflection_flawed")
_MAPPINGS = {"repair_kinds": "repair", "invalid_kinds": "invalid", "result": "result"}


def read_trials(file: Path) -> pd.DataFrame:
    """Return the recorded trials, in the order of the file; none where there is no file yet.

    A torn last line is a trial still owed and is left out. Unknown numbers are NaN, and so are the counts that a trial
    of somebody else's run has as null; what an environment measured is in the columns `result.<name>`, how often a
    repair was made in `repair.<name>`, how often a command was not accepted for a reason in `invalid.<name>`. Of what
    was remembered, `reflection_written` tells whether a model wrote it, `reflection_kept` whether it entered the
    memory, `reflection_flawed` whether it failed the audit.

    Raises:
        UsageError: a line is damaged or says something impossible.
    """
    import pandas as pd

    names = (*_TEXTS, "trial", "success", *_COUNTS, *_MEASURES)
    columns: dict[str, list[Any]] = {name: [] for name in (*names, "passed", *_FLAGS)}
    mappings: dict[str, list[Mapping[str, Any]]] = {name: [] for name in _MAPPINGS}
    for row in checked_lines(file):
        for name in names:
            # A trial that ended in an error has no counts of steps: none were finished that say anything.
            columns[name].append(row.get(name, 0 if name in _COUNTS else None))
        columns["passed"].append(row.get("passed", row["success"]))
        for name, flag in zip(_FLAGS, _reflection_flags(row), strict=True):
            columns[name].append(flag)
        for name in _MAPPINGS:
            mappings[name].append(row.get(name) or {})
    for name, prefix in _MAPPINGS.items():
        for key in dict.fromkeys(key for each in mappings[name] for key in each):
            columns[f"{prefix}.{key}"] = [each.get(key) for each in mappings[name]]
    try:
        return pd.DataFrame({name: _series(name, values) for name, values in columns.items()})
    except (ValueError, TypeError, OverflowError) as problem:
        raise UsageError(f"{file}: a number is not a number: {problem}") from None


def _series(name: str, values: list[Any]) -> pd.Series[Any]:
    import pandas as pd

    if name in ("success", *_MEASURES) or (name in _COUNTS and None in values):
        return pd.Series([math.nan if value is None else value for value in values], dtype="float64")
    if name in ("trial", *_COUNTS) or name.startswith(("repair.", "invalid.")):
        return pd.Series([value or 0 for value in values], dtype="int64")
    if name in _FLAGS and None in values:
        return pd.Series([math.nan if value is None else bool(value) for value in values], dtype="float64")
    if name in (*_FLAGS, "passed"):
        return pd.Series([bool(value) for value in values], dtype="bool")
    return pd.Series(values, dtype="object")


def _reflection_flags(row: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Return the values of `_FLAGS`: all None where it is not known whether there was a reflection."""
    reflected = row.get("reflected", False)
    if reflected is None:
        return None, None, None, None
    # A run of an earlier version, or of somebody else, does not say more than that there was one.
    written = bool(reflected) and row.get("reflection_attempts", 1) != 0
    kept = bool(reflected) and row.get("reflection_kept", True) is not False
    return bool(reflected), written, kept, bool(row.get("reflection_audit"))


def checked_lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of `trials.jsonl`.

    Raises:
        UsageError: a line is damaged or says something impossible.
    """
    for number, row in lines_of(file):
        _check_row(row, f"{file}, line {number}")
        yield row


def lines_of(file: Path) -> Iterator[tuple[int, Any]]:
    """Yield number and value of every line of a JSONL file.

    Lone surrogates are replaced, and a torn last line is left out.

    Raises:
        UsageError: a line is not JSON, or is nested too deep to be read.
    """
    if not file.exists():
        return
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                value = json.loads(line)
                # Only these can spell half a surrogate pair, which nothing can print, and no data frame takes.
                if b"\\u" in line or b"\xed" in line:
                    value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
            except (ValueError, RecursionError):
                if line.endswith(b"\n"):
                    raise UsageError(
                        f"{file}, line {number}: not JSON; restore the line or remove it"
                    ) from None
            else:
                yield number, value


def _check_row(row: Any, where: str) -> None:
    if not isinstance(row, dict):
        raise UsageError(f"{where}: a trial must be a JSON object")
    for name in ("arm", "task", "outcome"):
        if not isinstance(row.get(name), str):
            raise UsageError(f"{where}: {name!r} must be a text, not {_shown(row.get(name))}")
    trial = row.get("trial")
    if type(trial) is not int or trial < 1:
        raise UsageError(f"{where}: 'trial' must be a whole number from 1, not {_shown(trial)}")
    if trial > MAX_TRIALS:
        raise UsageError(f"{where}: 'trial' must be at most {MAX_TRIALS}, not {_shown(trial)}")
    for name in ("attempt", "task_type", "digest", "error"):
        if not isinstance(row.get(name), str | None):
            raise UsageError(f"{where}: {name!r} must be a text or null, not {_shown(row[name])}")
    for name in _MAPPINGS:
        if not isinstance(row.get(name), dict | None):
            raise UsageError(f"{where}: {name!r} must be an object, not {_shown(row[name])}")
    _check_numbers(row, where)
    outcome = row["outcome"]
    expected = None if outcome == "error" else outcome == "success"
    if "success" not in row or row["success"] is not expected:
        raise UsageError(
            f"{where}: outcome {outcome!r} goes with success {expected}, not {_shown(row.get('success'))}"
        )


def _check_numbers(row: Mapping[str, Any], where: str) -> None:
    for name in (*_COUNTS, *_MEASURES):
        value = row.get(name)
        whole = name not in _COUNTS or not isinstance(value, float) or value.is_integer()
        if (type(value) not in (int, float) or not whole) and value is not None:
            kind = "whole number" if name in _COUNTS else "number"
            raise UsageError(f"{where}: {name!r} must be a {kind} or null, not {_shown(value)}")
        if isinstance(value, int) and abs(value) > _MAX_INTEGER:
            raise UsageError(f"{where}: {name!r} is larger than any that was counted")


def _shown(value: Any) -> str:
    return f"a {type(value).__name__}" if isinstance(value, dict | list) else repr(value)[:100]


class _Step(BaseModel):
    model_config = ConfigDict(strict=True)
    number: int
    reply: str
    thought: str
    action: str | None
    observation: str
    valid: bool
    error: str | None


class _Verdict(BaseModel):
    model_config = ConfigDict(strict=True)
    success: bool
    by: str
    reason: str


class _Trial(BaseModel):
    """What every line of a trajectory file has, as far as readers need it."""

    model_config = ConfigDict(strict=True)
    arm: str
    task: str
    trial: Annotated[int, Field(ge=1, le=MAX_TRIALS)]
    attempt: str
    outcome: str
    success: bool | None
    passed: bool
    memory: list[str]
    error: str | None


class _Played(_Trial):
    """And what one has besides whose trial did not end in an error."""

    opening: str
    memory_ids: list[str | int] | None = None
    trajectory: list[_Step]
    steps: int | None
    result: dict[str, str | int | float | bool | None]
    remark: str | None = None
    verdict: _Verdict | None = None
    reflection: str | None
    reflection_audit: list[str] | None = None
    reflection_repairs: list[str] | None = None
    reflection_kept: bool | None = None


def recorded(file: Path) -> Iterator[dict[str, Any]]:
    """Return the lines of a trajectory file; see `recorded_lines`."""
    return (row for _, row in recorded_lines(file))


def recorded_lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number and value of every line of a trajectory file.

    Raises:
        UsageError: a line is damaged or lacks what a reader needs.
    """
    for number, row in lines_of(file):
        failed = isinstance(row, dict) and row.get("outcome") == "error"
        try:
            (_Trial if failed else _Played).model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            what = f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}".lstrip(": ")
            raise UsageError(f"{file}, line {number}: no recorded trial ({what})") from None
        _check_row(row, f"{file}, line {number}")
        yield number, row
