"""A table before it takes a form: its cells, grids and notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in one place of a grid.

    Attributes:
        text: the value.
        aside: what is shown dim behind or beneath it, e.g. an interval.
        strong: whether it stands out.
    """

    text: str
    aside: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """One block of aligned cells; the first column is aligned left, the others right.

    Attributes:
        title: one line above it.
        header: names of the columns.
        rows: cells, as many in each as the header has names.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Everything a table says, before it takes a form.

    Attributes:
        title: one line.
        frame: the bare numbers; this is what CSV writes.
        grids: the same numbers laid out to be read.
        notes: one line each, printed beneath.
        lead: one line each, printed above the grids: what to know before the numbers.
    """

    title: str
    frame: pd.DataFrame
    grids: tuple[Grid, ...]
    notes: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
