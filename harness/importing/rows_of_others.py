"""Run directories for runs of others: what their files say, and `null` for what they do not."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.storage.manifest import now, package_version
from reflex_bench.harness.storage.records import UNTOLD, brief
from reflex_bench.harness.storage.run_info import SCHEMA_VERSION
from reflex_bench.harness.storage.whole_files import write_json, write_lines


def imported_row(
    arm: str, task: str, trial: int, success: bool | None, known: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a trial of which only the verdict need be known.

    Args:
        arm, task, trial: which trial; trials count from 1.
        success: None where infrastructure ended it.
        known: further keys of a trajectory line; every other one is null or empty.
    """
    outcome = "error" if success is None else "success" if success else "failure"
    counts = ("steps", "thoughts", "invalid_actions", "unparsed", "repairs", "calls")
    spent = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost", "memory_shown", "reflected")
    return {
        "arm": arm,
        "task": task,
        "task_type": None,
        "trial": trial,
        "attempt": f"{arm}/{task}/{trial}",
        "outcome": outcome,
        "success": success,
        "passed": bool(success),
        **dict.fromkeys(counts),
        "repair_kinds": {},
        **dict.fromkeys(spent),
        "reflection_tokens": None,
        "digest": None,
        "result": {},
        "error": UNTOLD if success is None else None,
        "text": "",
        "memory": [],
        "opening": "",
        "trajectory": [],
        "reflection": None,
        **(known or {}),
    }


def imported_arm(trials: int, **known: Any) -> dict[str, Any]:
    """Return the settings of an arm; `not recorded` where nothing is known."""
    names = (
        "agent",
        "model",
        "temperature",
        "reflector",
        "memory",
        "evaluator",
        "feedback",
        "max_steps",
        "parse",
    )
    return {**dict.fromkeys(names, UNTOLD), **known, "trials": trials}


def write_import(
    path: Path,
    rows: Sequence[Mapping[str, Any]],
    *,
    arms: Mapping[str, Mapping[str, Any]],
    environment: Mapping[str, Any],
    split: Mapping[str, Any],
    source: Mapping[str, Any],
    **more: Any,
) -> Path:
    """Writes a run directory; one that an earlier import made is replaced.

    Args:
        path: the directory.
        rows: of `imported_row`.
        arms: settings by name, in the order of the tables.
        environment: `name`, `feedback`, `settings`.
        split: `name`, `task_ids`, `notes`; the fingerprint is made of the ids where it has none.
        source: where the rows come from, with the sha256 of every file.
        more: further keys of `run.json`.

    Raises:
        UsageError: the directory holds something else.
    """
    if path.exists() and any(path.iterdir()) and not _was_imported(path):
        raise UsageError(f"{path}: holds something that was not imported; choose another --results")
    ids = sorted(split["task_ids"])
    manifest = {
        **_origin(path.name, source),
        "environment": environment,
        "split": {"fingerprint": fingerprint_of(ids), **split, "tasks": len(ids), "task_ids": ids},
        "trials": max(arm["trials"] for arm in arms.values()),
        "seed": UNTOLD,
        "arms": arms,
        **more,
    }
    _write_rows(path, sorted(rows, key=lambda row: (row["arm"], row["task"], row["trial"])))
    write_json(path / "run.json", manifest)
    return path


def _origin(run_id: str, source: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": run_id,
        "status": "complete",
        "created": UNTOLD,
        "imported": now(),
        "source": source,
        "reflex_version": package_version("reflex-bench"),
        "simulated": False,
    }


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the trajectory files and `trials.jsonl` in place of those of an earlier import.

    Args:
        path: the run directory.
        rows: in the order of arms, tasks and trials.
    """
    files: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        files.setdefault(f"{row['arm']}.trial-{row['trial']}", []).append(row)
    for old in (path / "trajectories").glob("*.jsonl"):
        old.unlink()
    for name, lines in files.items():
        write_lines(path / "trajectories" / f"{name}.jsonl", lines)
    write_lines(path / "trials.jsonl", ({**brief(row), "seconds": None} for row in rows))


def _was_imported(path: Path) -> bool:
    try:
        return "imported" in json.loads((path / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, RecursionError):
        return False


def fingerprint_of(texts: Iterable[str]) -> str:
    """Return the sha256 over texts in order, one a line."""
    return hashlib.sha256("".join(f"{text}\n" for text in texts).encode("utf-8", "surrogatepass")).hexdigest()


def file_hash(file: Path) -> str:
    """Return the sha256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def checked_arm_name(name: str, where: str) -> str:
    """Return the name, if files may be called by it.

    Raises:
        UsageError: it holds a path separator or the like.
    """
    if name.startswith(".") or not re.fullmatch(r"[\w.+@=: -]{1,100}", name):
        raise UsageError(f"{where}: {name!r} cannot be the name of an arm; letters, digits and ._+@=:- can")
    return name
