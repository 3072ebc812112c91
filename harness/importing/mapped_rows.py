"""Imports JSON lines of any other harness, with at least a task and a verdict, under whatever names."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.harness.importing.rows_of_others import (
    checked_arm_name,
    file_hash,
    imported_arm,
    imported_row,
    write_import,
)
from reflex_bench.harness.storage.records import UNTOLD
from reflex_bench.harness.storage.trials import MAX_TRIALS

FIELDS = ("task", "success", "trial", "arm", "type")
_COMPARISON = re.compile(r"(.+?)(>=|==|>)(-?\d+(?:\.\d+)?)")
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "==": operator.eq,
    ">": operator.gt,
}


_NOTE = "Imported results: tasks that no arm has a result for are not counted."


@dataclass(frozen=True, slots=True)
class Mapped:
    """What one line says."""

    line: int
    task: str
    success: bool | None
    trial: int
    arm: str
    type: str | None


def read_map(text: str) -> dict[str, str]:
    """Return `task=id,success=score>=1` as a dictionary.

    Raises:
        UsageError: it cannot be read, names an unknown field, or lacks `task` or `success`.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, path = (piece.strip() for piece in part.partition("="))
        if not equals or not path:
            raise UsageError(
                f"--map: {part.strip()!r} is not FIELD=NAME, as in task=id,success=solved,trial=attempt"
            )
        if name not in FIELDS:
            raise unknown("field in --map", name, FIELDS)
        found[name] = path
    for name in ("task", "success"):
        if name not in found:
            raise UsageError(f"--map: says no {name!r}, as in task=id,success=solved")
    return found


def import_rows(
    file: Path,
    mapping: Mapping[str, str],
    path: Path,
    *,
    environment: str = "other",
    independent: bool = False,
) -> Path:
    """Writes a run directory from a JSON-lines file.

    Args:
        file: one JSON object a line.
        mapping: of `read_map`. Dots lead into objects (`info.task_id`); `success` may be a boolean, 0 or 1, null (the
            trial broke down: an error, not a failure), or a comparison (`score>=1`). Without `trial` every task has one
            trial in each arm, without `arm` there is one arm, named after the file. Trials counted from 0 are counted
            from 1.
        path: of the run.
        environment: its name in tables.
        independent: the trials of a task know nothing of one another and do not stop at success.

    Raises:
        UsageError: a line cannot be read so, a trial is there twice, or one follows a success.
    """
    lines = _counted_from_1(file, list(_lines(file, mapping)), independent)
    arms = {line.arm: line.trial for line in sorted(lines, key=lambda line: (line.arm, line.trial))}
    return write_import(
        path,
        [
            imported_row(line.arm, line.task, line.trial, line.success, {"task_type": line.type})
            for line in lines
        ],
        arms={arm: imported_arm(trials, independent=independent) for arm, trials in arms.items()},
        environment={"name": environment, "feedback": UNTOLD, "settings": {}},
        split={
            "name": file.stem,
            "task_ids": {line.task for line in lines},
            "notes": [_NOTE],
        },
        source={"files": {file.name: file_hash(file)}, "map": dict(mapping)},
    )


def _counted_from_1(file: Path, lines: Sequence[Mapped], independent: bool) -> list[Mapped]:
    """Return checked lines in the order of arms, tasks and trials, with trials that count from 1."""
    if not lines:
        raise UsageError(f"{file}: has no results")
    first = min(line.trial for line in lines)
    if first not in (0, 1):
        raise UsageError(f"{file}: its trials begin with {first}; they must count from 0 or 1")
    ordered = sorted(lines, key=lambda line: (line.arm, line.task, line.trial))
    _check(file, ordered, independent)
    return [replace(line, trial=line.trial - first + 1) for line in ordered]


def _lines(file: Path, mapping: Mapping[str, str]) -> Iterator[Mapped]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        try:
            row = json.loads(line)
            # Half a surrogate pair is legal in JSON, but no file takes it.
            row = json.loads(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raise UsageError(f"{where}: not JSON; one object a line is wanted") from None
        yield _mapped(row, mapping, number, where, file.stem)


def _mapped(row: Any, mapping: Mapping[str, str], number: int, where: str, stem: str) -> Mapped:
    task = _found(row, mapping["task"], where)
    trial = _found(row, mapping["trial"], where) if "trial" in mapping else 1
    if type(trial) is not int or trial > MAX_TRIALS:
        most = f" up to {MAX_TRIALS}" if type(trial) is int else ""
        raise UsageError(f"{where}: {mapping['trial']!r} must be a whole number{most}, not {_brief(trial)}")
    arm = str(_found(row, mapping["arm"], where)) if "arm" in mapping else stem
    kind = _found(row, mapping["type"], where) if "type" in mapping else None
    return Mapped(
        line=number,
        task=str(task),
        success=_verdict(row, mapping["success"], where),
        trial=trial,
        arm=checked_arm_name(arm, where),
        type=None if kind is None else str(kind),
    )


def _found(row: Any, path: str, where: str) -> Any:
    if isinstance(row, dict) and path in row:
        return row[path]
    value = row
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            keys = ", ".join(list(value)[:8]) if isinstance(value, dict) else _brief(value)
            raise UsageError(f"{where}: no {path!r} ({name!r} is not among: {keys})")
        value = value[name]
    return value


def _brief(value: Any) -> str:
    return f"a {type(value).__name__}" if isinstance(value, dict | list) else repr(value)[:100]


def _verdict(row: Any, path: str, where: str) -> bool | None:
    comparison = _COMPARISON.fullmatch(path)
    value = _found(row, comparison[1].strip() if comparison else path, where)
    if value is None:
        return None
    if comparison:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError(f"{where}: {comparison[1]!r} must be a number, not {_brief(value)}")
        return _OPERATORS[comparison[2]](value, float(comparison[3]))
    if value not in (0, 1) or not isinstance(value, int | float):
        raise UsageError(
            f"{where}: {path!r} must be true, false, 0, 1 or null, not {_brief(value)}; a score needs a limit, as in "
            f"success={path}>=1"
        )
    return bool(value)


def _check(file: Path, lines: Iterable[Mapped], independent: bool) -> None:
    last: Mapped | None = None
    for line in lines:
        same = last is not None and (last.arm, last.task) == (line.arm, line.task)
        if last is not None and same and last.trial == line.trial:
            raise UsageError(
                f"{file}, lines {last.line} and {line.line}: two results for arm {line.arm!r}, task {line.task!r}, "
                f"trial {line.trial}; name the field that tells them apart with --map trial=…"
            )
        if last is not None and same and last.success and not independent:
            raise UsageError(
                f"{file}, line {line.line}: task {line.task!r} of arm {line.arm!r} was tried again after a success; "
                "--independent says that its trials know nothing of one another"
            )
        last = line
