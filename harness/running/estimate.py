"""Estimate of what a run is likely to take (`--dry-run`).

An estimate from the real prompts of a few of the run's tasks, from the length of the turns in their examples, and from
how runs usually go; the constants below were read off runs of both environments with the simulated model.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from reflex_bench.agents.conversation import Conversation
from reflex_bench.envs.base import Environment
from reflex_bench.harness.planning.arms import Arm
from reflex_bench.harness.planning.plan import Plan
from reflex_bench.harness.running.memory_io import remembers
from reflex_bench.models.base import CHARACTERS_PER_TOKEN, Usage, characters_of_tools, estimated_tokens

SAMPLED_TASKS = 5
SUCCESS_OF_A_TRIAL = 0.45
SHARE_OF_THE_STEP_CAP = 0.45
SHARE_WITH_REFLECTIONS = 0.4
TOKENS_OF_A_REFLECTION = 80


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run is likely to take.

    Attributes:
        trials, calls, prompt_tokens, completion_tokens: of all arms; a shared first trial is counted once.
        most_calls: an upper bound.
        cost: US dollars; None where the price of a model is unknown.
    """

    trials: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    most_calls: int
    cost: float | None


def estimate(plan: Plan) -> Estimate:
    """Estimates a run from its plan. Opens a few tasks; calls no model.

    A plan that is a preview stands for as many tasks as its configuration asks for.
    """
    tasks = tasks_of(plan)
    trials = calls = prompt = completion = 0.0
    cost: float | None = 0.0
    shared: set[str] = set()
    for arm in plan.arms:
        start, (turn, observation) = _opening_tokens(plan, arm.environment), _example_tokens(arm.environment)
        acting = arm.key("run", "acting", "watching")
        first = 0 if plan.config.share_first_trial and acting in shared else 1
        shared.add(acting)
        own = tasks * (first + _retries(plan))
        reflects = remembers(arm)
        steps = max(
            1.0, plan.limits.max_steps * (SHARE_WITH_REFLECTIONS if reflects else SHARE_OF_THE_STEP_CAP)
        )
        growth = (turn + observation) * steps / 2
        remembered = _remembered(arm, plan.trials)
        reflections = tasks * _retries(plan) if reflects else 0.0
        asked = own * steps * (start + growth + remembered) + reflections * (start + 2 * growth)
        said = own * steps * turn + reflections * TOKENS_OF_A_REFLECTION
        price = plan.models[arm.actor.model].cost(Usage(round(asked), round(said), 0))
        cost = None if cost is None or price is None else cost + price
        trials, calls = trials + own, calls + own * steps + reflections
        prompt, completion = prompt + asked, completion + said
    most = tasks * plan.trials * (plan.max_calls + 2) * len(plan.arms)
    return Estimate(round(trials), round(calls), round(prompt), round(completion), most, cost)


def tasks_of(plan: Plan) -> int:
    """Return how many tasks a run of a plan has."""
    return plan.config.tasks or len(plan.split.tasks)


def _retries(plan: Plan) -> float:
    """Trials after the first that a chain is expected to run."""
    if plan.independent:
        return plan.trials - 1
    return sum((1 - SUCCESS_OF_A_TRIAL) ** (trial - 1) for trial in range(2, plan.trials + 1))


def _remembered(arm: Arm, trials: int) -> float:
    """Return tokens of memory in an average prompt."""
    if not remembers(arm):
        return 0.0
    return TOKENS_OF_A_REFLECTION * min(arm.memory.size, max(0, trials - 1) / 2)


def _opening_tokens(plan: Plan, environment: Environment) -> float:
    """Return tokens of the conversation before the agent's first turn, over the first few tasks."""
    total = 0.0
    sampled = plan.split.tasks[:: max(1, len(plan.split.tasks) // SAMPLED_TASKS)][:SAMPLED_TASKS]
    for task in sampled:
        with closing(environment.start(task)) as episode:
            conversation = Conversation.opened(
                environment, environment.prompts, plan.limits, task.type, episode.reset(), ()
            )
        total += estimated_tokens(conversation.messages)
    return total / len(sampled) + _tool_tokens(plan)


def _tool_tokens(plan: Plan) -> float:
    """Return tokens of the tools' definitions, which are a part of every prompt."""
    if plan.limits.actions != "tools":
        return 0.0
    return characters_of_tools(plan.environment.tools()) / CHARACTERS_PER_TOKEN


def _example_tokens(environment: Environment) -> tuple[float, float]:
    """Return tokens of a turn and of an observation, as long as they are in the prompts' examples."""
    examples = [example for each in environment.prompts.examples.values() for example in each]
    said = [text for example in examples for _, text in example.turns]
    seen = [text for example in examples for text, _ in example.turns[1:]]
    return _mean_tokens(said), _mean_tokens(seen)


def _mean_tokens(texts: Sequence[str]) -> float:
    return sum(map(len, texts)) / max(1, len(texts)) / CHARACTERS_PER_TOKEN
