"""`reflex data`: generates, fetches and lists what the environments run on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reflex_bench.cli.arguments.places import called_as

app = typer.Typer(help="Generate, fetch and list data, and clear the cache.", no_args_is_help=False)

EnvironmentName = Annotated[str, typer.Argument(help="alfworld, hotpotqa, or the name of a plug-in.")]


@app.command()
def generate(
    environment: EnvironmentName,
    out: Annotated[Path, typer.Option("--out", help="A directory for the files.")],
    seed: Annotated[int, typer.Option(help="Equal seeds give equal bytes.")] = 0,
    tasks: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many.")] = 134,
) -> None:
    """Write a procedural split to a directory, in the official format."""
    from contextlib import closing

    from reflex_bench.core.errors import UsageError
    from reflex_bench.envs.declarations import GeneratesData
    from reflex_bench.harness.planning.opening import open_environment

    with closing(open_environment({"name": environment})) as opened:
        if not isinstance(opened, GeneratesData):
            raise UsageError(f"{environment} has no generator; its tasks cannot be made from a seed")
        opened.generate(seed, tasks, out)
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
    from contextlib import closing

    from reflex_bench.core.errors import UsageError
    from reflex_bench.envs.declarations import FetchesData
    from reflex_bench.harness.planning.opening import open_environment

    with closing(open_environment({"name": environment})) as opened:
        if not isinstance(opened, FetchesData):
            raise UsageError(
                f"nothing to fetch for {environment!r}: its data is there, or is loaded when it is used"
            )
        opened.fetch(out, base_url)


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
    from reflex_bench.envs.alfworld.official.inventory import inventory

    for holding in inventory(data):
        print(holding.text)


@app.command()
def clean(
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Delete what can be made again. \\[default: only show it]", show_default=False
        ),
    ] = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="With --yes: answers of Wikipedia, too, which may change. \\[default: off]",
            show_default=False,
        ),
    ] = False,
) -> None:
    """Show what the cache holds, with its size; with --yes, clear it."""
    from reflex_bench.envs.cache import cache_folder, holdings, remove

    folder, held = cache_folder(), holdings()
    chosen = [each for each in held if each.can_be_made_again or everything]
    for each in held:
        kept = "" if each in chosen else "  kept; --all deletes it, too"
        print(f"{each.megabytes:>9.1f} MB  {each.path.relative_to(folder)}{kept}")
    total = sum(each.megabytes for each in chosen)
    what = f"{len(chosen)} of {len(held)} in {folder}, {total:.1f} MB"
    if not yes:
        print(f"{what} can be deleted: `{called_as()} data clean --yes`; REFLEX_BENCH_CACHE moves the cache")
        return
    for each in chosen:
        remove(each)
    print(f"{what} deleted")
