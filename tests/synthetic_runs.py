"""Writes run directories whose rows are made up, for tests of everything that reads a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SETTINGS: dict[str, Any] = {
    "agent": "react",
    "model": "openai/synthetic-model",
    "temperature": 0.7,
    "max_tokens": 256,
    "reflector": "none",
    "memory": "none",
    "memory_size": 0,
    "evaluator": "environment",
    "feedback": "environment",
    "max_steps": 30,
    "parse": "repair",
    "prompt_hash": "0123456789abcdef",
    "environment": {"engine": "synthetic"},
}

REFLEXION = {"reflector": "reflexion", "memory": "sliding", "memory_size": 3}


def trial(arm: str, task: str, number: int, outcome: str = "failure", **changes: Any) -> dict[str, Any]:
    """The row of one made-up trial: ten steps, 1,000 tokens in, 100 out, a tenth of a dollar."""
    success = None if outcome == "error" else outcome == "success"
    return {
        "arm": arm,
        "task": task,
        "task_type": "put",
        "trial": number,
        "attempt": f"{arm}/{task}/{number}",
        "outcome": outcome,
        "success": success,
        "passed": bool(success),
        "steps": 10,
        "thoughts": 5,
        "invalid_actions": 1,
        "unparsed": 0,
        "repairs": 0,
        "repair_kinds": {},
        "calls": 10,
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "cached_tokens": 500,
        "cost": 0.1,
        "seconds": 1.0,
        "memory_shown": number - 1,
        "reflected": False,
        "reflection_tokens": 0,
        "digest": f"{arm}/{task}/{number}",
        "result": {},
        "error": "synthetic error" if outcome == "error" else None,
        **changes,
    }


def chain(arm: str, task: str, solved_at: int | None, trials: int, **changes: Any) -> list[dict[str, Any]]:
    """The rows of one task: failures up to the trial that solves it, or to the last."""
    numbers = range(1, (solved_at or trials) + 1)
    return [trial(arm, task, n, "success" if n == solved_at else "failure", **changes) for n in numbers]


def chains(arm: str, solved_at: Iterable[int | None], trials: int, **changes: Any) -> list[dict[str, Any]]:
    """`chain` for the tasks `t000`, `t001`, …"""
    return [
        row
        for index, at in enumerate(solved_at)
        for row in chain(arm, f"t{index:03d}", at, trials, **changes)
    ]


def write_run(
    path: Path,
    rows: Iterable[Mapping[str, Any]],
    *,
    arms: Mapping[str, Mapping[str, Any]],
    tasks: int,
    trials: int = 3,
    **info: Any,
) -> Path:
    """A run directory of made-up rows; `arms` holds what an arm has apart from `SETTINGS`."""
    path.mkdir(parents=True, exist_ok=True)
    settings = {
        name: SETTINGS | {"trials": trials, "settings_hash": name} | dict(own) for name, own in arms.items()
    }
    manifest = {
        "schema_version": 1,
        "run_id": path.name,
        "command": ["reflex", "bench", "synthetic"],
        "created": "2026-01-01T00:00:00+00:00",
        "status": "complete",
        "reflex_version": "0.0.0",
        "environment": {"name": "synthetic", "feedback": "environment", "settings": {"engine": "synthetic"}},
        "split": {"name": "made-up", "fingerprint": "ab" * 32, "tasks": tasks, "notes": []},
        "trials": trials,
        "seed": 0,
        "simulated": False,
        "arms": settings,
    }
    (path / "run.json").write_text(json.dumps(manifest | info), encoding="utf-8")
    with open(path / "trials.jsonl", "w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    return path


TWO = {"react": {}, "reflexion": REFLEXION}


def two_arms(path: Path, **info: Any) -> Path:
    """Ten tasks: react solves 4, 5, 5 within three trials, reflexion 4, 7, 8."""
    rows = chains("react", [1] * 4 + [2] + [None] * 5, 3)
    rows += chains("reflexion", [1] * 4 + [2] * 3 + [3] + [None] * 2, 3)
    return write_run(path / "run", rows, arms=TWO, tasks=10, **info)
