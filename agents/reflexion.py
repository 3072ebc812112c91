"""Reflexion: learning from failure by words.

Shinn et al., "Reflexion: Language Agents with Verbal Reinforcement Learning", NeurIPS 2023, algorithm 1: generate a
trajectory and evaluate it; while it is not good and trials are left, reflect on it, remember the reflection, and try
again with the memory in context. With a reflector that remembers nothing this is plain retrying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reflex_bench.agents.base import Attempt, Reflection, Trajectory, Verdict
from reflex_bench.agents.memory.base import Shown, TaskMemory


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial and what came of it.

    Attributes:
        trajectory: what happened.
        verdict: the evaluator's, by which the agent goes; the true outcome is the trajectory's.
        shown: what of the memory it was shown.
        reflection: what was made of it if it failed and another trial follows.
    """

    trajectory: Trajectory
    verdict: Verdict
    shown: tuple[Shown, ...] = ()
    reflection: Reflection | None = None


def reflexion(
    attempt: Attempt,
    evaluate: Callable[[Trajectory], Verdict],
    reflect: Callable[[Trajectory, Verdict, TaskMemory], Reflection | None],
    memory: TaskMemory,
    trials: int,
    independent: bool = False,
) -> Iterator[Trial]:
    """Yields the trials of one task, in order, until one passes or all are used.

    Args:
        attempt: plays one trial with the memory shown.
        evaluate: decides whether a trial passed.
        reflect: called on failed trials only.
        memory: what the arm remembers, as this task may see it.
        trials: most trials.
        independent: go on after a trial that passed; for samples, of which nothing is remembered.
    """
    for number in range(1, trials + 1):
        shown = memory.shown()
        trajectory = attempt(number, tuple(item.text for item in shown))
        verdict = evaluate(trajectory)
        memory.outcome([item.id for item in shown], verdict.success)
        reflection = None
        if not verdict.success and number < trials:
            reflection = reflect(trajectory, verdict, memory)
            if reflection is not None and reflection.kept:
                memory.add(reflection.text, number, reflection.error_class)
        yield Trial(trajectory, verdict, shown, reflection)
        if verdict.success and not independent:
            return
