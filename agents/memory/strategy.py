"""Strategy memory: lessons that hold beyond their task, trusted as far as they have proved useful."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from reflex_bench.agents.memory.base import Count, Evict, Inbox, Shown, Use, free_id, read_rows
from reflex_bench.agents.memory.similarity import Similarity, TfIdf, best
from reflex_bench.core.errors import unknown
from reflex_bench.core.parts import stating
from reflex_bench.envs.base import Task

CONFIDENCE = 0.7
"""Of a new lesson."""
RISE, FALL = 0.05, 0.15
"""By so much a success raises, and a failure lowers, the confidence in each lesson that the trial was shown."""
SHOWN_ABOVE, RETIRED_BELOW = 0.5, 0.3

DUPLICATE = 0.85
"""From this likeness on (`TfIdf`, over all lessons), a reflection is an old lesson in other words.

Of 60 reflections on household tasks, all 8 pairs above it say the same. It is high because a lesson that is merged by
mistake is lost: a sentence of 14 words and the same with another number come to 0.83. Words alone cannot be sure, a
short sentence and the same with two nouns swapped come to 0.87; a lesson's sources tell what was merged.
"""

State = Literal["shown", "doubted", "retired", "evicted"]


@dataclass(frozen=True, slots=True)
class LessonSource:
    """A reflection that a lesson comes from: the n-th on its task, in its own words."""

    task: str
    number: Count
    trial: Count
    text: str
    error_class: str = ""


@dataclass(slots=True)
class Lesson:
    """One lesson, and a row of the memory's file.

    Attributes:
        id: `L<n>` for the n-th lesson.
        text: as first written.
        state: `shown` to tasks it fits, `doubted` (trusted too little to be shown), `retired` (given up) or `evicted`
            (it had to make room).
        confidence: from 0 to 1, without fading.
        age: rounds since it was last written down, or shown in a trial that succeeded.
        shown, helped: how many trials were shown it, and how many of those succeeded.
        sources: every reflection that said it, oldest first.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: str
    text: str
    state: State = "shown"
    confidence: Annotated[float, Field(ge=0, le=1)] = CONFIDENCE
    age: Count = 0
    shown: Count = 0
    helped: Count = 0
    sources: list[LessonSource] = field(default_factory=list)


