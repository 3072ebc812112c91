"""`reflex verify` and `reflex rescore`: replays recorded trials in the official engine, or scores them anew."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from reflex_bench.cli.arguments.places import Results, run_path


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command()(verify)
    app.command()(rescore)


def verify(
    run: Annotated[str, typer.Argument(help="A run directory, its name, or `latest`.")] = "latest",
    sample: Annotated[int | None, typer.Option(min=1, help="So many trajectories. \\[default: all]")] = None,
    results: Results = None,
) -> int:
    """Replay every trajectory's actions through the official ALFWorld engine and report the first difference."""
    from tqdm import tqdm

    from reflex_bench.core.control_characters import strip_control_chars
    from reflex_bench.harness.checks.verify import verify as verify_run

    with tqdm(unit="trial", disable=not sys.stderr.isatty(), leave=False) as bar:

        def told(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        found = verify_run(run_path(run, results), sample, told)
    for trial, difference in found.differences:
        print(strip_control_chars(f"{trial}: {difference}"))
    same = "identical" if not found.differences else f"{len(found.differences)} not identical"
    print(f"{found.attempts} trajectories, {found.steps:,} steps, {same}")
    if found.official:
        print(
            f"nothing to compare in {found.official} of them: the official engine played them itself, "
            "so replaying compares it with itself"
        )
    return 1 if found.differences else 0


def rescore(
    run: Annotated[str, typer.Argument(help="A HotPotQA run.")],
    success: Annotated[str, typer.Option("--success", help="em, contains, or f1>=0.8.")],
    results: Results = None,
) -> None:
    """Score a recorded HotPotQA run by another rule, without a model call, into a run of its own."""
    from reflex_bench.cli.read import print_tables
    from reflex_bench.harness.checks.rescore import rescore as rescore_run

    print_tables(rescore_run(run_path(run, results), success), quiet=False)
