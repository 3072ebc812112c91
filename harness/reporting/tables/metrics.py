"""The numbers that a run's environment measures, beside what counts as solved, steps and tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.metrics import Metric
from reflex_bench.harness.reporting.declared import declares, metrics_of, success_rule, task_name, title_of
from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.measures import rate
from reflex_bench.harness.reporting.metric_values import (
    MEASURE_METHOD,
    Measured,
    definitions,
    heading,
    measure,
    numbers,
    shown,
    trials_of,
    value_of,
)
from reflex_bench.harness.reporting.statistics.intervals import Interval, wilson_of_means
from reflex_bench.harness.reporting.statistics.samples import Estimate, estimates, is_sampled
from reflex_bench.harness.reporting.tables.number_format import (
    amount,
    bounds_cell,
    count,
    decimal,
    interval_cell,
    rate_cell,
)
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table
from reflex_bench.harness.reporting.task_facts import cluster_name
from reflex_bench.harness.storage.run_data import Run

if TYPE_CHECKING:
    import pandas as pd

Line = dict[str, Any]


def metrics_table(run: Run) -> Table:
    """Every metric of the environment with its interval and its definition, for every arm.

    Within the first and within the last trial; of independent samples there is one line an arm, over all of them. Where
    the tasks are in enough clusters, a second block has the intervals drawn by cluster.

    Raises:
        UsageError: no trial of the run has a number that the environment measures.
    """
    metrics = [metric for metric in metrics_of(run) if metric.value in run.trials]
    if not metrics:
        raise UsageError(f"{run.id}: no trial of this run has a number that its environment measures")
    lines = _lines(run, metrics)
    for line in lines:
        for metric in metrics:
            _add_intervals(line, metric, measure(run, line["arm"], metric, line["trials"]))
    grids = (_grid(run, metrics, lines, heading, _full_cell), *_cluster_grid(run, metrics, lines))
    told = (*notes(run), *definitions(metrics, is_sampled(run)), f"In brackets {MEASURE_METHOD}.")
    return _table(run, lines, grids, told)


def scores_table(run: Run) -> Table:
    """What counts as solved, the scores of the answers, steps and tokens, for every arm and number of trials.

    The scores are the metrics of each task's last trial. Intervals stand beside rates alone.

    Raises:
        UsageError: no trial of the run was scored.
    """
    metrics = [metric for metric in metrics_of(run) if metric.trials == "last"]
    if all(metric.value not in run.trials for metric in metrics):
        raise UsageError(
            f"{run.id}: no trial of this run has a score; `--style metrics` shows all that an environment measures"
        )
    lines = _lines(run, metrics)
    return _table(run, lines, (_grid(run, metrics, lines, lambda metric: metric.label, _cell),), notes(run))


def _table(run: Run, lines: Sequence[Line], grids: tuple[Grid, ...], told: tuple[str, ...]) -> Table:
    import pandas as pd

    size = count(run.tasks, task_name(run)) if declares(run) else f"{run.tasks} {task_name(run)}s"
    title = f"{title_of(run)} · {run.split.get('name')} · {size} · run {run.id}"
    frame = pd.DataFrame([{key: value for key, value in line.items() if key != "estimate"} for line in lines])
    return Table(title, frame, grids, told)


def _grid(
    run: Run,
    metrics: Sequence[Metric],
    lines: Sequence[Line],
    name: Callable[[Metric], str],
    cell: Callable[[Metric, Line], Cell],
) -> Grid:
    """The lines laid out. A share of solved tasks that is one of the metrics by the run's rule is not repeated."""
    rule = success_rule(run)
    # Without a number in any trial a rate would be one of nothing.
    metrics = [
        metric
        for metric in metrics
        if not _is_rate(metric) or any(not math.isnan(line[metric.key]) for line in lines)
    ]
    apart = rule not in {metric.key for metric in metrics}
    solved = f"Solved ({rule})" if rule else "Solved" if declares(run) else "Solved (rule not recorded)"
    rows = [
        (
            Cell(line["arm"]),
            Cell(str(line["trials"])),
            *([_solved_cell(line)] if apart else []),
            *(cell(metric, line) for metric in metrics),
            Cell(decimal(line["steps"])),
            Cell(amount(line["tokens"])),
        )
        for line in lines
    ]
    sampled = is_sampled(run)
    headings = (*([solved] if apart else []), *map(name, metrics))
    header = ("Arm", "Samples" if sampled else "Trials", *headings, "Steps", "Tokens")
    each = "a sample" if sampled else f"a {task_name(run)}, all its trials together"
    return Grid(f"Steps and tokens {each}", header, tuple(rows))


def _cluster_grid(run: Run, metrics: Sequence[Metric], lines: Sequence[Line]) -> tuple[Grid, ...]:
    def ends(metric: Metric, line: Line) -> str:
        return _between(metric, line[f"{metric.key}_low_by_cluster"], line[f"{metric.key}_high_by_cluster"])

    rows = tuple(
        (
            Cell(line["arm"]),
            Cell(str(line["trials"])),
            *(Cell(ends(metric, line) or "–") for metric in metrics),
        )
        for line in lines
    )
    if all(cell.text == "–" for row in rows for cell in row[2:]):
        return ()
    header = ("Arm", "Samples" if is_sampled(run) else "Trials", *map(heading, metrics))
    return (Grid(f"95% intervals with tasks drawn by cluster ({cluster_name(run)})", header, rows),)


