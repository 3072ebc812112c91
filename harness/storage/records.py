"""Record of one trial: makes the rows of a run's files, and reads them back.

A line of `trajectories/<arm>.trial-<n>.jsonl` has every key; a line of `trials.jsonl` has all but the bulky ones, and
the wall time, which is kept out of the trajectories so that equal runs are equal files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflex_bench.agents.base import Reflection, Step, Trajectory
from reflex_bench.agents.reflexion import Trial
from reflex_bench.envs.base import Task
from reflex_bench.harness.storage.journal import flat
from reflex_bench.models.base import Reply

BULKY = (
    *(
        "text",
        "opening",
        "memory",
        "memory_ids",
        "trajectory",
        "remark",
        "verdict",
        "reflection",
        "reflection_data",
    ),
    *("spent", "traceback", "lines", "ended"),
)
"""The keys that only a reader of trajectories needs."""

UNTOLD = "not recorded"
"""Stands on an imported run for every setting that its files do not name."""

RARE = ("reasoning_tokens", "reasoning_estimated", "asked_again", "cut_off", "lost_calls")
"""Counts that stand on a row only where they are not 0."""


@dataclass
class Spent:
    """What the model calls of one trial in one role took; None where any call did not say.

    Attributes:
        reasoning_tokens: those of the completions that were reasoning, as far as they are known.
        reasoning_estimated: how many of these were worked out from the lengths of texts.
        asked_again: calls whose reply needed more room.
        cut_off: calls whose reply did not come to its end with the most room.
        lost_calls: answers that were empty and asked for again.
    """

    calls: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cached_tokens: int | None = 0
    cost: float | None = 0.0
    prompt_characters: int = 0
    repeated_characters: int = 0
    reasoning_tokens: int = 0
    reasoning_estimated: int = 0
    asked_again: int = 0
    cut_off: int = 0
    lost_calls: int = 0

    def add(self, reply: Reply, characters: int, repeated: int) -> None:
        """Counts what one answer took; a call that was asked again has several, and counts once (`calls`).

        Args:
            reply: what came back.
            characters: of the prompt.
            repeated: of these, how many only repeat the beginning of the prompt before, which a prefix cache can serve.
        """
        self.prompt_characters += characters
        self.repeated_characters += repeated
        self._take(reply)
        self.add_lost(reply.lost)

    def add_lost(self, lost: Sequence[Reply]) -> None:
        """Counts answers that were of no use and are paid for."""
        self.lost_calls += len(lost)
        for reply in lost:
            self._take(reply)

    def _take(self, reply: Reply) -> None:
        thought = reply.usage.reasoning_tokens or 0
        self.reasoning_tokens += thought
        self.reasoning_estimated += thought if reply.usage.reasoning_estimated else 0
        self.prompt_tokens = _plus(self.prompt_tokens, reply.usage.prompt_tokens)
        self.completion_tokens = _plus(self.completion_tokens, reply.usage.completion_tokens)
        self.cached_tokens = _plus(self.cached_tokens, reply.usage.cached_tokens)
        cost = _plus(self.cost, reply.cost)
        self.cost = None if cost is None else round(cost, 10)

    def __add__(self, other: Spent) -> Spent:
        mine, theirs = flat(self), flat(other)
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
        """Return the keys with which every row begins."""
        return {
            "arm": self.arm,
            "task": self.task.id,
            "task_type": self.task.type,
            "trial": self.trial,
            "attempt": self.attempt,
        }


def _step_counts(steps: Sequence[Step]) -> dict[str, Any]:
    """Return what a row counts of the steps of a trial."""
    repairs = Counter(name for step in steps for name in step.repairs)
    refused = [step for step in steps if step.action is not None and not step.valid]
    return {
        "steps": len(steps),
        "thoughts": sum(bool(step.thought) for step in steps),
        "invalid_actions": len(refused),
        "invalid_kinds": dict(sorted(Counter(step.reason for step in refused if step.reason).items())),
        "unparsed": sum(step.error is not None for step in steps),
        "repairs": sum(repairs.values()),
        "repair_kinds": dict(sorted(repairs.items())),
    }


def trial_row(where: Where, trial: Trial, spent: Mapping[str, Spent]) -> dict[str, Any]:
    """Return the row of a trial that ran to its end.

    Args:
        where: which trial.
        trial: what happened, how it was judged, and what was made of it.
        spent: by role, what the calls of the trial took.
    """
    played, verdict = trial.trajectory, trial.verdict
    reflecting = spent.get("reflector", Spent())
    return {
        **where.keys(),
        "outcome": played.outcome,
        "success": played.success,
        "passed": verdict.success,
        "evaluator": verdict.by,
        **_step_counts(played.steps),
        **_total(spent),
        "memory_shown": len(played.memory),
        **_reflection_keys(trial.reflection),
        "reflection_tokens": _plus(reflecting.prompt_tokens, reflecting.completion_tokens),
        "digest": played.digest,
        "result": dict(played.result),
        "error": None,
        "text": played.task.text,
        "memory": list(played.memory),
        "memory_ids": [item.id for item in trial.shown],
        "opening": played.opening,
        "trajectory": [_step(step) for step in played.steps],
        "remark": played.remark,
        "verdict": flat(verdict),
        "reflection": trial.reflection.text if trial.reflection else None,
        "reflection_data": trial.reflection.data if trial.reflection else None,
        "spent": {role: _told(took) for role, took in spent.items() if took.calls},
    }


def _step(step: Step) -> dict[str, Any]:
    told = flat(step)
    if not step.reasoning:
        del told["reasoning"]
    return told


def _told(spent: Spent) -> dict[str, Any]:
    return {name: value for name, value in flat(spent).items() if value or name not in RARE}


def _reflection_keys(reflection: Reflection | None) -> dict[str, Any]:
    if reflection is None:
        return {"reflected": False}
    return {
        "reflected": True,
        "reflection_kind": reflection.kind,
        "reflection_audit": list(reflection.audit),
        "reflection_repairs": list(reflection.repairs),
        "reflection_attempts": reflection.attempts,
        "reflection_kept": reflection.kept,
        "error_class": reflection.error_class,
    }


def _total(spent: Mapping[str, Spent]) -> dict[str, Any]:
    return _told(sum(spent.values(), Spent()))


def error_row(
    where: Where, message: str, memory: tuple[str, ...], spent: Mapping[str, Spent], trace: str | None
) -> dict[str, Any]:
    """Return the row of a trial that infrastructure ended: it says nothing about the agent, and success is unknown."""
    return {
        **where.keys(),
        "outcome": "error",
        "success": None,
        "passed": False,
        **_total(spent),
        "memory_shown": len(memory),
        "result": {},
        "error": " ".join(message.split())[:1000],
        "text": where.task.text,
        "memory": list(memory),
        "traceback": trace,
    }


def read_spent(row: Mapping[str, Any], roles: Sequence[str]) -> dict[str, Spent]:
    """Return what the calls of a recorded trial took, in the roles named."""
    return {role: Spent(**row["spent"][role]) for role in roles if role in row["spent"]}


def read_trajectory(row: Mapping[str, Any], task: Task) -> Trajectory:
    """Return the trajectory that a row was made from."""
    steps = tuple(Step(**{**step, "repairs": tuple(step["repairs"])}) for step in row["trajectory"])
    memory, outcome = tuple(row["memory"]), row.get("ended", row["outcome"])
    return Trajectory(
        task, row["trial"], memory, row["opening"], steps, outcome, row["result"], row["remark"]
    )


def brief(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trial's short line: without what only a reader of trajectories needs."""
    return {key: value for key, value in row.items() if key not in BULKY}
