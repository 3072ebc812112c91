"""A comparison, laid out: what differs, then the numbers, then what they took."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from reflex_bench.harness.reporting.compare import Comparison, Pair
from reflex_bench.harness.reporting.statistics.intervals import Interval
from reflex_bench.harness.reporting.statistics.levels import Level
from reflex_bench.harness.reporting.statistics.paired import (
    detectable_difference,
    detectable_difference_given,
    mcnemar_power,
    smallest_significant,
)
from reflex_bench.harness.reporting.tables.metric_pairs import metric_columns, metric_grids, metric_notes
from reflex_bench.harness.reporting.tables.number_format import (
    amount,
    count,
    dollars,
    join_names,
    p_value,
    percent,
)
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table
from reflex_bench.harness.reporting.task_facts import MIN_CLUSTERS


def comparison_tables(comparison: Comparison) -> tuple[Table, ...]:
    """One table a pair; its frame has a line for each k."""
    several = len(comparison.pairs)
    tables = []
    for index, pair in enumerate(comparison.pairs, 1):
        notes = (*_verdict(pair, several), *(() if pair.idle else _further_notes(pair)))
        extra = comparison.skipped if index == several else ()
        tables.append(_table(pair, (*notes, *extra)))
    return tuple(tables)


def long_form(comparison: Comparison) -> Table:
    """Return all pairs as one table without a layout: a line for every pair and k."""
    import pandas as pd

    frames = [table.frame for table in comparison_tables(comparison)]
    adjusted = [pair.adjusted_p for pair in comparison.pairs]
    frames = [frame.assign(adjusted_p=p) for frame, p in zip(frames, adjusted, strict=True)]
    return Table("Comparison", pd.concat(frames, ignore_index=True), ())


def _table(pair: Pair, notes: tuple[str, ...]) -> Table:
    import pandas as pd

    a, b = pair.a, pair.b
    runs = f"run {a.run}" if a.run == b.run else f"runs {a.run} (A) and {b.run} (B)"
    # What must not be lost when the numbers travel without the text around them.
    told = {
        "differs": "; ".join(f"{name}: {one} / {two}" for name, one, two in pair.settings),
        "cautions": " ".join(pair.warnings),
    }
    measured = metric_columns(pair.metrics)
    lines = [_line(pair, level) | told for level in pair.levels]
    # They are of the last k; a line of another one has no number there.
    frame = pd.DataFrame([*lines[:-1], lines[-1] | measured])
    grids = (_settings_grid(pair), _level_grid(pair), *metric_grids(pair), _cost_grid(pair))
    return Table(f"{a.label} and {b.label} · {runs}", frame, grids, notes, pair.warnings)


def _line(pair: Pair, level: Level) -> dict[str, Any]:
    clustered = level.clustered or Interval(math.nan, math.nan)
    line: dict[str, Any] = {
        "a": f"{pair.a.run}/{pair.a.arm}",
        "b": f"{pair.b.run}/{pair.b.arm}",
        "k": level.k,
        "pairs": level.pairs,
        "excluded": level.excluded,
        "rate_a": _share(level.solved_a, level),
        "rate_b": _share(level.solved_b, level),
        "difference": level.difference,
        "low": level.interval.low,
        "high": level.interval.high,
        "interval": level.method,
        "clusters": pair.clusters or math.nan,
        "low_by_cluster": clustered.low,
        "high_by_cluster": clustered.high,
        "only_a": level.only_a,
        "only_b": level.only_b,
        "p": level.p,
        "test": level.test,
    }
    for side, took in (("a", level.took_a), ("b", level.took_b)):
        line |= {f"trials_{side}": took.trials, f"calls_{side}": took.calls}
        line |= {f"tokens_{side}": took.tokens, f"cost_{side}": took.cost}
    return line


def _settings_grid(pair: Pair) -> Grid:
    rows = tuple((Cell(name), Cell(a), Cell(b)) for name, a, b in pair.settings)
    nothing = (Cell("no setting differs"), Cell(""), Cell(""))
    return Grid("What differs", ("", pair.a.label, pair.b.label), rows or (nothing,))


def _level_grid(pair: Pair) -> Grid:
    a, b = pair.a.label, pair.b.label
    sampled = pair.levels[-1].sampled
    header = ["", a, b, "Difference", *(f"{'More' if sampled else 'Only'} {name}" for name in (a, b)), "p"]
    rows = [
        [
            Cell(f"pass@{level.k}"),
            Cell(percent(_share(level.solved_a, level))),
            Cell(percent(_share(level.solved_b, level))),
            Cell(_points(level.difference), _beside(pair, level)),
            Cell(str(level.only_a)),
            Cell(str(level.only_b)),
            Cell(p_value(level.p)),
        ]
        for level in pair.levels
    ]
    title = "Unbiased pass@k, paired by task" if sampled else "Tasks solved within k trials, paired"
    if any(level.excluded for level in pair.levels):
        header.append("Pairs")
        for row, level in zip(rows, pair.levels, strict=True):
            row.append(Cell(str(level.pairs)))
    else:
        title += f" over {pair.levels[-1].pairs} tasks"
    return Grid(title, tuple(header), tuple(map(tuple, rows)))


def _cost_grid(pair: Pair) -> Grid:
    last = pair.levels[-1]
    a, b = last.took_a, last.took_b
    measures = (
        ("Trials run", a.trials, b.trials, amount),
        ("Model calls", a.calls, b.calls, amount),
        ("Tokens", a.tokens, b.tokens, amount),
        ("Cost", a.cost, b.cost, dollars),
    )
    rows = tuple(
        (Cell(name), Cell(show(one)), Cell(show(two)), Cell(_ratio(two, one)))
        for name, one, two, show in measures
    )
    title = f"What it took within {count(last.k, _attempt(pair))}"
    return Grid(title, ("", pair.a.label, pair.b.label, "Ratio"), rows)


def _attempt(pair: Pair) -> str:
    return "sample" if pair.levels[-1].sampled else "trial"


def _verdict(pair: Pair, several: int) -> Iterator[str]:
    last = pair.levels[-1]
    if not last.pairs:
        yield "No task has a result in both arms yet."
        return
    if pair.idle:
        yield f"Nothing follows from these numbers: {join_names(pair.idle)} never acted."
        return
    more = "more" if last.difference > 0 else "fewer" if last.difference < 0 else "neither more nor fewer"
    size = f"{abs(100 * last.difference):.1f} points {more}" if last.difference else more
    p = f"{last.test} p = {p_value(last.p)}"
    if several > 1:
        p += f", {p_value(pair.adjusted_p)} after Holm's correction for {several} comparisons"
    yield (
        f"Within {count(last.k, _attempt(pair))} {pair.b.label} solves {size} than {pair.a.label} "
        f"({_interval_in_words(pair, last)}; {p})."
    )
    if _is_one_experiment(pair, last):
        return
    outside = last.interval.low > 0 or last.interval.high < 0
    if _has_width(last.interval) and outside != (last.p <= 0.05):
        apart = "leaves zero out while p is over 5%" if outside else "holds zero while p is under 5%"
        yield f"The interval {apart}: interval and test are different methods, and these data lie between them."


def _is_one_experiment(pair: Pair, level: Level) -> bool:
    """Whether both arms are the same trials at this level, so that there is nothing to estimate."""
    return pair.one_experiment and level.k == 1


def _interval_in_words(pair: Pair, level: Level) -> str:
    if _is_one_experiment(pair, level):
        return "one experiment for both"
    if not _has_width(level.interval):
        return "no interval: every task differs alike"
    return f"95% interval {_points(level.interval.low)} to {_points(level.interval.high)}, {level.method}"


def _has_width(interval: Interval) -> bool:
    return interval.high > interval.low


def _further_notes(pair: Pair) -> Iterator[str]:
    for notes in (_budget, _equal_cost, _sensitivity, _power, metric_notes):
        yield from notes(pair)


def _budget(pair: Pair) -> Iterator[str]:
    last = pair.levels[-1]
    a, b = last.took_a, last.took_b
    may = f"Budget: both arms may use {count(last.k, _attempt(pair))} a task"
    if a.tokens and not math.isnan(a.tokens + b.tokens):
        yield (
            f"{may}; within that {pair.b.label} used {_ratio(b.tokens, a.tokens)} the tokens and "
            f"{_ratio(b.calls, a.calls)} the calls of {pair.a.label}."
        )
    else:
        yield f"{may}; their tokens are not known."


def _equal_cost(pair: Pair) -> Iterator[str]:
    found = pair.equal_cost
    if found is None:
        return
    names = (pair.a.label, pair.b.label)
    cheaper, dearer = names[found.cheaper], names[1 - found.cheaper]
    last = pair.levels[-1].k
    own = f"{cheaper} solves {percent(found.rate_cheaper)} within {count(last, _attempt(pair))}"
    if found.k:
        other = f"{dearer} {percent(found.rate_other)} within the {found.k} that it gets for no more"
    else:
        other = f"{dearer} takes more in its first alone"
    yield f"At equal cost, {amount(found.tokens)} tokens: {own}, {other}."


def _sensitivity(pair: Pair) -> Iterator[str]:
    last = pair.levels[-1]
    if not pair.clusters or not last.pairs:
        return
    form = f"The tasks form {count(pair.clusters, 'cluster')} (by {pair.cluster_name})"
    if last.clustered is not None:
        yield (
            f"{form}. Drawn by cluster instead of task by task, the interval is {_points(last.clustered.low)} to "
            f"{_points(last.clustered.high)} (paired bootstrap)."
        )
    elif pair.clusters < MIN_CLUSTERS:
        yield (
            f"{form}: too few to draw by cluster, as an interval from under {MIN_CLUSTERS} holds the true value far "
            f"less often than it says. Tasks that share a {pair.cluster_name} are not independent, so the interval by "
            "task may be too narrow."
        )
    else:
        yield f"{form}; no two tasks differ, so drawing by cluster tells nothing."


def _power(pair: Pair) -> Iterator[str]:
    last = pair.levels[-1]
    discordant = last.only_a + last.only_b
    if not last.pairs or last.sampled:
        return
    least = smallest_significant(discordant)
    if least is None:
        yield f"The arms disagree on {count(discordant, 'task')} only; no split of so few is significant at 5%."
        return
    yield (
        f"With {count(last.pairs, 'pair')}, {discordant} of them discordant, an observed difference under "
        f"{_size(least / last.pairs)} points cannot be told from chance at 5%."
    )
    yield _found_in_four_of_five(last.pairs, discordant)


def _found_in_four_of_five(pairs: int, discordant: int) -> str:
    """The power of the test, over all numbers of discordant pairs that may come and for exactly this one."""
    share = discordant / pairs
    whole, given = detectable_difference(pairs, share), detectable_difference_given(pairs, discordant)
    where = f"Where arms disagree on {percent(share)} of {pairs} tasks"
    if whole is None:
        most = percent(mcnemar_power(pairs, share, share))
        return f"{where}, no true difference is found in four runs of five: one of {_size(share)} points in {most}."
    text = f"{where}, a true difference of {_size(whole)} points is found in four runs of five"
    if given is None:
        return f"{text}, and none where exactly {discordant} disagree (exact power of the exact test)."
    return f"{text} ({_size(given)} where exactly {discordant} disagree; exact power of the exact test)."


def _share(solved: float, level: Level) -> float:
    return solved / level.pairs if level.pairs else math.nan


def _points(difference: float) -> str:
    return "–" if math.isnan(difference) else f"{100 * difference:+.1f}"


def _size(difference: float) -> str:
    return f"{100 * difference:.1f}"


def _beside(pair: Pair, level: Level) -> str:
    return "one experiment" if _is_one_experiment(pair, level) else _ends(level.interval)


def _ends(interval: Interval) -> str:
    return "" if not _has_width(interval) else f"[{_points(interval.low)}, {_points(interval.high)}]"


def _ratio(value: float, base: float) -> str:
    return "–" if not base or math.isnan(value + base) else f"{value / base:.2f}×"
