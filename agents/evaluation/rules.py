"""The evaluator that knows what a company knows without the answer: its own rules, on the state and the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from reflex_bench.agents.base import Ask, Trajectory, Verdict
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Prompts

BROKEN = "rules_broken"
"""Where the result of a trial has the codes of the rules that it broke, separated by commas; "" for none."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Passes a trial that came to an end by itself and broke no rule of the business."""

    name: str = "rules"
    sources: tuple[str, ...] = ("rules",)

    def __call__(self, trajectory: Trajectory, prompts: Prompts, ask: Ask) -> Verdict:
        """See `Evaluator`.

        Raises:
            UsageError: the environment knows no rules.
        """
        broken = trajectory.result.get(BROKEN)
        if not isinstance(broken, str):
            raise UsageError(
                "evaluator 'rules': this environment has no rules; use environment, heuristic or model"
            )
        if trajectory.outcome not in ("success", "failure", "handed_over"):
            return Verdict(False, self.name, reason="the request was neither answered nor handed over")
        reason = f"rules of the business were broken: {broken}" if broken else ""
        return Verdict(not broken, self.name, reason=reason)


rules = Rules()
