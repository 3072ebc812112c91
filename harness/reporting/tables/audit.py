"""What the audit found in an arm's reflections, and how often an arm's evaluator was right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from reflex_bench.agents.reflection.audit import RULES
from reflex_bench.agents.reflection.revising import SCHEMA
from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.statistics.intervals import wilson
from reflex_bench.harness.reporting.tables.number_format import percent
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table
from reflex_bench.harness.storage.run_data import Run
from reflex_bench.harness.storage.trials import checked_lines

if TYPE_CHECKING:
    import pandas as pd

_RATES = {
    "precision": (("TP",), ("FP",)),
    "false_positive_rate": (("FP",), ("TN",)),
    "false_negative_rate": (("FN",), ("TP",)),
    "accuracy": (("TP", "TN"), ("FP", "FN")),
}
"""Rate -> (counted, the others that it is a share of)."""


_LABELS = {
    "reflections": "Reflections",
    "asked_again": "Took more than one reply",
    "repaired": "Cut or tidied",
    "kept": "Remembered",
}
"""What the counts of an arm's reflections are called."""


def reflections_table(run: Run) -> Table:
    """How many reflections each arm made, what the audit found in them, and after which kinds of failure.

    Reads the columns `reflection_kind`, `reflection_audit` (rules failed in the end), `reflection_attempts` (replies it
    took), `reflection_kept` and `error_class` of `trials.jsonl`. An attempt that is remembered as it was
    (`reflection_attempts` 0) is no reflection and is not counted.

    Raises:
        UsageError: no arm made a reflection that was audited.
    """
    import pandas as pd

    written = _counts(run)
    if not written:
        raise UsageError(f"{run.path}: no arm made a reflection that was audited")
    classes = sorted({name for count in written.values() for name in count if name.startswith("class ")})
    rules = (SCHEMA, *RULES)
    names = ("reflections", "asked_again", "repaired", "kept", *rules, *classes)
    frame = pd.DataFrame(
        [{"arm": arm, **{name: count[name] for name in names}} for arm, count in written.items()]
    )
    header = ("", *written)
    failures = {name: name.removeprefix("class ").replace(":", ": ").replace("_", " ") for name in classes}
    grids = (
        Grid(title, header, tuple(_line(label, name, written) for name, label in labels.items()))
        for title, labels in (
            ("", _LABELS),
            ("Rules failed in the end", {rule: rule.replace("_", " ") for rule in rules}),
            ("After which failures", failures),
        )
    )
    notes = (
        "Shares are of the arm's reflections, in brackets the 95% Wilson interval.",
        *_auditing(run, written),
    )
    return Table("Reflections and their audit", frame, tuple(grid for grid in grids if grid.rows), notes)


def _auditing(run: Run, arms: Iterable[str]) -> Iterator[str]:
    """What the audit did to a reflection that failed a rule, which is a setting of the arm."""
    counted = [arm for arm in arms if run.settings(arm).get("audit") == "count"]
    enforced = [arm for arm in arms if arm not in counted]
    if enforced:
        yield (
            f"{', '.join(enforced)}: a reflection that fails a rule is asked for once more, and kept out if it fails "
            "again; what is not remembered was shown to no trial."
        )
    if counted:
        yield f"{', '.join(counted)}: a reflection that fails a rule is counted, and remembered all the same."


def _counts(run: Run) -> dict[str, Counter[str]]:
    """What is to be told of every arm that made a reflection, in the order of the arms."""
    counts: dict[str, Counter[str]] = {arm: Counter() for arm in run.arms}
    file = run.path / "trials.jsonl"
    for row in checked_lines(file):
        attempts, failed = row.get("reflection_attempts"), row.get("reflection_audit") or []
        # An attempt that is remembered as it was took no reply, and is no reflection.
        if not row.get("reflection_kind") or not attempts:
            continue
        if not isinstance(attempts, int) or not isinstance(failed, list) or {*map(type, failed)} - {str}:
            raise UsageError(f"{file}: 'reflection_attempts' counts replies, 'reflection_audit' lists rules")
        count = counts[row["arm"]]
        count["reflections"] += 1
        count["asked_again"] += attempts > 1
        count["repaired"] += bool(row.get("reflection_repairs"))
        # The attempt itself is remembered in any case; the reflection on it only if the audit let it pass.
        with_attempt = row["reflection_kind"] == "last_attempt_and_reflexion"
        lost = bool(failed) and with_attempt and run.settings(row["arm"]).get("audit") != "count"
        count["kept"] += bool(row.get("reflection_kept")) and not lost
        count.update(failed)
        count[f"class {row.get('error_class') or 'unknown'}"] += 1
    return {arm: count for arm, count in counts.items() if count["reflections"]}


