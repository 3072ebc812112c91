"""ALFWorld behind the harness's protocol."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reflex_bench.envs.alfworld.grammar import Grammar, detect
from reflex_bench.envs.alfworld.official import NOTHING_HAPPENS
from reflex_bench.envs.alfworld.official_data import load_official
from reflex_bench.envs.alfworld.splits import (
    PROCEDURAL,
    games_needed,
    load_procedural,
    only,
    parse_name,
    select,
)
from reflex_bench.envs.alfworld.workers import WorkerPool
from reflex_bench.envs.base import Action, Environment, Episode, ParsePolicy, Split, StepResult, Task
from reflex_bench.envs.sampling import Sampling
from reflex_bench.harness.errors import EnvironmentFailure, UsageError, unknown

if TYPE_CHECKING:
    from reflex_bench.envs.alfworld.refusals import Vocabulary

Engine = Literal["native", "official"]
Feedback = Literal["plain", "hint"]

DEFAULT_ENGINE: Engine = "native"
MAX_STEPS = 30  # Shinn et al., 2023, section 4.1: a trial of more than 30 actions has failed
GAMES_KEPT = 128
"""Games whose file need not be read again; about 0.1 MB each."""
BANNER = "-= Welcome to TextWorld, ALFRED! =-"


class Options(BaseModel):
    """What a person may set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    split: str = PROCEDURAL
    """`procedural`, `procedural:seed=7,hidden=0.4,copies=5`, `valid_unseen`, `valid_seen` or `train`."""
    seed: int | None = Field(default=None, ge=0)
    """Of the procedural split, instead of naming it there."""
    generator: int | None = None
    """Of the procedural split, instead of naming it there: 1 for the games of the first release."""
    data: Path | None = None
    """Folder of the official data; `$ALFWORLD_DATA` or `~/.cache/alfworld` unless given."""
    task_ids: tuple[str, ...] = ()
    """Only these tasks."""
    task_type: str | None = None
    """Only tasks of this type: `put`, `clean`, `heat`, `cool`, `examine` or `puttwo`."""
    sampling: Sampling = "stratified"
    """Which tasks stand for the split where not all are taken: `stratified` by type, or the `first` by id."""
    engine: Engine = DEFAULT_ENGINE
    """`native`, or `official` for TextWorld's own, which is some thousand times slower."""
    feedback: Feedback = "plain"
    """`hint` adds to "Nothing happens." one sentence on why (native engine only); no game of ALFWorld tells that."""
    workers: int | None = Field(default=None, ge=1)
    """Processes of the official engine (about 170 MB each); the number of processors unless given."""


class Game(Protocol):
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

    game: Game
    grammar: Grammar
    engine: Engine
    vocabulary: Vocabulary | None = None
    refused: str | None = None
    free: Callable[[], None] = lambda: None


def create(options: Mapping[str, Any]) -> Environment:
    """The environment with the given options; see `Options`.

    Raises:
        UsageError: an option that does not exist or cannot have that value.
    """
    for name in options:
        if name not in Options.model_fields:
            raise unknown("ALFWorld option", name, Options.model_fields)
    try:
        parsed = Options.model_validate(dict(options))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise UsageError(f"ALFWorld option {name!r}: {first['msg']}, not {first['input']!r}") from None
    return AlfworldEnvironment(parsed)


