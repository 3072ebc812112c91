"""A task of the business: the request, the image of its world, what must be there at the end, and a plan."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from reflex_bench.envs.tools.business.state import TABLES, Image, Row, listed


class CannotBeBuiltError(ValueError):
    """A required state that does not fit the image of its task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """One call of a plan.

    Attributes:
        tool: the id of a tool, `respond` or `hand_over`.
        arguments: in which `{"from": step, "path": "orders.0.order_id"}` stands for something of an earlier answer,
            steps counted from 0.
        before_repeat: id of a tool that tells whether the step was done; to be looked at before it is done again where
            no answer came. Empty where a repeat does no harm.
    """

    tool: str
    arguments: Mapping[str, Any]
    before_repeat: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A row that has to be there at the end and is not there at the beginning.

    Attributes:
        table: its table.
        where: which row of the image it comes from, by some of its columns; empty for a new row.
        values: columns that differ from the row of the image; of a new row all that are no bookkeeping.
    """

    table: str
    where: Mapping[str, Any]
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """The end state of a task: the image with these rows changed and added, and nothing else.

    Attributes:
        states: the rows; where several end states are right, each of them.
        on_the_way: rows that a right plan makes and takes away again, e.g. a reservation. One that stays is left
            behind, and is no harm.
    """

    states: tuple[tuple[Expected, ...], ...] = ((),)
    on_the_way: tuple[Expected, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTask:
    """A request and what is right.

    Attributes:
        id: family and number, e.g. `refund-0007`.
        family: which of the eight.
        role: that the account has which the agent works with.
        message: of the customer or colleague.
        image: the world at the beginning.
        facts: that the answer must state, by the names that answers of tools have for them. How they are compared
            follows from name and value: see `judging.states`.
        required: the end state.
        plan: calls that reach it.
        should_hand_over: whether a hand-over is the right end.
    """

    id: str
    family: str
    role: str
    message: str
    image: Image
    facts: Mapping[str, Any]
    required: Required
    plan: tuple[PlanStep, ...]
    should_hand_over: bool = False


@cache
def business_columns(table: str) -> tuple[str, ...]:
    """Return the columns of a table that are part of an end state."""
    book = TABLES[table].book
    return tuple(name for name in TABLES[table].names if name not in book)


def projected(table: str, row: Row) -> Row:
    """Return a row of the database without its bookkeeping columns, as `compared` has it."""
    kept = business_columns(table)
    return compared(
        table, tuple(value for name, value in zip(TABLES[table].names, row, strict=True) if name in kept)
    )


def compared(table: str, row: Row) -> Row:
    """Return a row of an end state in the form in which rows are compared: guests of a meal have no order."""
    if table != "expense_lines":
        return row
    *rest, guests = row
    return (*rest, json.dumps(sorted(map(str, listed(guests))), ensure_ascii=False))


def first_state(image: Image) -> dict[str, Counter[Row]]:
    """Return the rows that an image has in tables which tools can write."""
    return {
        name: Counter(projected(name, tuple(row)) for row in image.rows.get(name, ()))
        for name, table in TABLES.items()
        if not table.fixed and business_columns(name)
    }


def row_of(expected: Expected, image: Image) -> tuple[Row, Row | None]:
    """Return a row that has to be there, and the row of the image that it replaces; None where it is new.

    Raises:
        CannotBeBuiltError: not exactly one row of the image fits, a column is missing, or there is no such column.
    """
    names = TABLES[expected.table].names if expected.table in TABLES else ()
    strange = sorted({*expected.where, *expected.values} - {*names})
    if strange:
        raise CannotBeBuiltError(f"{expected.table} has no column {strange[0]!r}")
    before: dict[str, Any] = {}
    if expected.where:
        rows = [dict(zip(names, row, strict=True)) for row in image.rows.get(expected.table, ())]
        found = [row for row in rows if all(row[name] == value for name, value in expected.where.items())]
        if len(found) != 1:
            raise CannotBeBuiltError(
                f"{len(found)} rows of {expected.table} have {dict(expected.where)}; one is wanted"
            )
        before = found[0]
    kept = business_columns(expected.table)
    after = {**before, **expected.values}
    missing = [name for name in kept if name not in after]
    if missing:
        raise CannotBeBuiltError(f"a new row of {expected.table} lacks {', '.join(missing)}")
    made = compared(expected.table, tuple(after[name] for name in kept))
    return made, compared(expected.table, tuple(before[name] for name in kept)) if before else None


def required_states(task: ToolTask) -> list[dict[str, Counter[Row]]]:
    """Return the states of which one has to be there at the end.

    Raises:
        CannotBeBuiltError: one of them cannot be built.
    """
    made = []
    for rows in task.required.states:
        state = first_state(task.image)
        for expected in rows:
            after, before = row_of(expected, task.image)
            if before is not None:
                state[expected.table][before] -= 1
            state[expected.table][after] += 1
        made.append({name: +rows for name, rows in state.items()})
    return made


def resolved(value: Any, answers: Sequence[Mapping[str, Any]]) -> Any:
    """Return arguments in which what stands for something of an earlier answer is that.

    Args:
        value: with `{"from": step, "path": "orders.0.id"}`, steps counted from 0.
        answers: so far.

    Raises:
        LookupError: an answer has no such thing.
    """
    if isinstance(value, Mapping):
        if set(value) == {"from", "path"}:
            return _at(answers[value["from"]], value["path"])
        return {name: resolved(each, answers) for name, each in value.items()}
    return [resolved(each, answers) for each in value] if isinstance(value, list | tuple) else value


def _at(body: Any, path: str) -> Any:
    for part in path.split("."):
        body = body[int(part)] if isinstance(body, list | tuple) else body[part]
    return body
