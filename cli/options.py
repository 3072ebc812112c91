"""The options of `reflex bench` and `reflex resume`, in groups, each with its default in its help."""

from __future__ import annotations

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


Trials = Annotated[int | None, option(TASKS, "Trials of each task.", "--trials", "-n", default="3")]
Samples = Annotated[
    int | None,
    option(
        TASKS,
        "Instead of trials: independent attempts at each task, for the unbiased pass@k and pass^k.",
        default="none",
    ),
]
Seeds = Annotated[
    int, option(TASKS, "Run it all with so many seeds, and print mean and spread.", min=1, default="1")
]
Seed = Annotated[int | None, option(TASKS, "Of all sampling.", default="0")]
Tasks = Annotated[
    int | None,
    option(
        TASKS,
        "How many tasks of the split, each type in proportion, drawn by --seed.",
        default="all",
    ),
]
First = Annotated[bool, option(TASKS, "With --tasks N: the first N by id instead.", "--first", default="off")]
Arms = Annotated[
    str | None,
    option(TASKS, "Which arms, e.g. react or react,cot.", default="react,reflexion; samples: react"),
]
Split = Annotated[
    str | None, option(TASKS, "E.g. procedural:seed=7, valid_unseen, distractor.", default="procedural")
]
Data = Annotated[str | None, option(TASKS, "Where official data lies.", default="the environment's place")]
TaskId = Annotated[
    list[str] | None, option(TASKS, "Only this task; may be repeated.", metavar="<str>", default="all")
]
TaskType = Annotated[
    str | None,
    option(
        TASKS, "Only tasks of this type, e.g. ALFWorld: heat; HotPotQA: bridge or comparison.", default="all"
    ),
]
Engine = Annotated[str | None, option(TASKS, "ALFWorld: native or official.", default="native")]
Sample = Annotated[str | None, option(TASKS, "HotPotQA: reflexion-100 or react-500.", default="none")]
Corpus = Annotated[
    str | None,
    option(TASKS, "HotPotQA: what is searched: split, question, file:PATH or wikipedia.", default="split"),
]
Offline = Annotated[
    bool,
    option(TASKS, "HotPotQA: wikipedia answers from its snapshot alone.", "--offline", default="off"),
]
Profile = Annotated[
    str | None,
    option(TASKS, "HotPotQA: wording of observations: reflex, react or reflexion.", default="reflex"),
]
Success = Annotated[str | None, option(TASKS, "HotPotQA: em, contains, or f1>=0.8.", default="em")]

Model = Annotated[
    str | None,
    option(MODEL, "simulated, openai/<name>, or replay:<run>.", "--model", "-m", default="simulated"),
]
BaseUrl = Annotated[str | None, option(MODEL, "An OpenAI-compatible endpoint.", default="OPENAI_BASE_URL")]
Api = Annotated[str | None, option(MODEL, "chat, responses, or completions for base models.", default="chat")]
Temperature = Annotated[
    float | None, option(MODEL, "Of actor and reflector; a judge has its own.", default="0.7")
]
Parse = Annotated[
    str | None,
    option(MODEL, "How freely replies are read: strict, repair, or admissible (ALFWorld).", default="repair"),
]
Actions = Annotated[
    str | None, option(MODEL, "text, or tools for native tool calls (HotPotQA).", default="text")
]

MemorySize = Annotated[int | None, option(REFLEXION, "Reflections shown.", default="3")]
Memory = Annotated[str | None, option(REFLEXION, "sliding, retrieval or strategy.", default="sliding")]
MemoryFrom = Annotated[
    str | None, option(REFLEXION, "A run whose memory this one begins with.", default="none")
]
Evaluator = Annotated[
    str | None,
    option(
        REFLEXION, "Who decides that a trial failed: environment, heuristic or model.", default="environment"
    ),
]
Shared = Annotated[
    bool,
    option(
        REFLEXION,
        "Run a trial that is the same experiment in several arms once.",
        "--share-first-trial",
        default="on",
    ),
]
Apart = Annotated[bool, option(REFLEXION, "Run it in each of them.", "--no-share-first-trial", default="off")]

