"""Plans played on the real tools, without any fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.business.world import World
from reflex_bench.envs.tools.judging import Judgement, judge
from reflex_bench.envs.tools.registry import Registry
from reflex_bench.envs.tools.tool_task import ToolTask, resolved

RESPOND, HAND_OVER = "respond", "hand_over"
SECONDS_BETWEEN_CALLS = 5


class PlanFailedError(ValueError):
    """A plan that does not do what it should."""


def play(task: ToolTask, registry: Registry) -> tuple[Judgement, list[Mapping[str, Any]]]:
    """Play a task's plan in a new world, and return what it came to and what the tools answered.

    Raises:
        PlanFailedError: a tool refuses, an answer lacks what a later step needs, or the plan does not end.
    """
    world, answers = World.open(task.image), list[Mapping[str, Any]]()
    for number, step in enumerate(task.plan):
        try:
            arguments = resolved(step.arguments, answers)
        except (LookupError, ValueError, TypeError) as error:
            raise PlanFailedError(f"{task.id}, step {number}: no answer has it: {error!r}") from None
        if step.tool == RESPOND:
            return judge(task, world, arguments["facts"], False), answers
        if step.tool == HAND_OVER:
            return judge(task, world, None, True), answers
        at = number * SECONDS_BETWEEN_CALLS
        answer = world.call(registry.find(step.tool), arguments, at=at, role=task.role, call=number + 1)
        if answer.status >= 300:
            raise PlanFailedError(f"{task.id}, step {number}: {step.tool} {arguments}: {answer.body}")
        answers.append(answer.body)
    raise PlanFailedError(f"{task.id}: the plan ends with no answer and no hand-over")


def check(task: ToolTask, registry: Registry) -> str:
    """Return why a task may not be written; "" where it may.

    It must be solved by its plan without harm and without anything left behind, and not by an answer that states
    nothing.
    """
    try:
        judged, _ = play(task, registry)
    except PlanFailedError as error:
        return str(error)
    if not judged.solved or judged.harms or judged.left_behind or judged.beyond_rights:
        return f"{task.id}: the plan comes to {judged}"
    if judge(task, World.open(task.image), {}, False).solved:
        return f"{task.id}: it is solved by doing nothing"
    return ""
