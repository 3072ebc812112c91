"""`reflex table`, `compare`, `list` and `show`: reads what runs have written."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reflex_bench.cli.arguments.completing import run_names, tasks_of_run
from reflex_bench.cli.arguments.grouped import spread
from reflex_bench.cli.arguments.places import Results, as_called, called_as, named, run_path, run_paths, runs
from reflex_bench.cli.encoding import wants_color
from reflex_bench.cli.options import option
from reflex_bench.core.errors import UsageError, unknown

if TYPE_CHECKING:
    from reflex_bench.harness.reporting.tables.render import Table

RunName = Annotated[
    str,
    typer.Argument(
        help="A run directory, its name in the results directory, or `latest`.", autocompletion=run_names
    ),
]


RunNames = Annotated[
    list[str] | None,
    typer.Argument(
        help="Run directories, their names in the results directory (`x-*` for several), or `latest`. "
        "\\[default: latest]",
        show_default=False,
        autocompletion=run_names,
    ),
]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is laid out on paper."""

    only: Annotated[
        str | None,
        option(
            None,
            "grid: the first block alone, without notes, settings and what it took.",
            "--only",
            default="all",
        ),
    ] = None
    label: Annotated[
        str | None, option(None, "Of LaTeX: the label, e.g. tab:results.", "--label", default="none")
    ] = None
    two_columns: Annotated[
        bool,
        option(
            None,
            "Of LaTeX: for a page of two columns, where longtable cannot stand.",
            "--two-columns",
            default="off",
        ),
    ] = False


def _laid_out(table: Table, format: str, layout: Layout, number: int = 1) -> str:
    """Return a table as text, as it is asked for; `number` counts the tables of one command.

    Raises:
        UsageError: what is asked for does not exist, or not in this format.
    """
    if layout.only not in (None, "grid"):
        raise unknown("part of a table for --only", layout.only, ["grid"])
    label = layout.label
    if (label is not None or layout.two_columns) and format != "latex":
        raise UsageError(f"{'--label' if label else '--two-columns'} goes with --format latex")
    if label is not None and not re.fullmatch(r"[A-Za-z0-9:._-]+", label):
        raise UsageError(f"--label {label!r}: letters, digits and : . _ - are wanted, e.g. tab:results")
    if layout.only == "grid":
        # A stand-in is named wherever its numbers go.
        notes = tuple(note for note in table.notes if note.startswith("SIMULATED"))
        table = replace(table, grids=table.grids[:1], notes=notes, lead=())
    if label is not None and number > 1:
        label = f"{label}-{number}"
    return _rendered(table, format, label, layout.two_columns)


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command()(spread(table))
    app.command()(spread(compare))
    app.command(name="list")(list_runs)
    app.command()(show)


def table(
    runs: RunNames = None,
    *,
    format: Annotated[
        str, typer.Option("--format", "-f", help="terminal, markdown, csv, latex or html.")
    ] = "terminal",
    style: Annotated[
        str,
        typer.Option(
            *("--style", "-s"),
            help="pass-at-k, outcomes, react-table3, reflexion-curve, hotpotqa, metrics, samples, reflections, "
            "evaluator, or one of a package; of several runs pass-at-k or seeds.",
        ),
    ] = "pass-at-k",
    reflections: Annotated[
        bool, typer.Option("--reflections", help="What the audit found in the reflections. \\[default: off]")
    ] = False,
    reference: Annotated[
        bool, typer.Option("--reference", help="Published results beside one's own. \\[default: off]")
    ] = False,
    layout: Layout,
    results: Results = None,
) -> None:
    """Print a run as the pass@k table or in the style of a paper's table; of several runs, a line a model and arm."""
    from reflex_bench.harness.reporting.tables.several import table_over
    from reflex_bench.harness.storage.run_data import read_run

    read = [read_run(path) for path in run_paths(runs, results)]
    made = table_over(read, "reflections" if reflections else style, reference)
    print(_laid_out(made, format, layout), end="")


def compare(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            help="One run (a directory, its name in the results directory, or `latest`), whose arms are compared, or "
            "several, which are compared with one another. \\[default: latest]",
            show_default=False,
            autocompletion=run_names,
        ),
    ] = None,
    *,
    arms: Annotated[
        str | None, typer.Option(help="Which arms, e.g. react,reflexion. \\[default: all]")
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Compare what different splits share, and arms of equal settings. \\[default: off]",
        ),
    ] = False,
    format: Annotated[
        str, typer.Option("--format", "-f", help="terminal, markdown, csv, latex or html.")
    ] = "terminal",
    layout: Layout,
    results: Results = None,
) -> None:
    """Compare arms task by task: what differs between them, both pass@k, and whether the difference is chance."""
    from reflex_bench.harness.reporting.compare import compare as compare_arms
    from reflex_bench.harness.reporting.compare import compare_each
    from reflex_bench.harness.reporting.tables.comparison import comparison_tables, long_form
    from reflex_bench.harness.storage.run_data import read_run

    read = [read_run(path) for path in run_paths(runs, results)]
    chosen = [name.strip() for name in arms.split(",")] if arms else None
    one = len(read) == 1
    compared = compare_arms(read[0], arms=chosen, force=force) if one else compare_each(read, chosen, force)
    if format == "csv":
        print(_rendered(long_form(compared), format), end="")
        return
    for number, made in enumerate(comparison_tables(compared), 1):
        print(_laid_out(made, format, layout, number))


