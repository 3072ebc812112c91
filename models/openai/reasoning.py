"""Separates reasoning from the answer in a reply."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reflex_bench.core.reasoning_marks import REASONING_CLOSES, REASONING_OPENS
from reflex_bench.models.openai.responses import FORM, ITEMS, items_of

FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_text", "thoughts")
"""Of a message: DeepSeek, llama.cpp and others; OpenRouter, newer vLLM, Groq; Ollama; others. The first counts."""

_OPEN = re.compile(rf"\s*(?:{REASONING_OPENS})", re.IGNORECASE)
_OPEN_ANYWHERE = re.compile(REASONING_OPENS, re.IGNORECASE)
_CLOSE = re.compile(REASONING_CLOSES, re.IGNORECASE)
# The form of gpt-oss ("Harmony"): channels, of which the last is the answer; some servers drop its special tokens.
_FINAL = re.compile(r"<\|channel\|>final(?: [^<]*)?<\|message\|>|assistantfinal(?=\S)")
_ANALYSIS = re.compile(
    r"\s*(?:<\|start\|>assistant)?"
    r"(?:<\|channel\|>(?:analysis|commentary)(?: [^<]*)?<\|message\|>|analysis(?=[A-Z]))"
)
_MARKS = re.compile(r"<\|(?:end|return|start|call|message)\|>(?:assistant)?|<\|channel\|>\w*")


@dataclass(frozen=True, slots=True)
class Split:
    """A reply in two parts.

    Attributes:
        text: the answer.
        reasoning: what came before it.
        form: where the reasoning stood: the name of a field, `content` (parts of it), `text` (marks in it) or
            `responses` (items of the Responses API).
        data: the field as JSON, where it cannot be made again from the reasoning.
        is_open: the reasoning was not ended, so that no answer can have begun.
        is_whole: the text is one block of reasoning as it came, marks included.
    """

    text: str
    reasoning: str = ""
    form: str = ""
    data: str = ""
    is_open: bool = False
    is_whole: bool = False


def split_message(message: Mapping[str, Any]) -> Split:
    """Return the parts of a chat message whose content is a text, a list of parts, or nothing."""
    text, thought = _content(message.get("content"))
    if isinstance(items := message.get(ITEMS), list):
        return _and_marks(Split(text, _field(message)[1], FORM, json.dumps(items) if items else ""))
    details = message.get("reasoning_details")
    if isinstance(details, list) and details:
        said = "".join(_part_texts(details)) or _field(message)[1]
        if said:
            return _and_marks(Split(text, said, "reasoning_details", json.dumps(details)))
    name, said = _field(message)
    if said:
        return _and_marks(Split(text, said, name))
    if thought:
        return Split(text, thought, "content", json.dumps(message.get("content")))
    return split_text(text)


def _and_marks(split: Split) -> Split:
    """With reasoning in a field, marks in the text are the rest of a template, or further reasoning."""
    inner = split_text(split.text)
    return Split(inner.text, split.reasoning, split.form, split.data) if not inner.is_open else split


def _field(message: Mapping[str, Any]) -> tuple[str, str]:
    for name in FIELDS:
        value = message.get(name)
        said = value if isinstance(value, str) else "".join(_part_texts(value)) if value else ""
        if said.strip():
            return name, said
    return "", ""


def _content(content: object) -> tuple[str, str]:
    """Return text and reasoning of a message's content."""
    if isinstance(content, str):
        return content, ""
    parts = content if isinstance(content, list) else [content]
    text: list[str] = []
    thought: list[str] = []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict):
            kind = str(part.get("type", "text"))
            if "reason" in kind or "think" in kind:
                thought.extend(_part_texts(part))
            elif kind in ("text", "output_text", "refusal"):
                text.extend(_part_texts(part))
    return "".join(text), "".join(thought)


def _part_texts(value: object) -> Iterator[str]:
    """Yield the texts of a part, or of parts in one another (Mistral's `thinking`, OpenAI's `summary`)."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            waiting.extend(reversed(each))
        elif isinstance(each, dict):
            inner = [each.get(key) for key in ("thinking", "reasoning", "text", "summary", "content")]
            waiting.extend(reversed([part for part in inner if part]))


def split_text(text: str) -> Split:
    """Return the parts of a text with marks of reasoning in it.

    The reasoning may begin without a mark, where the template wrote it, and may never end, where the reply was cut
    off. A text that is one block of reasoning and nothing else stays as it is: what is to be made of it, the reader
    of the text decides.
    """
    if final := _last(_FINAL, text):
        return Split(_clean(text[final.end() :]), _clean(_ANALYSIS.sub("", text[: final.start()])), "text")
    if analysis := _ANALYSIS.match(text):
        if analysis[0].lstrip().startswith("<"):
            return Split("", _clean(text[analysis.end() :]), "text", is_open=True)
        return Split(text)
    last = _last(_CLOSE, text)
    opened = _OPEN.match(text)
    if last is None:
        return Split("", text[opened.end() :].strip(), "text", is_open=True) if opened else Split(text)
    before, after = text[: last.start()], text[last.end() :]
    reopened = _OPEN.match(after)
    if reopened:
        return Split("", f"{_without_marks(before)}\n{after[reopened.end() :].strip()}", "text", is_open=True)
    thoughts, outside = _blocks(before)
    reasoning = _without_marks("\n".join(thoughts))
    answer = f"{outside}{after}" if outside.strip() else after
    if not answer.strip():
        return Split(text, reasoning, "text", is_whole=True)
    return Split(answer.lstrip("\r\n"), reasoning, "text" if reasoning else "")


def _blocks(before: str) -> tuple[list[str], str]:
    """Return the reasoning before the last closing mark, and what stands outside of it.

    Text before a first block that was opened properly is outside; without an opening mark all of it is reasoning.
    """
    first = _OPEN_ANYWHERE.search(before)
    if first is None:
        return [before], ""
    closed_before = _CLOSE.search(before, 0, first.start())
    outside = "" if closed_before else before[: first.start()]
    return ([before[: first.start()]] if closed_before else []) + [before[first.end() :]], outside


def _without_marks(text: str) -> str:
    bare = _CLOSE.sub("\n", _OPEN_ANYWHERE.sub("", text))
    return "\n".join(line for line in bare.strip().splitlines() if line.strip() or line == "").strip()


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def _clean(text: str) -> str:
    return _MARKS.sub("", text).strip()


def sent_back(content: str, reasoning: str, form: str) -> tuple[str, Mapping[str, Any]]:
    """Content and further fields of an assistant's message that carries its reasoning, in the field that it came in.

    Args:
        content: the answer.
        reasoning: from `Split.data` where there is any, else from `Split.reasoning`.
        form: from `Split.form`.
    """
    if form == FORM:
        return content, {ITEMS: items_of(reasoning)}
    if form in ("text", "content"):
        return f"<think>\n{_bare(reasoning)}\n</think>\n\n{content}", {}
    if form == "reasoning_details":
        return content, {form: json.loads(reasoning)}
    return content, {form or FIELDS[0]: reasoning}


def _bare(reasoning: str) -> str:
    """Return the text of reasoning that is kept as JSON parts."""
    try:
        parts = json.loads(reasoning)
    except ValueError:
        return reasoning
    return _content(parts)[1] or reasoning if isinstance(parts, list) else reasoning
