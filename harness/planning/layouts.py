"""Layout of episodes: what its settings mean for an environment's texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflex_bench.agents.base import Layout, Limits
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Environment, Prompts
from reflex_bench.harness.planning.config import Config


def limits_of(config: Config, environment: Environment) -> Limits:
    """Return the settings of a trial as agents take them.

    Raises:
        UsageError: the environment has fewer examples, or the settings do not go together.
    """
    limits = config.limits
    return Limits(
        max_steps=limits.max_steps or environment.max_steps,
        cycles=limits.cycles,
        parse=limits.parse,
        actions=limits.actions,
        same_action=limits.same_action,
        ask_again=limits.ask_again,
        layout=_layout_of(config, environment),
    )


def _layout_of(config: Config, environment: Environment) -> Layout:
    layout = config.layout
    text = layout.form == "text" or config.endpoint.api == "completions"
    if text and config.limits.actions == "tools":
        raise UsageError(
            "actions=tools: native tools are called in the turns of a chat; use api=chat, layout.form=turns"
        )
    if layout.structure == "published" and not text:
        raise UsageError(
            "layout.structure=published: the published loops send one text; use layout.form=text"
        )
    return Layout(
        text=text,
        published=layout.structure == "published",
        examples=_places(config.examples, environment.prompts, environment.name),
        example_turns=layout.examples == "turns",
        labels=layout.labels,
        instruction_last=layout.instruction == "last",
        prefill=layout.prefill,
    )


def _places(examples: int | list[int] | None, prompts: Prompts, name: str) -> tuple[int, ...] | None:
    if examples is None:
        return None
    shipped = min(map(len, prompts.examples.values()), default=0)
    places = tuple(range(examples)) if isinstance(examples, int) else tuple(each - 1 for each in examples)
    if any(place >= shipped for place in places):
        raise UsageError(f"examples={examples}: {name} has {shipped} of each type, numbered from 1")
    return places


def settings_of(layout: Layout, prompts: Prompts) -> Mapping[str, Any]:
    """Return what stands on a row."""
    shown = {len(each) for each in prompts.examples.values()}
    everything = max(shown, default=0)
    if layout.text:
        written = "published text" if layout.published and prompts.published else "text"
    else:
        parts = {
            "examples in one message": not layout.example_turns,
            "no labels": not layout.labels,
            "instruction last": layout.instruction_last,
            "prefilled": layout.prefill,
        }
        written = ", ".join(["turns", *(part for part, there in parts.items() if there)])
    numbers = layout.examples
    counted = everything if numbers is None else len(numbers)
    in_order = numbers is None or numbers == tuple(range(counted))
    which = counted if in_order else ",".join(str(place + 1) for place in numbers or ())
    return {"examples": which, "layout": written}