MaxSteps = Annotated[
    int | None, option(LIMITS, "Steps of one trial.", default="the environment's; ALFWorld 30, HotPotQA 7")
]
MaxConnections = Annotated[
    int | None,
    option(LIMITS, "Model calls at a time.", default="16; a server on this machine: as many as it has slots"),
]
MaxWorkers = Annotated[
    int | None,
    option(LIMITS, "Tasks in work at a time.", default="as many as connections; simulated: 1"),
]
CostLimit = Annotated[float | None, option(LIMITS, "Stop when so many US dollars are spent.", default="none")]
TokenLimit = Annotated[int | None, option(LIMITS, "Stop when so many tokens are used.", default="none")]
TimeLimit = Annotated[str | None, option(LIMITS, "Stop after this time, e.g. 90m or 8h.", default="none")]

Sources = Annotated[
    list[str] | None,
    option(
        OUTPUT,
        "A YAML file, a shipped profile (paper, production, upstream-code), or key=value; may be repeated.",
        *("--config", "-c"),
        metavar="<str>",
        default="none",
    ),
]
RunId = Annotated[str | None, option(OUTPUT, "Name of the run directory.", default="time and environment")]
DryRun = Annotated[
    bool, option(OUTPUT, "Print the plan and an estimate; call no model.", "--dry-run", default="off")
]
Quiet = Annotated[
    bool, option(OUTPUT, "Show no progress, only the table at the end.", "--quiet", "-q", default="off")
]

Results = Annotated[Path | None, option(OUTPUT, *RESULTS, default=RESULTS_DEFAULT)]

AS_BEGUN = "as the run began"
OtherBaseUrl = Annotated[
    str | None, option(MODEL, "Another address of the endpoint.", "--base-url", default=AS_BEGUN)
]
OtherConnections = Annotated[
    int | None, option(LIMITS, "Model calls at a time.", "--max-connections", default=AS_BEGUN)
]
OtherWorkers = Annotated[
    int | None, option(LIMITS, "Tasks in work at a time.", "--max-workers", default=AS_BEGUN)
]
OtherCostLimit = Annotated[
    float | None,
    option(LIMITS, "Stop when the run has cost so many US dollars.", "--cost-limit", default=AS_BEGUN),
]
OtherTokenLimit = Annotated[
    int | None,
    option(LIMITS, "Stop when the run has used so many tokens.", "--token-limit", default=AS_BEGUN),
]
OtherTimeLimit = Annotated[
    str | None, option(LIMITS, "Stop after this time, e.g. 90m or 8h.", "--time-limit", default=AS_BEGUN)
]
OtherSettings = Annotated[
    list[str] | None,
    option(
        OUTPUT,
        "key=value, of what does not bear on how a trial is played, e.g. endpoint.timeout=5m; may be repeated.",
        *("--config", "-c"),
        metavar="<str>",
        default=AS_BEGUN,
    ),
]

SETTINGS = {
    "split": "environment.split",
    "task_id": "environment.task_ids",
    "task_type": "environment.task_type",
    "engine": "environment.engine",
    "sample": "environment.sample",
    "corpus": "environment.corpus",
    "profile": "environment.profile",
    "success": "environment.success",
    "tasks": "tasks",
    "trials": "trials",
    "samples": "samples",
    "seed": "seed",
    "arms": "arms",
    "model": "model.model",
    "temperature": "model.temperature",
    "base_url": "endpoint.base_url",
    "api": "endpoint.api",
    "memory": "memory.kind",
    "memory_size": "memory.size",
    "evaluator": "evaluator",
    "max_steps": "limits.max_steps",
    "parse": "limits.parse",
    "actions": "limits.actions",
    "max_connections": "limits.max_connections",
    "max_workers": "limits.max_workers",
    "cost_limit": "limits.cost",
    "token_limit": "limits.tokens",
    "time_limit": "limits.time",
}
"""The setting that an option gives as it stands; what the others do is in `reflex_bench.cli.bench`."""
