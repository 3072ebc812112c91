"""Finds where the argument of a call ends, in text that a model wrote.

Every function is linear in what it reads and looks at one bracket family at a time: square ones (also full-width and
lenticular), round ones, corner ones, angle ones or braces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_SQUARE = ("[［【〔", "]］】〕")
_ROUND = ("(（", ")）")
_FAMILIES = (_SQUARE, _ROUND, ("「『", "」』"), ("〈《⟨", "〉》⟩"), ("<", ">"), ("{｛", "}｝"))
OPENING = "".join(opening for opening, _ in _FAMILIES)

# A verb with an opening square bracket: what counts as a further action.
CALL = re.compile(r"\b(?:search|look[ _-]?up|finish) ?[\[［【〔]", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Argument:
    """The text between the brackets, where the call ends (after the closing bracket), and what had to be repaired."""

    text: str
    end: int
    repairs: tuple[str, ...] = ()


def family(bracket: str) -> tuple[str, str]:
    """Return the opening and the closing brackets that go with an opening one."""
    return next(kinds for kinds in _FAMILIES if bracket in kinds[0])


def balanced_end(text: str, start: int, stop: int, kinds: tuple[str, str]) -> int | None:
    """Return index of the bracket that closes the one before `start`, looking no further than `stop`."""
    depth = 1
    for index in range(start, stop):
        if text[index] in kinds[0]:
            depth += 1
        elif text[index] in kinds[1]:
            depth -= 1
            if depth == 0:
                return index
    return None


def line_end(text: str, start: int) -> int:
    """Return index of the end of the line that `start` is in."""
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def argument_on_line(text: str, start: int, kinds: tuple[str, str]) -> Argument | None:
    """Return the argument that begins at `start` where it is closed on its own line.

    Answers may hold a stray closing bracket (one of the 7,405 gold answers of the development set does), so where the
    text behind the first balanced end holds a closing bracket too many, and no further call, the argument goes on to
    there.
    """
    stop = line_end(text, start)
    first = balanced_end(text, start, stop, kinds)
    if first is None:
        return None
    stray = _last_stray(text, first + 1, stop, kinds)
    if stray is None or CALL.search(text, first + 1, stop):
        return Argument(text[start:first].strip(), first + 1)
    if not text[first + 1 : stray].strip(kinds[1] + " *_`"):
        return Argument(text[start:first].strip(), stray + 1, ("stray_bracket",))
    return Argument(text[start:stray].strip(), stray + 1, ("stray_bracket",))


def _last_stray(text: str, start: int, stop: int, kinds: tuple[str, str]) -> int | None:
    depth, last = 0, None
    for index in range(start, stop):
        if text[index] in kinds[0]:
            depth += 1
        elif text[index] in kinds[1]:
            if depth == 0:
                last = index
            else:
                depth -= 1
    return last


def argument_over_lines(
    text: str, start: int, kinds: tuple[str, str], ends_argument: Callable[[str], bool]
) -> Argument | None:
    """Return the argument that begins at `start`, where it is closed on a later line or not at all.

    Args:
        text: the whole text.
        start: index behind the opening bracket.
        kinds: from `family`.
        ends_argument: whether a line begins something new (a label, another call), so that no argument reaches into it.
    """
    first_stop = line_end(text, start)
    stop = first_stop
    while stop < len(text) and not ends_argument(text[stop + 1 : line_end(text, stop + 1)]):
        stop = line_end(text, stop + 1)
    closed = balanced_end(text, start, stop, kinds)
    if closed is not None:
        return Argument(" ".join(text[start:closed].split()), closed + 1, ("joined_lines",))
    last = max(text.rfind(bracket, start, first_stop) for bracket in kinds[1])
    if last >= 0:
        return Argument(text[start:last].strip(), last + 1, ("stray_bracket",))
    rest = text[start:first_stop].strip(" \t*_`")
    return Argument(rest, first_stop, ("unclosed_bracket",)) if rest else None
