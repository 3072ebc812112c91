"""`reflex data`: generating, fetching and listing what the environments run on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Generate, fetch and list data.", no_args_is_help=False)

GENERATED = ("alfworld", "hotpotqa")
"""Environments that have a procedural split."""

EnvironmentName = Annotated[str, typer.Argument(help="alfworld or hotpotqa.")]


@app.command()
def generate(
    environment: EnvironmentName,
    out: Annotated[Path, typer.Option("--out", help="A directory for the files.")],
    seed: Annotated[int, typer.Option(help="Equal seeds give equal bytes.")] = 0,
    tasks: Annotated[int, typer.Option(min=1, help="How many.")] = 134,
) -> None:
    """Write a procedural split to a directory, in the official format."""
    from importlib import import_module

    from reflex_bench.harness.errors import unknown

    if environment not in GENERATED:
        raise unknown("environment", environment, GENERATED)
    import_module(f"reflex_bench.envs.{environment}.generator").write(seed, tasks, out)
    print(f"{tasks} tasks of seed {seed} in {out}")


@app.command()
def fetch(
    environment: EnvironmentName,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to. \\[default: the environment's usual place]")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="A mirror of the official files. \\[default: the official place]")
    ] = None,
) -> None:
    """Download official data, with progress; goes on where it was interrupted."""
    if environment != "alfworld":
        from reflex_bench.harness.errors import UsageError

        raise UsageError(
            f"nothing to fetch for {environment!r}: `alfworld` has a download; hotpotqa loads by itself"
        )
    from reflex_bench.envs.alfworld.fetch import fetch as fetch_alfworld

    fetch_alfworld(out, base_url)


@app.command(name="list")
def list_data(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Where official ALFWorld data lies. \\[default: $ALFWORLD_DATA or ~/.cache/alfworld]"
        ),
    ] = None,
) -> None:
    """Show which ALFWorld games are there, and how many of them can be played."""
    from reflex_bench.envs.alfworld.inventory import inventory

    for holding in inventory(data):
        print(holding.text)
