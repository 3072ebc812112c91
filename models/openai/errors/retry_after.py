"""Reads how long an endpoint asks to wait: in headers, in the body of its answer, or in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from reflex_bench.models.openai.errors.messages import Complaint

_SPAN = re.compile(
    r"(\d+(?:\.\d+)?) ?(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])"
)
_UNITS = {"ms": 0.001, "mi": 60.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPOKEN = re.compile(
    r"(?:try again|retry|wait|available|reset\w*|请|重试|再试|erneut).{0,40}?((?:\d+(?:\.\d+)? ?"
    r"(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])[ ,]{0,2}(?:and )?)+)",
    re.IGNORECASE,
)
_RESETS = ("requests", "tokens", "input-tokens", "output-tokens", "")
_EPOCH = 1_000_000_000  # seconds; what is beyond it is a time, and no span


def retry_after(headers: Mapping[str, str], complaint: Complaint | None = None) -> float | None:
    """Return seconds after which an answer says that the endpoint may be asked again; None: it does not.

    `Retry-After` is in seconds or a date (RFC 9110, section 10.2.3); some servers write a unit, and `retry-after-ms` is
    OpenAI's finer form. A date is measured from the answer's own `Date`: the clock of this machine may be wrong, or be
    set right in between. `RetryInfo.retryDelay` is Google's (google.rpc), `x-ratelimit-reset-*` OpenAI's and others',
    `ratelimit-reset` of the IETF draft "RateLimit header fields for HTTP".

    Args:
        headers: of the answer, their names in any case.
        complaint: what its body says.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    now = _date(lower.get("date", "")) or datetime.now(timezone.utc)
    asked = [
        _number(lower.get("retry-after-ms", ""), 0.001),
        seconds_in(lower.get("retry-after", ""), now),
        seconds_in(complaint.retry_delay, now) if complaint else None,
        _spoken(complaint.words) if complaint else None,
    ]
    told = next((each for each in asked if each is not None), None)
    return _reset(lower, now) if told is None else told


def seconds_in(text: str, now: datetime) -> float | None:
    """Return a span in seconds: `20`, `20s`, `1m30s`, `500ms`, a date, or a time since 1970; None for anything else.

    Args:
        text: as a header or a body has it.
        now: what dates are measured from.
    """
    text = text.strip().lower()
    number = _number(text, 1.0)
    if number is not None:
        for unit in (1.0, 0.001):
            if number * unit > _EPOCH:
                number = number * unit - now.timestamp()
                break
        return max(0.0, number)
    if _SPAN.match(text) and not re.sub(r"[\s,]|and", "", _SPAN.sub("", text)):
        return _span(text)
    date = _date(text)
    return None if date is None else max(0.0, (date - now).total_seconds())


def _number(text: str, unit: float) -> float | None:
    try:
        seconds = float(text) * unit
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _span(text: str) -> float:
    found = _SPAN.findall(text.lower())
    return sum(
        float(number) * _UNITS.get(unit if unit == "ms" else _short(unit), 1.0) for number, unit in found
    )


def _short(unit: str) -> str:
    """Return the unit's first letters: milliseconds and minutes begin alike."""
    return "ms" if unit.startswith("milli") else unit[:1]


def _date(text: str) -> datetime | None:
    """Return a date of HTTP or of RFC 3339 (Anthropic's `…-reset`)."""
    for read in (
        parsedate_to_datetime,
        lambda each: datetime.fromisoformat(each.upper().replace("Z", "+00:00")),
    ):
        try:
            date = read(text)
        except (ValueError, TypeError, OverflowError):
            continue
        return date if date.tzinfo else date.replace(tzinfo=timezone.utc)
    return None


def _spoken(words: str) -> float | None:
    match = _SPOKEN.search(words)
    return _span(match[1]) if match else None


def _reset(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the time until a limit is lifted.

    Of those that are used up the longest; of several unknown ones the shortest.
    """
    told = list(_resets(headers, now))
    used_up = [seconds for seconds, remaining in told if remaining == "0"]
    unknown = [seconds for seconds, remaining in told if remaining is None]
    return max(used_up) if used_up else min(unknown, default=None)


def _resets(headers: Mapping[str, str], now: datetime) -> Iterator[tuple[float, str | None]]:
    """Yield seconds until each limit is lifted, and what remains of it."""
    for prefix in ("x-ratelimit", "ratelimit", "anthropic-ratelimit"):
        for limit in _RESETS:
            for name, left in _spellings(prefix, limit):
                seconds = seconds_in(headers.get(name, ""), now)
                if seconds is not None:
                    remaining = headers.get(left)
                    yield seconds, remaining.strip() if remaining else None
    # The draft's later form: `RateLimit: "default";r=0;t=30`, and `limit=10, remaining=0, reset=30`.
    whole = headers.get("ratelimit", "")
    if match := re.search(r"(?:\bt|reset)=(\d+)", whole):
        left_over = re.search(r"(?:\br|remaining)=(\d+)", whole)
        yield float(match[1]), left_over[1] if left_over else None


def _spellings(prefix: str, limit: str) -> Iterator[tuple[str, str]]:
    tail = f"-{limit}" if limit else ""
    yield f"{prefix}-reset{tail}", f"{prefix}-remaining{tail}"
    if limit:
        yield f"{prefix}-{limit}-reset", f"{prefix}-{limit}-remaining"
