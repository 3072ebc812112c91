"""Whether the worked examples of the prompts show tasks that are being evaluated.

Published ones do: both examples of Reflexion's HotPotQA reflection prompt are among its 100 questions, and one example
of its ALFWorld reflection prompt is a room and goal of the test split.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reflex_bench.envs.base import Prompts, Task

_ROOM_AND_GOAL = re.compile(
    r"you are in the middle of a room\..*?your task is to: [^\n]*", re.DOTALL | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Overlap:
    """A task that an example shows.

    Attributes:
        task: its id.
        example: which example, e.g. `examples[put][2]` or `reflection_examples[1]`; counted from 1.
        matched: `room and goal` or `question`.
        arms: the arms whose prompts hold the example; None for all.
    """

    task: str
    example: str
    matched: str
    arms: tuple[str, ...] | None = None


def overlaps(prompts: Prompts, tasks: Iterable[tuple[Task, str]]) -> tuple[Overlap, ...]:
    """Every pair of a task and an example that shows it, in the order of the tasks.

    Args:
        prompts: of the environment.
        tasks: each with the text that opens its episodes. Where that describes an ALFWorld room, its receptacles and
            the task sentence are looked for; else `Task.text`, the question. White space and case do not count.
    """
    shown = [(name, _folded(text)) for name, text in _texts(prompts)]
    found = []
    for task, opening in tasks:
        room = _ROOM_AND_GOAL.search(opening)
        matched = "room and goal" if room else "question"
        sought = _folded(room[0] if room else task.text)
        if sought:
            found += [Overlap(task.id, name, matched) for name, text in shown if sought in text]
    return tuple(found)


def overlapping_tasks(info: Mapping[str, Any], arm: str) -> frozenset[str]:
    """The ids of the tasks that an arm's prompts show, from `contamination` in a run's `run.json`."""
    return frozenset(
        str(each["task"])
        for each in info.get("contamination") or ()
        if each.get("arms") is None or arm in each["arms"]
    )


def _texts(prompts: Prompts) -> Iterator[tuple[str, str]]:
    for kind, examples in prompts.examples.items():
        for number, example in enumerate(examples, 1):
            seen = "\n".join(text for turn in example.turns for text in turn)
            yield f"examples{f'[{kind}]' if kind else ''}[{number}]", f"{seen}\n{example.closing}"
    for number, (episode, _) in enumerate(prompts.reflection_examples, 1):
        yield f"reflection_examples[{number}]", episode


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
