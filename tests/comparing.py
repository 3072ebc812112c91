"""Comparisons of made-up runs, for tests of what is compared and of how it is told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from synthetic_runs import REFLEXION, chains, write_run

from reflex_bench.harness.reporting.compare import Comparison, Pair
from reflex_bench.harness.reporting.tables.comparison import comparison_tables
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.storage.run_data import Run, read_run

TWO = {"react": {}, "reflexion": REFLEXION}


def run_of(path: Path, name: str, solved: dict[str, list[int | None]], **info: Any) -> Run:
    """A run whose arms solve the tasks at these trials."""
    rows = [row for arm, at in solved.items() for row in chains(arm, at, 3)]
    arms = {arm: TWO.get(arm, {}) for arm in solved}
    return read_run(
        write_run(path / name, rows, **{"arms": arms, "tasks": len(next(iter(solved.values()))), **info})
    )


def only(comparison: Comparison) -> Pair:
    (pair,) = comparison.pairs
    return pair


def text_of(comparison: Comparison, format: str = "terminal") -> str:
    return "\n".join(render(table, format, width=100) for table in comparison_tables(comparison))


def flowing(text: str) -> str:
    return re.sub(r"\s+", " ", text)


# Within three trials both solve 10 tasks, only react 1, only reflexion 18, neither 71.
REACT: list[int | None] = [1] * 10 + [2] + [None] * 89
LEARNS: list[int | None] = [1] * 10 + [None] + [3] * 18 + [None] * 71
