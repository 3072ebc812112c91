"""Whether the models of a run can play its environment at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Environment
from reflex_bench.models.base import Model

if TYPE_CHECKING:
    from reflex_bench.harness.planning.plan import Arm

ROLES: Mapping[str, str] = {"model": "play", "reflector_model": "reflect on"}
"""Settings of an arm that name a model which must know the environment's conversations, and what it does there."""


def check_players(environment: Environment, arms: Iterable[Arm], models: Mapping[str, Model]) -> None:
    """Makes sure that a model that knows only certain environments (`plays`) is asked about no other.

    Raises:
        UsageError: it is; none of its replies could be read.
    """
    for arm in arms:
        for role, does in ROLES.items():
            spec = arm.settings[role]
            known = getattr(models[spec], "plays", None) if spec else None
            if known is not None and environment.name not in known:
                raise UsageError(
                    f"the stand-in {spec!r} cannot {does} {environment.name!r}: it knows only {' and '.join(known)}; "
                    "name a model, e.g. --model openai/<name> with --base-url for a server of your own"
                )
