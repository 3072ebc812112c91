"""`reflex rescore`: another success rule for answers that were already given."""

from __future__ import annotations

from typing import Annotated

import typer

from reflex_bench.cli.places import Results, run_path


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command()(rescore)


def rescore(
    run: Annotated[str, typer.Argument(help="A HotPotQA run.")],
    success: Annotated[str, typer.Option("--success", help="em, contains, or f1>=0.8.")],
    results: Results = None,
) -> None:
    """Score a recorded HotPotQA run by another rule, without a model call, into a run of its own."""
    from reflex_bench.cli.read import print_tables
    from reflex_bench.harness.checks.rescore import rescore as rescore_run

    print_tables(rescore_run(run_path(run, results), success), quiet=False)
