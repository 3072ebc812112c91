"""Retrieving memory, which shows the reflections on the most similar tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field

from reflex_bench.agents.memory.base import (
    Evict,
    Inbox,
    KeptReflection,
    Scope,
    Shown,
    Use,
    count,
    keep,
    read_rows,
)
from reflex_bench.agents.memory.similarity import Similarity, TfIdf, best
from reflex_bench.core.errors import unknown
from reflex_bench.core.parts import stating
from reflex_bench.envs.base import Task


class RetrievalMemory:
    """The `size` reflections most like the task, of this task or of all tasks of the arm.

    A task (its text, and the opening observation where that is known) is compared with each reflection and the text of
    the task it was written about; of two that are equally alike, the newer is shown.

    Args:
        size: how many are shown; 0 shows none.
        scope: `task` searches the task's own reflections, `arm` those of all tasks.
        similarity: what "like" means.
        capacity: most reflections that are searched, of a task or of the arm.
        evict: which one makes room: the oldest (`age`), or the one with the lowest share of successes among the trials
            that were shown it (`usefulness`), taken as (helped + 1) / (shown + 2), Laplace's rule of succession, so
            that one never shown counts 1/2; of equals, the oldest. What is evicted stays in the file.
    """

    def __init__(
        self,
        size: int = 3,
        scope: Scope = "task",
        similarity: Similarity | None = None,
        capacity: int = 200,
        evict: Evict = "usefulness",
    ) -> None:
        if scope not in get_args(Scope):
            raise unknown("scope of a memory", scope, get_args(Scope))
        if evict not in get_args(Evict):
            raise unknown("way to evict", evict, get_args(Evict))
        self.cross_task = scope == "arm"
        self._size, self._capacity, self._evict = size, capacity, evict
        self._similarity = similarity or TfIdf()
        self._of: dict[str, list[KeptReflection]] = {}
        self._committed: list[KeptReflection] = []
        self._inbox: Inbox[KeptReflection | Use] = Inbox()

    def view(self, task: Task) -> RetrievalView:
        """See `Memory.view`."""
        return RetrievalView(self, task, self._of.setdefault(task.id, []))

    def search(self, task: Task, opening: str) -> tuple[Shown, ...]:
        """Return the reflections in scope that are most like a task, oldest first."""
        pool = self._committed if self.cross_task else self._of[task.id]
        live = [kept for kept in pool if not kept.evicted]
        if len(live) > self._size > 0:
            texts = [f"{kept.about}\n{kept.text}" for kept in live]
            scores = self._similarity.scores(f"{task.text}\n{opening}".strip(), texts)
            live = [live[place] for place in best(scores, self._size)]
        return tuple(Shown(kept.id, kept.text) for kept in live) if self._size else ()

    def take(self, task: Task, item: KeptReflection | Use) -> None:
        """Applies what a chain hands in, or lays it aside until the round is over."""
        if self.cross_task:
            self._inbox.put(task.id, item)
            return
        if isinstance(item, Use):
            count(self._of[task.id], item)
        self._make_room(self._of[task.id])

    def commit(self) -> None:
        """See `Memory.commit`."""
        for item in self._inbox.take():
            if isinstance(item, Use):
                count(self._committed, item)
            else:
                self._committed.append(item)
        self._make_room(self._committed)

    def _make_room(self, pool: list[KeptReflection]) -> None:
        live = [kept for kept in pool if not kept.evicted]
        if self._evict == "usefulness":
            live.sort(key=lambda kept: (kept.helped + 1) / (kept.shown + 2))
        for kept in live[: max(0, len(live) - self._capacity)]:
            kept.evicted = True

    def dump(self) -> list[dict[str, Any]]:
        """Return one row a reflection: in the order of commits, or by task where nothing is shared."""
        if self.cross_task:
            return [asdict(kept) for kept in self._committed]
        return [asdict(kept) for task in sorted(self._of) for kept in self._of[task]]

    def load(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """See `Memory.load`."""
        for kept in read_rows(rows, KeptReflection):
            self._of.setdefault(kept.task, []).append(kept)
            self._committed.append(kept)
        for pool in [self._committed] if self.cross_task else self._of.values():
            self._make_room(pool)

    def settings(self) -> Mapping[str, Any]:
        """See `Memory.settings`."""
        return {
            "memory": "retrieval",
            "memory_size": self._size,
            "memory_scope": "arm" if self.cross_task else "task",
            "memory_similarity": self._similarity.name,
            "memory_capacity": self._capacity,
            "memory_evict": self._evict,
        }


@dataclass(frozen=True, slots=True)
class RetrievalView:
    """One task in a `RetrievalMemory`."""

    memory: RetrievalMemory
    task: Task
    mine: list[KeptReflection]

    def shown(self, opening: str = "") -> tuple[Shown, ...]:
        """See `RetrievalMemory`; oldest first."""
        return self.memory.search(self.task, opening)

    def all(self) -> tuple[str, ...]:
        """See `TaskMemory.all`."""
        return tuple(kept.text for kept in self.mine)

    def add(self, text: str, trial: int, error_class: str = "") -> None:
        """See `TaskMemory.add`."""
        self.memory.take(self.task, keep(self.mine, self.task, text, trial, error_class))

    def outcome(self, shown_ids: Iterable[str], success: bool) -> None:
        """See `TaskMemory.outcome`."""
        self.memory.take(self.task, Use(tuple(shown_ids), success))


class RetrievalOptions(BaseModel):
    """What can be set for a retrieving memory; see `RetrievalMemory`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: Annotated[int, Field(ge=0)] = 3
    scope: Scope = "task"
    similarity: str = "tfidf"
    capacity: Annotated[int, Field(ge=1)] = 200
    evict: Evict = "usefulness"


@stating(Options=RetrievalOptions)
def retrieval(options: RetrievalOptions, similarity: Similarity) -> RetrievalMemory:
    """Return an empty `RetrievalMemory`."""
    return RetrievalMemory(options.size, options.scope, similarity, options.capacity, options.evict)
