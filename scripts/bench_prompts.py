#!/usr/bin/env python
"""Measures how a model does with different ways of being shown an episode: every variant on the same tasks, one trial.

    scripts/bench prompts --model openai/NAME --base-url URL [--variants text,turns,zero-shot] [--tasks 20]

Each variant is a run of its own under `--cache` (results/prompts unless given). What was played there is not played
again, a run that was broken off is gone on with, and one whose prompts have changed since is played anew. Prints a
table for each environment: what went wrong, what it took, and the difference to the first variant with a paired
interval.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflex_bench.agents.conversation import ASKED_FOR_ACTION, ASKED_ONCE_MORE
from reflex_bench.core.errors import ReflexError, unknown
from reflex_bench.harness.planning.arms import fingerprint
from reflex_bench.harness.planning.plan import make_plan
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.harness.reporting.statistics.intervals import paired_bootstrap
from reflex_bench.harness.storage.run_data import read_run
from reflex_bench.harness.storage.trials import recorded

VARIANTS: Mapping[str, tuple[str, ...]] = {
    "turns": (),
    "text": ("endpoint.api=completions",),
    "text-in-chat": ("layout.form=text",),
    "zero-shot": ("examples=0",),
    "two-examples": ("examples=2",),
    "examples-in-one-message": ("layout.examples=message",),
    "no-labels": ("layout.labels=false",),
    "instruction-last": ("layout.instruction=last",),
    "prefill": ("layout.prefill=true",),
    "tools": ("limits.actions=tools",),
    "published": ("endpoint.api=completions", "layout.form=text", "layout.structure=published"),
}
"""The settings of each variant; what they do not say is at its default."""

WITHOUT: Mapping[str, tuple[str, ...]] = {"alfworld": ("tools", "no-labels", "prefill", "two-examples")}
"""Variants that are none in an environment: it has no tools, no labels, or not more than two examples."""

MEASURES = ("unparsed", "without action", "invalid", "asked again", "steps", "tokens", "solved")
"""Shares are of a task's turns; `without action` are turns that the environment had nothing to execute of, those in
which ALFWorld's agent thinks included."""


@dataclass(frozen=True, slots=True)
class Played:
    """One variant in one environment: by task, what each of `MEASURES` came to."""

    variant: str
    tasks: Mapping[str, Mapping[str, float]]


def measured(row: Mapping[str, Any]) -> dict[str, float]:
    """The measures of one recorded trial; tokens are NaN where the server did not say."""
    steps = row["trajectory"]
    turns = max(1, len(steps))
    again = sum(repair in (ASKED_ONCE_MORE, ASKED_FOR_ACTION) for step in steps for repair in step["repairs"])
    tokens = [row.get(name) for name in ("prompt_tokens", "completion_tokens")]
    known = [count for count in tokens if count is not None]
    return {
        "unparsed": sum(step["error"] is not None for step in steps) / turns,
        "without action": sum(step["action"] is None for step in steps) / turns,
        "invalid": sum(step["action"] is not None and not step["valid"] for step in steps) / turns,
        "asked again": again / turns,
        "steps": float(len(steps)),
        "tokens": float(sum(known)) if len(known) == len(tokens) else float("nan"),
        "solved": float(row["success"]),
    }


def play(environment: str, variant: str, options: argparse.Namespace) -> Played:
    """Plays what is still owed of a variant, and reads what is there.

    Raises:
        ReflexError: the variant cannot be planned, or nothing was recorded.
    """
    sources = [*VARIANTS[variant], *options.config]
    settings = {"environment": {"name": environment}, "tasks": options.tasks, "trials": 1, "arms": ["react"]}
    settings["model"] = {"model": options.model}
    plan = make_plan(resolve(sources, settings | {"endpoint": {"base_url": options.base_url}}))
    plan.close()
    name = fingerprint([dict(plan.arms[0].settings), plan.split.fingerprint])
    run = Path(options.cache) / f"{environment}-{variant}-{name}"
    if not options.read:
        given = ["--tasks", str(options.tasks), "--trials", "1", "--arms", "react", "--model", options.model]
        given += ["--base-url", options.base_url] if options.base_url else []
        given += [part for source in sources for part in ("-c", source)]
        new = ["bench", environment, *given, "--results", str(run.parent), "--run-id", run.name]
        called = ["resume", str(run)] if run.exists() else new
        start = "from reflex_bench.cli.main import run; run()"
        subprocess.run([sys.executable, "-c", start, *called, "-q"], stdout=subprocess.DEVNULL, check=False)
    read_run(run)
    rows = recorded(run / "trajectories" / "react.trial-1.jsonl")
    return Played(variant, {row["task"]: measured(row) for row in rows if row["success"] is not None})


def mean(played: Played, measure: str, tasks: Sequence[str]) -> float:
    """Of a measure, over tasks."""
    return sum(played.tasks[task][measure] for task in tasks) / max(1, len(tasks))


def table(environment: str, played: Sequence[Played]) -> str:
    """The variants as Markdown; differences are to the first one, over the tasks that both have."""
    base = played[0]
    lines = [f"### {environment}", "", f"| variant | tasks | {' | '.join(MEASURES)} |"]
    lines.append("|---" * (len(MEASURES) + 2) + "|")
    for each in played:
        cells = [each.variant, str(len(each.tasks))]
        for measure in MEASURES:
            cell = _shown(measure, mean(each, measure, list(each.tasks)))
            shared = [task for task in base.tasks if task in each.tasks]
            if each is not base and len(shared) > 1:
                gaps = [each.tasks[task][measure] - base.tasks[task][measure] for task in shared]
                low, high = paired_bootstrap(gaps)
                cell += f" [{_shown(measure, low, True)}, {_shown(measure, high, True)}]"
            cells.append(cell)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _shown(measure: str, value: float, signed: bool = False) -> str:
    sign = "+" if signed else ""
    if measure in ("steps", "tokens"):
        return f"{value:{sign}.{1 if measure == 'steps' else 0}f}"
    return f"{100 * value:{sign}.0f}" + ("" if signed else " %")


def main() -> int:
    """Plays and prints; 2 where something asked for does not exist."""
    parser = argparse.ArgumentParser(prog="scripts/bench prompts", description=__doc__.partition("\n")[0])
    parser.add_argument("--model", required=True, help="e.g. openai/NAME, or simulated to try this script")
    parser.add_argument("--base-url", help="an OpenAI-compatible endpoint")
    parser.add_argument("--environments", default="hotpotqa,alfworld")
    parser.add_argument("--variants", default=",".join(VARIANTS), help=f"out of {', '.join(VARIANTS)}")
    parser.add_argument("--tasks", type=int, default=20, help="of each environment; 20 unless given")
    parser.add_argument("--cache", default="results/prompts", help="where the runs lie")
    parser.add_argument("--read", action="store_true", help="play nothing, print what is there")
    parser.add_argument("-c", "--config", action="append", default=[], help="a setting of every run")
    options = parser.parse_args()
    try:
        variants = options.variants.split(",")
        for name in variants:
            if name not in VARIANTS:
                raise unknown("variant", name, VARIANTS)
        for environment in options.environments.split(","):
            fitting = [name for name in variants if name not in WITHOUT.get(environment, ())]
            print(
                table(environment, [play(environment, name, options) for name in fitting]) + "\n", flush=True
            )
    except ReflexError as error:
        print(f"bench prompts: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
