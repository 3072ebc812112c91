"""What a family makes of a scene: a task without its id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reflex_bench.envs.tools.tasks.scene import Scene
from reflex_bench.envs.tools.tool_task import Expected, PlanStep, Required


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A task under way; see `ToolTask`."""

    message: str
    plan: tuple[PlanStep, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    required: Required = field(default_factory=Required)
    should_hand_over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A kind of request.

    Attributes:
        name: the first part of its tasks' ids.
        role: of the account.
        variants: take turns from task to task, so that each has an equal share.
    """

    name: str
    role: str
    variants: tuple[Callable[[Scene], Draft], ...]


def step(tool: str, before_repeat: str = "", /, **arguments: Any) -> PlanStep:
    """Return a step of a plan.

    Args:
        tool: the id.
        before_repeat: the tool that tells whether the step was done.
        arguments: of the call.
    """
    return PlanStep(tool=tool, arguments=arguments, before_repeat=before_repeat)


def of(number: int, path: str) -> dict[str, Any]:
    """Return what stands for something of an earlier answer.

    Args:
        number: of the step, from 0.
        path: e.g. `orders.0.order_id`.
    """
    return {"from": number, "path": path}


def respond(message: str, **facts: Any) -> PlanStep:
    """Return the step that answers."""
    return PlanStep(tool="respond", arguments={"message": message, "facts": facts})


def hand_over(reason: str) -> PlanStep:
    """Return the step that gives the request to a person."""
    return PlanStep(tool="hand_over", arguments={"reason": reason})


def rows(*states: Expected, on_the_way: tuple[Expected, ...] = ()) -> Required:
    """Return the one end state in which these rows are changed and added."""
    return Required(states=(tuple(states),), on_the_way=on_the_way)


def new(table: str, **values: Any) -> Expected:
    """Return a row that has to be added."""
    return Expected(table=table, where={}, values=values)


def changed(table: str, where: Mapping[str, Any], **values: Any) -> Expected:
    """Return a row of the image that has to be changed."""
    return Expected(table=table, where=where, values=values)
