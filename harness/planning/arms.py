"""Arms of a plan: their opened parts, and the settings of their rows, by which equal experiments are found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reflex_bench.agents.arranging import shown_to_agents
from reflex_bench.agents.base import Agent, Limits, StepEvaluator
from reflex_bench.agents.evaluation.evaluators import NamedEvaluator
from reflex_bench.agents.evaluation.judge import StepJudge
from reflex_bench.agents.reflection.reflectors import Reflector
from reflex_bench.core.errors import UsageError
from reflex_bench.core.parts import Part
from reflex_bench.envs.base import Environment, Prompts
from reflex_bench.envs.declarations import TakesControls
from reflex_bench.harness.parts.doors import is_ours
from reflex_bench.harness.parts.environment_info import without_feedback
from reflex_bench.harness.parts.own_prompts import with_prompts
from reflex_bench.harness.planning.config import ArmConfig, Config, MemoryConfig
from reflex_bench.harness.planning.layouts import settings_of
from reflex_bench.harness.planning.opening import (
    memory_settings,
    open_agent,
    open_evaluator,
    open_reflector,
    playable,
)
from reflex_bench.harness.planning.prompt_hash import PromptHashes
from reflex_bench.harness.planning.roles import RoleConfig, role_of, role_settings


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
        limits: of its trials: those of the run, with the place of its memory.
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
    limits: Limits

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
        *("examples", "layout", "prompt_hash", "api", "environment", "headers", "query", "controls"),
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


def fingerprint(value: Any) -> str:
    """Return the first 16 hexadecimal digits of the sha256 of a value as canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Common:
    """What the arms of a plan have in common."""

    config: Config
    environment: Environment
    limits: Limits
    max_calls: int
    hashes: PromptHashes


def open_arm(name: str, arm: ArmConfig, common: Common) -> Arm:
    """Return an arm with its parts opened; raise `UsageError` where one does not exist or go with the others."""
    config, environment = common.config, common.environment
    evaluator = open_evaluator(config.evaluator if arm.evaluator is None else arm.evaluator, config)
    if evaluator.sources != ("environment",):
        # A judge that reads the verdict judges nothing, and an agent is not to know what its evaluator does not say.
        environment = with_prompts(without_feedback(environment), config.prompts)
    environment, controls = _controlled(environment, {**config.controls, **arm.controls})
    environment = with_prompts(environment, arm.prompts)
    agent, agent_name, reference = open_agent(arm.agent, environment)
    part, reflector, reflector_name = open_reflector(arm.reflector, config, common.limits)
    remembers, memory = _memory(name, arm, config, part)
    limits = _placed(common.limits, memory if remembers else None, agent, agent_name)
    every, roles = _every(arm, config), _roles(arm, config)
    asked = {"evaluator": "model" in evaluator.sources, "reflector": bool(part.states("asks_model", True))}
    named = {"agent": agent_name, "evaluator": evaluator.name, "reflector": reflector_name}
    settings = {
        **_part_settings(named, roles, asked, every, config),
        **memory_settings(memory if remembers else None, config.memory_from),
        "feedback": _feedback(common.environment, evaluator),
        **_limit_settings(common),
        **settings_of(common.limits.layout, environment.prompts),
        "prompt_hash": common.hashes.of(environment, playable(environment), limits),
        **common.hashes.of_parts(agent, reflector, evaluator, environment),
        **controls,
        **({"reference": True} if reference else {}),
        **_run_settings(config, environment),
        **({"prompts": own["name"]} if (own := arm.prompts or config.prompts) else {}),
    }
    settings["settings_hash"] = fingerprint(settings)
    return Arm(
        name=name,
        agent=agent,
        environment=environment,
        evaluator=evaluator,
        step_evaluator=StepJudge(every, config.endpoint.api == "completions") if every else None,
        reflector=reflector,
        memory=memory,
        actor=roles["actor"],
        evaluation=roles["evaluator"],
        reflection=roles["reflector"],
        settings=settings,
        limits=limits,
    )


def _placed(limits: Limits, memory: MemoryConfig | None, agent: Agent, name: str) -> Limits:
    """Return the limits with the place of an arm's memory; raise `UsageError` where an agent decides on that."""
    if memory is None or memory.place == "task":
        return limits
    if not is_ours(agent):
        raise UsageError(
            f"memory.place={memory.place}: agent {name!r} puts its memory where it likes; use place=task"
        )
    return replace(limits, layout=replace(limits.layout, memory=memory.place))


