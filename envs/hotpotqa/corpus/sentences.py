"""Splits plain text into sentences, for pages that come without a division of their own."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?][\"'”’)\]]{0,2}\s+|\n+")
_ABBREVIATIONS = re.compile(
    r"(?:dr|mr|mrs|ms|prof|st|sr|jr|co|ltd|inc|corp|no|vol|gen|col|capt|lt|sgt|rev|hon|pres|gov|sen|rep|vs|etc|cf|ca|"
    r"c|b|d|r|approx|dept|univ|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)",
    re.IGNORECASE,
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, each with the white space before it, so that they join to the text again.

    A line break always ends a sentence. A full stop does not where an abbreviation, an initial or `U.S.` precedes it,
    or a lower-case letter follows.
    """
    sentences: list[str] = []
    start = 0
    for end in _END.finditer(text):
        mark = end.group().rstrip()
        if mark.startswith(".") and not _ends(text, start, end):
            continue
        cut = end.start() + len(mark)
        if text[start:cut].strip():
            sentences.append(text[start:cut])
            start = cut
    if text[start:].strip():
        sentences.append(text[start:].rstrip())
    return sentences


def _ends(text: str, start: int, end: re.Match[str]) -> bool:
    if "\n" in end.group():
        return True
    following = text[end.end() : end.end() + 1]
    if following.islower():
        return False
    before = text[max(start, end.start() - 20) : end.start()].split()
    word = before[-1].lstrip("(\"'“‘") if before else ""
    initial = len(word) == 1 and word.isalpha() and word.isupper()
    return not (initial or "." in word or _ABBREVIATIONS.fullmatch(word) is not None)