def _line(label: str, name: str, counts: Mapping[str, Counter[str]]) -> tuple[Cell, ...]:
    cells = [Cell(label)]
    for count in counts.values():
        part, whole = count[name], count["reflections"]
        cells.append(
            Cell(str(part))
            if name == "reflections"
            else Cell(f"{part} ({percent(part / whole)})", _interval(part, whole))
        )
    return tuple(cells)


def confusion_table(run: Run) -> Table:
    """What each arm's evaluator took for solved, against what was solved: over all trials and for each number of trial.

    TP: passed and solved; FP: passed and not solved; TN: neither; FN: solved and not passed. Trials that ended in an
    error have no true outcome and are left out. Where an evaluator says what the environment says, the two off-diagonal
    cells are empty by construction.
    """
    import pandas as pd

    lines = []
    for arm in run.arms:
        rows = run.rows(arm)
        known = rows[rows["success"].notna()]
        evaluator = str(run.settings(arm).get("evaluator", "environment"))
        for trial in ("all", *sorted(known["trial"].unique())):
            lines.append({"arm": arm, "evaluator": evaluator, "trial": str(trial)} | _confusion(known, trial))
    frame = pd.DataFrame(lines)
    whole, each = frame[frame["trial"] == "all"], frame[frame["trial"] != "all"]
    grids = (_confusion_grid("", whole), _confusion_grid("By trial", each))
    notes = (
        "TP passed and solved, FP passed and not solved, TN neither, FN solved and not passed; in brackets the 95% "
        "Wilson interval. False positives are of the trials that were not solved, false negatives of those that were.",
        "Later trials are only of tasks that no earlier trial passed: their rates are of other tasks than the first's.",
    )
    return Table("Evaluators: what passed against what was solved", frame, grids, notes)


def _confusion(rows: pd.DataFrame, trial: object) -> dict[str, Any]:
    chosen = rows if trial == "all" else rows[rows["trial"] == trial]
    passed, solved = chosen["passed"].astype(bool), chosen["success"] == 1
    line: dict[str, Any] = {
        "trials": len(chosen),
        "TP": int((passed & solved).sum()),
        "FP": int((passed & ~solved).sum()),
        "TN": int((~passed & ~solved).sum()),
        "FN": int((~passed & solved).sum()),
    }
    for name, (counted, others) in _RATES.items():
        part, rest = sum(line[cell] for cell in counted), sum(line[cell] for cell in others)
        low, high = wilson(part, part + rest)
        line |= {
            name: part / (part + rest) if part + rest else math.nan,
            f"{name}_low": low,
            f"{name}_high": high,
        }
    return line


def _confusion_grid(title: str, frame: pd.DataFrame) -> Grid:
    header = (
        "Arm",
        "Evaluator",
        "Trial",
        "TP",
        "FP",
        "TN",
        "FN",
        "False positives",
        "False negatives",
        "Right",
    )
    rows = []
    for line in frame.to_dict("records"):
        cells = [Cell(str(line[name])) for name in ("arm", "evaluator", "trial", "TP", "FP", "TN", "FN")]
        for name in ("false_positive_rate", "false_negative_rate", "accuracy"):
            counted, others = _RATES[name]
            part, rest = sum(line[cell] for cell in counted), sum(line[cell] for cell in others)
            cells.append(Cell(percent(line[name]), _interval(part, part + rest)))
        rows.append(tuple(cells))
    return Grid(title, header, tuple(rows))


def _interval(part: int, whole: int) -> str:
    if not whole:
        return ""
    low, high = wilson(part, whole)
    return f"[{100 * low:.1f}–{100 * high:.1f}]"
