"""What `reflex list` says of every run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.statistics.samples import estimates, is_sampled
from reflex_bench.harness.storage.liveness import status_of
from reflex_bench.harness.storage.run_data import Run, read_run


def summary_of(path: Path) -> dict[str, Any]:
    """Return one run in a few values, as `reflex list --json` prints them.

    `scores` has the share of tasks that each arm solved within its last trial, an error counting as not solved; of
    independent samples the unbiased pass@k of all of them. `cost` is in US dollars, null where any part is unknown. One
    that cannot be read has the status `not readable`, and `problem` says why.

    Args:
        path: the run directory.
    """
    try:
        run = read_run(path)
    except UsageError as error:
        return {"run": path.name, "status": "not readable", "problem": str(error)}
    return {
        "run": run.id,
        "status": status_of(path, run.info),
        "created": run.info.get("created"),
        "environment": run.environment.get("name"),
        "split": run.split.get("name"),
        "tasks": run.tasks,
        "trials": len(run.trial_numbers),
        "recorded": len(run.trials),
        "scores": {arm: _score(run, arm) for arm in run.arms},
        "models": sorted({str(each.get("model")) for each in run.arms.values()}),
        "simulated": run.simulated,
        "cost": _cost(run),
    }


def _score(run: Run, arm: str) -> float | None:
    if is_sampled(run):
        *_, last = estimates(run, arm)
        share = last.any_of.rate
        return None if math.isnan(share) else float(share)
    return float(run.solved_within(arm)[:, -1].mean())


def _cost(run: Run) -> float | None:
    # A trial that several arms share was paid for once.
    once = run.trials.drop_duplicates("attempt") if run.trials["attempt"].notna().all() else run.trials
    total = float(once["cost"].sum(skipna=False)) if len(once) else 0.0
    return None if math.isnan(total) else total


HEADINGS = ("run", "date", "status", "tasks", "best", "cost", "arms", "models", "split")
"""Columns of `reflex list`; where there is no room, the last ones are left out."""


def cells_of(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a run as the cells of a line under `HEADINGS`."""
    if "scores" not in summary:
        return (str(summary["run"]), "", str(summary["status"]), *([""] * (len(HEADINGS) - 3)))
    scores = [score for score in summary["scores"].values() if score is not None]
    cost = summary["cost"]
    return (
        str(summary["run"]),
        str(summary["created"] or "")[:10],
        str(summary["status"]),
        f"{summary['tasks']} × {summary['trials']}",
        f"{100 * max(scores):.1f}%" if scores and summary["recorded"] else "–",
        "unknown" if cost is None else f"${cost:.2f}",
        ", ".join(summary["scores"]),
        ", ".join(summary["models"]),
        f"{summary['environment']} {summary['split']}",
    )


def fitting(lines: list[tuple[str, ...]], width: int | None) -> list[str]:
    """Return lines of cells as text, with as many of the columns as there is room for, the first three at least.

    Args:
        lines: each with as many cells.
        width: columns of the terminal; None: no limit.
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = len(widths)
    while width is not None and shown > 3 and sum(widths[:shown]) + 2 * (shown - 1) > width:
        shown -= 1
    return ["  ".join(map(str.ljust, cells[:shown], widths)).rstrip() for cells in lines]
