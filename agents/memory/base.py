"""Memory of an arm from trial to trial: protocols, records, and the sliding memory.

A `Memory` belongs to one arm; the chain of a task uses the `TaskMemory` that `view` gives it. A memory that shows a
task nothing but its own reflections applies everything at once, because no other chain can see it.

A cross-task memory works in rounds, so that it is the same whoever is faster: round t is trial t of every task of the
arm. During a round it shows what stood there when the round began, and lays aside what the chains hand in; `commit`,
called when every chain of the arm has played its trial, applies that in the order of task ids and, of one task, in the
order in which its chain handed it in. Chains of one arm may run in any number of threads, if rounds do not overlap.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from reflex_bench.core.errors import UsageError
from reflex_bench.core.parts import stating
from reflex_bench.envs.base import Task

T = TypeVar("T")

Scope = Literal["task", "arm"]
Evict = Literal["age", "usefulness"]
Count = Annotated[int, Field(ge=0, le=10**9)]


@dataclass(frozen=True, slots=True)
class Shown:
    """A remembered text as a prompt shows it, and the id that names it in the memory's file."""

    id: str
    text: str


class TaskMemory(Protocol):
    """An arm's memory as the chain of one task uses it."""

    def shown(self, opening: str = "") -> tuple[Shown, ...]:
        """Return what the next trial is shown, oldest first.

        Args:
            opening: the episode's first observation, where it is known: a memory that retrieves by likeness compares
                it, too.
        """
        ...

    def all(self) -> tuple[str, ...]:
        """Return every reflection on this task, oldest first, whether it is shown or not."""
        ...

    def add(self, text: str, trial: int, error_class: str = "") -> None:
        """Keeps a reflection.

        Args:
            text: what was written.
            trial: the failed trial it was written after.
            error_class: the kind of failure, where the reflector names one.
        """
        ...

    def outcome(self, shown_ids: Iterable[str], success: bool) -> None:
        """Takes note of how a trial went; called once for each trial that ran to its end, before `add`.

        Args:
            shown_ids: of what it was shown.
            success: the evaluator's verdict: the agent knows no other.
        """
        ...


