"""Prompts of the environments as YAML, one file for each.

In an example, lines that begin with `> ` are the agent's; all others are the environment's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any

import yaml

from reflex_bench.envs.base import Example, Prompts
from reflex_bench.envs.text_form import TextForm

AGENT_MARK = "> "


def load(name: str) -> Prompts:
    """Return the prompts of one environment, from `envs/prompts/<name>.yaml`."""
    return parse(files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8"))


def parse(text: str) -> Prompts:
    """Return prompts from YAML text.

    The keys are the attributes of `Prompts`, examples are written as plain transcripts.
    """
    raw = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    return Prompts(
        instruction=raw["instruction"].strip(),
        examples={kind: tuple(map(parse_example, texts)) for kind, texts in raw["examples"].items()},
        thought_observation=raw["thought_observation"],
        invalid_observation=raw["invalid_observation"],
        reflection_instruction=raw["reflection_instruction"].strip(),
        reflection_examples=tuple(
            (pair["episode"].strip(), pair["reflection"].strip()) for pair in raw["reflection_examples"]
        ),
        stop=tuple(raw.get("stop", ())),
        thought_form=raw["thought_form"],
        action_form=raw["action_form"],
        verbs=tuple(raw["verbs"]),
        act_instruction=raw.get("act_instruction", "").strip(),
        cot_instruction=raw.get("cot_instruction", "").strip(),
        cot_examples=tuple(map(parse_example, raw.get("cot_examples", ()))),
        tools_instruction=raw.get("tools_instruction", "").strip(),
        text=parse_form(raw.get("text", {})),
        published=parse_form(raw["published"]) if "published" in raw else None,
        needs_action=raw.get("needs_action", False),
    )


def without(prompts: Prompts, words: str) -> Prompts:
    """Return the same prompts, with some words taken out of the examples."""

    def cut(example: Example) -> Example:
        turns = tuple((seen.replace(words, ""), said) for seen, said in example.turns)
        return Example(turns, example.closing.replace(words, ""))

    return replace(
        prompts,
        examples={kind: tuple(map(cut, examples)) for kind, examples in prompts.examples.items()},
        reflection_examples=tuple(
            (episode.replace(words, ""), reflection) for episode, reflection in prompts.reflection_examples
        ),
    )


def parse_form(raw: Mapping[str, Any]) -> TextForm:
    """Return the form of a running text; the keys are the attributes of `TextForm`."""
    given = {name: value.strip() if name.endswith("instruction") else value for name, value in raw.items()}
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    return TextForm(**{**given, **lists})


def parse_example(text: str) -> Example:
    """Splits a transcript into turns."""
    turns: list[tuple[str, str]] = []
    seen: list[str] = []
    said: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith(AGENT_MARK):
            said.append(line[len(AGENT_MARK) :])
        else:
            if said:
                turns.append(("\n".join(seen), "\n".join(said)))
                seen, said = [], []
            seen.append(line)
    if said:
        turns.append(("\n".join(seen), "\n".join(said)))
        seen = []
    return Example(turns=tuple(turns), closing="\n".join(seen))
