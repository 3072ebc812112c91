"""How numbers and lists of names are written in tables."""

from __future__ import annotations

import math
from collections.abc import Iterable

from reflex_bench.harness.reporting.statistics.intervals import error_bounds
from reflex_bench.harness.reporting.tables.render import Cell


def rate_cell(rate: float, low: float, high: float, solved: int, unknown: int, n: int) -> Cell:
    """A rate with its interval, or its bounds alone where too much is unknown."""
    if math.isnan(rate):
        return bounds_cell(*error_bounds(solved, unknown, n))
    return interval_cell(rate, low, high)


def interval_cell(rate: float, low: float, high: float) -> Cell:
    """A rate with its interval."""
    return Cell(percent(rate), f"[{_end(low)}–{_end(high)}]")


def bounds_cell(low: float, high: float) -> Cell:
    """The two bounds of a rate of which too much is unknown."""
    return Cell(f"{100 * low:.1f}–{percent(high)}", "bounds")


def _end(rate: float) -> str:
    """One end of an interval: the ends of the scale are written short, to keep columns narrow."""
    return {0.0: "0", 1.0: "100"}.get(round(rate, 3), f"{100 * rate:.1f}")


def percent(rate: float) -> str:
    """`0.627` as `62.7%`; a dash where there is none."""
    return "–" if math.isnan(rate) else f"{100 * rate:.1f}%"


def whole(value: float) -> str:
    """A count in full; `unknown` for NaN."""
    return "unknown" if math.isnan(value) else str(int(value))


def decimal(value: float) -> str:
    """A mean to one digit; a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.1f}"


def amount(value: float) -> str:
    """A count to three or four digits: `950`, `12.4k`, `1.24M`; `unknown` for NaN."""
    if math.isnan(value):
        return "unknown"
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * size:
            scaled = value / size
            return f"{scaled:.{2 if scaled < 9.995 else 1 if scaled < 99.95 else 0}f}{mark}"
    return f"{value:.0f}"


def dollars(value: float) -> str:
    """US dollars; `unknown` for NaN, never 0."""
    if math.isnan(value):
        return "unknown"
    return f"${value:.2f}" if value >= 1 or value == 0 else f"${value:.2g}"


def p_value(p: float) -> str:
    """Two significant digits: `0.75`, `0.0043`, `7.6e-5`."""
    if p < 0.0001:
        return f"{p:.1e}".replace("e-0", "e-")
    return f"{p:.2f}" if p >= 0.1 else f"{p:.2g}"


def count(number: int, noun: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def join_names(names: Iterable[str]) -> str:
    """`a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