def _solved_cell(line: Line) -> Cell:
    if "estimate" in line:
        one = line["estimate"].any_of
        return bounds_cell(*one.bounds) if math.isnan(one.rate) else interval_cell(one.rate, *one.interval)
    return rate_cell(line["share"], line["low"], line["high"], line["solved"], line["unknown"], line["tasks"])


def _cell(metric: Metric, line: Line) -> Cell:
    value = line[metric.key]
    if math.isnan(value) or not _is_rate(metric):
        return Cell(shown(metric, value))
    if "estimate" in line:
        return interval_cell(value, line[f"{metric.key}_low"], line[f"{metric.key}_high"])
    solved = line[f"{metric.key}_solved"]
    share, low, high = rate(solved, line["unknown"], line["tasks"])
    return rate_cell(share, low, high, solved, line["unknown"], line["tasks"])


def _full_cell(metric: Metric, line: Line) -> Cell:
    if _is_rate(metric):
        return _cell(metric, line)
    ends = _between(metric, line[f"{metric.key}_low"], line[f"{metric.key}_high"])
    return Cell(shown(metric, line[metric.key]), f"[{ends}]" if ends else "")


def _between(metric: Metric, low: float, high: float) -> str:
    return "" if math.isnan(low + high) else f"{shown(metric, low)} to {shown(metric, high)}"


def _is_rate(metric: Metric) -> bool:
    """Whether it is a share of all tasks: 0 or 1 for each of them."""
    return metric.binary and metric.trials == "last" and metric.aggregate == "mean" and not metric.per


def _add_intervals(line: Line, metric: Metric, measured: Measured) -> None:
    """Add the ends of the intervals that `_lines` does not have."""
    key = metric.key
    if f"{key}_low" not in line:
        ends = measured.interval
        if _is_rate(metric):
            _, low, high = rate(line[f"{key}_solved"], line["unknown"], line["tasks"])
            ends = Interval(low, high)
        line |= {f"{key}_low": ends.low, f"{key}_high": ends.high}
    clustered = measured.clustered
    line |= {f"{key}_low_by_cluster": clustered.low, f"{key}_high_by_cluster": clustered.high}


def _lines(run: Run, metrics: Sequence[Metric]) -> list[Line]:
    if is_sampled(run):
        return [_sampled_line(run, arm, metrics) for arm in run.arms]
    return [_line(run, arm, k, metrics) for arm in run.arms for k in sorted({1, run.limit(arm)})]


def _line(run: Run, arm: str, k: int, metrics: Sequence[Metric]) -> Line:
    rows = run.rows(arm)
    rows = rows[rows["trial"] <= k]
    solved, missing = (int(of(arm)[:, k - 1].sum()) for of in (run.solved_within, run.unknown_within))
    share, low, high = rate(solved, missing, run.tasks)
    line: Line = {"arm": arm, "trials": k, "tasks": run.tasks, "share": share, "low": low, "high": high}
    line |= {"solved": solved, "unknown": missing}
    for metric in metrics:
        line |= _of_trials(run, metric, trials_of(run, arm, metric, k))
    return line | {
        "steps": rows["steps"].sum(skipna=False) / run.tasks,
        "tokens": (rows["prompt_tokens"] + rows["completion_tokens"]).sum(skipna=False) / run.tasks,
    }


def _of_trials(run: Run, metric: Metric, rows: pd.DataFrame) -> Line:
    if not _is_rate(metric):
        return {metric.key: value_of(metric, rows)}
    flags = numbers(rows, metric.value)
    met = int((flags == 1).sum())
    return {metric.key: met / run.tasks if flags.notna().any() else math.nan, f"{metric.key}_solved": met}


def _sampled_line(run: Run, arm: str, metrics: Sequence[Metric]) -> Line:
    rows = run.rows(arm)
    one: Estimate = next(estimates(run, arm))
    line: Line = {"arm": arm, "trials": run.limit(arm), "tasks": run.tasks, "estimate": one}
    line |= {"share": one.any_of.rate, "low": one.any_of.interval.low, "high": one.any_of.interval.high}
    line["unknown"] = one.any_of.unknown
    for metric in metrics:
        line |= _of_samples(run, arm, metric, trials_of(run, arm, metric))
    return line | {
        "steps": rows["steps"].mean(),
        "tokens": (rows["prompt_tokens"] + rows["completion_tokens"]).mean(skipna=False),
    }


def _of_samples(run: Run, arm: str, metric: Metric, rows: pd.DataFrame) -> Line:
    if not _is_rate(metric):
        return {metric.key: value_of(metric, rows)}
    flags = numbers(rows, metric.value)
    means = flags.fillna(0.0).groupby(rows["task"]).mean()
    low, high = wilson_of_means(means.tolist(), run.limit(arm))
    value = float(means.mean()) if flags.notna().any() else math.nan
    return {metric.key: value, f"{metric.key}_low": low, f"{metric.key}_high": high}
