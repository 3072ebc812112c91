"""What a tool's function gets, and how it refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reflex_bench.envs.tools.business import state
from reflex_bench.envs.tools.business.store import Store

MADE_FROM = 9000
"""Ids that tools make begin here; those of an image lie below."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of a tool, as its function sees it.

    Attributes:
        store: the tables.
        start: of the image, in ISO 8601.
        arguments: that fit the tool's schema.
        at: virtual seconds.
        number: of the effect that this would be; ids are made from it, so that a held call is answered with the id
            that it gets when it is released.
    """

    store: Store
    start: str
    arguments: Mapping[str, Any]
    at: int
    number: int

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def new(self, prefix: str) -> str:
        """Return the id of something that this call makes."""
        return f"{prefix}-{MADE_FROM + self.number}"

    def moment(self, seconds: int, zone: int = 0) -> str:
        """Return a moment of the state in ISO 8601, told in a zone of so many minutes east of Greenwich."""
        return state.moment(self.start, seconds, zone)

    def day(self, seconds: int) -> str:
        """Return the day of a moment of the state."""
        return state.day(self.start, seconds)

    def found(self, table: str, what: str, **where: Any) -> dict[str, Any]:
        """Return a row.

        Raises:
            Refused: there is none.
        """
        row = self.store.one(table, **where)
        if row is None:
            raise Refused(404, "RESOURCE_NOT_FOUND", f"there is no {what} {next(iter(where.values()))!r:.80}")
        return row


class Refused(Exception):
    """A call that a tool refuses.

    Attributes:
        status: of HTTP.
        code: `RESOURCE_NOT_FOUND`, a rule's `E_…`, ….
        message: one line.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def rule(code: str, message: str) -> Refused:
    """Return the refusal for a rule of the business that the tool checks itself."""
    return Refused(409, code, message)


Function = Callable[[Ask], dict[str, Any]]
"""What a tool does: returns the body of a success, or raises `Refused`."""
