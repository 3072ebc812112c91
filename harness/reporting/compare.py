"""Paired comparison of arms over the same tasks: what differs in their settings first, then the numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.comparability import differences, warnings
from reflex_bench.harness.reporting.footnotes import shared_trials
from reflex_bench.harness.reporting.metric_pairs import MetricPair, metric_pairs
from reflex_bench.harness.reporting.row_settings import changed_parameters
from reflex_bench.harness.reporting.statistics.intervals import holm
from reflex_bench.harness.reporting.statistics.levels import (
    EqualCost,
    Level,
    equal_cost,
    level_of,
    results_of,
)
from reflex_bench.harness.reporting.task_facts import cluster_name, clusters_of
from reflex_bench.harness.reporting.unanswered import why_idle
from reflex_bench.harness.storage.run_data import Run


@dataclass(frozen=True, slots=True)
class Side:
    """One arm of one run."""

    run: str
    arm: str
    label: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arms, side by side.

    Attributes:
        a, b: the arms; differences are b minus a.
        settings: (name, value of a, value of b) of every setting in which they differ.
        warnings: why the numbers may not mean what they seem to.
        levels: one for each k that both arms reached.
        only_a, only_b: ids of the tasks that one solved (of samples: solved more often) and the other did not, at the
            last k.
        adjusted_p: `p` of the last level after Holm's correction over all pairs of the comparison.
        clusters: how many clusters the tasks form; 0 where the split names none.
        cluster_name: what the tasks of a cluster share.
        one_experiment: whether the first trials of both arms are the same ones, so that they are equal at k = 1 for
            no other reason.
        equal_cost: both arms at the tokens of the cheaper one; None where they took about the same, or it is unknown.
        idle: labels of the arms that never acted, so that nothing follows from the numbers.
        metrics: both arms by what their environment measures, at the last k; empty for a run of an earlier version.
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
    cluster_name: str
    one_experiment: bool
    equal_cost: EqualCost | None
    idle: tuple[str, ...]
    metrics: tuple[MetricPair, ...] = ()


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
    pairs, equal = _paired(run_a, run_b, arms, force)
    return _corrected(pairs, equal)


def compare_each(runs: Sequence[Run], arms: Sequence[str] | None = None, force: bool = False) -> Comparison:
    """Compares every two of several runs; the p-values are corrected over all pairs.

    Args:
        runs: two or more.
        arms: see `compare`.
        force: see `compare`.

    Raises:
        UsageError: two of the runs cannot be compared, or there is nothing to compare.
    """
    found = [_paired(one, two, arms, force) for one, two in itertools.combinations(runs, 2)]
    return _corrected(
        [pair for pairs, _ in found for pair in pairs], [name for _, each in found for name in each]
    )


def _corrected(pairs: Sequence[Pair], equal: Sequence[tuple[str, str]]) -> Comparison:
    """Return the pairs with their p-values corrected; raise `UsageError` where none is left of those that are equal."""
    if not pairs:
        raise UsageError(
            f"{' and '.join(dict.fromkeys(equal[0]))}: same settings; nothing to compare "
            "(--force compares them anyway and shows the noise between equal arms)"
        )
    adjusted = holm([pair.levels[-1].p for pair in pairs])
    return Comparison(
        tuple(replace(pair, adjusted_p=p) for pair, p in zip(pairs, adjusted, strict=True)),
        tuple(f"{a} and {b}: same settings; not compared." for a, b in equal),
    )


def _paired(
    run_a: Run, run_b: Run | None, arms: Sequence[str] | None, force: bool
) -> tuple[list[Pair], list[tuple[str, str]]]:
    """Return the pairs of arms that are compared, and those whose settings are the same; see `compare`."""
    chosen = _choose(run_a, run_b, arms)
    other = run_b or run_a
    if not force:
        _check_same_tasks(run_a, other)
    equal = [] if force else [pair for pair in chosen if _same_settings(run_a, other, *pair)]
    pairs = [_pair(run_a, other, arm_a, arm_b) for arm_a, arm_b in chosen if (arm_a, arm_b) not in equal]
    return pairs, equal


def _check_same_tasks(run_a: Run, run_b: Run) -> None:
    """Raise `UsageError` where two runs have not the same tasks, and say what they have in common."""
    if run_a.split.get("fingerprint") == run_b.split.get("fingerprint"):
        return
    names = [str(run.environment.get("name")) for run in (run_a, run_b)]
    if names[0] != names[1]:
        raise UsageError(
            f"{run_a.id} and {run_b.id} are runs of two environments, {names[0]} and {names[1]}; they have no task in "
            "common"
        )
    common, most = len({*run_a.task_ids} & {*run_b.task_ids}), max(run_a.tasks, run_b.tasks)
    splits = " and ".join(dict.fromkeys(str(run.split.get("name")) for run in (run_a, run_b)))
    sizes = f"{run_a.tasks} and {run_b.tasks} of {splits}"
    told = f"{run_a.id} and {run_b.id} have {common} of {most} tasks in common ({sizes})"
    if common == run_a.tasks == run_b.tasks:
        told = f"the tasks of {run_a.id} and {run_b.id} have the same ids and other contents ({splits})"
    raise UsageError(f"{told}; --force compares those" if common else f"{told}; there is nothing to compare")


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
    one, two = run_a.settings(arm_a), run_b.settings(arm_b)
    same = one.get("settings_hash") is not None and one.get("settings_hash") == two.get("settings_hash")
    # What an endpoint left out is asked for in both and holds in one.
    roles = ("model", "evaluator_model", "step_evaluator_model", "reflector_model")
    return same and all(
        changed_parameters(run_a, one.get(role)) == changed_parameters(run_b, two.get(role)) for role in roles
    )


def _pair(run_a: Run, run_b: Run, arm_a: str, arm_b: str) -> Pair:
    places_a, places_b, tasks = _common_tasks(run_a, run_b)
    sampled = (run_a.independent(arm_a), run_b.independent(arm_b))
    # Of a run of samples and one of trials only the first attempts mean the same.
    last = min(run_a.limit(arm_a), run_b.limit(arm_b)) if sampled[0] == sampled[1] else 1
    a, b = (
        results_of(run_a, arm_a, places_a, last, any(sampled)),
        results_of(run_b, arm_b, places_b, last, any(sampled)),
    )
    clusters = clusters_of(run_a, tasks)
    levels = tuple(level_of(k, a, b, clusters) for k in range(1, last + 1))
    ahead = a.values[:, last - 1] - b.values[:, last - 1]
    one_run = run_a is run_b
    side_a = Side(run_a.id, arm_a, arm_a if one_run or arm_a != arm_b else f"A:{arm_a}")
    side_b = Side(run_b.id, arm_b, arm_b if one_run or arm_a != arm_b else f"B:{arm_b}")
    return Pair(
        a=side_a,
        b=side_b,
        settings=tuple(differences(run_a, run_b, arm_a, arm_b)),
        warnings=tuple(warnings(run_a, run_b, arm_a, arm_b, levels[-1], len(tasks))),
        levels=levels,
        # A task without a result compares as neither.
        only_a=tuple(task for task, more in zip(tasks, ahead > 0, strict=True) if more),
        only_b=tuple(task for task, more in zip(tasks, ahead < 0, strict=True) if more),
        adjusted_p=levels[-1].p,
        clusters=len(set(clusters)) if clusters else 0,
        cluster_name=cluster_name(run_a) if clusters else "",
        one_experiment=one_run
        and sum(
            count
            for (trial, arms), count in shared_trials(run_a).items()
            if trial == 1 and {arm_a, arm_b} <= set(arms)
        )
        == run_a.tasks,
        equal_cost=equal_cost((a, b), levels[-1]),
        idle=tuple(side.label for run, side in ((run_a, side_a), (run_b, side_b)) if why_idle(run, side.arm)),
        metrics=metric_pairs(run_a, run_b, arm_a, arm_b, tasks, last),
    )


def _common_tasks(run_a: Run, run_b: Run) -> tuple[list[int], list[int], list[str]]:
    """Rows of the common tasks in either run, and their ids."""
    place = {task: index for index, task in enumerate(run_b.task_ids)}
    common = [(index, place[task], task) for index, task in enumerate(run_a.task_ids) if task in place]
    if not common:
        raise UsageError(f"{run_a.id} and {run_b.id} have no task in common")
    return [one for one, _, _ in common], [two for _, two, _ in common], [task for _, _, task in common]
