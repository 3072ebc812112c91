"""Cleans a completion down to the text of the turn."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reflex_bench.envs.completions.characters import tidy
from reflex_bench.envs.completions.reasoning import split_reasoning
from reflex_bench.envs.completions.turns import final_channel, own_turn

_WORD = re.compile(r"\w")


@dataclass(slots=True)
class Cleaned:
    """A completion without what is no text of the turn.

    Attributes:
        text: what is left.
        reasoning: what stood in reasoning marks or in the channel for it.
        unclosed: whether reasoning began that never ended.
        repairs: what was done; the parser adds its own.
    """

    text: str
    reasoning: str = ""
    unclosed: bool = False
    repairs: list[str] = field(default_factory=list)

    @property
    def only_reasoning(self) -> bool:
        """Whether nothing was said but reasoning."""
        return bool(self.reasoning.strip()) and not _WORD.search(self.text)


def clean(completion: str) -> Cleaned:
    """Takes away invisible signs, tokens of a chat template, channels and reasoning. Never raises; linear in length."""
    repairs: list[str] = []
    text = tidy(completion, repairs)
    text, analysis = final_channel(text, repairs)
    text = own_turn(text, repairs)
    text, reasoning, unclosed = split_reasoning(text, repairs)
    return Cleaned(text, f"{analysis}\n{reasoning}" if analysis else reasoning, unclosed, repairs)
