"""Sources of questions, and the choice of questions from them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.envs.base import Split, Task
from reflex_bench.envs.hotpotqa.corpus.documents import Document, document
from reflex_bench.envs.hotpotqa.questions import Question, task
from reflex_bench.envs.sampling import Sampling, check_count, check_generated, first, stratified

PROCEDURAL = "procedural"
OFFICIAL = ("distractor", "fullwiki")
DEFAULT_COUNT = 100
HUB = "hotpotqa/hotpot_qa"
# The development set; the presets are positions in its official order.
DEVELOPMENT = 7405
SAMPLES = ("reflexion-100", "react-500")
PARQUET = b"PAR1"
"""How every file of this format begins."""
QUESTIONS_FILE = "questions.json"
"""What `reflex data generate hotpotqa` calls the questions."""
_ERRORS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class QuestionSource:
    """Everything that was loaded, before any task is left out.

    Attributes:
        name: of the split.
        tasks: in the order of the source.
        encyclopedia: pages that belong to the source beside those of its questions.
        notes: what a reader must know.
    """

    name: str
    tasks: tuple[Task, ...]
    encyclopedia: tuple[Document, ...] = ()
    notes: tuple[str, ...] = ()

    def pages(self) -> Iterator[Document]:
        """Yield every page: the encyclopedia, then those that came with the questions."""
        yield from self.encyclopedia
        for each in self.tasks:
            question: Question = each.data
            yield from question.pages


def parse_name(name: str, seed: int | None) -> tuple[str, int]:
    """Return a split's base name and the seed.

    Args:
        name: `procedural`, `procedural:seed=7`, `distractor` or `fullwiki`.
        seed: given apart from the name.

    Raises:
        UsageError: no such split, or two different seeds.
    """
    base, colon, setting = name.partition(":")
    if base not in (PROCEDURAL, *OFFICIAL):
        raise unknown("HotPotQA split", base, (PROCEDURAL, *OFFICIAL))
    if not colon:
        return base, seed or 0
    key, _, value = setting.partition("=")
    if base != PROCEDURAL or key != "seed" or not (value.isascii() and value.isdigit()):
        raise UsageError(
            f"cannot read the split {name!r}; write it like procedural:seed=7, distractor or fullwiki"
        )
    if seed is not None and seed != int(value):
        raise UsageError(f"the split is {name!r} but the seed is {seed}; give one of the two")
    return base, int(value)


def procedural(seed: int, wanted: int = 0, task_type: str | None = None) -> QuestionSource:
    """Return questions about an invented world, and its whole encyclopedia, both decided by `seed` and their number.

    Args:
        seed: of the world.
        wanted: how many tasks there must be at least; never fewer than `DEFAULT_COUNT` are made.
        task_type: the type that the wanted ones must have.

    Raises:
        UsageError: more are wanted than are generated for one run.
    """
    check_generated(wanted, "questions")
    size = max(DEFAULT_COUNT, wanted)
    source = _invented(seed, size)
    while sum(each.type == (task_type or each.type) for each in source.tasks) < wanted:
        size *= 2
        source = _invented(seed, size)
    return source


def _invented(seed: int, size: int) -> QuestionSource:
    from reflex_bench.envs.hotpotqa.generator import twin as generator

    records = (("question", n, record) for n, record in enumerate(generator.questions(seed, size), 1))
    tasks = _tasks(f"the generator, seed {seed}", records)
    pages = tuple(map(document, generator.encyclopedia(seed, size)))
    note = f"the invented world has {len(tasks)} questions and {len(pages)} pages; it grows with the tasks asked for"
    return QuestionSource(f"{PROCEDURAL}:seed={seed}", tasks, pages, (note,))


def hub(config: str) -> QuestionSource:
    """Return the development set from the Hugging Face hub.

    Args:
        config: `distractor` or `fullwiki`.

    Raises:
        UsageError: it cannot be had, e.g. without a network.
    """
    import datasets

    try:
        rows = datasets.load_dataset(HUB, config, split="validation")
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(
            f"cannot load {HUB} ({config}) from the hub: {reason}; give the official file with data=FILE, "
            "or use split=procedural, which needs no network"
        ) from None
    notes = ("the paragraphs of fullwiki questions may lack the gold pages",) if config == "fullwiki" else ()
    return QuestionSource(
        config, _tasks(HUB, (("row", n, row) for n, row in enumerate(rows, 1))), notes=notes
    )


def file(path: Path) -> QuestionSource:
    """Return an official file: a JSON list or JSON lines, in the authors' schema or the hub's.

    Raises:
        UsageError: it cannot be read; malformed records are named by line (in a list: by their number).
    """
    if path.is_dir():
        inside = path / QUESTIONS_FILE
        raise UsageError(
            f"{path} is a folder; give a file" + (f": --data {inside}" if inside.exists() else "")
        )
    try:
        raw = path.read_bytes()
        if raw.startswith(PARQUET):
            raise UsageError(
                f"{path} is Parquet; write it as JSON lines first: "
                "pandas.read_parquet(FILE).to_json('questions.jsonl', orient='records', lines=True)"
            )
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    return QuestionSource(f"file:{path.name}", _tasks(str(path), _records(path, text)))


def _records(path: Path, text: str) -> Iterator[tuple[str, int, Any]]:
    if text.lstrip().startswith("["):
        try:
            yield from (("record", n, record) for n, record in enumerate(json.loads(text), 1))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path} is not JSON: {error}") from None
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield "line", number, json.loads(line)
            except (ValueError, RecursionError) as error:
                yield "line", number, ValueError(f"not JSON ({error})")


def _tasks(where: str, records: Iterable[tuple[str, int, Any]]) -> tuple[Task, ...]:
    tasks: dict[str, Task] = {}
    seen: dict[str, int] = {}
    errors: list[str] = []
    for unit, number, record in records:
        try:
            made = _task(record)
        except ValueError as error:
            errors.append(f"{unit} {number}: {error}")
            continue
        if made.id in tasks:
            errors.append(f"{unit} {number}: the id {made.id!r} stands at {unit} {seen[made.id]} too")
        tasks[made.id], seen[made.id] = made, number
    if errors:
        more = f"; and {len(errors) - _ERRORS_SHOWN} more" if len(errors) > _ERRORS_SHOWN else ""
        raise UsageError(f"{where}: {len(errors)} malformed: {'; '.join(errors[:_ERRORS_SHOWN])}{more}")
    if not tasks:
        raise UsageError(f"{where} has no questions")
    return tuple(tasks.values())


def _task(record: Any) -> Task:
    if isinstance(record, ValueError):
        raise record
    if not isinstance(record, Mapping):
        raise ValueError(f"a {type(record).__name__}, not an object")
    return task(record)


def positions(sample: str) -> list[int]:
    """Return the positions that a published sample has in the development set, in its own order.

    `reflexion-100` is pandas' `sample(100, random_state=42)` (noahshinn/reflexion), `react-500` the first 500 after
    `random.Random(233).shuffle` (ysymyth/ReAct, hotpotqa.ipynb).

    Raises:
        UsageError: no such sample.
    """
    if sample == "reflexion-100":
        import numpy

        return [int(n) for n in numpy.random.RandomState(42).choice(DEVELOPMENT, 100, replace=False)]
    if sample == "react-500":
        order = list(range(DEVELOPMENT))
        random.Random(233).shuffle(order)
        return order[:500]
    raise unknown("sample", sample, SAMPLES)


def choose(
    source: QuestionSource,
    sample: str | None = None,
    task_ids: Sequence[str] = (),
    task_type: str | None = None,
) -> Split:
    """Return the tasks that are asked for, sorted by id.

    Raises:
        UsageError: an id that is not there, a sample of something else than the whole development set, or nothing left.
    """
    tasks: Sequence[Task] = source.tasks
    name = source.name
    if sample:
        wanted = positions(sample)
        if len(tasks) != DEVELOPMENT:
            raise UsageError(f"sample {sample} needs the {DEVELOPMENT} development questions in their official order; "
                             f"{source.name} has {len(tasks)}")  # fmt: skip
        tasks, name = [tasks[n] for n in wanted], f"{name}/{sample}"
    if task_ids:
        known = {each.id: each for each in tasks}
        for identity in task_ids:
            if identity not in known:
                raise unknown("task", identity, known)
        tasks = [known[identity] for identity in dict.fromkeys(task_ids)]
    if task_type:
        tasks = [each for each in tasks if each.type == task_type]
        if not tasks:
            raise UsageError(f"{name} has no tasks of the type {task_type}")
    return Split(name, tuple(sorted(tasks, key=lambda each: each.id)), source.notes)


def subset(split: Split, count: int | None, seed: int, sampling: Sampling = "stratified") -> Split:
    """Return the tasks that stand for a split; a smaller sample is part of every larger one.

    Args:
        split: as chosen.
        count: how many; None for all.
        seed: of the draw.
        sampling: how they are chosen; `legacy` draws from all tasks alike.

    Raises:
        UsageError: the split has fewer.
    """
    if count is None or count == len(split.tasks):
        return split
    if sampling == "first":
        return first(split, count)
    if sampling == "legacy":
        check_count(split, count)
        order = list(split.tasks)
        random.Random(seed).shuffle(order)
        return replace(split, tasks=tuple(sorted(order[:count], key=lambda each: each.id)))
    return stratified(split, count, lambda each: (each.type, each.data.level), "type and level", seed)
