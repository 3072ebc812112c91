"""How an agent reflects on a failed trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from reflex_bench.agents.base import ENDED, Ask, Trajectory
from reflex_bench.agents.messages import reflecting, transcript
from reflex_bench.agents.react import said
from reflex_bench.envs.base import Action, Prompts
from reflex_bench.harness.errors import ReflexError


class Reflector(Protocol):
    """Turns a failed trial into something to remember."""

    def __call__(self, failed: Trajectory, earlier: Sequence[str], prompts: Prompts, ask: Ask) -> str | None:
        """The reflection, or None where nothing is to be remembered.

        Args:
            failed: a trial that did not succeed.
            earlier: what is remembered of this task already, oldest first.
            prompts: the environment's texts.
            ask: the model in the role of reflector.
        """
        ...


def none(failed: Trajectory, earlier: Sequence[str], prompts: Prompts, ask: Ask) -> str | None:
    """Remembers nothing: a failed task is simply tried again."""
    return None


def reflexion(failed: Trajectory, earlier: Sequence[str], prompts: Prompts, ask: Ask) -> str | None:
    """Asks the model what went wrong and what to do next time, in free text (Shinn et al., 2023, section 3).

    Raises:
        ReflexError: the trial succeeded; success is never reflected on.
    """
    if failed.success:
        raise ReflexError(f"asked to reflect on a success: {failed.task.id}, trial {failed.trial}")
    text = as_text(failed, prompts)
    reply = ask(reflecting(prompts, text, earlier), step=len(failed.steps) + 1)
    return " ".join(reply.text.split()) or None


def as_text(trajectory: Trajectory, prompts: Prompts) -> str:
    """A finished trial as the text that a reflector reads, ending with how it ended."""
    turns = [
        (said(Action(step.thought, step.action), step.reply, prompts), step.observation)
        for step in trajectory.steps
    ]
    ended = ENDED[trajectory.outcome].format(steps=len(trajectory.steps))
    return transcript(trajectory.opening, turns, f"STATUS: FAILED ({ended})")


REFLECTORS: dict[str, Reflector] = {"none": none, "reflexion": reflexion}
