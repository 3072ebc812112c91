"""Rules that end a trial early."""

from __future__ import annotations

from collections.abc import Sequence

from reflex_bench.agents.base import Step

MAX_CYCLE_LENGTH = 4
"""Cycles of up to this many steps are recognised; longer ones run into the step cap anyway."""


def says_the_same_again(steps: Sequence[Step]) -> bool:
    """Return whether the last turn said what the one before it said, a thought or an action, whatever the answers were.

    The rule of the code of Reflexion's ALFWorld runs (noahshinn/reflexion, alfworld_runs/env_history.py).
    """
    if len(steps) < 2:
        return False
    before, last = steps[-2], steps[-1]
    if last.error or before.error:
        return last.reply.strip() == before.reply.strip()
    return (last.thought, last.action) == (before.thought, before.action)


def is_loop(steps: Sequence[Step], cycles: int) -> bool:
    """Return whether the trial ends in the same cycle of (action, observation) pairs more than `cycles` times in a row.

    The rule of Reflexion's heuristic evaluator (the same action and the same response for more than three cycles; Shinn
    et al., 2023, section 4.1), for cycles of one to four steps. Pure thoughts do not break a cycle and are none.

    Args:
        steps: the trial so far.
        cycles: how many repetitions are still allowed; 0 switches the rule off.
    """
    if not cycles:
        return False
    done = [(step.action, step.observation) for step in steps if step.action is not None or step.error]
    for length in range(1, MAX_CYCLE_LENGTH + 1):
        tail = done[-length * (cycles + 1) :]
        if len(tail) == length * (cycles + 1) and tail == tail[:length] * (cycles + 1):
            return True
    return False
