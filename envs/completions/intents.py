"""Finds actions that prose announces: "Next, I'll run `go to desk 1`."."""

from __future__ import annotations

import re

MAX_LENGTH = 400
"""Characters of a line in which an action may be announced."""

_INTENT = re.compile(
    r"\b(?:i['’]ll|i will|i am going to|i['’]m going to|let me|let['’]s|let us|next|now"
    r"|my (?:next |first )?(?:action|command|move|step) (?:is|will be)"
    r"|the (?:next |best |right )?(?:action|command) is)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|could|might|should|would|may|can|avoid|instead|rather|tried|trying|if|unless|after|before"
    r"|later|failed|why|whether|or|than)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_MARKED = re.compile(r"(?:[`\"“]|\*\*)([^`\"“”*\n]{3,200})(?:[`\"”]|\*\*)\s*[.!:]?\s*$")


def announced(line: str) -> tuple[int, int] | None:
    """Return where the marked words stand that a line says will be done; None if it says or doubts none.

    The words stand in backticks, quotation marks or bold type at the end of the line, behind words such as "I will".
    """
    if len(line) > MAX_LENGTH:
        return None
    marked = _MARKED.search(line)
    if marked is None:
        return None
    before = line[: marked.start()]
    return marked.span(1) if _INTENT.search(before) and not _DOUBT.search(before) else None
