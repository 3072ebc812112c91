"""The registry of the tools: listed, checked, and as an OpenAPI document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="List and check the tools of `bench tools`.", no_args_is_help=False)

Changes = Annotated[
    Path | None,
    typer.Option(
        "--registry", help="A YAML file of what is to be changed about the tools. \\[default: no changes]"
    ),
]


@app.command(name="list")
def list_tools(
    effect: Annotated[
        str | None,
        typer.Option(help="Only tools of this class: read, compensable or irreversible. \\[default: all]"),
    ] = None,
    department: Annotated[
        str | None, typer.Option(help="Only tools of this department. \\[default: all]")
    ] = None,
    role: Annotated[
        str | None, typer.Option(help="Only tools that this role may call. \\[default: all]")
    ] = None,
    registry: Changes = None,
) -> None:
    """Show the tools: what each does, what it costs, and what becomes of it when it goes wrong."""
    from reflex_bench.envs.tools.registering import listing
    from reflex_bench.envs.tools.registry import Registry

    loaded = Registry.load(registry)
    chosen = listing.chosen(loaded, effect, department, role)
    for line in listing.lines(chosen):
        print(line)
    print(f"{len(chosen)} of {len(loaded.tools)} tools; registry {loaded.hash}")


@app.command()
def check(
    file: Annotated[
        Path, typer.Argument(help="A YAML file in the form of the registry, whole or with changes alone.")
    ],
) -> None:
    """Check a file of changes to the tools; what is wrong is told with its line, and ends with code 2."""
    from reflex_bench.envs.tools.registering.listing import differences
    from reflex_bench.envs.tools.registry import Registry

    changed, shipped = Registry.load(file), Registry.load()
    lines = differences(shipped, changed)
    for line in lines:
        print(line)
    print(f"{file}: right; {len(lines)} differences from the tools that ship, registry {changed.hash}")


@app.command()
def openapi(registry: Changes = None) -> None:
    """Print the tools as an OpenAPI 3.1 document."""
    import json

    from reflex_bench.envs.tools.registering.openapi import document
    from reflex_bench.envs.tools.registry import Registry

    print(json.dumps(document(Registry.load(registry)), indent=2, ensure_ascii=False))
