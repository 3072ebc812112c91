"""The part of a comparison that shows what the environment measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from reflex_bench.harness.reporting.compare import Pair
from reflex_bench.harness.reporting.metric_pairs import MetricPair
from reflex_bench.harness.reporting.metric_values import definitions, difference_shown, heading, shown
from reflex_bench.harness.reporting.statistics.intervals import Interval
from reflex_bench.harness.reporting.tables.number_format import count, p_value
from reflex_bench.harness.reporting.tables.render import Cell, Grid


def metric_grids(pair: Pair) -> tuple[Grid, ...]:
    """Return a block with a row for each metric; none where no metric was declared."""
    if not pair.metrics:
        return ()
    a, b = pair.a.label, pair.b.label
    rows = tuple(
        (
            Cell(heading(each.metric)),
            Cell(shown(each.metric, each.value_a)),
            Cell(shown(each.metric, each.value_b)),
            Cell(difference_shown(each.metric, each.difference), _ends(each, each.interval)),
            Cell("–" if each.better is None or pair.idle else (a, b)[each.better]),
            Cell(p_value(each.p) if each.pairs else "–"),
            Cell(str(each.pairs)),
        )
        for each in pair.metrics
    )
    last = pair.levels[-1]
    within = count(last.k, "sample" if last.sampled else "trial")
    title = f"What the environment measured within {within}, paired by task"
    return (Grid(title, ("", a, b, "Difference", "Better value", "p", "Tasks"), rows),)


def metric_columns(metrics: Sequence[MetricPair]) -> dict[str, float]:
    """Return the columns of CSV: for each metric both values, their difference with its intervals, p and the pairs."""
    columns: dict[str, float] = {}
    for each in metrics:
        numbers = {
            "a": each.value_a,
            "b": each.value_b,
            "difference": each.difference,
            "low": each.interval.low,
            "high": each.interval.high,
            "low_by_cluster": each.clustered.low,
            "high_by_cluster": each.clustered.high,
            "p": each.p,
            "pairs": each.pairs,
        }
        columns |= {f"{each.metric.key}_{name}": number for name, number in numbers.items()}
    return columns


def metric_notes(pair: Pair) -> Iterator[str]:
    """Yield what the metrics are, how they were compared, and the intervals drawn by cluster."""
    if not pair.metrics:
        return
    yield from definitions([each.metric for each in pair.metrics], pair.levels[-1].sampled)
    yield (
        "Differences of these numbers are means over the tasks for which both arms have one, each number by itself: "
        "paired bootstrap, sign-flip test, no correction for several metrics."
    )
    drawn = [
        f"{each.metric.label} {_between(each, each.clustered)}"
        for each in pair.metrics
        if not math.isnan(each.clustered.low)
    ]
    if drawn:
        yield f"Drawn by cluster ({pair.cluster_name}) the intervals are: {'; '.join(drawn)}."


def _ends(each: MetricPair, interval: Interval) -> str:
    return "" if math.isnan(interval.low) else f"[{', '.join(_both(each, interval))}]"


def _between(each: MetricPair, interval: Interval) -> str:
    return " to ".join(_both(each, interval))


def _both(each: MetricPair, interval: Interval) -> list[str]:
    return [difference_shown(each.metric, end) for end in interval]
