"""Which tasks of the business a run has."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.envs.base import Split, Task
from reflex_bench.envs.sampling import Sampling, first, stratified
from reflex_bench.envs.tools.tasks import ToolTask, generate, read_tasks, task_line

PROCEDURAL = "procedural"
DEFAULT_COUNT = 120
FAMILIES = ("status", "refund", "change", "transfer", "dispatch", "expense", "reconcile", "refuse")


class Selection(Protocol):
    """What of the environment's options says which tasks are taken."""

    @property
    def data(self) -> Path | None: ...

    @property
    def task_ids(self) -> tuple[str, ...]: ...

    @property
    def task_type(self) -> str | None: ...

    @property
    def sampling(self) -> Sampling: ...


def parse_name(name: str, seed: int | None) -> int:
    """Return the seed of a split.

    Args:
        name: `procedural` or `procedural:seed=7`.
        seed: given apart from the name.

    Raises:
        UsageError: no such split, or two different seeds.
    """
    base, colon, setting = name.partition(":")
    if base != PROCEDURAL:
        raise unknown("split of tools", base, (PROCEDURAL,))
    key, _, value = setting.partition("=")
    if colon and (key != "seed" or not (value.isascii() and value.isdigit())):
        raise UsageError(f"cannot read the split {name!r}; write it like procedural:seed=7")
    if colon and seed is not None and seed != int(value):
        raise UsageError(f"the split is {name!r} but the seed is {seed}; give one of the two")
    return int(value) if colon else seed or 0


def load(options: Selection, of_tasks: int, count: int | None, seed: int) -> Split:
    """Return the split that the options describe, or `count` tasks of it.

    Args:
        options: of the environment.
        of_tasks: the seed of the generator.
        count: how many; None for all.
        seed: of the draw.

    Raises:
        UsageError: there is no such task or family, or fewer than `count`.
    """
    if options.task_type is not None and options.task_type not in FAMILIES:
        raise unknown("family of tasks", options.task_type, FAMILIES)
    if options.data is not None:
        name, made = f"file:{options.data.name}", read_tasks(options.data)
    else:
        wanted = (count or 0) * (len(FAMILIES) if options.task_type else 1)
        name, made = f"{PROCEDURAL}:seed={of_tasks}", generate(of_tasks, max(DEFAULT_COUNT, wanted))
    split = Split(name, tuple(sorted(map(_task, made), key=lambda task: task.id)))
    known = {task.id for task in split.tasks}
    for id in options.task_ids:
        if id not in known:
            raise unknown("task", id, known)
    chosen = tuple(
        task
        for task in split.tasks
        if (not options.task_ids or task.id in options.task_ids)
        and (options.task_type is None or task.type == options.task_type)
    )
    split = replace(split, tasks=chosen)
    if count is None:
        return split
    if options.sampling == "first":
        return first(split, count)
    return stratified(split, count, lambda task: task.type, "family", seed)


def _task(made: ToolTask) -> Task:
    fingerprint = hashlib.sha256(task_line(made).encode("utf-8")).hexdigest()
    return Task(made.id, made.family, " ".join(made.message.split()), fingerprint, made)
