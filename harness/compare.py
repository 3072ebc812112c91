"""Paired comparison of arms over the same tasks: what differs in their settings first, then the numbers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.cautions import differences, warnings
from reflex_bench.harness.errors import UsageError
from reflex_bench.harness.frame import Run
from reflex_bench.harness.statistics import Interval, holm, mcnemar_exact, paired_bootstrap

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Side:
    """One arm of one run, and what it took; NaN where unknown."""

    run: str
    arm: str
    label: str
    trials_run: int
    calls: float
    tokens: float
    cost: float


@dataclass(frozen=True, slots=True)
class Level:
    """Both arms at one k, over the tasks for which both have a result.

    Attributes:
        k: trials.
        pairs: tasks compared.
        excluded: tasks left out, as one of the arms has an error or no record within k.
        solved_a, solved_b: of the pairs.
        only_a, only_b: of the pairs, solved by one and not by the other.
        p: two-sided exact McNemar.
        interval: 95 % paired bootstrap interval of the difference, by task.
        clustered: the same with tasks drawn by cluster; None where the split names no clusters.
        bounds: of the difference over all tasks, whatever the excluded ones would have been.
    """

    k: int
    pairs: int
    excluded: int
    solved_a: int
    solved_b: int
    only_a: int
    only_b: int
    p: float
    interval: Interval
    clustered: Interval | None
    bounds: Interval

    @property
    def difference(self) -> float:
        """Rate of the second arm minus rate of the first."""
        return (self.solved_b - self.solved_a) / self.pairs if self.pairs else float("nan")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arms, side by side.

    Attributes:
        a, b: the arms; differences are b minus a.
        settings: (name, value of a, value of b) of every setting in which they differ.
        warnings: why the numbers may not mean what they seem to.
        levels: one for each k that both arms reached.
        only_a, only_b: ids of the tasks that one solved and the other did not, at the last k.
        adjusted_p: `p` of the last level after Holm's correction over all pairs of the comparison.
        clusters: how many clusters the tasks form; 0 where the split names none.
    """

    a: Side
    b: Side
    settings: tuple[tuple[str, str, str], ...]
    warnings: tuple[str, ...]
    levels: tuple[Level, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    adjusted_p: float
    clusters: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs that were compared, and which were not worth it."""

    pairs: tuple[Pair, ...]
    skipped: tuple[str, ...] = ()


def compare(
    run_a: Run, run_b: Run | None = None, arms: Sequence[str] | None = None, force: bool = False
) -> Comparison:
    """Compares two runs, or the arms of one.

    Args:
        run_a: the first run.
        run_b: the second; None compares every two arms of the first.
        arms: within one run, the arms to take. Between two runs, one arm for both, or one of each; without it every arm
            that both have is compared with itself, or the only arm of the one with the only arm of the other.
        force: compare runs of different splits over the tasks they share, and arms of equal settings.

    Raises:
        UsageError: an arm does not exist, the splits differ, or there is nothing to compare.
    """
    chosen = _choose(run_a, run_b, arms)
    other = run_b or run_a
    if not force and run_a.split.get("fingerprint") != other.split.get("fingerprint"):
        raise UsageError(
            f"{run_a.id} and {other.id} ran different tasks ({run_a.split.get('name')} and "
            f"{other.split.get('name')}, their fingerprints differ); --force compares the tasks they share"
        )
    equal = [pair for pair in chosen if _same_settings(run_a, other, *pair)]
    kept = chosen if force else [pair for pair in chosen if pair not in equal]
    if not kept:
        raise UsageError(
            f"{' and '.join(dict.fromkeys(equal[0]))}: same settings; nothing to compare "
            "(--force compares them anyway and shows the noise between equal arms)"
        )
    pairs = [_pair(run_a, other, arm_a, arm_b) for arm_a, arm_b in kept]
    adjusted = holm([pair.levels[-1].p for pair in pairs])
    skipped = () if force else tuple(f"{a} and {b}: same settings; not compared." for a, b in equal)
    return Comparison(
        tuple(replace(pair, adjusted_p=p) for pair, p in zip(pairs, adjusted, strict=True)), skipped
    )


def _choose(run_a: Run, run_b: Run | None, arms: Sequence[str] | None) -> list[tuple[str, str]]:
    if run_b is None:
        names = list(arms or run_a.arms)
        for name in names:
            run_a.settings(name)
        if len(names) < 2:
            raise UsageError(
                f"{run_a.id} has the arm {names[0]!r} only; name a second run to compare it with"
            )
        return list(itertools.combinations(names, 2))
    if arms:
        if len(arms) > 2:
            raise UsageError("between two runs name one arm, or one of each run")
        run_a.settings(arms[0])
        run_b.settings(arms[-1])
        return [(arms[0], arms[-1])]
    common = [(arm, arm) for arm in run_a.arms if arm in run_b.arms]
    if not common and len(run_a.arms) == len(run_b.arms) == 1:
        return [(next(iter(run_a.arms)), next(iter(run_b.arms)))]
    if not common:
        raise UsageError(
            f"{run_a.id} ({', '.join(run_a.arms)}) and {run_b.id} ({', '.join(run_b.arms)}) have no arm in common; "
            "name one of each with --arms"
        )
    return common


def _same_settings(run_a: Run, run_b: Run, arm_a: str, arm_b: str) -> bool:
    one, two = run_a.settings(arm_a).get("settings_hash"), run_b.settings(arm_b).get("settings_hash")
    return one is not None and one == two


def _pair(run_a: Run, run_b: Run, arm_a: str, arm_b: str) -> Pair:
    places_a, places_b, tasks = _common_tasks(run_a, run_b)
    solved_a, solved_b = run_a.solved_within(arm_a)[places_a], run_b.solved_within(arm_b)[places_b]
    unknown_a, unknown_b = run_a.unknown_within(arm_a)[places_a], run_b.unknown_within(arm_b)[places_b]
    clusters = _clusters(run_a, tasks)
    levels = tuple(
        _level(k + 1, solved_a[:, k], solved_b[:, k], unknown_a[:, k], unknown_b[:, k], clusters)
        for k in range(min(run_a.limit(arm_a), run_b.limit(arm_b)))
    )
    last = len(levels) - 1
    known = ~(unknown_a[:, last] | unknown_b[:, last])
    one_sided = [
        tuple(
            task for task, here in zip(tasks, known & mine[:, last] & ~theirs[:, last], strict=True) if here
        )
        for mine, theirs in ((solved_a, solved_b), (solved_b, solved_a))
    ]
    one_run = run_a is run_b
    return Pair(
        a=_side(run_a, arm_a, arm_a if one_run or arm_a != arm_b else f"A:{arm_a}"),
        b=_side(run_b, arm_b, arm_b if one_run or arm_a != arm_b else f"B:{arm_b}"),
        settings=tuple(differences(run_a, run_b, arm_a, arm_b)),
        warnings=tuple(warnings(run_a, run_b, arm_a, arm_b, levels[-1], len(tasks))),
        levels=levels,
        only_a=one_sided[0],
        only_b=one_sided[1],
        adjusted_p=levels[-1].p,
        clusters=len(set(clusters)) if clusters else 0,
    )


def _common_tasks(run_a: Run, run_b: Run) -> tuple[list[int], list[int], list[str]]:
    """Rows of the common tasks in either run, and their ids."""
    place = {task: index for index, task in enumerate(run_b.task_ids)}
    common = [(index, place[task], task) for index, task in enumerate(run_a.task_ids) if task in place]
    if not common:
        raise UsageError(f"{run_a.id} and {run_b.id} have no task in common")
    return [one for one, _, _ in common], [two for _, two, _ in common], [task for _, _, task in common]


def _clusters(run: Run, tasks: Sequence[str]) -> list[str] | None:
    """The cluster of every task, where the split names them (`split.clusters` in `run.json`)."""
    labels = run.split.get("clusters")
    return [str(labels.get(task, task)) for task in tasks] if isinstance(labels, Mapping) else None


def _level(
    k: int,
    solved_a: np.ndarray[Any, Any],
    solved_b: np.ndarray[Any, Any],
    unknown_a: np.ndarray[Any, Any],
    unknown_b: np.ndarray[Any, Any],
    clusters: Sequence[str] | None,
) -> Level:
    known = ~(unknown_a | unknown_b)
    a, b = solved_a[known], solved_b[known]
    differences = b.astype(int) - a.astype(int)
    labels = (
        None if clusters is None else [label for label, kept in zip(clusters, known, strict=True) if kept]
    )
    only_a, only_b = int((differences < 0).sum()), int((differences > 0).sum())
    lowest, highest = (
        solved_b.sum() - (solved_a | unknown_a).sum(),
        (solved_b | unknown_b).sum() - solved_a.sum(),
    )
    return Level(
        k=k,
        pairs=len(a),
        excluded=len(known) - len(a),
        solved_a=int(a.sum()),
        solved_b=int(b.sum()),
        only_a=only_a,
        only_b=only_b,
        p=mcnemar_exact(only_a, only_b),
        interval=paired_bootstrap(differences),
        clustered=None if labels is None else paired_bootstrap(differences, clusters=labels),
        bounds=Interval(float(lowest / len(known)), float(highest / len(known))),
    )


def _side(run: Run, arm: str, label: str) -> Side:
    rows = run.rows(arm)
    tokens = float((rows["prompt_tokens"] + rows["completion_tokens"]).sum(skipna=False))
    cost = float(rows["cost"].sum(skipna=False))
    return Side(run.id, arm, label, len(rows), float(rows["calls"].sum(skipna=False)), tokens, cost)
