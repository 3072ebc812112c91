"""Checks play against the official engine: recorded trials, and the native engine itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reflex_bench.envs.alfworld.engine.hints import without_hint
from reflex_bench.envs.alfworld.episode import Answer, GameInPlay
from reflex_bench.envs.base import Environment, Episode, Task


@dataclass(frozen=True, slots=True)
class Difference:
    """The first point at which two tellings of a game part.

    Attributes:
        step: after which command, counted from 1; 0 is the opening.
        command: that command, empty for the opening.
        what: `observation`, `won`, `admissible` or `end`.
        given: what was recorded, or what the native engine says.
        official: what the official engine says.
    """

    step: int
    command: str
    what: str
    given: str
    official: str

    def __str__(self) -> str:
        where = f"step {self.step} ({self.command!r})" if self.step else "the opening"
        return f"{self.what} differs at {where}: {self.given!r}, officially {self.official!r}"


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of a comparison.

    Attributes:
        steps: commands executed.
        won: whether the official engine called the game won at any time.
        difference: the first one, after which nothing was compared; None where all is identical.
    """

    steps: int
    won: bool
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class OfficialVerifier:
    """Replays trials in the official engine.

    Attributes:
        environment: the one that a run was played in, with `engine=official`.
    """

    environment: Environment
    engine: ClassVar[str] = "official"

    def replay(self, task: Task, opening: str, turns: Sequence[tuple[str, str]], won: bool) -> Replay:
        """Repeat a recorded trial; see the function `replay`."""
        return replay(self.environment.start(task), opening, turns, won)


def replay(episode: Episode, opening: str, turns: Sequence[tuple[str, str]], won: bool) -> Replay:
    """Repeats a recorded trial in another engine.

    Args:
        episode: a fresh episode of the same task, of an environment with `engine=official`; closed at the end.
        opening: the first observation as recorded.
        turns: (command, observation) for every command that the environment executed; a hint in an observation does
            not count, as only the native engine gives one.
        won: whether the record says that the trial succeeded.

    Raises:
        EnvironmentFailure: the official engine failed.
    """
    ever_won = False
    try:
        officially = episode.reset()
        if officially != opening:
            return Replay(0, False, Difference(0, "", "observation", opening, officially))
        for step, (command, observation) in enumerate(turns, start=1):
            answer = episode.step(command)
            ever_won = ever_won or answer.won
            if answer.observation != without_hint(observation):
                return Replay(
                    step, ever_won, Difference(step, command, "observation", observation, answer.observation)
                )
    finally:
        episode.close()
    last = turns[-1][0] if turns else ""
    difference = None if ever_won == won else Difference(len(turns), last, "won", str(won), str(ever_won))
    return Replay(len(turns), ever_won, difference)


def compare(native: GameInPlay, official: GameInPlay, choose: Callable[[int, Answer], str | None]) -> Replay:
    """Plays one game in both engines and compares observation, `won` and admissible commands at every step.

    Args:
        native: a game in the native engine.
        official: the same game in the official engine.
        choose: the next command, given the number of the step (from 1) and the native engine's last answer; None ends.
    """
    given, officially = native.reset(), official.reset()
    step, command, ever_won = 0, "", officially.won
    while True:
        for what in ("observation", "won", "admissible"):
            one, other = getattr(given, what), getattr(officially, what)
            if one != other:
                return Replay(step, ever_won, Difference(step, command, what, str(one), str(other)))
        chosen = choose(step + 1, given)
        if chosen is None:
            return Replay(step, ever_won)
        step, command = step + 1, chosen
        given, officially = native.step(command), official.step(command)
        ever_won = ever_won or officially.won
