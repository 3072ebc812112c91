"""`reflex config`: what a run would be configured with, and where each value comes from."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from reflex_bench.cli import options
from reflex_bench.cli.bench import bench, flags_of, nest

EXAMPLES = r"""Examples:

  reflex config
  reflex config -c paper --trials 5
  reflex config hotpotqa -m groq/llama-3.1-8b-instant
"""

_OTHERWISE = ("environment", "seeds", "results", "run_id", "dry_run", "quiet")
"""Parameters of `reflex bench` that are no settings, or are otherwise here."""

_FLAGS = {setting: f"--{name.replace('_', '-')}" for name, setting in options.SETTINGS.items()}
_FLAGS |= {
    "environment.name": "the environment named",
    "environment.sampling": "--first",
    "environment.data": "--data",
    "environment.offline": "--offline",
    "memory_from": "--memory-from",
    "share_first_trial": "--[no-]share-first-trial",
}


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("config", epilog=EXAMPLES)(_with_options_of_bench(config))


def config(environment: str | None = None, **given: Any) -> None:
    """Print the configuration that `reflex bench` would run with these options, and where each value comes from."""
    from rich.console import Console
    from rich.text import Text

    from reflex_bench.harness.planning.origins import BUILT_IN, values_of, variables_of
    from reflex_bench.harness.planning.project_file import read_project
    from reflex_bench.harness.planning.resolving import resolve_sources
    from reflex_bench.harness.planning.sources import Source

    flags = {name: value for name, value in flags_of(environment, None, given).items() if value is not None}
    resolved, sources = resolve_sources(given["config"] or [], nest(flags), read_project(Path.cwd()))
    sources += [Source(nest({name: value}), pair=True, origin=_FLAGS[name]) for name, value in flags.items()]
    values = list(values_of(resolved, sources))
    width = max(len(each.key) for each in values)
    console = Console(soft_wrap=True, highlight=False)
    for each in values:
        style = "dim" if each.origin == BUILT_IN else ""
        console.print(Text(f"{each.key:<{width}}  {each.value:<24}  {each.origin}", style))
    console.print(Text("Options of the environment that are not named keep its own defaults."))
    for name, is_set in variables_of(resolved).items():
        console.print(Text(f"Environment variable {name}: {'set' if is_set else 'not set'}"))


def _with_options_of_bench(command: Callable[..., None]) -> Callable[..., None]:
    """A command that is parsed as `reflex bench` is, with an environment that need not be named."""
    annotations = get_type_hints(bench, include_extras=True)
    taken = [
        each.replace(annotation=annotations[name])
        for name, each in inspect.signature(bench).parameters.items()
        if name not in _OTHERWISE
    ]
    argument = Annotated[str | None, typer.Argument(help="alfworld, hotpotqa, or the name of a plug-in.")]
    first = inspect.Parameter(
        "environment", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=argument
    )

    @functools.wraps(command)
    def parsed(**given: Any) -> None:
        command(**given)

    parsed.__signature__ = inspect.Signature([first, *taken])  # type: ignore[attr-defined]
    parsed.__annotations__ = {each.name: each.annotation for each in (first, *taken)}
    del parsed.__wrapped__
    return parsed
