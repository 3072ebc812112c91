"""ReAct: reasoning and acting in turns.

Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models", ICLR 2023, section 2: at every step the agent,
given all it has said and seen, says a thought or an action; an action is executed and its observation appended; a
thought changes nothing but the context.
"""

from __future__ import annotations

import re
from contextlib import closing

from reflex_bench.agents.base import Ask, CallLimit, Limits, Outcome, Step, Trajectory, Watch
from reflex_bench.agents.conversation import Conversation
from reflex_bench.agents.guards import is_loop, says_the_same_again
from reflex_bench.agents.messages import MAX_UNREAD_LENGTH
from reflex_bench.agents.reflection.cutting import missing
from reflex_bench.core.errors import ContextOverflow
from reflex_bench.envs.base import HANDED_OVER, Action, Environment, Episode, Prompts, StepResult, Task

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
        conversation = Conversation.opened(environment, prompts, limits, task.type, first, memory, episode)
        steps: list[Step] = []
        outcome: Outcome | None = None
        remark = ""
        while outcome is None:
            try:
                turn = conversation.ask(ask, len(steps) + 1)
            except CallLimit:
                outcome = "budget"
                break
            except ContextOverflow as limit:
                outcome, remark = "context_limit", str(limit)
                break
            result = _execute(turn.action, turn.words, episode, prompts)
            steps.append(Step.of(len(steps) + 1, turn.words, turn.action, result, turn.reply.reasoning))
            conversation.add(turn, result.observation)
            cut_off = missing(turn.reply) == "answer"
            outcome = "cut_off" if cut_off else _ending(turn.action, result, steps, limits)
            if outcome is None and watch and (seen := watch(first, steps)).status == "wrong_path":
                outcome, remark = "wrong_path", seen.reason
        return Trajectory(task, trial, memory, first, tuple(steps), outcome, episode.result(), remark)


def _execute(action: Action, reply: str, episode: Episode, prompts: Prompts) -> StepResult:
    if action.command == GIVE_UP:
        return StepResult("")
    if action.command is not None:
        return episode.step(action.command)
    if action.error is None:
        return StepResult(prompts.thought_observation)
    return StepResult(not_understood(prompts, reply), valid=False)


def not_understood(prompts: Prompts, reply: str) -> str:
    """Return the answer to a reply in which no action could be found.

    Some environments name what was written in the place of an action (ReAct's `Invalid action: …`): the text behind the
    last label of the reply, or its last line.
    """
    text = prompts.invalid_observation
    if "{command}" not in text:
        return text
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    written = lines[-1] if lines else ""
    label = re.match(r"\w+(?: \d+)?: ", written)
    return text.replace("{command}", written[label.end() if label else 0 :][:MAX_UNREAD_LENGTH])


def _ending(action: Action, result: StepResult, steps: list[Step], limits: Limits) -> Outcome | None:
    if result.won:
        return "success"
    if result.done:
        return "handed_over" if result.reason == HANDED_OVER else "failure"
    if action.command == GIVE_UP:
        return "gave_up"
    if is_loop(steps, limits.cycles) or (limits.same_action and says_the_same_again(steps)):
        return "loop"
    return "step_limit" if len(steps) >= limits.max_steps else None
