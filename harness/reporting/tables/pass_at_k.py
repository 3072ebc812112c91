"""The tables of a run, laid out for readers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from reflex_bench.envs.base import INVALID_REASONS
from reflex_bench.envs.metrics import Trials
from reflex_bench.harness.parts.row_names import SETTINGS
from reflex_bench.harness.reporting.declared import metrics_of
from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.measures import by_type, pass_at_k
from reflex_bench.harness.reporting.metric_values import heading, shown
from reflex_bench.harness.reporting.statistics.samples import is_sampled
from reflex_bench.harness.reporting.tables.number_format import (
    amount,
    decimal,
    dollars,
    percent,
    rate_cell,
    whole,
)
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table, render
from reflex_bench.harness.reporting.tables.samples import samples_grid
from reflex_bench.harness.storage.run_data import Run, accounting, read_run
from reflex_bench.harness.storage.whole_files import write_text

if TYPE_CHECKING:
    import pandas as pd

Details = Literal["all", "settings", "none"]


def write_tables(path: str | Path) -> tuple[Path, ...]:
    """Writes `tables/pass_at_k.{md,csv,tex}` of a run, each whole or not at all, and returns their paths.

    All of them carry the settings: a table that leaves this directory must still say what was measured.
    """
    directory = Path(path)
    written = []
    full, brief = _tables(read_run(directory), "all", "settings")
    for ending, format, table in (("md", "markdown", full), ("csv", "csv", full), ("tex", "latex", brief)):
        file = directory / "tables" / f"pass_at_k.{ending}"
        write_text(file, render(table, format))
        written.append(file)
    return tuple(written)


def pass_at_k_table(run: Run, details: Details = "all") -> Table:
    """The main table: tasks solved within k trials, or the unbiased pass@k and pass^k of independent samples.

    Args:
        run: the run.
        details: `all` adds task types, effort and settings, `settings` those alone, `none` nothing.
    """
    [table] = _tables(run, details)
    return table


def _tables(run: Run, *details: Details) -> Iterator[Table]:
    """The main table with each of several details; its numbers are computed once."""
    frame, said = pass_at_k(run), notes(run)
    sampled = is_sampled(run)
    what = f"{run.environment.get('name', '')} {run.split.get('name', '')}".strip()
    kind = "pass@k and pass^k of independent samples" if sampled else "pass@k"
    title = f"{kind} · {what} · {run.tasks} tasks · run {run.id}"
    ks = shown_trials(len(run.trial_numbers))
    for each in details:
        grids = [samples_grid(run, ks) if sampled else _main_grid(run, frame, ks)]
        if each == "all":
            grids += [_type_grid(run), _effort_grid(run, frame)]
        if each != "none":
            grids.append(_settings_grid(frame))
        yield Table(title, frame, tuple(grid for grid in grids if grid.rows), said)


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


def _main_grid(run: Run, frame: pd.DataFrame, ks: Sequence[int]) -> Grid:
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
    ks = {1} if is_sampled(run) else {run.limit(arm) for arm in run.arms}
    within = f"pass@{ks.pop()}" if len(ks) == 1 else "the last trial"
    return Grid(f"By task type ({within})", ("Type", "Tasks", *run.arms), tuple(rows))


_SILENT = frozenset(
    (
        *("Wins verified", "… repeating the last call's", "… of them reasoning"),
        *("Replies asked again, for room", "Replies cut off all the same", "Empty answers, asked again"),
    )
)
"""Lines of the effort that are left out where no arm has a number."""


def _tokens_a_success(frame: pd.DataFrame) -> list[str]:
    tokens, solved = (frame["prompt_tokens"] + frame["completion_tokens"]).astype("Float64"), frame["solved"]
    return [
        # Where nothing was solved the number is not unknown: there is none.
        amount(value) if some else "none solved"
        for value, some in zip(_floats(tokens / solved.where(solved > 0)), solved > 0, strict=True)
    ]


def _effort_grid(run: Run, frame: pd.DataFrame) -> Grid:
    lines = [
        ("Trials run", _each(frame["trials_run"], str)),
        *_measures(run, frame, "last"),
        ("Steps a trial", _each(frame["steps_per_trial"], decimal)),
        ("Steps a win", _each(frame["steps_per_win"], decimal)),
        *_measures(run, frame, "wins"),
        ("Wins verified", _each(frame["wins_verified"], percent)),
        ("Invalid actions", _each(frame["invalid_rate"], percent)),
        *_reasons(frame),
        ("Unparsed replies", _each(frame["unparsed_rate"], percent)),
        ("Repairs", _each(frame["repairs"], whole)),
        ("Reflections", _each(frame["reflections"], whole)),
        *_written(frame),
        ("Model calls", _each(frame["calls"], amount)),
        ("Prompt tokens", _each(frame["prompt_tokens"], amount)),
        ("… repeating the last call's", _each(frame["repeated_share"], percent)),
        ("… of them cached", _each(frame["cached_tokens"], amount)),
        ("Completion tokens", _each(frame["completion_tokens"], amount)),
        ("… of them reasoning", _reasoning(frame)),
        ("Replies asked again, for room", _counts(frame["asked_again"])),
        ("Replies cut off all the same", _counts(frame["cut_off"])),
        ("Empty answers, asked again", _counts(frame["lost_calls"])),
        ("Tokens a success" if is_sampled(run) else "Tokens a solved task", _tokens_a_success(frame)),
        ("Cost", _each(frame["cost"], dollars)),
    ]
    lines = [line for line in lines if line[0] not in _SILENT or set(line[1]) != {"–"}]
    rows = tuple((Cell(name), *map(Cell, values)) for name, values in lines)
    return Grid("What it took", ("", *frame["arm"]), rows)


def _measures(run: Run, frame: pd.DataFrame, trials: Trials) -> list[tuple[str, list[str]]]:
    """What the environment measured, where any arm has the number."""
    over = "all samples" if is_sampled(run) else "last trial"
    lines = []
    for metric in metrics_of(run):
        if metric.summary and metric.trials == trials and frame[metric.key].notna().any():
            mean = "Mean " if metric.aggregate == "mean" and trials == "last" else ""
            label = heading(metric, over if trials == "last" else "wins")
            lines.append((f"{mean}{label}", _each(frame[metric.key], partial(shown, metric))))
    return lines


def _reasons(frame: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Invalid actions by why they were not accepted, where the environment says so."""
    names = [str(name) for name in frame if str(name).startswith("invalid.")]
    told = {f"invalid.{reason}_rate": f"… {words}" for reason, words in INVALID_REASONS.items()}
    others = {name: f"… {name[8:-5].replace('_', ' ')}" for name in names if name not in told}
    return [
        (words, _each(frame[name].fillna(0.0), percent))
        for name, words in (told | others).items()
        if name in names
    ]


def _written(frame: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """How many reflections were written, where not all of them were kept."""
    if frame["reflections"].fillna(-1).equals(frame["reflections_written"].fillna(-1)):
        return []
    return [("… written, some not kept", _each(frame["reflections_written"], whole))]


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
    return [show(value) for value in _floats(values)]


def _counts(values: pd.Series[Any]) -> list[str]:
    """Counts of what should not happen: a dash for none."""
    return ["–" if math.isnan(value) or not value else str(int(value)) for value in values]


def _reasoning(frame: pd.DataFrame) -> list[str]:
    """The share of reasoning, marked where it was estimated from the lengths of texts."""
    lines = zip(frame["reasoning_share"], frame["reasoning_estimated"], strict=True)
    return [percent(share) if not guessed else f"about {percent(share)}" for share, guessed in lines]


def _floats(values: pd.Series[Any]) -> list[Any]:
    """The values, NaN for every kind of missing one."""
    return [math.nan if missing else value for value, missing in zip(values, values.isna(), strict=True)]
