"""The settings that stand on an arm's row, as they took effect: with what an endpoint changed or left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflex_bench.harness.reporting.declared import success_rule
from reflex_bench.harness.storage.run_data import Run

LEFT_OUT = "left out"
_ROLES = ("", "evaluator_", "step_evaluator_", "reflector_")


def effective_settings(run: Run, arm: str) -> dict[str, Any]:
    """Return an arm's settings as its models were really asked.

    A parameter that an endpoint refused stands as `left out`, with the value that was meant. `changed_parameters` says
    in words what was changed, and is absent where nothing was; `success_rule` is the environment's.
    """
    settings = dict(run.settings(arm))
    told: dict[str, str] = {}
    for role in _ROLES:
        model = settings.get(f"{role}model")
        for name, became in changed_parameters(run, model).items():
            value = settings.get(role + name)
            if became == LEFT_OUT and value is not None:
                settings[role + name] = f"{LEFT_OUT} (not {value})"
            told[change_in_words(name, became)] = str(model)
    if told:
        several = len({settings.get(f"{role}model") for role in _ROLES} - {None}) > 1
        settings["changed_parameters"] = "; ".join(
            f"{change} ({model})" if several else change for change, model in told.items()
        )
    rule = success_rule(run)
    return settings | ({"success_rule": rule} if rule else {})


def change_in_words(name: str, became: str) -> str:
    """Return what became of a parameter: `stop left out`, `max_tokens sent as max_completion_tokens`."""
    return f"{name} {became}" if " " in became else f"{name} sent as {became}"


def changed_parameters(run: Run, model: object) -> Mapping[str, str]:
    """Return what the endpoint of a model did not take: parameter -> `left out`, or the name it was sent under."""
    models = run.info.get("models")
    described = models.get(model) if isinstance(models, Mapping) and isinstance(model, str) else None
    changed = described.get("changed_parameters") if isinstance(described, Mapping) else None
    return (
        {str(name): str(became) for name, became in changed.items()} if isinstance(changed, Mapping) else {}
    )
