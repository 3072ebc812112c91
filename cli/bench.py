"""`reflex bench` and `reflex resume`: running experiments."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reflex_bench.cli import options
from reflex_bench.cli.arguments import resuming
from reflex_bench.cli.arguments.completing import environments, run_names
from reflex_bench.cli.arguments.grouped import spread, values_of
from reflex_bench.cli.arguments.places import run_path
from reflex_bench.cli.running import carry_out, check_models, preview, repeat, resumable, start
from reflex_bench.core.errors import UsageError

if TYPE_CHECKING:
    from reflex_bench.harness.planning.config import Config

BENCH_EXAMPLES = r"""Examples:

  reflex bench alfworld --tasks 20
  reflex bench hotpotqa -m openai/gpt-4o-mini --tasks 50 --cost-limit 2
  reflex bench alfworld -m openai/qwen --base-url http://127.0.0.1:8080/v1
  reflex bench alfworld -c paper --dry-run
  reflex bench hotpotqa -c reflector=structured -c memory=strategy
  reflex bench alfworld -c arms.reflexion.memory.size=1
"""

RESUME_EXAMPLES = r"""Examples:

  reflex resume latest
  reflex resume my-run --cost-limit 5
  reflex resume my-run --max-connections 2 -c endpoint.timeout=5m
"""


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command(epilog=BENCH_EXAMPLES)(spread(bench))
    app.command(epilog=RESUME_EXAMPLES)(spread(resume))


def bench(
    environment: Annotated[
        str, typer.Argument(help="alfworld, hotpotqa, or the name of a plug-in.", autocompletion=environments)
    ],
    *,
    length: options.Length,
    seeds: options.Seeds = 1,
    selection: options.Selection,
    model: options.ModelChoice,
    learning: options.Learning,
    limits: options.RunLimits,
    config: options.Sources = None,
    output: options.Output,
) -> int:
    """Run agents on an environment for N trials and print the pass@k table."""
    given = values_of(length, selection, model, learning, limits)
    resolved = configured(environment, config or [], output.results, given)
    if output.dry_run:
        return preview(resolved, seeds)
    if seeds == 1:
        return start(resolved, output.results, output.run_id, output.quiet)
    return repeat(resolved, seeds, output.results, output.run_id, output.quiet)


def configured(
    environment: str, sources: list[str], results: Path | None, given: Mapping[str, Any]
) -> Config:
    """The configuration that a command line describes, on top of the defaults of the working directory.

    Args:
        environment: its name.
        sources: after `--config`.
        results: where runs lie.
        given: the other options by the names of their parameters; None where they were not given.

    Raises:
        UsageError: two options exclude one another, or a setting does not exist or is not allowed.
    """
    from reflex_bench.harness.planning.project_file import read_project
    from reflex_bench.harness.planning.resolving import resolve

    project = read_project(Path.cwd())
    resolved = resolve(sources, nest(flags_of(environment, results, given)), project)
    if project is not None:
        print(f"reflex: defaults come from {project.origin}; `reflex config` shows them", file=sys.stderr)
    if given["samples"] is not None and given["arms"] is None and list(resolved.arms) == ["react"]:
        why = "an arm that reflects has no independent samples; --arms chooses others"
        print(f"reflex: --samples runs the arm react alone: {why}", file=sys.stderr)
    return resolved


def flags_of(environment: str | None, results: Path | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that a command line gives, by their dotted names; None for those that it does not.

    Args:
        environment: its name; None where none is given.
        results: where runs lie.
        given: the other options by the names of their parameters; None where they were not given.

    Raises:
        UsageError: two options exclude one another.
    """
    if given["first"] and given["tasks"] is None:
        raise UsageError("--first goes with --tasks N: it takes the first N by id")
    if given["trials"] is not None and given["samples"] is not None:
        raise UsageError("--trials and --samples exclude one another: samples are taken instead of trials")
    if given["share_first_trial"] and given["no_share_first_trial"]:
        raise UsageError("--share-first-trial and --no-share-first-trial exclude one another")
    flags: dict[str, Any] = {setting: given[name] for name, setting in options.SETTINGS.items()}
    model, memory_from, data = given["model"], given["memory_from"], given["data"]
    if model is not None and model.startswith("replay:"):
        flags["model.model"] = f"replay:{run_path(model.removeprefix('replay:'), results)}"
    flags |= {
        "environment.name": environment,
        "environment.task_ids": given["task_id"] or None,
        "environment.sampling": "first" if given["first"] else None,
        "environment.data": str(Path(data).resolve()) if data else None,
        "environment.offline": given["offline"] or None,
        "memory_from": str(run_path(memory_from, results)) if memory_from else None,
    }
    if given["share_first_trial"] or given["no_share_first_trial"]:
        flags["share_first_trial"] = given["share_first_trial"]
    return flags


def resume(
    run: Annotated[
        str,
        typer.Argument(
            help="A run directory, its name in the results directory, or `latest`.", autocompletion=run_names
        ),
    ],
    *,
    given: resuming.ResumeChanges,
    results: options.Results = None,
    quiet: options.Quiet = False,
) -> int:
    """Go on with a run that was interrupted; only what is owed is done, and no answered call is made again."""
    from reflex_bench.harness.planning.layers import merge
    from reflex_bench.harness.planning.plan import make_plan
    from reflex_bench.harness.planning.resolving import checked
    from reflex_bench.harness.running.resuming import changes_of
    from reflex_bench.harness.storage.manifest import check_same, config_of, recall, with_recorded_prompts
    from reflex_bench.harness.storage.store import Store

    told = values_of(given)
    flags = {setting: told[name] for name, setting in options.SETTINGS.items() if name in told}
    changes = changes_of(given.config or [], nest(flags))
    path = run_path(run, results)
    with (
        resumable(path),
        closing(Store(path)) as store,
        closing(make_plan(checked(merge(config_of(store.manifest), changes)))) as plan,
    ):
        known, notes = with_recorded_prompts(plan, store.manifest)
        check_same(known, store.manifest)
        recall(known, store.manifest)
        warnings = [*notes, *check_models(known)] if store.unfinished() else []
        return carry_out(known, store, quiet, warnings, changes)


def nest(flags: dict[str, Any]) -> dict[str, Any]:
    """Dotted names as nested mappings; flags that were not given are left out."""
    nested: dict[str, Any] = {}
    for name, value in flags.items():
        if value is not None:
            *path, last = name.split(".")
            place = nested
            for part in path:
                place = place.setdefault(part, {})
            place[last] = value
    return nested
