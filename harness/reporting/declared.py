"""What an environment declares of itself, as `run.json` holds it: metrics and success rule.

A reader of the run then needs nothing of the environment, whose package may be gone.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Environment
from reflex_bench.envs.declarations import HasSuccessRules, Measures
from reflex_bench.envs.metrics import REWARD, Metric
from reflex_bench.harness.reporting import earlier_runs

if TYPE_CHECKING:
    from reflex_bench.harness.storage.run_data import Run

RESERVED = frozenset(
    (
        *("arm", "tasks", "trials", "solved", "unknown", "errors", "share", "low", "high", "rate", "only"),
        *("repeated_share", "trials_run", "retries", "repeated_retries", "steps_per_trial", "steps_per_win"),
        *("wins_verified", "invalid_rate", "unparsed_rate", "repairs", "reflections", "reflections_written"),
        *("calls", "reasoning_share", "reasoning_estimated", "asked_again", "cut_off", "lost_calls"),
        *("steps", "tokens", "cost", "prompt_tokens", "completion_tokens", "cached_tokens", "curve"),
    )
)
"""Columns of tables, and kinds of pictures, that no metric may take the place of; nor may one be named as a setting."""

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_MAX_METRICS = 100


def declared(environment: Environment) -> dict[str, Any]:
    """Return what `run.json` says of an environment.

    Raises:
        UsageError: a metric is none, or two have one key.
    """
    made: dict[str, Any] = {
        "name": environment.name,
        "feedback": environment.feedback,
        "settings": dict(environment.settings()),
        **{name: told for name in ("title", "task_name") if (told := getattr(environment, name, ""))},
        **({"pinned": list(pinned)} if (pinned := getattr(environment, "pinned", ())) else {}),
        "metrics": [dataclasses.asdict(metric) for metric in metrics(environment)],
    }
    if isinstance(environment, HasSuccessRules):
        rule = environment.success_rule()
        made["success_rule"] = {"name": rule.name, "label": rule.label}
    return made


def metrics(environment: Environment) -> tuple[Metric, ...]:
    """Return the metrics that an environment declares; the reward where it declares none.

    Raises:
        UsageError: a metric is none, or two have one key.
    """
    if not isinstance(environment, Measures):
        return (REWARD,)
    where, given = f"environment {environment.name!r}", tuple(environment.metrics())
    for metric in given:
        if not isinstance(metric, Metric):
            raise UsageError(f"{where}: a Metric is wanted, not {metric!r:.100}")
    return _checked([dataclasses.asdict(metric) for metric in given], where)


def metrics_of(run: Run) -> tuple[Metric, ...]:
    """Return the metrics of a run that some trial of it has a number for.

    Raises:
        UsageError: what `run.json` says of metrics is none.
    """
    if not declares(run):
        return earlier_runs.metrics(run.trials.columns)
    found = _checked(run.environment["metrics"], f"{run.path / 'run.json'}: 'environment.metrics'")
    return tuple(metric for metric in found if metric.value in run.trials)


def declares(run: Run) -> bool:
    """Whether the run itself says what was measured; one of an earlier version does not."""
    return run.environment.get("metrics") is not None


def pinned_settings(environment: Mapping[str, Any], name: str) -> list[str]:
    """Return the settings that a resumed run is given as options.

    Args:
        environment: what `run.json` says of it.
        name: of the environment, for a run that does not say.
    """
    pinned = environment.get("pinned")
    if "metrics" not in environment:
        return list(earlier_runs.pinned_settings(name))
    return [each for each in pinned if isinstance(each, str)] if isinstance(pinned, list) else []


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


@cache
def _adapter() -> TypeAdapter[list[Metric]]:
    return TypeAdapter(list[Metric])


def _checked(given: Any, where: str) -> tuple[Metric, ...]:
    try:
        found = _adapter().validate_python(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"{where}: {place}: {first['msg'].lower()}") from None
    if len(found) > _MAX_METRICS:
        raise UsageError(f"{where}: {len(found)} metrics; at most {_MAX_METRICS} can be shown")
    from reflex_bench.harness.reporting.row_settings import SETTINGS  # which has the success rule from here

    keys, reserved = [metric.key for metric in found], RESERVED | {name for name, _ in SETTINGS}
    for metric in found:
        if not _KEY.fullmatch(metric.key):
            raise UsageError(
                f"{where}: the key {metric.key!r:.80} must be of letters, digits and underscores"
            )
        if metric.key in reserved or keys.count(metric.key) > 1:
            why = "is a column of every table" if metric.key in reserved else "is there twice"
            raise UsageError(f"{where}: the key {metric.key!r} {why}; choose another")
        if metric.aggregate == "ratio" and not metric.per:
            raise UsageError(
                f"{where}: the metric {metric.key!r} is a ratio; say what it is divided by (per)"
            )
    return tuple(found)
