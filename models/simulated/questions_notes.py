"""Reads notes, whoever wrote them, for the simulated reader."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reflex_bench.models.simulated.questions_trail import Hints
from reflex_bench.models.simulated.questions_words import NAME, fold

_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_FACT = re.compile(rf"\b[Tt]he ([a-z][a-z' ]{{2,40}}?) (?:is|was) (?:\"([^\"]+)\"|({NAME}))")
_WRONG = re.compile(r'"([^"]+)" (?:was|is) (?:wrong|not right|incorrect|not the answer)')
_TITLE = re.compile(
    rf"(?:Search\[([^\]]+)\]|\band \"([^\"]+)\" at once|"
    rf"\b(?:[Oo]pen|[Ss]earch(?: for)?|straight to|directly to) (?:the page )?"
    rf"(?:\"([^\"]+)\"|({NAME}(?: \([^)]+\))?)))"
)
_LOOKUP = re.compile(r'Lookup\[([^\]]+)\]|\blook(?:ing)? (?:up|for) "([^"]+)"')
_DEADLINE = re.compile(r"\b(?:by|before|within) (?:step|turn) (\d+)")
_CURES = {
    "hasty": re.compile(r"\bnever opened\b|\bnever open\b|\bsecond page\b|\bboth pages\b|\bpage alone\b"),
    "whole": re.compile(r"\b(?:one name|a name|a title|name alone|whole question)\b"),
    "first_date": re.compile(r"\bfirst (?:date|year|number)\b"),
    "wordy": re.compile(r"\btoo long\b|\bnothing but\b|\ba whole sentence\b"),
    "unread": re.compile(r"Lookup\[|\blook(?:ing|ed)? (?:up|further)\b|\bfurther down\b"),
    "namesake": re.compile(r"\bnamesakes?\b|\bof (?:that|this|the same) name\b"),
    "reversed": re.compile(r"\bother way round\b|\bwrong way\b"),
    "early": re.compile(r"\b(?:giv(?:e|ing)|gave) up\b|\bkeep (?:searching|looking)\b|\bstopped\b"),
}


@dataclass
class Notes:
    """What the memory in a prompt says.

    Attributes:
        facts: relations of the question that are known -> their value.
        titles: pages to open.
        words: to look up.
        wrong: answers that were called wrong.
        deadline: the step by which an answer must be given, None where nothing says so.
        cured: habits (`reflex_bench.models.simulated.questions.HABITS`) that it warns against.
    """

    facts: dict[str, str] = field(default_factory=dict)
    titles: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    deadline: int | None = None
    cured: set[str] = field(default_factory=set)

    @property
    def hints(self) -> Hints:
        """The same for whoever follows a trail."""
        return Hints(self.facts, self.titles, self.words, frozenset(map(fold, self.wrong)))


def read_notes(memory: str) -> Notes:
    """Takes the notes apart, sentence by sentence; what is not understood is passed over."""
    notes = Notes()
    for sentence in _SENTENCE.split(memory):
        notes.facts.update((fact, title or name) for fact, title, name in _FACT.findall(sentence))
        notes.wrong.extend(answer for answer in _WRONG.findall(sentence) if answer not in notes.wrong)
        notes.titles.extend("".join(found) for found in _TITLE.findall(sentence))
        notes.words.extend("".join(found) for found in _LOOKUP.findall(sentence))
        deadline = _DEADLINE.search(sentence)
        notes.deadline = int(deadline[1]) if deadline else notes.deadline
        notes.cured.update(habit for habit, pattern in _CURES.items() if pattern.search(sentence))
    return notes
