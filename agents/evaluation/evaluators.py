"""Evaluators, which decide for the agent whether a trial passed. The environment's outcome is recorded apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from pydantic import BaseModel, ConfigDict, Field

from reflex_bench.agents.base import Ask, Evaluator, Trajectory, Verdict, told_ending
from reflex_bench.agents.evaluation.judge import ModelJudge
from reflex_bench.agents.guards import is_loop
from reflex_bench.agents.react import GIVE_UP
from reflex_bench.core import parts
from reflex_bench.core.errors import UsageError
from reflex_bench.core.parts import stating
from reflex_bench.envs.base import Prompts

_MAX_DEPTH = 4


class NamedEvaluator(Evaluator, Protocol):
    """An evaluator as a run records it.

    Attributes:
        name: as it stands on the row: with everything that decides a verdict, but for the model.
        sources: what the verdict comes from: `environment`, `heuristic`, `model`.
    """

    @property
    def name(self) -> str: ...

    @property
    def sources(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class FromEnvironment:
    """The environment decides: what counts for the agent is the true outcome."""

    name: str = "environment"
    sources: tuple[str, ...] = ("environment",)

    def __call__(self, trajectory: Trajectory, prompts: Prompts, ask: Ask) -> Verdict:
        """See `Evaluator`."""
        return Verdict(trajectory.success, self.name)


environment = FromEnvironment()
model = ModelJudge()


@dataclass(frozen=True, slots=True)
class Heuristic:
    """Rules decide, on nothing but what the agent could see.

    A trial has failed when the same cycle of (action, answer) pairs came more than `cycles` times in a row, or when it
    took more than `max_actions` actions, thoughts not counted: the two rules of Reflexion (Shinn et al., 2023, section
    4.1). Else it has passed if the episode came to an end by itself: in HotPotQA the agent handed in an answer, which
    is its claim to be done, right or wrong; in ALFWorld the game ended, which it does only when it is won. Giving up,
    or being stopped by a limit, is no such claim.

    Attributes:
        cycles: how many are still allowed; 0 switches the rule off.
        max_actions: how many are still allowed.
    """

    cycles: int = 3
    max_actions: int = 30

    @property
    def name(self) -> str:
        """With its numbers, as these decide whether two arms are the same."""
        return f"heuristic(cycles={self.cycles}, max_actions={self.max_actions})"

    @property
    def sources(self) -> tuple[str, ...]:
        """Itself."""
        return ("heuristic",)

    def __call__(self, trajectory: Trajectory, prompts: Prompts, ask: Ask) -> Verdict:
        """See `Evaluator`."""
        steps = trajectory.steps
        for length in range(1, len(steps) + 1):
            if is_loop(steps[:length], self.cycles):
                reason = f"the same actions got the same answers more than {self.cycles} times in a row"
                return Verdict(False, self.name, reason=reason, critical_step=steps[length - 1].number)
        acted = [step.number for step in steps if step.action not in (None, GIVE_UP)]
        if len(acted) > self.max_actions:
            reason = f"{len(acted)} actions were taken, more than {self.max_actions}"
            return Verdict(False, self.name, reason=reason, critical_step=acted[self.max_actions])
        if trajectory.outcome in ("success", "failure"):
            return Verdict(True, self.name, reason="the attempt came to an end by itself")
        return Verdict(False, self.name, reason=told_ending(trajectory.outcome, len(steps)))


@dataclass(frozen=True)
class _Several:
    """Several evaluators, asked in order, and no further once one has said what settles it."""

    evaluators: Sequence[NamedEvaluator]
    word: ClassVar[str]
    settles: ClassVar[bool]

    @property
    def name(self) -> str:
        """With the names of the evaluators."""
        return f"{self.word}({', '.join(each.name for each in self.evaluators)})"

    @property
    def sources(self) -> tuple[str, ...]:
        """Those of the evaluators, each once."""
        return tuple(dict.fromkeys(source for each in self.evaluators for source in each.sources))

    def __call__(self, trajectory: Trajectory, prompts: Prompts, ask: Ask) -> Verdict:
        """See `Evaluator`. The verdict that settles it, or one made of all."""
        heard: list[Verdict] = []
        for evaluator in self.evaluators:
            heard.append(evaluator(trajectory, prompts, ask))
            if heard[-1].success is self.settles:
                return replace(heard[-1], malformed=_malformed(heard))
        scores = [verdict.score for verdict in heard if verdict.score is not None]
        return Verdict(
            not self.settles,
            self.name,
            (max(scores) if self.settles else min(scores)) if scores else None,
            "; ".join(verdict.reason for verdict in heard if verdict.reason),
            "; ".join(verdict.efficiency for verdict in heard if verdict.efficiency),
            next((verdict.critical_step for verdict in heard if verdict.critical_step is not None), None),
            _malformed(heard),
        )


class AllOf(_Several):
    """Every evaluator must pass the trial."""

    word, settles = "all", False


class AnyOf(_Several):
    """One evaluator that passes the trial is enough."""

    word, settles = "any", True


def _malformed(heard: Sequence[Verdict]) -> int:
    return sum(verdict.malformed for verdict in heard)


def as_judged(trajectory: Trajectory, verdict: Verdict) -> Trajectory:
    """Return a trial that did not pass, as its reflector is to see it: by the verdict, which may be wrong.

    Nothing of the true outcome shows: a success that was not seen as one is a failure like others. What the evaluator
    remarked goes along; the environment remarks nothing.
    """
    outcome = "failure" if trajectory.success else trajectory.outcome
    remark = "; ".join(filter(None, (trajectory.remark, verdict.reason)))
    return replace(trajectory, outcome=outcome, remark=remark)


class HeuristicOptions(BaseModel):
    """The numbers of `Heuristic`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    cycles: int = Field(default=3, ge=0)
    max_actions: int = Field(default=30, ge=1)


