"""Revision of reflections: each draft is audited, and a bad one is asked for once more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflex_bench.agents.base import CallLimit, Reflection, Trajectory
from reflex_bench.agents.messages import CONTINUED_STOPS
from reflex_bench.agents.reflection.audit import RULES, Written, audit
from reflex_bench.agents.schema import echo
from reflex_bench.agents.transcripts import error_class_of
from reflex_bench.core.errors import ContextOverflow
from reflex_bench.envs.base import Prompts
from reflex_bench.models.base import Message

NOT_KEPT = "This reflection cannot be kept. Write it again, and this time {wanted}."
SCHEMA = "schema"
"""Stands among the failed rules of a reflection that had not the shape asked for."""


@dataclass(frozen=True, slots=True)
class Auditing:
    """How reflections are audited.

    Attributes:
        max_steps: the step cap of a trial; None where it is not known.
        enforce: whether one that fails is asked for once more and then kept out; else it is counted and kept.
        continued: whether the reflector continues a text, instead of answering a message.
    """

    max_steps: int | None = None
    enforce: bool = True
    continued: bool = False

    @property
    def stop(self) -> tuple[str, ...]:
        """Where its replies are to end."""
        return CONTINUED_STOPS if self.continued else ()


@dataclass(frozen=True, slots=True)
class Draft:
    """What a reflector wrote.

    Attributes:
        text: as it would be remembered.
        reply: as it came.
        data: the fields of a structured one.
        asked: how many replies it took.
        usable: False where it has not the shape asked for.
        repairs: what was taken out of the reply (`reflex_bench.agents.reflection.tidying`).
        lines, whole: see `reflex_bench.agents.reflection.audit.Written`.
    """

    text: str
    reply: str
    data: Mapping[str, Any] | None = None
    asked: int = 1
    usable: bool = True
    repairs: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    whole: bool = True


AUDITING = Auditing()
Write = Callable[[Sequence[Message]], Draft]


@dataclass(frozen=True, slots=True)
class Revision:
    """One reflection in the making.

    Attributes:
        kind: the reflector's name.
        failed: the trial it is about, whole.
        earlier: what was written after earlier trials of the task.
        prompts: the environment's texts.
        auditing: see there.
        request: with what the conversation ends in which a reflection is asked for.
    """

    kind: str
    failed: Trajectory
    earlier: Sequence[str]
    prompts: Prompts
    auditing: Auditing
    request: str

    def run(self, conversation: Sequence[Message], write: Write) -> Reflection:
        """Has it written, and once more where the audit demands that.

        Raises:
            CallLimit, ContextOverflow: not even the first draft could be written.
        """
        first = write(conversation)
        broken = self._audit(first)
        if not broken or not first.usable or not self.auditing.enforce:
            return self._made(first, first.asked, broken)
        wanted = "; ".join(RULES[rule] for rule in broken)
        objection = Message("user", f"{NOT_KEPT.format(wanted=wanted)}\n\n{self.request}")
        try:
            second = write([*conversation, Message("assistant", echo(first.reply)), objection])
        except (CallLimit, ContextOverflow):
            return self._made(first, first.asked, broken)
        return self._made(second, first.asked + second.asked, self._audit(second))

    def _audit(self, draft: Draft) -> tuple[str, ...]:
        if not draft.usable:
            return (SCHEMA,)
        prompts = self.prompts
        shown = (text for pair in prompts.reflection_examples for text in pair)
        sources = (prompts.instruction, prompts.reflection_instruction, *shown)
        written = Written(draft.lines, draft.whole, sources)
        return audit(draft.text, self.failed, self.earlier, self.auditing.max_steps, prompts.verbs, written)

    def _made(self, draft: Draft, asked: int, broken: tuple[str, ...]) -> Reflection:
        kept = bool(draft.text) and not (broken and self.auditing.enforce)
        error_class = error_class_of(self.failed)
        return Reflection(draft.text, self.kind, draft.data, error_class, broken, asked, kept, draft.repairs)


def unwritten(kind: str, failed: Trajectory) -> Reflection:
    """Return what stands for a reflection that the model could not be asked for: nothing to remember, but counted."""
    return Reflection("", kind, None, error_class_of(failed), (), 0, False)
