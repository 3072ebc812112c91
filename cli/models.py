"""`reflex models`: lists the named endpoints, and whether their keys are set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reflex_bench.cli.options import option


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command()(models)


def models(
    config: Annotated[
        list[str] | None,
        option(
            None,
            "A YAML file or key=value with `providers` of your own.",
            *("--config", "-c"),
            metavar="<str>",
            default="none",
        ),
    ] = None,
) -> None:
    """List the providers that a model can be named by, the key that each wants, and whether it is set."""
    from rich.console import Console
    from rich.text import Text

    from reflex_bench.harness.planning.project_file import read_project
    from reflex_bench.harness.planning.resolving import resolve
    from reflex_bench.models.options import ModelOptions

    console = Console(soft_wrap=True)
    resolved = resolve(config or [], {}, read_project(Path.cwd()))
    providers = sorted(ModelOptions(providers=resolved.providers).all_providers().items())
    width = max(len(name) for name, _ in providers) + 2
    for name, provider in providers:
        state = "set" if provider.key_value else "not set" if provider.needs_key else "not needed"
        style = {"set": "green", "not set": "yellow"}.get(state, "")
        key = f"{provider.key}: {state}" if provider.key else "no key"
        console.print(Text(f"{name}/…".ljust(width + 1), "bold") + Text(key, style))
        indent = " " * (width + 1)
        console.print(Text(indent + provider.address))
        if provider.example:
            console.print(Text(f"{indent}e.g. --model {name}/{provider.example}"))
        if provider.note:
            console.print(Text(f"{indent}{provider.note}", "dim"))
    console.print(Text("Beside these: simulated, replay:<run>, and the models of other packages."))
