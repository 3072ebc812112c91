"""Named repairs of arguments: what is plainly meant is written as the tool takes it, and never a guess between two."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

from reflex_bench.envs.tools.controls.base import Call, Control, Desk, Outcome
from reflex_bench.envs.tools.controls.schema import is_a, kinds_of

_MONTHS = {
    name: place
    for place, names in enumerate(
        (
            *(
                "january jan",
                "february feb",
                "march mar",
                "april apr",
                "may",
                "june jun",
                "july jul",
                "august aug",
            ),
            *("september sep sept", "october oct", "november nov", "december dec"),
        ),
        1,
    )
    for name in names.split()
}
_AMOUNT = re.compile(
    r"[¥€$£]?\s*(-?\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|-?\d+(?:\.\d+)?)\s*(?:¥|€|\$|£|[A-Z]{3})?"
)
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_DAY_FIRST = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})")
_WORDED = re.compile(r"(?:(\d{1,2})\.? )?([A-Za-z]{3,9})\.? (?:(\d{1,2})(?:st|nd|rd|th)?, )?(\d{4})")
_EPOCH = (946_684_800, 4_102_444_800)
"""Seconds since 1970 that can be a date: from 2000 to 2100."""
_MARKS = " \t\n!.?;,:\"'`*_"
_PREFIX = re.compile(r"\^\(?\??:?([A-Z]{2,6}-)")

Made = tuple[str, Any]
"""Name of a repair, and the value it makes."""


class Adapters(Control):
    """Arguments are repaired before the call."""

    name = "adapters"

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """See `Control`."""
        if call.tool is None:
            return None
        mended, names = adapted(call.arguments, desk.parameters(call.tool))
        if names:
            call.arguments = mended
            desk.counts.update(f"adapter_{name}" for name in names)
        return None


def adapted(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return arguments as a schema wants them, and the name of every repair.

    Args:
        arguments: as given.
        schema: of an object.
    """
    fields, required = schema.get("properties", {}), schema.get("required", ())
    mended, names = {}, []
    for name, value in arguments.items():
        kind = fields.get(name)
        if isinstance(kind, Mapping):
            if value is None and name not in required and "null" not in kinds_of(kind):
                names.append("null_for_absent")
                continue
            made = _value(value, kind)
            if made is not None:
                names.append(made[0])
                value = made[1]
        mended[name] = value
    return mended, names


def _value(value: Any, schema: Mapping[str, Any]) -> Made | None:
    """The one repair that makes a value fit; None where it fits already, or none does."""
    if "enum" in schema:
        return _listed(value, schema["enum"]) if value not in schema["enum"] else None
    kinds = kinds_of(schema)
    if schema.get("format") in ("date", "date-time"):
        return _date(value, schema["format"])
    if any(is_a(value, kind) for kind in kinds):
        fits = "integer" in kinds and isinstance(value, float) and "number" not in kinds
        return ("whole_number", int(value)) if fits else _text(value, schema)
    for kind in kinds:
        if kind in _REPAIRS and (made := _REPAIRS[kind](value, schema)) is not None:
            return made
    return None


def _text(value: Any, schema: Mapping[str, Any]) -> Made | None:
    """The id that a text is meant for, where the schema has a pattern that it does not fit."""
    pattern = schema.get("pattern")
    if not isinstance(value, str) or not pattern or re.search(pattern, value):
        return None
    prefix = _PREFIX.match(pattern)
    bare = value.strip(_MARKS).upper()
    tried = {"stray_marks": value.strip(_MARKS), "id_case": bare, "id_prefix": _prefixed(prefix, bare)}
    for name, meant in tried.items():
        if meant and re.search(pattern, meant):
            return name, meant
    return None


def _prefixed(prefix: re.Match[str] | None, text: str) -> str:
    digits = re.fullmatch(r"(?:[A-Z]{2,6}[ _-]?)?#?(\d+)", text)
    same = prefix and (not text[:1].isalpha() or text.startswith(prefix[1].rstrip("-")))
    return f"{prefix[1]}{digits[1]}" if prefix and digits and same else ""


def _as_text(value: Any, schema: Mapping[str, Any]) -> Made | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    text = str(int(value)) if float(value).is_integer() else str(value)
    mended = _text(text, schema)
    return mended or (None if schema.get("pattern") else ("number_as_text", text))


