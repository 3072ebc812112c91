"""Models as judges of a finished attempt, and of one under way.

A judge sees what the agent saw, never how the attempt was counted. Its prompts are built static-first: the
instructions, then the attempt, which for an attempt under way only grows at its end, then the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reflex_bench.agents.base import Ask, CallLimit, Step, StepVerdict, Trajectory, Verdict
from reflex_bench.agents.schema import Answer, ask_json
from reflex_bench.agents.transcripts import ask_about, numbered
from reflex_bench.core.errors import ContextOverflow
from reflex_bench.core.shared_texts import JUDGE_REQUEST, STEP_REQUEST, TASK_HEADER
from reflex_bench.envs.base import Prompts
from reflex_bench.models.base import Message

JUDGE_INSTRUCTION = """\
You decide whether an agent has done what its task asks for. You are shown the task and every step of the attempt, but \
not how it was counted: go by what was done and what was seen. That the agent says it is done proves nothing.

Answer with one JSON object and nothing else:
{"reason": why, in one or two sentences,
 "critical_step": number of the step that decided the outcome, or null,
 "efficiency": what was superfluous, in one sentence, or "",
 "score": how much of the task is done, from 0 to 1,
 "success": true or false}"""
STEP_INSTRUCTION = """\
You watch an agent at a task that is not finished yet, and say whether it is still getting anywhere:
on_track: what it does leads towards what the task asks for, if only by finding out where something is
deviation: it does something superfluous or wrong, but can still mend it in the steps that follow
wrong_path: it goes for something else than the task asks for, or repeats what brings nothing, and will not come back

Answer with one JSON object and nothing else:
{"reason": why, in one sentence that would help in a new attempt, "status": "on_track", "deviation" or "wrong_path"}"""
AGENT_HEADER = "These were the agent's instructions:"
JUDGE_STATUS = "END OF THE ATTEMPT, after {steps} steps"
STEP_STATUS = "THE ATTEMPT SO FAR, {steps} steps"
NO_VERDICT = "the judge gave no usable verdict"


class Judgement(BaseModel):
    """What a judge answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str = ""
    critical_step: int | None = None
    efficiency: str = ""
    score: float = Field(ge=0, le=1)
    success: bool


class Assessment(BaseModel):
    """What a judge answers about an attempt under way."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str = ""
    status: Literal["on_track", "deviation", "wrong_path"]


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model decides whether a trial passed. Implements `reflex_bench.agents.base.Evaluator`.

    A judge that gives no usable verdict has not passed the trial, so that no chain stops because of it. A critical step
    that does not exist counts as none.

    Attributes:
        continued: whether the model continues a text, instead of answering a message.
    """

    name: str = "model"
    sources: tuple[str, ...] = ("model",)
    continued: bool = False

    def __call__(self, trajectory: Trajectory, prompts: Prompts, ask: Ask) -> Verdict:
        """See `Evaluator`."""
        step = len(trajectory.steps) + 1

        def question(told: Trajectory) -> Answer[Judgement]:
            return ask_json(ask, judging(told, prompts, step - 1), Judgement, step, self.continued)

        answer = ask_about(trajectory, prompts, question)
        if answer is None or answer.value is None:
            return Verdict(False, self.name, reason=NO_VERDICT, malformed=answer.malformed if answer else 0)
        found = answer.value
        exists = found.critical_step is not None and 1 <= found.critical_step < step
        return Verdict(
            found.success,
            self.name,
            found.score,
            found.reason,
            found.efficiency,
            found.critical_step if exists else None,
            answer.malformed,
            answer.repairs,
        )


@dataclass(slots=True)
class StepJudge:
    """A model looks at an attempt under way. Implements `reflex_bench.agents.base.StepEvaluator`.

    Attributes:
        every: steps between two looks.
        continued: whether the model continues a text, instead of answering a message.
    """

    every: int = 3
    continued: bool = False

    def __call__(self, opening: str, steps: Sequence[Step], prompts: Prompts, ask: Ask) -> StepVerdict:
        """Its assessment. Where it gives none that is usable, the attempt goes on.

        Args:
            opening: the first observation.
            steps: the attempt so far.
            prompts: the environment's texts.
            ask: the model in the role of evaluator.
        """
        try:
            question = assessing(opening, steps, prompts)
            answer = ask_json(ask, question, Assessment, len(steps), self.continued)
        except (CallLimit, ContextOverflow):
            return StepVerdict("on_track", NO_VERDICT)
        if answer.value is None:
            return StepVerdict("on_track", NO_VERDICT)
        return StepVerdict(answer.value.status, answer.value.reason)


def judging(told: Trajectory, prompts: Prompts, steps: int) -> tuple[Message, ...]:
    """Return the conversation in which a finished attempt is judged.

    Args:
        told: the attempt, possibly shortened.
        prompts: the environment's texts.
        steps: how many it had.
    """
    episode = numbered(told.opening, told.steps, prompts, JUDGE_STATUS.format(steps=steps))
    return _conversation(JUDGE_INSTRUCTION, prompts, episode, JUDGE_REQUEST)


def assessing(opening: str, steps: Sequence[Step], prompts: Prompts) -> tuple[Message, ...]:
    """Return the conversation in which an attempt under way is judged."""
    episode = numbered(opening, steps, prompts, STEP_STATUS.format(steps=len(steps)))
    return _conversation(STEP_INSTRUCTION, prompts, episode, STEP_REQUEST)


def _conversation(instruction: str, prompts: Prompts, episode: str, request: str) -> tuple[Message, ...]:
    return (
        Message("system", f"{instruction}\n\n{AGENT_HEADER}\n\n{prompts.instruction}"),
        Message("user", f"{TASK_HEADER}\n{episode}\n\n{request}"),
    )
