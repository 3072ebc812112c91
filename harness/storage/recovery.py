"""Recovery of what earlier processes recorded of a run, checked as a whole before anything is written again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Task
from reflex_bench.harness.storage.records import brief, read_spent, read_trajectory
from reflex_bench.harness.storage.refused import is_owed, times_refused
from reflex_bench.harness.storage.trials import checked_lines, recorded_lines

Key = tuple[str, str, int]
"""Arm, task, trial."""


def key_of(row: Mapping[str, Any]) -> Key:
    """Return which trial a row is about."""
    return row["arm"], row["task"], row["trial"]


@dataclass
class Recovered:
    """The trials on record that are not owed again.

    Attributes:
        files: the trajectory files, in order.
        failed: those of them that hold trials that ended in errors and are owed again.
        rows: the short lines of all trials, in order of arm, task and trial, with their wall times.
        lost: whether `trials.jsonl` has results that no trajectory file has.
        places: file and line of every trial.
        refused: by attempt, how often an endpoint refused it.
    """

    files: list[Path]
    failed: list[Path] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    lost: bool = False
    places: dict[Key, str] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)


def recover(run: Path, manifest: Mapping[str, Any]) -> Recovered:
    """Return what is on record, without writing anything. The trajectory files are the record.

    Raises:
        UsageError: a line is damaged, does not belong to its file or to the run, or is a second result of a trial;
            the message names file and line.
    """
    folder = run / "trajectories"
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: a file, where the folder of the trajectories is wanted; move it away")
    known = {key_of(row): row for row in checked_lines(run / "trials.jsonl")}
    found = Recovered(sorted(folder.glob("*.jsonl")))
    found.refused = times_refused(manifest.get("refused"), known.values())
    named = manifest["split"].get("task_ids")
    tasks = None if named is None else set(named)
    for file in found.files:
        for number, row in recorded_lines(file):
            where = f"{file}, line {number}"
            _check_place(file, where, row, manifest, tasks)
            if is_owed(row):
                found.failed += [] if file in found.failed else [file]
                continue
            key = key_of(row)
            if key in found.places:
                raise UsageError(
                    f"{where}: {_shown(key)} has a result already ({found.places[key]}); remove one"
                )
            found.places[key] = where
            found.rows.append({**brief(row), "seconds": known.get(key, {}).get("seconds")})
    found.rows.sort(key=key_of)
    _check_ends(found, manifest)
    found.lost = any(not is_owed(row) and key not in found.places for key, row in known.items())
    return found


def _check_place(
    file: Path, where: str, row: Mapping[str, Any], manifest: Mapping[str, Any], tasks: Collection[str] | None
) -> None:
    arm, task, trial = key_of(row)
    if arm not in manifest["arms"]:
        raise UsageError(
            f"{where}: of an arm {arm!r}, which run.json does not have; if the file is not of this run, move it away"
        )
    if file.name != (name := f"{arm}.trial-{trial}.jsonl"):
        raise UsageError(f"{where}: {_shown((arm, task, trial))} belongs into {name}; move the file away")
    if tasks is not None and task not in tasks:
        raise UsageError(f"{where}: task {task!r} is not in the split of run.json")
    most = manifest["arms"][arm].get("trials") or manifest["trials"]
    if trial > most:
        raise UsageError(f"{where}: {_shown((arm, task, trial))} is beyond the {most} trials of its arm")


def _check_ends(found: Recovered, manifest: Mapping[str, Any]) -> None:
    """Raise where a chain went on after a trial that passed."""
    passed: set[tuple[str, str]] = set()
    for row in found.rows:
        arm, task, _ = key = key_of(row)
        if manifest["arms"][arm].get("independent"):
            continue
        if (arm, task) in passed:
            raise UsageError(
                f"{found.places[key]}: {_shown(key)} was run although an earlier trial had passed"
            )
        if row["passed"]:
            passed.add((arm, task))


def resumed(found: Recovered, unfinished: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the whole trials of tasks that are not finished, by task.

    Raises:
        UsageError: a trial lacks what later trials of its task need of it.
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    for file in found.files:
        for number, row in recorded_lines(file):
            if is_owed(row) or row["task"] not in unfinished:
                continue
            try:
                if row["outcome"] != "error":
                    read_trajectory(row, Task(row["task"], "", "", ""))
                    read_spent(row, tuple(row["spent"]))
            except (LookupError, TypeError, AttributeError, ValueError) as error:
                raise UsageError(
                    f"{file}, line {number}: not a trial to go on from ({type(error).__name__}: {error})"
                ) from None
            rows.setdefault(row["task"], []).append(row)
    return rows


def _shown(key: Key) -> str:
    return f"arm {key[0]!r}, task {key[1]!r}, trial {key[2]}"
