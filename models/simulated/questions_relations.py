"""Relations between things, in the words of questions and of pages, for the simulated reader."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from reflex_bench.models.simulated.questions_words import Mention, fold, found, without_parenthesis

_FAR = 60
"""A name that stands more than this many characters behind a word has nothing to do with it."""
_PLACE = r"(?:town|place|city|village|state|country)"
_SHORTHANDS = {
    "<town in which>": rf"{_PLACE} (?:where|in which)\b[^?]*?",
    "<Where>": rf"^(?:where|in (?:which|what) {_PLACE})\b[^?]*?",
    "<when>": r"(?:year|when)\b[^?]*?",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation.

    Attributes:
        name: as thoughts and notes call it.
        cues: how a question asks for it, likeliest first; `@` stands for any name.
        keys: words beside which a page has it, best first.
        kind: `name`, `date`, `year`, `number` or `date or year`.
        words: what to look up on a page whose beginning does not tell.
        sorts: what the thing may be called in the parenthesis of a title.
    """

    name: str
    cues: tuple[str, ...]
    keys: tuple[str, ...]
    kind: str = "name"
    words: tuple[str, ...] = ()
    sorts: str = ""


@cache
def relations() -> dict[str, Relation]:
    """Return every relation by its name, in order, from `questions.yaml`."""
    text = files(__package__).joinpath("questions.yaml").read_text(encoding="utf-8")
    for short, long in _SHORTHANDS.items():
        text = text.replace(short, long)
    return {row["name"]: _relation(row) for row in yaml.safe_load(text)}


def _relation(row: Mapping[str, Any]) -> Relation:
    cues, keys, words = (tuple(row.get(key, ())) for key in ("cues", "keys", "words"))
    return Relation(row["name"], cues, keys, row.get("kind", "name"), words, row.get("sorts", ""))


@cache
def cues() -> tuple[tuple[Relation, re.Pattern[str]], ...]:
    """Return every cue of every relation, in order."""
    return tuple((relation, re.compile(cue)) for relation in relations().values() for cue in relation.cues)


@cache
def _keys(relation: Relation) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, relation.keys))


def values(relation: Relation, text: Sequence[str], own: str) -> list[Mention]:
    """Return what a page says of a relation: what stands nearest to one of its words, best guess first.

    Args:
        relation: what is wanted.
        text: sentences of the page.
        own: its title; names of itself are no answers.
    """
    itself = frozenset(fold(without_parenthesis(own)).split())
    result: dict[str, Mention] = {}
    inside: dict[str, list[Mention]] = {}
    for key in _keys(relation):
        for sentence in text:
            match = key.search(sentence)
            if match is None:
                continue
            if sentence not in inside:
                inside[sentence] = _candidates(relation, sentence, itself)
            for thing in _nearest(inside[sentence], match):
                result.setdefault(thing.name, thing)
    return list(result.values())


def _candidates(relation: Relation, sentence: str, itself: frozenset[str]) -> list[Mention]:
    if relation.kind == "date or year":
        return found("date", sentence) or found("year", sentence)
    candidates = found(relation.kind, sentence)
    if relation.kind != "name":
        return candidates
    others = [
        thing for thing in candidates if not (set(fold(thing.name).split()) <= itself and not thing.sort)
    ]
    # Of the two films and operas that a sentence lists, the sort that is wanted comes first.
    return (
        sorted(others, key=lambda thing: not _fits(thing.sort, relation.sorts)) if relation.sorts else others
    )


def _fits(sort: str, sorts: str) -> bool:
    return bool(sort and sorts and set(sort.split()) & set(sorts.split()))


def _nearest(candidates: Sequence[Mention], match: re.Match[str]) -> list[Mention]:
    after = [thing for thing in candidates if match.end() <= thing.start + 1 <= match.end() + _FAR]
    before = [thing for thing in candidates if thing.end <= match.start() + 1]
    return [*after, *reversed(before)]
