"""Names of what occurs in a trial, and the names that a text about it uses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from reflex_bench.agents.base import Trajectory

_PLACE = re.compile(r"\ban? ([a-z]+) (\d+)")
_NUMBERED = re.compile(r"\b([a-z]+) \(?(\d+)\)?")
_PROPER = re.compile(r"[A-Z][\w'’-]+(?: (?:(?:of|the|de|von|van|and) )?[A-Z][\w'’-]+)*")
_BRACKETS = re.compile(r"\[([^\[\]]{2,300})\]")
_WORD = re.compile(r"[^\W_]+")
_LISTED_NUMBERS = re.compile(r"\b([a-z]+) \(?\d+\)?((?:,? (?:and |or )?\(?\d+\)?)+)(?: ([a-z]+))?")
""""shelves 7, 8 and 9": the numbers behind the first."""
_SHORTEST_NAME = 3


@dataclass(frozen=True, slots=True)
class Names:
    """What occurs in a trial, in lower case.

    Attributes:
        numbered: (kind, number) of the things of a room that numbers its things.
        any: names of all sorts, words parted by single spaces.
        tried: (kind, number) of what the agent named itself.
    """

    numbered: frozenset[tuple[str, str]]
    any: frozenset[str]
    tried: frozenset[tuple[str, str]] = frozenset()

    def invented(self, sentence: str, asked_for: bool) -> bool:
        """Return whether a sentence names a thing of a kind that occurs, under a number that does not.

        Args:
            sentence: in lower case.
            asked_for: whether it asks for something; what the agent itself named in vain may then not be named again.
        """
        kinds = {kind for kind, _ in self.numbered}
        known = self.numbered if asked_for else self.numbered | self.tried
        return any(pair[0] in kinds and pair not in known for pair in _pairs(sentence, kinds))

    def occur(self, text: str) -> bool:
        """Return whether a text names something that occurs; a number may be missing, an `s` may be added."""
        words = spaced_words(text)
        forms = ("{}", "{}s", "{}es")
        plurals = (f"{name.removesuffix('f')}ves" for name in self.any if name.endswith("f"))
        named = (form.format(name) for name in self.any for form in forms)
        return any(f" {name} " in words for name in (*named, *plurals))


def names_of(trajectory: Trajectory) -> Names:
    """Return the names of what was seen in a trial, and what its actions named."""
    seen = [trajectory.opening, *(step.observation for step in trajectory.steps)]
    # One "a top 10 hit" in a page makes no room; a room lists what stands in it at the beginning.
    room = len(_PLACE.findall(trajectory.opening)) > 1
    numbered = frozenset(pair for text in seen if room for pair in _PLACE.findall(text))
    names = {kind for kind, _ in numbered}
    tried = frozenset(
        pair for step in trajectory.steps if room for pair in _NUMBERED.findall(step.action or "")
    )
    for step in trajectory.steps:
        names.add(step.action or "")
        names.update(_BRACKETS.findall(step.action or ""))
    for text in seen:
        names.update(proper_names(text))
        names.update(title for listed in _BRACKETS.findall(text) for title in listed.split(";"))
    tidy = (spaced_words(name).strip() for name in names)
    return Names(numbered, frozenset(name for name in tidy if len(name) >= _SHORTEST_NAME), tried)


def _pairs(text: str, kinds: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (kind, number) of the things that a text names, also in the plural ("shelves 7 and 8")."""
    for kind, number in _NUMBERED.findall(text):
        yield _singular(kind, kinds), number
    for kind, more, following in _LISTED_NUMBERS.findall(text):
        numbers = re.findall(r"\d+", more)
        # "desk 1, 2 shelves": the last one counts what follows.
        for number in numbers[: -1 if _singular(following, kinds) in kinds else None]:
            yield _singular(kind, kinds), number


def _singular(kind: str, kinds: Collection[str]) -> str:
    forms = (kind, kind.removesuffix("s"), kind.removesuffix("es"), f"{kind.removesuffix('ves')}f")
    return next((form for form in forms if form in kinds), kind)


def proper_names(text: str) -> Iterator[str]:
    """Yield names as English writes them: capitals inside a sentence, or several words with capitals in a row."""
    for found in _PROPER.finditer(text):
        name, before = found[0], text[max(0, found.start() - 2) : found.start()]
        inside = len(before) == 2 and before[1] == " " and (before[0].isalnum() or before[0] in ",;)")
        if inside:
            yield name
        elif " " in name:
            # The first word may have its capital from the sentence: "The Harrowgill Viaduct", "In Grauhafen".
            yield name
            yield name.partition(" ")[2]


def spaced_words(text: str) -> str:
    """Return the words of a text in lower case, with one space between them and at both ends."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
