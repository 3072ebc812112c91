"""What is checked of a call before its tool looks anything up, and what of it is noted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.business.state import MAX_WHOLE, NEVER, listed
from reflex_bench.envs.tools.business.store import Store
from reflex_bench.envs.tools.registry import Tool

LOCKED_AFTER, LOCK_SPAN = 8, 600
"""So many refused writes within so many seconds lock an account."""


def money(tool: str, arguments: Mapping[str, Any]) -> int:
    """What a call moves out of the company, in cents."""
    field = {"tool_refund_v2": "amount", "tool_expense_submit_v2": "total"}.get(tool)
    return int(arguments[field]) if field else 0


def same(tool: Tool, arguments: Mapping[str, Any]) -> str:
    return f"{tool.id} {json.dumps(arguments, sort_keys=True, default=str)}"


def plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that fit their schema, in which 2.0 is 2."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in arguments.items()
    }


def unwritable(value: Any, field: str = "") -> tuple[str, str, str] | None:
    """What fits a schema and still cannot be written: half a character, or a number beyond every measure."""
    if isinstance(value, Mapping):
        found = (unwritable(each, name) for name, each in value.items())
        return next((each for each in found if each), None)
    if isinstance(value, list):
        return next((each for each in (unwritable(item, field) for item in value) if each), None)
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        return "INVALID_PARAMETER", f"{field} is no text: it has half of a character", field
    if isinstance(value, int | float) and abs(value) >= MAX_WHOLE:
        return "INVALID_PARAMETER", f"{field} is too large", field
    return None


def locks(store: Store, account: str, at: int) -> bool:
    """Note a refused write of an account, and return whether it is the one that locks it."""
    row = store.one("accounts", account=account)
    if row is None:
        store.insert("accounts", account, "[]", NEVER)
        row = {"refused": "[]", "locked_at": NEVER}
    if row["locked_at"] != NEVER:
        return False
    recent = [each for each in listed(row["refused"]) if at - each < LOCK_SPAN] + [at]
    locked = len(recent) >= LOCKED_AFTER
    store.update("accounts", (account,), refused=json.dumps(recent), locked_at=at if locked else NEVER)
    return locked
