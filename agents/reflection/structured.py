"""Structured reflection: a form with where plan and events parted, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reflex_bench.agents.base import Ask, Reflection, Trajectory
from reflex_bench.agents.reflection.revising import AUDITING, Auditing, Draft, Revision, unwritten
from reflex_bench.agents.schema import ask_json
from reflex_bench.agents.transcripts import ask_about, history_block, numbered, status_of
from reflex_bench.core.shared_texts import DIAGNOSIS_REQUEST, EARLIER_REFLECTIONS, TASK_HEADER
from reflex_bench.envs.base import Prompts
from reflex_bench.models.base import Message

DIAGNOSIS_INSTRUCTION = """\
You are shown an attempt at a task that failed. Find the step at which it went wrong, and say what exactly to do in \
the next attempt. Everything will be in the same place then, so give the names of things and places as they stand in \
the attempt. You do not know the solution; do not make one up.

Answer with one JSON object and nothing else:
{"failed_step": number of the step,
 "expected": what the agent expected of it,
 "observed": what came of it,
 "deviation_type": "premise_error" (it believed what is not so), "action_error" (the wrong action, or a right one \
done wrong), "goal_drift" (it went for something else than the task asks for) or "format_error" (its replies could \
not be read),
 "root_cause": why it came to that, in one sentence,
 "correction": what to do next time, in one or two sentences that name actions and places,
 "confidence": how sure you are that this was the cause, from 0 to 1}"""
DIAGNOSIS_AGENT_HEADER = "These were the agent's instructions:"
MAX_CALLS = 4
"""Two drafts, each asked for once more where it is no JSON of the shape."""


class Diagnosis(BaseModel):
    """What a reflector fills in."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    failed_step: int = Field(ge=1)
    expected: str = Field(min_length=1)
    observed: str = Field(min_length=1)
    deviation_type: Literal["premise_error", "action_error", "goal_drift", "format_error"]
    root_cause: str = Field(min_length=1)
    correction: str = Field(min_length=1)
    confidence: float = Field(ge=0, le=1)


def structured(
    failed: Trajectory,
    earlier: Sequence[str],
    prompts: Prompts,
    ask: Ask,
    history: Sequence[str] = (),
    *,
    auditing: Auditing = AUDITING,
) -> Reflection:
    """Has a model fill in a `Diagnosis`. Implements `reflex_bench.agents.base.Reflector`."""
    revision = Revision("structured", failed, earlier, prompts, auditing, DIAGNOSIS_REQUEST)

    def write(conversation: Sequence[Message]) -> Draft:
        answer = ask_json(ask, conversation, Diagnosis, len(failed.steps) + 1, auditing.continued)
        if answer.value is None:
            return Draft("", answer.text, None, answer.malformed, usable=False)
        text, data, asked = as_sentences(answer.value), answer.value.model_dump(), answer.malformed + 1
        return Draft(text, answer.text, data, asked, repairs=answer.repairs)

    def question(told: Trajectory) -> Reflection:
        return revision.run(diagnosing(told, earlier, prompts, history), write)

    return ask_about(failed, prompts, question) or unwritten("structured", failed)


def as_sentences(found: Diagnosis) -> str:
    """Return a diagnosis as it is remembered: prose, in the order in which it is of use."""
    return (
        f"At step {found.failed_step} I expected: {_end(found.expected)} But: {_end(found.observed)} "
        f"The cause ({found.deviation_type.replace('_', ' ')}, {100 * found.confidence:.0f}% sure): "
        f"{_end(found.root_cause)} "
        f"Next time: {_end(found.correction)}"
    )


def _end(text: str) -> str:
    line = " ".join(text.split())
    return line if line.endswith((".", "!", "?")) else f"{line}."


def diagnosing(
    told: Trajectory, earlier: Sequence[str], prompts: Prompts, history: Sequence[str]
) -> tuple[Message, ...]:
    """Return the conversation in which a diagnosis is asked for.

    Args:
        told: the failed trial, possibly shortened.
        earlier: what was written after earlier trials of this task, oldest first.
        prompts: the environment's texts.
        history: summaries of earlier failures of the same error class.
    """
    episode = numbered(told.opening, told.steps, prompts, status_of(told))
    if earlier:
        episode += f"\n\n{EARLIER_REFLECTIONS}" + "".join(f"\n- {text}" for text in earlier)
    system = f"{DIAGNOSIS_INSTRUCTION}\n\n{DIAGNOSIS_AGENT_HEADER}\n\n{prompts.instruction}"
    return (
        Message("system", system),
        Message("user", f"{TASK_HEADER}\n{episode}\n\n{history_block(history)}{DIAGNOSIS_REQUEST}"),
    )
