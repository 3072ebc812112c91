"""An environment's metrics in numbers: over the trials of an arm, with intervals over tasks and over clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reflex_bench.envs.metrics import Metric
from reflex_bench.harness.reporting.statistics.intervals import Interval, ratio_bootstrap
from reflex_bench.harness.reporting.tables.number_format import amount, percent
from reflex_bench.harness.reporting.task_facts import MIN_CLUSTERS, clusters_of
from reflex_bench.harness.storage.run_data import Run

if TYPE_CHECKING:
    import pandas as pd

NO_INTERVAL = Interval(math.nan, math.nan)
MEASURE_METHOD = (
    "the 95% interval: Wilson's for a share of all tasks, else the percentile bootstrap over tasks"
)


_MAX_DRAWN = 5_000_000
"""Numbers that are drawn for one interval, at most: 10,000 times 500, which is about a second."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric over the trials of an arm.

    Attributes:
        value: the mean, or the ratio; NaN where no trial has the number.
        tasks: how many tasks have it.
        interval: 95 %, the percentile bootstrap over tasks; NaN where no two tasks differ.
        clustered: the same with tasks drawn by cluster; NaN where the split names none, or fewer than `MIN_CLUSTERS`.
    """

    value: float
    tasks: int
    interval: Interval
    clustered: Interval


def numbers(rows: pd.DataFrame, name: str) -> pd.Series[Any]:
    """Return a column of trials as numbers; NaN where it was not taken."""
    import pandas as pd

    return pd.to_numeric(rows.get(name, pd.Series(math.nan, index=rows.index)), errors="coerce")


def trials_of(run: Run, arm: str, metric: Metric, k: int | None = None) -> pd.DataFrame:
    """Return the trials of an arm that a metric is of, among the first k of each task. Errors are none of them."""
    rows = run.rows(arm)
    known = rows[(rows["outcome"] != "error") & (rows["trial"] <= (k or run.limit(arm)))]
    if metric.trials == "wins":
        return known[known["success"] == 1]
    return known if run.independent(arm) else known.groupby("task").tail(1)


def value_of(metric: Metric, rows: pd.DataFrame) -> float:
    """Return a metric over some trials; NaN where none has the number."""
    tops, bottoms = _parts(metric, rows)
    if metric.aggregate == "mean":
        return float(tops.mean())
    total = bottoms.sum()
    return float(tops.sum() / total) if total else math.nan


def by_task(metric: Metric, rows: pd.DataFrame) -> pd.DataFrame:
    """Return one line for each task that has the number.

    The sum of `top` over the sum of `bottom` is the metric over all of them; `value` is the task's own.
    """
    tops, bottoms = _parts(metric, rows)
    known = (tops.notna() & bottoms.notna()).astype(bool)
    lines = rows[["task"]].assign(top=tops, bottom=bottoms)[known].groupby("task").sum()
    lines = lines[lines["bottom"] > 0]
    return lines.assign(value=lines["top"] / lines["bottom"])


def measure(run: Run, arm: str, metric: Metric, k: int | None = None) -> Measured:
    """Return a metric over an arm's first k trials of each task (all by default), with its intervals."""
    rows = trials_of(run, arm, metric, k)
    lines = by_task(metric, rows)
    tops, bottoms = lines["top"].tolist(), lines["bottom"].tolist()
    if lines["value"].nunique() < 2:
        return Measured(value_of(metric, rows), len(lines), NO_INTERVAL, NO_INTERVAL)
    clusters, by_cluster = enough_clusters(run, lines.index.tolist()), NO_INTERVAL
    if clusters:
        times = resamples(len(set(clusters)))
        by_cluster = ratio_bootstrap(tops, bottoms, clusters=clusters, resamples=times)
    times = resamples(len(set(zip(tops, bottoms, strict=True))))
    interval = ratio_bootstrap(tops, bottoms, resamples=times)
    return Measured(value_of(metric, rows), len(lines), interval, by_cluster)


def resamples(kinds: int) -> int:
    """Return how often to draw tasks or clusters of so many kinds: 10,000 times, above 500 kinds fewer, at least 1,000.

    Most metrics have few distinct values, and the draws are of these; one of many in a large run must not take minutes.
    """
    return max(1_000, min(10_000, _MAX_DRAWN // max(1, kinds)))


def enough_clusters(run: Run, tasks: Sequence[str]) -> list[str] | None:
    """Return the cluster of every task where they are in enough clusters to draw by them, else None."""
    clusters = clusters_of(run, tasks)
    return clusters if clusters and len(set(clusters)) >= MIN_CLUSTERS else None


def _parts(metric: Metric, rows: pd.DataFrame) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """What is summed up of every trial, and by the sum of what that is divided."""
    tops = numbers(rows, metric.value).astype("float64")
    bottoms = numbers(rows, metric.per).astype("float64") if metric.per else tops * 0.0 + 1.0
    if metric.aggregate == "ratio":
        both = tops.notna() & bottoms.notna()
        return tops[both], bottoms[both]
    each = (tops / bottoms).replace([math.inf, -math.inf], math.nan)
    each = each if metric.missing is None else each.fillna(metric.missing)
    return each, each.notna().astype("float64")


def shown(metric: Metric, value: float) -> str:
    """Return a value of the metric as tables print it; a dash where there is none."""
    if math.isnan(value):
        return "–"
    if metric.format == "percent":
        return percent(value)
    return f"{value:.2f}" if metric.format == "ratio" else amount(value)


def difference_shown(metric: Metric, value: float) -> str:
    """Return a difference of two values as tables print it, with its sign; of percentages, in points."""
    if math.isnan(value):
        return "–"
    if metric.format == "percent":
        return f"{100 * value:+.1f}"
    return f"{value:+.2f}" if metric.format == "ratio" else f"{value:+.1f}"


def heading(metric: Metric, over: str = "") -> str:
    """Return what the metric is called: over which trials it is, where they are not each task's last, and which end is
    good where it is the lower one.
    """
    over = over or ("wins" if metric.trials == "wins" else "")
    good = " (lower is better)" if metric.better == "lower" else ""
    return f"{metric.label}{f', {over}' if over else ''}{good}"


def definitions(metrics: Sequence[Metric], sampled: bool) -> tuple[str, ...]:
    """Return a note for each metric: what it is, over which trials, and which end is good."""
    of = {"last": "all samples" if sampled else "the last trial of each task", "wins": "won trials"}
    how = {"mean": "mean over", "ratio": "sum over sum, over"}
    return tuple(
        f"{metric.label}: {metric.definition}; {how[metric.aggregate]} {of[metric.trials]}; {metric.better} is better."
        for metric in metrics
    )
