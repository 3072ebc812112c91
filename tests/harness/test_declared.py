"""What an environment declares: checked before a run begins, and kept for readers that have no environment."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from synthetic_runs import trial, two_arms, write_run

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld import environment as alfworld
from reflex_bench.envs.hotpotqa import environment as hotpotqa
from reflex_bench.envs.hotpotqa.metrics import EM, F1
from reflex_bench.envs.hotpotqa.scoring import success_rule as rule_named
from reflex_bench.envs.metrics import REWARD, Metric
from reflex_bench.harness.checks.rescore import rescore
from reflex_bench.harness.checks.verify import verify
from reflex_bench.harness.parts.doors import check_split
from reflex_bench.harness.parts.environment_info import declared, metrics
from reflex_bench.harness.reporting.compare import compare
from reflex_bench.harness.reporting.declared import metrics_of, rule_in_words, success_rule
from reflex_bench.harness.reporting.measures import pass_at_k
from reflex_bench.harness.reporting.metric_values import measure, resamples
from reflex_bench.harness.storage import earlier_runs
from reflex_bench.harness.storage.manifest import config_of
from reflex_bench.harness.storage.run_data import Run, read_run

SAMPLE = Path(__file__).parents[2] / "results" / "sample"


class Declaring:
    """Stands for an environment of another package as far as its declarations go."""

    name = "declaring"

    def __init__(self, *given: Any) -> None:
        self.given = given

    def metrics(self) -> tuple[Any, ...]:
        return self.given


def recorded(path: Path, results: list[dict[str, Any]], *given: Metric, **changes: Any) -> Run:
    """A run of one arm with one failed trial for each result, that declares these metrics."""
    environment = {"name": "other", "feedback": "environment", "settings": {}}
    rows = [trial("react", f"t{n}", 1, result=result, **changes) for n, result in enumerate(results)]
    environment["metrics"] = [asdict(metric) for metric in given]
    return read_run(
        write_run(path / "run", rows, arms={"react": {}}, tasks=len(rows), trials=1, environment=environment)
    )


def test_no_metric_may_take_the_place_of_another_column_of_the_main_table() -> None:
    columns = {str(name) for name in pass_at_k(read_run(SAMPLE))}
    free = {name for name in columns if name.isidentifier()} - {"path_efficiency"}
    assert {"agent", "cost", "seed", "calls"} <= free
    for name in free:
        with pytest.raises(UsageError, match="is a column of every table"):
            metrics(Declaring(replace(F1, key=name)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (("em",), "a Metric is wanted, not 'em'"),
        ((F1, replace(EM, key="f1")), "'f1' is there twice"),
        ((replace(F1, key="cost"),), "'cost' is a column of every table"),
        ((replace(F1, key="f1@3"),), "letters, digits and underscores"),
        ((replace(F1, better="more"),), "'higher' or 'lower'"),  # type: ignore[arg-type]
        ((replace(F1, aggregate="ratio"),), "say what it is divided by"),
        (tuple(replace(F1, key=f"f{n}") for n in range(101)), "at most 100"),
    ],
)
def test_a_metric_that_cannot_be_shown_is_refused_before_the_run(
    given: tuple[Any, ...], complaint: str
) -> None:
    from reflex_bench.envs.base import Split

    with pytest.raises(UsageError, match=complaint) as raised:
        check_split(Split("all", ()), Declaring(*given))  # type: ignore[arg-type]
    assert "environment 'declaring'" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_our_environments_record_what_their_tables_need() -> None:
    questions = declared(hotpotqa.create({"success": "f1>=0.5"}))
    assert questions["success_rule"] == {"name": "f1>=0.5", "label": "the F1 of its answer is at least 0.5"}
    assert [each["key"] for each in questions["metrics"]] == ["em", "f1", "gold_pages"]
    games = declared(alfworld.create({}))
    assert [each["key"] for each in games["metrics"]] == ["path_efficiency"]
    assert (games["pinned"], "success_rule" in games) == (["generator"], False)


def test_an_environment_that_declares_nothing_has_the_reward_where_a_trial_has_one(tmp_path: Path) -> None:
    assert metrics(object()) == (REWARD,)  # type: ignore[arg-type]
    assert "reward" not in pass_at_k(recorded(tmp_path / "a", [{"x": 1}], REWARD))
    assert pass_at_k(recorded(tmp_path / "b", [{"reward": 1}, {"reward": 2}], REWARD))["reward"][0] == 1.5


@pytest.mark.parametrize("name", ["em", "contains", "f1>=0.5"])
def test_a_run_that_has_the_name_of_its_rule_alone_is_told_the_same_words(tmp_path: Path, name: str) -> None:
    label = rule_named(name).label
    settings = {"name": "hotpotqa", "feedback": "oracle", "settings": {"success": name}}
    for kind, more in (("old", {}), ("new", {"success_rule": {"name": name, "label": label}, "metrics": []})):
        run = read_run(two_arms(tmp_path / kind, environment=settings | more))
        assert (success_rule(run), rule_in_words(run)) == (name, label)


def test_a_run_of_an_earlier_version_has_the_metrics_that_its_tables_had() -> None:
    run = read_run(SAMPLE)
    assert "metrics" not in run.environment
    assert [metric.key for metric in metrics_of(run)] == ["path_efficiency"]
    assert [metric.key for metric in earlier_runs.metrics(["result.em", "result.f1"])] == [
        "em",
        "f1",
        "gold_pages",
        "path_efficiency",
    ]
    assert compare(run).pairs[0].metrics == ()


def test_a_resumed_run_keeps_the_settings_that_made_its_tasks() -> None:
    config = {"config": {"environment": {"name": "alfworld"}}, "schema_version": 3}
    settings = {"generator": 1, "engine": "native"}
    old = config_of({**config, "environment": {"name": "alfworld", "settings": settings}})
    assert old["environment"] == {"generator": 1, "name": "alfworld"}
    told = {"settings": settings, "metrics": [], "pinned": ["engine"]}
    new = config_of({**config, "config": {"environment": {"name": "other"}}, "environment": told})
    assert new["environment"] == {"engine": "native", "name": "other"}
    untold = {"settings": settings, "metrics": []}
    assert config_of({**config, "environment": untold})["environment"] == {"name": "alfworld"}


def test_a_trial_without_the_number_is_left_out_or_counts_what_is_declared(tmp_path: Path) -> None:
    results = [{"f1": 1.0}, {"f1": None}, {"f1": 0.5}]
    counted = recorded(tmp_path / "a", results, replace(F1, missing=0.0))
    left_out = recorded(tmp_path / "b", results, replace(F1, missing=None))
    assert measure(counted, "react", metrics_of(counted)[0]).value == 0.5
    assert measure(left_out, "react", metrics_of(left_out)[0]).value == 0.75
    assert measure(left_out, "react", metrics_of(left_out)[0]).tasks == 2


def test_a_ratio_is_of_sums_and_a_mean_is_of_the_trials_own(tmp_path: Path) -> None:
    results = [{"open": 1, "all": 1}, {"open": 0, "all": 3}]
    ratio = Metric(
        key="opened", label="x", definition="x", value="result.open", per="result.all", aggregate="ratio"
    )
    run = recorded(tmp_path, results, ratio, replace(ratio, key="each", aggregate="mean"))
    assert [measure(run, "react", metric).value for metric in metrics_of(run)] == [0.25, 0.5]


def test_what_an_environment_cannot_do_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="alfworld has no choice of success rules"):
        rescore(SAMPLE, "contains")
    run = tmp_path / "run"
    shutil.copytree(SAMPLE, run)
    info = json.loads((run / "run.json").read_text(encoding="utf-8"))
    info["config"]["environment"] = {"name": "hotpotqa"}
    (run / "run.json").write_text(json.dumps(info), encoding="utf-8")
    with pytest.raises(UsageError, match="hotpotqa has no other implementation to verify against"):
        verify(run, None, lambda done, of: None)


def test_what_is_drawn_for_an_interval_does_not_grow_with_the_run() -> None:
    assert [resamples(kinds) for kinds in (0, 2, 500, 1000, 5000, 100_000)] == [
        *(10_000, 10_000, 10_000),
        *(5_000, 1_000, 1_000),
    ]
