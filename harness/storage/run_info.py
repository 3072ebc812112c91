"""Reads `run.json` and checks its version and everything that readers rely on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.storage.trials import MAX_TRIALS

SCHEMA_VERSION = 2
"""Of a run directory. Version 1 had other defaults: see `reflex_bench.harness.storage.manifest.config_of`."""

MAX_RESULTS = 10_000_000
"""Tasks times trials of an arm; what is beyond it is a mistake, and would be filled into arrays."""
_MAX_DEPTH = 50
"""Mappings and lists in one another."""


def read_manifest(path: Path) -> dict[str, Any]:
    """Return `run.json` of a run directory, unchecked but for its version.

    Raises:
        UsageError: there is none, it is not readable, or a newer version of the harness wrote it.
    """
    try:
        manifest: dict[str, Any] = json.loads((path / "run.json").read_text(encoding="utf-8"))
        version = manifest["schema_version"]
    except FileNotFoundError:
        raise UsageError(
            f"{path}: no run directory (it has no run.json); `reflex list` shows the runs"
        ) from None
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        raise UsageError(f"{path}/run.json: not readable as the description of a run") from None
    if version not in range(1, SCHEMA_VERSION + 1):
        raise UsageError(f"{path}: has format {version}, this version of reflex reads 1 to {SCHEMA_VERSION}")
    return manifest


def read_info(directory: Path) -> dict[str, Any]:
    """Return `run.json` of a run directory, with everything that its readers rely on.

    Raises:
        UsageError: no run is there, its schema is unknown, or a value is missing or impossible.
    """
    file = directory / "run.json"
    try:
        info: dict[str, Any] = _whole(read_manifest(directory), 0)
    except RecursionError:
        raise UsageError(f"{file}: nested too deep to be the description of a run") from None
    arms, split, environment = info.get("arms"), info.get("split"), info.get("environment", {})
    if not isinstance(arms, dict) or not arms or not all(isinstance(each, dict) for each in arms.values()):
        raise UsageError(f"{file}: 'arms' must map the name of every arm to its settings")
    own = {f"arms.{name}.trials": each["trials"] for name, each in arms.items() if each.get("trials")}
    trials = {"trials": info.get("trials"), **own}
    _check_count(file, trials, MAX_TRIALS)
    _check_count(file, {"split.tasks": as_mapping(split).get("tasks")}, MAX_RESULTS // max(trials.values()))
    mappings = {"split": split, "environment": environment}
    mappings["environment.settings"] = as_mapping(environment).get("settings") or {}
    for name, value in mappings.items():
        if not isinstance(value, dict):
            raise UsageError(f"{file}: {name!r} must be an object")
    for name in ("notes", "task_ids"):
        if not _is_list(as_mapping(split).get(name), lambda each: isinstance(each, str)):
            raise UsageError(f"{file}: 'split.{name}' must be a list of texts")
    if not _is_list(
        info.get("contamination"), lambda each: "task" in as_mapping(each) and _is_list(each.get("arms"))
    ):
        raise UsageError(f"{file}: 'contamination' must be a list of objects that name a task")
    if not _is_list(info.get("resumed"), lambda each: isinstance(as_mapping(each).get("changes"), dict)):
        raise UsageError(f"{file}: 'resumed' must be a list of objects that say what changed")
    return {"run_id": directory.resolve().name, **info}


def _is_list(value: Any, holds: Callable[[Any], bool] = lambda each: True) -> bool:
    return value is None or (isinstance(value, list) and all(map(holds, value)))


def _check_count(file: Path, counts: Mapping[str, Any], most: int) -> None:
    for name, value in counts.items():
        shown = f"a {type(value).__name__}" if isinstance(value, dict | list) else repr(value)[:100]
        if type(value) is not int or value < 1:
            raise UsageError(f"{file}: {name!r} must be a whole number from 1, not {shown}")
        if value > most:
            raise UsageError(f"{file}: {name!r} must be at most {most}, not {shown}")


def _whole(value: Any, depth: int) -> Any:
    """Return a JSON value with half surrogate pairs replaced: nothing can print them, and no data frame takes them."""
    if depth > _MAX_DEPTH:
        raise RecursionError
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_whole(key, depth): _whole(each, depth + 1) for key, each in value.items()}
    return [_whole(each, depth + 1) for each in value] if isinstance(value, list) else value


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return a value of `run.json` that should be an object; an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}