def _as_number(value: Any, schema: Mapping[str, Any]) -> Made | None:
    match = _AMOUNT.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 40 else None
    if match is None:
        return None
    number = float(match[1].replace(",", ""))
    name = "digits_as_text" if value.strip() == match[1] and "," not in value else "currency"
    return name, int(number) if number.is_integer() else number


def _as_whole(value: Any, schema: Mapping[str, Any]) -> Made | None:
    made = _as_number(value, schema)
    return made if made and isinstance(made[1], int) else None


def _as_truth(value: Any, schema: Mapping[str, Any]) -> Made | None:
    if value in (0, 1) and isinstance(value, int | float):
        return "number_as_truth", bool(value)
    word = value.strip().lower() if isinstance(value, str) else ""
    return ("word_as_truth", _WORDS[word]) if word in _WORDS else None


def _as_list(value: Any, schema: Mapping[str, Any]) -> Made | None:
    items = schema.get("items", {})
    one = isinstance(items, Mapping) and any(is_a(value, kind) for kind in kinds_of(items))
    return ("single_as_list", [value]) if one else None


_REPAIRS: Mapping[str, Callable[[Any, Mapping[str, Any]], Made | None]] = {
    "string": _as_text,
    "number": _as_number,
    "integer": _as_whole,
    "boolean": _as_truth,
    "array": _as_list,
}


def _listed(value: Any, allowed: list[Any]) -> Made | None:
    if not isinstance(value, str):
        return None
    for name, mend in (("letter_case", str.lower), ("listed_marks", lambda text: _squeezed(text))):
        meant = [each for each in allowed if isinstance(each, str) and mend(each) == mend(value)]
        if len(meant) == 1:
            return name, meant[0]
    return None


def _squeezed(text: str) -> str:
    return re.sub(r"[\s_-]+", "_", text.strip(_MARKS).lower())


def _date(value: Any, form: str) -> Made | None:
    """A date in one of five forms, or a moment with its zone; 03/04/2026 could be two days, and stays."""
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) and form == "date":
        return None
    if form == "date-time" and is_a(value, "integer") and _EPOCH[0] <= value < _EPOCH[1]:
        moment_of = datetime.fromtimestamp(int(value), timezone.utc)
        return "date_unix", moment_of.isoformat().replace("+00:00", "Z")
    found = _day(value)
    if found is None:
        moment = _moment(value)
        if moment is None or (form == "date-time" and moment[1] == value):
            return None
        return moment[0], moment[1] if form == "date-time" else moment[1][:10]
    name, (year, month, day) = found
    try:
        text = datetime(year, month, day, tzinfo=timezone.utc).date().isoformat()
    except ValueError:
        return None
    return name, text if form == "date" else f"{text}T00:00:00Z"


def _day(value: Any) -> tuple[str, tuple[int, int, int]] | None:
    if isinstance(value, int) and not isinstance(value, bool) and _EPOCH[0] <= value < _EPOCH[1]:
        moment = datetime.fromtimestamp(value, timezone.utc)
        return "date_unix", (moment.year, moment.month, moment.day)
    text = value.strip() if isinstance(value, str) else ""
    for name, pattern in (("date_year_first", _YEAR_FIRST), ("date_compact", _COMPACT)):
        if match := pattern.fullmatch(text):
            return name, (int(match[1]), int(match[2]), int(match[3]))
    if match := _DAY_FIRST.fullmatch(text):
        one, other, year = map(int, match.groups())
        if one != other and one <= 12 and other <= 12:
            return None
        return "date_day_first", (year, other, one) if other <= 12 else (year, one, other)
    if match := _WORDED.fullmatch(text):
        month, day = _MONTHS.get(match[2].lower()), match[1] or match[3]
        if month and day and not (match[1] and match[3]):
            return "date_in_words", (int(match[4]), month, int(day))
    return None


def _moment(value: Any) -> tuple[str, str] | None:
    """A moment in UTC; one without a zone is none, as it could be several."""
    try:
        moment = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    except (AttributeError, ValueError):
        return None
    if moment.tzinfo is None:
        return None
    return "time_zone", moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
