"""Times the business: opening a trial's world, copying it, and calling its tools. Medians, of the processor."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

from reflex_bench.envs.tools.business.world import World
from reflex_bench.envs.tools.registry import Registry
from reflex_bench.envs.tools.tasks import ToolTask, generate

OPEN_LIMIT, CALL_LIMIT = 5.0, 1.0
"""Milliseconds that the project promises: to open a world, and for a call."""


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """The median of so many times."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append((time.process_time() - began) * 1000)
    return statistics.median(times)


def time_calls(task: ToolTask, registry: Registry, repeats: int) -> list[float]:
    """Every call of a task's plan that needs nothing of an earlier answer, in a world of its own."""
    found = []
    for step in task.plan:
        tool = registry.tools.get(step.tool)
        if tool is None or any(isinstance(each, dict) for each in step.arguments.values()):
            continue
        times = []
        for _ in range(repeats):
            world = World.open(task.image)
            began = time.process_time()
            world.call(tool, step.arguments, at=0, role=task.role, call=1)
            times.append((time.process_time() - began) * 1000)
        found.append(statistics.median(times))
    return found


def main() -> int:
    """Returns 1 where something takes longer than the project promises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=20, help="of each")
    parser.add_argument("--seed", type=int, default=3)
    arguments = parser.parse_args()
    began = time.process_time()
    tasks = generate(arguments.seed, arguments.tasks)
    print(f"{len(tasks)} tasks generated in {time.process_time() - began:.2f} s")
    registry, repeats = Registry.load(), arguments.repeats
    opened = [milliseconds(partial(World.open, task.image), repeats) for task in tasks]
    worlds = [World.open(task.image) for task in tasks]
    copied = [milliseconds(world.copy, repeats) for world in worlds]
    state = [milliseconds(world.rows, repeats) for world in worlds]
    calls = [each for task in tasks for each in time_calls(task, registry, repeats)]
    for what, times in (("open", opened), ("copy", copied), ("state", state), ("call", calls)):
        print(
            f"{what:6} median {statistics.median(times):.3f} ms, slowest task {max(times):.3f} ms, of {len(times)}"
        )
    return int(statistics.median(opened) > OPEN_LIMIT or statistics.median(calls) > CALL_LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
