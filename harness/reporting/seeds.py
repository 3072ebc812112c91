"""The same experiment with several seeds: mean and spread."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.footnotes import reality
from reflex_bench.harness.reporting.measures import pass_at_k
from reflex_bench.harness.reporting.statistics.samples import is_sampled
from reflex_bench.harness.reporting.tables.number_format import percent
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table, render
from reflex_bench.harness.storage.run_data import Run
from reflex_bench.harness.storage.whole_files import write_text

_OF_TASKS = frozenset(("settings_hash", "corpus_size", "corpus_sha256"))


def seeds_table(runs: Sequence[Run]) -> Table:
    """pass@k of every arm over runs that differ in nothing but their seed: mean, standard deviation, smallest, largest.

    The standard deviation is that of a sample (n - 1). Where the runs have the same tasks it is the noise of sampling
    alone; a seed may also draw other tasks, and the note says which it was.

    Args:
        runs: two or more.

    Raises:
        UsageError: fewer, or they differ in more than their seed.
    """
    import pandas as pd

    _check(runs)
    lines = _lines(runs)
    rows = tuple(
        (
            Cell(str(line["arm"])),
            Cell(str(line["k"])),
            Cell(f"{percent(line['mean'])} ± {100 * line['sd']:.1f}"),
            Cell(f"{percent(line['least'])} to {percent(line['most'])}"),
        )
        for line in lines
    )
    seeds = ", ".join(str(run.info.get("seed")) for run in runs)
    names = ", ".join(dict.fromkeys(str(run.split.get("name", "")) for run in runs))
    title = f"{len(runs)} seeds ({seeds}) · {names} · {runs[0].tasks} tasks"
    grid = Grid("", ("Arm", "k", "pass@k", "from to"), rows)
    return Table(title, pd.DataFrame(lines), (grid,), (*reality(runs[0]), _meaning(runs)))


def write_seeds(runs: Sequence[Run]) -> tuple[Path, ...]:
    """Writes `tables/seeds.{md,csv,tex}` into the directory of every run, and returns their paths."""
    table = seeds_table(runs)
    written = []
    for run in runs:
        for ending, format in (("md", "markdown"), ("csv", "csv"), ("tex", "latex")):
            file = run.path / "tables" / f"seeds.{ending}"
            write_text(file, render(table, format))
            written.append(file)
    return tuple(written)


def _check(runs: Sequence[Run]) -> None:
    """Raise `UsageError` where runs are not one experiment with several seeds."""
    if len(runs) < 2:
        raise UsageError("mean and spread over seeds need two runs or more; name them all: RUN RUN …")
    first = runs[0]
    for run in runs[1:]:
        if list(run.arms) != list(first.arms) or run.trial_numbers != first.trial_numbers:
            raise UsageError(
                f"{first.id} and {run.id} differ in more than their seed: the arms {', '.join(first.arms)} with "
                f"{len(first.trial_numbers)} trials, {', '.join(run.arms)} with {len(run.trial_numbers)}"
            )
        other = next((arm for arm in run.arms if _compared(run, arm) != _compared(first, arm)), None)
        if other is not None:
            raise UsageError(
                f"{first.id} and {run.id} differ in more than their seed: arm {other!r} has other settings "
                f"(`reflex compare {first.id} {run.id}` shows which)"
            )


def _compared(run: Run, arm: str) -> Mapping[str, Any]:
    """Return the settings of an arm, without what the tasks of a seed decide."""
    settings = {name: value for name, value in run.settings(arm).items() if name not in _OF_TASKS}
    environment = settings.get("environment")
    if isinstance(environment, Mapping):
        settings["environment"] = {key: each for key, each in environment.items() if key not in _OF_TASKS}
    return settings


def _lines(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return one line an arm and k."""
    frames = [pass_at_k(run).set_index("arm") for run in runs]
    lines = []
    for arm in frames[0].index:
        for k in runs[0].trial_numbers:
            rates = [float(frame.loc[arm, f"pass@{k}"]) for frame in frames]
            line = {"arm": arm, "k": k, "mean": statistics.mean(rates), "sd": statistics.stdev(rates)}
            lines.append(line | {"least": min(rates), "most": max(rates)})
    return lines


def _meaning(runs: Sequence[Run]) -> str:
    same = len({str(run.split.get("fingerprint")) for run in runs}) == 1
    meaning = "Mean ± standard deviation over the seeds. " + (
        "The tasks are the same: this is the noise of sampling alone."
        if same
        else "Each seed has tasks of its own: this is the noise of sampling and of the tasks together."
    )
    if is_sampled(runs[0]):
        meaning += " pass@k is the unbiased estimate from independent samples."
    return meaning
