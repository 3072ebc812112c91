"""Tasks from a seed."""

from __future__ import annotations

from functools import lru_cache

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.tools.registry import Registry
from reflex_bench.envs.tools.tasks.drafts import Family
from reflex_bench.envs.tools.tasks.families import FAMILIES
from reflex_bench.envs.tools.tasks.playing import check
from reflex_bench.envs.tools.tasks.scene import Scene
from reflex_bench.envs.tools.tool_task import ToolTask

MAX_DRAWS = 20
"""For one task; a family of which so many in a row fail is broken."""


@lru_cache(maxsize=4)
def generate(seed: int, count: int) -> tuple[ToolTask, ...]:
    """Return tasks of equal shares of all families; equal seeds give equal tasks.

    Each plan was played: it reaches the end state without harm. A task does not depend on how many there are.

    Args:
        seed: of the tasks.
        count: how many; the first families have one more where it cannot be divided.
    """
    registry = Registry.load()
    share, rest = divmod(count, len(FAMILIES))
    return tuple(
        _task(family, seed, number, registry)
        for place, family in enumerate(FAMILIES)
        for number in range(1, share + (place < rest) + 1)
    )


def _task(family: Family, seed: int, number: int, registry: Registry) -> ToolTask:
    faults = []
    for drawn in range(MAX_DRAWS):
        task = draw(family, seed, number, drawn)
        fault = check(task, registry)
        if not fault:
            return task
        faults.append(fault)
    raise RuntimeError(f"{MAX_DRAWS} draws of {family.name} {number}: {faults[-1]}")


def draw(family: Family, seed: int, number: int, drawn: int = 0) -> ToolTask:
    """Return a task whose plan was not played.

    Args:
        family: of which kind.
        seed: of the tasks.
        number: within the family, from 1.
        drawn: how many were drawn for this number before.
    """
    scene = Scene(SeededRandom("tools", seed, family.name, number, drawn), family.role)
    draft = family.variants[(number - 1) % len(family.variants)](scene)
    return ToolTask(
        id=f"{family.name}-{number:04}",
        family=family.name,
        role=family.role,
        message=draft.message,
        image=scene.image(),
        facts=draft.facts,
        required=draft.required,
        plan=draft.plan,
        should_hand_over=draft.should_hand_over,
    )
