"""`run.json`: what was run, with what, so that somebody else can run it again."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import reflex_bench.harness
from reflex_bench.harness.errors import UsageError
from reflex_bench.harness.plan import Plan
from reflex_bench.harness.progress import Ended
from reflex_bench.harness.store import SCHEMA_VERSION

PACKAGES = ("reflex-bench", "alfworld", "textworld", "openai", "datasets", "bm25s", "pandas")
"""Packages whose versions can bear on a result."""

_OLD_DEFAULTS: Mapping[str, dict[str, Any]] = {
    "alfworld": {"sampling": "legacy"},
    "hotpotqa": {"sampling": "legacy"},
}
"""Options of the environments whose default was another one in version 1 of the run format."""


def describe(plan: Plan, run_id: str, command: Sequence[str]) -> dict[str, Any]:
    """The manifest of a run that is about to begin.

    Args:
        plan: what will be run.
        run_id: the name of its directory.
        command: the command line, as typed.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": run_id,
        "status": "running",
        "command": list(command),
        "created": now(),
        "reflex_version": package_version("reflex-bench"),
        "git": git_state(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: package_version(name) for name in PACKAGES},
        "simulated": plan.simulated,
        "environment": {
            "name": plan.environment.name,
            "feedback": plan.environment.feedback,
            "settings": dict(plan.environment.settings()),
        },
        "split": {
            "name": plan.split.name,
            "fingerprint": plan.split.fingerprint,
            "tasks": len(plan.split.tasks),
            "task_ids": [task.id for task in plan.split.tasks],
            "notes": list(plan.split.notes),
        },
        "trials": plan.trials,
        "seed": plan.config.seed,
        "share_first_trial": plan.config.share_first_trial,
        "arms": {arm.name: dict(arm.settings) for arm in plan.arms},
        "models": {name: dict(model.settings()) for name, model in plan.models.items()},
        "config": plan.config.model_dump(),
    }


def learned(plan: Plan, manifest: Mapping[str, Any], ended: Ended) -> dict[str, Any]:
    """What is only known at the end of a run, on top of what an earlier process knew.

    That a server refused a parameter; which tasks stand in the prompts' examples; which tasks open alike (the same room
    and goal), named only where some do.
    """
    known = list(manifest.get("contamination", ()))
    shown = [each for each in map(asdict, ended.overlaps) if each not in known]
    clusters = {**manifest["split"].get("clusters", {}), **ended.clusters}
    alike = len(set(clusters.values())) < len(clusters)
    return {
        "models": {name: dict(model.settings()) for name, model in plan.models.items()},
        "contamination": known + shown,
        "split": {**manifest["split"], **({"clusters": clusters} if alike else {})},
    }


def config_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration of a run, with the defaults that its format had.

    Args:
        manifest: content of a `run.json`.
    """
    config = dict(manifest["config"])
    options = config.get("environment")
    if manifest.get("schema_version") == 1 and isinstance(options, dict):
        config["environment"] = _OLD_DEFAULTS.get(str(options.get("name")), {}) | options
    return config


def resumed(manifest: Mapping[str, Any], changes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """When the run was resumed with other settings, and with which; with this time at the end."""
    return [*manifest.get("resumed", ()), {"time": now(), "changes": changes}]


def check_same(plan: Plan, manifest: Mapping[str, Any]) -> None:
    """Makes sure that a plan is the one a run was begun with.

    Raises:
        UsageError: the tasks or a setting have changed since, so that going on would mix two experiments.
    """
    split = manifest["split"]
    if plan.split.fingerprint != split["fingerprint"]:
        raise UsageError(
            f"the tasks of split {split['name']!r} have changed since this run began; start a new run"
        )
    for arm in plan.arms:
        then = manifest["arms"][arm.name]
        changed = sorted(
            key for key, value in arm.settings.items() if then.get(key) != value and key != "settings_hash"
        )
        if changed:
            raise UsageError(
                f"arm {arm.name!r}: {', '.join(changed)} changed since this run began; start a new run"
            )


def now() -> str:
    """The time, in UTC, to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def package_version(name: str) -> str | None:
    """The installed version of a distribution; None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def git_state() -> Mapping[str, Any] | None:
    """Commit and whether anything was changed since, where the harness runs from a checkout; else None."""
    here = Path(reflex_bench.harness.__file__).parent

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(here), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
        return done.stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")) != here.parent:
            return None
        return {
            "commit": git("rev-parse", "HEAD"),
            "dirty": bool(git("status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.SubprocessError):
        return None
