"""Two arms by the metrics of their environment: the difference over the tasks for which both have the number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reflex_bench.envs.metrics import Metric
from reflex_bench.harness.reporting.declared import declares, metrics_of
from reflex_bench.harness.reporting.metric_values import NO_INTERVAL, by_task, resamples, trials_of
from reflex_bench.harness.reporting.statistics.intervals import Interval, paired_bootstrap
from reflex_bench.harness.reporting.statistics.paired import sign_flip_test
from reflex_bench.harness.reporting.task_facts import MIN_CLUSTERS, clusters_of
from reflex_bench.harness.storage.run_data import Run


@dataclass(frozen=True, slots=True)
class MetricPair:
    """A metric of two arms within their last common k.

    Attributes:
        metric: which.
        pairs: tasks for which both arms have the number. Of `wins`: tasks that both solved.
        value_a, value_b: the mean of the tasks' values over the pairs; NaN without pairs.
        interval: 95 % interval of the difference, b minus a: the paired bootstrap over tasks; NaN where every task
            differs alike.
        clustered: the same with tasks drawn by cluster; NaN where the split names none, or fewer than `MIN_CLUSTERS`.
        p: two-sided, of the sign-flip test.
    """

    metric: Metric
    pairs: int
    value_a: float
    value_b: float
    interval: Interval
    clustered: Interval
    p: float

    @property
    def difference(self) -> float:
        """The second arm's value minus the first's."""
        return self.value_b - self.value_a

    @property
    def better(self) -> int | None:
        """0 where the first arm's value is the better one, 1 where the second's is; None where neither is."""
        if math.isnan(self.difference) or not self.difference:
            return None
        return int((self.difference > 0) == (self.metric.better == "higher"))


def metric_pairs(
    run_a: Run, run_b: Run, arm_a: str, arm_b: str, tasks: Sequence[str], k: int
) -> tuple[MetricPair, ...]:
    """Return the comparison of two arms by every metric that both their runs declare; none for earlier versions' runs.

    Args:
        run_a, run_b: the runs, possibly the same.
        arm_a, arm_b: their arms.
        tasks: the ids to compare over.
        k: only the first k trials of each task.
    """
    if not (declares(run_a) and declares(run_b)):
        return ()
    theirs = metrics_of(run_b)
    return tuple(
        _pair(metric, (run_a, run_b), (arm_a, arm_b), tasks, k)
        for metric in metrics_of(run_a)
        if metric in theirs
    )


def _pair(
    metric: Metric, runs: tuple[Run, Run], arms: tuple[str, str], tasks: Sequence[str], k: int
) -> MetricPair:
    a, b = (
        by_task(metric, trials_of(run, arm, metric, k))["value"].reindex(list(tasks))
        for run, arm in zip(runs, arms, strict=True)
    )
    known = a.notna() & b.notna()
    differences = (b[known] - a[known]).tolist()
    kept: list[Any] = [task for task, both in zip(tasks, known, strict=True) if both]
    labels = clusters_of(runs[0], kept) or []
    kinds, groups = len(set(differences)), len(set(labels))
    clustered = NO_INTERVAL
    if kinds > 1 and groups >= MIN_CLUSTERS:
        clustered = paired_bootstrap(differences, clusters=labels, resamples=resamples(groups))
    return MetricPair(
        metric=metric,
        pairs=len(differences),
        value_a=float(a[known].mean()),
        value_b=float(b[known].mean()),
        interval=paired_bootstrap(differences, resamples=resamples(kinds)) if kinds > 1 else NO_INTERVAL,
        clustered=clustered,
        # A sign is drawn about ten times as fast as a task.
        p=sign_flip_test(differences, draws=resamples(len(differences) // 10)),
    )
