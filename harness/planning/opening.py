"""Opens the parts that a configuration names, and describes them for an arm's row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from reflex_bench.agents.base import Agent, Limits
from reflex_bench.agents.evaluation.evaluators import NamedEvaluator
from reflex_bench.agents.evaluation.evaluators import build as build_evaluator
from reflex_bench.agents.memory.base import Memory
from reflex_bench.agents.memory.building import build as build_memory
from reflex_bench.agents.memory.similarity import Similarity
from reflex_bench.agents.memory.similarity import build as build_similarity
from reflex_bench.agents.reflection.reflectors import Reflector
from reflex_bench.agents.reflection.reflectors import build as build_reflector
from reflex_bench.core import parts
from reflex_bench.core.errors import UsageError
from reflex_bench.core.parts import Part
from reflex_bench.envs.base import Environment
from reflex_bench.harness.parts.doors import is_ours
from reflex_bench.harness.parts.learning_doors import (
    CheckedEvaluator,
    CheckedMemory,
    CheckedReflector,
    CheckedSimilarity,
)
from reflex_bench.harness.planning.config import Config, MemoryConfig
from reflex_bench.models.options import ModelOptions


def open_environment(options: Mapping[str, Any]) -> Environment:
    """Return the environment that `options["name"]` names, with its other options.

    Raises:
        UsageError: no such environment, or an option of it that does not exist.
    """
    given = dict(options)
    part = parts.find("environments", given.pop("name", ""))
    model = part.states("Options")
    return cast(
        Environment, part.call(given if model is None else parts.checked_options(part.title, model, given))
    )


def open_agent(setting: str | Mapping[str, Any], environment: Environment) -> tuple[Agent, str, bool]:
    """Return the agent that a configuration names, how it stands on the row, and whether it is only a reference.

    Raises:
        UsageError: there is none, it has no such options, or the environment lacks what it needs.
    """
    name, options = parts.choice(setting, "agents")
    part = parts.find("agents", name)
    if missing := _missing(part, environment):
        raise UsageError(f"{part.title} makes no sense for {environment.name}: it has no {missing}")
    return parts.made_with(part, options), parts.described(part, options), bool(part.states("reference"))


def playable(environment: Environment) -> list[Agent]:
    """Return the agents of this package that can play in an environment."""
    return [parts.made_with(part, {}) for part in parts.ours("agents") if not _missing(part, environment)]


def _missing(part: Part, environment: Environment) -> str:
    """Return what an agent needs and the environment does not have; "" for nothing."""
    prompt, method = part.states("needs"), part.states("needs_method")
    if prompt and not getattr(environment.prompts, prompt):
        return "prompt for it"
    return str(method) if method and not hasattr(environment, method) else ""


def open_reflector(
    setting: str | Mapping[str, Any], config: Config, limits: Limits
) -> tuple[Part, Reflector, str]:
    """Return what a configuration names as reflector: the part, the reflector, and how it stands on the row.

    Raises:
        UsageError: there is none, or it has no such options.
    """
    name, options = parts.choice(setting, "reflectors")
    part, continued = parts.find("reflectors", name), config.endpoint.api == "completions"
    made = build_reflector(setting, limits, enforce=config.audit == "enforce", continued=continued)
    return part, CheckedReflector(part.title, made) if part.package else made, parts.described(part, options)


def open_evaluator(setting: object, config: Config) -> NamedEvaluator:
    """Return the evaluator that a configuration names.

    Raises:
        UsageError: there is none, or it has no such options.
    """
    continued = config.endpoint.api == "completions"
    return build_evaluator(setting, continued=continued, check=CheckedEvaluator)


def open_memory(memory: MemoryConfig, endpoint: ModelOptions | None = None) -> Memory:
    """Return the empty memory that a configuration describes.

    Args:
        memory: of an arm.
        endpoint: how to reach an endpoint for embeddings.

    Raises:
        UsageError: no such memory, or no such option of it.
    """
    part = parts.find("memories", memory.kind)
    made = build_memory(endpoint=endpoint, compare=open_similarity, **memory.model_dump(exclude={"place"}))
    return CheckedMemory.of(part.title, made) if part.package else made


def open_similarity(spec: str, options: ModelOptions | None = None) -> Similarity:
    """Return the similarity that a configuration names; see `reflex_bench.agents.memory.similarity.build`."""
    made = build_similarity(spec, options)
    return made if is_ours(made) else CheckedSimilarity(spec, f"similarity {spec!r}", made)


def memory_settings(memory: MemoryConfig | None, carried: str | None) -> dict[str, Any]:
    """Return what of a memory stands on the row; None is none.

    Args:
        memory: of the arm.
        carried: the run whose memory it begins with.

    Raises:
        UsageError: no such memory, or no such option of it.
    """
    if memory is None:
        return {"memory": "none", "memory_size": 0}
    made = open_memory(memory)
    told = {"memory_size": memory.size, **made.settings(), "memory": memory.kind}
    told |= {"memory_place": memory.place} if memory.place != "task" else {}
    told |= {f"memory_{name}": value for name, value in memory.options.items()}
    if made.cross_task:
        # A run whose memory goes across tasks is resumed from all of its trials (`store.unfinished`).
        told["memory_scope"] = "arm"
    return told | ({"memory_from": Path(carried).name} if carried else {})
