"""What a run measured, as data frames of bare numbers: the one source of every table, whatever its form."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.parts.row_names import SETTINGS
from reflex_bench.harness.reporting.effort import COUNTS, effort
from reflex_bench.harness.reporting.row_settings import effective_settings
from reflex_bench.harness.reporting.statistics.intervals import wilson
from reflex_bench.harness.reporting.statistics.samples import MAX_UNKNOWN, Estimate, estimates, is_sampled
from reflex_bench.harness.reporting.task_facts import task_types
from reflex_bench.harness.storage.run_data import Run

if TYPE_CHECKING:
    import pandas as pd


def pass_at_k(run: Run) -> pd.DataFrame:
    """One line an arm: how many tasks it solved, what that took, and its settings.

    For every k there are `solved@k`, `unknown@k` (not solved, and a trial within k was an error or is not
    recorded), `pass@k` = solved@k / tasks, and a 95 % interval from Wilson's lower end for solved@k to his
    upper end for solved@k + unknown@k, so that errors count neither as failures nor as absent. `pass@k` is
    NaN where more than `MAX_UNKNOWN` of the tasks are unknown or the arm has fewer than k trials. Rates are
    between 0 and 1; numbers that any trial left unknown are NaN.

    Where the trials are independent samples, `pass@k` and its interval are the unbiased estimate instead
    (`reflex_bench.harness.reporting.statistics.samples`), `pass^k` stands beside it, and `solved` counts samples.
    """
    import pandas as pd

    rates = _sample_rates if is_sampled(run) else _rates
    frame = pd.DataFrame([rates(run, arm) | effort(run, arm) | _row_settings(run, arm) for arm in run.arms])
    counts = [name for name in frame if str(name).startswith(("solved@", "unknown@")) or name in COUNTS]
    return frame.astype(dict.fromkeys(counts, "Int64"))


def by_type(run: Run) -> pd.DataFrame:
    """One line an arm and task type, over the tasks whose type is known.

    Columns: arm, type, tasks, solved, unknown, rate and its interval, all within the arm's last trial; where the trials
    are independent samples, the rate is that of one sample, and `solved` the sum of the tasks' shares.
    """
    import numpy as np
    import pandas as pd

    types = task_types(run)
    labels = np.array([types.get(task) or "" for task in run.task_ids], dtype=object)
    lines = []
    for name in sorted({label for label in labels if label}):
        chosen = np.flatnonzero(labels == name)
        for arm in run.arms:
            line = {"arm": arm, "type": name, "tasks": len(chosen)}
            if is_sampled(run):
                one = next(estimates(run, arm, chosen.tolist())).any_of
                line |= {"solved": one.total, "unknown": one.unknown, "rate": one.rate}
                lines.append(line | {"low": one.interval.low, "high": one.interval.high})
                continue
            solved = int(run.solved_within(arm)[chosen, -1].sum())
            unknown = int(run.unknown_within(arm)[chosen, -1].sum())
            share, low, high = rate(solved, unknown, len(chosen))
            lines.append(
                line | {"solved": solved, "unknown": unknown, "rate": share, "low": low, "high": high}
            )
    return pd.DataFrame(lines, columns=["arm", "type", "tasks", "solved", "unknown", "rate", "low", "high"])


def rate(solved: int, unknown: int, n: int) -> tuple[float, float, float]:
    """A rate and its interval as `pass_at_k` defines them; NaN for the rate where too much is unknown."""
    low, high = wilson(solved, n).low, wilson(solved + unknown, n).high
    return (solved / n if n and unknown <= MAX_UNKNOWN * n else math.nan), low, high


def without_overlap(run: Run, arm: str, tasks: Collection[str]) -> tuple[float, float]:
    """The share solved within the arm's last trial (by one sample, where trials are independent), over all tasks and
    over those that are not among `tasks`.

    A task without a result counts as not solved in both, as in the lower of the two bounds.
    """
    kept = [place for place, task in enumerate(run.task_ids) if task not in tasks]
    kept += range(len(run.task_ids), run.tasks)
    if is_sampled(run):
        whole, rest = (next(estimates(run, arm, places)).any_of.bounds.low for places in (None, kept))
        return whole, rest if kept else math.nan
    solved = run.solved_within(arm)[:, -1]
    return float(solved.mean()), float(solved[kept].mean()) if kept else math.nan


def _rates(run: Run, arm: str) -> dict[str, Any]:
    rows = run.rows(arm)
    solved, unknown = run.solved_within(arm).sum(axis=0), run.unknown_within(arm).sum(axis=0)
    line: dict[str, Any] = {
        "arm": arm,
        "tasks": run.tasks,
        "trials": run.limit(arm),
        "solved": int(solved[-1]),
        "unknown": int(unknown[-1]),
        "errors": int((rows["outcome"] == "error").sum()),
    }
    for k in run.trial_numbers:
        if k > run.limit(arm):
            line |= {f"{name}@{k}": math.nan for name in ("pass", "low", "high", "solved", "unknown")}
            continue
        share, low, high = rate(int(solved[k - 1]), int(unknown[k - 1]), run.tasks)
        line |= {f"pass@{k}": share, f"low@{k}": low, f"high@{k}": high}
        line |= {f"solved@{k}": int(solved[k - 1]), f"unknown@{k}": int(unknown[k - 1])}
    return line


def _sample_rates(run: Run, arm: str) -> dict[str, Any]:
    rows = run.rows(arm)
    found: dict[int, Estimate] = {each.k: each for each in estimates(run, arm)}
    line: dict[str, Any] = {
        "arm": arm,
        "tasks": run.tasks,
        "trials": run.limit(arm),
        "solved": int((rows["success"] == 1).sum()),
        "unknown": found[1].any_of.unknown,
        "errors": int((rows["outcome"] == "error").sum()),
    }
    for k in run.trial_numbers:
        for name, mean in (("", found[k].any_of), ("^", found[k].all_of)) if k in found else ():
            line |= {f"pass{name or '@'}{k}": mean.rate}
            line |= {f"low{name or '@'}{k}": mean.interval.low, f"high{name or '@'}{k}": mean.interval.high}
        line[f"unknown@{k}"] = found[k].any_of.unknown if k in found else math.nan
    return line


def _row_settings(run: Run, arm: str) -> dict[str, Any]:
    settings = effective_settings(run, arm)
    told = {name: settings.get(name) for name, _ in SETTINGS}
    # A column of whole numbers and gaps would be one of fractions.
    return {name: str(value) if isinstance(value, int | dict) else value for name, value in told.items()}
