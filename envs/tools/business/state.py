"""The state of the business: its tables, and the image that a world is made from.

Money is in whole cents. Times are whole seconds since the beginning of the image; what was before is negative.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
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
    "outbox": _table(
        "message_id recipient subject body sent_at:i", book="message_id subject body sent_at"
    ),
    "accounts": _table("account refused locked_at:i", book="account refused locked_at"),
}
"""Every table. `guests` and `refused` hold lists as JSON; -1 in `carrier_zone` and the like has no meaning, times apart:
`delivered_at`, `locked_at` and `promised_by` are `NEVER` where there is none."""

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
        unknown = sorted(told["rows"].keys() - TABLES.keys())
        if unknown:
            raise ValueError(f"there is no table {unknown[0]!r}; known: {', '.join(TABLES)}")
        made: dict[str, tuple[Row, ...]] = {}
        for name, rows in told["rows"].items():
            for number, row in enumerate(rows, 1):
                _check(name, number, row)
            made[name] = tuple(map(tuple, rows))
        if datetime.fromisoformat(told["start"]).tzinfo is None:
            raise ValueError(f"start is {told['start']!r}; a moment with its zone is wanted")
        return cls(told["start"], told["role"], made)


def _check(name: str, number: int, row: Any) -> None:
    columns = TABLES[name].columns
    if not isinstance(row, list | tuple) or len(row) != len(columns):
        raise ValueError(f"row {number} of {name} has not the columns {', '.join(TABLES[name].names)}")
    for column, value in zip(columns, row, strict=True):
        bare, _, kind = column.partition(":")
        fits = isinstance(value, int) and not isinstance(value, bool) if kind else isinstance(value, str)
        if not fits:
            wanted = "a whole number" if kind else "a text"
            raise ValueError(f"row {number} of {name}: {bare} is {value!r:.80}; {wanted} is wanted")


@lru_cache(maxsize=1)
def _schema() -> str:
    made = []
    for name, table in TABLES.items():
        typed = ", ".join(
            f"{column.partition(':')[0]} {'INTEGER' if ':' in column else 'TEXT'} NOT NULL" for column in table.columns
        )
        made.append(f"CREATE TABLE {name} ({typed}, PRIMARY KEY ({', '.join(table.names[: table.key])})) WITHOUT ROWID;")
    return "".join(made)


class Store:
    """The tables of one world, in memory, and what was changed in them.

    Attributes:
        changes: of rows since `changed` was last called: table, key, row before, row after.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._changes: list[Change] = []

    @classmethod
    def open(cls, image: Image) -> Store:
        """Return the tables of an image."""
        connection = _memory()
        connection.executescript(_schema())
        for name, rows in image.rows.items():
            marks = ", ".join("?" * len(TABLES[name].columns))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        return cls(connection)

    def copy(self) -> Store:
        """Return the same tables, apart from these."""
        connection = _memory()
        self._connection.backup(connection)
        return Store(connection)

    def all(self, table: str, **where: Any) -> list[dict[str, Any]]:
        """Return the rows in which columns have these values, by key."""
        named = TABLES[table].names
        condition = " AND ".join(f"{name} = ?" for name in where) or "1"
        order = ", ".join(named[: TABLES[table].key])
        query = f"SELECT * FROM {table} WHERE {condition} ORDER BY {order}"
        return [dict(zip(named, row, strict=True)) for row in self._connection.execute(query, tuple(where.values()))]

    def one(self, table: str, **where: Any) -> dict[str, Any] | None:
        """Return the first such row; None for none."""
        return next(iter(self.all(table, **where)), None)

    def insert(self, table: str, *row: Any) -> None:
        """Add a row."""
        marks = ", ".join("?" * len(row))
        self._connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
        self._changes.append(Change(table, row[: TABLES[table].key], (), row))

    def update(self, table: str, key: Row, **values: Any) -> None:
        """Change columns of the row of a key."""
        before = self._row(table, key)
        setting = ", ".join(f"{name} = ?" for name in values)
        self._connection.execute(
            f"UPDATE {table} SET {setting} WHERE {_is(table)}", (*values.values(), *key)
        )
        self._changes.append(Change(table, key, before, self._row(table, key)))

    def delete(self, table: str, key: Row) -> None:
        """Take the row of a key away."""
        before = self._row(table, key)
        self._connection.execute(f"DELETE FROM {table} WHERE {_is(table)}", key)
        self._changes.append(Change(table, key, before, ()))

    def _row(self, table: str, key: Row) -> Row:
        found = self._connection.execute(f"SELECT * FROM {table} WHERE {_is(table)}", key).fetchone()
        return tuple(found or ())

    def mark(self) -> None:
        """Begin something that can be taken back."""
        self._changes = []
        self._connection.execute("SAVEPOINT mark")

    def keep(self) -> tuple[Change, ...]:
        """End it, and return what was changed."""
        self._connection.execute("RELEASE mark")
        return tuple(self._changes)

    def take_back(self) -> tuple[Change, ...]:
        """Undo everything since `mark`, and return what had been changed."""
        self._connection.execute("ROLLBACK TO mark")
        self._connection.execute("RELEASE mark")
        return tuple(self._changes)

    def rows(self) -> Mapping[str, tuple[Row, ...]]:
        """Return what tools can write, bookkeeping aside, in an order that does not depend on history."""
        found = {}
        for name, columns in _business_columns().items():
            rows: Iterable[Row] = self._connection.execute(f"SELECT {columns} FROM {name}")
            found[name] = tuple(sorted(rows))
        return found


@dataclass(frozen=True, slots=True)
class Change:
    """A row that was changed.

    Attributes:
        table, key: which.
        before, after: the row; empty where there was none, or is none any more.
    """

    table: str
    key: Row
    before: Row
    after: Row


def _is(table: str) -> str:
    return " AND ".join(f"{name} = ?" for name in TABLES[table].names[: TABLES[table].key])


@lru_cache(maxsize=1)
def _business_columns() -> Mapping[str, str]:
    kept = {
        name: [column for column in table.names if column not in table.book]
        for name, table in TABLES.items()
        if not table.fixed
    }
    return {name: ", ".join(columns) for name, columns in kept.items() if columns}


def _memory() -> sqlite3.Connection:
    # A trial may be settled by another thread than the one that played it, never by two at once.
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


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
    return datetime.fromisoformat(start)


def listed(text: str) -> list[Any]:
    """Return the list that a column holds as JSON; an empty one for an empty text."""
    found: list[Any] = json.loads(text) if text else []
    return found
