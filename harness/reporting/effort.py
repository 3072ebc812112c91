"""What an arm's trials were like and what they took, as bare numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from reflex_bench.envs.metrics import Trials
from reflex_bench.harness.checks.verify import read_verified
from reflex_bench.harness.reporting.declared import metrics_of
from reflex_bench.harness.reporting.metric_values import trials_of, value_of
from reflex_bench.harness.storage.run_data import Run

if TYPE_CHECKING:
    import pandas as pd

TOKENS = ("prompt_tokens", "completion_tokens", "cached_tokens")
COUNTS = (*TOKENS, "retries", "repeated_retries", "calls", "repairs", "reflections", "reflections_written")


def effort(run: Run, arm: str) -> dict[str, Any]:
    """Return the columns of the pass@k table that follow the rates. Errors count for calls, tokens and cost only."""
    rows = run.rows(arm)
    known = rows[rows["outcome"] != "error"]
    won = known[known["success"] == 1]
    kept, written = _reflections(run, arm, rows)
    repeated, retries = repeated_retries(run, arm)
    line: dict[str, Any] = {
        "repeated_share": _share(rows, "repeated_characters", "prompt_characters"),
        "trials_run": len(rows),
        "retries": retries,
        "repeated_retries": repeated,
        "steps_per_trial": known["steps"].mean(),
        "steps_per_win": won["steps"].mean(),
        **measured(run, arm, "wins"),
        "wins_verified": _wins_verified(run, won),
        **_refused(known),
        "repairs": rows["repairs"].sum(skipna=False),
        "reflections": kept,
        "reflections_written": written,
        "calls": rows["calls"].sum(skipna=False),
        **_thinking(rows),
    }
    for name in (*TOKENS, "cost"):
        line[name] = rows[name].sum(skipna=False) if len(rows) else 0.0
    return line | measured(run, arm, "last")


def repeated_retries(run: Run, arm: str) -> tuple[int, int]:
    """Return how many retries of an arm went exactly as an earlier trial of their task, and how many it made."""
    rows = run.rows(arm)
    played = rows[(rows["outcome"] != "error") & rows["digest"].notna()]
    retries = played["trial"] > played.groupby("task")["trial"].transform("min")
    return int((retries & played.duplicated(["task", "digest"])).sum()), int(retries.sum())


def measured(run: Run, arm: str, trials: Trials) -> dict[str, float]:
    """Return what the environment measured in the last trials of an arm's tasks or in its wins, by metric."""
    return {
        metric.key: value_of(metric, trials_of(run, arm, metric))
        for metric in metrics_of(run)
        if metric.summary and metric.trials == trials
    }


def _refused(known: pd.DataFrame) -> dict[str, Any]:
    """Shares of all steps: commands that were not accepted, by reason where that is recorded, and unread replies."""
    steps = known["steps"].sum(skipna=False)
    counted = {"invalid_rate": known["invalid_actions"].sum(skipna=False)}
    counted |= {
        f"{name}_rate": known[name].sum(skipna=False) for name in known if str(name).startswith("invalid.")
    }
    counted["unparsed_rate"] = known["unparsed"].sum(skipna=False)
    return {name: count / steps if steps else math.nan for name, count in counted.items()}


def _reflections(run: Run, arm: str, rows: pd.DataFrame) -> tuple[float, float]:
    """How many reflections entered the memory, and how many a model wrote.

    An attempt that is remembered as it was is no reflection. `last_attempt_and_reflexion` remembers the attempt in any
    case; what the audit made of the reflection tells whether that was kept, too.
    """
    settings = run.settings(arm)
    kept = rows["reflection_kept"] * rows["reflection_written"]
    if settings.get("reflector") == "last_attempt_and_reflexion" and settings.get("audit") != "count":
        kept = kept * (1 - rows["reflection_flawed"])
    return kept.sum(skipna=False), rows["reflection_written"].sum(skipna=False)


def _thinking(rows: pd.DataFrame) -> dict[str, float]:
    """Reasoning as a share of the completion tokens, how much of it is an estimate, and replies without enough room."""
    thought, said = rows["reasoning_tokens"].sum(), rows["completion_tokens"].sum(skipna=False)
    return {
        "reasoning_share": float(thought / said) if thought and said else math.nan,
        "reasoning_estimated": float(rows["reasoning_estimated"].sum()),
        "asked_again": float(rows["asked_again"].sum()),
        "cut_off": float(rows["cut_off"].sum()),
        "lost_calls": float(rows["lost_calls"].sum()),
    }


def _share(rows: pd.DataFrame, part: str, whole: str) -> float:
    """One column's sum over another's; NaN where it is not recorded, or there is nothing."""
    total = rows[whole].sum()
    return float(rows[part].sum() / total) if total else math.nan


def _wins_verified(run: Run, won: pd.DataFrame) -> float:
    """Share of an arm's wins that `reflex verify` found identical in the official engine; NaN where it never ran."""
    verified = read_verified(run.path)
    if not verified or won.empty:
        return math.nan
    identical = {attempt for attempt, found in verified.items() if found["won"] and not found["difference"]}
    return float(won["attempt"].isin(identical).mean())
