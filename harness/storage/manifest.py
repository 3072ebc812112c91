"""Manifest of a run (`run.json`): what was run, with what, so that somebody else can run it again."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import reflex_bench.harness
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Task
from reflex_bench.harness.parts.environment_info import declared
from reflex_bench.harness.planning.plan import Plan
from reflex_bench.harness.planning.prompt_hash import is_comparable
from reflex_bench.harness.planning.roles import RoleConfig
from reflex_bench.harness.storage import earlier_runs
from reflex_bench.harness.storage.journal import Taken
from reflex_bench.harness.storage.run_info import SCHEMA_VERSION

PACKAGES = ("reflex-bench", "alfworld", "textworld", "openai", "datasets", "bm25s", "pandas")
"""Packages whose versions can bear on a result."""

OF_THE_OFFICIAL_ENGINE = ("alfworld", "textworld")
"""Those of `PACKAGES` that only ALFWorld's own engine needs; it is optional."""


def describe(plan: Plan, run_id: str, command: Sequence[str]) -> dict[str, Any]:
    """Return the manifest of a run that is about to begin.

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
        "environment": declared(plan.environment),
        "split": {
            "name": plan.split.name,
            "fingerprint": plan.split.fingerprint,
            "tasks": len(plan.split.tasks),
            "task_ids": [task.id for task in plan.split.tasks],
            "notes": list(plan.split.notes),
            **of_tasks(plan.split.tasks, getattr(plan.environment, "cluster_name", "")),
        },
        "trials": plan.trials,
        "seed": plan.config.seed,
        "share_first_trial": plan.config.share_first_trial,
        "arms": {arm.name: dict(arm.settings) for arm in plan.arms},
        "models": {name: dict(model.settings()) for name, model in plan.models.items()},
        "config": plan.config.model_dump(),
    }


def of_tasks(tasks: Iterable[Task], cluster_name: str) -> dict[str, Any]:
    """Return what tables must know of tasks beside their ids: type and cluster, so that they need no environment.

    Args:
        tasks: of the split.
        cluster_name: what the tasks of a cluster share, e.g. `room`.
    """
    clusters = {task.id: task.cluster for task in tasks if task.cluster is not None}
    made: dict[str, Any] = {"types": {task.id: task.type for task in tasks}}
    return made | ({"cluster_name": cluster_name or "cluster", "clusters": clusters} if clusters else {})


def learned(
    plan: Plan,
    manifest: Mapping[str, Any],
    overlaps: Iterable[Mapping[str, Any]],
    engines: Mapping[str, int],
    taken: Taken,
) -> dict[str, Any]:
    """Return what is only known at the end of a run, on top of what an earlier process knew.

    That a server refused a parameter; which tasks stand in the prompts' examples; by which engine the trials were
    played, where an environment has several; how many attempts at calls timed out.

    Args:
        plan: what was run.
        manifest: `run.json` as it stands.
        overlaps: tasks of this process that stand in the prompts' examples, each as an object of `contamination`.
        engines: by the name of the engine, how many of the trials on record it played.
        taken: what the calls took.
    """
    known = list(manifest.get("contamination", ()))
    shown = [dict(each) for each in overlaps if each not in known]
    then = manifest.get("models") or {}
    return {
        "models": {
            name: _with_changes(dict(model.settings()), then.get(name)) for name, model in plan.models.items()
        },
        "contamination": known + shown,
        "environment": {
            **manifest["environment"],
            **({"engines": dict(sorted(engines.items()))} if engines else {}),
        },
        **({"timeouts": {"attempts": taken.timeouts, "prompt_tokens": taken.lost}} if taken.timeouts else {}),
    }


def _with_changes(settings: dict[str, Any], earlier: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a model's settings, with the parameters that its endpoint had refused before.

    Most replies may be from that time.
    """
    before = (earlier or {}).get("changed_parameters") or {}
    if not before:
        return settings
    return settings | {"changed_parameters": {**before, **(settings.get("changed_parameters") or {})}}


