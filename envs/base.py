"""Protocols and records of environments.

An `Environment` is the adapter for one benchmark. It loads a `Split` of `Task`s and opens a fresh `Episode` for every
trial. It also brings what only it can know: how to read its actions (`read_action`) and its texts (`prompts`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from reflex_bench.envs.text_form import TextForm

ParsePolicy = Literal["strict", "repair", "admissible"]
"""How freely a reply is read: in its exact form alone; with named repairs; or also, where it is a near miss, as the one
admissible command that is meant, which needs `ReadsAdmissible` and `OffersAdmissible`."""

UNPARSED, ABSENT, NO_EFFECT = "unparsed", "absent", "no_effect"
INVALID_REASONS: Mapping[str, str] = {
    UNPARSED: "of no form that the environment has",
    ABSENT: "names something that is not there",
    NO_EFFECT: "known, but without effect now",
}
"""Why an environment did not accept a command (`StepResult.reason`); an environment may have others of its own."""

HANDED_OVER = "handed_over"
"""The reason of a step that gives the task to a person, and the outcome of a trial in which that was wrong; an
environment in which that can be has it in `further_outcomes`."""


@dataclass(frozen=True, slots=True)
class Task:
    """One game or one question.

    Attributes:
        id: stable and unique in its split; tasks are taken in the order of their ids.
        type: the row of the per-type table (`put`, `clean`, …; `bridge`, `comparison`).
        text: the goal or question, one line.
        fingerprint: hexadecimal sha256 of everything that makes the task what it is.
        data: what the environment needs to open it; nobody else reads this.
        cluster: what it shares with other tasks, e.g. the room; tasks of one cluster are not independent results. None
            where the environment does not say. It is no part of the fingerprint.
    """

    id: str
    type: str
    text: str
    fingerprint: str
    data: Any = field(default=None, repr=False, compare=False)
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """A named, ordered set of tasks.

    Attributes:
        name: e.g. `procedural:seed=7` or `valid_unseen`.
        tasks: sorted by id.
        notes: one line each on what a reader must know, e.g. what was skipped and how many.
    """

    name: str
    tasks: tuple[Task, ...]
    notes: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """sha256 over the ids and fingerprints of the tasks, in order."""
        digest = hashlib.sha256()
        for task in self.tasks:
            digest.update(f"{task.id}\t{task.fingerprint}\n".encode())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Action:
    """What a parser made of one completion. Parsers never raise.

    Attributes:
        thought: the model's reasoning, possibly empty.
        command: what the environment is to execute; None where there is nothing to execute.
        error: why there is no command: `empty`, `no_action`, `unknown_action`, `placeholder` (words of the instruction
            copied in place of a name), `unclosed_reasoning`, `cut_off`, …; None where there is one, or where the
            completion is a thought and nothing else and the environment allows that.
        repairs: the name of every liberty taken (`prompt_prefix`, `cut_invented_observation`, `extra_actions`, …),
            once per occurrence; counted and shown.
    """

    thought: str = ""
    command: str | None = None
    error: str | None = None
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepResult:
    """The environment's answer to one command.

    Attributes:
        observation: what the agent is told.
        won: the environment's own verdict; the only source of success.
        done: the environment ended the episode, won or not.
        valid: False where the environment did not accept the command.
        reason: why it did not (a key of `INVALID_REASONS`), or "". Of a valid command that failed, the error's name.
    """

    observation: str
    won: bool = False
    done: bool = False
    valid: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A worked episode shown to the model.

    Attributes:
        turns: (from the environment, from the agent) pairs of texts.
        closing: the environment's last answer, after the last turn.
    """

    turns: tuple[tuple[str, str], ...]
    closing: str = ""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The texts with which an environment is put before a model.

    Attributes:
        instruction: the system message of an actor.
        examples: worked episodes by task type; the key `""` serves types that have none of their own.
        thought_observation: answer to a turn that only thinks (where the environment allows one).
        invalid_observation: answer to a turn in which no action could be found; `{command}` in it stands for what was
            written in its place, on one line.
        reflection_instruction: the system message of a reflector.
        reflection_examples: (episode as text, reflection) pairs.
        stop: stop sequences for the actor's completions.
        thought_form, action_form: how a thought and an action are written, `{}` standing for the text.
        act_instruction: instead of `instruction`, for an agent that does not think aloud; "" where there is none.
        verbs: with what the environment's actions begin; a reflection that asks for others is unsound.
        cot_instruction, cot_examples: for an agent that answers in one turn; "" where that makes no sense.
        tools_instruction: instead of `instruction`, where actions are called as native tools; "" for the same.
        text: how an episode reads as one running text.
        published: the structure of the published loop's text, where there is one; its sentences are ours.
        needs_action: a turn that only thinks is not finished: its action is asked for.
        advice: one line for each reason (`StepResult.reason`) with which a command may fail, for reflectors.
    """

    instruction: str
    examples: Mapping[str, tuple[Example, ...]]
    thought_observation: str
    invalid_observation: str
    reflection_instruction: str
    reflection_examples: tuple[tuple[str, str], ...]
    stop: tuple[str, ...] = ()
    thought_form: str = "Thought: {}"
    action_form: str = "Action: {}"
    verbs: tuple[str, ...] = ()
    act_instruction: str = ""
    cot_instruction: str = ""
    cot_examples: tuple[Example, ...] = ()
    tools_instruction: str = ""
    text: TextForm = field(default_factory=TextForm)
    published: TextForm | None = None
    needs_action: bool = False
    advice: Mapping[str, str] = field(default_factory=dict)


class Episode(Protocol):
    """One fresh instance of a task, used by one thread."""

    def reset(self) -> str:
        """Starts the episode and returns the first observation, the task included. Called once."""
        ...

    def step(self, command: str) -> StepResult:
        """Executes one command.

        Raises:
            EnvironmentFailure: the environment itself failed; this is never an observation.
        """
        ...

    def result(self) -> Mapping[str, Any]:
        """Return what only the environment knows at the end (`answer`, `em`, `f1`, …).

        Numbers, strings, booleans or None.
        """
        ...

    def close(self) -> None:
        """Frees what the episode holds; safe to call twice."""
        ...


class Environment(Protocol):
    """The adapter for one benchmark. Its methods may be called from several threads at once.

    Attributes:
        name: e.g. `alfworld`.
        max_steps: the step cap that a run takes unless told otherwise.
        feedback: what tells the agent of success and failure: `environment`, `oracle`, `none`.
        prompts: its texts.

    An environment may have further attributes: `cluster_name`, what the tasks of one `Task.cluster` share, in the
    singular (`room`); `title`, what it is called in titles (`HotPotQA`); `task_name`, what a task is called
    (`question`); `pinned`, the names of settings that are options, too, and that a resumed run is given as it recorded
    them. What it may be able to do beside, such as measuring more than success, stands in `envs.declarations`.
    """

    name: str
    max_steps: int
    feedback: str
    prompts: Prompts

    def load(self, count: int | None = None, seed: int = 0) -> Split:
        """Return the split, in the order of ids, or the `count` tasks that stand for it.

        Args:
            count: how many; None for all.
            seed: of the draw, where the tasks that stand for the split are drawn.

        Raises:
            UsageError: the data is not there or not usable, or has fewer tasks; the message says what would be right.
        """
        ...

    def start(self, task: Task) -> Episode:
        """Return a fresh episode; cheap until `reset` is called."""
        ...

    def read_action(self, completion: str, policy: ParsePolicy) -> Action:
        """Finds the action in what a model wrote. Never raises."""
        ...

    def tools(self) -> tuple[Mapping[str, Any], ...]:
        """Its actions as native tools of the chat completions API; none where it has only words."""
        ...

    def read_call(self, name: str, arguments: str, thought: str, extra: int) -> Action:
        """Return the action of a native tool call. Never raises.

        Args:
            name, arguments: of the first call of a reply.
            thought: the text beside it.
            extra: how many further calls the reply held; they are not executed.
        """
        ...

    def without_feedback(self) -> Environment:
        """Return the same environment, which tells no agent whether it succeeded.

        For arms in which something else decides.
        """
        ...

    def settings(self) -> Mapping[str, Any]:
        """Return what must be on every row for two rows to be comparable: engine, versions, corpus and its hash."""
        ...

    def close(self) -> None:
        """Ends worker processes and the like; safe to call twice."""
        ...


@runtime_checkable
class ReadsAdmissible(Protocol):
    """What an `Environment` also is where it can read a near miss as the one admissible command that is meant."""

    def read_admissible(self, completion: str, admissible: Sequence[str]) -> Action:
        """Finds the action in what a model wrote. Never raises.

        Args:
            completion: what the model wrote.
            admissible: what the environment would accept now, from `OffersAdmissible.admissible`.
        """
        ...


@runtime_checkable
class OffersAdmissible(Protocol):
    """What an `Episode` also is where it can say which commands it would accept now."""

    def admissible(self) -> Sequence[str]:
        """Return every command that would be accepted now."""
        ...


@runtime_checkable
class CallsTools(Environment, Protocol):
    """An environment that can write its commands as calls of its own tools: for examples and for what was done."""

    def as_call(self, command: str) -> tuple[str, str] | None:
        """Return the name of the tool and its arguments as JSON text; None for a command that is no call."""
        ...
