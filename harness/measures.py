"""What a run measured, as data frames of bare numbers: the one source of every table, whatever its form."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.errors import UsageError
from reflex_bench.harness.frame import Run
from reflex_bench.harness.statistics import pass_at_k as unbiased_pass_at_k
from reflex_bench.harness.statistics import pass_hat_k, wilson
from reflex_bench.harness.verify import read_verified

if TYPE_CHECKING:
    import pandas as pd

MAX_UNKNOWN = 0.05
"""Above this share of tasks without a result, a rate is printed as its two bounds and nothing between."""

SETTINGS = (
    ("agent", "Agent"),
    ("model", "Model"),
    ("temperature", "Temperature"),
    ("reflector", "Reflector"),
    ("reflector_model", "Reflector's model"),
    ("memory", "Memory"),
    ("memory_size", "Memory size"),
    ("evaluator", "Evaluator"),
    ("feedback", "Feedback"),
    ("max_steps", "Step cap"),
    ("parse", "Parse policy"),
    ("prompt_hash", "Prompts"),
    ("max_tokens", "Room for a reply"),
    ("max_tokens_ceiling", "Room at most"),
    ("reasoning_effort", "Reasoning effort"),
    ("reflector_max_tokens", "Reflector's room"),
    ("reflector_reasoning_effort", "Reflector's effort"),
    ("send_reasoning", "Reasoning sent back"),
    *((name, name) for name in ("top_p", "top_k", "min_p", "repetition_penalty", "seed", "extra_body")),
)
"""The settings that travel with an arm's row, and what they are called there."""

_TOKENS = ("prompt_tokens", "completion_tokens", "cached_tokens")


def pass_at_k(run: Run) -> pd.DataFrame:
    """One line an arm: how many tasks it solved, what that took, and its settings.

    For every k there are `solved@k`, `unknown@k` (not solved, and a trial within k was an error or is not
    recorded), `pass@k` = solved@k / tasks, and a 95 % interval from Wilson's lower end for solved@k to his
    upper end for solved@k + unknown@k, so that errors count neither as failures nor as absent. `pass@k` is
    NaN where more than `MAX_UNKNOWN` of the tasks are unknown or the arm has fewer than k trials. Rates are
    between 0 and 1; numbers that any trial left unknown are NaN.
    """
    import pandas as pd

    frame = pd.DataFrame([_rates(run, arm) | _effort(run, arm) | _row_settings(run, arm) for arm in run.arms])
    whole = (*_TOKENS, "calls", "repairs", "reflections")
    counts = [name for name in frame if str(name).startswith(("solved@", "unknown@")) or name in whole]
    return frame.astype(dict.fromkeys(counts, "Int64"))


def by_type(run: Run) -> pd.DataFrame:
    """One line an arm and task type, over the tasks whose type is known (those with at least one trial).

    Columns: arm, type, tasks, solved, unknown, rate and its interval, all within the arm's last trial.
    """
    import numpy as np
    import pandas as pd

    types = dict(zip(run.trials["task"], run.trials["task_type"], strict=True))
    labels = np.array([types.get(task) or "" for task in run.task_ids], dtype=object)
    lines = []
    for name in sorted({label for label in labels if label}):
        for arm in run.arms:
            chosen = np.flatnonzero(labels == name)
            solved = int(run.solved_within(arm)[chosen, -1].sum())
            unknown = int(run.unknown_within(arm)[chosen, -1].sum())
            share, low, high = rate(solved, unknown, len(chosen))
            line = {"arm": arm, "type": name, "tasks": len(chosen), "solved": solved, "unknown": unknown}
            lines.append(line | {"rate": share, "low": low, "high": high})
    return pd.DataFrame(lines, columns=["arm", "type", "tasks", "solved", "unknown", "rate", "low", "high"])