def _controlled(environment: Environment, given: Mapping[str, Any]) -> tuple[Environment, dict[str, Any]]:
    """Return an arm's environment with its controls, and what stands on the row of them: nothing where there are none.

    Raises:
        UsageError: the environment has none, or not such ones.
    """
    wanted = {name: value for name, value in given.items() if value not in (None, False)}
    if given and not isinstance(environment, TakesControls):
        raise UsageError(f"controls: {environment.name} has none; leave {', '.join(given)} out")
    if not isinstance(environment, TakesControls) or not given:
        return environment, {}
    made = environment.controlled(given)
    return made, {"controls": made.controls_told()} if wanted and isinstance(made, TakesControls) else {}


def _every(arm: ArmConfig, config: Config) -> int:
    return config.step_evaluator if arm.step_evaluator is None else arm.step_evaluator


def _feedback(environment: Environment, evaluator: NamedEvaluator) -> str:
    told = {"environment": environment.feedback}
    return "+".join(told.get(source, source) for source in evaluator.sources)


def _roles(arm: ArmConfig, config: Config) -> dict[str, RoleConfig]:
    own = {"actor": arm.actor, "evaluator": arm.evaluation, "reflector": arm.reflection}
    return {role: role_of(config.endpoint.extra_body, config.model, over) for role, over in own.items()}


def _memory(name: str, arm: ArmConfig, config: Config, reflector: Part) -> tuple[bool, MemoryConfig]:
    """Return whether the reflector has anything remembered, and the memory of an arm.

    Raises:
        UsageError: it has, and the trials are to be independent samples.
    """
    remembers = bool(reflector.states("remembers", True))
    if config.samples is not None and remembers:
        raise UsageError(
            f"samples: the trials of arm {name!r} learn from one another; leave it out, or use trials"
        )
    memory = arm.memory or config.memory
    if reflector.states("newest_only"):
        memory = memory.model_copy(update={"size": min(1, memory.size)})
    return remembers, memory


def _part_settings(
    named: Mapping[str, str],
    roles: Mapping[str, RoleConfig],
    asked: Mapping[str, bool],
    every: int,
    config: Config,
) -> dict[str, Any]:
    """Return what stands on the row of who plays, judges and reflects, and with which models.

    Args:
        named: the parts, as they stand there.
        roles: the models' settings by role.
        asked: whether evaluator and reflector ask a model.
        every: after how many steps a model looks at a trial under way; 0 never.
        config: of the run.
    """
    return {
        "agent": named["agent"],
        **role_settings("", roles["actor"], True),
        "evaluator": named["evaluator"],
        **role_settings("evaluator_", roles["evaluator"], asked["evaluator"]),
        "step_evaluator": every or None,
        **role_settings("step_evaluator_", roles["evaluator"], bool(every)),
        "reflector": named["reflector"],
        **role_settings("reflector_", roles["reflector"], asked["reflector"]),
        "audit": config.audit if asked["reflector"] else None,
        "history": config.history if asked["reflector"] else None,
    }


def _limit_settings(common: Common) -> dict[str, Any]:
    """Return what ends a trial and how replies are read, as it stands on the row."""
    limits = common.limits
    return {
        "max_steps": limits.max_steps,
        "max_calls": common.max_calls,
        "cycles": limits.cycles,
        "parse": limits.parse,
        "actions": limits.actions,
        "same_action": limits.same_action,
        "ask_again": limits.ask_again,
    }


def _run_settings(config: Config, environment: Environment) -> dict[str, Any]:
    """Return what stands on every row of a run: how the endpoint is asked, the environment, the number of trials."""
    return {
        "api": config.endpoint.api,
        **{name: told for name in ("headers", "query") if (told := getattr(config.endpoint, name))},
        "environment": dict(environment.settings()),
        "trials": config.samples or config.trials,
        "independent": config.samples is not None,
    }


def prompts_shown(arms: Sequence[Arm]) -> list[tuple[Prompts, tuple[str, ...] | None]]:
    """Return the prompts that agents are shown, each with the arms that have them; None for all."""
    groups: list[tuple[Prompts, list[str]]] = []
    for arm in arms:
        prompts = shown_to_agents(arm.environment.prompts, arm.limits)
        names = next((names for known, names in groups if known == prompts), None)
        if names is None:
            groups.append((prompts, [arm.name]))
        else:
            names.append(arm.name)
    return [(prompts, tuple(names) if len(groups) > 1 else None) for prompts, names in groups]
