"""One table over several runs: models × arms, or mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.footnotes import decisive_notes
from reflex_bench.harness.reporting.measures import pass_at_k
from reflex_bench.harness.reporting.row_settings import effective_settings
from reflex_bench.harness.reporting.seeds import seeds_table
from reflex_bench.harness.reporting.tables.number_format import rate_cell
from reflex_bench.harness.reporting.tables.pass_at_k import shown_trials
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table
from reflex_bench.harness.reporting.tables.styles import styled_table
from reflex_bench.harness.storage.run_data import Run

SEEDS = "seeds"
MARKS = "abcdefghijklmnopqrstuvwxyz"
_COMPARED = {
    "max_steps": "step cap",
    "max_calls": "call cap",
    "feedback": "feedback",
    "trials": "trials",
    "independent": "independent samples",
    "success_rule": "success rule",
    "prompt_hash": "prompts",
    "examples": "worked examples",
    "layout": "layout of the prompts",
    "parse": "parse policy",
    "actions": "actions",
    "temperature": "temperature",
}
"""Settings without which two rows do not measure the same, and what they are called."""


def table_over(runs: Sequence[Run], style: str = "pass-at-k", reference: bool = False) -> Table:
    """Return the table of a run in a style, or that of several runs.

    Args:
        runs: one or more.
        style: of one run as `styled_table` takes it; of several `pass-at-k` (models × arms) or `seeds`.
        reference: with published results; of one run alone.

    Raises:
        UsageError: there is no such style, or not of so many runs.
    """
    if style == SEEDS:
        return seeds_table(runs)
    if len(runs) == 1:
        return styled_table(runs[0], style, reference)
    if style != "pass-at-k" or reference:
        what = "--reference" if reference else f"--style {style}"
        raise UsageError(f"{what} shows one run; of several there are --style pass-at-k and --style {SEEDS}")
    return models_table(runs)


def models_table(runs: Sequence[Run]) -> Table:
    """Return the usual table of a paper: a line for every model and arm, with pass@k; one endpoint a run.

    A line is marked where its tasks, caps, feedback, prompts or temperature are others than those of the first run's
    line of the same arm (of its first line, where it has no such arm).

    Args:
        runs: two or more.

    Raises:
        UsageError: a run is named twice.
    """
    import pandas as pd

    _check_distinct(runs)
    ks = shown_trials(max(len(run.trial_numbers) for run in runs))
    marks: dict[str, str] = {}
    rows, frames = [], []
    for run in runs:
        frame = pass_at_k(run)
        frames.append(_identified(run, frame))
        for number, line in enumerate(frame.to_dict("records")):
            found = "".join(_mark(marks, told) for told in _differences(runs[0], run, str(line["arm"])))
            name = Cell("" if number else _name(run, runs))
            rows.append((name, Cell(str(line["arm"]), f"({found})" if found else ""), *_cells(line, ks)))
    header = ("Model", "Arm", *(f"pass@{k}" for k in ks), "Solved", "Errors")
    told = [f"({mark}) {difference}." for difference, mark in marks.items()]
    title = f"pass@k · {_where(runs)} · {len(runs)} runs"
    whole = pd.concat(frames, ignore_index=True)
    return Table(title, whole, (Grid("", header, tuple(rows)),), (*told, *_notes(runs)))


def _check_distinct(runs: Sequence[Run]) -> None:
    paths = [run.path.resolve() for run in runs]
    twice = next((run.id for run, path in zip(runs, paths, strict=True) if paths.count(path) > 1), None)
    if twice:
        raise UsageError(f"run {twice!r} is named twice; name each run once")


def _identified(run: Run, frame: Any) -> Any:
    """Return the numbers of a run with the columns that tell its lines from those of other runs."""
    own = {
        "run": run.id,
        "environment": run.environment.get("name", ""),
        "split": run.split.get("name", ""),
        "fingerprint": run.split.get("fingerprint", ""),
        "run_seed": run.info.get("seed"),
        "simulated": run.simulated,
    }
    for place, (name, value) in enumerate(own.items()):
        frame.insert(place, name, value)
    return frame


def _name(run: Run, runs: Sequence[Run]) -> str:
    """Return what a run goes by: its models; with its own name where another run has the same ones."""
    models = _models(run)
    return models if sum(_models(each) == models for each in runs) == 1 else f"{models} ({run.id})"


def _models(run: Run) -> str:
    return ", ".join(dict.fromkeys(str(run.settings(arm).get("model", "unknown")) for arm in run.arms))


def _cells(line: Mapping[Any, Any], ks: Sequence[int]) -> Iterator[Cell]:
    for k in ks:
        if k > line["trials"]:
            yield Cell("–")
            continue
        rate, low, high = (line[f"{name}@{k}"] for name in ("pass", "low", "high"))
        yield rate_cell(rate, low, high, int(line[f"solved@{k}"]), int(line[f"unknown@{k}"]), line["tasks"])
    yield Cell(f"{line['solved']}/{line['tasks']}")
    yield Cell(str(line["errors"]))


def _mark(marks: dict[str, str], told: str) -> str:
    return marks.setdefault(told, MARKS[len(marks)] if len(marks) < len(MARKS) else str(len(marks)))


def _differences(first: Run, run: Run, arm: str) -> Iterator[str]:
    """Yield, in words, what makes a line another experiment than that of the first run."""
    if run is first:
        return
    names = [str(each.environment.get("name")) for each in (first, run)]
    if names[0] != names[1]:
        yield f"environment {names[1]}, not {names[0]}"
        return
    if first.split.get("fingerprint") != run.split.get("fingerprint"):
        common = len({*first.task_ids} & {*run.task_ids})
        beside = f"{common} of them among the first run's {first.tasks}"
        yield f"other tasks: {run.tasks} of {run.split.get('name')}, {beside}"
    beside = arm if arm in first.arms else next(iter(first.arms))
    one, two = _settings(first, beside), _settings(run, arm)
    for name, word in _COMPARED.items():
        if one.get(name) != two.get(name):
            values = [
                str(each.get(name))[:11] if name == "prompt_hash" else each.get(name) for each in (two, one)
            ]
            yield f"{word} {values[0]}, not {values[1]}"


def _settings(run: Run, arm: str) -> Mapping[str, Any]:
    return {**effective_settings(run, arm), "trials": run.limit(arm), "independent": run.independent(arm)}


def _where(runs: Sequence[Run]) -> str:
    places = dict.fromkeys(
        f"{run.environment.get('name', '')} {run.split.get('name', '')}".strip() for run in runs
    )
    sizes = sorted({run.tasks for run in runs})
    size = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    return f"{', '.join(places)} · {size} tasks"


def _notes(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the notes of all runs: what holds for all of them once, the rest with the name of the run."""
    own = {run.id: decisive_notes(run) for run in runs}
    told = dict.fromkeys(note for each in own.values() for note in each)
    for note in told:
        holders = [name for name, each in own.items() if note in each]
        yield note if len(holders) == len(runs) else f"{', '.join(holders)}: {note}"