@stating(Options=HeuristicOptions)
def heuristic(options: HeuristicOptions) -> Heuristic:
    """Return the evaluator by rules."""
    return Heuristic(options.cycles, options.max_actions)


@dataclass(frozen=True)
class Registered:
    """An evaluator of another package, as a run records it.

    Attributes:
        name: as it stands on the row.
        sources: what the verdict comes from: `model` where it asks one, else its own name.
        foreign: the evaluator itself.
    """

    name: str
    sources: tuple[str, ...]
    foreign: Evaluator

    def __call__(self, trajectory: Trajectory, prompts: Prompts, ask: Ask) -> Verdict:
        """See `Evaluator`."""
        return self.foreign(trajectory, prompts, ask)


_COMBINED: Mapping[str, type[AllOf] | type[AnyOf]] = {"all": AllOf, "any": AnyOf}


def build(
    config: object,
    depth: int = 1,
    continued: bool = False,
    check: Callable[[str, NamedEvaluator], NamedEvaluator] = lambda title, evaluator: evaluator,
) -> NamedEvaluator:
    """Return the evaluator that a configuration names.

    Args:
        config: a name, a mapping of the name to the evaluator's options, e.g. `{"heuristic": {"cycles": 3}}`, or
            `{"all": [...]}` or `{"any": [...]}` of such.
        depth: how deep this one stands; a few levels are enough for anyone, and a YAML alias can hold itself.
        continued: whether models continue a text, instead of answering a message.
        check: makes an evaluator of another package one whose verdicts are checked; is told how a message names it.

    Raises:
        UsageError: it names none.
    """
    if isinstance(config, Mapping) and len(config) == 1 and next(iter(config)) in _COMBINED:
        ((word, inside),) = config.items()
        if not isinstance(inside, Sequence) or isinstance(inside, str) or not inside or depth == _MAX_DEPTH:
            raise UsageError(
                f"evaluator: {word!r} takes a list of evaluators, at most {_MAX_DEPTH} levels deep"
            )
        return _COMBINED[word]([build(part, depth + 1, continued, check) for part in inside])
    name, options = parts.choice(config, "evaluators")
    part = parts.find("evaluators", name)
    made = parts.made_with(part, options)
    if isinstance(made, ModelJudge):
        return replace(made, continued=continued)
    if part.package:
        asks = getattr(made, "asks_model", part.states("asks_model", False))
        named = Registered(parts.described(part, options), ("model",) if asks else (name,), made)
        return check(part.title, named)
    known: NamedEvaluator = made
    return known
