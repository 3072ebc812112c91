"""Tasks as JSON lines, one a task, with the image of its world."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.envs.tools.business.state import Image
from reflex_bench.envs.tools.tasks.families import FAMILIES
from reflex_bench.envs.tools.tool_task import (
    CannotBeBuiltError,
    Expected,
    PlanStep,
    Required,
    ToolTask,
    required_states,
    row_of,
)

FILE = "tasks.jsonl"
_FAMILIES = tuple(family.name for family in FAMILIES)
_ENDS = ("respond", "hand_over")


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Step(_Line):
    tool: str
    arguments: dict[str, Any]
    before_repeat: str = ""


class _Expected(_Line):
    table: str
    where: dict[str, Any]
    values: dict[str, Any]


class _Required(_Line):
    states: list[list[_Expected]] = Field(min_length=1)
    on_the_way: list[_Expected] = []


class _Image(_Line):
    start: str
    role: str
    rows: dict[str, list[list[Any]]]


class _Task(_Line):
    id: str = Field(pattern=r"^[a-z]+-[0-9]{4,}$")
    family: str
    role: str
    message: str = Field(min_length=1)
    facts: dict[str, Any]
    required: _Required
    plan: list[_Step] = Field(min_length=1)
    should_hand_over: bool = False
    image: _Image


def task_line(task: ToolTask) -> str:
    """Return a task as one line of JSON, without the line's end; equal tasks give equal bytes."""
    told = {
        "id": task.id,
        "family": task.family,
        "role": task.role,
        "message": task.message,
        "facts": dict(task.facts),
        "required": asdict(task.required),
        "plan": [asdict(step) for step in task.plan],
        "should_hand_over": task.should_hand_over,
        "image": task.image.told(),
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def write_tasks(tasks: Iterable[ToolTask], out: Path) -> Path:
    """Write tasks to `tasks.jsonl` in a folder, and return the file.

    Raises:
        UsageError: the folder cannot be written to.
    """
    file = out / FILE
    try:
        out.mkdir(parents=True, exist_ok=True)
        part = out / f"{FILE}.part"
        part.write_text("".join(f"{task_line(task)}\n" for task in tasks), encoding="utf-8")
        part.replace(file)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename or file}: {error.strerror or error}") from None
    return file


def read_tasks(path: Path) -> tuple[ToolTask, ...]:
    """Return the tasks of a file, or of `tasks.jsonl` in a folder.

    Raises:
        UsageError: there is none, or a line is no task; says which line and what would be right.
    """
    file = path / FILE if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(
            f"{file}: not UTF-8; JSON lines as `reflex data generate tools` writes them are wanted"
        ) from None
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from None
    # Only at "\n": a text may hold other characters that `splitlines` takes for a line's end.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise UsageError(f"{file}: no task in it; `reflex data generate tools --out DIR` writes some")
    tasks: dict[str, ToolTask] = {}
    for number, line in lines:
        task = _read(f"{file}:{number}", line)
        if task.id in tasks:
            raise UsageError(f"{file}:{number}: the task {task.id} is there twice")
        tasks[task.id] = task
    return tuple(tasks.values())


def _read(where: str, line: str) -> ToolTask:
    try:
        told = _Task.model_validate(json.loads(line))
    except RecursionError:
        raise UsageError(f"{where}: nested too deeply for a task") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the line"
        raise UsageError(f"{where}: {place}: {first['msg'][:200]}") from None
    except ValueError as error:
        raise UsageError(f"{where}: no JSON: {str(error)[:200]}") from None
    if told.family not in _FAMILIES:
        raise UsageError(f"{where}: {unknown('family of tasks', told.family, _FAMILIES)}")
    if told.plan[-1].tool not in _ENDS:
        raise UsageError(
            f"{where}: the plan of {told.id} ends with {told.plan[-1].tool}; respond or hand_over is wanted"
        )
    try:
        image = Image.read(told.image.model_dump())
        task = _made(told, image)
        required_states(task)
        for expected in task.required.on_the_way:
            row_of(expected, image)
    except CannotBeBuiltError as error:
        raise UsageError(f"{where}: the required state of {told.id} cannot be built: {error}") from None
    except ValueError as error:
        raise UsageError(f"{where}: image of {told.id}: {error}") from None
    return task


def _made(told: _Task, image: Image) -> ToolTask:
    rows = told.required
    return ToolTask(
        id=told.id,
        family=told.family,
        role=told.role,
        message=told.message,
        image=image,
        facts=told.facts,
        required=Required(
            states=tuple(tuple(map(_expected, state)) for state in rows.states),
            on_the_way=tuple(map(_expected, rows.on_the_way)),
        ),
        plan=tuple(
            PlanStep(tool=step.tool, arguments=step.arguments, before_repeat=step.before_repeat)
            for step in told.plan
        ),
        should_hand_over=told.should_hand_over,
    )


def _expected(told: _Expected) -> Expected:
    return Expected(table=told.table, where=told.where, values=told.values)
