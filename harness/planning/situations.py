"""Situations of the prompt hash: a fixed set, in which everything that a part puts before a model is written down.

The parts are the real ones: agents play, judges judge and reflectors reflect as in a run, on an episode whose answers
are fixed and with replies that are fixed. No model is asked, and no data of an environment is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from reflex_bench.agents.base import (
    ENDED,
    Agent,
    CallLimit,
    Evaluator,
    Limits,
    Outcome,
    Step,
    StepEvaluator,
    Trajectory,
    Verdict,
)
from reflex_bench.agents.evaluation.evaluators import Heuristic, as_judged
from reflex_bench.agents.react import GIVE_UP
from reflex_bench.agents.reflection.reflectors import Reflector
from reflex_bench.agents.transcripts import summary_of
from reflex_bench.core.errors import ContextOverflow
from reflex_bench.envs.base import CallsTools, Environment, Prompts, StepResult, Task
from reflex_bench.harness.parts.doors import Door, beside
from reflex_bench.models.base import Message, Reply, ToolCall

OPENING = "You are in a room with a shelf 1 and a box 2.\n\nYour task is to: put a book in box 2."
WHAT_FAILED = "The box was empty."
"""A reflection that asks for nothing: a directive says of it what failed."""
MEMORY = (
    "I looked at shelf 1 first and found no book.",
    "Next time I should go to box 2 and look for a book there.",
)
GOLD = "Shelf: The book lies on the shelf."
REMARK = "the book was never found"
SAID_NOTHING, SAID_TOO_MUCH, NO_WORDS = "", "x" * 300, "?! ?! ?!"
LONG = 9000
"""Characters of an observation that must be left out where a trial is shortened."""

DRAFTS: tuple[tuple[str, str], ...] = (
    ("After 500 steps my ninth attempt ended at the", "length"),
    (
        "- Next time I should return to shelf 1.\n"
        "- I should see the shelf 1 now, see the shelf 1 now and see the shelf 1 now.",
        "stop",
    ),
)
"""Reflections, with their reasons to finish, of which each breaks several rules of the audit
(`reflex_bench.agents.reflection.audit`).

