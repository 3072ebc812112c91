"""The tables of one world, in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from reflex_bench.envs.tools.business.state import TABLES, Image, Row


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


@lru_cache(maxsize=1)
def _schema() -> str:
    made = []
    for name, table in TABLES.items():
        typed = ", ".join(
            f"{column.partition(':')[0]} {'INTEGER' if ':' in column else 'TEXT'} NOT NULL"
            for column in table.columns
        )
        made.append(
            f"CREATE TABLE {name} ({typed}, PRIMARY KEY ({', '.join(table.names[: table.key])})) WITHOUT ROWID;"
        )
    return "BEGIN;" + "".join(made)


class Store:
    """The tables of one world, in memory, and what was changed in them since `mark`."""

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
        connection.execute("COMMIT")
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
        return [
            dict(zip(named, row, strict=True))
            for row in self._connection.execute(query, tuple(where.values()))
        ]

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
        self._connection.execute(f"UPDATE {table} SET {setting} WHERE {_is(table)}", (*values.values(), *key))
        self._changes.append(Change(table, key, before, self._row(table, key)))

    def delete(self, table: str, key: Row) -> None:
        """Take the row of a key away."""
        before = self._row(table, key)
        self._connection.execute(f"DELETE FROM {table} WHERE {_is(table)}", key)
        self._changes.append(Change(table, key, before, ()))

    def _row(self, table: str, key: Row) -> Row:
        found = self._connection.execute(f"SELECT * FROM {table} WHERE {_is(table)}", key).fetchone()
        return tuple(found or ())

    @property
    def changed(self) -> tuple[Change, ...]:
        """What was changed since `mark`."""
        return tuple(self._changes)

    def mark(self) -> None:
        """Begin something that can be taken back."""
        self._changes = []
        self._connection.execute("SAVEPOINT mark")

    def keep(self) -> tuple[Change, ...]:
        """End it, and return what was changed."""
        self._connection.execute("RELEASE mark")
        return tuple(self._changes)

    def take_back(self) -> None:
        """Undo everything since `mark`."""
        self._connection.execute("ROLLBACK TO mark")
        self._connection.execute("RELEASE mark")

    def rows(self) -> Mapping[str, tuple[Row, ...]]:
        """Return what tools can write, bookkeeping aside, in an order that does not depend on history."""
        found = {}
        for name, columns in _business_columns().items():
            rows: Iterable[Row] = self._connection.execute(f"SELECT {columns} FROM {name}")
            found[name] = tuple(sorted(rows))
        return found


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
