"""Prompt hash: whether two arms, or two runs, put the same texts before a model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from reflex_bench.agents.base import Agent, Evaluator, Limits
from reflex_bench.agents.evaluation.judge import ModelJudge, StepJudge
from reflex_bench.agents.reflection.reflectors import Reflector
from reflex_bench.agents.reflection.revising import Auditing
from reflex_bench.core import parts
from reflex_bench.envs.base import Environment, Prompts
from reflex_bench.harness.parts.doors import is_ours, package_of
from reflex_bench.harness.planning import situations

SCHEME = "v2:"
"""With what a hash of rendered prompts begins. Hashes of earlier versions have no such beginning: they were taken from
constants of some modules, missed texts, and cannot be made again."""

DIGITS = 16


def prompt_hash(
    environment: Environment, agents: Iterable[Agent], limits: Limits, continued: bool = False
) -> str:
    """Return a hash that changes when any text changes that a run in an environment may put before a model.

    It is taken over the prompts themselves, as the real agents, judges and reflectors make them in a fixed set of
    situations (`reflex_bench.harness.planning.situations`): the beginning of a trial of every type, turns that are
    read, answered and asked for again, a memory that is shown, reflections that are asked for and sent back, judges.
    Where a text stands in the code, and in which order, does not matter. All arms of a run that play in one environment
    have the same hash, whatever agent, judge and reflector of ours they have; those of other packages have hashes of
    their own (`PromptHashes`).

    What an environment answers to commands is part of it where the environment has `sample_observations()`, which
    returns such answers as texts; else its `settings` tell what decides them. An environment of another package whose
    texts cannot be rendered counts with the name and version of its distribution.

    Args:
        environment: its texts, the readers of its actions, and its tools are taken.
        agents: those of ours that can play in it.
        limits: the layout of prompts, how replies are read, and whether there are tools.
        continued: whether models continue a text, instead of answering a message.
    """

    def render() -> Iterator[list[Any]]:
        yield from situations.told_by_itself(environment, limits)
        for agent in agents:
            yield from situations.playing(agent, environment, limits)
        for part in parts.ours("reflectors"):
            reflect = partial(parts.made_with(part, {}), auditing=Auditing(limits.max_steps, True, continued))
            yield from situations.reflecting(reflect, environment, limits)
        yield from situations.judging(ModelJudge(continued=continued), environment, limits)
        yield from situations.watching(StepJudge(continued=continued), environment, limits)

    return digest(environment, render)


@dataclass
class PromptHashes:
    """The prompt hashes of a run's arms: each environment of theirs is rendered once.

    Attributes:
        limits, continued: see `prompt_hash`.
    """

    limits: Limits
    continued: bool = False
    _known: list[tuple[tuple[str, Prompts, Limits], str]] = field(default_factory=list)

    def of(self, environment: Environment, agents: Iterable[Agent], limits: Limits | None = None) -> str:
        """Return the hash of an environment, as the run or `Environment.without_feedback` has it."""
        shown = (environment.feedback, environment.prompts, limits or self.limits)
        for each, known in self._known:
            if each == shown:
                return known
        made = prompt_hash(environment, agents, shown[2], self.continued)
        self._known.append((shown, made))
        return made

    def of_parts(
        self, agent: Agent, reflector: Reflector, evaluator: Evaluator, environment: Environment
    ) -> dict[str, str]:
        """Return `agent_prompts`, `reflector_prompts` and `evaluator_prompts`: settings of parts of other packages."""
        rendered = {
            "agent_prompts": (agent, partial(situations.playing, agent)),
            "reflector_prompts": (reflector, partial(situations.reflecting, reflector)),
            "evaluator_prompts": (evaluator, partial(situations.judging, evaluator)),
        }
        return {
            name: digest(part, partial(render, environment, self.limits))
            for name, (part, render) in rendered.items()
            if not is_ours(part)
        }


def digest(part: object, render: Any) -> str:
    """Return the hash of what a part renders; of its distribution's name and version where it cannot be rendered.

    Args:
        part: what may come from another package. Ours can be rendered: what they raise is raised.
        render: returns one list of JSON values for each situation.
    """
    try:
        rendered = [_sha256(situation) for situation in render()]
    except Exception:
        if is_ours(part):
            raise
        rendered = [_sha256(_distribution(part))]
    # Sorted and each once, so that neither the order of the code nor a situation that repeats another counts.
    return SCHEME + _sha256(sorted(set(rendered)))[:DIGITS]


def _distribution(part: object) -> list[str]:
    held = [each for evaluator in getattr(part, "evaluators", ()) for each in _distribution(evaluator)]
    module = package_of(part)
    return held or [module, *(parts.package_named(module) or ())]


def _sha256(value: Any) -> str:
    """Return the sha256 of a value as canonical JSON, in ASCII, so that machines and versions of Python agree."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def is_comparable(one: object, other: object) -> bool:
    """Return whether two prompt hashes were made in the same way; nothing can be said against one that is not there."""
    schemes = {str(each).rpartition(":")[0] for each in (one, other) if each is not None}
    return len(schemes) < 2
