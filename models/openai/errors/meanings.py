"""Meanings of error answers: status, code and wording become one of few meanings.

The table is `answers.yaml`; here it is read and applied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from reflex_bench.models.openai.errors.messages import Complaint

Meaning = Literal[
    "never_fits",  # one request takes more than the account may use in a minute: waiting does not help
    "context_overflow",  # the prompt is longer than the model's context
    "no_account",  # the account itself is closed or blocked
    "content_filter",  # this prompt, or its reply, is not wanted
    "no_credit",  # nothing more can be paid for, or the day's share is used up
    "bad_key",  # the key is none, or may not do this
    "no_model",
    "wrong_address",  # the server does not know the path
    "rate_limit",  # too fast: may be asked again
    "timeout",
    "server",  # may be better next time
    "bad_request",  # this request will never do
]


_NUMBERS = re.compile(
    r"limit:?\D{0,12}(\d[\d,]*).{0,60}?requested:?\D{0,12}(\d[\d,]*)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True)
class Rule:
    """When an answer has a meaning; see `answers.yaml`."""

    meaning: Meaning
    codes: frozenset[str]
    words: re.Pattern[str] | None
    only: frozenset[int]
    never: frozenset[int]
    also: Callable[[Complaint], bool]

    def fits(self, statuses: frozenset[int], complaint: Complaint) -> bool:
        """Return whether an answer with these statuses (its own, or the one that its body tells) has this meaning."""
        if (self.only and not self.only & statuses) or self.never & statuses:
            return False
        told = bool(self.codes & complaint.all_names) or bool(
            self.words and self.words.search(complaint.words)
        )
        return (told or not (self.codes or self.words)) and self.also(complaint)


def word_patterns(file: str, key: str | None = None) -> Mapping[str, re.Pattern[str]]:
    """Return the regular expressions of a file beside this module, by name.

    Args:
        file: its name.
        key: under which they stand; None: at the top.
    """
    listed = _loaded(file) if key is None else _loaded(file)[key]
    return {name: re.compile("|".join(patterns), re.IGNORECASE) for name, patterns in listed.items()}


@cache
def _loaded(file: str) -> Any:
    return yaml.safe_load((Path(__file__).parent / file).read_text(encoding="utf-8"))


@cache
def _words() -> Mapping[str, re.Pattern[str]]:
    return word_patterns("answers.yaml", "words")


@cache
def rules() -> tuple[Rule, ...]:
    """Return the table, in order."""
    return tuple(map(_rule, _loaded("answers.yaml")["rules"]))


def _rule(row: Mapping[str, Any]) -> Rule:
    patterns = [_words()[name].pattern for name in row.get("words", ())]
    return Rule(
        meaning=row["meaning"],
        codes=frozenset(str(row.get("codes", "")).split()),
        words=re.compile("|".join(patterns), re.IGNORECASE) if patterns else None,
        only=frozenset(row.get("only", ())),
        never=frozenset(row.get("never", ())),
        also=_CONDITIONS[row.get("if", "")],
    )


def _beyond_limit(complaint: Complaint) -> bool:
    """Return whether one request asks for more than the limit itself, whatever was used before."""
    match = _NUMBERS.search(complaint.words)
    if match is None:
        return bool(re.search(r"request (?:is )?too large", complaint.words, re.IGNORECASE))
    limit, requested = (int(number.replace(",", "") or 0) for number in match.groups())
    return requested > limit


def _not_of_a_minute(complaint: Complaint) -> bool:
    """Return whether a limit is not of a minute, or of a day, too.

    What is used up for a minute comes back.
    """
    minute, day = _words()["per_minute"], _words()["per_day"]
    return not minute.search(complaint.words) or bool(day.search(complaint.words))


def _day_first(complaint: Complaint) -> bool:
    """Return whether the limit of a day was reached, and not one of a minute with a word on days behind it."""
    minute, day = (_words()[name].search(complaint.words) for name in ("per_minute", "per_day"))
    return "perday" in complaint.words.lower() or not (minute and day and minute.start() < day.start())


_CONDITIONS: Mapping[str, Callable[[Complaint], bool]] = {
    "": lambda complaint: True,
    "beyond_limit": _beyond_limit,
    "not_of_a_minute": _not_of_a_minute,
    "day_first": _day_first,
}


def meaning_of(status: int, complaint: Complaint) -> Meaning:
    """Return what an answer with an error means.

    Args:
        status: of the answer; 200 for an error within an answer that claims success.
        complaint: what its body says.
    """
    counts = _status_that_counts(status, complaint)
    for rule in rules():
        if rule.fits(frozenset((counts,)), complaint):
            return rule.meaning
    return "server" if counts >= 500 or counts == 200 else "bad_request"


def _status_that_counts(status: int, complaint: Complaint) -> int:
    """Return the answer's own, unless it says less than the one that the body tells.

    Proxies answer 200, 400 or 500 around errors of every kind; a 401 or 429 of theirs means what it says.
    """
    told = complaint.status
    if not told or status not in (200, 400, 422, 424, 500, 502):
        return status
    # A proxy's 500 around a 400 is still the proxy's word that something failed.
    return told if status < 500 or told not in (400, 422) else status
