"""Published results beside one's own rows, each marked where it is not comparable with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.declared import success_rule
from reflex_bench.harness.reporting.reference import Metric, ReferenceRow, reference_rows
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table
from reflex_bench.harness.storage.records import UNTOLD
from reflex_bench.harness.storage.run_data import Run

MARKS: Mapping[str, str] = {
    "m": "another model, or none named",
    "t": "other tasks",
    "k": "another number of trials, or none stated",
    "c": "another step cap, or none stated",
    "f": "other feedback between trials",
    "h": "commands without effect were answered with the reason",
    "p": "other pages to read",
    "r": "another success rule, or none stated",
    "s": "the best of several on the evaluated tasks",
    "a": "the total does not follow from the cells, and is printed as published",
}
"""Why a published row is not comparable with the run's; `a` warns of the row itself."""


def with_reference(run: Run, table: Table, style: str, columns: Mapping[str, str]) -> Table:
    """A table of a run with the published results of its environment as one more grid.

    Args:
        run: the run; its settings decide on the marks.
        table: what the style made of it. Its frame, and with it CSV, stays the run's alone.
        style: name of the style.
        columns: headings of the ALFWorld task types, for `react-table3`.

    Raises:
        UsageError: the style has no published rows, or the environment has none.
    """
    environment = str(run.environment.get("name"))
    metric: Metric = (
        "curve" if style == "reflexion-curve" else "em" if environment == "hotpotqa" else "success"
    )
    rows: Sequence[ReferenceRow] = reference_rows(environment, metric)
    if style == "react-table3":
        rows = [row for row in rows if row.values.keys() & columns.keys()]
    if style == "outcomes" or not rows:
        raise UsageError(f"{run.id}: there are no published results of {environment} for the style {style}")
    sources = list(dict.fromkeys((row.source, row.table) for row in rows))
    header, cells = _layout(run, style, columns)
    lines = []
    for row in rows:
        selection = f" ({row.selection})" if row.selection else ""
        label = f"{row.label}{selection} [{sources.index((row.source, row.table)) + 1}]"
        shown = (label, row.model, *cells(row), " ".join(marks(row, run)) or "–")
        lines.append(tuple(map(Cell, shown)))
    title = "Published results, %" + ("" if metric == "curve" else " as printed by their authors")
    grid = Grid(title, ("", "Model", *header, "Marks"), tuple(lines))
    return replace(table, grids=(*table.grids, grid), notes=(*table.notes, *_notes(run, rows, sources)))


def _notes(run: Run, rows: Sequence[ReferenceRow], sources: Sequence[tuple[str, str]]) -> Iterable[str]:
    used = {mark for row in rows for mark in marks(row, run)}
    if used:
        legend = "; ".join(f"{mark} {why}" for mark, why in MARKS.items() if mark in used)
        yield f"Marks, for what keeps a published row from being compared with this run's: {legend}."
    for number, key in enumerate(sources, 1):
        yield _origin(number, [row for row in rows if (row.source, row.table) == key])


def marks(row: ReferenceRow, run: Run) -> tuple[str, ...]:
    """The marks that a published row needs beside the arm of the run that it resembles most."""
    choices = [_marks(row, run, arm) for arm in run.arms]
    return min(choices, key=len)


def _marks(row: ReferenceRow, run: Run, arm: str) -> tuple[str, ...]:
    settings, environment = run.settings(arm), run.environment.get("settings") or {}
    differs = {
        "m": row.model == UNTOLD or row.model != str(settings.get("model")).rpartition("/")[2],
        "t": row.n != run.tasks or row.split not in str(run.split.get("name")),
        "k": row.metric != "curve" and row.trials not in (1, run.limit(arm)),
        "c": row.max_steps != settings.get("max_steps"),
        "f": row.trials != 1 and row.feedback != settings.get("feedback"),
        "h": row.environment == "alfworld" and environment.get("feedback") == "hint",
        "p": row.environment == "hotpotqa" and row.pages != environment.get("corpus"),
        # Published answers were scored by exact match.
        "r": row.environment == "hotpotqa" and success_rule(run) != "em",
        "s": row.selection is not None,
        "a": not row.reconciles,
    }
    return tuple(mark for mark, is_so in differs.items() if is_so)


def _layout(
    run: Run, style: str, columns: Mapping[str, str]
) -> tuple[tuple[str, ...], Callable[[ReferenceRow], Iterable[str]]]:
    """The headings between model and marks, and what a row has under them."""
    if style == "react-table3":
        return (*columns.values(), "All"), lambda row: [
            *(_value(row, kind) for kind in columns),
            _value(row, "all"),
        ]
    if style == "reflexion-curve":
        shown = run.trial_numbers
        return (*(f"t={t}" for t in shown), "Last"), lambda row: _curve(row, len(shown))
    heading = "EM" if run.environment.get("name") == "hotpotqa" else "Solved"
    return ("Tasks", "Trials", heading), lambda row: (_stated(row.n), _stated(row.trials), _value(row, "all"))


def _value(row: ReferenceRow, name: str) -> str:
    if name not in row.values:
        return "–"
    return f"{row.values[name]}" + (f"±{row.spread}" if name == "all" and row.spread is not None else "")


def _curve(row: ReferenceRow, length: int) -> list[str]:
    points = [f"{point:.1f}" for point in row.percentages]
    last = f"{points[-1]} (t={len(points)})"
    return [*points[:length], *["–"] * (length - len(points)), last]


def _stated(number: int | None) -> str:
    return "–" if number is None else str(number)


def _origin(number: int, rows: Sequence[ReferenceRow]) -> str:
    first = rows[0]
    facts = [
        f"tasks {_each(row.n for row in rows)}, of {first.split}",
        f"trials {_each(row.trials for row in rows)}",
        f"step cap {_each(row.max_steps for row in rows)}",
        f"feedback {_each(row.feedback for row in rows)}",
        *([f"pages {_each(row.pages for row in rows)}"] if first.pages else []),
        f"read in {_each(row.read for row in rows)} ({_each(row.certainty for row in rows)})",
    ]
    gone = {row.model: row.availability for row in rows if row.availability}
    facts += [f"{model} {what}" for model, what in gone.items()]
    facts += dict.fromkeys(row.note for row in rows if row.note)
    return f"[{number}] {first.source}, {first.table} ({first.published}): {'; '.join(facts)}."


def _each(values: Iterable[object]) -> str:
    return " or ".join(dict.fromkeys("not stated" if value is None else str(value) for value in values))
