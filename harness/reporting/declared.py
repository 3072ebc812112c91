"""What a run says of its environment: metrics, title, success rule; of an old run, what was meant then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.metrics import Metric
from reflex_bench.harness.parts.environment_info import checked_metrics
from reflex_bench.harness.storage import earlier_runs
from reflex_bench.harness.storage.run_data import Run


def metrics_of(run: Run) -> tuple[Metric, ...]:
    """Return the metrics of a run that some trial of it has a number for.

    Raises:
        UsageError: what `run.json` says of metrics is none.
    """
    if not declares(run):
        return earlier_runs.metrics(run.trials.columns)
    found = checked_metrics(run.environment["metrics"], f"{run.path / 'run.json'}: 'environment.metrics'")
    return tuple(metric for metric in found if metric.value in run.trials)


def declares(run: Run) -> bool:
    """Whether the run itself says what was measured; one of an earlier version does not."""
    return run.environment.get("metrics") is not None


def title_of(run: Run) -> str:
    """Return what the environment is called in the title of a table."""
    name = str(run.environment.get("name", ""))
    return str(run.environment.get("title") or name) if declares(run) else earlier_runs.title(name)


def task_name(run: Run) -> str:
    """Return what a task of the environment is called, in the singular: `question`."""
    return str(run.environment.get("task_name") or "task") if declares(run) else earlier_runs.TASK_NAME


def success_rule(run: Run) -> str | None:
    """Return the name of the environment's success rule; None where it has none to choose from."""
    rule = _rule(run).get("name") or (run.environment.get("settings") or {}).get("success")
    return rule if isinstance(rule, str) and rule else None


def rule_in_words(run: Run) -> str:
    """Return what the environment's success rule asks for, in words that follow "a task is solved when"."""
    label = _rule(run).get("label")
    return label if isinstance(label, str) and label else earlier_runs.rule_in_words(success_rule(run) or "")


def _rule(run: Run) -> Mapping[str, Any]:
    rule = run.environment.get("success_rule")
    return rule if isinstance(rule, Mapping) else {}
