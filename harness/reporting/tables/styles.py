"""The tables of the papers, with one's own numbers in them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reflex_bench.core import parts
from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.measures import rate
from reflex_bench.harness.reporting.statistics.intervals import error_bounds, holm
from reflex_bench.harness.reporting.statistics.paired import mcnemar_exact
from reflex_bench.harness.reporting.statistics.samples import estimates, is_sampled
from reflex_bench.harness.reporting.tables.number_format import rate_cell
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table
from reflex_bench.harness.reporting.task_facts import task_types
from reflex_bench.harness.storage.run_data import Run

if TYPE_CHECKING:
    import numpy as np

REACT_COLUMNS = {
    "put": "Pick",
    "clean": "Clean",
    "heat": "Heat",
    "cool": "Cool",
    "examine": "Look",
    "puttwo": "Pick 2",
}
"""ALFWorld's task types under the headings of ReAct (Yao et al., ICLR 2023), table 3, in its order."""


def styled_table(run: Run, style: str = "pass-at-k", reference: bool = False) -> Table:
    """A run in the layout of a paper.

    Args:
        run: the run.
        style: `pass-at-k` (the project's own), `outcomes`, `react-table3` (ALFWorld by task type), `reflexion-curve`
            (solved within t trials), `hotpotqa` (solved, scores of the answers, steps, tokens), `metrics` (all that the
            environment measures), `samples`, `reflections`, `evaluator`, or one of another package.
        reference: with published results as one more block, marked where they are not comparable.

    Raises:
        UsageError: there is no such style, or the run lacks what it shows.
    """
    made = parts.find("tables", style).call(run)
    if not isinstance(made, Table):
        raise UsageError(f"table style {style!r}: a Table is wanted, not {made!r:.100}")
    if not reference:
        return made
    from reflex_bench.harness.reporting.tables.reference_grid import with_reference

    return with_reference(run, made, style, REACT_COLUMNS)


def react_table3(run: Run) -> Table:
    """Success by ALFWorld task type and over all tasks, for every arm within its first and within its last trial.

    The best arm within the last trial stands out where it differs from each other arm (exact McNemar over the tasks for
    which both have a result, p ≤ .05 after Holm's correction within the column). `All` is counted over tasks, never
    made from the other cells. Of independent samples there is one row an arm: the success of a sample, on average.
    """
    import pandas as pd

    columns = _type_columns(run)
    counts = (Cell("Tasks"), *(Cell(str(len(places))) for places in columns.values()))
    title = f"Success by ALFWorld's task types · {run.split.get('name')} · run {run.id}"
    if is_sampled(run):
        lines, rows = _sampled_types(run, columns)
        grid = Grid("Success of a sample, %", ("Arm", *columns), (counts, *rows))
        return Table(title, pd.DataFrame(lines), (grid,), notes(run))
    lines, rows = [], []
    best = {name: _significantly_best(run, places) for name, places in columns.items()}
    for arm in run.arms:
        for k in sorted({1, run.limit(arm)}):
            cells, line = [], {"arm": arm, "trials": k}
            for name, places in columns.items():
                solved = int(run.solved_within(arm)[places, k - 1].sum())
                unknown_ones = int(run.unknown_within(arm)[places, k - 1].sum())
                share, _, _ = rate(solved, unknown_ones, len(places))
                line |= {name: share, f"{name} solved": solved, f"{name} unknown": unknown_ones}
                text = whole_percent(share, solved, unknown_ones, len(places))
                cells.append(Cell(text, strong=k == run.limit(arm) and best[name] == arm))
            lines.append(line)
            rows.append((Cell(f"{arm}, {k} trial{'s' if k > 1 else ''}"), *cells))
    bold = "Bold: better than every other arm within the last trial (exact McNemar, Holm within the column, p ≤ .05)."
    grid = Grid("Success, %", ("Arm", *columns), (counts, *rows))
    return Table(title, pd.DataFrame(lines), (grid,), (*notes(run), *([bold] if len(run.arms) > 1 else [])))


