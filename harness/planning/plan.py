"""From a configuration to a plan: which tasks, arms and models, and what makes two trials the same experiment."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reflex_bench.agents.base import Agent, Limits, StepEvaluator
from reflex_bench.agents.evaluation.evaluators import NamedEvaluator
from reflex_bench.agents.evaluation.judge import StepJudge
from reflex_bench.agents.reflection.reflectors import Reflector
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Environment, ReadsAdmissible, Split
from reflex_bench.harness.parts.doors import check_split
from reflex_bench.harness.planning.config import ArmConfig, Config, MemoryConfig
from reflex_bench.harness.planning.endpoints import open_models, options_of
from reflex_bench.harness.planning.layouts import limits_of, settings_of
from reflex_bench.harness.planning.model_checks import check_players, check_prices
from reflex_bench.harness.planning.opening import (
    memory_settings,
    open_agent,
    open_environment,
    open_evaluator,
    open_reflector,
    playable,
)
from reflex_bench.harness.planning.prompt_hash import PromptHashes
from reflex_bench.harness.planning.roles import RoleConfig, role_of, role_settings
from reflex_bench.models.base import Model
from reflex_bench.models.options import ModelOptions


@dataclass(frozen=True, slots=True)
class Arm:
    """One agent configuration, resolved.

    Attributes:
        name: as in the configuration.
        agent: plays one trial.
        environment: in which it plays.
        evaluator: decides whether a trial passed.
        step_evaluator: looks at a trial under way; None where nobody does.
        reflector: makes something of a failed trial.
        memory: what is remembered.
        actor, evaluation, reflection: the models' settings in the three roles.
        settings: flat; what stands on the arm's row and is compared between arms.
    """

    name: str
    agent: Agent
    environment: Environment
    evaluator: NamedEvaluator
    step_evaluator: StepEvaluator | None
    reflector: Reflector
    memory: MemoryConfig
    actor: RoleConfig
    evaluation: RoleConfig
    reflection: RoleConfig
    settings: Mapping[str, Any]

    @property
    def roles(self) -> tuple[RoleConfig, ...]:
        """The models' settings in all roles."""
        return self.actor, self.evaluation, self.reflection

    def key(self, *parts: str) -> str:
        """Equal for two arms that have the same settings in these parts (keys of `PARTS`)."""
        names = [name for part in parts for name in PARTS[part]]
        # A setting that is not there is one at its default.
        return fingerprint({name: self.settings[name] for name in names if name in self.settings})


PARTS: Mapping[str, tuple[str, ...]] = {
    "run": (
        *("max_steps", "max_calls", "cycles", "same_action", "parse", "ask_again", "actions"),
        *("examples", "layout", "prompt_hash", "api", "environment", "headers", "query"),
    ),
    "acting": ("agent", "agent_prompts", *RoleConfig.model_fields),
    "watching": ("step_evaluator", *(f"step_evaluator_{name}" for name in RoleConfig.model_fields)),
    "judging": ("evaluator", "evaluator_prompts", *(f"evaluator_{name}" for name in RoleConfig.model_fields)),
    "reflecting": (
        "reflector",
        "reflector_prompts",
        *(f"reflector_{name}" for name in RoleConfig.model_fields),
        "audit",
        "history",
    ),
}
"""Which settings bear on which part of a trial; `run` bears on all."""


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
        check_split(split, environment)
        if config.limits.actions == "tools" and not environment.tools():
            raise UsageError(f"actions=tools: {environment.name} has no native tools; use actions=text")
        if config.limits.parse == "admissible" and not isinstance(environment, ReadsAdmissible):
            raise UsageError(
                f"parse=admissible: {environment.name} lists no admissible commands; use parse=repair"
            )
        if not split.tasks:
            raise UsageError(f"split {split.name!r} has no task that fits the selection")
        limits = limits_of(config, environment)
        max_calls = config.limits.max_calls or 2 * limits.max_steps
        hashes = PromptHashes(limits, config.endpoint.api == "completions")
        arms = tuple(
            _arm(name, arm, config, environment, limits, max_calls, hashes)
            for name, arm in config.arms.items()
        )
        endpoint = options_of(config, [role for arm in arms for role in arm.roles])
        models = open_models((arm.settings for arm in arms), endpoint)
        check_prices(config.limits, models)
        check_players(environment, (arm.settings for arm in arms), models)
    except BaseException:
        environment.close()
        raise
    return Plan(config, environment, split, arms, models, limits, max_calls, endpoint)


def _arm(
    name: str,
    arm: ArmConfig,
    config: Config,
    environment: Environment,
    limits: Limits,
    max_calls: int,
    hashes: PromptHashes,
) -> Arm:
    continued = config.endpoint.api == "completions"
    named = config.evaluator if arm.evaluator is None else arm.evaluator
    evaluator = open_evaluator(named, config)
    told = environment.feedback
    if evaluator.sources != ("environment",):
        # A judge that reads the verdict judges nothing, and an agent is not to know what its evaluator does not say.
        environment = environment.untold()
    agent, agent_name = open_agent(arm.agent, environment)
    part, reflector, reflector_name = open_reflector(arm.reflector, config, limits)
    remembers = bool(part.states("remembers", True))
    if config.samples is not None and remembers:
        raise UsageError(
            f"samples: the trials of arm {name!r} learn from one another; leave it out, or use trials"
        )
    every = config.step_evaluator if arm.step_evaluator is None else arm.step_evaluator
    memory = arm.memory or config.memory
    if part.states("newest_only"):
        memory = memory.model_copy(update={"size": min(1, memory.size)})
    roles = {
        part: role_of(config.endpoint.extra_body, config.model, over)
        for part, over in (("actor", arm.actor), ("evaluator", arm.evaluation), ("reflector", arm.reflection))
    }
    asked = {"evaluator": "model" in evaluator.sources, "reflector": bool(part.states("asks_model", True))}
    settings = {
        "agent": agent_name,
        **role_settings("", roles["actor"], True),
        "evaluator": evaluator.name,
        **role_settings("evaluator_", roles["evaluator"], asked["evaluator"]),
        "step_evaluator": every or None,
        **role_settings("step_evaluator_", roles["evaluator"], bool(every)),
        "reflector": reflector_name,
        **role_settings("reflector_", roles["reflector"], asked["reflector"]),
        "audit": config.audit if asked["reflector"] else None,
        "history": config.history if asked["reflector"] else None,
        **memory_settings(memory if remembers else None, config.memory_from),
        "feedback": "+".join(told if source == "environment" else source for source in evaluator.sources),
        "max_steps": limits.max_steps,
        "max_calls": max_calls,
        "cycles": limits.cycles,
        "parse": limits.parse,
        "actions": limits.actions,
        "same_action": limits.same_action,
        "ask_again": limits.ask_again,
        **settings_of(limits.layout, environment.prompts),
        "prompt_hash": hashes.of(environment, playable(environment)),
        **hashes.of_parts(agent, reflector, evaluator, environment),
        "api": config.endpoint.api,
        **{name: told for name in ("headers", "query") if (told := getattr(config.endpoint, name))},
        "environment": dict(environment.settings()),
        "trials": config.samples or config.trials,
        "independent": config.samples is not None,
    }
    settings["settings_hash"] = fingerprint(settings)
    return Arm(
        name,
        agent,
        environment,
        evaluator,
        StepJudge(every, continued) if every else None,
        reflector,
        memory,
        roles["actor"],
        roles["evaluator"],
        roles["reflector"],
        settings,
    )