class StrategyMemory:
    """Lessons from all tasks of the arm; of those trusted enough, the `size` most like the task are shown.

    A reflection that says what a lesson says already makes that lesson new again instead of a second one. It earns it
    no confidence, and a lesson that was retired for failing stays so: only the trials that were shown it speak for or
    against it. Which lessons are alike is decided by their words, whatever `similarity` is: embeddings take a sentence
    and its opposite for the same.

    Args:
        size: how many are shown; 0 shows none.
        similarity: by which lessons are chosen for a task; of equals the more trusted, then the newer.
        half_life: rounds after which an unused lesson is trusted half as much; None: lessons do not fade.
        capacity: most lessons that are neither retired nor evicted.
        evict: which one makes room: the one with the highest `age`, or the least trusted (`usefulness`); of equals, the
            oldest. It stays in the file, but is forgotten: written down again, it is a new lesson.
    """

    cross_task = True

    def __init__(
        self,
        size: int = 3,
        similarity: Similarity | None = None,
        half_life: float | None = None,
        capacity: int = 200,
        evict: Evict = "usefulness",
    ) -> None:
        if evict not in get_args(Evict):
            raise unknown("way to evict", evict, get_args(Evict))
        self._size, self._half_life, self._capacity, self._evict = size, half_life, capacity, evict
        self._similarity = similarity or TfIdf()
        self._lessons: list[Lesson] = []
        self._trusted: list[Lesson] = []
        self._of: dict[str, list[LessonSource]] = {}
        self.inbox: Inbox[LessonSource | Use] = Inbox()

    def view(self, task: Task) -> StrategyView:
        """See `Memory.view`."""
        return StrategyView(self, task, self._of.setdefault(task.id, []))

    def search(self, task: Task, opening: str) -> tuple[Shown, ...]:
        """Return the lessons for a task, oldest first."""
        chosen = self._trusted
        if len(chosen) > self._size > 0:
            query = f"{task.text}\n{opening}".strip()
            scores = self._similarity.scores(query, [lesson.text for lesson in chosen])
            ranks = [(score, self._trust(lesson)) for score, lesson in zip(scores, chosen, strict=True)]
            chosen = [chosen[place] for place in best(ranks, self._size)]
        return tuple(Shown(lesson.id, lesson.text) for lesson in chosen) if self._size else ()

    def commit(self) -> None:
        """See `Memory.commit`."""
        handed_in = self.inbox.take()
        for lesson in self._lessons:
            lesson.age += 1
        by_id = {lesson.id: lesson for lesson in self._lessons}
        for item in handed_in:
            if isinstance(item, Use):
                for id in item.shown_ids:
                    _judge(by_id[id], item.success)
        self._learn([item for item in handed_in if isinstance(item, LessonSource)])
        self._settle()

    def _learn(self, sources: Sequence[LessonSource]) -> None:
        known = [lesson for lesson in self._lessons if lesson.state != "evicted"]
        texts = [lesson.text for lesson in known] + [source.text for source in sources]
        # The lesson that each text is the text of; those of the new texts are found out one after the other.
        owners: list[Lesson | None] = [*known, *[None] * len(sources)]
        words = TfIdf()
        for place, source in enumerate(sources, len(known)):
            scores = words.scores(source.text, texts)
            alike = [(score, -n) for n, score in enumerate(scores) if owners[n] and score >= DUPLICATE]
            lesson = owners[-max(alike)[1]] if alike else None
            if lesson is None:
                lesson = owners[place] = self._new(source.text)
            lesson.age = 0
            lesson.sources.append(source)

    def _new(self, text: str) -> Lesson:
        self._lessons.append(Lesson(free_id("L", (lesson.id for lesson in self._lessons)), text))
        return self._lessons[-1]

    def _trust(self, lesson: Lesson) -> float:
        """Confidence, halved for every `half_life` of age."""
        faded = 0.5 ** (lesson.age / self._half_life) if self._half_life else 1.0
        return round(lesson.confidence * faded, 6)

    def _settle(self) -> None:
        """Sees which lessons are trusted, and makes room."""
        for lesson in self._lessons:
            if lesson.state != "evicted":
                trust = self._trust(lesson)
                doubted: State = "retired" if trust < RETIRED_BELOW else "doubted"
                lesson.state = "shown" if trust > SHOWN_ABOVE else doubted
        live = [lesson for lesson in self._lessons if lesson.state in ("shown", "doubted")]
        live.sort(key=self._trust if self._evict == "usefulness" else lambda lesson: -lesson.age)
        for lesson in live[: max(0, len(live) - self._capacity)]:
            lesson.state = "evicted"
        self._trusted = [lesson for lesson in self._lessons if lesson.state == "shown"]

    def dump(self) -> list[dict[str, Any]]:
        """Return one row a lesson, oldest first, retired and evicted ones included."""
        return [asdict(lesson) for lesson in self._lessons]

    def load(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """See `Memory.load`."""
        self._lessons = read_rows(rows, Lesson)
        for source in sorted(
            (source for lesson in self._lessons for source in lesson.sources),
            key=lambda source: source.number,
        ):
            self._of.setdefault(source.task, []).append(source)
        self._settle()

    def settings(self) -> Mapping[str, Any]:
        """See `Memory.settings`."""
        return {
            "memory": "strategy",
            "memory_size": self._size,
            "memory_scope": "arm",
            "memory_similarity": self._similarity.name,
            "memory_half_life": self._half_life,
            "memory_capacity": self._capacity,
            "memory_evict": self._evict,
        }


def _judge(lesson: Lesson, success: bool) -> None:
    lesson.shown += 1
    lesson.helped += success
    changed = lesson.confidence + (RISE if success else -FALL)
    lesson.confidence = round(min(1.0, max(0.0, changed)), 6)
    if success:
        lesson.age = 0


@dataclass(frozen=True, slots=True)
class StrategyView:
    """One task in a `StrategyMemory`."""

    memory: StrategyMemory
    task: Task
    mine: list[LessonSource]

    def shown(self, opening: str = "") -> tuple[Shown, ...]:
        """See `StrategyMemory`; oldest first."""
        return self.memory.search(self.task, opening)

    def all(self) -> tuple[str, ...]:
        """See `TaskMemory.all`."""
        return tuple(source.text for source in self.mine)

    def add(self, text: str, trial: int, error_class: str = "") -> None:
        """See `TaskMemory.add`."""
        self.mine.append(LessonSource(self.task.id, len(self.mine) + 1, trial, text, error_class))
        self.memory.inbox.put(self.task.id, self.mine[-1])

    def outcome(self, shown_ids: Iterable[str], success: bool) -> None:
        """See `TaskMemory.outcome`."""
        self.memory.inbox.put(self.task.id, Use(tuple(shown_ids), success))


class StrategyOptions(BaseModel):
    """What can be set for a memory of lessons; see `StrategyMemory`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: Annotated[int, Field(ge=0)] = 3
    similarity: str = "tfidf"
    half_life: Annotated[float, Field(gt=0)] | None = None
    capacity: Annotated[int, Field(ge=1)] = 200
    evict: Evict = "usefulness"


@stating(Options=StrategyOptions)
def strategy(options: StrategyOptions, similarity: Similarity) -> StrategyMemory:
    """Return an empty `StrategyMemory`."""
    return StrategyMemory(options.size, similarity, options.half_life, options.capacity, options.evict)