def config_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration of a run, with the defaults of its format and the settings that made its tasks.

    Args:
        manifest: content of a `run.json`.
    """
    config = dict(manifest["config"])
    options = config.get("environment")
    if manifest.get("schema_version") == 1 and isinstance(options, dict):
        options = config["environment"] = {
            **earlier_runs.default_options(str(options.get("name"))),
            **options,
        }
    environment = manifest.get("environment") or {}
    settings = environment.get("settings") or {}
    if isinstance(options, dict):
        # A later version of reflex may have another default; a run keeps the tasks that it began with.
        pinned = _pinned_settings(environment, str(options.get("name")))
        config["environment"] = {name: settings[name] for name in pinned if name in settings} | options
    return config


def _pinned_settings(environment: Mapping[str, Any], name: str) -> list[str]:
    """Return the settings that a resumed run is given as options.

    Args:
        environment: what `run.json` says of it.
        name: of the environment, for a run that does not say.
    """
    pinned = environment.get("pinned")
    if "metrics" not in environment:
        return list(earlier_runs.pinned_settings(name))
    return [each for each in pinned if isinstance(each, str)] if isinstance(pinned, list) else []


_LATER = {
    f"{role}{name}"
    for role in ("", "evaluator_", "step_evaluator_", "reflector_")
    for name in RoleConfig.model_fields
}
_LATER |= {"headers", "query"}
"""Settings that an arm has only where they are not at their defaults."""


def recall(plan: Plan, manifest: Mapping[str, Any]) -> None:
    """Tells models what an earlier process of the run learned of their endpoints, so that it is not refused again."""
    told = manifest.get("models")
    for name, model in plan.models.items():
        settings = told.get(name) if isinstance(told, Mapping) else None
        take = getattr(model, "recall", None)
        if take is not None and isinstance(settings, Mapping):
            take(settings)


def resumed(
    manifest: Mapping[str, Any], changes: Mapping[str, Any], versions: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return when the run was resumed with other settings or versions, and with which; with this time at the end."""
    told = {"time": now(), "changes": changes} | ({"versions": versions} if versions else {})
    return [*manifest.get("resumed", ()), told]


def other_versions(manifest: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return the packages whose version is another than when the run last went on: by name, the one then and now."""
    then: dict[str, Any] = {}
    for each in (manifest.get("packages"), *(each.get("versions") for each in manifest.get("resumed") or ())):
        then |= each if isinstance(each, Mapping) else {}
    both = {name: (then.get(name), package_version(name)) for name in PACKAGES}
    return {name: (old, new) for name, (old, new) in both.items() if old and new and old != new}


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
        then = earlier_runs.settings_as_today(manifest["arms"][arm.name])
        changed = sorted(
            key
            for key in {*arm.settings, *_LATER & then.keys()}
            if then.get(key) != arm.settings.get(key) and key != "settings_hash"
        )
        if changed:
            raise UsageError(
                f"arm {arm.name!r}: {', '.join(changed)} changed since this run began; start a new run"
            )


def with_recorded_prompts(plan: Plan, manifest: Mapping[str, Any]) -> tuple[Plan, list[str]]:
    """Return the plan of a run that goes on, with the prompt hashes that its trials are known by, and what to tell.

    Hashes of an earlier version cannot be made again (`reflex_bench.harness.planning.prompt_hash.SCHEME`), so they are
    taken over: with them, the run finds its recorded trials and calls.

    Args:
        plan: as made from the configuration of the run.
        manifest: content of its `run.json`.
    """
    arms, told = [], False
    for arm in plan.arms:
        then = manifest["arms"].get(arm.name, {}).get("prompt_hash")
        if then is not None and not is_comparable(then, arm.settings["prompt_hash"]):
            settings = {**arm.settings, "prompt_hash": then}
            arm, told = replace(arm, settings=settings), True
        arms.append(arm)
    if not told:
        return plan, []
    note = (
        f"the run was begun with reflex {manifest.get('reflex_version')}, which hashed prompts in another way: whether "
        "they are still the same could not be checked"
    )
    return replace(plan, arms=tuple(arms)), [note]


def now() -> str:
    """Return the time, in UTC, to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def package_version(name: str) -> str | None:
    """Return the installed version of a distribution; None where it is not installed."""
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
