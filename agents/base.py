"""The records that agents make, and what they are given to make them with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from reflex_bench.envs.base import Environment, ParsePolicy, Task
from reflex_bench.harness.errors import ReflexError
from reflex_bench.models.base import Message, Reply

Outcome = Literal[
    "success",  # the environment says so
    "failure",  # the environment ended the episode without success
    "step_limit",  # as many steps as allowed
    "loop",  # the same actions with the same answers, over and over
    "gave_up",  # the agent said so
    "budget",  # as many model calls as allowed
    "context_limit",  # the conversation no longer fits the model
    "error",  # infrastructure; says nothing about the agent
]

ENDED: Mapping[str, str] = {
    "failure": "the attempt ended without success",
    "step_limit": "all {steps} steps were used up",
    "loop": "the same actions got the same answers again and again",
    "gave_up": "you gave up",
    "budget": "the model calls allowed for one attempt were used up",
    "context_limit": "the conversation grew too long",
}
"""How an outcome is told to a reflector."""


class CallLimit(ReflexError):
    """The hard cap on model calls of one trial was reached."""


class Ask(Protocol):
    """A model in one role during one trial: temperature, limits, seeds and the journal are behind it."""

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        """One reply.

        Raises:
            CallLimit: this trial may not call a model again.
            ContextOverflow, ModelError, RunStopped: see `reflex_bench.models.base.Model.complete`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a trial.

    Attributes:
        max_steps: model turns, thoughts included (ReAct counts `think:` turns, too).
        cycles: a trial is a loop when the same (action, observation) cycle has come more than this many times in a row;
            3 in Reflexion (Shinn et al., 2023, section 4.1).
        parse: how freely completions are read.
    """

    max_steps: int
    cycles: int = 3
    parse: ParsePolicy = "repair"


@dataclass(frozen=True, slots=True)
class Step:
    """One model turn and the environment's answer.

    Attributes:
        number: from 1.
        reply: the completion as it came.
        thought, action, error, repairs: what the parser made of it (`reflex_bench.envs.base.Action`).
        observation: the answer.
        valid: False where the environment did not accept the action, or there was none.
    """

    number: int
    reply: str
    thought: str
    action: str | None
    observation: str
    valid: bool = True
    error: str | None = None
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The full record of one trial.

    Attributes:
        task: what was attempted.
        trial: from 1.
        memory: the reflections shown, oldest first.
        opening: the first observation.
        steps: in order.
        outcome: how it ended.
        result: what the environment adds (`Episode.result`).
    """

    task: Task
    trial: int
    memory: tuple[str, ...]
    opening: str
    steps: tuple[Step, ...]
    outcome: Outcome
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def success(self) -> bool:
        """True only where the environment said so."""
        return self.outcome == "success"

    @property
    def digest(self) -> str:
        """Equal for two trials in which the same was done and the same was seen."""
        done = hashlib.sha256()
        for step in self.steps:
            done.update(f"{step.action}\x00{step.observation}\x00".encode())
        return done.hexdigest()[:16]


class Agent(Protocol):
    """How one trial is played: a function like `reflex_bench.agents.react.react`."""

    def __call__(
        self,
        task: Task,
        trial: int,
        memory: tuple[str, ...],
        environment: Environment,
        ask: Ask,
        limits: Limits,
    ) -> Trajectory:
        """Plays one trial of a task in a fresh episode.

        Raises:
            TrialError: infrastructure failed; the trial says nothing about the agent.
        """
        ...


Attempt = Callable[[int, tuple[str, ...]], Trajectory]
"""Plays trial n of one task with the given memory shown; see `reflex_bench.agents.reflexion`."""
