"""Cleanup of a reflector's reply: takes out what runs on, breaks off or repeats.

Models that continue a text write the next example behind their reflection, models of all kinds are stopped in the
middle of a sentence by their limit of tokens, and small ones say one sentence over and over. What was taken out is
named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reflex_bench.agents.messages import BLANK_LINE
from reflex_bench.agents.schema import after_reasoning
from reflex_bench.core.shared_texts import REFLECTION_REQUEST, TASK_HEADER
from reflex_bench.envs.hotpotqa.corpus.sentences import split_sentences

MAX_SENTENCES = 4
"""The reflection instructions ask for two to four sentences."""

_RUN_ON = re.compile(
    rf"(?:^|\s)(?:STATUS: FAILED|{re.escape(TASK_HEADER)}|Your task is to: |You are in the middle of a room\b"
    r"|(?:> )?(?:Thought|Action)(?: \d+)?: |> think: |```)"
)
_LABEL = re.compile(rf"\s*(?:\*\*)?{re.escape(REFLECTION_REQUEST)}(?:\*\*)?\s*", re.IGNORECASE)
_WIDE_END = re.compile(r"([。！？])\s*")
"""The marks that end a sentence in Chinese and Japanese."""
_ENDED = re.compile(r"[.!?…。！？][\"'”’»)\]*`]*$")
_OPEN_END = re.compile(
    r"(?:[,;:(\[\-–]|\b(?:an?|the|this|that|and|or|but|because|if|when|of|to|in|on|at|from|with|for|by|as|I|it|is|was|are"
    r"|were|be|not|should|would|could|will|must|my|its|then|than|which|who))$"
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Tidied:
    """What is left of a reply.

    Attributes:
        text: one line.
        repairs: `reasoning_block`, `run_on`, `truncated_tail`, `repeated_sentences`, `extra_sentences`, as they were
            needed.
        whole: False where even the only sentence breaks off.
        lines: the reply's own lines, before anything was cut out of them but reasoning and what runs on.
    """

    text: str
    repairs: tuple[str, ...] = ()
    whole: bool = True
    lines: tuple[str, ...] = ()


def tidied(reply: str, finish: str = "stop", continued: bool = False) -> Tidied:
    """Return at most `MAX_SENTENCES` sentences of a reply, each once, none of them broken off.

    Args:
        reply: as it came.
        finish: the server's finish reason; `length` where its limit of tokens ended the reply.
        continued: whether the model continues a text: its reply then ends at the first blank line after text.
    """
    body = after_reasoning(reply).strip()
    repairs = ["reasoning_block"] * (body != reply.strip())
    body = _LABEL.sub("", body, count=1) if _LABEL.match(body) else body
    kept = without_run_on(body, continued)
    if kept != body:
        repairs.append("run_on")
        finish = "stop"
    sentences = [each.strip() for each in split_sentences(_WIDE_END.sub("\\1\n", kept)) if each.strip()]
    whole = not sentences or not _breaks_off(sentences[-1], finish)
    if not whole and len(sentences) > 1:
        repairs.append("truncated_tail")
        sentences, whole = sentences[:-1], True
    once = _first_of_each(sentences)
    repairs += ["repeated_sentences"] * (len(once) < len(sentences))
    repairs += ["extra_sentences"] * (len(once) > MAX_SENTENCES)
    text = " ".join(" ".join(once[:MAX_SENTENCES]).split())
    return Tidied(text, tuple(repairs), whole, tuple(kept.splitlines()))


def without_run_on(text: str, continued: bool) -> str:
    """Return a text without what goes on behind it as another episode, if anything stands before that."""
    found = [mark.start() for mark in [_RUN_ON.search(text)] if mark]
    if continued:
        found += [mark.start() for mark in [BLANK_LINE.search(text)] if mark]
    kept = text[: min(found, default=len(text))].strip()
    return kept or text


def _breaks_off(sentence: str, finish: str) -> bool:
    if _ENDED.search(sentence):
        return False
    return finish == "length" or _OPEN_END.search(sentence) is not None


def _first_of_each(sentences: list[str]) -> list[str]:
    first: dict[str, str] = {}
    for sentence in sentences:
        first.setdefault(" ".join(_WORD.findall(sentence.lower())), sentence)
    return list(first.values())
