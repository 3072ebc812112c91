"""`reflex import`: imports results that others have published, as runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from reflex_bench.cli.arguments.places import Results, new_run, results_root

commands = typer.Typer(help="Turn results that others have published into runs.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the group `import`."""
    app.add_typer(commands, name="import")


@commands.command(name="reflexion-logs")
def reflexion_logs(
    directory: Annotated[
        Path, typer.Argument(help="A checkout of noahshinn/reflexion, or its result folders.")
    ],
    questions: Annotated[
        Path | None,
        typer.Option(
            help="An official HotPotQA file; tasks get its ids, so that runs on them can be compared. \\[default: none]"
        ),
    ] = None,
    results: Results = None,
) -> None:
    """Import the result files of the Reflexion authors, and check statements of their paper against them."""
    from reflex_bench.harness.importing.paper_claims import claims_table
    from reflex_bench.harness.importing.reflexion_logs import import_reflexion_logs
    from reflex_bench.harness.reporting.tables.render import render
    from reflex_bench.harness.storage.run_data import read_run

    made = import_reflexion_logs(directory, results_root(results), questions)
    runs = [read_run(path) for path in made]
    for run in runs:
        print(f"{run.path}: {run.tasks} tasks, {len(run.trials)} trials, arms {', '.join(run.arms)}")
    print()
    print(render(claims_table(runs), color=sys.stdout.isatty()), end="")


@commands.command(name="rows")
def rows(
    file: Annotated[Path, typer.Argument(help="JSON lines, one result each.")],
    mapping: Annotated[
        str,
        typer.Option(
            "--map",
            help="What is where: task=id,success=score>=1, and if there: trial=attempt,arm=agent.name,type=kind.",
        ),
    ],
    independent: Annotated[
        bool,
        typer.Option("--independent", help="Trials of a task know nothing of one another. \\[default: off]"),
    ] = False,
    environment: Annotated[str, typer.Option(help="Its name in tables.")] = "other",
    run_id: Annotated[str | None, typer.Option(help="Name of the run. \\[default: that of the file]")] = None,
    results: Results = None,
) -> None:
    """Import results of any other harness from a file with one JSON object a line."""
    from reflex_bench.harness.importing.mapped_rows import import_rows, read_map
    from reflex_bench.harness.storage.run_data import read_run

    path = new_run(results, run_id or file.stem, environment)
    fields = read_map(mapping)
    run = read_run(import_rows(file, fields, path, environment=environment, independent=independent))
    print(f"{run.path}: {run.tasks} tasks, {len(run.trials)} trials, arms {', '.join(run.arms)}")
