"""Grammar of questions for the simulated reader, which knows a few forms and guesses at the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reflex_bench.models.simulated.questions_relations import Relation, cues, relations
from reflex_bench.models.simulated.questions_words import Mention, fold, things

_CAPITALISED = r"[A-ZÀ-Þ][\w’'-]*"
_SMALL = r"(?:(?:of|the|in|near|from|under|for|to|on|at|with|a|an) ){0,3}"
_WORK = re.compile(
    rf"\b(?P<sort>films?|novels?|paintings?|albums?|operas?|books?|songs?|painter of|who painted) "
    rf"(?P<one>{_CAPITALISED}(?: {_SMALL}{_CAPITALISED}){{0,8}})"
    rf"(?: and (?P<two>{_CAPITALISED}(?: {_SMALL}{_CAPITALISED}){{0,8}}))?"
)
_TITLE = rf'(?:"[^"]+"|{_CAPITALISED}(?: {_SMALL}(?:{_CAPITALISED}|&|\d+)){{0,8}})'
_SORT = r"(?:the )?(?:[a-z]+ ){0,2}"
_PAIR = re.compile(rf'(?P<sort>{_SORT})(?P<one>{_TITLE})\"? or (?P<other>{_SORT})(?P<two>{_TITLE})\s*[?"]*$')
_AUXILIARY = re.compile(r"(?:Are|Were|Is|Was|Did|Do|Does|Can|Have|Has|Had)\b")
_WH = re.compile(
    r"^(?:(?:In|On|At|By|To|Of|From|After|For) )?"
    r"(?:Which|What|Who|Whom|Whose|Where|When|How|Are|Were|Is|Was|Did|Do|Does|Can|Have|Has|Had)\b ?"
)
_OCCUPATION = re.compile(r"\bthe (?:[a-z]+ )?[a-z]+(?:er|or|ist|ian|et|al|ect) @")
"""The singer so-and-so: this tells namesakes apart, and does not ask for a singer."""
_LEAST = re.compile(r"\b(?:first|earlier|earliest|older|oldest|shorter|smaller|fewer|shallower|less|lower)\b")
_GREATEST = re.compile(
    r"\b(?:later|latest|younger|newer|recent|longer|larger|deeper|more|greater|bigger|higher|last)\b"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, taken apart.

    Attributes:
        text: as it is asked.
        form: `chain`: what lies at the end of `path` from the one subject; `both`: what two subjects have to do with
            each other; `choice`: which of two; `same`: yes or no about two; `open`: anything else.
        subjects: what it names, in order.
        path: the relations, the one next to the subject first.
        least: of a choice, whether the earlier or smaller is asked for.
        kind: of the answer: `name`, `date`, `year` or `number`.
    """

    text: str
    form: Literal["chain", "both", "choice", "same", "open"]
    subjects: tuple[Mention, ...]
    path: tuple[Relation, ...] = ()
    least: bool = True
    kind: str = "name"


def read_question(text: str) -> Asked:
    """Takes a question apart."""
    if pair := _choice(text):
        return _compared(text, pair)
    subjects = _subjects(text)
    path = _path(text, subjects)
    if _AUXILIARY.match(text) and len(subjects) > 1:
        if " or " in text[subjects[0].end : subjects[1].start] and " both " not in text:
            return Asked(text, "choice", subjects[:2])
        first = min(path, key=list(relations().values()).index, default=None)
        return Asked(text, "same", subjects[:2], (first,) if first else ())
    if len(subjects) == 1 and path:
        return Asked(text, "chain", subjects, path, kind=path[-1].kind)
    return Asked(text, "both" if len(subjects) > 1 else "open", subjects, path, kind=_kind(text))


def _kind(text: str) -> str:
    asked = text.lower()
    if re.search(r"\b(?:what|which) year|\bwhen\b", asked):
        return "year"
    if re.search(r"\bwhat date|birthday|date of", asked):
        return "date"
    return "number" if re.search(r"\bhow many|how much|population|number of", asked) else "name"


def _choice(text: str) -> tuple[Mention, Mention] | None:
    match = _PAIR.search(text)
    if match is None:
        return None
    one, two = (
        Mention(_without_opening(match[name]).strip('"'), match[sort].removeprefix("the ").strip())
        for name, sort in (("one", "sort"), ("two", "other"))
    )
    return (one, two) if one.name and two.name else None


def _without_opening(name: str) -> str:
    return _WH.sub("", name)


def _compared(text: str, pair: tuple[Mention, Mention]) -> Asked:
    asked = text.lower()
    measured = [
        relation for relation, cue in cues() if relation.kind in ("number", "year") and cue.search(asked)
    ]
    if not measured and not _LEAST.search(asked) and not _GREATEST.search(asked):
        return Asked(text, "choice", pair)
    if re.search(r"\b(?:die[sd]?|lived)\b", asked):
        measured = [relations()["year of death"]]
    least = _LEAST.search(asked) is not None or _GREATEST.search(asked) is None
    return Asked(text, "choice", pair, (measured[0] if measured else relations()["date"],), least)


def _subjects(text: str) -> tuple[Mention, ...]:
    """Return the names in a question.

    An unquoted title may hold small words, which only the kind of the work gives away.
    """
    found: list[Mention] = []
    rest = text
    for work in _WORK.finditer(text):
        for part in ("one", "two"):
            if work[part]:
                sort = work["sort"].removesuffix("s")
                found.append(Mention(work[part], sort, work.start(part), work.end(part)))
                rest = rest[: work.start(part)] + " " * len(work[part]) + rest[work.end(part) :]
    opening = _WH.match(rest)
    if opening:
        rest = " " * len(opening[0]) + rest[opening.end() :]
    found.extend(things(rest))
    unique = {fold(thing.name): thing for thing in sorted(found, key=lambda thing: -thing.start)}
    return tuple(reversed(unique.values()))


def _path(text: str, subjects: Sequence[Mention]) -> tuple[Relation, ...]:
    """Return the relations of a question, innermost first: from the name outwards to its left, then on to its right."""
    blanked, cut = text, 0
    for thing in sorted(subjects, key=lambda thing: thing.start):
        blanked = f"{blanked[: thing.start - cut]}@{blanked[thing.end - cut :]}"
        cut += thing.end - thing.start - 1
    blanked = _OCCUPATION.sub("the @", blanked.lower().replace('"', ""))
    name = blanked.find("@")
    used: set[int] = set()
    at: dict[str, tuple[int, Relation]] = {}
    for relation, cue in cues():
        if relation.name in at:
            continue
        for match in cue.finditer(blanked):
            ends = {match.start(), match.end() - 1}
            if not ends & used:
                first, _, last = match[0].partition(" ")[0], "", match[0].rpartition(" ")[2]
                used.update(range(match.start(), match.start() + len(first)))
                used.update(range(match.end() - len(last), match.end()))
                at[relation.name] = (match.start(), relation)
                break
    left = sorted((place, relation.name) for place, relation in at.values() if place < name)
    right = sorted((place, relation.name) for place, relation in at.values() if place >= name)
    return tuple(at[key][1] for _, key in [*reversed(left), *right])
