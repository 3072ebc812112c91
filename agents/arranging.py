"""Adaptation of an environment's texts to a run: fewer examples, other instructions, no labels."""

from __future__ import annotations

from dataclasses import replace

from reflex_bench.agents.base import Layout, Limits
from reflex_bench.envs.base import Example, Prompts
from reflex_bench.envs.text_form import TextForm


def arranged(prompts: Prompts, limits: Limits) -> Prompts:
    """Return the texts as they are put before a model."""
    layout, prompts = limits.layout, shown_to_agents(prompts, limits)
    if limits.actions == "tools":
        return replace(prompts, instruction=prompts.tools_instruction or prompts.instruction)
    if layout.text:
        form = form_of(prompts, layout)
        return replace(prompts, instruction=form.instruction or prompts.instruction, text=form)
    return prompts if layout.labels else without_labels(prompts)


def shown_to_agents(prompts: Prompts, limits: Limits) -> Prompts:
    """Return the texts with those worked examples alone that are shown."""
    places = limits.layout.examples
    if places is None:
        return prompts
    chosen = {kind: tuple(each[place] for place in places) for kind, each in prompts.examples.items()}
    return replace(prompts, examples=chosen)


def form_of(prompts: Prompts, layout: Layout) -> TextForm:
    """Return the running text's form: the published one where that is wanted and there is one."""
    return prompts.published if layout.published and prompts.published else prompts.text


def without_labels(prompts: Prompts) -> Prompts:
    """Return the texts without the labels before thoughts and actions, where actions have one.

    A thought that stands alone in its turn keeps its label: it is how an environment tells it from an action.
    """
    labels = [form.removesuffix("{}") for form in (prompts.thought_form, prompts.action_form)]
    if not all(labels):
        return prompts

    def bare(text: str) -> str:
        lines = text.splitlines()
        for label in labels:
            lines = [line.removeprefix(label) for line in lines]
        return "\n".join(lines)

    examples = {
        kind: tuple(
            Example(tuple((seen, bare(said)) for seen, said in each.turns), each.closing) for each in shown
        )
        for kind, shown in prompts.examples.items()
    }
    return replace(
        prompts, instruction=bare(prompts.instruction), examples=examples, thought_form="{}", action_form="{}"
    )
