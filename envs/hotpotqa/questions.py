"""HotPotQA questions in both official schemas.

The authors' files have `_id`, `supporting_facts` as [title, index] pairs and `context` as [title, sentences] pairs; the
hub (`hotpotqa/hotpot_qa`) has `id` and a dictionary of lists for both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflex_bench.envs.base import Task
from reflex_bench.envs.hotpotqa.corpus.documents import Document

TYPES = ("bridge", "comparison")


@dataclass(frozen=True, slots=True)
class Question:
    """What an episode needs; `Task.data` of every HotPotQA task.

    Attributes:
        answer: the gold answer.
        facts: the supporting facts, as (title, sentence index) with titles as in the data.
        pages: the paragraphs that came with the question; empty in files that carry none.
        level: `easy`, `medium`, `hard`, or what the file says.
    """

    answer: str
    facts: tuple[tuple[str, int], ...]
    pages: tuple[Document, ...]
    level: str = ""

    @property
    def gold_titles(self) -> frozenset[str]:
        """Titles of the pages that hold the supporting facts."""
        return frozenset(title for title, _ in self.facts)

    @property
    def has_gold_pages(self) -> bool:
        """Whether the paragraphs that came with the question hold all of them."""
        return self.gold_titles <= {page.title for page in self.pages}


def task(record: Mapping[str, Any]) -> Task:
    """Return a task from a record of either schema.

    Raises:
        ValueError: says what is wrong with the record.
    """
    identity = record.get("id") if record.get("_id") is None else record["_id"]
    if type(identity) is int:
        identity = str(identity)
    text, answer, kind = record.get("question"), record.get("answer"), record.get("type")
    if identity is None or identity == "":
        raise ValueError("no `_id` or `id`")
    if not isinstance(identity, str):
        raise ValueError(f"the id is {_shown(identity)}; it must be a text or a whole number")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("no `question`")
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        raise ValueError("no `answer` (the test split has none and cannot be scored here)")
    if not isinstance(answer, str):
        raise ValueError(f"`answer` is {_shown(answer)}; it must be one text")
    if kind not in TYPES:
        raise ValueError(f"`type` is {kind!r}; it must be bridge or comparison")
    facts = tuple(
        (title, index)
        for title, index in _pairs(record, "supporting_facts", "sent_id")
        if _is_fact(title, index)
    )
    pages = tuple(_page(title, sentences) for title, sentences in _pairs(record, "context", "sentences"))
    data = Question(answer, facts, pages, str(record.get("level") or ""))
    # Questions about the same two pages stand or fall together.
    pair = " | ".join(sorted(data.gold_titles)) or None
    return Task(identity, kind, " ".join(text.split()), _fingerprint(text, kind, data), data, pair)


def _shown(value: Any) -> str:
    return f"the {type(value).__name__} {json.dumps(value, ensure_ascii=False, default=str)[:100]}"


def _pairs(record: Mapping[str, Any], key: str, second: str) -> list[tuple[Any, Any]]:
    value = record.get(key)
    if value is None:
        return []
    if isinstance(value, Mapping):
        titles, others = value.get("title"), value.get(second)
        if isinstance(titles, Sequence) and isinstance(others, Sequence) and len(titles) == len(others):
            return list(zip(titles, others, strict=True))
    elif isinstance(value, list) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in value):
        return [(pair[0], pair[1]) for pair in value]
    raise ValueError(
        f"`{key}` is neither a list of pairs nor a dictionary with `title` and `{second}` of one length"
    )


def _is_fact(title: Any, index: Any) -> bool:
    if isinstance(title, str) and isinstance(index, int):
        return True
    raise ValueError(f"`supporting_facts` holds [{title!r}, {index!r}]; a fact is [title, sentence index]")


def _page(title: Any, sentences: Any) -> Document:
    if isinstance(title, str) and isinstance(sentences, list) and all(isinstance(s, str) for s in sentences):
        return Document(title, tuple(sentences))
    raise ValueError(f"`context` holds the page {title!r} without a list of sentences")


def _fingerprint(text: str, kind: str, data: Question) -> str:
    pages = [[page.title, page.sentences] for page in data.pages]
    row = json.dumps([text, kind, data.answer, data.facts, pages], ensure_ascii=False)
    return hashlib.sha256(row.encode("utf-8", "surrogatepass")).hexdigest()
