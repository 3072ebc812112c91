"""The plan of a task, played with the right way out of every fault.

It knows what no agent can know: what a tool really did, and what has changed about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reflex_bench.envs.base import StepResult
from reflex_bench.envs.tools.episode import CANCEL, HAND_OVER, RESPOND, ToolEpisode
from reflex_bench.envs.tools.parsing import command_of
from reflex_bench.envs.tools.registry import Tool
from reflex_bench.envs.tools.tool_task import PlanStep, resolved

ENDINGS = frozenset({RESPOND, HAND_OVER, CANCEL})
DEAD = frozenset({"unauthorised", "server_error"})
"""Faults for which the fallback is the way out where they come again."""


class NoPlayer:
    """Plays nothing."""

    def next(self, last: StepResult | None) -> str | None:
        """Return None."""
        return None


@dataclass
class GoldPlayer:
    """Says what is to be done next.

    Attributes:
        episode: that is played.
        plan: its steps.
        answers: what the tools really said, step by step.
    """

    episode: ToolEpisode
    plan: tuple[PlanStep, ...]
    answers: list[Mapping[str, Any]] = field(default_factory=list)
    _failed: int = 0
    _refused: bool = False

    def next(self, last: StepResult | None) -> str | None:
        """Return the next command, the same call again where it did not reach its tool; None where the plan ends."""
        if last is not None:
            # A contract that is out of date learns of a new name from the tool alone, which has to refuse the old one.
            self._refused = not last.valid and not self._refused
            self._take_in()
        if len(self.answers) >= len(self.plan):
            return None
        step = self.plan[len(self.answers)]
        try:
            arguments = resolved(step.arguments, self.answers)
        except (LookupError, ValueError, TypeError):
            # In a carried world the plan was played before, and what it needs may be gone.
            return None
        if step.tool in ENDINGS:
            return command_of(step.tool, arguments)
        return self._call(self.episode.life.registry.tools[step.tool], arguments)

    def _take_in(self) -> None:
        """Note what the last call really brought."""
        truth = self.episode.truth
        if self.plan[len(self.answers)].tool in ENDINGS:
            self.answers.append({})
        elif truth is not None:
            self.answers.append(truth.body)
            self._failed = 0
        else:
            self._failed += 1

    def _call(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        life, task = self.episode.life, self.episode.life.task.id
        if self._failed and self.episode.fault in DEAD and tool.fallback:
            tool = life.registry.tools[tool.fallback]
        drift = life.forecast.drift(task, tool)
        if drift is None or (self._refused and not drift.retired):
            return command_of(tool.id, arguments)
        if drift.retired:
            return command_of(drift.new, arguments)
        return command_of(
            tool.id, {drift.new if name == drift.old else name: each for name, each in arguments.items()}
        )
