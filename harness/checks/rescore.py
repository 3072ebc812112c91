"""Scores a recorded run again by another rule, without a model call: `reflex rescore`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.declarations import HasSuccessRules, SuccessRule
from reflex_bench.harness.planning.arms import fingerprint
from reflex_bench.harness.planning.opening import open_environment
from reflex_bench.harness.storage.records import brief
from reflex_bench.harness.storage.recovery import key_of, recover
from reflex_bench.harness.storage.run_data import read_run
from reflex_bench.harness.storage.run_info import read_info
from reflex_bench.harness.storage.trials import checked_lines, recorded
from reflex_bench.harness.storage.whole_files import write_json, write_lines


def rescore(run: Path, success: str) -> Path:
    """Writes the run as it would stand under another success rule, into a directory beside it, and returns that.

    A chain ends where the new rule sees its first success. Where the old rule saw one and the new rule does not, the
    trials that would have followed were never run: the tables show them as not recorded.

    Args:
        run: of an environment that can decide success in several ways.
        success: name of the rule, e.g. `contains`.

    Raises:
        UsageError: the run's environment has no choice of rules, this rule does not exist, a result does not say
            whether it is solved, or the directory is taken.
    """
    manifest = read_info(run)
    rule = _rule(run, str(manifest.get("environment", {}).get("name")), success)
    target = run.parent / f"{run.name}-{''.join(mark if mark.isalnum() else '-' for mark in rule.name)}"
    if target.exists():
        raise UsageError(f"{target}: is there already")
    recover(run, manifest)
    # Whole or not at all: what cannot be finished, or would not read, never bears the name of a run.
    made = target.with_name(f".{target.name}.tmp")
    shutil.rmtree(made, ignore_errors=True)
    try:
        _write(run, manifest, rule, made, target.name)
        read_run(made)
        made.rename(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return target


def _write(run: Path, manifest: Mapping[str, Any], rule: SuccessRule, made: Path, name: str) -> None:
    index: list[dict[str, Any]] = []
    seconds = {key_of(row): row.get("seconds") for row in checked_lines(run / "trials.jsonl")}
    by_trial = sorted((run / "trajectories").glob("*.jsonl"), key=_trial_of)
    # A sample is taken whatever became of the others.
    independent = {arm for arm, settings in manifest["arms"].items() if settings.get("independent")}
    ended: set[tuple[str, str]] = set()
    for path in by_trial:
        rows = list(_rescored(path, rule, ended, independent))
        if rows:
            write_lines(made / "trajectories" / path.name, rows)
        index += [{**brief(row), "seconds": seconds.get(key_of(row))} for row in rows]
    write_lines(made / "trials.jsonl", sorted(index, key=key_of))
    write_json(made / "run.json", _described(manifest, name, rule))


def _rule(run: Path, name: str, success: str) -> SuccessRule:
    with closing(open_environment({"name": name})) as environment:
        if not isinstance(environment, HasSuccessRules):
            raise UsageError(
                f"{run}: {name} has no choice of success rules; its trials cannot be scored again"
            )
        return environment.success_rule(success)


def _trial_of(path: Path) -> int:
    """Return the number in a name such as `react.trial-2.jsonl`; 0 where there is none."""
    number = re.search(r"-(\d{1,9})$", path.stem)
    return int(number[1]) if number else 0


def _rescored(
    path: Path, rule: SuccessRule, ended: set[tuple[str, str]], independent: Collection[str]
) -> Iterator[dict[str, Any]]:
    for row in recorded(path):
        chain = (row["arm"], row["task"])
        if chain in ended:
            continue
        if row["outcome"] != "error":
            try:
                won = rule.is_solved(row["result"])
            except ValueError as missing:
                raise UsageError(f"{path}: a trial of {row['task']} {missing}") from None
            if won:
                row["outcome"] = "success"
                ended |= {chain} if row["arm"] not in independent else set()
            elif row["outcome"] == "success":
                row["outcome"] = "failure"
            row["success"] = row["passed"] = won
        yield row


def _described(manifest: Mapping[str, Any], run_id: str, rule: SuccessRule) -> dict[str, Any]:
    arms = {}
    for name, settings in manifest["arms"].items():
        own = settings.get("environment")
        changed = {
            **settings,
            "environment": {**(own if isinstance(own, dict) else {}), "success": rule.name},
        }
        changed.pop("settings_hash", None)
        arms[name] = {**changed, "settings_hash": fingerprint(changed)}
    environment = manifest["environment"]
    settings = {**(environment.get("settings") or {}), "success": rule.name}
    return {
        **manifest,
        "run_id": run_id,
        "rescored_from": manifest["run_id"],
        "environment": {
            **environment,
            "settings": settings,
            "success_rule": {"name": rule.name, "label": rule.label},
        },
        "arms": arms,
    }
