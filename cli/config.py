"""`reflex config`: shows what a run would be configured with, and why; `reflex prompts`: what a model is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reflex_bench.cli import options
from reflex_bench.cli.arguments.grouped import spread, values_of
from reflex_bench.cli.bench import flags_of, nest

EXAMPLES = r"""Examples:

  reflex config
  reflex config -c paper --trials 5
  reflex config hotpotqa -m groq/llama-3.1-8b-instant
"""

PROMPTS_EXAMPLES = r"""Examples:

  reflex prompts alfworld > mine.yaml
  reflex bench alfworld -c prompts=mine.yaml
  reflex bench alfworld -c 'arms={react: , mine: {reflector: reflexion, prompts: mine.yaml}}'
  reflex bench hotpotqa -c prompts=engineer
"""

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
    """Adds the commands of this module."""
    app.command("config", epilog=EXAMPLES)(spread(config))
    app.command("prompts", epilog=PROMPTS_EXAMPLES)(prompts)


def config(
    environment: Annotated[
        str | None, typer.Argument(help="alfworld, hotpotqa, or the name of a plug-in.")
    ] = None,
    *,
    length: options.Length,
    selection: options.Selection,
    model: options.ModelChoice,
    learning: options.Learning,
    limits: options.RunLimits,
    config: options.Sources = None,
) -> None:
    """Print the configuration that `reflex bench` would run with these options, and where each value comes from."""
    from rich.console import Console
    from rich.text import Text

    from reflex_bench.harness.planning import origins
    from reflex_bench.harness.planning.project_file import read_project
    from reflex_bench.harness.planning.resolving import resolve_sources
    from reflex_bench.harness.planning.sources import SettingSource

    given = values_of(length, selection, model, learning, limits)
    flags = {name: value for name, value in flags_of(environment, None, given).items() if value is not None}
    resolved, sources = resolve_sources(config or [], nest(flags), read_project(Path.cwd()))
    sources += [
        SettingSource(nest({name: value}), pair=True, origin=_FLAGS[name]) for name, value in flags.items()
    ]
    values = list(origins.values_of(resolved, sources))
    width = max(len(each.key) for each in values)
    console = Console(soft_wrap=True, highlight=False)
    for each in values:
        style = "dim" if each.origin == origins.BUILT_IN else ""
        console.print(Text(f"{each.key:<{width}}  {each.value:<24}  {each.origin}", style))
    console.print(Text("Options of the environment that are not named keep its own defaults."))
    for name, is_set in origins.variables_of(resolved).items():
        console.print(Text(f"Environment variable {name}: {'set' if is_set else 'not set'}"))


def prompts(
    environment: Annotated[str, typer.Argument(help="alfworld, hotpotqa, or the name of a plug-in.")],
) -> None:
    """Print the prompts of an environment as YAML. A file with some of these keys replaces them: -c prompts=FILE."""
    from reflex_bench.envs.prompts.own import as_yaml
    from reflex_bench.harness.planning.opening import open_environment

    opened = open_environment({"name": environment})
    try:
        typer.echo(as_yaml(environment, opened.prompts), nl=False)
    finally:
        opened.close()
