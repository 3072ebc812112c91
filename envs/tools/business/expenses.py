"""Expense reports, and who approves them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.business.asking import Ask, Function, Refused, rule
from reflex_bench.envs.tools.business.state import listed

GUESTS_ABOVE = 100_000
"""Cents; a meal that costs more needs the list of its guests."""


def report(ask: Ask) -> dict[str, Any]:
    """Look an expense report up."""
    row = ask.found("expense_reports", "expense report", report_id=ask["report_id"])
    lines = [
        {
            "line_id": each["line_id"],
            "kind": each["kind"],
            "amount": each["amount"],
            "guests": listed(each["guests"]),
        }
        for each in ask.store.all("expense_lines", report_id=row["report_id"])
    ]
    return {**{name: row[name] for name in ("report_id", "employee_id", "status")}, "lines": lines}


def employees(ask: Ask) -> dict[str, Any]:
    """List employees, by id or department."""
    given = {name: ask.arguments[name] for name in ("employee_id", "department") if name in ask.arguments}
    if not given:
        raise Refused(422, "MISSING_REQUIRED_FIELD", "give employee_id or department")
    rows = ask.store.all("employees", **given)
    if not rows:
        raise Refused(
            404, "RESOURCE_NOT_FOUND", f"there is nobody with {', '.join(map(str, given.values()))!r:.80}"
        )
    return {"employees": [{name: row[name] for name in row if row[name] != ""} for row in rows]}


def guests(ask: Ask) -> dict[str, Any]:
    """Put down the guests of a meal."""
    line = ask.found("expense_lines", "line", line_id=ask["line_id"])
    row = ask.found("expense_reports", "expense report", report_id=line["report_id"])
    if row["status"] != "draft":
        raise Refused(409, "CONFLICT", f"{row['report_id']} is {row['status']}")
    if line["kind"] != "meal":
        raise rule("E_NO_MEAL", f"{line['line_id']} is no meal but {line['kind']}")
    named = json.dumps(ask["guests"], ensure_ascii=False) if ask["guests"] else ""
    ask.store.update("expense_lines", (line["line_id"],), guests=named)
    return {"line_id": line["line_id"], "guests": list(ask["guests"]), "previous": listed(line["guests"])}


def submit(ask: Ask) -> dict[str, Any]:
    """Hand a report in."""
    row = ask.found("expense_reports", "expense report", report_id=ask["report_id"])
    if row["status"] != "draft":
        raise rule("DUPLICATE", f"{row['report_id']} is {row['status']} already")
    lines = ask.store.all("expense_lines", report_id=row["report_id"])
    total = sum(line["amount"] for line in lines)
    if ask["total"] != total:
        raise rule("E_TOTAL_MISMATCH", f"the total is {ask['total']}; the lines add up to something else")
    for line in lines:
        if line["kind"] == "meal" and line["amount"] > GUESTS_ABOVE and not listed(line["guests"]):
            raise rule("E_GUESTS_MISSING", f"{line['line_id']} is a meal that needs the list of its guests")
    approver = ask.found("employees", "employee", employee_id=ask["approver_id"])
    if approver["employee_id"] == row["employee_id"]:
        raise rule("E_OWN_APPROVAL", "nobody approves a report of their own")
    if approver["approval_limit"] < total:
        limit = approver["approval_limit"]
        raise rule("E_APPROVAL_LIMIT", f"{approver['employee_id']} may approve up to {limit}, not {total}")
    ask.store.update(
        "expense_reports",
        (row["report_id"],),
        status="submitted",
        total=total,
        approver_id=approver["employee_id"],
    )
    told = {"report_id": row["report_id"], "status": "submitted"}
    return {**told, "approver_id": approver["employee_id"], "total": total}


TOOLS: Mapping[str, Function] = {
    "tool_expense_report_v2": report,
    "tool_employees_v1": employees,
    "tool_expense_guests_v1": guests,
    "tool_expense_submit_v2": submit,
}
