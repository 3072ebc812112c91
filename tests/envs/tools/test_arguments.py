"""Repairs of arguments, and the check of arguments by their schema; every value worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from reflex_bench.envs.tools.controls.adapters import adapted
from reflex_bench.envs.tools.controls.schema import first_fault

FIELDS: dict[str, Any] = {
    "order_id": {"type": "string", "pattern": "^ORD-[0-9]{4}$"},
    "name": {"type": "string"},
    "amount": {"type": "number"},
    "count": {"type": "integer", "minimum": 1, "maximum": 9},
    "open": {"type": "boolean"},
    "day": {"type": "string", "format": "date"},
    "at": {"type": "string", "format": "date-time"},
    "kind": {"type": "string", "enum": ["raw_material", "finished"]},
    "tags": {"type": "array", "items": {"type": "string"}},
    "note": {"type": "string"},
    "lines": {
        "type": "array",
        "minItems": 1,
        "items": {"type": "object", "properties": {"q": {"type": "integer"}}},
    },
}
SCHEMA = {"type": "object", "properties": FIELDS, "required": ["order_id"], "additionalProperties": False}

REPAIRS = [
    ("order_id", "ord-1042", "ORD-1042", "id_case"),
    ("order_id", "'ORD-1042'.", "ORD-1042", "stray_marks"),
    ("order_id", "1042", "ORD-1042", "id_prefix"),
    ("order_id", "#1042", "ORD-1042", "id_prefix"),
    ("order_id", 1042, "ORD-1042", "id_prefix"),
    ("name", 7, "7", "number_as_text"),
    ("amount", "299.5", 299.5, "digits_as_text"),
    ("amount", "¥1,299.00", 1299, "currency"),
    ("amount", "299.00 EUR", 299, "currency"),
    ("count", "3", 3, "digits_as_text"),
    ("count", 3.0, 3, "whole_number"),
    ("open", "True", True, "word_as_truth"),
    ("open", 1, True, "number_as_truth"),
    ("day", "2026/3/1", "2026-03-01", "date_year_first"),
    ("day", "20260301", "2026-03-01", "date_compact"),
    ("day", "31.03.2026", "2026-03-31", "date_day_first"),
    ("day", "March 1, 2026", "2026-03-01", "date_in_words"),
    ("day", "1 March 2026", "2026-03-01", "date_in_words"),
    ("day", 1772323200, "2026-03-01", "date_unix"),
    ("at", "2026-03-01T10:00:00+02:00", "2026-03-01T08:00:00Z", "time_zone"),
    ("at", 1772323200, "2026-03-01T00:00:00Z", "date_unix"),
    ("kind", "Raw_Material", "raw_material", "letter_case"),
    ("kind", "raw material!", "raw_material", "listed_marks"),
    ("tags", "urgent", ["urgent"], "single_as_list"),
]


@pytest.mark.parametrize(("field", "given", "wanted", "name"), REPAIRS)
def test_a_value_is_mended_to_what_is_plainly_meant(field: str, given: Any, wanted: Any, name: str) -> None:
    assert adapted({field: given}, SCHEMA) == ({field: wanted}, [name])
    assert type(adapted({field: given}, SCHEMA)[0][field]) is type(wanted)
    # What was mended is what the schema takes.
    assert first_fault({"order_id": "ORD-1042", field: wanted}, SCHEMA) is None


def test_there_are_at_least_seventeen_kinds_of_repairs() -> None:
    assert len({name for *_, name in REPAIRS} | {"null_for_absent"}) >= 17


def test_null_for_an_absent_field_is_left_out() -> None:
    assert adapted({"order_id": "ORD-1042", "note": None}, SCHEMA) == (
        {"order_id": "ORD-1042"},
        ["null_for_absent"],
    )
    assert adapted({"order_id": None}, SCHEMA) == ({"order_id": None}, [])


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("day", "03/04/2026"),  # the third of April, or the fourth of March
        ("day", "2026-02-30"),
        ("day", "31.02.2026"),
        ("at", "2026-03-01T10:00:00"),  # in which zone?
        ("amount", "about 300"),
        ("amount", "1.299,00"),
        ("amount", True),
        ("count", "3.5"),
        ("open", "maybe"),
        ("open", 2),
        ("kind", "half finished"),
        ("order_id", "INV-1042"),
        ("order_id", "10425"),
        ("unknown", "x"),
    ],
)
def test_nothing_is_guessed_between_two(field: str, given: Any) -> None:
    assert adapted({field: given}, SCHEMA) == ({field: given}, [])


@pytest.mark.parametrize(
    ("arguments", "code", "field"),
    [
        ({}, "MISSING_REQUIRED_FIELD", "order_id"),
        ({"order_id": 5}, "TYPE_MISMATCH", "order_id"),
        ({"order_id": "x"}, "INVALID_PARAMETER", "order_id"),
        ({"order_id": "ORD-1042", "other": 1}, "INVALID_PARAMETER", "other"),
        ({"order_id": "ORD-1042", "amount": True}, "TYPE_MISMATCH", "amount"),
        ({"order_id": "ORD-1042", "count": 0}, "INVALID_PARAMETER", "count"),
        ({"order_id": "ORD-1042", "count": 10}, "INVALID_PARAMETER", "count"),
        ({"order_id": "ORD-1042", "day": "2026-13-01"}, "TYPE_MISMATCH", "day"),
        ({"order_id": "ORD-1042", "kind": "other"}, "INVALID_PARAMETER", "kind"),
        ({"order_id": "ORD-1042", "lines": []}, "INVALID_PARAMETER", "lines"),
        ({"order_id": "ORD-1042", "lines": [{"q": 1}, {"q": "2"}]}, "TYPE_MISMATCH", "lines.1.q"),
    ],
)
def test_a_fault_has_its_code_and_its_field(arguments: dict[str, Any], code: str, field: str) -> None:
    fault = first_fault(arguments, SCHEMA)
    assert fault is not None
    assert (fault[0], fault[2]) == (code, field)


def test_two_point_zero_is_a_whole_number_and_markup_is_a_text() -> None:
    assert (
        first_fault({"order_id": "ORD-1042", "count": 2.0, "name": "<b>'; DROP TABLE x;--\x00"}, SCHEMA)
        is None
    )


def test_arguments_nested_a_thousand_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(1000):
        deep = [deep]
    schema: dict[str, Any] = {"type": "array"}
    schema["items"] = schema
    fault = first_fault(deep, schema)
    assert fault is not None
    assert fault[1] == "nested too deep"
