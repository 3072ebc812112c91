"""A trial told as text: to a reflector, to a judge, and in one line to later trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from reflex_bench.agents.base import CallLimit, Step, Trajectory, told_ending
from reflex_bench.agents.messages import said, transcript
from reflex_bench.core.errors import ContextOverflow, ReflexError
from reflex_bench.core.shared_texts import HISTORY_HEADER
from reflex_bench.envs.base import HANDED_OVER, Action, Prompts

T = TypeVar("T")

CHARACTERS_PER_TOKEN = 4
"""An estimate, for English text."""
MOST_TOKENS = 1600
"""A shortened trial has at most about as many (`truncate_scratchpad` in the code of Reflexion's HotPotQA runs)."""
LEFT_OUT = "[left out]"

_LONGEST_REMARK, _LONGEST_SUMMARY = 500, 300
_OFTEN = 1 / 3


def as_text(failed: Trajectory, prompts: Prompts) -> str:
    """A failed trial as a reflector reads it, ending with how it ended and what an evaluator remarked.

    Raises:
        ReflexError: see `status_of`.
    """
    turns = [(spoken(step, prompts), step.observation) for step in failed.steps]
    return transcript(failed.opening, turns, status_of(failed))


def status_of(failed: Trajectory) -> str:
    """The line that says how a failed trial ended.

    Raises:
        ReflexError: the trial succeeded; success is never reflected on.
    """
    if failed.success:
        raise ReflexError(f"asked to reflect on a success: {failed.task.id}, trial {failed.trial}")
    ended = told_ending(failed.outcome, len(failed.steps))
    remark = " ".join(failed.remark.split())[:_LONGEST_REMARK]
    return f"STATUS: FAILED ({f'{ended}; {remark}' if remark else ended})"


def numbered(opening: str, steps: Sequence[Step], prompts: Prompts, status: str) -> str:
    """The steps of a trial under their numbers, for a reader who is to name one; nothing in it says how it was counted.

    Args:
        opening: the first observation.
        steps: in order.
        prompts: the environment's texts.
        status: the last line.
    """
    lines = [opening]
    for step in steps:
        lines.append(f"[Step {step.number}]")
        lines.extend(f"> {line}" for line in spoken(step, prompts).splitlines())
        lines.append(step.observation)
    return "\n".join([*lines, status])


def spoken(step: Step, prompts: Prompts) -> str:
    """What the agent said, as it stayed in its conversation."""
    return said(Action(step.thought, step.action, step.error), step.reply, prompts)


def shortened(trajectory: Trajectory, prompts: Prompts, tokens: int = MOST_TOKENS) -> Trajectory:
    """The trial with its longest observations left out until it has at most about `tokens` tokens.

    Where that is not enough (the original raises an IndexError then), its first steps are left out, too. The first
    observation stays whole: it holds the task.
    """
    steps = list(trajectory.steps)
    sizes = [len(spoken(step, prompts)) + len(step.observation) for step in steps]
    excess = len(trajectory.opening) + sum(sizes) - tokens * CHARACTERS_PER_TOKEN
    for index in sorted(range(len(steps)), key=lambda place: -len(steps[place].observation)):
        spare = len(steps[index].observation) - len(LEFT_OUT)
        if excess <= 0 or spare <= 0:
            break
        steps[index] = replace(steps[index], observation=LEFT_OUT)
        sizes[index] -= spare
        excess -= spare
    first = 0
    while excess > 0 and first < len(steps) - 1:
        excess -= sizes[first]
        first += 1
    opening = trajectory.opening + (f"\n[{first} steps left out]" if first else "")
    return replace(trajectory, opening=opening, steps=tuple(steps[first:]))


def asked_about(trajectory: Trajectory, prompts: Prompts, question: Callable[[Trajectory], T]) -> T | None:
    """What `question` makes of the trial, or of the shortened trial where the whole does not fit the model's context.

    None where that does not fit either, or the limit of calls is reached. What is known of a trial must not be lost,
    as an `error` would, because a judge or a reflector cannot read it.
    """
    for told in (trajectory, shortened(trajectory, prompts)):
        try:
            return question(told)
        except ContextOverflow:
            continue
        except CallLimit:
            break
    return None


def error_class_of(trajectory: Trajectory) -> str:
    """How a trial failed, in one word for the end and one for what went wrong on the way, e.g. `loop:invalid_actions`.

    The second is the first of these that fits at least a third of the steps: `unparsed_replies`, `invalid_actions`,
    `repeated_actions` (same action, same answer as before), `thoughts`; else the error that valid commands met most
    often, where the environment names errors; else `other`.
    """
    steps = trajectory.steps
    done = Counter((step.action, step.observation) for step in steps if step.action is not None)
    signs = {
        "unparsed_replies": sum(step.error is not None for step in steps),
        "invalid_actions": sum(step.action is not None and not step.valid for step in steps),
        "repeated_actions": sum(done.values()) - len(done),
        "thoughts": sum(step.action is None and step.error is None for step in steps),
    }
    found = (name for name, count in signs.items() if count and count >= _OFTEN * len(steps))
    met = Counter(step.reason for step in steps if step.valid and step.reason not in ("", HANDED_OVER))
    return (
        f"{trajectory.outcome}:{next(found, min(met, key=lambda kind: (-met[kind], kind), default='other'))}"
    )


def summary_of(failed: Trajectory, reflection: str) -> str:
    """One line about a failed trial, for the reflections on later ones of its error class."""
    line = f"{failed.task.text} ({told_ending(failed.outcome, len(failed.steps))}): {reflection}"
    line = " ".join(line.split())
    return line if len(line) <= _LONGEST_SUMMARY else f"{line[: _LONGEST_SUMMARY - 1]}…"


def history_block(history: Sequence[str]) -> str:
    """The summaries as they stand before the request for a reflection; "" where there are none."""
    return f"{HISTORY_HEADER}" + "".join(f"\n- {line}" for line in history) + "\n\n" if history else ""
