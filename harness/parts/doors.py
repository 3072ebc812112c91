"""Checks of what agents, environments and models of other packages hand over.

Our own parts are not checked: they are type-checked, and these checks would run at every step.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast, get_args

from reflex_bench.agents.base import Agent, Ask, CallLimit, Limits, Outcome, Step, Trajectory, Watch
from reflex_bench.core.errors import (
    ContextOverflow,
    EnvironmentFailure,
    ModelError,
    ReflexError,
    TrialError,
    UsageError,
)
from reflex_bench.envs.base import Action, Environment, Episode, Split, StepResult, Task
from reflex_bench.harness.parts.environment_info import metrics
from reflex_bench.models.base import Message, Model, Reply, Usage

MAX_REFUSALS = 10
"""So many refused calls an agent may catch; then it is ended by what `except Exception` does not catch."""

TEXT: tuple[type, ...] = (str,)
TEXT_OR_NONE: tuple[type, ...] = (str, type(None))
FLAG: tuple[type, ...] = (bool,)
VALUE = (str, int, float, bool, type(None))


class AgentEnded(BaseException):
    """Ends an agent that catches every exception and goes on calling."""


def is_ours(part: object) -> bool:
    """Return whether a part belongs to this package; one that holds a part of another does not."""
    part = getattr(part, "func", part)
    if hasattr(part, "foreign"):
        return False
    held = getattr(part, "evaluators", None)
    return str(getattr(part, "__module__", "")).startswith("reflex_bench.") and all(map(is_ours, held or ()))


def package_of(part: object) -> str:
    """Return the name of the package that a part comes from."""
    while (held := getattr(part, "foreign", getattr(part, "func", None))) is not None:
        part = held
    return str(getattr(part, "__module__", type(part).__module__)).partition(".")[0]


def check_split(split: Split, environment: Environment) -> None:
    """Raise `UsageError` where a task or a metric of another package's environment is none."""
    if is_ours(environment):
        return
    whose = f"environment {environment.name!r} of package {package_of(environment)}"
    for task in split.tasks:
        check_record(task, Task, UsageError, whose, id=TEXT, type=TEXT, text=TEXT, fingerprint=TEXT)
    metrics(environment)


def checked_reply(reply: Reply, model: Model) -> Reply:
    """Return a reply; raise `ModelError` where one of another package's model is none."""
    if is_ours(model):
        return reply
    whose = f"model {getattr(model, 'name', '')!r} of package {package_of(model)}"
    check_record(
        reply,
        Reply,
        ModelError,
        whose,
        text=TEXT,
        finish=TEXT,
        reasoning=TEXT,
        usage=(Usage,),
        calls=(tuple,),
    )
    numbers: dict[str, Any] = {"cost": reply.cost, "seconds": reply.seconds}
    numbers |= {
        name: getattr(reply.usage, name) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")
    }
    for name, value in numbers.items():
        whole = not name.endswith("tokens") or type(value) is int
        good = type(value) in (int, float) and math.isfinite(value) and value >= 0 and whole
        if not good and value is not None:
            raise ModelError(f"{whose}: {name} must be a number from 0, or None, not {value!r:.100}")
    return reply


def check_record(
    record: Any, kind: type, fault: type[ReflexError], whose: str, /, **fields: tuple[type, ...]
) -> None:
    """Raise a fault where a record is not of its kind, or a field of it of none of the types named."""
    if not isinstance(record, kind):
        raise fault(f"{whose}: a {kind.__name__} is wanted, not {record!r:.100}")
    for name, types in fields.items():
        # True is no number, and 1 is no flag.
        if type(value := getattr(record, name)) not in types and not (
            str in types and isinstance(value, str)
        ):
            names = " or ".join(each.__name__ for each in types)
            raise fault(f"{whose}: {kind.__name__}.{name} must be of type {names}, not {value!r:.100}")


def _measured(result: Any, whose: str) -> Mapping[str, Any]:
    if not isinstance(result, Mapping):
        raise EnvironmentFailure(f"{whose}: a result must be a mapping, not {result!r:.100}")
    for name, value in result.items():
        if not isinstance(name, str) or type(value) not in VALUE:
            raise EnvironmentFailure(
                f"{whose}: result {name!r:.100} must be a text, a number, a truth value or None, not {value!r:.100}"
            )
    return result