class AlfworldEnvironment:
    """The adapter.

    Args:
        options: see there.

    Raises:
        UsageError: options that do not go together.
    """

    name = "alfworld"
    max_steps = MAX_STEPS
    feedback = "environment"
    cluster_name = "room"

    def __init__(self, options: Options) -> None:
        from reflex_bench.agents import prompts

        self.prompts = prompts.load(self.name)
        if options.feedback == "hint" and options.engine == "official":
            raise UsageError(
                "ALFWorld option 'feedback': hint goes with engine=native alone; the official engine does not know why "
                "a command had no effect"
            )
        self._options = options
        self._split, self._recipe = parse_name(options.split, options.seed, options.generator)
        self._pool = WorkerPool(options.workers or os.cpu_count() or 1)
        # The trials of a task come soon after one another; what they share of a game never changes.
        self._read = lru_cache(maxsize=GAMES_KEPT)(self._read_game)

    def load(self, count: int | None = None, seed: int = 0) -> Split:
        """The split, filtered by `task_ids` and `task_type`; of that, `count` tasks.

        The procedural split grows as needed.
        """
        options = self._options
        if self._split == PROCEDURAL:
            split = load_procedural(self._recipe, games_needed(count, options.task_type))
        else:
            split = load_official(self._split, options.data)
        if options.task_ids or options.task_type is not None:
            split = only(split, options.task_ids, options.task_type)
        return select(split, count, seed, options.sampling)

    def start(self, task: Task) -> Episode:
        """A fresh episode; the game is opened by its `reset`."""
        path: Path = task.data.path
        return AlfworldEpisode(path, task.data.steps, self._open, hints=self._options.feedback == "hint")

    def read_action(self, completion: str, policy: ParsePolicy) -> Action:
        """Finds the action in what a model wrote."""
        from reflex_bench.envs.alfworld import actions

        return actions.read_action(completion, policy)

    def read_admissible(self, completion: str, admissible: Sequence[str]) -> Action:
        """Finds the action in what a model wrote, a near miss of one admissible command included."""
        from reflex_bench.envs.alfworld import actions

        return actions.read_action(completion, "admissible", admissible)

    def tools(self) -> tuple[Mapping[str, Any], ...]:
        """None: a household is commanded in words."""
        return ()

    def read_call(self, name: str, arguments: str, thought: str, extra: int) -> Action:
        """No tool exists, so none can be called."""
        return Action(thought, error="unknown_action")

    def untold(self) -> AlfworldEnvironment:
        """Itself: a game never says whether it is won, it only ends."""
        return self

    def settings(self) -> Mapping[str, Any]:
        """The engine and every version that decides what a game is."""
        settings: dict[str, Any] = {
            "engine": self._options.engine,
            "alfworld": version("alfworld"),
            "textworld": version("textworld"),
        }
        if self._split == PROCEDURAL:
            settings["generator"] = self._recipe.generator
        if self._options.feedback != "plain":
            settings["feedback"] = self._options.feedback
        return settings

    def close(self) -> None:
        """Ends the engine's processes."""
        self._pool.close()

    def _open(self, path: Path) -> Opened:
        """A fresh game in the engine that is to play it, and what an episode needs beside it."""
        from reflex_bench.envs.alfworld.engine import Game as NativeGame

        vocabulary, grammar, unknown = self._read(path)
        if vocabulary is not None and self._options.engine == "native":
            return Opened(NativeGame(vocabulary.household), grammar, "native", vocabulary)
        remote = self._pool.open(path)
        return Opened(remote, grammar, "official", vocabulary, unknown, remote.close)

    def _read_game(self, path: Path) -> tuple[Vocabulary | None, Grammar, str | None]:
        """What there is to know about a game, how it speaks, and why the native engine cannot play it, if so."""
        from reflex_bench.envs.alfworld.pddl import UnknownGame, UnwinnableGame
        from reflex_bench.envs.alfworld.reading import read_household
        from reflex_bench.envs.alfworld.refusals import Vocabulary

        try:
            content = json.loads(path.read_bytes())
            grammar = detect(content["grammar"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise EnvironmentFailure(f"cannot read the game {path}: {error}") from error
        try:
            return Vocabulary(read_household(content)), grammar, None
        except UnwinnableGame as unwinnable:
            raise EnvironmentFailure(f"the game {path.parent.name} has {unwinnable}") from None
        except UnknownGame as unknown_game:
            return None, grammar, str(unknown_game) if self._options.engine == "native" else None


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
        """The first look round and the task, without TextWorld's banner."""
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
        """The commands that the game would accept now, in its own grammar."""
        return self._admissible

    def result(self) -> Mapping[str, Any]:
        """What a trial's row says besides.

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


def _hint(game: Game, command: str) -> str:
    """Why a command had no effect, as it is added to the answer; "" where that is not known."""
    from reflex_bench.envs.alfworld.engine import Game as NativeGame
    from reflex_bench.envs.alfworld.hints import why_without_effect

    # A game with rules that are not known here is played by the official engine, whatever was asked for.
    reason = why_without_effect(game.household, game.state, command) if isinstance(game, NativeGame) else None
    return f" {reason.sentence}" if reason else ""
