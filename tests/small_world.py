"""A world small enough to follow by hand: a number is to be named, by a model that says what a test tells it to say.

    plan = plan_of({"actor": Scripted(["3", "4"])}, tasks=1, trials=2)

`Numbers` is registered as packages of others register theirs (the fixture `world`), so that plans are made as for them.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reflex_bench.envs.base import Action, Split, StepResult, Task
from reflex_bench.envs.prompts import parse
from reflex_bench.harness.planning.plan import Plan, make_plan
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.models.base import Reply, Request, Usage

TEXTS = """
instruction: Name the number.
examples: {"": []}
thought_form: "{}"
action_form: "{}"
thought_observation: ""
invalid_observation: A number is wanted.
verbs: [name]
reflection_instruction: Say what went wrong.
reflection_examples: []
"""


class Numbers:
    """Task `n<number>` is won by naming its number, and lost by another. See `reflex_bench.envs.base.Environment`."""

    name, max_steps, feedback, prompts = "numbers", 1, "environment", parse(TEXTS)

    def load(self, count: int | None = None, seed: int = 0) -> Split:
        return Split("all", tuple(task(number) for number in range(4))[:count])

    def start(self, task: Task) -> Naming:
        return Naming(task.data)

    def read_action(self, completion: str, policy: str) -> Action:
        word = completion.strip()
        return Action(command=word) if word.isdigit() else Action(error="no_action")

    def tools(self) -> tuple[Mapping[str, Any], ...]:
        return ()

    def without_feedback(self) -> Numbers:
        return self

    def settings(self) -> Mapping[str, Any]:
        return {"version": 1}

    def close(self) -> None:
        pass


class Naming:
    """One trial. See `reflex_bench.envs.base.Episode`."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted

    def reset(self) -> str:
        return f"Which number is meant in task {self.wanted}?"

    def step(self, command: str) -> StepResult:
        won = int(command) == self.wanted
        return StepResult("Yes." if won else "No.", won=won, done=True)

    def result(self) -> Mapping[str, Any]:
        return {"wanted": self.wanted}

    def close(self) -> None:
        pass


def create(options: Mapping[str, Any]) -> Numbers:
    """The entry point."""
    return Numbers()


def task(number: int) -> Task:
    """Return the task that is won by naming this number."""
    return Task(f"n{number}", "number", f"number {number}", f"{number:064x}", number)


Answer = str | Reply | BaseException


class Scripted:
    """A model in this process that says what it is told to say. See `reflex_bench.models.base.Model`.

    A text takes 10 tokens of prompt and 2 of reply, and costs 0.5 dollars; an exception is raised.

    Args:
        answers: in the order in which they are given, or a function of the request.

    Attributes:
        asked: the requests, in the order in which they came.
    """

    name, simulated = "scripted", True

    def __init__(self, answers: Sequence[Answer] | Callable[[Request], Answer]) -> None:
        self.answers, self.asked = answers, list[Request]()
        self._guard = threading.Lock()

    def check(self) -> tuple[str, ...]:
        return ()

    def complete(self, request: Request) -> Reply:
        with self._guard:
            number = len(self.asked)
            self.asked.append(request)
        said = self.answers(request) if callable(self.answers) else self.answers[number]
        if isinstance(said, BaseException):
            raise said
        return said if isinstance(said, Reply) else Reply(said, Usage(10, 2, 0), "stop", 0.5)

    def cost(self, usage: Usage) -> float | None:
        return 0.5

    def settings(self) -> Mapping[str, Any]:
        return {}

    def close(self) -> None:
        pass


def open_model(name: str, options: object) -> Scripted:
    """The entry point; `plan_of` puts another in its place."""
    return Scripted([])


def said_to(request: Request) -> str:
    """Return all that a model was sent, as one text."""
    return "\n".join(message.content for message in request.messages)


def number_of(request: Request) -> int:
    """Return the number of the task that a request is about."""
    return int(said_to(request).split("in task ")[1].split("?")[0])


def plan_of(models: Mapping[str, Scripted], sources: Sequence[str] = (), **settings: Any) -> Plan:
    """Return a plan in which every role asks a model of its own.

    Args:
        models: by role: `actor`, `reflector`, `evaluator`; one who is not named must not be asked.
        sources: further settings as `key=value`.
        settings: the same, nested.
    """
    roles = {"actor": "actor", "reflector": "reflection", "evaluator": "evaluation"}
    named = {section: {"model": f"scripted/{role}"} for role, section in roles.items()}
    base = {"environment": {"name": "numbers"}, "limits": {"max_workers": 1}}
    limits = base["limits"] | settings.pop("limits", {})
    plan = make_plan(resolve(sources, base | named | settings | {"limits": limits}))
    return dataclasses.replace(
        plan, models={name: models.get(name.partition("/")[2], Scripted([])) for name in plan.models}
    )
