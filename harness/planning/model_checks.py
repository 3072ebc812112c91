"""Whether the models of a run can play its environment, and whether what they cost is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Environment
from reflex_bench.harness.planning.config import LimitsConfig
from reflex_bench.models.base import Model, Usage

ROLES: Mapping[str, str] = {"model": "play", "reflector_model": "reflect on"}
"""Settings of an arm that name a model which must know the environment's conversations, and what it does there."""


def check_players(
    environment: Environment, arms: Iterable[Mapping[str, Any]], models: Mapping[str, Model]
) -> None:
    """Make sure that a model that knows only certain environments (`plays`) is asked about no other.

    Args:
        environment: of the run.
        arms: the settings of every arm.
        models: of the run, by name.

    Raises:
        UsageError: it is; none of its replies could be read.
    """
    for settings in arms:
        for role, does in ROLES.items():
            spec = settings[role]
            known = getattr(models[spec], "plays", None) if spec else None
            if known is not None and environment.name not in known:
                raise UsageError(
                    f"the stand-in {spec!r} cannot {does} {environment.name!r}: it knows only {' and '.join(known)}; "
                    "name a model, e.g. --model openai/<name> with --base-url for a server of your own"
                )


def check_prices(limits: LimitsConfig, models: Mapping[str, Model]) -> None:
    """Make sure that a limit in dollars can be kept.

    Raises:
        UsageError: there is one, and a model whose price nobody knows.
    """
    unpriced = [name for name, model in models.items() if model.cost(Usage(1, 1, 0)) is None]
    if limits.cost is not None and unpriced:
        raise UsageError(
            f"--cost-limit: no price is known for {', '.join(unpriced)}; give one, e.g. "
            "-c 'endpoint.prices={input: 0.15, output: 0.6}' (dollars a million tokens), or use --token-limit"
        )
