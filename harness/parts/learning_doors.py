"""Checks of what reflectors, evaluators, memories and similarities of other packages hand over."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflex_bench.agents.base import Ask, CallLimit, Evaluator, Reflection, Trajectory, Verdict
from reflex_bench.agents.evaluation.evaluators import NamedEvaluator
from reflex_bench.agents.memory.base import Memory, Shown, TaskMemory
from reflex_bench.agents.memory.similarity import DIGITS, Similarity
from reflex_bench.agents.reflection.reflectors import Reflector
from reflex_bench.agents.reflection.revising import AUDITING, Auditing
from reflex_bench.core.errors import ContextOverflow, ReflexError, RunStopped, TrialError, UsageError
from reflex_bench.envs.base import Prompts, Task
from reflex_bench.harness.parts.doors import FLAG, TEXT, check_record
from reflex_bench.models.base import Message, Reply

WHOLE = (int, type(None))


@dataclass
class FaultKeeper:
    """An `Ask` that keeps the first fault of infrastructure: whoever catches it does not undo it."""

    ask: Ask
    fault: ReflexError | None = None

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        """See `Ask`."""
        if self.fault is not None:
            raise self.fault
        try:
            return self.ask(messages, step, stop)
        except (CallLimit, ContextOverflow):
            raise
        except ReflexError as fault:
            self.fault = fault
            raise

    def check(self) -> None:
        """Raise the fault, if there was one."""
        if self.fault is not None:
            raise self.fault


@dataclass(frozen=True)
class CheckedReflector:
    """A reflector of another package.

    Attributes:
        title: how a message names it.
        foreign: the reflector itself.
    """

    title: str
    foreign: Reflector

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
        """See `Reflector`.

        Raises:
            TrialError: what it returns is no reflection.
        """
        keeper = FaultKeeper(ask)
        made: Any = self.foreign(failed, earlier, prompts, keeper, history, auditing=auditing)
        keeper.check()
        if made is None:
            return None
        fields = {"text": TEXT, "kind": TEXT, "error_class": TEXT, "kept": FLAG, "attempts": (int,)}
        check_record(made, Reflection, TrialError, self.title, audit=(tuple,), repairs=(tuple,), **fields)
        reflection: Reflection = made
        return reflection


@dataclass(frozen=True)
class CheckedEvaluator:
    """An evaluator of another package.

    Attributes:
        title: how a message names it.
        foreign: the evaluator itself.
    """

    title: str
    foreign: NamedEvaluator

    @property
    def name(self) -> str:
        """As it stands on the row."""
        return self.foreign.name

    @property
    def sources(self) -> tuple[str, ...]:
        """What the verdict comes from."""
        return self.foreign.sources

    def __call__(self, trajectory: Trajectory, prompts: Prompts, ask: Ask) -> Verdict:
        """See `Evaluator`.

        Raises:
            TrialError: what it returns is no verdict.
        """
        keeper, judge = FaultKeeper(ask), self.foreign
        made = _judged(judge, trajectory, prompts, keeper)
        keeper.check()
        fields = {"success": FLAG, "by": TEXT, "reason": TEXT, "efficiency": TEXT, "critical_step": WHOLE}
        check_record(made, Verdict, TrialError, self.title, malformed=(int,), repairs=(tuple,), **fields)
        verdict: Verdict = made
        if (score := verdict.score) is not None and not _is_share(score):
            raise TrialError(f"{self.title}: Verdict.score must be from 0 to 1, or None, not {score!r:.100}")
        return verdict


def _judged(judge: Evaluator, trajectory: Trajectory, prompts: Prompts, ask: Ask) -> Any:
    return judge(trajectory, prompts, ask)


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value <= 1


@dataclass
class CheckedMemory:
    """A memory of another package. Implements `reflex_bench.agents.memory.base.Memory`.

    Attributes:
        title: how a message names it.
        foreign: the memory itself.
        cross_task: as it says.
    """

    title: str
    foreign: Memory
    cross_task: bool

    @classmethod
    def of(cls, title: str, foreign: Memory) -> CheckedMemory:
        """Wrap a memory.

        Raises:
            UsageError: it does not say whether it goes across tasks.
        """
        shared: Any = getattr(foreign, "cross_task", None)
        if type(shared) is not bool:
            raise UsageError(f"{title}: cross_task must be true or false, not {shared!r:.100}")
        return cls(title, foreign, shared)

    def view(self, task: Task) -> CheckedView:
        """See `Memory.view`."""
        return CheckedView(self.title, self.foreign.view(task))

    def commit(self) -> None:
        """See `Memory.commit`."""
        self.foreign.commit()

    def dump(self) -> list[dict[str, Any]]:
        """See `Memory.dump`.

        Raises:
            TrialError: it is no list of rows.
        """
        rows: Any = self.foreign.dump()
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise TrialError(f"{self.title}: dump must return a list of rows, not {rows!r:.100}")
        return rows

    def load(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """See `Memory.load`."""
        self.foreign.load(rows)

    def settings(self) -> Mapping[str, Any]:
        """See `Memory.settings`.

        Raises:
            UsageError: they are no mapping of names.
        """
        told: Any = self.foreign.settings()
        if not isinstance(told, Mapping) or not all(isinstance(name, str) for name in told):
            raise UsageError(
                f"{self.title}: settings must be a mapping of names to values, not {told!r:.100}"
            )
        # Every other setting of an arm is somebody else's.
        if strangers := sorted(name for name in told if not name.startswith("memory")):
            raise UsageError(f"{self.title}: settings must be named memory…, not {strangers[0]!r}")
        return told


@dataclass(frozen=True)
class CheckedView:
    """One task in a `CheckedMemory`."""

    title: str
    foreign: TaskMemory

    def shown(self, opening: str = "") -> tuple[Shown, ...]:
        """See `TaskMemory.shown`.

        Raises:
            TrialError: it is no tuple of `Shown`.
        """
        found: Any = self.foreign.shown(opening)
        self._check_tuple(found, "shown")
        for item in found:
            check_record(item, Shown, TrialError, self.title, id=TEXT, text=TEXT)
        return tuple(found)

    def all(self) -> tuple[str, ...]:
        """See `TaskMemory.all`.

        Raises:
            TrialError: it is no tuple of texts.
        """
        found: Any = self.foreign.all()
        self._check_tuple(found, "all")
        for text in found:
            if not isinstance(text, str):
                raise TrialError(f"{self.title}: all must return texts, not {text!r:.100}")
        return tuple(found)

    def _check_tuple(self, found: Any, method: str) -> None:
        if not isinstance(found, tuple):
            raise TrialError(f"{self.title}: {method} must return a tuple, not {found!r:.100}")

    def add(self, text: str, trial: int, error_class: str = "") -> None:
        """See `TaskMemory.add`."""
        self.foreign.add(text, trial, error_class)

    def outcome(self, shown_ids: Iterable[str], success: bool) -> None:
        """See `TaskMemory.outcome`."""
        self.foreign.outcome(shown_ids, success)


@dataclass(frozen=True)
class CheckedSimilarity:
    """A similarity of another package. Implements `reflex_bench.agents.memory.similarity.Similarity`.

    Attributes:
        name: as in the configuration.
        title: how a message names it.
        foreign: the similarity itself.
    """

    name: str
    title: str
    foreign: Similarity

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Similarity.scores`.

        Raises:
            RunStopped: it gives no number for each text, so that nothing can be remembered by it.
        """
        found: Any = self.foreign.scores(query, texts)
        good = isinstance(found, list) and len(found) == len(texts)
        if not good or not all(isinstance(each, int | float) and math.isfinite(each) for each in found):
            raise RunStopped(f"{self.title}: {len(texts)} numbers are wanted, not {found!r:.100}")
        return [round(float(score), DIGITS) for score in found]
