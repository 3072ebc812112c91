"""Chain of thought: one thought, one answer, no environment in between.

Wei et al., NeurIPS 2022; as the baseline of ReAct (section 3.2, "Reasoning-only prompt") and as the agent of section
4.2 of Reflexion, there also with the gold paragraphs in the prompt ("CoT (GT)").
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from reflex_bench.agents.base import Ask, CallLimit, Limits, Outcome, Step, Trajectory, Watch
from reflex_bench.agents.conversation import Conversation
from reflex_bench.agents.react import not_understood
from reflex_bench.agents.reflection.cutting import missing
from reflex_bench.core.errors import ContextOverflow, UsageError
from reflex_bench.core.parts import stating
from reflex_bench.envs.base import Environment, Prompts, StepResult, Task


@stating(needs="cot_instruction")
def cot(
    task: Task,
    trial: int,
    memory: tuple[str, ...],
    environment: Environment,
    ask: Ask,
    limits: Limits,
    watch: Watch | None = None,
) -> Trajectory:
    """Answers from the question alone. Implements `reflex_bench.agents.base.Agent`."""
    return _answer(task, trial, memory, environment, ask, limits, gold="")


@stating(needs="cot_instruction", needs_method="gold_context")
def cot_gold(
    task: Task,
    trial: int,
    memory: tuple[str, ...],
    environment: Environment,
    ask: Ask,
    limits: Limits,
    watch: Watch | None = None,
) -> Trajectory:
    """Answers from the question and the paragraphs that hold the answer. Implements `reflex_bench.agents.base.Agent`.

    Raises:
        UsageError: the environment has no gold paragraphs.
    """
    gold = getattr(environment, "gold_context", None)
    if gold is None:
        raise UsageError(f"agent 'cot-gold': {environment.name} has no gold paragraphs")
    return _answer(task, trial, memory, environment, ask, limits, gold=f"{gold(task)}\n\n")


def _answer(
    task: Task,
    trial: int,
    memory: tuple[str, ...],
    environment: Environment,
    ask: Ask,
    limits: Limits,
    gold: str,
) -> Trajectory:
    prompts = environment.prompts
    alone = _in_one_turn(prompts)
    limits = replace(limits, layout=replace(limits.layout, examples=None))
    with closing(environment.start(task)) as episode:
        first = gold + episode.reset()
        steps: tuple[Step, ...] = ()
        outcome: Outcome
        remark = ""
        conversation = Conversation.opened(environment, alone, limits, task.type, first, memory, episode)
        try:
            turn = conversation.ask(ask, 1)
        except (CallLimit, ContextOverflow) as limit:
            outcome = "budget" if isinstance(limit, CallLimit) else "context_limit"
            remark = "" if isinstance(limit, CallLimit) else str(limit)
        else:
            result = StepResult(not_understood(prompts, turn.words), valid=False)
            if turn.action.command is not None:
                result = episode.step(turn.action.command)
            steps = (Step.of(1, turn.words, turn.action, result, turn.reply.reasoning),)
            # Anything but an answer is none: there is no second turn.
            outcome = "success" if result.won else "failure" if result.done else "step_limit"
            outcome = "cut_off" if missing(turn.reply) == "answer" else outcome
        return Trajectory(task, trial, memory, first, steps, outcome, episode.result(), remark)


def _in_one_turn(prompts: Prompts) -> Prompts:
    """Return the texts for an agent that answers in one turn."""
    return replace(
        prompts,
        instruction=prompts.cot_instruction,
        tools_instruction="",
        examples={"": prompts.cot_examples},
        text=replace(prompts.text, instruction=""),
        published=None,
    )