class Memory(Protocol):
    """What one arm remembers.

    Attributes:
        cross_task: whether a task may be shown what was written about another; then `commit` matters.
    """

    cross_task: bool

    def view(self, task: Task) -> TaskMemory:
        """Return the memory as the chain of a task uses it."""
        ...

    def commit(self) -> None:
        """Ends a round (see the module). Does nothing where nothing is shared."""
        ...

    def dump(self) -> list[dict[str, Any]]:
        """Return all that is kept, as rows for a JSONL file.

        What was handed in since the last `commit` is not in it.
        """
        ...

    def load(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Takes over what another memory dumped; called before the first `view`.

        Raises:
            UsageError: a row is none of this kind of memory.
        """
        ...

    def settings(self) -> Mapping[str, Any]:
        """Return what belongs on the arm's row."""
        ...


@dataclass(slots=True)
class KeptReflection:
    """One reflection as it is kept, and a row of the memory's file.

    Attributes:
        id: `<task>#<n>` for the n-th on its task.
        task, about: id and text of the task.
        trial: the failed trial it was written after.
        text: what was written.
        error_class: the kind of failure, "" where nobody named one.
        shown, helped: how many trials were shown it, and how many of those succeeded.
        evicted: it had to make room, and is shown no more.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: str
    task: str
    about: str
    trial: Count
    text: str
    error_class: str = ""
    shown: Count = 0
    helped: Count = 0
    evicted: bool = False


class SlidingMemory:
    """The last `size` reflections on the task itself.

    Reflexion bounds its memory to 1-3 experiences (Shinn et al., 2023, section 3, "Memory"); 3 is used for ALFWorld.

    Args:
        size: how many are shown; 0 shows none.
    """

    cross_task = False

    def __init__(self, size: int = 3) -> None:
        self._size = size
        self._kept: dict[str, list[KeptReflection]] = {}

    def view(self, task: Task) -> SlidingView:
        """See `Memory.view`."""
        return SlidingView(task, self._kept.setdefault(task.id, []), self._size)

    def commit(self) -> None:
        """Do nothing: nothing is shared."""

    def dump(self) -> list[dict[str, Any]]:
        """Return one row a reflection, by task."""
        return [asdict(kept) for task in sorted(self._kept) for kept in self._kept[task]]

    def load(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """See `Memory.load`."""
        for kept in read_rows(rows, KeptReflection):
            self._kept.setdefault(kept.task, []).append(kept)

    def settings(self) -> Mapping[str, Any]:
        """See `Memory.settings`."""
        return {"memory": "sliding", "memory_size": self._size}


@dataclass(frozen=True, slots=True)
class SlidingView:
    """One task in a `SlidingMemory`."""

    task: Task
    kept: list[KeptReflection]
    size: int

    def shown(self, opening: str = "") -> tuple[Shown, ...]:
        """Return the newest `size` reflections, oldest first."""
        newest = self.kept[-self.size :] if self.size else ()
        return tuple(Shown(kept.id, kept.text) for kept in newest)

    def all(self) -> tuple[str, ...]:
        """See `TaskMemory.all`."""
        return tuple(kept.text for kept in self.kept)

    def add(self, text: str, trial: int, error_class: str = "") -> None:
        """See `TaskMemory.add`."""
        keep(self.kept, self.task, text, trial, error_class)

    def outcome(self, shown_ids: Iterable[str], success: bool) -> None:
        """See `TaskMemory.outcome`."""
        count(self.kept, Use(tuple(shown_ids), success))


@dataclass(frozen=True, slots=True)
class Use:
    """What a trial was shown, and whether it succeeded."""

    shown_ids: tuple[str, ...]
    success: bool


class Inbox(Generic[T]):
    """What the chains of an arm hand in during a round, from any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: dict[str, list[T]] = {}

    def put(self, task: str, item: T) -> None:
        """Lays something aside for a task; one chain works on a task at a time."""
        with self._lock:
            self._items.setdefault(task, []).append(item)

    def take(self) -> list[T]:
        """Empties it: by task id and, of one task, in the order of handing in."""
        with self._lock:
            items, self._items = self._items, {}
        return [item for task in sorted(items) for item in items[task]]


def keep(mine: list[KeptReflection], task: Task, text: str, trial: int, error_class: str) -> KeptReflection:
    """Adds a reflection to those on its task."""
    id = free_id(f"{task.id}#", (kept.id for kept in mine))
    mine.append(KeptReflection(id, task.id, task.text, trial, text, error_class))
    return mine[-1]


def free_id(prefix: str, taken: Iterable[str]) -> str:
    """Return the prefix with the next number; what was loaded may have left gaps."""
    ids = set(taken)
    return next(id for n in itertools.count(len(ids) + 1) if (id := f"{prefix}{n}") not in ids)


def count(kept: Iterable[KeptReflection], use: Use) -> None:
    """Counts on each reflection that was shown how the trial went."""
    for reflection in kept:
        if reflection.id in use.shown_ids:
            reflection.shown += 1
            reflection.helped += use.success


def read_rows(rows: Iterable[Mapping[str, Any]], kind: type[T]) -> list[T]:
    """Return rows of a memory's file as what they were dumped from.

    Raises:
        UsageError: a row is no such thing, or an id comes twice.
    """
    adapter, read = TypeAdapter(kind), {}
    for number, row in enumerate(rows, 1):
        try:
            item: Any = adapter.validate_python(row)
        except ValidationError as error:
            first = error.errors()[0]
            what = f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"
            kept = kind.__name__.removeprefix("Kept").lower()
            raise UsageError(f"memory, row {number}: no {kept} ({what})") from None
        if item.id in read:
            raise UsageError(f"memory, row {number}: the id {item.id!r} comes a second time")
        read[item.id] = item
    return list(read.values())


class SlidingOptions(BaseModel):
    """What can be set for a sliding memory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: Annotated[int, Field(ge=0)] = 3


@stating(Options=SlidingOptions)
def sliding(options: SlidingOptions) -> SlidingMemory:
    """Return an empty `SlidingMemory`."""
    return SlidingMemory(options.size)
