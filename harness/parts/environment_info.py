"""Declarations of an environment, checked, and as `run.json` holds them: metrics and success rule.

A reader of the run then needs nothing of the environment, whose package may be gone.
"""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Environment
from reflex_bench.envs.declarations import HasSuccessRules, Measures
from reflex_bench.envs.metrics import REWARD, Metric
from reflex_bench.harness.parts.row_names import RESERVED, SETTINGS

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
    return checked_metrics([dataclasses.asdict(metric) for metric in given], where)


@cache
def _adapter() -> TypeAdapter[list[Metric]]:
    return TypeAdapter(list[Metric])


def checked_metrics(given: Any, where: str) -> tuple[Metric, ...]:
    """Return metrics that an environment, or `run.json`, gives as mappings.

    Args:
        given: the mappings; from a file, anything.
        where: names the place in a message.

    Raises:
        UsageError: one is no metric, has a key that is taken, or lacks what its kind needs.
    """
    try:
        found = _adapter().validate_python(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"{where}: {place}: {first['msg'].lower()}") from None
    if len(found) > _MAX_METRICS:
        raise UsageError(f"{where}: {len(found)} metrics; at most {_MAX_METRICS} can be shown")
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


def without_feedback(environment: Environment) -> Environment:
    """Return the environment as `Environment.without_feedback` makes it.

    Environments of other packages may still have the method under its first name, `untold`.
    """
    method = getattr(environment, "without_feedback", None) or getattr(environment, "untold", None)
    if method is None:
        raise UsageError(
            f"environment {environment.name!r} has no method without_feedback, which an evaluator needs"
        )
    made: Environment = method()
    return made
