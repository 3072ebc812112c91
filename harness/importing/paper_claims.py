"""Claims of the Reflexion paper about its runs, beside what its published logs say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table
from reflex_bench.harness.storage.run_data import Run

ALFWORLD, GOLD, COT, REACT = (
    "reflexion-alfworld",
    "reflexion-hotpotqa-cot-context",
    "reflexion-hotpotqa-cot",
    "reflexion-hotpotqa-react",
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement.

    Attributes:
        says: the statement, with its number.
        value: that number.
        run: the run whose log speaks of it.
        measured: the same number from the log.
        shown: how the log's value is written; `{}` stands for it.
        same_files: the ends of the names of two result files; where they are one and the same, the logs say nothing.
    """

    says: str
    value: float
    run: str
    measured: Callable[[Run], float]
    shown: str = "{:g}"
    same_files: tuple[str, str] | None = None


def _solved(run: Run, arm: str, trial: int) -> int:
    return int(run.solved_within(arm)[:, trial - 1].sum())


def _last(run: Run, arm: str) -> int:
    return _solved(run, arm, run.limit(arm))


CLAIMS = (
    Claim(
        "ALFWorld: 130 of 134 tasks are solved in 12 trials",
        130,
        ALFWORLD,
        lambda run: _solved(run, "reflexion", 12),
    ),
    Claim(
        "ALFWorld: ReAct alone gains nothing between trials 6 and 7 (0 more tasks)",
        0,
        ALFWORLD,
        lambda run: _solved(run, "base", 7) - _solved(run, "base", 6),
        "{:g} more",
        ("base_run_logs/env_results_trial_5.json", "base_run_logs/env_results_trial_6.json"),
    ),
    Claim(
        "ALFWorld: 22 points above the baseline",
        22,
        ALFWORLD,
        lambda run: 100 * (_solved(run, "reflexion", 12) - _last(run, "base")) / run.tasks,
        "{:.1f} points",
    ),
    Claim(
        "HotPotQA, CoT with gold context: wrong on 39 % at first",
        39,
        GOLD,
        lambda run: 100 - 100 * _solved(run, "reflexion", 1) / run.tasks,
        "{:g} %",
    ),
    Claim(
        "HotPotQA, CoT with gold context: Reflexion adds 14 points",
        14,
        GOLD,
        lambda run: 100 * (_last(run, "reflexion") - _solved(run, "reflexion", 1)) / run.tasks,
        "{:g} points",
    ),
    Claim(
        "HotPotQA, CoT with gold context: a reflection adds 8 points to the last trial in memory",
        8,
        GOLD,
        lambda run: (
            100 * (_solved(run, "last_trial_and_reflexion", 5) - _solved(run, "last_trial", 5)) / run.tasks
        ),
        "{:g} points",
    ),
    Claim(
        "HotPotQA, ReAct: Reflexion adds 20 points",
        20,
        REACT,
        lambda run: 100 * (_last(run, "reflexion") - _last(run, "base")) / run.tasks,
        "{:g} points",
    ),
    Claim(
        "HotPotQA: retrying alone solves nothing more after the first trial (0 more tasks)",
        0,
        COT,
        lambda run: _last(run, "base") - _solved(run, "base", 1),
        "{:g} more",
    ),
    Claim(
        "Table 5, CoT with gold context, text-davinci-003: 77 % with Reflexion",
        77,
        GOLD,
        lambda run: 100 * _last(run, "reflexion") / run.tasks,
        "{:g} %",
    ),
    Claim(
        "Table 5, ReAct, text-davinci-003: 55 % with Reflexion",
        55,
        REACT,
        lambda run: 100 * _last(run, "reflexion") / run.tasks,
        "{:g} %",
    ),
)
"""Shinn et al. (2023), arXiv:2303.11366v4: sections 4.1 and 4.2, and table 5."""


def claims_table(runs: Iterable[Run]) -> Table:
    """Statement, value from the logs, equal or not (to the precision of the statement), for what the runs hold.

    Args:
        runs: as `reflex_bench.harness.importing.reflexion_logs.import_reflexion_logs` writes them.
    """
    import pandas as pd

    found: Mapping[str, Run] = {run.id: run for run in runs}
    lines, rows = [], []
    for claim in CLAIMS:
        value = _value(claim, found)
        equal = None if value is None else round(value) == claim.value
        empty = equal is not None and _one_file(claim, found[claim.run])
        lines.append(
            {"statement": claim.says, "paper": claim.value, "logs": value, "equal": equal, "empty": empty}
        )
        verdict = "cannot be told" if equal is None else "equal" if equal else "not equal"
        verdict += ", but empty: both trials are one file, byte for byte" if empty else ""
        shown = "–" if value is None else claim.shown.format(value)
        rows.append((Cell(claim.says), Cell(shown), Cell(verdict, strong=equal is False)))
    title = "Statements of the Reflexion paper (arXiv:2303.11366v4) and the published logs"
    notes = ("The logs cannot be the runs of table 5, and hold none with gpt-3.5-turbo or gpt-4.",)
    return Table(title, pd.DataFrame(lines), (Grid("", ("Statement", "Logs", ""), tuple(rows)),), notes)


def _one_file(claim: Claim, run: Run) -> bool:
    """Return whether the two trials that a statement is about were published as the same bytes."""
    source = run.info.get("source")
    hashes = source.get("files") if isinstance(source, Mapping) else None
    if claim.same_files is None or not isinstance(hashes, Mapping):
        return False
    found = [
        {str(digest) for name, digest in hashes.items() if str(name).endswith(end)}
        for end in claim.same_files
    ]
    return bool(found[0]) and found[0] == found[1]


def _value(claim: Claim, runs: Mapping[str, Run]) -> float | None:
    """None where the logs that speak of it were not all imported."""
    if claim.run not in runs:
        return None
    try:
        return float(claim.measured(runs[claim.run]))
    except (UsageError, IndexError):
        return None
