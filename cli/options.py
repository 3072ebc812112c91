"""The options of `reflex bench` and `reflex resume`, in groups, each with its default in its help.

A command takes a group as one parameter: see `reflex_bench.cli.arguments.grouped`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

TASKS = "What to run"
MODEL = "Model"
REFLEXION = "Reflexion"
LIMITS = "Limits"
OUTPUT = "Configuration and output"

RESULTS, RESULTS_DEFAULT = ("Where runs lie.", "--results"), "./results, or REFLEX_BENCH_RESULTS"


def option(group: str | None, text: str, *names: str, default: str, **more: Any) -> Any:
    """An option whose help ends with its default.

    Args:
        group: the panel in which it stands; None: with the other options of a small command.
        text: what it does.
        names: `--name` and `-n`; none: made from the parameter's name.
        default: what holds where the option is not given. It stands in the configuration, or follows from other
            settings, so the command line cannot tell by itself.
        more: as `typer.Option` takes it.
    """
    # Square brackets are markup to the help's renderer.
    shown = f"{text} \\[default: {default}]".replace(" [", " \\[")
    return typer.Option(*names, help=shown, show_default=False, rich_help_panel=group, **more)


Seeds = Annotated[
    int, option(TASKS, "Run it all with so many seeds, and print mean and spread.", min=1, default="1")
]
Sources = Annotated[
    list[str] | None,
    option(
        OUTPUT,
        "A YAML file, a shipped profile (paper, production, tools-arms, tools-production, upstream-code), or "
        "key=value; may be repeated.",
        *("--config", "-c"),
        metavar="<str>",
        default="none",
    ),
]
Results = Annotated[Path | None, option(OUTPUT, *RESULTS, default=RESULTS_DEFAULT)]
Quiet = Annotated[
    bool, option(OUTPUT, "Show no progress, only the table at the end.", "--quiet", "-q", default="off")
]


@dataclass(frozen=True, slots=True)
class Length:
    """How often each task is played."""

    trials: Annotated[int | None, option(TASKS, "Trials of each task.", "--trials", "-n", default="3")] = None
    samples: Annotated[
        int | None,
        option(
            TASKS,
            "Instead of trials: independent attempts at each task, for the unbiased pass@k and pass^k.",
            default="none",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tasks are played, by which arms."""

    seed: Annotated[int | None, option(TASKS, "Of all sampling.", default="0")] = None
    tasks: Annotated[
        int | None,
        option(
            TASKS,
            "How many tasks of the split, each type in proportion, drawn by --seed.",
            default="all",
        ),
    ] = None
    first: Annotated[
        bool, option(TASKS, "With --tasks N: the first N by id instead.", "--first", default="off")
    ] = False
    arms: Annotated[
        str | None,
        option(TASKS, "Which arms, e.g. react or react,cot.", default="react,reflexion; samples: react"),
    ] = None
    split: Annotated[
        str | None, option(TASKS, "E.g. procedural:seed=7, valid_unseen, distractor.", default="procedural")
    ] = None
    data: Annotated[
        str | None, option(TASKS, "Where official data lies.", default="the environment's place")
    ] = None
    task_id: Annotated[
        list[str] | None, option(TASKS, "Only this task; may be repeated.", metavar="<str>", default="all")
    ] = None
    task_type: Annotated[
        str | None,
        option(
            TASKS,
            "Only tasks of this type, e.g. ALFWorld: heat; HotPotQA: bridge or comparison.",
            default="all",
        ),
    ] = None
    engine: Annotated[str | None, option(TASKS, "ALFWorld: native or official.", default="native")] = None
    sample: Annotated[str | None, option(TASKS, "HotPotQA: reflexion-100 or react-500.", default="none")] = (
        None
    )
    corpus: Annotated[
        str | None,
        option(
            TASKS, "HotPotQA: what is searched: split, question, file:PATH or wikipedia.", default="split"
        ),
    ] = None
    offline: Annotated[
        bool,
        option(TASKS, "HotPotQA: wikipedia answers from its snapshot alone.", "--offline", default="off"),
    ] = False
    profile: Annotated[
        str | None,
        option(TASKS, "HotPotQA: wording of observations: reflex, react or reflexion.", default="reflex"),
    ] = None
    success: Annotated[str | None, option(TASKS, "HotPotQA: em, contains, or f1>=0.8.", default="em")] = None
    faults: Annotated[
        str | None,
        option(TASKS, "Tools: none, light, storm, FILE, or e.g. ghost=0.3,timeout_done=0.1.", default="none"),
    ] = None
    world: Annotated[
        str | None,
        option(TASKS, "Tools: fresh, or carried from trial to trial of a task.", default="fresh"),
    ] = None


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which model is asked, where and how."""

    model: Annotated[
        str | None,
        option(MODEL, "simulated, openai/<name>, or replay:<run>.", "--model", "-m", default="simulated"),
    ] = None
    base_url: Annotated[
        str | None, option(MODEL, "An OpenAI-compatible endpoint.", default="OPENAI_BASE_URL")
    ] = None
    api: Annotated[
        str | None, option(MODEL, "chat, responses, or completions for base models.", default="chat")
    ] = None
    temperature: Annotated[
        float | None, option(MODEL, "Of actor and reflector; a judge has its own.", default="0.7")
    ] = None
    parse: Annotated[
        str | None,
        option(
            MODEL, "How freely replies are read: strict, repair, or admissible (ALFWorld).", default="repair"
        ),
    ] = None
    actions: Annotated[
        str | None, option(MODEL, "text, or tools for native tool calls (HotPotQA).", default="text")
    ] = None


@dataclass(frozen=True, slots=True)
class Learning:
    """What is made of a failed trial."""

    memory_size: Annotated[int | None, option(REFLEXION, "Reflections shown.", default="3")] = None
    memory: Annotated[str | None, option(REFLEXION, "sliding, retrieval or strategy.", default="sliding")] = (
        None
    )
    memory_from: Annotated[
        str | None, option(REFLEXION, "A run whose memory this one begins with.", default="none")
    ] = None
    evaluator: Annotated[
        str | None,
        option(
            REFLEXION,
            "Who decides that a trial failed: environment, heuristic or model.",
            default="environment",
        ),
    ] = None
    share_first_trial: Annotated[
        bool,
        option(
            REFLEXION,
            "Run a trial that is the same experiment in several arms once.",
            "--share-first-trial",
            default="on",
        ),
    ] = False
    no_share_first_trial: Annotated[
        bool, option(REFLEXION, "Run it in each of them.", "--no-share-first-trial", default="off")
    ] = False


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What ends a trial or a run."""

    max_steps: Annotated[
        int | None,
        option(LIMITS, "Steps of one trial.", default="the environment's; ALFWorld 30, HotPotQA 7"),
    ] = None
    max_connections: Annotated[
        int | None,
        option(
            LIMITS, "Model calls at a time.", default="16; a server on this machine: as many as it has slots"
        ),
    ] = None
    max_workers: Annotated[
        int | None,
        option(LIMITS, "Tasks in work at a time.", default="as many as connections; simulated: 1"),
    ] = None
    cost_limit: Annotated[
        float | None, option(LIMITS, "Stop when so many US dollars are spent.", default="none")
    ] = None
    token_limit: Annotated[
        int | None, option(LIMITS, "Stop when so many tokens are used.", default="none")
    ] = None
    time_limit: Annotated[
        str | None, option(LIMITS, "Stop after this time, e.g. 90m or 8h.", default="none")
    ] = None


