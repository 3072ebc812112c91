"""A comparison, laid out: what differs, then the numbers, then what they took."""

from __future__ import annotations

import math
from collections.abc import Iterator

from reflex_bench.harness.compare import Comparison, Level, Pair
from reflex_bench.harness.render import Cell, Grid, Table
from reflex_bench.harness.statistics import Interval, detectable_difference, smallest_significant
from reflex_bench.harness.tables import amount, dollars, percent


def comparison_tables(comparison: Comparison) -> tuple[Table, ...]:
    """One table a pair; its frame has a line for each k."""
    several = len(comparison.pairs)
    tables = []
    for index, pair in enumerate(comparison.pairs, 1):
        notes = (*_verdict(pair, several), *_budget(pair), *_sensitivity(pair), *_power(pair))
        extra = comparison.skipped if index == several else ()
        tables.append(_table(pair, (*notes, *extra)))
    return tuple(tables)


def _table(pair: Pair, notes: tuple[str, ...]) -> Table:
    import pandas as pd

    a, b = pair.a, pair.b
    runs = f"run {a.run}" if a.run == b.run else f"runs {a.run} (A) and {b.run} (B)"
    lines = [
        {
            "a": f"{a.run}/{a.arm}",
            "b": f"{b.run}/{b.arm}",
            "k": level.k,
            "pairs": level.pairs,
            "excluded": level.excluded,
            "rate_a": _share(level.solved_a, level),
            "rate_b": _share(level.solved_b, level),
            "difference": level.difference,
            "low": level.interval.low,
            "high": level.interval.high,
            "only_a": level.only_a,
            "only_b": level.only_b,
            "mcnemar_p": level.p,
        }
        for level in pair.levels
    ]
    grids = (_settings_grid(pair), _level_grid(pair), _cost_grid(pair))
    return Table(f"{a.label} and {b.label} · {runs}", pd.DataFrame(lines), grids, notes, pair.warnings)


def _settings_grid(pair: Pair) -> Grid:
    rows = tuple((Cell(name), Cell(a), Cell(b)) for name, a, b in pair.settings)
    nothing = (Cell("no setting differs"), Cell(""), Cell(""))
    return Grid("What differs", ("", pair.a.label, pair.b.label), rows or (nothing,))


def _level_grid(pair: Pair) -> Grid:
    a, b = pair.a.label, pair.b.label
    header = ["", a, b, "Difference", f"Only {a}", f"Only {b}", "p"]
    rows = [
        [
            Cell(f"pass@{level.k}"),
            Cell(percent(_share(level.solved_a, level))),
            Cell(percent(_share(level.solved_b, level))),
            Cell(_points(level.difference), _ends(level.interval)),
            Cell(str(level.only_a)),
            Cell(str(level.only_b)),
            Cell(p_value(level.p)),
        ]
        for level in pair.levels
    ]
    title = "Tasks solved within k trials, paired"
    if any(level.excluded for level in pair.levels):
        header.append("Pairs")
        for row, level in zip(rows, pair.levels, strict=True):
            row.append(Cell(str(level.pairs)))
    else:
        title += f" over {pair.levels[-1].pairs} tasks"
    return Grid(title, tuple(header), tuple(map(tuple, rows)))


def _cost_grid(pair: Pair) -> Grid:
    a, b = pair.a, pair.b
    measures = (
        ("Trials run", a.trials_run, b.trials_run, amount),
        ("Model calls", a.calls, b.calls, amount),
        ("Tokens", a.tokens, b.tokens, amount),
        ("Cost", a.cost, b.cost, dollars),
    )
    rows = tuple(
        (Cell(name), Cell(show(one)), Cell(show(two)), Cell(_ratio(two, one)))
        for name, one, two, show in measures
    )
    return Grid("What it took", ("", a.label, b.label, "Ratio"), rows)


def _verdict(pair: Pair, several: int) -> Iterator[str]:
    last = pair.levels[-1]
    if not last.pairs:
        yield "No task has a result in both arms yet."
        return
    more = "more" if last.difference > 0 else "fewer" if last.difference < 0 else "neither more nor fewer"
    size = f"{abs(100 * last.difference):.1f} points {more}" if last.difference else more
    p = f"exact McNemar p = {p_value(last.p)}"
    if several > 1:
        p += f", {p_value(pair.adjusted_p)} after Holm's correction for {several} comparisons"
    yield (
        f"Within {last.k} trials {pair.b.label} solves {size} than {pair.a.label} (95% interval "
        f"{_points(last.interval.low)} to {_points(last.interval.high)}, paired bootstrap; {p})."
    )


def _budget(pair: Pair) -> Iterator[str]:
    a, b, last = pair.a, pair.b, pair.levels[-1]
    if a.tokens and not math.isnan(a.tokens + b.tokens):
        yield (
            f"Budget: both arms may use {last.k} trials a task; {b.label} used {_ratio(b.tokens, a.tokens)} the tokens "
            f"and {_ratio(b.calls, a.calls)} the calls of {a.label}."
        )
    else:
        yield f"Budget: both arms may use {last.k} trials a task; their tokens are not known."


def _sensitivity(pair: Pair) -> Iterator[str]:
    last = pair.levels[-1]
    if last.clustered is not None and last.pairs:
        yield (
            f"Drawn by the {pair.clusters} clusters that the tasks form instead of task by task, the interval is "
            f"{_points(last.clustered.low)} to {_points(last.clustered.high)}."
        )


def _power(pair: Pair) -> Iterator[str]:
    last = pair.levels[-1]
    discordant = last.only_a + last.only_b
    if not last.pairs:
        return
    least = smallest_significant(discordant)
    if least is None:
        yield f"The arms disagree on {discordant} tasks only; no split of so few is significant at 5%."
        return
    seen = detectable_difference(last.pairs, discordant / last.pairs)
    text = f"With {last.pairs} pairs, {discordant} of them discordant, a difference under {_size(least / last.pairs)} "
    text += "points cannot be told from chance at 5%"
    yield text + (f"; a true one of {_size(seen)} would show in four runs of five." if seen else ".")


def _share(solved: int, level: Level) -> float:
    return solved / level.pairs if level.pairs else math.nan


def _points(difference: float) -> str:
    return "–" if math.isnan(difference) else f"{100 * difference:+.1f}"


def _size(difference: float) -> str:
    return f"{100 * difference:.1f}"


def _ends(interval: Interval) -> str:
    return "" if math.isnan(interval.low) else f"[{_points(interval.low)}, {_points(interval.high)}]"


def _ratio(value: float, base: float) -> str:
    return "–" if not base or math.isnan(value + base) else f"{value / base:.2f}×"


def p_value(p: float) -> str:
    """Two significant digits: `0.75`, `0.0043`, `7.6e-5`."""
    if p < 0.0001:
        return f"{p:.1e}".replace("e-0", "e-")
    return f"{p:.2f}" if p >= 0.1 else f"{p:.2g}"
