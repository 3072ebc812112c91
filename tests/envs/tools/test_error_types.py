"""What failed calls are called; expected types are those of the issue's own list of cases, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.tools.calls.error_types import advice, error_type, parse, table


@pytest.mark.parametrize(
    ("status", "body", "layer", "wanted"),
    [
        (200, {"code": "OK"}, "", ""),
        (200, {"code": 500}, "", ""),  # nobody looked
        (200, {"code": 500}, "L3_CODE_MISMATCH", "L3_CODE_MISMATCH"),
        (200, None, "L2_NOT_JSON", "L2_NOT_JSON"),
        (404, {"code": "RESOURCE_NOT_FOUND"}, "", "RESOURCE_NOT_FOUND"),
        (404, {"code": "TOOL_NOT_FOUND"}, "", "TOOL_NOT_FOUND"),
        (401, {"code": "UNAUTHORISED"}, "", "UNAUTHORISED"),
        (429, {"code": "RATE_LIMITED"}, "", "RATE_LIMITED"),
        (500, {"code": "INTERNAL_SERVER_ERROR"}, "", "INTERNAL_SERVER_ERROR"),
        (503, None, "", "INTERNAL_SERVER_ERROR"),
        (None, None, "", "TIMEOUT"),
        (409, {"code": "CONFLICT"}, "", "CONFLICT"),
        (409, {"code": "DUPLICATE"}, "", "DUPLICATE"),
        (423, {"code": "LOCKED"}, "", "LOCKED"),
        (422, {"code": "E_LOCATION_TYPE_MISMATCH"}, "", "E_LOCATION_TYPE_MISMATCH"),
        (422, {"code": "ERR_CERT_MISMATCH"}, "", "ERR_CERT_MISMATCH"),
        (422, {"code": "E_ANOTHER_RULE"}, "", "RULE_BROKEN"),
        (422, {"code": "E_APPROVAL_LIMIT"}, "", "LIMIT_EXCEEDED"),
        (410, {"code": "VERSION_MISMATCH"}, "", "VERSION_MISMATCH"),
        (400, {"code": "TYPE_MISMATCH"}, "", "TYPE_MISMATCH"),
        (400, "no JSON", "", "INVALID_REQUEST"),
        (418, None, "", "REFUSED"),
    ],
)
def test_a_failed_call_has_a_type(status: int | None, body: Any, layer: str, wanted: str) -> None:
    assert error_type(status, body, layer) == wanted


def test_there_are_about_25_types_each_with_advice_and_no_bare_status() -> None:
    names = [rule.type for rule in table()]
    assert len(names) == len(set(names)) >= 25
    assert all(advice(name) and not name.isdigit() for name in names)
    assert advice("NO_SUCH_TYPE") == ""


def test_a_rule_that_is_none_is_named_by_its_place() -> None:
    good = "- {type: A, when: {status: ['404']}, advice: b}\n"
    assert len(parse(good, "x.yaml")) == 1
    for wrong in ("- {type: A}", "- {type: A, when: {sort: ['1']}, advice: b}"):
        with pytest.raises(UsageError, match=r"x\.yaml: rule 2"):
            parse(good + wrong, "x.yaml")
