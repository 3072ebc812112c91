"""The tables of the papers, with one's own numbers in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.audit_table import confusion_table, reflections_table
from reflex_bench.harness.errors import UsageError, unknown
from reflex_bench.harness.footnotes import notes
from reflex_bench.harness.frame import Run
from reflex_bench.harness.measures import independent_estimates, rate
from reflex_bench.harness.render import Cell, Grid, Table
from reflex_bench.harness.statistics import error_bounds, holm, mcnemar_exact
from reflex_bench.harness.tables import amount, outcomes_table, pass_at_k_table, percent, rate_cell

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

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
            (solved within t trials) or `hotpotqa` (EM, F1, pages, steps, tokens).
        reference: with published results as one more block, marked where they are not comparable.

    Raises:
        UsageError: there is no such style, or the run lacks what it shows.
    """
    styles: dict[str, Callable[[Run], Table]] = {
        "pass-at-k": pass_at_k_table,
        "outcomes": outcomes_table,
        "react-table3": react_table3,
        "reflexion-curve": reflexion_curve,
        "hotpotqa": hotpotqa_table,
        "samples": samples_table,
        "reflections": reflections_table,
        "evaluator": confusion_table,
    }
    if style not in styles:
        raise unknown("table style", style, styles)
    made = styles[style](run)
    if not reference:
        return made
    from reflex_bench.harness.reference_grid import with_reference

    return with_reference(run, made, style, REACT_COLUMNS)


def react_table3(run: Run) -> Table:
    """Success by ALFWorld task type and over all tasks, for every arm within its first and within its last trial.

    The best arm within the last trial stands out where it differs from each other arm (exact McNemar over the tasks for
    which both have a result, p ≤ .05 after Holm's correction within the column). `All` is counted over tasks, never
    made from the other cells.
    """
    import pandas as pd

    columns = _type_columns(run)
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
    counts = (Cell("Tasks"), *(Cell(str(len(places))) for places in columns.values()))
    title = f"ALFWorld success by task type · {run.split.get('name')} · run {run.id}"
    bold = "Bold: better than every other arm within the last trial (exact McNemar, Holm within the column, p ≤ .05)."
    grid = Grid("Success, %", ("Arm", *columns), (counts, *rows))
    return Table(title, pd.DataFrame(lines), (grid,), (*notes(run), bold))


def whole_percent(share: float, solved: int, unknown_ones: int, n: int) -> str:
    """A rate as the paper prints it, `92`; its two bounds where too much is unknown."""
    if not math.isnan(share):
        return f"{100 * share:.0f}"
    low, high = error_bounds(solved, unknown_ones, n)
    return f"{100 * low:.0f}–{100 * high:.0f}"


def _type_columns(run: Run) -> dict[str, np.ndarray[Any, Any]]:
    """Rows of the tasks of every type, and of all."""
    import numpy as np

    types = dict(zip(run.trials["task"], run.trials["task_type"], strict=True))
    strangers = sorted({str(name) for name in types.values()} - set(REACT_COLUMNS))
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
    """How many tasks every arm solved within t trials: the curves of Reflexion (Shinn et al., 2023) in numbers."""
    import pandas as pd

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


def hotpotqa_table(run: Run) -> Table:
    """Exact match, F1, gold pages, steps and tokens, within the first and within the last trial of every arm.

    F1 and gold pages are of the last trial of each task up to then that has a result; no answer has F1 0.
    """
    import pandas as pd

    if "result.f1" not in run.trials:
        raise UsageError(f"{run.id}: no trial of this run has an F1 score; this style is for HotPotQA")
    lines = [_answer_line(run, arm, k) for arm in run.arms for k in sorted({1, run.limit(arm)})]
    rows = []
    for line in lines:
        em = rate_cell(line["em"], line["low"], line["high"], line["solved"], line["unknown"], run.tasks)
        numbers = (
            percent(line["f1"]),
            percent(line["gold_pages"]),
            "–" if math.isnan(line["steps"]) else f"{line['steps']:.1f}",
            amount(line["tokens"]),
        )
        rows.append((Cell(line["arm"]), Cell(str(line["trials"])), em, *map(Cell, numbers)))
    header = ("Arm", "Trials", "EM", "F1", "Gold pages", "Steps", "Tokens")
    title = f"HotPotQA · {run.split.get('name')} · {run.tasks} questions · run {run.id}"
    return Table(
        title,
        pd.DataFrame(lines),
        (Grid("Steps and tokens a question, all its trials together", header, tuple(rows)),),
        notes(run),
    )


def _answer_line(run: Run, arm: str, k: int) -> dict[str, Any]:
    rows = run.rows(arm)
    rows = rows[rows["trial"] <= k]
    last = rows[rows["outcome"] != "error"].groupby("task").tail(1)
    solved, missing = (int(of(arm)[:, k - 1].sum()) for of in (run.solved_within, run.unknown_within))
    share, low, high = rate(solved, missing, run.tasks)
    tokens = (rows["prompt_tokens"] + rows["completion_tokens"]).sum(skipna=False)
    gold = _numbers(last, "result.gold_pages").sum()
    opened = _numbers(last, "result.gold_pages_reached").sum()
    return {
        "arm": arm,
        "trials": k,
        "em": share,
        "low": low,
        "high": high,
        "solved": solved,
        "unknown": missing,
        "f1": _numbers(last, "result.f1").fillna(0.0).mean(),
        "gold_pages": opened / gold if gold else math.nan,
        "steps": rows["steps"].sum(skipna=False) / run.tasks,
        "tokens": tokens / run.tasks,
    }


def _numbers(rows: pd.DataFrame, name: str) -> pd.Series[Any]:
    """A measure of the environment; NaN where it was not taken."""
    import pandas as pd

    return pd.to_numeric(rows.get(name, pd.Series(math.nan, index=rows.index)), errors="coerce")


def samples_table(run: Run) -> Table:
    """The unbiased pass@k (Chen et al., 2021) and pass^k (tau-bench, Yao et al., 2024) of arms of independent samples.

    Raises:
        UsageError: an arm's trials are not independent, or some are missing.
    """
    import pandas as pd

    frame = pd.concat(
        [independent_estimates(run, arm).assign(arm=arm) for arm in run.arms], ignore_index=True
    )
    rows = tuple(
        (
            Cell(str(line["arm"])),
            Cell(str(line["k"])),
            Cell(percent(line["pass@k"])),
            Cell(percent(line["pass^k"])),
        )
        for line in frame.to_dict("records")
    )
    title = f"Independent samples · {run.split.get('name', '')} · {run.tasks} tasks · run {run.id}"
    meaning = (
        "pass@k: that at least one of k samples solves the task; pass^k: that all of k do. Unbiased, over all samples "
        "of a task, then averaged over the tasks."
    )
    return Table(title, frame, (Grid("", ("Arm", "k", "pass@k", "pass^k"), rows),), (*notes(run), meaning))
