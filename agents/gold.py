"""Plays the plan of an environment that knows one for each task: a row to hold others against, no agent under test."""

from __future__ import annotations

from contextlib import closing
from typing import Any, Protocol

from reflex_bench.agents.base import Ask, Limits, Outcome, Step, Trajectory, Watch
from reflex_bench.core.parts import stating
from reflex_bench.envs.base import HANDED_OVER, Action, Environment, StepResult, Task

CAP = 3
"""Gold may take so many times the steps of an agent: it has to show that every task can be solved, not how fast."""


class Player(Protocol):
    """Says what is to be done next."""

    def next(self, last: StepResult | None) -> str | None:
        """Return the next command, having seen the answer to the one before; None where nothing is left to do."""
        ...


@stating(needs_method="gold_player", asks_model=False, reference=True)
def gold(
    task: Task,
    trial: int,
    memory: tuple[str, ...],
    environment: Environment,
    ask: Ask,
    limits: Limits,
    watch: Watch | None = None,
) -> Trajectory:
    """Plays the plan of a task, with the right way out of every fault. Implements `reflex_bench.agents.base.Agent`.

    It asks no model, and knows from the environment what no agent can know.
    """
    made: Any = environment
    with closing(environment.start(task)) as episode:
        first = episode.reset()
        player: Player = made.gold_player(episode)
        steps: list[Step] = []
        result: StepResult | None = None
        while (command := player.next(result)) is not None and len(steps) < CAP * limits.max_steps:
            result = episode.step(command)
            steps.append(Step.of(len(steps) + 1, command, Action(command=command), result))
            if result.done:
                break
        return Trajectory(task, trial, memory, first, tuple(steps), _ending(result), episode.result())


def _ending(result: StepResult | None) -> Outcome:
    if result is None or not result.done:
        return "gave_up"
    if result.won:
        return "success"
    return "handed_over" if result.reason == HANDED_OVER else "failure"
