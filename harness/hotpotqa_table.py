"""Answers to questions: what counts as solved, exact match, F1, gold pages, steps and tokens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.effort import numbers
from reflex_bench.harness.errors import UsageError
from reflex_bench.harness.footnotes import notes
from reflex_bench.harness.frame import Run
from reflex_bench.harness.measures import rate
from reflex_bench.harness.number_format import amount, bounds_cell, decimal, interval_cell, percent, rate_cell
from reflex_bench.harness.render import Cell, Grid, Table
from reflex_bench.harness.row_settings import success_rule
from reflex_bench.harness.samples import Estimate, estimates, is_sampled
from reflex_bench.harness.statistics import wilson_of_means

if TYPE_CHECKING:
    import pandas as pd


def hotpotqa_table(run: Run) -> Table:
    """Solved by the run's success rule, exact match, F1, gold pages, steps and tokens, for every arm.

    Within the first and within the last trial; EM, F1 and gold pages are of the last trial of each task up to then that
    has a result, and no answer has F1 0. Where the rule is exact match, the solved share is the EM and not repeated.
    Of independent samples there is one line an arm, over all of them.

    Raises:
        UsageError: no answer of the run was scored.
    """
    import pandas as pd

    if "result.f1" not in run.trials:
        raise UsageError(f"{run.id}: no trial of this run has an F1 score; this style is for HotPotQA")
    if is_sampled(run):
        lines = [_sampled_line(run, arm) for arm in run.arms]
    else:
        lines = [_line(run, arm, k) for arm in run.arms for k in sorted({1, run.limit(arm)})]
    rule, scored = success_rule(run), any(not math.isnan(line["em"]) for line in lines)
    apart = rule != "em"
    rows = [
        (
            Cell(line["arm"]),
            Cell(str(line["trials"])),
            *([_solved_cell(line)] if apart or not scored else []),
            *([_em_cell(line)] if scored else []),
            Cell(percent(line["f1"])),
            Cell(percent(line["gold_pages"])),
            Cell(decimal(line["steps"])),
            Cell(amount(line["tokens"])),
        )
        for line in lines
    ]
    solved = f"Solved ({rule or 'rule not recorded'})" if apart else "EM"
    headings = [solved] if not scored else [solved, "EM"] if apart else ["EM"]
    sampled = is_sampled(run)
    header = ("Arm", "Samples" if sampled else "Trials", *headings, "F1", "Gold pages", "Steps", "Tokens")
    name = "HotPotQA" if run.environment.get("name") == "hotpotqa" else run.environment.get("name", "")
    title = f"{name} · {run.split.get('name')} · {run.tasks} questions · run {run.id}"
    each = "a sample" if sampled else "a question, all its trials together"
    frame = pd.DataFrame([{key: value for key, value in line.items() if key != "estimate"} for line in lines])
    return Table(title, frame, (Grid(f"Steps and tokens {each}", header, tuple(rows)),), notes(run))


def _solved_cell(line: dict[str, Any]) -> Cell:
    if "estimate" in line:
        one = line["estimate"].any_of
        return bounds_cell(*one.bounds) if math.isnan(one.rate) else interval_cell(one.rate, *one.interval)
    return rate_cell(line["share"], line["low"], line["high"], line["solved"], line["unknown"], line["tasks"])


def _em_cell(line: dict[str, Any]) -> Cell:
    if math.isnan(line["em"]):
        return Cell("–")
    if "estimate" in line:
        return interval_cell(line["em"], line["em_low"], line["em_high"])
    share, low, high = rate(line["em_solved"], line["unknown"], line["tasks"])
    return rate_cell(share, low, high, line["em_solved"], line["unknown"], line["tasks"])


def _line(run: Run, arm: str, k: int) -> dict[str, Any]:
    rows = run.rows(arm)
    rows = rows[rows["trial"] <= k]
    last = rows[rows["outcome"] != "error"].groupby("task").tail(1)
    solved, missing = (int(of(arm)[:, k - 1].sum()) for of in (run.solved_within, run.unknown_within))
    share, low, high = rate(solved, missing, run.tasks)
    exact = numbers(last, "result.em")
    scored = int((exact == 1).sum())
    return {
        "arm": arm,
        "trials": k,
        "tasks": run.tasks,
        "share": share,
        "low": low,
        "high": high,
        "solved": solved,
        "unknown": missing,
        "em": scored / run.tasks if exact.notna().any() else math.nan,
        "em_solved": scored,
        **_measured(last),
        "steps": rows["steps"].sum(skipna=False) / run.tasks,
        "tokens": (rows["prompt_tokens"] + rows["completion_tokens"]).sum(skipna=False) / run.tasks,
    }


def _sampled_line(run: Run, arm: str) -> dict[str, Any]:
    rows = run.rows(arm)
    known = rows[rows["outcome"] != "error"]
    one: Estimate = next(estimates(run, arm))
    exact = numbers(known, "result.em").fillna(0.0).groupby(known["task"]).mean()
    low, high = wilson_of_means(exact.tolist(), run.limit(arm))
    return {
        "arm": arm,
        "trials": run.limit(arm),
        "tasks": run.tasks,
        "estimate": one,
        "share": one.any_of.rate,
        "low": one.any_of.interval.low,
        "high": one.any_of.interval.high,
        "unknown": one.any_of.unknown,
        "em": exact.mean() if numbers(known, "result.em").notna().any() else math.nan,
        "em_low": low,
        "em_high": high,
        **_measured(known),
        "steps": rows["steps"].mean(),
        "tokens": (rows["prompt_tokens"] + rows["completion_tokens"]).mean(skipna=False),
    }


def _measured(rows: pd.DataFrame) -> dict[str, float]:
    """Mean F1 of some trials, and the share of their gold pages that were opened."""
    gold = numbers(rows, "result.gold_pages").sum()
    opened = numbers(rows, "result.gold_pages_reached").sum()
    return {
        "f1": float(numbers(rows, "result.f1").fillna(0.0).mean()),
        "gold_pages": opened / gold if gold else math.nan,
    }
