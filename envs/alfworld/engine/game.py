"""Native engine: the same game as the official one, to the letter, thousands of times faster.

    >>> from reflex_bench.envs.alfworld.engine.game import Game
    >>> game = Game.load(path)  # of a game.tw-pddl
    >>> print(game.reset().observation.splitlines()[-1])
    Your task is to: put a hot potato in sinkbasin.
    >>> game.step("go to fridge 1").observation
    'You arrive at fridge 1. The fridge 1 is closed.'
    >>> step = game.step("open fridge 1")
    >>> step.observation
    'You open the fridge 1. The fridge 1 is open. In it, you see a tomato 1.'
    >>> step.won, step.valid, "take tomato 1 from fridge 1" in step.admissible
    (False, True, True)

It reads the games of data 2.1.1 to 2.1.3 and of package 0.4.2, recognised by what their rules mean. It refuses others
and names what differs. The rules of the household are in `rules`, what the game says in `text`; docs/engine.md tells
how the equality was checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reflex_bench.envs.alfworld.engine.goal import facts_of, holds
from reflex_bench.envs.alfworld.engine.household import Household
from reflex_bench.envs.alfworld.engine.loading.pddl import UnknownGame
from reflex_bench.envs.alfworld.engine.loading.reading import read_household
from reflex_bench.envs.alfworld.engine.rules import CHANGES, apply, available
from reflex_bench.envs.alfworld.engine.state import State
from reflex_bench.envs.alfworld.engine.text import NOTHING_HAPPENS, feedback, intro

__all__ = ["Game", "Games", "Outcome", "UnknownGame"]


class Outcome(NamedTuple):
    """What a game answers.

    Attributes:
        observation: its text.
        won: whether the goal holds now.
        admissible: every command that would be accepted now, sorted.
        valid: whether the command was accepted; one that was not changes nothing.
    """

    observation: str
    won: bool
    admissible: tuple[str, ...]
    valid: bool = True


class Game:
    """One game in play. Games share nothing that changes: each may be used in a thread of its own, copied and pickled.

    Attributes:
        household: what never changes.
        state: what does; not to be changed from outside.
        won: whether the goal holds now.
        admissible: every command that would be accepted now, sorted.
    """

    __slots__ = ("_decisive", "_options", "admissible", "household", "state", "won")

    def __init__(self, household: Household) -> None:
        self.household = household
        mentioned = {fact.predicate for fact in facts_of(household.goal)}
        self._decisive = frozenset(verb for verb, changed in CHANGES.items() if changed & mentioned)
        self.reset()

    @classmethod
    def load(cls, path: str | Path) -> Game:
        """Reads a `game.tw-pddl`.

        Raises:
            UnknownGame: its rules, wording or shape are not known here.
            OSError: it cannot be read.
        """
        return cls.from_json(Path(path).read_bytes())

    @classmethod
    def from_json(cls, game: str | bytes | Mapping[str, Any]) -> Game:
        """Reads the content of a `game.tw-pddl`, as text, bytes or parsed.

        Raises:
            UnknownGame: its rules, wording or shape are not known here.
        """
        try:
            content = json.loads(game) if isinstance(game, (str, bytes)) else game
        except (ValueError, RecursionError) as error:
            raise UnknownGame(f"no game file: not JSON ({error})") from error
        return cls(read_household(content))

    def reset(self) -> Outcome:
        """Starts afresh; the answer's observation is the opening text, banner and task included."""
        self.state: State = self.household.start.copy()
        self.won: bool = holds(self.household.goal, self.state)
        self._look_for_options()
        return Outcome(intro(self.household, self.state), self.won, self.admissible)

    def step(self, command: str) -> Outcome:
        """Executes one command, which must be admissible to the letter; only white space around it is ignored."""
        action = self._options.get(command.strip())
        if action is None:
            return Outcome(NOTHING_HAPPENS, self.won, self.admissible, valid=False)
        if action.verb in CHANGES:
            apply(self.household, self.state, action)
            self._look_for_options()
            if action.verb in self._decisive:
                self.won = holds(self.household.goal, self.state)
        return Outcome(feedback(self.household, self.state, action), self.won, self.admissible)

    def _look_for_options(self) -> None:
        self._options = available(self.household, self.state)
        self.admissible: tuple[str, ...] = tuple(sorted(self._options))

    def copy(self) -> Game:
        """Return a game in the same state, from which both go their own ways."""
        twin = object.__new__(Game)
        twin.household, twin.state, twin.won = self.household, self.state.copy(), self.won
        # The options are replaced at each step, never changed.
        twin._decisive, twin._options, twin.admissible = self._decisive, self._options, self.admissible
        return twin


class Games:
    """Several games played side by side, one command each at a time.

    Args:
        games: the games, in the order in which their commands will come.
    """

    def __init__(self, games: Iterable[Game]) -> None:
        self.games = list(games)

    def reset(self) -> list[Outcome]:
        return [game.reset() for game in self.games]

    def step(self, commands: Sequence[str]) -> list[Outcome]:
        """Return one command for each game; those that are won play on.

        Raises:
            ValueError: there are more or fewer commands than games.
        """
        return [game.step(command) for game, command in zip(self.games, commands, strict=True)]
