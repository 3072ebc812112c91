"""ALFWorld behind the harness's protocol."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reflex_bench.envs.alfworld.generator import VERSION
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
    from reflex_bench.envs.alfworld.household import Household

Engine = Literal["native", "official"]
Feedback = Literal["plain", "hint"]

DEFAULT_ENGINE: Engine = "native"
MAX_STEPS = 30  # Shinn et al., 2023, section 4.1: a trial of more than 30 actions has failed
GAMES_KEPT = 128
"""Games whose file need not be read again; about 0.1 MB each."""
BANNER = "-= Welcome to TextWorld, ALFRED! =-"

_log = logging.getLogger(__name__)


class Options(BaseModel):
    """What a person may set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    split: str = PROCEDURAL
    """`procedural`, `procedural:seed=7`, `valid_unseen`, `valid_seen` or `train`."""
    seed: int | None = Field(default=None, ge=0)
    """Of the procedural split, instead of naming it there."""
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

    def __init__(self, options: Options) -> None:
        from reflex_bench.agents import prompts

        self.prompts = prompts.load(self.name)
        if options.feedback == "hint" and options.engine == "official":
            raise UsageError(
                "ALFWorld option 'feedback': hint goes with engine=native alone; the official engine does not know why "
                "a command had no effect"
            )
        self._options = options
        self._split, self._seed = parse_name(options.split, options.seed)
        self._pool = WorkerPool(options.workers or os.cpu_count() or 1)
        # The trials of a task come soon after one another; what they share of a game never changes.
        self._read = lru_cache(maxsize=GAMES_KEPT)(self._read_game)

    def load(self, count: int | None = None, seed: int = 0) -> Split:
        """The split, filtered by `task_ids` and `task_type`; of that, `count` tasks.

        The procedural split grows as needed.
        """
        options = self._options
        if self._split == PROCEDURAL:
            split = load_procedural(self._seed, games_needed(count, options.task_type))
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
            settings["generator"] = VERSION
        if self._options.feedback != "plain":
            settings["feedback"] = self._options.feedback
        return settings

    def close(self) -> None:
        """Ends the engine's processes."""
        self._pool.close()

    def _open(self, path: Path) -> tuple[Game, Grammar, Callable[[], None]]:
        """A fresh game, how it speaks, and what frees it."""
        from reflex_bench.envs.alfworld.engine import Game as NativeGame

        household, grammar = self._read(path)
        if household is not None:
            return NativeGame(household), grammar, lambda: None
        remote = self._pool.open(path)
        return remote, grammar, remote.close

    def _read_game(self, path: Path) -> tuple[Household | None, Grammar]:
        """What there is to know about a game, and how it speaks; None for one that the official engine is to play."""
        from reflex_bench.envs.alfworld.pddl import UnknownGame
        from reflex_bench.envs.alfworld.reading import read_household

        try:
            content = json.loads(path.read_bytes())
            grammar = detect(content["grammar"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise EnvironmentFailure(f"cannot read the game {path}: {error}") from error
        if self._options.engine == "native":
            try:
                return read_household(content), grammar
            except UnknownGame as unknown_game:
                _log.warning("%s: %s; played in the official engine", path.parent.name, unknown_game)
        return None, grammar


class AlfworldEpisode:
    """One trial of one game.

    Args:
        path: the game file.
        steps: length of its recorded walkthrough, if there is one.
        open_game: opens a fresh game in the engine of choice, and returns with it how it speaks and what frees it.
        hints: whether a command without effect is answered with the reason, too.
    """

    def __init__(
        self,
        path: Path,
        steps: int | None,
        open_game: Callable[[Path], tuple[Game, Grammar, Callable[[], None]]],
        hints: bool = False,
    ) -> None:
        self._path = path
        self._steps = steps
        self._open_game = open_game
        self._hints = hints
        self._game: Game | None = None
        self._free: Callable[[], None] = lambda: None
        self._grammar = Grammar(puts=False)
        self._translated = 0

    def reset(self) -> str:
        """The first look round and the task, without TextWorld's banner."""
        if self._game is not None:
            raise EnvironmentFailure("an episode is started once; start another for another trial")
        self._game, self._grammar, self._free = self._open_game(self._path)
        opening = self._game.reset().observation
        return self._grammar.to_model(opening.removeprefix(BANNER).strip())

    def step(self, command: str) -> StepResult:
        """Executes one command, in either of the two grammars."""
        if self._game is None:
            raise EnvironmentFailure("the episode is not started, or is closed")
        words, translated = self._grammar.to_game(command)
        answer = self._game.step(words)
        self._translated += translated
        observation = self._grammar.to_model(answer.observation.strip())
        valid = observation != NOTHING_HAPPENS
        if self._hints and not valid:
            observation += _hint(self._game, words)
        return StepResult(observation, answer.won, done=answer.won, valid=valid)

    def result(self) -> Mapping[str, Any]:
        """`plan_length`: an upper bound on the steps needed; `translated`: commands put into the game's grammar."""
        return {"plan_length": self._steps, "translated": self._translated}

    def close(self) -> None:
        """Gives the game back to its engine."""
        self._game = None
        self._free()


def _hint(game: Game, command: str) -> str:
    """Why a command had no effect, as it is added to the answer; "" where that is not known."""
    from reflex_bench.envs.alfworld.engine import Game as NativeGame
    from reflex_bench.envs.alfworld.hints import why_without_effect

    # A game with rules that are not known here is played by the official engine, whatever was asked for.
    reason = why_without_effect(game.household, game.state, command) if isinstance(game, NativeGame) else None
    return f" {reason.sentence}" if reason else ""