def _sampled_types(
    run: Run, columns: Mapping[str, np.ndarray[Any, Any]]
) -> tuple[list[dict[str, Any]], list[tuple[Cell, ...]]]:
    lines: list[dict[str, Any]] = []
    rows = []
    for arm in run.arms:
        means = {name: next(estimates(run, arm, places.tolist())).any_of for name, places in columns.items()}
        cells = [
            f"{100 * mean.rate:.0f}"
            if mean.rate == mean.rate
            else "–".join(f"{100 * end:.0f}" for end in mean.bounds)
            for mean in means.values()
        ]
        lines.append(
            {"arm": arm, "samples": run.limit(arm)} | {name: mean.rate for name, mean in means.items()}
        )
        rows.append((Cell(f"{arm}, mean of {run.limit(arm)} samples"), *map(Cell, cells)))
    return lines, rows


def whole_percent(share: float, solved: int, unknown_ones: int, n: int) -> str:
    """A rate as the paper prints it, `92`; its two bounds where too much is unknown."""
    if not math.isnan(share):
        return f"{100 * share:.0f}"
    low, high = error_bounds(solved, unknown_ones, n)
    return f"{100 * low:.0f}–{100 * high:.0f}"


def _type_columns(run: Run) -> dict[str, np.ndarray[Any, Any]]:
    """Rows of the tasks of every type, and of all."""
    import numpy as np

    types = task_types(run)
    strangers = sorted(set(types.values()) - set(REACT_COLUMNS))
    if strangers or not types:
        found = ", ".join(strangers) or "no trial yet"
        raise UsageError(f"{run.id}: table 3 of ReAct shows ALFWorld's task types, this run has: {found}")
    labels = np.array([types.get(task) for task in run.task_ids], dtype=object)
    columns = {heading: np.flatnonzero(labels == name) for name, heading in REACT_COLUMNS.items()}
    return {heading: places for heading, places in columns.items() if len(places)} | {
        "All": np.arange(run.tasks)
    }


def _significantly_best(run: Run, places: np.ndarray[Any, Any]) -> str | None:
    solved = {arm: run.solved_within(arm)[places, -1] for arm in run.arms}
    known = {arm: ~run.unknown_within(arm)[places, -1] for arm in run.arms}
    best = max(solved, key=lambda arm: int(solved[arm].sum()))
    pvalues = []
    for arm in run.arms:
        if arm != best:
            both = known[arm] & known[best]
            mine, theirs = solved[best][both], solved[arm][both]
            ahead, behind = int((mine & ~theirs).sum()), int((theirs & ~mine).sum())
            pvalues.append(mcnemar_exact(ahead, behind) if ahead > behind else 1.0)
    return best if pvalues and max(holm(pvalues)) <= 0.05 else None


def reflexion_curve(run: Run) -> Table:
    """How many tasks every arm solved within t trials: the curves of Reflexion (Shinn et al., 2023) in numbers.

    Raises:
        UsageError: the trials are independent samples, of which no order is meant.
    """
    import pandas as pd

    if is_sampled(run):
        raise UsageError(
            f"{run.id}: its trials are independent samples, so how many tasks the first t of them solve is chance; "
            "use --style samples"
        )
    lines, rows = [], []
    for t in run.trial_numbers:
        line: dict[str, Any] = {"t": t}
        cells = [Cell(str(t))]
        for arm in run.arms:
            if t > run.limit(arm):
                line |= {arm: None, f"{arm} unknown": None}
                cells.append(Cell("–"))
                continue
            solved, missing = (int(of(arm)[:, t - 1].sum()) for of in (run.solved_within, run.unknown_within))
            line |= {arm: solved, f"{arm} unknown": missing}
            share, low, high = rate(solved, missing, run.tasks)
            cells.append(Cell(str(solved), rate_cell(share, low, high, solved, missing, run.tasks).text))
        lines.append(line)
        rows.append(tuple(cells))
    frame = pd.DataFrame(lines).astype("Int64")
    title = f"Tasks solved within t trials, of {run.tasks} · {run.split.get('name')} · run {run.id}"
    return Table(title, frame, (Grid("", ("t", *run.arms), tuple(rows)),), notes(run))
