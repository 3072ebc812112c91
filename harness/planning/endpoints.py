"""Opens the models of a run, and checks that they can play its environment and have a known price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Environment
from reflex_bench.harness.planning.config import Config, LimitsConfig
from reflex_bench.harness.planning.roles import RoleConfig
from reflex_bench.models.base import Model, Usage
from reflex_bench.models.openai.secrets import variables_in
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.prices import Prices
from reflex_bench.models.registry import open_model

ROLES: Mapping[str, str] = {"model": "play", "reflector_model": "reflect on"}
"""Settings of an arm that name a model which must know the environment's conversations, and what it does there."""


def open_models(arms: Iterable[Mapping[str, Any]], endpoint: ModelOptions) -> dict[str, Model]:
    """Return every model that some arm asks in some role, by the name that the person wrote.

    Args:
        arms: their settings.
        endpoint: how models are reached.

    Raises:
        UsageError: no such model.
    """
    roles = ("model", "evaluator_model", "step_evaluator_model", "reflector_model")
    listed = list(arms)
    specs = {arm[role] for arm in listed for role in roles} - {None}
    return {spec: open_model(spec, endpoint) for spec in sorted(specs)}


def options_of(config: Config, roles: Iterable[RoleConfig]) -> ModelOptions:
    """Return how models are reached.

    Args:
        config: of the run.
        roles: the settings of all models in all roles.
    """
    return ModelOptions(
        base_url=config.endpoint.base_url,
        api=config.endpoint.api,
        timeout=config.endpoint.timeout,
        max_retries=config.endpoint.max_retries,
        patience=config.endpoint.patience,
        max_connections=config.limits.max_connections,
        requests_per_minute=config.limits.requests_per_minute,
        tokens_per_minute=config.limits.tokens_per_minute,
        providers=config.providers,
        prices=Prices(**config.endpoint.prices.model_dump()) if config.endpoint.prices else None,
        check_model=config.endpoint.check_model,
        headers=config.endpoint.headers,
        query=config.endpoint.query,
        variables=tuple(dict.fromkeys(variables_in([role.extra_body for role in roles]))),
    )


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
            spec = None if role == "model" and settings.get("reference") else settings[role]
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
