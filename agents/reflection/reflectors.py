"""Reflectors, which turn a failed trial into something to remember."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from reflex_bench.agents.base import Ask, Limits, Reflection, Trajectory
from reflex_bench.agents.messages import reflecting
from reflex_bench.agents.reflection.revising import AUDITING, Auditing, Draft, Revision, unwritten
from reflex_bench.agents.reflection.tidying import tidied
from reflex_bench.agents.transcripts import as_text, ask_about, error_class_of, history_block, shortened
from reflex_bench.core import parts
from reflex_bench.core.parts import stating
from reflex_bench.core.shared_texts import REFLECTION_REQUEST
from reflex_bench.envs.base import Prompts
from reflex_bench.models.base import Message

ATTEMPT_HEADER = "My last attempt, word for word:"
LESSON_HEADER = "What I concluded from it:"


class Reflector(Protocol):
    """Turns a failed trial into something to remember; see `reflex_bench.core.parts.stating` for what it states."""

    def __call__(
        self,
        failed: Trajectory,
        earlier: Sequence[str],
        prompts: Prompts,
        ask: Ask,
        history: Sequence[str] = (),
        *,
        auditing: Auditing = AUDITING,
    ) -> Reflection | None:
        """Return the reflection; None where there is none to make.

        Args:
            failed: a trial that did not pass, as its evaluator saw it
                (`reflex_bench.agents.evaluation.evaluators.as_judged`).
            earlier: what is remembered of this task already, oldest first.
            prompts: the environment's texts.
            ask: the model in the role of reflector.
            history: short summaries of earlier failures of the same error class.
            auditing: how reflections are audited, and where replies end; whoever audits nothing takes no notice.

        Raises:
            ReflexError: the trial succeeded; success is never reflected on.
        """
        ...


@stating(asks_model=False, remembers=False)
def none(
    failed: Trajectory,
    earlier: Sequence[str],
    prompts: Prompts,
    ask: Ask,
    history: Sequence[str] = (),
    *,
    auditing: Auditing = AUDITING,
) -> Reflection | None:
    """Remembers nothing: a failed task is simply tried again."""
    return None


# The code of Reflexion's HotPotQA runs shows only the newest of these texts.
@stating(asks_model=False, newest_only=True)
def last_attempt(
    failed: Trajectory,
    earlier: Sequence[str],
    prompts: Prompts,
    ask: Ask,
    history: Sequence[str] = (),
    *,
    auditing: Auditing = AUDITING,
) -> Reflection:
    """Remembers the attempt itself, shortened (strategy `last_trial` in the code of Shinn et al., 2023).

    No model is asked, and nothing audited: a record of what happened is no reflection.
    """
    text = f"{ATTEMPT_HEADER}\n{as_text(shortened(failed, prompts), prompts)}"
    return Reflection(text, "last_attempt", None, error_class_of(failed), (), 0, True)


def reflexion(
    failed: Trajectory,
    earlier: Sequence[str],
    prompts: Prompts,
    ask: Ask,
    history: Sequence[str] = (),
    *,
    auditing: Auditing = AUDITING,
) -> Reflection:
    """Asks the model what went wrong and what to do next time, in free text (Shinn et al., 2023, section 3).

    Raises:
        ReflexError: the trial succeeded; success is never reflected on.
    """
    revision = Revision("reflexion", failed, earlier, prompts, auditing, REFLECTION_REQUEST)

    def write(conversation: Sequence[Message]) -> Draft:
        reply = ask(conversation, step=len(failed.steps) + 1, stop=auditing.stop)
        left = tidied(reply.text, reply.finish, auditing.continued)
        return Draft(left.text, reply.text, repairs=left.repairs, lines=left.lines, whole=left.whole)

    def question(told: Trajectory) -> Reflection:
        system, user = reflecting(prompts, as_text(told, prompts), earlier)
        request = history_block(history) + REFLECTION_REQUEST
        user = Message(user.role, user.content.removesuffix(REFLECTION_REQUEST) + request)
        return revision.run((system, user), write)

    return ask_about(failed, prompts, question) or unwritten("reflexion", failed)


@stating(newest_only=True)
def last_attempt_and_reflexion(
    failed: Trajectory,
    earlier: Sequence[str],
    prompts: Prompts,
    ask: Ask,
    history: Sequence[str] = (),
    *,
    auditing: Auditing = AUDITING,
) -> Reflection:
    """Remembers the attempt and a reflection on it; where that is not kept, the attempt alone.

    `audit` is that of the reflection; `kept` is True, as something is remembered in any case.
    """
    lessons = [text.rpartition(LESSON_HEADER)[2].strip() for text in earlier if LESSON_HEADER in text]
    attempt = last_attempt(failed, earlier, prompts, ask).text
    lesson = reflexion(failed, lessons, prompts, ask, history, auditing=auditing)
    text = f"{attempt}\n{LESSON_HEADER} {lesson.text}" if lesson.kept else attempt
    return replace(lesson, text=text, kind="last_attempt_and_reflexion", kept=True)


def build(
    setting: str | Mapping[str, object], limits: Limits, enforce: bool = True, continued: bool = False
) -> Reflector:
    """Return the reflector that a configuration names.

    Args:
        setting: a name, or a mapping of the name to the reflector's options.
        limits: those of a trial; no reflection may ask for more.
        enforce: whether a reflection that fails the audit is asked for once more and then kept out, or only counted.
        continued: whether the model continues a text, instead of answering a message.

    Raises:
        UsageError: there is none of that name, or it has no such options.
    """
    name, options = parts.choice(setting, "reflectors")
    made = parts.made_with(parts.find("reflectors", name), options)
    return partial(made, auditing=Auditing(limits.max_steps, enforce, continued))
