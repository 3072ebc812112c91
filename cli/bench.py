"""`reflex bench` and `reflex resume`: running experiments."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from reflex_bench.cli.places import Results, run_path
from reflex_bench.cli.running import carry_out, check_models, repeat, resumable, start
from reflex_bench.harness.errors import UsageError

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress, only the table at the end.")]
MaxConnections = Annotated[int | None, typer.Option(help="Model calls at a time [default: 16].")]
MaxWorkers = Annotated[
    int | None, typer.Option(help="Tasks in work at a time [default: as many as connections; simulated: 1].")
]
CostLimit = Annotated[float | None, typer.Option(help="Stop when so many US dollars are spent.")]
TokenLimit = Annotated[int | None, typer.Option(help="Stop when so many tokens are used.")]
TimeLimit = Annotated[str | None, typer.Option(help="Stop after this time, e.g. 90m or 8h.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command()(bench)
    app.command()(resume)


def bench(
    environment: Annotated[str, typer.Argument(help="alfworld, hotpotqa, or the name of a plug-in.")],
    trials: Annotated[
        int | None, typer.Option("--trials", "-n", help="Trials of each task [default: 3].")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Instead: independent attempts, for the unbiased pass@k and pass^k.")
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Run it all with so many seeds, and print mean and spread.")
    ] = 1,
    tasks: Annotated[
        int | None,
        typer.Option(
            help="How many tasks of the split, each type in proportion, drawn by --seed [default: all]."
        ),
    ] = None,
    first: Annotated[
        bool, typer.Option("--first", help="With --tasks N: the first N by id instead.", show_default=False)
    ] = False,
    arms: Annotated[
        str | None, typer.Option(help="Which arms, e.g. react,reflexion [default: both].")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="simulated, openai/<name>, or replay:<run> [default: simulated]."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="An OpenAI-compatible endpoint [default: OPENAI_BASE_URL].")
    ] = None,
    api: Annotated[
        str | None, typer.Option(help="chat, or completions for base models [default: chat].")
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="Of actor and reflector [default: 0.7].")] = None,
    split: Annotated[
        str | None, typer.Option(help="E.g. procedural, procedural:seed=7, valid_unseen.")
    ] = None,
    data: Annotated[str | None, typer.Option(help="Where official data lies.")] = None,
    task_id: Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")] = None,
    task_type: Annotated[str | None, typer.Option(help="Only tasks of this type.")] = None,
    engine: Annotated[str | None, typer.Option(help="ALFWorld: native or official.")] = None,
    sample: Annotated[str | None, typer.Option(help="HotPotQA: reflexion-100 or react-500.")] = None,
    corpus: Annotated[
        str | None, typer.Option(help="HotPotQA: what is searched: split, question, file:PATH or wikipedia.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="HotPotQA: wikipedia answers from its snapshot alone.")
    ] = False,
    profile: Annotated[
        str | None, typer.Option(help="HotPotQA: wording of observations: reflex, react or reflexion.")
    ] = None,
    success: Annotated[str | None, typer.Option(help="HotPotQA: em, contains, or f1>=0.8.")] = None,
    max_steps: Annotated[
        int | None, typer.Option(help="Steps of one trial [default: the environment's].")
    ] = None,
    memory_size: Annotated[int | None, typer.Option(help="Reflections shown [default: 3].")] = None,
    memory: Annotated[
        str | None, typer.Option(help="sliding, retrieval or strategy [default: sliding].")
    ] = None,
    memory_from: Annotated[str | None, typer.Option(help="A run whose memory this one begins with.")] = None,
    evaluator: Annotated[
        str | None, typer.Option(help="Who decides that a trial failed: environment, heuristic or model.")
    ] = None,
    parse: Annotated[str | None, typer.Option(help="strict, repair or admissible [default: repair].")] = None,
    actions: Annotated[
        str | None, typer.Option(help="text, or tools for native tool calls (HotPotQA) [default: text].")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of all sampling [default: 0].")] = None,
    share_first_trial: Annotated[
        bool | None,
        typer.Option(
            "--share-first-trial/--no-share-first-trial",
            help="Run a trial that is the same experiment in several arms once [default: share].",
            show_default=False,
        ),
    ] = None,
    max_connections: MaxConnections = None,
    max_workers: MaxWorkers = None,
    cost_limit: CostLimit = None,
    token_limit: TokenLimit = None,
    time_limit: TimeLimit = None,
    config: Annotated[
        list[str] | None,
        typer.Option("--config", "-c", help="A YAML file, a shipped profile, or key=value; may be repeated."),
    ] = None,
    results: Results = None,
    run_id: Annotated[
        str | None, typer.Option(help="Name of the run directory [default: time and environment].")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and an estimate; call no model.")
    ] = False,
    quiet: Quiet = False,
) -> int:
    """Run agents on an environment for N trials and print the pass@k table."""
    from reflex_bench.harness.config import resolve

    if first and tasks is None:
        raise UsageError("--first goes with --tasks N: it takes the first N by id")
    if model is not None and model.startswith("replay:"):
        model = f"replay:{run_path(model.removeprefix('replay:'), results)}"
    flags = nest(
        {
            "environment.name": environment,
            "environment.split": split,
            "environment.data": str(Path(data).resolve()) if data else None,
            "environment.task_ids": task_id or None,
            "environment.task_type": task_type,
            "environment.engine": engine,
            "environment.sample": sample,
            "environment.sampling": "first" if first else None,
            "environment.corpus": corpus,
            "environment.offline": offline or None,
            "environment.profile": profile,
            "environment.success": success,
            "tasks": tasks,
            "trials": trials,
            "samples": samples,
            "seed": seed,
            "arms": arms or ("react" if samples else None),
            "model.model": model,
            "model.temperature": temperature,
            "endpoint.base_url": base_url,
            "endpoint.api": api,
            "memory.kind": memory,
            "memory.size": memory_size,
            "memory_from": str(run_path(memory_from, results)) if memory_from else None,
            "evaluator": evaluator,
            "limits.max_steps": max_steps,
            "limits.parse": parse,
            "limits.actions": actions,
            "limits.max_connections": max_connections,
            "limits.max_workers": max_workers,
            "limits.cost": cost_limit,
            "limits.tokens": token_limit,
            "limits.time": time_limit,
            "share_first_trial": share_first_trial,
        }
    )
    resolved = resolve(config or [], flags)
    if seeds == 1 or dry_run:
        return start(resolved, results, run_id, dry_run, quiet)
    return repeat(resolved, seeds, results, run_id, quiet)


def resume(
    run: Annotated[str, typer.Argument(help="A run directory, or its name in the results directory.")],
    max_connections: MaxConnections = None,
    max_workers: MaxWorkers = None,
    cost_limit: CostLimit = None,
    token_limit: TokenLimit = None,
    time_limit: TimeLimit = None,
    results: Results = None,
    quiet: Quiet = False,
) -> int:
    """Go on with a run that was interrupted; only what is owed is done, and no answered call is made again."""
    from reflex_bench.harness.config import checked, merge
    from reflex_bench.harness.manifest import check_same, config_of, recall
    from reflex_bench.harness.plan import make_plan
    from reflex_bench.harness.store import Store

    changes = nest(
        {
            "limits.max_connections": max_connections,
            "limits.max_workers": max_workers,
            "limits.cost": cost_limit,
            "limits.tokens": token_limit,
            "limits.time": time_limit,
        }
    )
    path = run_path(run, results)
    with (
        resumable(path),
        closing(Store(path)) as store,
        closing(make_plan(checked(merge(config_of(store.manifest), changes)))) as plan,
    ):
        check_same(plan, store.manifest)
        recall(plan, store.manifest)
        return carry_out(plan, store, quiet, check_models(plan) if store.unfinished() else [])


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
