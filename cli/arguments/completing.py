"""What the shell offers when a person presses Tab: environments, runs, and the tasks of a run."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import typer

from reflex_bench.core.errors import ReflexError


def environments(incomplete: str) -> list[str]:
    """Return the environments whose name begins so."""
    from reflex_bench.core import parts

    return [name for name in sorted(parts.names("environments")) if name.startswith(incomplete)]


def run_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the runs whose name begins so, and `latest`; of the folder after `--results`, if it is given."""
    from reflex_bench.cli.arguments.places import runs

    given = ctx.params.get("results")
    names = [path.name for path in runs(Path(given) if given else None)]
    return [name for name in [*names, *(["latest"] if names else [])] if name.startswith(incomplete)]


def tasks_of_run(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the tasks of the run that is named before, whose id begins so."""
    from reflex_bench.cli.arguments.places import run_path
    from reflex_bench.harness.storage.run_info import read_info

    with suppress(ReflexError):
        given = ctx.params.get("results")
        info = read_info(run_path(str(ctx.params.get("run")), Path(given) if given else None))
        return [task for task in info["split"].get("task_ids") or () if task.startswith(incomplete)]
    return []
