"""`run.json` of this version and of older ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflex_bench.harness.planning.plan import make_plan
from reflex_bench.harness.planning.resolving import checked
from reflex_bench.harness.storage.manifest import config_of
from reflex_bench.harness.storage.run_info import read_manifest

SAMPLE = Path(__file__).parents[2] / "results" / "sample"


def test_a_run_of_the_first_format_still_has_the_tasks_that_it_began_with() -> None:
    # Three tasks, chosen before samples were stratified.
    manifest = read_manifest(SAMPLE)
    assert manifest["schema_version"] == 1
    plan = make_plan(checked(config_of(manifest)))
    try:
        assert [task.id for task in plan.split.tasks] == manifest["split"]["task_ids"]
        assert plan.split.fingerprint == manifest["split"]["fingerprint"]
    finally:
        plan.close()


@pytest.mark.parametrize(
    ("version", "options", "expected"),
    [
        (1, {"name": "hotpotqa"}, {"name": "hotpotqa", "sampling": "legacy"}),
        (1, {"name": "alfworld", "sampling": "first"}, {"name": "alfworld", "sampling": "first"}),
        (1, {"name": "chores"}, {"name": "chores"}),
        (2, {"name": "hotpotqa"}, {"name": "hotpotqa"}),
    ],
)
def test_only_the_first_format_has_its_own_defaults_and_only_where_nothing_was_said(
    version: int, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    manifest = {"schema_version": version, "config": {"environment": options, "trials": 2}}
    assert config_of(manifest) == {"environment": expected, "trials": 2}


@pytest.mark.parametrize("version", [1, 2])
def test_a_run_keeps_the_generator_that_it_began_with(version: int) -> None:
    manifest = {
        "schema_version": version,
        "config": {"environment": {"name": "alfworld", "sampling": "first"}},
        "environment": {"name": "alfworld", "settings": {"engine": "native", "generator": 1}},
    }
    options = config_of(manifest)["environment"]
    assert options == {"name": "alfworld", "sampling": "first", "generator": 1}