def print_tables(run: Path, quiet: bool) -> None:
    """Writes the tables of a run into its directory and prints the main one, with where to read on."""
    from reflex_bench.harness.reporting.tables.pass_at_k import pass_at_k_table, write_tables
    from reflex_bench.harness.storage.run_data import read_run

    read = read_run(run)
    if read.trials.empty:
        return
    write_tables(run)
    print(_rendered(pass_at_k_table(read)), end="")
    if not quiet:
        name = named(run)
        print(f"\nwritten to {run}; read on with: {called_as()} compare {name}, {called_as()} show {name}")


def print_seeds(runs: list[Path], quiet: bool) -> None:
    """Writes mean and spread over seeds into the directory of every run, and prints them."""
    from reflex_bench.harness.reporting.seeds import seeds_table, write_seeds
    from reflex_bench.harness.storage.run_data import read_run

    read = [read_run(path) for path in runs]
    write_seeds(read)
    print(_rendered(seeds_table(read)), end="")
    if not quiet:
        again = f"{called_as()} table {' '.join(map(named, runs))} --style seeds"
        print(f"\nwritten to tables/seeds.md of each run; print it again with: {again}")


def _rendered(
    table: Table, format: str = "terminal", label: str | None = None, two_columns: bool = False
) -> str:
    """Return a table as text; on a terminal its notes name commands as they are called here, else by the bare name."""
    from reflex_bench.harness.reporting.tables.render import render

    if format == "terminal":
        table = replace(table, notes=tuple(map(as_called, table.notes)))
    return render(table, format, color=wants_color(), label=label, two_columns=two_columns)


def list_runs(
    results: Results = None,
    as_json: Annotated[
        bool, option(None, "Everything that is known of each, as JSON.", "--json", default="off")
    ] = False,
) -> None:
    """List the runs, newest last: date, status, size, the best arm's share of tasks solved, cost."""
    import json
    import shutil

    from reflex_bench.cli.arguments.places import results_root
    from reflex_bench.core.control_characters import strip_control_chars
    from reflex_bench.harness.reporting.run_list import HEADINGS, cells_of, fitting, summary_of

    found = [summary_of(path) for path in runs(results)]
    if as_json:
        print(json.dumps(found, indent=1))
        return
    if not found:
        print(f"no runs in {results_root(results)}; `{called_as()} bench alfworld` makes one")
        return
    lines = [HEADINGS, *(tuple(map(strip_control_chars, cells_of(each))) for each in found)]
    limited = sys.stdout.isatty() or "COLUMNS" in os.environ
    for line in fitting(lines, shutil.get_terminal_size().columns if limited else None):
        print(line)


def show(
    run: RunName,
    task: Annotated[
        str | None,
        typer.Argument(
            help="A task id, or an unambiguous part of one. \\[default: one that was solved after reflecting]",
            autocompletion=tasks_of_run,
        ),
    ] = None,
    arm: Annotated[str | None, typer.Option(help="Only this arm. \\[default: all]")] = None,
    trial: Annotated[int | None, typer.Option(help="Only this trial. \\[default: all]")] = None,
    reasoning: Annotated[
        bool,
        typer.Option(
            "--reasoning",
            help="What reasoning models thought before each reply, too. \\[default: off]",
            show_default=False,
        ),
    ] = False,
    prompt: Annotated[
        str | None,
        option(
            None,
            "What was put before the model at this step, checked against its hash; or a role, e.g. reflector.",
            "--prompt",
            default="none",
        ),
    ] = None,
    results: Results = None,
) -> None:
    """Read trajectories: thoughts, actions, observations, reflections, and the memory that was shown."""
    from rich.console import Console
    from rich.text import Text

    from reflex_bench.core.control_characters import strip_control_chars
    from reflex_bench.harness.reporting.show import as_lines, trials_of

    if prompt is not None:
        from reflex_bench.cli.shown_prompt import print_prompt

        print_prompt(run_path(run, results), task, arm, trial, prompt)
        return
    console = Console()
    shown: dict[str, str] = {}
    for row in trials_of(run_path(run, results), task, arm, trial):
        title = strip_control_chars(f"{row['arm']} · trial {row['trial']}")
        if row["attempt"] in shown:
            console.print(Text(f"{title}: the same experiment as {shown[row['attempt']]}\n", style="dim"))
            continue
        shown[row["attempt"]] = title
        lines = [(f"{line}\n", style) for style, line in as_lines(row, console.width, reasoning)]
        console.print(Text.assemble(*lines), soft_wrap=True)
