"""Records and protocols of agents, evaluators and reflections."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from reflex_bench.agents.limits import Layout as Layout
from reflex_bench.agents.limits import Limits as Limits
from reflex_bench.core.errors import ReflexError
from reflex_bench.envs.base import HANDED_OVER, Action, Environment, Prompts, StepResult, Task
from reflex_bench.models.base import Message, Reply

Outcome = Literal[
    "success",  # the environment says so
    "failure",  # the environment ended the episode without success
    "handed_over",  # the agent gave the task to a person, where that was not the right end
    "step_limit",  # as many steps as allowed
    "loop",  # the same actions with the same answers, over and over
    "gave_up",  # the agent said so
    "wrong_path",  # a step evaluator saw no way from there
    "budget",  # as many model calls as allowed
    "context_limit",  # the conversation no longer fits the model
    "cut_off",  # a reply was all reasoning, however much room it had
    "error",  # infrastructure; says nothing about the agent
]

ENDED: Mapping[str, str] = {
    "failure": "the attempt ended without success",
    "step_limit": "all {steps} steps were used up",
    "loop": "the same actions got the same answers again and again",
    "gave_up": "you gave up",
    "wrong_path": "the attempt was stopped, as it was on a wrong path",
    "budget": "the model calls allowed for one attempt were used up",
    "context_limit": "the conversation grew too long",
    "cut_off": "you thought for so long that no room was left for an action",
}
"""How an outcome is told to a reflector."""

ENDED_APART: Mapping[str, str] = {HANDED_OVER: "you handed the request over to a person"}
"""The same of outcomes that few environments have; they count in the prompt hash of those alone."""


def told_ending(outcome: str, steps: int) -> str:
    """Return how an outcome is told to a reflector.

    Args:
        outcome: any but `success` and `error`.
        steps: of the trial.
    """
    return {**ENDED, **ENDED_APART}[outcome].format(steps=steps)


class CallLimit(ReflexError):
    """The hard cap on model calls of one trial was reached."""


class Ask(Protocol):
    """A model in one role during one trial: temperature, limits, seeds and the journal are behind it."""

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        """Return one reply.

        Raises:
            CallLimit: this trial may not call a model again.
            ContextOverflow, ModelError, RunStopped: see `reflex_bench.models.base.Model.complete`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """One model turn and the environment's answer.

    Attributes:
        number: from 1.
        reply: the completion as it came, without its reasoning.
        thought, action, error, repairs: what the parser made of it (`reflex_bench.envs.base.Action`).
        observation: the answer.
        valid: False where the environment did not accept the action, or there was none.
        reasoning: what the model thought before the reply; never read for an action.
        reason: why the environment did not accept it (`StepResult.reason`); "" where it did, or does not say.
    """

    number: int
    reply: str
    thought: str
    action: str | None
    observation: str
    valid: bool = True
    error: str | None = None
    repairs: tuple[str, ...] = ()
    reasoning: str = ""
    reason: str = ""

    @classmethod
    def of(cls, number: int, reply: str, action: Action, result: StepResult, reasoning: str = "") -> Step:
        """Return the record of one turn."""
        return cls(
            number,
            reply,
            action.thought,
            action.command,
            result.observation,
            result.valid,
            action.error,
            action.repairs,
            reasoning,
            result.reason,
        )


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
        remark: why a step evaluator ended it; "" where none did.
    """

    task: Task
    trial: int
    memory: tuple[str, ...]
    opening: str
    steps: tuple[Step, ...]
    outcome: Outcome
    result: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""

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


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a trial passed, in the eyes of an evaluator.

    Attributes:
        success: the agent stops at a trial that passed and reflects on one that did not.
        by: the evaluator's name.
        score: 0 to 1, where the evaluator gives one.
        reason: one or two sentences.
        efficiency: a remark on wasted steps.
        critical_step: the step at which it was decided.
        malformed: replies that were not what was asked for.
        repairs: what the judge's reply had apart from its verdict (`reflex_bench.agents.schema.Answer`).
    """

    success: bool
    by: str
    score: float | None = None
    reason: str = ""
    efficiency: str = ""
    critical_step: int | None = None
    malformed: int = 0
    repairs: tuple[str, ...] = ()


class Evaluator(Protocol):
    """Decides whether a trial passed."""

    def __call__(self, trajectory: Trajectory, prompts: Prompts, ask: Ask) -> Verdict:
        """Return the verdict. `ask` is the model in the role of evaluator; most evaluators do without.

        Raises:
            ModelError, RunStopped: the model cannot be asked.
        """
        ...


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """Where a trial stands, in the eyes of a step evaluator."""

    status: Literal["on_track", "deviation", "wrong_path"]
    reason: str = ""


class StepEvaluator(Protocol):
    """Looks at a trial that is under way."""

    every: int

    def __call__(self, opening: str, steps: Sequence[Step], prompts: Prompts, ask: Ask) -> StepVerdict:
        """Return the verdict after the steps so far; asked for after every `every` steps."""
        ...


@dataclass(frozen=True, slots=True)
class Reflection:
    """What was made of a failed trial.

    Attributes:
        text: what enters the memory.
        kind: the reflector's name.
        data: the fields of a structured reflection.
        error_class: which kind of failure it was about.
        audit: the rules that it breaks; none where it is sound.
        attempts: how many times it was asked for.
        kept: False where it was not to be remembered.
        repairs: what was taken out of the reply that it was made from, each once.
    """

    text: str
    kind: str
    data: Mapping[str, Any] | None = None
    error_class: str = ""
    audit: tuple[str, ...] = ()
    attempts: int = 1
    kept: bool = True
    repairs: tuple[str, ...] = ()


Watch = Callable[[str, Sequence[Step]], StepVerdict]
"""Is shown a trial under way, its opening and its steps so far, and says how it goes."""


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
        watch: Watch | None = None,
    ) -> Trajectory:
        """Plays one trial of a task in a fresh episode.

        Args:
            task: what is to be done.
            trial: from 1.
            memory: what is remembered, oldest first.
            environment: opens the episode and reads replies.
            ask: the model in the role of actor.
            limits: what ends the trial.
            watch: is asked after every step; a wrong path ends the trial. None where nobody watches.

        Raises:
            TrialError: infrastructure failed; the trial says nothing about the agent.
        """
        ...


Attempt = Callable[[int, tuple[str, ...]], Trajectory]
"""Plays trial n of one task with the given memory shown; see `reflex_bench.agents.reflexion`."""
