"""The same experiment with several seeds: mean and spread."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from reflex_bench.harness.reporting.measures import pass_at_k
from reflex_bench.harness.reporting.statistics.samples import is_sampled
from reflex_bench.harness.reporting.tables.number_format import percent
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table
from reflex_bench.harness.storage.run_data import Run


def seeds_table(runs: Sequence[Run]) -> Table:
    """pass@k of every arm over runs that differ in nothing but their seed: mean, standard deviation, smallest, largest.

    The standard deviation is that of a sample (n - 1). Where the runs have the same tasks it is the noise of sampling
    alone; a seed may also draw other tasks, and the note says which it was.

    Args:
        runs: two or more.
    """
    import pandas as pd

    lines = _lines(runs)
    rows = tuple(
        (
            Cell(str(line["arm"])),
            Cell(str(line["k"])),
            Cell(f"{percent(line['mean'])} ± {100 * line['sd']:.1f}"),
            Cell(f"{percent(line['least'])} to {percent(line['most'])}"),
        )
        for line in lines
    )
    seeds = ", ".join(str(run.info.get("seed")) for run in runs)
    names = ", ".join(dict.fromkeys(str(run.split.get("name", "")) for run in runs))
    title = f"{len(runs)} seeds ({seeds}) · {names} · {runs[0].tasks} tasks"
    grid = Grid("", ("Arm", "k", "pass@k", "from to"), rows)
    return Table(title, pd.DataFrame(lines), (grid,), (_meaning(runs),))


def _lines(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return one line an arm and k."""
    frames = [pass_at_k(run).set_index("arm") for run in runs]
    lines = []
    for arm in frames[0].index:
        for k in runs[0].trial_numbers:
            rates = [float(frame.loc[arm, f"pass@{k}"]) for frame in frames]
            line = {"arm": arm, "k": k, "mean": statistics.mean(rates), "sd": statistics.stdev(rates)}
            lines.append(line | {"least": min(rates), "most": max(rates)})
    return lines


def _meaning(runs: Sequence[Run]) -> str:
    same = len({str(run.split.get("fingerprint")) for run in runs}) == 1
    meaning = "Mean ± standard deviation over the seeds. " + (
        "The tasks are the same: this is the noise of sampling alone."
        if same
        else "Each seed has tasks of its own: this is the noise of sampling and of the tasks together."
    )
    if is_sampled(runs[0]):
        meaning += " pass@k is the unbiased estimate from independent samples."
    return meaning
