"""Detects evaluated tasks among the worked examples of the prompts.

Published ones do: both examples of Reflexion's reflection prompt for questions are among its 100 questions, and one
example of that for household games is a room and goal of the test split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reflex_bench.envs.base import Environment, Prompts, Task
from reflex_bench.envs.declarations import Recognises

Recognise = Callable[[Task, str], tuple[str, str]]
"""What a task is recognised by, and the words to look for; see `reflex_bench.envs.declarations.Recognises`."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """A task that an example shows.

    Attributes:
        task: its id.
        example: which example, e.g. `examples[put][2]` or `reflection_examples[1]`; counted from 1.
        matched: what of the task stands there, e.g. `room and goal`, `question` or `text`.
        arms: the arms whose prompts hold the example; None for all.
    """

    task: str
    example: str
    matched: str
    arms: tuple[str, ...] | None = None


def recogniser(environment: Environment) -> Recognise:
    """Return what an environment recognises its tasks by; where it does not say, their text."""
    return environment.recognised_by if isinstance(environment, Recognises) else _by_text


def _by_text(task: Task, opening: str) -> tuple[str, str]:
    return "text", task.text


def overlaps(
    prompts: Prompts, tasks: Iterable[tuple[Task, str]], recognise: Recognise = _by_text
) -> tuple[Overlap, ...]:
    """Return every pair of a task and an example that shows it, in the order of the tasks.

    Args:
        prompts: of the environment.
        tasks: each with the text that opens its episodes.
        recognise: by what a task is recognised. White space and case do not count.
    """
    shown = [(name, _folded(text)) for name, text in _texts(prompts)]
    found = []
    for task, opening in tasks:
        matched, words = recognise(task, opening)
        if sought := _folded(words):
            found += [Overlap(task.id, name, matched) for name, text in shown if sought in text]
    return tuple(found)


def overlapping_tasks(info: Mapping[str, Any], arm: str) -> frozenset[str]:
    """Return the ids of the tasks that an arm's prompts show, from `contamination` in a run's `run.json`."""
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
