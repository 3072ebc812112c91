"""Replays a run's trajectories in its environment's other implementation: `reflex verify`."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflex_bench.agents.react import GIVE_UP
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Environment, Split, Task
from reflex_bench.envs.declarations import Verifiable, Verifier
from reflex_bench.harness.planning.opening import open_environment
from reflex_bench.harness.storage.manifest import config_of
from reflex_bench.harness.storage.run_info import read_info
from reflex_bench.harness.storage.trials import recorded
from reflex_bench.harness.storage.whole_files import write_json

VERIFIED = "verified.json"
"""The file in a run directory that says which attempts were replayed, and what came of each."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of replaying.

    Attributes:
        attempts: trajectories replayed; one that several arms share counts once.
        steps: commands executed.
        official: of the trajectories, how many the other implementation had played itself: of these, replaying compares
            it with itself.
        differences: (trial, what differs) for each that was not identical; empty where all were.
    """

    attempts: int
    steps: int
    official: int
    differences: tuple[tuple[str, str], ...]


def verify(run: Path, sample: int | None, told: Callable[[int, int], None]) -> Verification:
    """Replay trajectories in the environment's other implementation, on all cores, and note the result in the run.

    Args:
        run: the run directory.
        sample: so many trajectories, drawn by chance but always the same; None for all.
        told: is called with (done, of how many) as it goes on.

    Raises:
        UsageError: the run's environment has no other implementation, its tasks have changed, or nothing is recorded.
    """
    manifest = read_info(run)
    options, count, seed = _configured(run, manifest)
    known, rows = read_verified(run), list(_attempts(run))
    if not rows:
        raise UsageError(f"{run}: no trajectory has been recorded yet")
    if sample is not None and sample < len(rows):
        rows = random.Random(0).sample(rows, sample)
    verifier = _verifier(run, options)
    try:
        found = dict(_replays(verifier, _split(verifier.environment, manifest, count, seed), rows, told))
    finally:
        verifier.environment.close()
    settings = dict(verifier.environment.settings())
    write_json(run / VERIFIED, {"settings": settings, "attempts": known | found})
    differences = tuple(
        (f"{row['arm']}, trial {row['trial']}, {row['task']}", found[row["attempt"]]["difference"])
        for row in rows
        if found[row["attempt"]]["difference"]
    )
    itself = sum(_engine(row, options) == verifier.engine for row in rows)
    return Verification(len(found), sum(result["steps"] for result in found.values()), itself, differences)


def _verifier(run: Path, options: Mapping[str, Any]) -> Verifier:
    environment = open_environment(options)
    try:
        if not isinstance(environment, Verifiable):
            raise UsageError(f"{run}: {environment.name} has no other implementation to verify against")
        return environment.verifier()
    finally:
        environment.close()


def _engine(row: Mapping[str, Any], options: Mapping[str, Any]) -> object:
    """Return which engine played a trial.

    Older rows do not say; then the engine asked for, which is certain of `official`.
    """
    return row["result"].get("engine", options.get("engine"))


def _configured(run: Path, manifest: Mapping[str, Any]) -> tuple[dict[str, Any], int | None, int]:
    """Options of the environment, how many tasks were asked for, and the seed."""
    config = config_of(manifest) if isinstance(manifest.get("config"), dict) else {}
    options, count, seed = config.get("environment"), config.get("tasks"), manifest.get("seed")
    if not isinstance(options, dict) or not isinstance(count, int | None) or not isinstance(seed, int):
        raise UsageError(
            f"{run}: run.json does not say how it was played; only runs made here can be replayed"
        )
    return options, count, seed


def _split(verifying: Environment, manifest: Mapping[str, Any], count: int | None, seed: int) -> Split:
    split = verifying.load(count, seed)
    if split.fingerprint != manifest["split"].get("fingerprint"):
        raise UsageError(f"the tasks of split {manifest['split'].get('name')!r} have changed since this run")
    return split


def read_verified(run: Path) -> dict[str, dict[str, Any]]:
    """Return what `verify` noted of each attempt; empty where it never ran."""
    path = run / VERIFIED
    try:
        attempts: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["attempts"]
        if all({"won", "difference"} <= found.keys() for found in attempts.values()):
            return attempts
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise UsageError(f"{path}: not what `reflex verify` writes; remove it and verify the run again")


def _attempts(run: Path) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for path in sorted((run / "trajectories").glob("*.jsonl")):
        for row in recorded(path):
            if row["outcome"] != "error" and row["attempt"] not in seen:
                seen.add(row["attempt"])
                yield row


def _replays(
    verifier: Verifier,
    split: Split,
    rows: list[dict[str, Any]],
    told: Callable[[int, int], None],
) -> Iterator[tuple[str, dict[str, Any]]]:
    tasks = {task.id: task for task in split.tasks}
    strangers = sorted({row["task"] for row in rows} - tasks.keys())
    if strangers:
        raise UsageError(f"the trajectories name the task {strangers[0]!r}, which the run does not have")
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        replayed = pool.map(lambda row: _replay(verifier, tasks[row["task"]], row), rows)
        for done, (row, result) in enumerate(zip(rows, replayed, strict=True), 1):
            yield row["attempt"], result
            told(done, len(rows))


def _replay(verifier: Verifier, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
    turns = [
        (step["action"], step["observation"])
        for step in row["trajectory"]
        if step["action"] is not None and step["action"] != GIVE_UP
    ]
    result = verifier.replay(task, row["opening"], turns, row["success"])
    return {
        "steps": result.steps,
        "won": result.won,
        "difference": str(result.difference) if result.difference else None,
    }