@dataclass
class Door:
    """One trial in which a part of another package takes part.

    Attributes:
        agent: plays it.
        environment: in which it plays.
        ask_model: the model in the role of actor.
        fault: the first of infrastructure; an agent that catches it does not undo it.
        won: whether the environment said so.
    """

    agent: Agent
    environment: Environment
    ask_model: Ask
    fault: ReflexError | None = None
    limit: ReflexError | None = None
    won: bool = False
    opening: str = ""
    reply: str = ""
    refusals: int = 0
    episode: Episode | None = None
    steps: list[Step] = field(default_factory=list)

    def play(
        self, task: Task, trial: int, memory: tuple[str, ...], limits: Limits, watch: Watch | None
    ) -> Trajectory:
        """Play one trial; see `Agent`. Limits of model calls and of the context end it, whatever the agent does.

        Raises:
            TrialError: infrastructure failed, or something that was handed over is not what was asked for.
            RunStopped: no further call may be made.
        """
        played = None
        try:
            played = self.agent(task, trial, memory, self._watched(), self._ask, limits, watch)
        except (CallLimit, ContextOverflow, AgentEnded):
            pass
        except Exception:
            if self.fault is None:
                raise
        if self.fault is not None:
            raise self.fault
        if played is None and self.limit is not None:
            return self._ended(task, trial, memory)
        self._check(played)
        return cast(Trajectory, played)

    def _ended(self, task: Task, trial: int, memory: tuple[str, ...]) -> Trajectory:
        """Return the trial as far as its episode saw it."""
        outcome: Outcome = "context_limit" if isinstance(self.limit, ContextOverflow) else "budget"
        result: Mapping[str, Any] = {}
        if self.episode is not None:
            result = _measured(self.episode.result(), self._whose)
            with contextlib.suppress(Exception):
                self.episode.close()
        outcome = "success" if self.won else outcome
        return Trajectory(task, trial, memory, self.opening, tuple(self.steps), outcome, result)

    def _check(self, played: Any) -> None:
        name = getattr(self.agent, "__name__", type(self.agent).__name__)
        whose = f"agent {name!r} of package {package_of(self.agent)}"
        check_record(
            played, Trajectory, TrialError, whose, opening=TEXT, outcome=TEXT, remark=TEXT, steps=(tuple,)
        )
        for step in played.steps:
            texts = dict.fromkeys(("reply", "thought", "observation", "reasoning", "reason"), TEXT)
            texts |= {"action": TEXT_OR_NONE, "error": TEXT_OR_NONE, "valid": FLAG, "number": (int,)}
            check_record(step, Step, TrialError, whose, repairs=(tuple,), **texts)
        if played.outcome not in set(get_args(Outcome)) - {"error"}:
            raise TrialError(f"{whose}: there is no outcome {played.outcome!r:.100}")
        if played.success and not self.won:
            raise TrialError(
                f"{whose}: the outcome is success, but the environment did not say that it was won"
            )
        _measured(played.result, whose)

    @property
    def _whose(self) -> str:
        return f"environment {self.environment.name!r} of package {package_of(self.environment)}"

    def _ask(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        try:
            reply = self.ask_model(messages, step, stop)
        except (CallLimit, ContextOverflow) as limit:
            self.limit = limit
            self._refused()
            raise
        except ReflexError as fault:
            self.fault = self.fault or fault
            self._refused()
            raise
        self.reply = reply.text
        return reply

    def _refused(self) -> None:
        self.refusals += 1
        if self.refusals > MAX_REFUSALS:
            raise AgentEnded

    def _watched(self) -> Environment:
        own: dict[str, Callable[..., Any]] = {
            "start": self._start,
            "read_action": self._read(self.environment.read_action),
        }
        if hasattr(self.environment, "read_call"):
            own["read_call"] = self._read(self.environment.read_call)
        return cast(Environment, beside(self.environment, own))

    def _read(self, read: Callable[..., Action]) -> Callable[..., Action]:
        def checked(*arguments: Any, **named: Any) -> Action:
            action = read(*arguments, **named)
            fields = {"thought": TEXT, "command": TEXT_OR_NONE, "error": TEXT_OR_NONE, "repairs": (tuple,)}
            self._environments(action, Action, fields)
            return action

        return checked

    def _environments(self, record: Any, kind: type, fields: Mapping[str, tuple[type, ...]]) -> None:
        try:
            check_record(record, kind, EnvironmentFailure, self._whose, **fields)
        except EnvironmentFailure as fault:
            self.fault = self.fault or fault
            raise

    def _start(self, task: Task) -> Episode:
        episode = self.episode = self.environment.start(task)

        def reset() -> str:
            opening = episode.reset()
            if not isinstance(opening, str):
                wanted = "the first observation must be a text"
                self.fault = EnvironmentFailure(f"{self._whose}: {wanted}, not {opening!r:.100}")
                raise self.fault
            self.opening, self.steps, self.won = opening, [], False
            return opening

        def step(command: str) -> StepResult:
            result = episode.step(command)
            flags = {"won": FLAG, "done": FLAG, "valid": FLAG}
            self._environments(result, StepResult, {"observation": TEXT, "reason": TEXT, **flags})
            self.won = self.won or result.won
            self.steps.append(Step.of(len(self.steps) + 1, self.reply, Action(command=command), result))
            return result

        def result() -> Mapping[str, Any]:
            try:
                return _measured(episode.result(), self._whose)
            except EnvironmentFailure as fault:
                self.fault = self.fault or fault
                raise

        return cast(Episode, beside(episode, {"reset": reset, "step": step, "result": result}))


def beside(part: object, own: Mapping[str, Callable[..., Any]]) -> object:
    """Return an object with the public attributes of another, some of them replaced.

    They stand in a class of its own: `isinstance` looks for those of a protocol there.
    """
    passed = {name: property(partial(_get, part, name)) for name in dir(part) if not name.startswith("_")}
    return type("Checked", (), {**passed, **{name: staticmethod(each) for name, each in own.items()}})()


def _get(part: object, name: str, checked: object) -> Any:
    return getattr(part, name)
