"""Recognises names, dates and numbers in plain English, for the simulated reader."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_CAPITAL = "A-ZÀ-ÖØ-ÞĀ-Ž"
_WORD = rf"(?:[{_CAPITAL}]\.|[{_CAPITAL}](?:[\w’'-]|\.(?=\w))*)"
_JOINT = r"(?:(?:of the|of|the|de la|de|la|von|van|du|del|der|di|&) )?"
NAME = rf"{_WORD}(?: {_JOINT}{_WORD}){{0,8}}"
"""Capitalised words in a row, with the small words that stand inside names."""
_THING = re.compile(rf'"(?P<title>[^"]{{1,80}})"|(?P<name>\b{NAME})')
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAY = rf"\d{{1,2}} (?:{_MONTHS})|(?:{_MONTHS}) \d{{1,2}}"
_DATE = re.compile(rf"\b(?:{_DAY})(?:,? \d{{4}})?\b")
_YEAR = re.compile(r"(?<![\d,.])(?:1\d{3}|20\d{2})(?![,.]?\d)")
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)")
_SENTENCE = re.compile(r'(?<=[.!?])(?<!\b[A-Z]\.)(?<!\bSt\.)(?<!\bDr\.)\s+(?=["(]?[^\Wa-z_])')
_OPENERS = """
    he she it its his her they their the a an this that these those there in on at from to of after among as by with
    born published founded when while where every between for during although however since until before under also
    and but or not both most some many all another other one two three i we you if so then now
"""
_NO_NAMES = frozenset(word.capitalize() for word in _OPENERS.split()) | frozenset(_MONTHS.split("|"))
_SMALL = """
    a an the of in on at by for from to with and or as is was are were be been being do does did has have had who whom
    whose which what when where how why that this these those it its his her he she they their them one two both same
    not no than then also into out up about after before during between other name known called
"""
SMALL = frozenset(_SMALL.split())
"""Words that say nothing about what a question is after."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Something with a name.

    Attributes:
        name: without quotation marks.
        sort: the small words right before it, e.g. `film director`; they tell namesakes apart.
        start, end: where it stands in its sentence.
    """

    name: str
    sort: str = ""
    start: int = 0
    end: int = 0


def fold(text: str) -> str:
    """Return the form in which names are compared: no case, articles, quotation marks or double spaces."""
    bare = unicodedata.normalize("NFKC", text).casefold().replace('"', " ").replace("_", " ")
    return " ".join(word for word in bare.split() if word not in ("the", "a", "an"))


def without_parenthesis(title: str) -> str:
    """Return `Mercury` for `Mercury (planet)`."""
    return title.partition(" (")[0] if title.endswith(")") else title


def sentences(text: str) -> list[str]:
    """Return the sentences of a page, roughly."""
    return [sentence for line in text.splitlines() for sentence in _SENTENCE.split(line.strip()) if sentence]


def things(sentence: str) -> Iterator[Mention]:
    """Yield everything that looks like a name, in order. A capitalised adjective ("the French painter …") is none."""
    for match in _THING.finditer(sentence):
        name, start = match["title"] or match["name"], match.start()
        if not any(letter.isupper() for letter in name):
            continue
        if match["name"]:
            name = _without_opener(name)
            start = match.end() - len(name)
            name = name.removesuffix("'s")
            if not name or _is_adjective(sentence, name, start, match.end()):
                continue
        yield Mention(name, _sort(sentence, start), start, match.end())


def _without_opener(name: str) -> str:
    first, _, rest = name.partition(" ")
    while first in _NO_NAMES:
        name = rest
        first, _, rest = name.partition(" ")
    return name


def _is_adjective(sentence: str, name: str, start: int, end: int) -> bool:
    follows = sentence[end : end + 2]
    qualifies = " " not in name and len(follows) == 2 and follows[0] == " " and follows[1].islower()
    before = sentence[max(0, start - 5) : start]
    article = before.endswith(("a ", "an ", "the ")) or before[-2:-1].isdigit()
    return name.endswith("-born") or (qualifies and (article or name.endswith(("ican", "ish", "ese", "ian"))))


def _sort(sentence: str, start: int) -> str:
    words = sentence[max(0, start - 30) : start].split(" ")[-4:-1]
    return " ".join(word for word in words if word.islower() and word.isalpha() and word not in SMALL)


def found(kind: str, text: str) -> list[Mention]:
    """Return what a text holds of a kind: `date`, `year`, `number`, else names."""
    pattern = {"date": _DATE, "year": _YEAR, "number": _NUMBER}.get(kind)
    if pattern is None:
        return list(things(text))
    return [Mention(match[0], "", match.start(), match.end()) for match in pattern.finditer(text)]


def moment(text: str) -> tuple[float, ...] | None:
    """Return a date, a year or a number as something that can be compared; None for anything else."""
    year, day = _YEAR.search(text), re.search(r"\b\d{1,2}\b", text)
    if _DATE.fullmatch(text) and year and day:
        month = next(number for number, name in enumerate(_MONTHS.split("|")) if name in text)
        return float(year[0]), month, float(day[0])
    number = _NUMBER.search(text)
    return (float(number[0].replace(",", "")),) if number else None


def content(text: str) -> frozenset[str]:
    """Return the words of a text that mean something, cut to their stems."""
    words = re.findall(r"[^\W\d_]{3,}|\d{4}", text.casefold())
    return frozenset(word[:5] for word in words if word not in SMALL)
