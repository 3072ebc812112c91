"""Reflexion: learning from failure by words.

Shinn et al., "Reflexion: Language Agents with Verbal Reinforcement Learning", NeurIPS 2023, algorithm 1: generate a
trajectory and evaluate it; while it is not good and trials are left, reflect on it, remember the reflection, and try
again with the memory in context. With a reflector that remembers nothing this is plain retrying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reflex_bench.agents.base import Attempt, Trajectory
from reflex_bench.agents.memory import Memory


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial and what came of it.

    Attributes:
        trajectory: what happened.
        passed: the evaluator's verdict, by which the agent goes; the true outcome is the trajectory's.
        reflection: what was written after a failed trial, if another follows.
    """

    trajectory: Trajectory
    passed: bool
    reflection: str | None = None


def reflexion(
    attempt: Attempt,
    evaluate: Callable[[Trajectory], bool],
    reflect: Callable[[Trajectory, Memory], str | None],
    memory: Memory,
    trials: int,
) -> Iterator[Trial]:
    """Yields the trials of one task, in order, until one passes or all are used.

    Args:
        attempt: plays one trial with the memory shown.
        evaluate: decides whether a trial passed.
        reflect: called on failed trials only.
        memory: empty at the start.
        trials: most trials.
    """
    for number in range(1, trials + 1):
        trajectory = attempt(number, memory.shown())
        passed = evaluate(trajectory)
        if passed or number == trials:
            yield Trial(trajectory, passed)
            return
        reflection = reflect(trajectory, memory)
        if reflection is not None:
            memory.add(reflection)
        yield Trial(trajectory, passed, reflection)
