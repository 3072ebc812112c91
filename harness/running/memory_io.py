"""Reads and writes the memories of a run's arms: those from another run, and those that this one leaves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from reflex_bench.agents.memory.base import Memory
from reflex_bench.core.errors import UsageError
from reflex_bench.core.jsonl import read_lines
from reflex_bench.envs.base import Task
from reflex_bench.harness.planning.arms import Arm
from reflex_bench.harness.planning.opening import open_memory
from reflex_bench.harness.planning.plan import Plan
from reflex_bench.harness.storage.trials import lines_of
from reflex_bench.harness.storage.whole_files import write_lines, write_text

FOLDER = "memory"


def remembers(arm: Arm) -> bool:
    """Return whether anything can come into an arm's memory."""
    return bool(arm.settings["memory"] != "none")


def begin(plan: Plan, arm: Arm, run: Path) -> Memory:
    """Return an arm's memory as its run begins: empty, or what another run carried to it."""
    memory = _empty(plan, arm)
    if plan.config.memory_from and remembers(arm):
        load(memory, _carried(run, arm.name))
    return memory


def carry(plan: Plan) -> dict[str, str]:
    """Return what other runs carry to a new one, by arm, as text.

    Raises:
        UsageError: a run has no memory of that arm, or one of another kind.
    """
    origin, found = plan.config.memory_from, {}
    for arm in filter(remembers, plan.arms) if origin else ():
        file = Path(origin or "") / FOLDER / f"{arm.name}.jsonl"
        if not file.exists():
            raise UsageError(f"--memory-from: {origin} has no memory of an arm {arm.name!r}")
        load(_empty(plan, arm), file)
        found[arm.name] = file.read_text(encoding="utf-8", errors="surrogatepass")
    return found


def load(memory: Memory, file: Path) -> None:
    """Fills an empty memory from a file that another left behind.

    Raises:
        UsageError: a line is damaged, or is no row of this kind of memory.
    """
    rows = [row for _, row in lines_of(file)]
    try:
        memory.load(rows)
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None


def unpack(carried: Mapping[str, str], run: Path) -> None:
    """Writes what is carried into a new run, so that it needs the old one no more."""
    for arm, text in carried.items():
        write_text(_carried(run, arm), text)


def leave(plan: Plan, run: Path) -> None:
    """Writes `memory/<arm>.jsonl`: the memory that the recorded trials of every arm make, in their order."""
    tasks = {task.id: task for task in plan.split.tasks}
    for arm in filter(remembers, plan.arms):
        memory = begin(plan, arm, run)
        for _, rows in groupby(_recorded(run, arm.name), key=lambda row: row["trial"]):
            for row in rows:
                _relive(memory, tasks[row["task"]], row)
            memory.commit()
        write_lines(run / FOLDER / f"{arm.name}.jsonl", memory.dump())


def _recorded(run: Path, arm: str) -> list[dict[str, Any]]:
    """Return the little that a memory takes from each trial of an arm, by trial and task."""
    keys = (
        "trial",
        "task",
        "memory_ids",
        "passed",
        "reflection",
        "reflected",
        "reflection_kept",
        "error_class",
    )
    rows = [
        {key: row.get(key) for key in keys}
        for path in (run / "trajectories").glob(f"{arm}.trial-*.jsonl")
        for row in read_lines(path)
        if row["outcome"] != "error"
    ]
    return sorted(rows, key=lambda row: (row["trial"], row["task"]))


def _relive(memory: Memory, task: Task, row: Mapping[str, Any]) -> None:
    view = memory.view(task)
    view.outcome(row["memory_ids"] or (), row["passed"])
    if row["reflected"] and row["reflection_kept"]:
        view.add(row["reflection"], row["trial"], row["error_class"])


def _empty(plan: Plan, arm: Arm) -> Memory:
    return open_memory(arm.memory, plan.endpoint)


def _carried(run: Path, arm: str) -> Path:
    return run / FOLDER / f"{arm}.carried.jsonl"