@dataclass(frozen=True, slots=True)
class Output:
    """Where a run lies and what is printed of it."""

    results: Results = None
    run_id: Annotated[
        str | None, option(OUTPUT, "Name of the run directory.", default="time and environment")
    ] = None
    dry_run: Annotated[
        bool, option(OUTPUT, "Print the plan and an estimate; call no model.", "--dry-run", default="off")
    ] = False
    quiet: Quiet = False


SETTINGS = {
    **{name: name for name in ("tasks", "trials", "samples", "seed", "arms", "evaluator")},
    **{
        name: f"environment.{name}"
        for name in (
            "split",
            "task_type",
            "engine",
            "sample",
            "corpus",
            "profile",
            "success",
            "faults",
            "world",
        )
    },
    "task_id": "environment.task_ids",
    "model": "model.model",
    "temperature": "model.temperature",
    "base_url": "endpoint.base_url",
    "api": "endpoint.api",
    "memory": "memory.kind",
    "memory_size": "memory.size",
    **{
        name: f"limits.{name}" for name in ("max_steps", "parse", "actions", "max_connections", "max_workers")
    },
    "cost_limit": "limits.cost",
    "token_limit": "limits.tokens",
    "time_limit": "limits.time",
}
"""The setting that an option gives as it stands; what the others do is in `reflex_bench.cli.bench`."""
