"""The models of a run, and how they are reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reflex_bench.harness.planning.config import Config
from reflex_bench.harness.planning.roles import RoleConfig
from reflex_bench.models.base import Model
from reflex_bench.models.openai.secrets import variables_in
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.prices import Prices
from reflex_bench.models.registry import open_model


def open_models(arms: Iterable[Mapping[str, Any]], endpoint: ModelOptions) -> dict[str, Model]:
    """Every model that some arm asks in some role, by the name that the person wrote.

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
    """How models are reached.

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
