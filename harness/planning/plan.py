"""Makes a plan of a configuration: tasks, arms and models, checked before anything is paid for."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from reflex_bench.agents.base import Limits
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Environment, ReadsAdmissible, Split
from reflex_bench.envs.declarations import Carries, GrowsOnDemand
from reflex_bench.harness.parts.doors import check_split
from reflex_bench.harness.parts.own_prompts import with_prompts
from reflex_bench.harness.planning.arms import Arm, Common, open_arm
from reflex_bench.harness.planning.config import Config
from reflex_bench.harness.planning.endpoints import check_players, check_prices, open_models, options_of
from reflex_bench.harness.planning.layouts import limits_of
from reflex_bench.harness.planning.opening import (
    open_environment,
)
from reflex_bench.harness.planning.prompt_hash import PromptHashes
from reflex_bench.models.base import Model
from reflex_bench.models.options import ModelOptions


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a run needs, checked before anything is paid for."""

    config: Config
    environment: Environment
    split: Split
    arms: tuple[Arm, ...]
    models: Mapping[str, Model]
    limits: Limits
    max_calls: int
    endpoint: ModelOptions

    @property
    def trials(self) -> int:
        """Most trials of a task."""
        return self.config.samples or self.config.trials

    @property
    def independent(self) -> bool:
        """Whether every trial is a sample of its own: nothing is remembered, and a success ends nothing."""
        return self.config.samples is not None

    @property
    def simulated(self) -> bool:
        """True where any model of the run is no language model."""
        return any(model.simulated for model in self.models.values())

    @property
    def stopping(self) -> threading.Event:
        """Once set, no further call is made, and none waits for its endpoint."""
        return self.endpoint.stopping

    def close(self) -> None:
        """Frees the environment and the models."""
        self.environment.close()
        for model in self.models.values():
            model.close()


def make_plan(config: Config, preview: bool = False) -> Plan:
    """Loads the environment and opens the models that a configuration names.

    Args:
        config: what to run.
        preview: load no more tasks than every run of the environment has, for a dry run.

    Raises:
        UsageError: something named does not exist, or data or settings are not usable.
    """
    environment = with_prompts(open_environment(config.environment), config.prompts)
    try:
        split = environment.load(_loaded(config, environment, preview), config.seed)
        check_split(split, environment)
        _check(config, environment, split)
        limits = limits_of(config, environment)
        max_calls = config.limits.max_calls or 2 * limits.max_steps
        hashes = PromptHashes(limits, config.endpoint.api == "completions")
        common = Common(
            config=config, environment=environment, limits=limits, max_calls=max_calls, hashes=hashes
        )
        arms = tuple(open_arm(name, arm, common) for name, arm in config.arms.items())
        endpoint = options_of(config, [role for arm in arms for role in arm.roles])
        models = open_models((arm.settings for arm in arms), endpoint)
        check_prices(config.limits, models)
        check_players(environment, (arm.settings for arm in arms), models)
    except BaseException:
        environment.close()
        raise
    return Plan(
        config=config,
        environment=environment,
        split=split,
        arms=arms,
        models=models,
        limits=limits,
        max_calls=max_calls,
        endpoint=endpoint,
    )


def _loaded(config: Config, environment: Environment, preview: bool) -> int | None:
    """Return how many tasks to load; None for the whole split."""
    if preview and config.tasks is not None and isinstance(environment, GrowsOnDemand):
        return environment.enough_to_preview(config.tasks)
    return config.tasks


def _check(config: Config, environment: Environment, split: Split) -> None:
    """Raise `UsageError` where the environment has not what the limits ask for, or the split has no task."""
    if config.limits.actions == "tools" and not environment.tools():
        raise UsageError(f"actions=tools: {environment.name} has no native tools; use actions=text")
    if config.limits.parse == "admissible" and not isinstance(environment, ReadsAdmissible):
        raise UsageError(
            f"parse=admissible: {environment.name} lists no admissible commands; use parse=repair"
        )
    if config.samples and isinstance(environment, Carries) and environment.carries:
        raise UsageError(
            "--world carried does not go with --samples: independent attempts cannot follow one another in one world; "
            "use --trials"
        )
    if not split.tasks:
        raise UsageError(f"split {split.name!r} has no task that fits the selection")