The rule `copied_example` needs words of the environment's own texts; `_drafts` adds them. Between them they break every
rule, so that a reflector is told every one.
"""

JUDGED = '{"reason": "the book was not put away", "critical_step": 1, "efficiency": "", "score": 0.5, "success": false}'
ASSESSED = '{"reason": "it looks in the wrong place", "status": "deviation"}'
DIAGNOSED = (
    '{"failed_step": 1, "expected": "a book on shelf 1", "observed": "no book", "deviation_type": "premise_error", '
    '"root_cause": "the book is elsewhere", "correction": "go to box 2 first", "confidence": 0.5}'
)
UNUSABLE = "There is no object in this."
ONLY_REASONING = "<think>There is no end to this."


@dataclass
class Script:
    """An `Ask` that answers with fixed replies, over and over, and writes down what it was asked.

    Attributes:
        replies: in order; an exception is raised.
        in_one: conversations are sent as one running text.
        asked: every conversation, with the stops that came with it.
        limit: calls until `CallLimit` is raised.
    """

    replies: Sequence[Reply | Exception]
    in_one: bool = False
    limit: int = 40
    asked: list[Any] = field(default_factory=list)

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        """See `Ask`."""
        if len(self.asked) >= self.limit:
            raise CallLimit(f"{self.limit} model calls")
        reply = self.replies[len(self.asked) % len(self.replies)]
        self.asked.append([[self._sent(message) for message in messages], list(stop)])
        if isinstance(reply, Exception):
            raise reply
        return reply

    def _sent(self, message: Message) -> list[Any]:
        text = message.text or message.content if self.in_one else message.content
        call = [message.call.name, message.call.arguments] if message.call else None
        return [message.role, text, call, message.call_id]


class FixedEpisode:
    """An episode that answers every command alike, and never ends."""

    def reset(self) -> str:
        """Return the task."""
        return OPENING

    def step(self, command: str) -> StepResult:
        """Return an answer that does not depend on the command."""
        return StepResult("You see a book 1.")

    def result(self) -> dict[str, Any]:
        """Return no measurement."""
        return {}

    def close(self) -> None:
        """Do nothing: nothing is held."""


def staged(environment: Environment) -> Environment:
    """Return the environment with its own texts, readers and tools, whose episodes are `FixedEpisode`."""
    own: dict[str, Callable[..., Any]] = {"start": lambda task: FixedEpisode()}
    if hasattr(environment, "gold_context"):
        own["gold_context"] = lambda task: GOLD
    return cast(Environment, beside(environment, own))


def task_of(kind: str) -> Task:
    """Return the task of all situations, as one of the given type."""
    return Task("situation", kind, "put a book in box 2", "0" * 64)


def playing(agent: Agent, environment: Environment, limits: Limits) -> Iterator[list[Any]]:
    """Yield what an agent puts before a model.

    The beginning of a trial of every type, and one whole trial with a memory.
    """
    environment, kinds = staged(environment), list(environment.prompts.examples) or [""]
    limits = replace(limits, cycles=0, same_action=False, max_steps=1)
    actions = _actions(environment, kinds)
    for kind in kinds:
        begun = Script([Reply(SAID_NOTHING)], limits.layout.text, limit=1)
        Door(agent, environment, begun).play(task_of(kind), 1, (), limits, None)
        yield begun.asked
    whole = Script(_replies(environment, limits, actions), limits.layout.text)
    longer = replace(limits, max_steps=2 * len(whole.replies))
    memory = MEMORY if limits.layout.memory == "task" else (*MEMORY, WHAT_FAILED)
    Door(agent, environment, whole).play(task_of(kinds[0]), 2, memory, longer, None)
    yield whole.asked


def _actions(environment: Environment, kinds: Sequence[str]) -> list[str]:
    """Return some turns of the worked examples: what a model would write here."""
    shown = [example for kind in kinds for example in environment.prompts.examples.get(kind, ())]
    return [said for example in shown[:1] for _, said in example.turns[:3]]


def _replies(environment: Environment, limits: Limits, actions: Sequence[str]) -> list[Reply]:
    """Return a thought, actions, and what cannot be read in every way that is answered differently."""
    prompts = environment.prompts
    thought = prompts.thought_form.format("I have to find a book.")
    unread = [SAID_NOTHING, SAID_TOO_MUCH, NO_WORDS, "The weather is fine today.\nNo action: stands here"]
    words = [thought, *actions, *unread, *unread]
    replies = [Reply(text, finish="stop") for text in words]
    if limits.actions == "tools" and isinstance(environment, CallsTools):
        commands = [environment.read_action(said, "repair").command for said in actions]
        calls = [environment.as_call(command) for command in commands if command is not None]
        replies += [Reply("", calls=(ToolCall(*call),)) for call in calls if call is not None]
    return [*replies, Reply(prompts.action_form.format(GIVE_UP), finish="stop")]


def failed_trial(environment: Environment, limits: Limits) -> Trajectory:
    """Return a trial with an action, a thought, and a reply in which nothing could be read."""
    commands = [
        environment.read_action(said, "repair")
        for said in _actions(environment, [*environment.prompts.examples])
    ]
    actions = [action.command for action in commands if action.command is not None] or ["go to shelf 1"]
    prompts = environment.prompts
    steps = (
        Step(1, "…", "I have to find a book.", None, prompts.thought_observation),
        Step(2, "…", "", actions[0], "You see shelf 1."),
        Step(3, "…", "", "go to shelf 1", "You see shelf 1."),
        Step(
            4,
            "The weather is fine.",
            "The weather is fine.",
            None,
            prompts.invalid_observation,
            False,
            "no_action",
        ),
        Step(5, SAID_NOTHING, "", None, prompts.invalid_observation, False, "empty"),
    )
    return Trajectory(task_of(""), 1, (), OPENING, steps, "step_limit")


def too_long(trial: Trajectory) -> Trajectory:
    """Return the trial with more in it than a shortened one keeps (`reflex_bench.agents.transcripts.shortened`)."""
    steps = [replace(step, observation="book " * (LONG // 5), reply="x" * 2000) for step in trial.steps]
    steps = [replace(step, thought="I look. " * 400, action="look", error=None) for step in steps]
    return replace(trial, steps=tuple(steps))


def reflecting(reflect: Reflector, environment: Environment, limits: Limits) -> Iterator[list[Any]]:
    """Yield what a reflector puts before a model, and what of its reflections stands before the next trial's."""
    prompts, trial = environment.prompts, failed_trial(environment, limits)
    unanswered = [CallLimit("no reply")]
    for outcome in (*ENDED, *getattr(environment, "further_outcomes", ())):
        failed = replace(trial, outcome=cast(Outcome, outcome), remark=REMARK if outcome == "loop" else "")
        yield _reflected(reflect, failed, prompts, unanswered)
    for verdict in _verdicts(trial, prompts):
        yield _reflected(reflect, as_judged(trial, verdict), prompts, unanswered)
    # A reflection that is kept; then those that are not, each asked for once more. A failure of the same kind is summed
    # up, and the earlier reflections are there.
    history = (summary_of(trial, MEMORY[0]),)
    yield _reflected(reflect, trial, prompts, [Reply(MEMORY[1], finish="stop")])
    for text, finish in _drafts(prompts):
        earlier = (*MEMORY, " ".join(text.split()))
        yield _reflected(reflect, trial, prompts, [Reply(text, finish=finish), *unanswered], earlier, history)
    for texts in ([UNUSABLE, DIAGNOSED], [ONLY_REASONING, DIAGNOSED.replace("box 2", "a place"), DIAGNOSED]):
        yield _reflected(reflect, trial, prompts, [Reply(text) for text in texts])
    overflow: list[Reply | Exception] = [ContextOverflow("the prompt does not fit"), *unanswered]
    yield _reflected(reflect, too_long(trial), prompts, overflow)


