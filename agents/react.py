"""ReAct: reasoning and acting in turns.

Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models", ICLR 2023, section 2: at every step the agent,
given all it has said and seen, says a thought or an action; an action is executed and its observation appended; a
thought changes nothing but the context.
"""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace

from reflex_bench.agents.base import Ask, CallLimit, Limits, Outcome, Step, Trajectory, Watch
from reflex_bench.agents.cutting import missing
from reflex_bench.agents.guards import is_loop
from reflex_bench.agents.messages import opening
from reflex_bench.envs.base import (
    Action,
    Environment,
    Episode,
    OffersAdmissible,
    Prompts,
    ReadsAdmissible,
    StepResult,
    Task,
)
from reflex_bench.harness.errors import ContextOverflow
from reflex_bench.models.base import Message, Reply

GIVE_UP = "give up"
"""The action by which an agent ends its trial, in every environment."""
UNREADABLE = "(unreadable)"
"""What stands in the conversation for a reply in which nothing could be read."""
LONGEST_UNREAD = 200
"""Characters of a reply without an action that come back to the model."""


def react(
    task: Task,
    trial: int,
    memory: tuple[str, ...],
    environment: Environment,
    ask: Ask,
    limits: Limits,
    watch: Watch | None = None,
    prompts: Prompts | None = None,
) -> Trajectory:
    """Plays one trial. Implements `reflex_bench.agents.base.Agent`; `prompts` may differ from the environment's."""
    prompts = prompts or environment.prompts
    with closing(environment.start(task)) as episode:
        first = episode.reset()
        conversation = list(opening(prompts, task.type, first, memory))
        steps: list[Step] = []
        outcome: Outcome | None = None
        remark = ""
        while outcome is None:
            try:
                reply = ask(conversation, step=len(steps) + 1, stop=prompts.stop)
            except CallLimit:
                outcome = "budget"
                break
            except ContextOverflow as limit:
                outcome, remark = "context_limit", str(limit)
                break
            action = read(reply, environment, limits, episode)
            result = _execute(action, reply.text, episode, prompts)
            steps.append(Step.of(len(steps) + 1, reply.text, action, result, reply.reasoning))
            conversation.append(thinking(Message("assistant", said(action, reply.text, prompts)), reply))
            conversation.append(Message("user", result.observation))
            outcome = "cut_off" if missing(reply) == "answer" else _ending(action, result, steps, limits)
            if outcome is None and watch and (seen := watch(first, steps)).status == "wrong_path":
                outcome, remark = "wrong_path", seen.reason
        return Trajectory(task, trial, memory, first, tuple(steps), outcome, episode.result(), remark)


def read(reply: Reply, environment: Environment, limits: Limits, episode: Episode | None = None) -> Action:
    """The action in a reply: its first native tool call, else what its text says; none where its end is missing.

    Args:
        reply: of the model.
        environment: reads it.
        limits: `parse` says how freely.
        episode: says what is admissible now, where the policy asks for that.
    """
    if missing(reply, lambda text: environment.read_action(text, limits.parse)) in ("answer", "end"):
        return Action(error="cut_off")
    if reply.calls:
        first = reply.calls[0]
        return environment.read_call(first.name, first.arguments, reply.text.strip(), len(reply.calls) - 1)
    if limits.parse == "admissible" and isinstance(environment, ReadsAdmissible):
        admissible = episode.admissible() if isinstance(episode, OffersAdmissible) else ()
        return environment.read_admissible(reply.text, admissible)
    return environment.read_action(reply.text, limits.parse)


def _execute(action: Action, reply: str, episode: Episode, prompts: Prompts) -> StepResult:
    if action.command == GIVE_UP:
        return StepResult("")
    if action.command is not None:
        return episode.step(action.command)
    if action.error is None:
        return StepResult(prompts.thought_observation)
    return StepResult(not_understood(prompts, reply), valid=False)


def not_understood(prompts: Prompts, reply: str) -> str:
    """The answer to a reply in which no action could be found.

    Some environments name what was written in the place of an action (ReAct's `Invalid action: …`): the text behind the
    last label of the reply, or its last line.
    """
    text = prompts.invalid_observation
    if "{command}" not in text:
        return text
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    written = lines[-1] if lines else ""
    label = re.match(r"\w+(?: \d+)?: ", written)
    return text.replace("{command}", written[label.end() if label else 0 :][:LONGEST_UNREAD])


def thinking(turn: Message, reply: Reply) -> Message:
    """A turn with the reasoning that it came from; whether that is sent back, the role's settings decide."""
    if not (reply.reasoning or reply.reasoning_data):
        return turn
    return replace(turn, reasoning=reply.reasoning_data or reply.reasoning, form=reply.reasoning_form)


def said(action: Action, reply: str, prompts: Prompts) -> str:
    """The turn as it stays in the conversation: what was read out of the reply, in the form of the examples.

    What the parser cut (an invented observation, a second action) must not come back as context. Of a reply in which no
    action could be found only the beginning of its thought stays, or a placeholder: a model goes on with whatever it
    sees itself write. Never empty: some servers refuse that.
    """
    thought = action.thought
    if action.error is not None:
        thought = thought[:LONGEST_UNREAD] if _is_prose(thought) else ""
    parts = [prompts.thought_form.format(thought)] if thought else []
    if action.command is not None:
        parts.append(prompts.action_form.format(action.command))
    return "\n".join(parts) or (UNREADABLE if reply.strip() else "(nothing)")


def _is_prose(thought: str) -> bool:
    """Whether a thought has words, and not the same few over and over."""
    words = re.findall(r"\w{2,}", thought.lower())
    return bool(words) and len(set(words)) * 4 >= len(words)


def _ending(action: Action, result: StepResult, steps: list[Step], limits: Limits) -> Outcome | None:
    if result.won:
        return "success"
    if result.done:
        return "failure"
    if action.command == GIVE_UP:
        return "gave_up"
    if is_loop(steps, limits.cycles):
        return "loop"
    return "step_limit" if len(steps) >= limits.max_steps else None
