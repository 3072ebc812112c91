"""Defaults for runs of earlier versions, and imported ones, which do not describe their environment.

Today `run.json` holds what an environment declares. Where it does not, what those versions knew of the environments of
this package stands here, so that such a run reads as it did. Nothing here applies to a run that says it itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from reflex_bench.envs.alfworld.metrics import PATH_EFFICIENCY
from reflex_bench.envs.hotpotqa.metrics import EM, F1, GOLD_PAGES
from reflex_bench.envs.metrics import Metric

_DEFAULTS: Mapping[str, dict[str, Any]] = {
    "alfworld": {"sampling": "legacy"},
    "hotpotqa": {"sampling": "legacy"},
}
"""Options of the environments whose default was another one in version 1 of the run format."""

_PINNED: Mapping[str, tuple[str, ...]] = {"alfworld": ("generator",)}
"""Settings of the environments that a resumed run is given as options."""


def metrics(columns: Collection[str]) -> tuple[Metric, ...]:
    """Return the metrics of a run that names none.

    Args:
        columns: of its trials (`reflex_bench.harness.storage.trials.read_trials`).
    """
    scores: tuple[Metric, ...] = (EM,) if EM.value in columns else ()
    if F1.value in columns:
        scores += (F1, GOLD_PAGES)
    # Every table had a column for it.
    return (*scores, PATH_EFFICIENCY)


def rule_in_words(rule: str) -> str:
    """Return what a success rule asks for, in a run that has its name alone."""
    if rule == "em":
        return "its answer matches the gold answer exactly (EM)"
    if rule == "contains":
        return "its answer contains the gold answer (contains)"
    return (
        f"the F1 of its answer is at least {rule[4:]}"
        if rule.startswith("f1>=")
        else f"the rule {rule} holds"
    )


def title(name: str) -> str:
    """Return what an environment was called in the title of the scores."""
    return "HotPotQA" if name == "hotpotqa" else name


TASK_NAME = "question"
"""What a task was called beside scores."""


def default_options(name: str) -> Mapping[str, Any]:
    """Return the options of an environment whose default was another one in version 1 of the run format."""
    return _DEFAULTS.get(name, {})


def pinned_settings(name: str) -> tuple[str, ...]:
    """Return the settings of an environment that a resumed run of it is given as options."""
    return _PINNED.get(name, ())


def settings_as_today(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an arm's settings as a run of today would record them.

    TextWorld's version bears on its own engine alone; it once stood in the settings of the other one, too.
    """
    environment = settings.get("environment")
    if not isinstance(environment, Mapping) or environment.get("engine") != "native":
        return settings
    return {
        **settings,
        "environment": {key: value for key, value in environment.items() if key != "textworld"},
    }
