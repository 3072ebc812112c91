"""ReAct: reasoning and acting in turns.

Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models", ICLR 2023, section 2: at every step the agent,
given all it has said and seen, says a thought or an action; an action is executed and its observation appended; a
thought changes nothing but the context.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from reflex_bench.agents.base import Ask, CallLimit, Limits, Outcome, Step, Trajectory, Watch
from reflex_bench.agents.cutting import missing
from reflex_bench.agents.guards import is_loop
from reflex_bench.agents.messages import opening
from reflex_bench.envs.base import Action, Environment, Episode, Prompts, StepResult, Task
from reflex_bench.harness.errors import ContextOverflow
from reflex_bench.models.base import Message, Reply

GIVE_UP = "give up"
"""The action by which an agent ends its trial, in every environment."""


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
            action = read(reply, environment, limits)
            result = _execute(action, episode, prompts)
            steps.append(Step.of(len(steps) + 1, reply.text, action, result, reply.reasoning))
            conversation.append(thinking(Message("assistant", said(action, reply.text, prompts)), reply))
            conversation.append(Message("user", result.observation))
            outcome = "cut_off" if missing(reply) == "answer" else _ending(action, result, steps, limits)
            if outcome is None and watch and (seen := watch(first, steps)).status == "wrong_path":
                outcome, remark = "wrong_path", seen.reason
        return Trajectory(task, trial, memory, first, tuple(steps), outcome, episode.result(), remark)


def read(reply: Reply, environment: Environment, limits: Limits) -> Action:
    """The action in a reply: its first native tool call, else what its text says; none where its end is missing."""
    if missing(reply, lambda text: environment.read_action(text, limits.parse)) in ("answer", "end"):
        return Action(error="cut_off")
    if reply.calls:
        first = reply.calls[0]
        return environment.read_call(first.name, first.arguments, reply.text.strip(), len(reply.calls) - 1)
    return environment.read_action(reply.text, limits.parse)


def _execute(action: Action, episode: Episode, prompts: Prompts) -> StepResult:
    if action.command == GIVE_UP:
        return StepResult("")
    if action.command is not None:
        return episode.step(action.command)
    if action.error is None:
        return StepResult(prompts.thought_observation)
    return StepResult(prompts.invalid_observation, valid=False)


def thinking(turn: Message, reply: Reply) -> Message:
    """A turn with the reasoning that it came from; whether that is sent back, the role's settings decide."""
    if not reply.reasoning:
        return turn
    return replace(turn, reasoning=reply.reasoning_data or reply.reasoning, form=reply.reasoning_form)


def said(action: Action, reply: str, prompts: Prompts) -> str:
    """The turn as it stays in the conversation: what was read out of the reply, in the form of the examples.

    What the parser cut (an invented observation, a second action) must not come back as context. A reply in which
    nothing could be read stays as it was, cut to a length that cannot fill the context, and never empty: some servers
    refuse that.
    """
    parts = [prompts.thought_form.format(action.thought)] if action.thought else []
    if action.command is not None:
        parts.append(prompts.action_form.format(action.command))
    return "\n".join(parts) or reply.strip()[:500] or "(nothing)"


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
