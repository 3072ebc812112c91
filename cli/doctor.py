"""`reflex doctor`: checks whether this machine is ready, and what an endpoint can do, before anything is spent."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reflex_bench.cli.options import option

if TYPE_CHECKING:
    from reflex_bench.harness.checks.doctor import Finding

MARKS = {"ok": "green", "warn": "yellow", "fail": "red", "?": "dim"}

EXAMPLES = r"""Examples:

  reflex doctor
  reflex doctor --model groq/llama-3.1-8b-instant
  reflex doctor -m openai/qwen --base-url http://127.0.0.1:8080/v1
"""


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command(epilog=EXAMPLES)(doctor)


def doctor(
    model: Annotated[
        str | None,
        option(
            None,
            "Make three calls to this model, and tell what its endpoint can do.",
            *("--model", "-m"),
            default="none; no call is made",
        ),
    ] = None,
    base_url: Annotated[
        str | None, option(None, "An OpenAI-compatible endpoint.", default="OPENAI_BASE_URL")
    ] = None,
    api: Annotated[str | None, option(None, "chat, responses or completions.", default="chat")] = None,
    data: Annotated[
        Path | None,
        option(None, "Where official ALFWorld data lies.", default="$ALFWORLD_DATA or ~/.cache/alfworld"),
    ] = None,
    config: Annotated[
        list[str] | None,
        option(
            None,
            "A YAML file or key=value, e.g. with `endpoint` or `providers`.",
            *("--config", "-c"),
            metavar="<str>",
            default="none",
        ),
    ] = None,
) -> int:
    """Check versions, data, endpoint, key and disk; with --model, try what the endpoint can do."""
    from reflex_bench.cli.bench import nest
    from reflex_bench.harness.checks.doctor import examine
    from reflex_bench.harness.planning.project_file import read_project
    from reflex_bench.harness.planning.resolving import resolve

    flags = nest({"model.model": model, "endpoint.base_url": base_url, "endpoint.api": api})
    resolved = resolve(config or [], flags, read_project(Path.cwd()))
    return int(_failed(examine(resolved, data, probed=model is not None)))


def _failed(findings: Iterable[Finding]) -> bool:
    """Print findings as they come, and return whether any is a failure."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from reflex_bench.cli.arguments.places import as_called

    console, failed = Console(soft_wrap=True), False
    for finding in findings:
        failed |= finding.mark == "fail"
        said = Text(as_called(finding.said))
        if not console.is_terminal:
            console.print(Text(f"{finding.mark:>4}", style=MARKS[finding.mark]), f"{finding.what:<17}", said)
            continue
        line = Table.grid(padding=(0, 1, 0, 0))
        line.add_row(Text(f"{finding.mark:>4}", style=MARKS[finding.mark]), f"{finding.what:<17}", said)
        console.print(line)
    return failed
