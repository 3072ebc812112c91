"""Optional declarations of an environment.

Each protocol stands for one such thing. An environment that does not have it works all the same; what the harness does
without it stands in the protocol's docstring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from reflex_bench.envs.base import Environment, Task
from reflex_bench.envs.metrics import Metric


@runtime_checkable
class Measures(Protocol):
    """An `Environment` that measures more than success; without it a `reward` in its results is shown, if any."""

    def metrics(self) -> tuple[Metric, ...]:
        """Return the numbers that it measures, in the order in which they are shown."""
        ...


class SuccessRule(Protocol):
    """What counts as a solved task.

    Attributes:
        name: as it stands on a table's row, e.g. `em`.
        label: what it asks for, in words that follow "a task is solved when".
    """

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    def is_solved(self, result: Mapping[str, Any]) -> bool:
        """Return whether a trial with this recorded result solved its task.

        Raises:
            ValueError: the result does not say; the message completes "a trial of TASK".
        """
        ...


@runtime_checkable
class HasSuccessRules(Protocol):
    """An `Environment` that can decide success in several ways; without it no table names a rule.

    Where its settings have a key `success`, that is the name of the rule in force.
    """

    def success_rule(self, name: str | None = None) -> SuccessRule:
        """Return the rule in force, or another one by its name.

        Raises:
            UsageError: there is no such rule.
        """
        ...


class Replayed(Protocol):
    """What came of a trial's commands in the implementation that a run is verified against.

    Attributes:
        steps: commands that were executed.
        won: whether it called the task won at any time.
        difference: the first difference to the record, to be printed; None where there is none.
    """

    @property
    def steps(self) -> int: ...

    @property
    def won(self) -> bool: ...

    @property
    def difference(self) -> object | None: ...


class Verifier(Protocol):
    """Replays recorded trials of an environment.

    Attributes:
        environment: the one that they are replayed in; it is closed after use.
        engine: what `engine` is in the results of trials that this environment played itself.
    """

    @property
    def environment(self) -> Environment: ...

    @property
    def engine(self) -> str: ...

    def replay(self, task: Task, opening: str, turns: Sequence[tuple[str, str]], won: bool) -> Replayed:
        """Replay one trial. Called from several threads at once.

        Args:
            task: of `environment`.
            opening: the first observation on record.
            turns: (command, observation) pairs on record.
            won: whether the record says that the trial succeeded.
        """
        ...


@runtime_checkable
class GeneratesData(Protocol):
    """An `Environment` whose tasks can be made from a seed: `reflex data generate`."""

    def generate(self, seed: int, tasks: int, out: Path) -> None:
        """Write so many tasks of a seed to a folder; equal seeds give equal bytes.

        Raises:
            UsageError: the folder cannot be written to.
        """
        ...


@runtime_checkable
class GrowsOnDemand(Protocol):
    """An `Environment` that generates as many tasks as are asked for; a dry run then looks at a few of them."""

    def enough_to_preview(self, count: int) -> int:
        """Return how many tasks a dry run loads where `count` are asked for: those that every run has.

        Raises:
            UsageError: more are asked for than can be generated.
        """
        ...


@runtime_checkable
class FetchesData(Protocol):
    """An `Environment` whose official data has to be downloaded before use: `reflex data fetch`."""

    def fetch(self, out: Path | None, base_url: str | None) -> None:
        """Download the data, and go on where an earlier download was interrupted.

        Args:
            out: where to; None for the usual place.
            base_url: of a mirror; None for the official place.

        Raises:
            UsageError: the data cannot be downloaded or unpacked.
        """
        ...


@runtime_checkable
class Recognises(Protocol):
    """An `Environment` that says by what its tasks are recognised in a worked example; without it, by their text."""

    def recognised_by(self, task: Task, opening: str) -> tuple[str, str]:
        """Return what identifies a task: what it is (`room and goal`), and the words of it to look for.

        Args:
            task: of the split.
            opening: the first observation of its episodes.
        """
        ...


@dataclass(frozen=True, slots=True)
class Settlement:
    """What is true of a trial when it is over for good.

    Attributes:
        won: whether the task is solved.
        result: what was measured (`Episode.result`).
        lines: further records of the trial, by the name of the file that they go to.
    """

    won: bool
    result: Mapping[str, Any]
    lines: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)


@runtime_checkable
class Settles(Protocol):
    """An `Environment` in which something happens once a trial is judged; without it a trial's end is its end."""

    def settle(self, task: Task, commands: Sequence[str], passed: bool) -> Settlement:
        """End a trial for good. Equal trials are settled equally, however often that is asked for.

        Args:
            task: of the trial.
            commands: that the agent gave, in order.
            passed: whether the evaluator passed the trial.
        """
        ...


@runtime_checkable
class Carries(Protocol):
    """An `Environment` in which a trial may begin where the trial before it ended.

    Attributes:
        carries: whether it does so, as it is set.
    """

    @property
    def carries(self) -> bool: ...

    def after(self, earlier: Sequence[Sequence[str]]) -> Environment:
        """Return the same environment, whose episodes begin where earlier trials of their task ended.

        Args:
            earlier: the commands of each, in order. None of them had passed.
        """
        ...


@runtime_checkable
class TakesControls(Protocol):
    """An `Environment` between whose commands and the agent safeguards can stand; without it `controls` is refused."""

    def controlled(self, given: Mapping[str, Any]) -> Environment:
        """Return the same environment with these controls.

        Args:
            given: by name: true, a mapping of numbers, or false or None for off.

        Raises:
            UsageError: a control does not exist, or a number it cannot have.
        """
        ...

    def controls_told(self) -> str:
        """Return the controls with their numbers, as they stand on a row; "" for none."""
        ...


@runtime_checkable
class Verifiable(Protocol):
    """An `Environment` whose trials can be replayed in another implementation; without it no run can be verified."""

    def verifier(self) -> Verifier:
        """Return what replays its trials.

        Raises:
            UsageError: the other implementation is not installed.
        """
        ...
