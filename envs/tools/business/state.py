"""The state of the business: its tables, and the image that a world is made from.

Money is in whole cents. Times are whole seconds since the beginning of the image; what was before is negative.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Any

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the state.

    Attributes:
        columns: in order; a name with `:i` behind it holds whole numbers, others hold text.
        key: how many of the first columns name a row.
        book: columns that keep the books: ids that depend on the order of calls, moments, wording. They are no part
            of an end state.
        fixed: whether no tool writes it.
    """

    columns: tuple[str, ...]
    key: int = 1
    book: tuple[str, ...] = ()
    fixed: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns without their types."""
        return tuple(column.partition(":")[0] for column in self.columns)


def _table(columns: str, key: int = 1, book: str = "", fixed: bool = False) -> Table:
    return Table(tuple(columns.split()), key, tuple(book.split()), fixed)


TABLES: Mapping[str, Table] = {
    "customers": _table("customer_id name email", fixed=True),
    "orders": _table(
        "order_id customer_id status placed_at:i promised_by:i total:i currency invoice_address delivery_address"
    ),
    "order_lines": _table("order_id line:i article quantity:i price:i", key=2, fixed=True),
    "shipments": _table(
        "shipment_id order_id status eta:i carrier_eta:i carrier_zone:i scanned_at:i delivered_at:i before_hold",
        book="before_hold",
    ),
    "payments": _table("payment_id order_id amount:i status paid_at:i", fixed=True),
    "settlements": _table("entry_id payment_id order_id settled_at:i", book="entry_id settled_at"),
    "refunds": _table(
        "refund_id order_id amount:i status reason requested_at:i", book="refund_id reason requested_at"
    ),
    "materials": _table("material_id name kind needed_at", fixed=True),
    "places": _table("place kind takes", fixed=True),
    "stock": _table("material_id place quantity:i", key=2),
    "reservations": _table("reservation_id material_id place quantity:i", book="reservation_id"),
    "movements": _table(
        "movement_id material_id from_place to_place quantity:i moved_at:i", book="movement_id moved_at"
    ),
    "work_orders": _table("work_order_id skill due:i status worker_id"),
    "workers": _table("worker_id name busy:i", fixed=True),
    "certificates": _table("worker_id skill valid_until:i", key=2, fixed=True),
    "employees": _table("employee_id name department approval_limit:i manager_id", fixed=True),
    "expense_reports": _table("report_id employee_id status total:i approver_id"),
    "expense_lines": _table("line_id report_id kind amount:i guests"),
    "policies": _table("clause text", fixed=True),
    "outbox": _table("message_id recipient subject body sent_at:i", book="message_id subject body sent_at"),
    "accounts": _table("account refused locked_at:i", book="account refused locked_at"),
}
"""Every table. `guests` and `refused` hold lists as JSON, nothing for an empty one; `carrier_zone` is in minutes east
of Greenwich; `delivered_at` and `locked_at` are `NEVER` where there is none."""

MAX_WHOLE = 2**53
"""Whole numbers from here on are not the same in every JSON reader."""
MAX_ZONE = 18 * 60
"""Minutes; no zone is farther from Greenwich."""
LISTS = ("guests", "refused")
MOMENTS = (
    *(
        "placed_at",
        "promised_by",
        "eta",
        "carrier_eta",
        "scanned_at",
        "delivered_at",
        "paid_at",
        "settled_at",
    ),
    *("requested_at", "moved_at", "due", "valid_until", "sent_at", "locked_at"),
)
NEVER = 10**9
"""A moment that does not come: about thirty years after the beginning."""


@dataclass(frozen=True, slots=True)
class Image:
    """The state that a world begins with.

    Attributes:
        start: of the virtual time, in ISO 8601 with its zone.
        role: that the account of the request has.
        rows: of each table, in the order of its columns; tables without rows may be missing.
    """

    start: str
    role: str
    rows: Mapping[str, tuple[Row, ...]]

    def told(self) -> dict[str, Any]:
        """Return what JSON can hold of it, tables and rows in order."""
        rows = {name: [list(row) for row in self.rows[name]] for name in TABLES if self.rows.get(name)}
        return {"start": self.start, "role": self.role, "rows": rows}

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Image:
        """Return the image that `told` described.

        Raises:
            ValueError: a table or a row that cannot be; says which.
        """
        if set(told) != {"start", "role", "rows"} or not isinstance(told["rows"], Mapping):
            raise ValueError("an image has start, role and rows, and no others")
        unknown = sorted(told["rows"].keys() - TABLES.keys())
        if unknown:
            raise ValueError(f"there is no table {unknown[0]!r}; known: {', '.join(TABLES)}")
        made: dict[str, tuple[Row, ...]] = {}
        for name, rows in told["rows"].items():
            seen: set[Row] = set()
            for number, row in enumerate(rows, 1):
                _check(name, number, row)
                key = tuple(row[: TABLES[name].key])
                if key in seen:
                    raise ValueError(f"row {number} of {name}: {', '.join(map(str, key))} is there twice")
                seen.add(key)
            made[name] = tuple(map(tuple, rows))
        if not _is_start(told["start"]):
            raise ValueError(
                f"start is {told['start']!r:.80}; a moment of 2000 to 2100 with its zone is wanted"
            )
        return cls(told["start"], told["role"], made)


def _is_start(value: Any) -> bool:
    try:
        start = _parsed(value)
    except (AttributeError, TypeError, ValueError):
        return False
    return start.tzinfo is not None and 2000 <= start.year <= 2100


def _check(name: str, number: int, row: Any) -> None:
    columns = TABLES[name].columns
    if not isinstance(row, list | tuple) or len(row) != len(columns):
        raise ValueError(f"row {number} of {name} has not the columns {', '.join(TABLES[name].names)}")
    for column, value in zip(columns, row, strict=True):
        bare, _, kind = column.partition(":")
        fits = _is_whole(bare, value) if kind else _is_text(bare, value)
        if not fits:
            wanted = (
                "a whole number in its range" if kind else "a text" if bare not in LISTS else "a list as JSON"
            )
            raise ValueError(f"row {number} of {name}: {bare} is {value!r:.80}; {wanted} is wanted")


def _is_whole(column: str, value: Any) -> bool:
    limit = MAX_ZONE if column == "carrier_zone" else NEVER if column in MOMENTS else MAX_WHOLE - 1
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= limit


def _is_text(column: str, value: Any) -> bool:
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        return False
    try:
        return column not in LISTS or isinstance(listed(value), list)
    except (ValueError, RecursionError):
        return False


def moment(start: str, seconds: int, zone: int = 0) -> str:
    """Return a moment in ISO 8601.

    Args:
        start: of the image.
        seconds: since then.
        zone: minutes east of Greenwich in which it is told.
    """
    at = _parsed(start) + timedelta(seconds=seconds)
    text = at.astimezone(timezone(timedelta(minutes=zone))).isoformat()
    return text.replace("+00:00", "Z")


def day(start: str, seconds: int) -> str:
    """Return the day of a moment, in UTC, as YYYY-MM-DD."""
    return moment(start, seconds)[:10]


@lru_cache(maxsize=64)
def _parsed(start: str) -> datetime:
    return datetime.fromisoformat(start.replace("Z", "+00:00"))


def listed(text: str) -> list[Any]:
    """Return the list that a column holds as JSON; an empty one for an empty text."""
    found: list[Any] = json.loads(text) if text else []
    return found
