"""`reflex doctor`: whether this machine is ready, before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MARKS = {"ok": "green", "warn": "yellow", "fail": "red"}


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command()(doctor)


def doctor(
    model: Annotated[
        str, typer.Option("--model", "-m", help="Also ask this model whether it can answer.")
    ] = "simulated",
    base_url: Annotated[
        str | None, typer.Option(help="An OpenAI-compatible endpoint. \\[default: OPENAI_BASE_URL]")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Where official ALFWorld data lies. \\[default: $ALFWORLD_DATA or ~/.cache/alfworld]"
        ),
    ] = None,
) -> int:
    """Check versions, data, endpoint, key and disk."""
    from rich.console import Console
    from rich.text import Text

    from reflex_bench.cli.places import as_called
    from reflex_bench.harness.doctor import examine

    console = Console()
    findings = list(examine(model, base_url, data))
    for finding in findings:
        console.print(
            Text(f"{finding.mark:>4}", style=MARKS[finding.mark]),
            f"{finding.what:<12}",
            Text(as_called(finding.said)),
        )
    return 1 if any(finding.mark == "fail" for finding in findings) else 0
