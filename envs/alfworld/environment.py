"""ALFWorld as an environment of the harness."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reflex_bench.core.errors import EnvironmentFailure, UsageError
from reflex_bench.core.parts import checked_options
from reflex_bench.envs.alfworld.episode import AlfworldEpisode, Engine, Opened
from reflex_bench.envs.alfworld.generator import Recipe
from reflex_bench.envs.alfworld.metrics import METRICS
from reflex_bench.envs.alfworld.official.data import data_folder, load_official
from reflex_bench.envs.alfworld.official.package import missing_engine, package_version
from reflex_bench.envs.alfworld.official.workers import WorkerPool
from reflex_bench.envs.alfworld.parsing.grammar import Grammar, detect
from reflex_bench.envs.alfworld.splits import (
    PROCEDURAL,
    games_needed,
    load_generated,
    load_procedural,
    only,
    parse_name,
    parse_name_in,
    previewed,
    select,
)
from reflex_bench.envs.base import Action, Environment, Episode, ParsePolicy, Split, Task
from reflex_bench.envs.metrics import Metric
from reflex_bench.envs.sampling import Sampling

if TYPE_CHECKING:
    from reflex_bench.envs.alfworld.engine.refusals import Vocabulary
    from reflex_bench.envs.alfworld.verify import OfficialVerifier

Feedback = Literal["plain", "hint"]

DEFAULT_ENGINE: Engine = "native"
MAX_STEPS = 30  # Shinn et al., 2023, section 4.1: a trial of more than 30 actions has failed
GAMES_KEPT = 128
"""Games whose file need not be read again; about 0.1 MB each."""

_ROOM_AND_GOAL = re.compile(
    r"you are in the middle of a room\..*?your task is to: [^\n]*", re.DOTALL | re.IGNORECASE
)


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
    """Folder that is played: of `reflex data generate alfworld`, or of official data. Where it is not given, official
    data is looked for in `$ALFWORLD_DATA` or `~/.cache/alfworld`."""
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


def create(options: Mapping[str, Any]) -> Environment:
    """Return the environment with the given options; see `Options`.

    Raises:
        UsageError: an option that does not exist or cannot have that value.
    """
    return AlfworldEnvironment(checked_options("environment 'alfworld'", Options, options))


def _split_and_recipe(options: Options) -> tuple[str, Recipe]:
    if options.data is None:
        return parse_name(options.split, options.seed, options.generator)
    asked = options.split if "split" in options.model_fields_set else None
    return parse_name_in(options.data, asked, options.seed, options.generator)


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
    title = "ALFWorld"
    task_name = "game"
    cluster_name = "room"
    pinned = ("generator",)

    def __init__(self, options: Options) -> None:
        from reflex_bench.envs import prompts

        self.prompts = prompts.load(self.name)
        if options.feedback == "hint" and options.engine == "official":
            raise UsageError(
                "ALFWorld option 'feedback': hint goes with engine=native alone; the official engine does not know why "
                "a command had no effect"
            )
        if options.engine == "official" and (missing := missing_engine()):
            raise UsageError(missing)
        self._options = options
        self._split, self._recipe = _split_and_recipe(options)
        self._pool = WorkerPool(options.workers or os.cpu_count() or 1)
        # The trials of a task come soon after one another; what they share of a game never changes.
        self._read = lru_cache(maxsize=GAMES_KEPT)(self._read_game)

    def load(self, count: int | None = None, seed: int = 0) -> Split:
        """Return the split, filtered by `task_ids` and `task_type`; of that, `count` tasks.

        The procedural split grows as needed.
        """
        options = self._options
        if self._split == PROCEDURAL and options.data is not None:
            split = load_generated(data_folder(options.data), self._recipe)
        elif self._split == PROCEDURAL:
            split = load_procedural(self._recipe, games_needed(count, options.task_type))
        else:
            split = load_official(self._split, options.data)
        if options.task_ids or options.task_type is not None:
            split = only(split, options.task_ids, options.task_type)
        return select(split, count, seed, options.sampling)

    def enough_to_preview(self, count: int) -> int:
        """Return how many games a dry run loads."""
        if self._split != PROCEDURAL or self._options.data is not None:
            return count
        games_needed(count, self._options.task_type)
        return min(count, previewed(self._options.task_type))

    def start(self, task: Task) -> Episode:
        """Return a fresh episode; the game is opened by its `reset`."""
        path: Path = task.data.path
        return AlfworldEpisode(path, task.data.steps, self._open, hints=self._options.feedback == "hint")

    def sample_observations(self) -> Sequence[str]:
        """Return what is added to the game's own answers; those are fixed by its file and the engine."""
        if self._options.feedback != "hint":
            return ()
        from reflex_bench.envs.alfworld.engine.hints import sample_hints

        return list(sample_hints())

    def read_action(self, completion: str, policy: ParsePolicy) -> Action:
        """Finds the action in what a model wrote."""
        from reflex_bench.envs.alfworld.parsing import actions

        return actions.read_action(completion, policy)

    def read_admissible(self, completion: str, admissible: Sequence[str]) -> Action:
        """Finds the action in what a model wrote, a near miss of one admissible command included."""
        from reflex_bench.envs.alfworld.parsing import actions

        return actions.read_action(completion, "admissible", admissible)

    def tools(self) -> tuple[Mapping[str, Any], ...]:
        """Return no tools: a household is commanded in words."""
        return ()

    def read_call(self, name: str, arguments: str, thought: str, extra: int) -> Action:
        """No tool exists, so none can be called."""
        return Action(thought, error="unknown_action")

    def without_feedback(self) -> AlfworldEnvironment:
        """Return itself: a game never says whether it is won, it only ends."""
        return self

    def metrics(self) -> tuple[Metric, ...]:
        """Return how far from a known plan the won games were."""
        return METRICS

    def generate(self, seed: int, tasks: int, out: Path) -> None:
        """Write games as the official tools read them; each goes to a folder of its own."""
        from reflex_bench.envs.alfworld import generator

        generator.write(seed, tasks, out)

    def fetch(self, out: Path | None, base_url: str | None) -> None:
        """Download the official games."""
        from reflex_bench.envs.alfworld.fetch import fetch

        fetch(out, base_url)

    def recognised_by(self, task: Task, opening: str) -> tuple[str, str]:
        """Return a game's room with its receptacles, and its goal; many rooms share a goal, and many goals a room."""
        found = _ROOM_AND_GOAL.search(opening)
        return ("room and goal", found[0]) if found else ("text", task.text)

    def verifier(self) -> OfficialVerifier:
        """Return what replays its trials in the official engine, in which no command is answered with a hint.

        Raises:
            UsageError: the official engine is not installed.
        """
        from reflex_bench.envs.alfworld.verify import OfficialVerifier

        options = self._options.model_copy(update={"engine": "official", "feedback": "plain"})
        return OfficialVerifier(AlfworldEnvironment(options))

    def settings(self) -> Mapping[str, Any]:
        """Return the engine and every version that decides what a game is."""
        settings: dict[str, Any] = {"engine": self._options.engine, "alfworld": package_version()}
        if self._options.engine == "official":
            settings["textworld"] = version("textworld")
        if self._split == PROCEDURAL:
            settings["generator"] = self._recipe.generator
        if self._options.feedback != "plain":
            settings["feedback"] = self._options.feedback
        return settings

    def close(self) -> None:
        """Ends the engine's processes."""
        self._pool.close()

    def _open(self, path: Path) -> Opened:
        """Return a fresh game in the engine that is to play it, and what an episode needs beside it."""
        from reflex_bench.envs.alfworld.engine.game import Game as NativeGame

        vocabulary, grammar, unknown = self._read(path)
        if vocabulary is not None and self._options.engine == "native":
            return Opened(NativeGame(vocabulary.household), grammar, "native", vocabulary)
        if missing := missing_engine():
            raise EnvironmentFailure(
                f"the native engine does not know the game {path.parent.name} ({unknown}), and {missing}"
            )
        remote = self._pool.open(path)
        return Opened(remote, grammar, "official", vocabulary, unknown, remote.close)

    def _read_game(self, path: Path) -> tuple[Vocabulary | None, Grammar, str | None]:
        """Return what there is to know about a game, how it speaks, and why the native engine cannot play it, if so."""
        from reflex_bench.envs.alfworld.engine.loading.pddl import UnknownGame, UnwinnableGame
        from reflex_bench.envs.alfworld.engine.loading.reading import read_household
        from reflex_bench.envs.alfworld.engine.refusals import Vocabulary

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
