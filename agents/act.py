"""Act: ReAct with the thoughts taken out (Yao et al., ICLR 2023, section 3.2, "Acting-only prompt")."""

from __future__ import annotations

from dataclasses import replace

from reflex_bench.agents.base import Ask, Limits, Trajectory, Watch
from reflex_bench.agents.messages import format_turn
from reflex_bench.agents.react import react
from reflex_bench.core.parts import stating
from reflex_bench.envs.base import Environment, Example, Prompts, Task
from reflex_bench.envs.text_form import TextForm


@stating(needs="act_instruction")
def act(
    task: Task,
    trial: int,
    memory: tuple[str, ...],
    environment: Environment,
    ask: Ask,
    limits: Limits,
    watch: Watch | None = None,
) -> Trajectory:
    """Plays one trial without thoughts. Implements `reflex_bench.agents.base.Agent`."""
    return react(task, trial, memory, environment, ask, limits, watch, without_thoughts(environment))


def without_thoughts(environment: Environment) -> Prompts:
    """Return the environment's texts, its examples stripped of their thoughts."""
    prompts = environment.prompts
    examples = {
        kind: tuple(_stripped(example, environment) for example in shown)
        for kind, shown in prompts.examples.items()
    }
    return replace(
        prompts,
        instruction=prompts.act_instruction,
        examples=examples,
        text=_acting_only(prompts.text),
        published=_acting_only(prompts.published) if prompts.published else None,
    )


def _acting_only(form: TextForm) -> TextForm:
    """Return the form of a running text in which a turn begins with its action."""
    return replace(
        form,
        begin=form.begin_action or form.begin,
        begin_action="",
        two_calls=False,
        instruction=form.act_instruction,
    )


def _stripped(example: Example, environment: Environment) -> Example:
    turns: list[tuple[str, str]] = []
    seen = ""
    for observation, reply in example.turns:
        # The answer to a turn that only thought tells nothing: what was seen before it stands.
        seen = seen or observation
        action = environment.read_action(reply, "repair")
        if action.command is not None:
            turns.append((seen, format_turn(replace(action, thought=""), reply, environment.prompts)))
            seen = ""
    return Example(tuple(turns), example.closing)
