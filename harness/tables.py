"""The tables of a run, laid out for readers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.footnotes import notes
from reflex_bench.harness.frame import Run, accounting, read_run
from reflex_bench.harness.measures import SETTINGS, by_type, pass_at_k
from reflex_bench.harness.render import Cell, Grid, Table, render
from reflex_bench.harness.statistics import error_bounds
from reflex_bench.harness.store import write_text

if TYPE_CHECKING:
    import pandas as pd


def write_tables(path: str | Path) -> tuple[Path, ...]:
    """Writes `tables/pass_at_k.{md,csv,tex}` of a run, each whole or not at all, and returns their paths."""
    directory = Path(path)
    run = read_run(directory)
    written = []
    for ending, format in (("md", "markdown"), ("csv", "csv"), ("tex", "latex")):
        file = directory / "tables" / f"pass_at_k.{ending}"
        write_text(file, render(pass_at_k_table(run, details=format == "markdown"), format))
        written.append(file)
    return tuple(written)


def pass_at_k_table(run: Run, details: bool = True) -> Table:
    """The main table; with details also task types, effort and settings."""
    frame = pass_at_k(run)
    what = f"{run.environment.get('name', '')} {run.split.get('name', '')}".strip()
    title = f"pass@k · {what} · {run.tasks} tasks · run {run.id}"
    grids = [_main_grid(run, frame)]
    if details:
        grids += [grid for grid in (_type_grid(run), _effort_grid(frame), _settings_grid(frame)) if grid.rows]
    return Table(title, frame, tuple(grids), notes(run))


def outcomes_table(run: Run) -> Table:
    """What became of every task in every trial of every arm; each line adds up to the tasks."""
    frame = accounting(run)
    kept = [name for name in frame.columns if name in ("arm", "trial", "tasks") or frame[name].any()]
    rows = tuple(tuple(Cell(str(value)) for value in line) for line in frame[kept].itertuples(index=False))
    header = tuple(name.replace("_", " ") for name in kept)
    return Table("Outcomes: every line adds up to the tasks", frame, (Grid("", header, rows),))


def shown_trials(trials: int) -> tuple[int, ...]:
    """The k that have a column: all of up to four, else the first two, one between, and the last."""
    if trials <= 4:
        return tuple(range(1, trials + 1))
    return 1, 2, round(math.sqrt(2 * trials)), trials


def rate_cell(rate: float, low: float, high: float, solved: int, unknown: int, n: int) -> Cell:
    """A rate with its interval, or its bounds alone where too much is unknown."""
    if math.isnan(rate):
        bounds = error_bounds(solved, unknown, n)
        return Cell(f"{100 * bounds.low:.1f}–{percent(bounds.high)}", "bounds")
    return Cell(percent(rate), f"[{_end(low)}–{_end(high)}]")


def _end(rate: float) -> str:
    """One end of an interval: the ends of the scale are written short, to keep columns narrow."""
    return {0.0: "0", 1.0: "100"}.get(round(rate, 3), f"{100 * rate:.1f}")


def percent(rate: float) -> str:
    """`0.627` as `62.7%`; a dash where there is none."""
    return "–" if math.isnan(rate) else f"{100 * rate:.1f}%"


def _main_grid(run: Run, frame: pd.DataFrame) -> Grid:
    ks = shown_trials(len(run.trial_numbers))
    rows = []
    for line in frame.to_dict("records"):
        cells = [Cell(line["arm"])]
        for k in ks:
            cells.append(Cell("–") if k > line["trials"] else _pass_cell(line, k))
        rows.append((*cells, Cell(f"{line['solved']}/{line['tasks']}"), Cell(str(line["errors"]))))
    return Grid("", ("Arm", *(f"pass@{k}" for k in ks), "Solved", "Errors"), tuple(rows))


def _pass_cell(line: Mapping[Any, Any], k: int) -> Cell:
    rate, low, high = (line[f"{name}@{k}"] for name in ("pass", "low", "high"))
    return rate_cell(rate, low, high, int(line[f"solved@{k}"]), int(line[f"unknown@{k}"]), line["tasks"])


def _type_grid(run: Run) -> Grid:
    frame = by_type(run)
    rows = []
    for name, lines in frame.groupby("type"):
        cells = [
            rate_cell(line["rate"], line["low"], line["high"], line["solved"], line["unknown"], line["tasks"])
            for line in lines.to_dict("records")
        ]
        rows.append((Cell(str(name)), Cell(str(lines["tasks"].iloc[0])), *cells))
    ks = {run.limit(arm) for arm in run.arms}
    within = f"pass@{ks.pop()}" if len(ks) == 1 else "the last trial"
    return Grid(f"By task type ({within})", ("Type", "Tasks", *run.arms), tuple(rows))


def _effort_grid(frame: pd.DataFrame) -> Grid:
    tokens = (frame["prompt_tokens"] + frame["completion_tokens"]).astype("Float64")
    per_solved = tokens / frame["solved"].where(frame["solved"] > 0)
    lines: list[tuple[str, list[str]]] = [
        ("Trials run", _each(frame["trials_run"], str)),
        ("Steps a trial", _each(frame["steps_per_trial"], _decimal)),
        ("Steps a win", _each(frame["steps_per_win"], _decimal)),
        ("Plan length / steps, wins", _each(frame["path_efficiency"], percent)),
        ("Wins verified", _each(frame["wins_verified"], percent)),
        ("Invalid actions", _each(frame["invalid_rate"], percent)),
        ("Unparsed replies", _each(frame["unparsed_rate"], percent)),
        ("Repairs", _each(frame["repairs"], _whole)),
        ("Reflections", _each(frame["reflections"], _whole)),
        ("Model calls", _each(frame["calls"], amount)),
        ("Prompt tokens", _each(frame["prompt_tokens"], amount)),
        ("… repeating the last call's", _each(frame["repeated_share"], percent)),
        ("… of them cached", _each(frame["cached_tokens"], amount)),
        ("Completion tokens", _each(frame["completion_tokens"], amount)),
        ("… of them reasoning", _reasoning(frame)),
        ("Replies asked again, for room", _counts(frame["asked_again"])),
        ("Replies cut off all the same", _counts(frame["cut_off"])),
        ("Empty answers, asked again", _counts(frame["lost_calls"])),
        ("Tokens a solved task", _each(per_solved, amount)),
        ("Cost", _each(frame["cost"], dollars)),
    ]
    silent = {
        "Plan length / steps, wins",
        "Wins verified",
        "… repeating the last call's",
        "… of them reasoning",
    }
    silent |= {"Replies asked again, for room", "Replies cut off all the same", "Empty answers, asked again"}
    lines = [line for line in lines if line[0] not in silent or set(line[1]) != {"–"}]
    if "f1" in frame:
        lines.insert(1, ("Mean F1, last trial", _each(frame["f1"], percent)))
    rows = tuple((Cell(name), *map(Cell, values)) for name, values in lines)
    return Grid("What it took", ("", *frame["arm"]), rows)


def _settings_grid(frame: pd.DataFrame) -> Grid:
    """Settings that some arm has; those that differ between arms stand out."""
    rows = []
    for name, label in SETTINGS:
        values = ["–" if value is None or value != value else str(value) for value in frame[name]]
        if name == "prompt_hash":
            values = [value[:8] for value in values]
        if any(value != "–" for value in values):
            differ = len(set(values)) > 1
            rows.append((Cell(label, strong=differ), *(Cell(value, strong=differ) for value in values)))
    return Grid("Settings", ("", *frame["arm"]), tuple(rows))


def _each(values: pd.Series[Any], show: Callable[[Any], str]) -> list[str]:
    return [
        show(math.nan if missing else value) for value, missing in zip(values, values.isna(), strict=True)
    ]


def _counts(values: pd.Series[Any]) -> list[str]:
    """Counts of what should not happen: a dash for none."""
    return ["–" if math.isnan(value) or not value else str(int(value)) for value in values]


def _reasoning(frame: pd.DataFrame) -> list[str]:
    """The share of reasoning, marked where it was estimated from the lengths of texts."""
    lines = zip(frame["reasoning_share"], frame["reasoning_estimated"], strict=True)
    return [percent(share) if not guessed else f"about {percent(share)}" for share, guessed in lines]


def _whole(value: float) -> str:
    return "unknown" if math.isnan(value) else str(int(value))


def _decimal(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"


def amount(value: float) -> str:
    """A count to three or four digits: `950`, `12.4k`, `1.24M`; `unknown` for NaN."""
    if math.isnan(value):
        return "unknown"
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * size:
            scaled = value / size
            return f"{scaled:.{2 if scaled < 9.995 else 1 if scaled < 99.95 else 0}f}{mark}"
    return f"{value:.0f}"


def dollars(value: float) -> str:
    """US dollars; `unknown` for NaN, never 0."""
    if math.isnan(value):
        return "unknown"
    return f"${value:.2f}" if value >= 1 or value == 0 else f"${value:.2g}"
