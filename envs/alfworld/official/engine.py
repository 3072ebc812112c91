"""Official engine: TextWorld's PDDL environment, named and wrapped as ALFWorld does it.

One thread of a process may use it, no more: its parsers and its planner's state are globals of the process, and it
swaps `sys.stdout` while it loads. `workers` runs it in processes of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOTHING_HAPPENS = "Nothing happens."


@dataclass(frozen=True, slots=True)
class OfficialStep:
    """The engine's answer to one command.

    Attributes:
        observation: its feedback, word for word.
        won: whether the goal holds now.
        admissible: every command that would be accepted now, sorted.
    """

    observation: str
    won: bool
    admissible: tuple[str, ...]


class OfficialGame:
    """One game in the official engine.

    Args:
        source: the path of a `game.tw-pddl`, or its content as a mapping.

    Attributes:
        won: whether the goal holds now.
        admissible: every command that would be accepted now, sorted.

    Raises:
        UnwinnableGame: nothing can meet its goal.
    """

    def __init__(self, source: Path | str | Mapping[str, Any]) -> None:
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
        from textworld.envs import PddlEnv

        # Never ask for `policy_commands`: that runs a planner at every step.
        infos = textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
        self._env = AlfredInfos(AlfredDemangler(PddlEnv(infos), shuffle=False))
        try:
            self._env.load(str(source) if isinstance(source, (str, Path)) else source)
        except KeyError:
            _explain(source)
            raise
        self.won = False
        self.admissible: tuple[str, ...] = ()

    def reset(self) -> OfficialStep:
        """Starts afresh; the answer's observation is the opening text, banner and task included."""
        return self._take(self._env.reset())

    def step(self, command: str) -> OfficialStep:
        """Executes one command; what is not admissible changes nothing."""
        state, _, _ = self._env.step(command)
        return self._take(state)

    def close(self) -> None:
        self._env.close()

    def _take(self, state: Any) -> OfficialStep:
        self.won = bool(state["won"])
        self.admissible = tuple(state["admissible_commands"])
        return OfficialStep(str(state["feedback"]), self.won, self.admissible)


def _explain(source: Path | str | Mapping[str, Any]) -> None:
    """Raise `UnwinnableGame` if that is why a game cannot be loaded.

    Fast Downward's translator keeps nothing of a task whose goal is out of reach, and TextWorld then looks for an
    object called `val1`.
    """
    from reflex_bench.envs.alfworld.engine.loading.pddl import UnknownGame, UnwinnableGame
    from reflex_bench.envs.alfworld.engine.loading.reading import read_household

    try:
        read_household(source if isinstance(source, Mapping) else json.loads(Path(source).read_bytes()))
    except UnwinnableGame as reason:
        raise reason from None
    except UnknownGame:
        pass


def solves(game: Mapping[str, Any] | bytes | str, plan: Sequence[str]) -> bool:
    """Return whether a plan wins a game in the official engine, in which it is not won before the last command.

    Args:
        game: the content of a `game.tw-pddl`, parsed or as text.
        plan: commands in the game's own grammar; each must be accepted.
    """
    played = OfficialGame(game if isinstance(game, Mapping) else json.loads(game))
    try:
        played.reset()
        for command in plan:
            if played.won or command not in played.admissible:
                return False
            played.step(command)
        return played.won
    finally:
        played.close()