def independent_estimates(run: Run, arm: str) -> pd.DataFrame:
    """The unbiased pass@k and pass^k of an arm whose trials are independent and all ran: one line for each k.

    Raises:
        UsageError: the arm's trials depend on one another or stop at success, or some of them are missing;
            the estimators would be wrong there.
    """
    import pandas as pd

    if not run.independent(arm):
        raise UsageError(
            f"arm {arm!r}: its trials see earlier ones or stop at success, where the unbiased pass@k and "
            "pass^k are not defined; the pass@k table says how many tasks were solved within k trials"
        )
    rows, n = run.rows(arm), run.limit(arm)
    known = rows[rows["outcome"] != "error"]
    if len(known) != run.tasks * n:
        raise UsageError(f"arm {arm!r}: {len(known)} of {run.tasks * n} trials have a result; all are needed")
    wins = known.groupby("task")["success"].sum().astype(int)
    lines = []
    for k in range(1, n + 1):
        any_of = [unbiased_pass_at_k(n, count, k) or 0.0 for count in wins]
        all_of = [pass_hat_k(n, count, k) or 0.0 for count in wins]
        lines.append({"k": k, "pass@k": sum(any_of) / len(any_of), "pass^k": sum(all_of) / len(all_of)})
    return pd.DataFrame(lines)


def rate(solved: int, unknown: int, n: int) -> tuple[float, float, float]:
    """A rate and its interval as `pass_at_k` defines them; NaN for the rate where too much is unknown."""
    low, high = wilson(solved, n).low, wilson(solved + unknown, n).high
    return (solved / n if n and unknown <= MAX_UNKNOWN * n else math.nan), low, high


def without_overlap(run: Run, arm: str, tasks: Collection[str]) -> tuple[float, float]:
    """The share solved within the arm's last trial, over all tasks and over those that are not among `tasks`.

    A task without a result counts as not solved in both, as in the lower of the two bounds.
    """
    solved = run.solved_within(arm)[:, -1]
    kept = [place for place, task in enumerate(run.task_ids) if task not in tasks]
    kept += range(len(run.task_ids), run.tasks)
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


def _effort(run: Run, arm: str) -> dict[str, Any]:
    """What an arm's trials were like and what they took. Errors count for calls, tokens and cost only."""
    import pandas as pd

    rows = run.rows(arm)
    known = rows[rows["outcome"] != "error"]
    won = known[known["success"] == 1]
    steps = known["steps"].sum(skipna=False)
    line: dict[str, Any] = {
        "repeated_share": _share(rows, "repeated_characters", "prompt_characters"),
        "trials_run": len(rows),
        "steps_per_trial": known["steps"].mean(),
        "steps_per_win": won["steps"].mean(),
        "path_efficiency": math.nan,
        "wins_verified": _wins_verified(run, won),
        "invalid_rate": known["invalid_actions"].sum(skipna=False) / steps if steps else math.nan,
        "unparsed_rate": known["unparsed"].sum(skipna=False) / steps if steps else math.nan,
        "repairs": rows["repairs"].sum(skipna=False),
        "reflections": rows["reflected"].sum(skipna=False),
        "calls": rows["calls"].sum(skipna=False),
        **_thinking(rows),
    }
    if "result.plan_length" in won:
        lengths = pd.to_numeric(won["result.plan_length"], errors="coerce")
        line["path_efficiency"] = (lengths / won["steps"]).mean()
    for name in (*_TOKENS, "cost"):
        line[name] = rows[name].sum(skipna=False) if len(rows) else 0.0
    if "result.f1" in run.trials:
        last = known.groupby("task").tail(1)
        line["f1"] = pd.to_numeric(last["result.f1"], errors="coerce").fillna(0.0).mean()
    return line


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


def _row_settings(run: Run, arm: str) -> dict[str, Any]:
    settings = run.settings(arm)
    told = {name: settings.get(name) for name, _ in SETTINGS}
    # A column of whole numbers and gaps would be one of fractions.
    return {name: str(value) if isinstance(value, int | dict) else value for name, value in told.items()}
