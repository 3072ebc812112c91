"""`reflex plot`: draws pictures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reflex_bench.cli.arguments.places import Results, run_path
from reflex_bench.cli.read import RunName


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command()(plot)


def plot(
    run: RunName = "latest",
    out: Annotated[
        Path | None,
        typer.Option(help="A folder. \\[default: plots in the run directory]", show_default=False),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            *("--kind", "-k"),
            help="curve (tasks solved within k trials), cost (over tokens), or the key of a metric of the environment. "
            "\\[default: curve and cost]",
            show_default=False,
        ),
    ] = None,
    format: Annotated[str, typer.Option("--format", "-f", help="svg, png or pdf.")] = "svg",
    results: Results = None,
) -> None:
    """Draw the learning curve of a run, and what it cost; the numbers are written beside the pictures."""
    from reflex_bench.harness.reporting.curves import KINDS, write_curves
    from reflex_bench.harness.storage.run_data import read_run

    path = run_path(run, results)
    for file in write_curves(read_run(path), out or path / "plots", kind or KINDS, format):
        print(file)
