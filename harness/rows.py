"""The record of one trial as it stands in the files of a run, and back.

A line of `trajectories/<arm>.trial-<n>.jsonl` has every key; a line of `trials.jsonl` has all but the bulky ones, and
the wall time, which is kept out of the trajectories so that equal runs are equal files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from reflex_bench.agents.base import Step, Trajectory
from reflex_bench.agents.reflexion import Trial
from reflex_bench.envs.base import Task
from reflex_bench.models.base import Reply

BULKY = ("text", "opening", "memory", "trajectory", "reflection", "spent", "traceback")
"""The keys that only a reader of trajectories needs."""


@dataclass
class Spent:
    """What the model calls of one trial in one role took; None where any call did not say."""

    calls: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cached_tokens: int | None = 0
    cost: float | None = 0.0

    def add(self, reply: Reply) -> None:
        """Counts one reply."""
        self.calls += 1
        self.prompt_tokens = _plus(self.prompt_tokens, reply.usage.prompt_tokens)
        self.completion_tokens = _plus(self.completion_tokens, reply.usage.completion_tokens)
        self.cached_tokens = _plus(self.cached_tokens, reply.usage.cached_tokens)
        cost = _plus(self.cost, reply.cost)
        self.cost = None if cost is None else round(cost, 10)

    def __add__(self, other: Spent) -> Spent:
        mine, theirs = asdict(self), asdict(other)
        return Spent(**{key: _plus(mine[key], theirs[key]) for key in mine})


def _plus(so_far: Any, more: Any) -> Any:
    return None if so_far is None or more is None else so_far + more


@dataclass(frozen=True, slots=True)
class Where:
    """Which trial a row is about."""

    arm: str
    task: Task
    trial: int
    attempt: str

    def keys(self) -> dict[str, Any]:
        """The keys with which every row begins."""
        return {
            "arm": self.arm,
            "task": self.task.id,
            "task_type": self.task.type,
            "trial": self.trial,
            "attempt": self.attempt,
        }


def trial_row(where: Where, trial: Trial, acting: Spent, reflecting: Spent) -> dict[str, Any]:
    """The row of a trial that ran to its end.

    Args:
        where: which trial.
        trial: what happened, and what was written after it.
        acting, reflecting: what the calls in either role took.
    """
    played = trial.trajectory
    repairs = Counter(name for step in played.steps for name in step.repairs)
    reflection_tokens = _plus(reflecting.prompt_tokens, reflecting.completion_tokens)
    return {
        **where.keys(),
        "outcome": played.outcome,
        "success": played.success,
        "passed": trial.passed,
        "steps": len(played.steps),
        "thoughts": sum(bool(step.thought) for step in played.steps),
        "invalid_actions": sum(step.action is not None and not step.valid for step in played.steps),
        "unparsed": sum(step.error is not None for step in played.steps),
        "repairs": sum(repairs.values()),
        "repair_kinds": dict(sorted(repairs.items())),
        **asdict(acting + reflecting),
        "memory_shown": len(played.memory),
        "reflected": trial.reflection is not None,
        "reflection_tokens": reflection_tokens,
        "digest": played.digest,
        "result": dict(played.result),
        "error": None,
        "text": played.task.text,
        "memory": list(played.memory),
        "opening": played.opening,
        "trajectory": [asdict(step) for step in played.steps],
        "reflection": trial.reflection,
        "spent": {"actor": asdict(acting), "reflector": asdict(reflecting)},
    }


def error_row(
    where: Where, message: str, memory: tuple[str, ...], spent: Spent, trace: str | None
) -> dict[str, Any]:
    """The row of a trial that infrastructure ended: it says nothing about the agent, and success is unknown."""
    return {
        **where.keys(),
        "outcome": "error",
        "success": None,
        "passed": False,
        **asdict(spent),
        "memory_shown": len(memory),
        "result": {},
        "error": " ".join(message.split())[:1000],
        "text": where.task.text,
        "memory": list(memory),
        "traceback": trace,
    }


def read_trajectory(row: Mapping[str, Any], task: Task) -> Trajectory:
    """The trajectory that a row was made from."""
    steps = tuple(Step(**{**step, "repairs": tuple(step["repairs"])}) for step in row["trajectory"])
    return Trajectory(
        task, row["trial"], tuple(row["memory"]), row["opening"], steps, row["outcome"], row["result"]
    )


def brief(row: Mapping[str, Any]) -> dict[str, Any]:
    """A trial's short line: without what only a reader of trajectories needs."""
    return {key: value for key, value in row.items() if key not in BULKY}
