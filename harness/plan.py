"""From a configuration to a plan: which tasks, arms and models, and what makes two trials the same experiment."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, cast

from reflex_bench.agents import messages
from reflex_bench.agents.act import act
from reflex_bench.agents.base import Agent, Limits
from reflex_bench.agents.cot import cot, cot_gold
from reflex_bench.agents.react import react
from reflex_bench.agents.reflectors import REFLECTORS, Reflector
from reflex_bench.envs.base import Environment, Split
from reflex_bench.harness.config import ArmConfig, Config, MemoryConfig, RoleConfig, RoleOverride
from reflex_bench.harness.errors import UsageError, unknown
from reflex_bench.models.base import Model
from reflex_bench.models.prices import Prices
from reflex_bench.models.registry import ModelOptions, open_model

AGENTS: dict[str, Agent] = {"react": react, "act": act, "cot": cot, "cot-gold": cot_gold}


@dataclass(frozen=True, slots=True)
class Arm:
    """One agent configuration, resolved.

    Attributes:
        name: as in the configuration.
        agent: plays one trial.
        reflector: reflects on a failed one.
        actor, reflecting: the models' settings in the two roles.
        memory: what is remembered.
        settings: flat; what stands on the arm's row and is compared between arms.
    """

    name: str
    agent: Agent
    reflector: Reflector
    actor: RoleConfig
    reflecting: RoleConfig
    memory: MemoryConfig
    settings: Mapping[str, Any]

    @property
    def acting_key(self) -> str:
        """Equal for two arms that play a trial in the same way, given the same memory."""
        mine = ("agent", "model", "temperature", "max_tokens", *SHARED_SETTINGS)
        return fingerprint({key: self.settings[key] for key in mine})

    @property
    def reflecting_key(self) -> str:
        """Equal for two arms that reflect on a trial in the same way."""
        mine = (
            "reflector",
            "reflector_model",
            "reflector_temperature",
            "reflector_max_tokens",
            "prompt_hash",
        )
        return fingerprint({key: self.settings[key] for key in mine})


NEEDS = {"act": "act_instruction", "cot": "cot_instruction", "cot-gold": "cot_instruction"}
"""What an agent needs of an environment's prompts."""

SHARED_SETTINGS = ("max_steps", "max_calls", "cycles", "parse", "actions", "prompt_hash", "api", "environment")
"""Settings that bear on how a trial goes and are the run's, not an arm's."""


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
    warnings: tuple[str, ...] = ()

    @property
    def simulated(self) -> bool:
        """True where any model of the run is no language model."""
        return any(model.simulated for model in self.models.values())

    def close(self) -> None:
        """Frees the environment and the models."""
        self.environment.close()
        for model in self.models.values():
            model.close()


def fingerprint(value: Any) -> str:
    """The first 16 hexadecimal digits of the sha256 of a value as canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def make_plan(config: Config) -> Plan:
    """Loads the environment and opens the models that a configuration names.

    Raises:
        UsageError: something named does not exist, or data or settings are not usable.
    """
    environment = open_environment(config.environment)
    try:
        split = environment.load(config.tasks, config.seed)
        if config.limits.actions == "tools" and not environment.tools():
            raise UsageError(f"actions=tools: {environment.name} has no native tools; use actions=text")
        if not split.tasks:
            raise UsageError(f"split {split.name!r} has no task that fits the selection")
        limits = Limits(
            max_steps=config.limits.max_steps or environment.max_steps,
            cycles=config.limits.cycles,
            parse=config.limits.parse,
            actions=config.limits.actions,
        )
        max_calls = config.limits.max_calls or 2 * limits.max_steps
        arms = tuple(
            _arm(name, arm, config, environment, limits, max_calls) for name, arm in config.arms.items()
        )
        models = _models(config, arms)
    except BaseException:
        environment.close()
        raise
    return Plan(config, environment, split, arms, models, limits, max_calls)


def open_environment(options: Mapping[str, Any]) -> Environment:
    """The environment that `options["name"]` names, with its other options.

    Raises:
        UsageError: no such environment, or an option of it that does not exist.
    """
    given = dict(options)
    name = given.pop("name", "")
    known = {point.name: point for point in entry_points(group="reflex_bench.environments")}
    if name not in known:
        raise unknown("environment", name, known)
    create: Callable[[Mapping[str, Any]], Environment] = known[name].load()
    return create(given)


def role(base: RoleConfig, over: RoleOverride) -> RoleConfig:
    """A role's settings: its own where it has any, else the run's."""
    return base.model_copy(update=over.model_dump(exclude_none=True))


def _arm(
    name: str, arm: ArmConfig, config: Config, environment: Environment, limits: Limits, max_calls: int
) -> Arm:
    if arm.reflector not in REFLECTORS:
        raise unknown("reflector", arm.reflector, REFLECTORS)
    actor, reflecting = role(config.model, arm.actor), role(config.model, arm.reflection)
    memory = arm.memory or config.memory
    reflects = arm.reflector != "none"
    settings = {
        "agent": arm.agent,
        "model": actor.model,
        "temperature": actor.temperature,
        "max_tokens": actor.max_tokens,
        "reflector": arm.reflector,
        "reflector_model": reflecting.model if reflects else None,
        "reflector_temperature": reflecting.temperature if reflects else None,
        "reflector_max_tokens": reflecting.max_tokens if reflects else None,
        "memory": memory.kind if reflects else "none",
        "memory_size": memory.size if reflects else 0,
        "evaluator": "environment",
        "feedback": environment.feedback,
        "max_steps": limits.max_steps,
        "max_calls": max_calls,
        "cycles": limits.cycles,
        "parse": limits.parse,
        "actions": limits.actions,
        "prompt_hash": prompt_hash(environment),
        "api": config.endpoint.api,
        "environment": dict(environment.settings()),
        "trials": config.trials,
    }
    settings["settings_hash"] = fingerprint(settings)
    return Arm(name, _agent(arm.agent, environment), REFLECTORS[arm.reflector], actor, reflecting, memory, settings)


def _agent(name: str, environment: Environment) -> Agent:
    if name in NEEDS and not getattr(environment.prompts, NEEDS[name]):
        raise UsageError(f"agent {name!r} makes no sense for {environment.name}: it has no prompt for it")
    if name in AGENTS:
        return AGENTS[name]
    plugins = {point.name: point for point in entry_points(group="reflex_bench.agents")}
    if name not in plugins:
        raise unknown("agent", name, {*AGENTS, *plugins})
    return cast(Agent, plugins[name].load())


def prompt_hash(environment: Environment) -> str:
    """Changes when any text that is put before a model changes."""
    frame = [value for name, value in sorted(vars(messages).items()) if name.isupper()]
    return fingerprint([dataclasses.asdict(environment.prompts), frame])


def _models(config: Config, arms: tuple[Arm, ...]) -> dict[str, Model]:
    specs = {arm.actor.model for arm in arms}
    specs |= {arm.settings["reflector_model"] for arm in arms} - {None}
    options = ModelOptions(
        base_url=config.endpoint.base_url,
        api=config.endpoint.api,
        timeout=config.endpoint.timeout,
        max_retries=config.endpoint.max_retries,
        max_connections=config.limits.max_connections,
        prices=Prices(**config.endpoint.prices.model_dump()) if config.endpoint.prices else None,
    )
    return {spec: open_model(spec, options) for spec in sorted(specs)}