def _drafts(prompts: Prompts) -> Iterator[tuple[str, str]]:
    yield from DRAFTS
    yield " ".join(prompts.instruction.split())[:400], "stop"


def _reflected(
    reflect: Reflector,
    failed: Trajectory,
    prompts: Prompts,
    replies: Sequence[Reply | Exception],
    earlier: Sequence[str] = (),
    history: Sequence[str] = (),
) -> list[Any]:
    script = Script(replies, limit=8)
    made = reflect(failed, earlier, prompts, script, history)
    return [script.asked, made.text if made is not None and made.kept else None]


def _verdicts(trial: Trajectory, prompts: Prompts) -> Iterator[Verdict]:
    """Yield what our own evaluators remark about a trial: it stands before a reflector."""
    steps = tuple(Step(n, "…", "", "look", "You see nothing.") for n in range(1, 4))
    yield Heuristic(cycles=1)(replace(trial, steps=steps), prompts, _silent)
    yield Heuristic(cycles=0, max_actions=1)(replace(trial, steps=steps), prompts, _silent)


def _silent(messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
    return Reply("")


def judging(evaluate: Evaluator, environment: Environment, limits: Limits) -> Iterator[list[Any]]:
    """Yield what a judge puts before a model, and what its verdict's reason puts before a reflector."""
    trial = failed_trial(environment, limits)
    for replies in ([JUDGED], [UNUSABLE, JUDGED], [ONLY_REASONING, JUDGED], [UNUSABLE, UNUSABLE]):
        script = Script([Reply(text) for text in replies], limit=4)
        verdict = evaluate(trial, environment.prompts, script)
        yield [script.asked, as_judged(trial, verdict).remark]


def watching(judge: StepEvaluator, environment: Environment, limits: Limits) -> Iterator[list[Any]]:
    """Yield what a judge of a trial under way puts before a model."""
    trial = failed_trial(environment, limits)
    for replies in ([ASSESSED], [UNUSABLE, ASSESSED]):
        script = Script([Reply(text) for text in replies], limit=4)
        verdict = judge(trial.opening, trial.steps, environment.prompts, script)
        yield [script.asked, verdict.reason]


def told_by_itself(environment: Environment, limits: Limits) -> Iterator[list[Any]]:
    """Yield the environment's tools, where they are sent, and what it answers by itself (`sample_observations`)."""
    if limits.actions == "tools":
        yield [json.loads(json.dumps(environment.tools(), ensure_ascii=False))]
    observations = getattr(environment, "sample_observations", None)
    if observations is not None:
        yield list(observations())
