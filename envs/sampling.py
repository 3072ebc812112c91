"""Sampling of the tasks that stand for a split: `--tasks N`."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Split, Task

Sampling = Literal["stratified", "first", "legacy"]
"""How tasks are chosen: `stratified` (each stratum in proportion), `first` (the first by id), or `legacy` (as version
0.1.0 chose them, so that its runs can be resumed)."""


MAX_GENERATED = 10_000
"""Tasks that are generated for one run; a game of ALFWorld takes about 0.1 MB of the cache."""


def check_generated(count: int, what: str, asked: int | None = None) -> None:
    """Raise UsageError where more tasks would have to be generated than are for one run.

    Args:
        count: how many would be.
        what: they are, e.g. `games`.
        asked: how many tasks were asked for, where these are others.
    """
    if count > MAX_GENERATED:
        needs = "" if asked is None or asked == count else f" (for {asked:,} of the type wanted)"
        raise UsageError(
            f"--tasks: {count:,} {what} would have to be generated{needs}; at most {MAX_GENERATED:,} are for one run, "
            "and another seed has others"
        )


def stratified(
    split: Split,
    count: int,
    stratum: Callable[[Task], Hashable],
    strata: str,
    seed: int,
    order: Callable[[Task], Any] | None = None,
) -> Split:
    """Return `count` tasks of a split, each stratum in proportion, sorted by id.

    A smaller sample is part of every larger one of the same split and seed.

    Args:
        split: what is sampled.
        count: how many tasks.
        stratum: the stratum of a task.
        strata: what the strata are, for the note, e.g. `type`.
        seed: of the order in which the tasks of a stratum are taken.
        order: sort key of the tasks of a stratum, instead of the order drawn by `seed`.

    Raises:
        UsageError: the split has fewer tasks.
    """
    check_count(split, count)
    waiting: dict[Hashable, list[Task]] = {}
    for task in sorted(split.tasks, key=order or (lambda task: drawn(task.id, seed))):
        waiting.setdefault(stratum(task), []).append(task)
    sizes = {name: len(tasks) for name, tasks in sorted(waiting.items(), key=lambda item: str(item[0]))}
    shares = allot(sizes, count)
    chosen = [task for name, tasks in waiting.items() for task in tasks[: shares[name]]]
    drawn_by = "" if order else f", drawn by seed {seed}"
    return _noted(split, chosen, f"in proportion to {strata}{drawn_by}")


def first(split: Split, count: int) -> Split:
    """Return the first `count` tasks by id.

    Raises:
        UsageError: the split has fewer tasks.
    """
    check_count(split, count)
    return _noted(split, sorted(split.tasks, key=lambda task: task.id)[:count], "the first by id")


def check_count(split: Split, count: int) -> None:
    """Raise UsageError where a split does not have `count` tasks, or `count` is not positive."""
    if not 0 < count <= len(split.tasks):
        raise UsageError(f"cannot take {count} tasks; {split.name} has {len(split.tasks)}")


def allot(sizes: Mapping[Hashable, int], count: int) -> dict[Hashable, int]:
    """Return how many of `count` seats each stratum gets, in proportion to its size.

    The largest remainder method (Hamilton's) gives each stratum its quota, rounded down, and the seats that are left to
    the largest remainders; of equal ones the first in `sizes` wins. That method alone can take a seat away from a
    stratum when `count` grows (the Alabama paradox; Balinski & Young, Fair Representation, 1982, chapter 5). So seats
    are taken away one by one from the full sizes instead, each from the stratum that has most above its share: no
    stratum loses a seat when `count` grows, and the result is the largest remainder method's wherever it can be.
    """
    seats = dict(sizes)
    for total in range(sum(sizes.values()) - 1, count - 1, -1):
        wanted = _largest_remainder(sizes, total)
        quota = {name: Fraction(size * total, sum(sizes.values())) for name, size in sizes.items()}
        loser = max(seats, key=lambda name: (seats[name] - wanted[name], seats[name] - quota[name]))
        seats[loser] -= 1
    return seats


def _largest_remainder(sizes: Mapping[Hashable, int], count: int) -> Counter[Hashable]:
    whole = sum(sizes.values())
    seats = Counter({name: size * count // whole for name, size in sizes.items()})
    by_remainder = sorted(sizes, key=lambda name: -(sizes[name] * count % whole))
    seats.update(by_remainder[: count - seats.total()])
    return seats


def drawn(identity: str, seed: int) -> str:
    """Return the key by which a seed orders tasks; it depends on nothing but the id and the seed."""
    return hashlib.sha256(f"{seed}\t{identity}".encode("utf-8", "surrogatepass")).hexdigest()


def _noted(split: Split, chosen: Iterable[Task], how: str) -> Split:
    tasks = tuple(sorted(chosen, key=lambda task: task.id))
    note = f"{len(tasks)} of {len(split.tasks)} tasks were taken, {how}"
    return replace(split, tasks=tasks, notes=(*split.notes, note))
