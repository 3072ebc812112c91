"""The table of the unbiased pass@k and pass^k, for arms whose trials are independent samples."""

from __future__ import annotations

import math
from collections.abc import Iterable

from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.statistics.samples import Mean, estimates, independent_estimates
from reflex_bench.harness.reporting.tables.number_format import bounds_cell, interval_cell
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table
from reflex_bench.harness.storage.run_data import Run


def samples_grid(run: Run, ks: Iterable[int]) -> Grid:
    """Return one row an arm and k: both estimates with their intervals, or their bounds where too much is unknown."""
    wanted = set(ks)
    rows = tuple(
        (Cell(arm), Cell(str(each.k)), _cell(each.any_of), _cell(each.all_of))
        for arm in run.arms
        for each in estimates(run, arm)
        if each.k in wanted
    )
    return Grid("", ("Arm", "k", "pass@k", "pass^k"), rows)


def _cell(mean: Mean) -> Cell:
    if math.isnan(mean.rate):
        return bounds_cell(*mean.bounds)
    return interval_cell(mean.rate, *mean.interval)


def samples_table(run: Run) -> Table:
    """The unbiased pass@k (Chen et al., 2021) and pass^k (tau-bench, Yao et al., 2024) of arms of independent samples.

    Raises:
        UsageError: an arm's trials are not independent.
    """
    import pandas as pd

    frame = pd.concat(
        [independent_estimates(run, arm).assign(arm=arm) for arm in run.arms], ignore_index=True
    )
    title = f"Independent samples · {run.split.get('name', '')} · {run.tasks} tasks · run {run.id}"
    grid = samples_grid(run, run.trial_numbers)
    return Table(title, frame, (grid,), notes(run))
