"""One trial of one ALFWorld game, in either engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from reflex_bench.core.errors import EnvironmentFailure
from reflex_bench.envs.alfworld.official.engine import NOTHING_HAPPENS
from reflex_bench.envs.alfworld.parsing.grammar import Grammar
from reflex_bench.envs.base import StepResult

if TYPE_CHECKING:
    from reflex_bench.envs.alfworld.engine.refusals import Vocabulary

Engine = Literal["native", "official"]

BANNER = "-= Welcome to TextWorld, ALFRED! =-"


class GameInPlay(Protocol):
    """A game in either engine, as an episode uses it."""

    def reset(self) -> Answer: ...

    def step(self, command: str) -> Answer: ...


class Answer(Protocol):
    """An engine's answer to a command, or its opening."""

    @property
    def observation(self) -> str: ...

    @property
    def won(self) -> bool: ...

    @property
    def admissible(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Opened:
    """A game ready to be played.

    Attributes:
        game: the game, in either engine.
        grammar: how it speaks.
        engine: which engine plays it.
        vocabulary: its commands and names; None where they could not be read.
        refused: why the native engine does not, though it was asked for; None where it does, or was not.
        free: frees what the game takes.
    """

    game: GameInPlay
    grammar: Grammar
    engine: Engine
    vocabulary: Vocabulary | None = None
    refused: str | None = None
    free: Callable[[], None] = lambda: None


class AlfworldEpisode:
    """One trial of one game.

    Args:
        path: the game file.
        steps: length of its recorded walkthrough, if there is one.
        open_game: opens a fresh game in the engine that is to play it.
        hints: whether a command without effect is answered with the reason, too.
    """

    def __init__(
        self, path: Path, steps: int | None, open_game: Callable[[Path], Opened], hints: bool = False
    ) -> None:
        self._path = path
        self._steps = steps
        self._open_game = open_game
        self._hints = hints
        self._opened: Opened | None = None
        self._closed = False
        self._translated = 0
        self._admissible: tuple[str, ...] = ()

    def reset(self) -> str:
        """Return the first look round and the task, without TextWorld's banner."""
        if self._opened is not None:
            raise EnvironmentFailure("an episode is started once; start another for another trial")
        self._opened = self._open_game(self._path)
        answer = self._opened.game.reset()
        self._admissible = answer.admissible
        return self._opened.grammar.to_model(answer.observation.removeprefix(BANNER).strip())

    def step(self, command: str) -> StepResult:
        """Executes one command, in either of the two grammars."""
        opened = self._opened
        if opened is None or self._closed:
            raise EnvironmentFailure("the episode is not started, or is closed")
        words, translated = opened.grammar.to_game(command)
        answer = opened.game.step(words)
        self._admissible = answer.admissible
        self._translated += translated
        observation = opened.grammar.to_model(answer.observation.strip())
        valid = observation != NOTHING_HAPPENS
        reason = "" if valid or opened.vocabulary is None else opened.vocabulary.why_refused(words)
        if self._hints and not valid:
            observation += _hint(opened.game, words)
        return StepResult(observation, answer.won, done=answer.won, valid=valid, reason=reason)

    def admissible(self) -> Sequence[str]:
        """Return the commands that the game would accept now, in its own grammar."""
        return self._admissible

    def result(self) -> Mapping[str, Any]:
        """Return what a trial's row says besides.

        `plan_length`: an upper bound on the steps needed; `translated`: commands put into the game's grammar; `engine`:
        `native` or `official`; `refused`: why the native engine did not play, where it was to.
        """
        result: dict[str, Any] = {"plan_length": self._steps, "translated": self._translated}
        if self._opened is not None:
            result["engine"] = self._opened.engine
            if self._opened.refused is not None:
                result["refused"] = self._opened.refused
        return result

    def close(self) -> None:
        """Gives the game back to its engine."""
        self._closed = True
        if self._opened is not None:
            self._opened.free()


def _hint(game: GameInPlay, command: str) -> str:
    """Return why a command had no effect, as it is added to the answer; "" where that is not known."""
    from reflex_bench.envs.alfworld.engine.game import Game as NativeGame
    from reflex_bench.envs.alfworld.engine.hints import why_without_effect

    # A game with rules that are not known here is played by the official engine, whatever was asked for.
    reason = why_without_effect(game.household, game.state, command) if isinstance(game, NativeGame) else None
    return f" {reason.sentence}" if reason else ""
