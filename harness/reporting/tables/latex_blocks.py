"""How a block of cells is set in LaTeX so that it fits: type, intervals, paragraphs, and in how many pieces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from reflex_bench.harness.reporting.tables.grid import Cell, Grid
from reflex_bench.harness.reporting.tables.latex_text import MAX_WORD, breakable, escape, pieces

_PAGE_WIDTH, _COLUMN_WIDTH = 340.0, 195.0
"""Points: the text of `article` at 10 pt is 345 pt wide, a column of its two 229 pt, of a narrow class 200 pt."""
FLOAT_LINES = 40.0
"""Lines of one float, beside its caption; a page of `article` has 43 to 46 of its own, larger size."""
_MIN_PARAGRAPH = 50.0
"""Points of the narrowest column of paragraphs."""
_SIZES = ((r"\small", 9.0, 6.0), (r"\footnotesize", 8.0, 3.0))
"""Font, its points, and points on either side of a column."""
_LAST_SIZES = (_SIZES[-1], (r"\scriptsize", 7.0, 2.0))
"""Those in which text is set as paragraphs: the smaller one where not all columns fit side by side in the larger."""


@dataclass(frozen=True, slots=True)
class Block:
    """A grid as it will be set.

    Attributes:
        title: above it; empty for none.
        header: lines of names.
        rows: of LaTeX.
        columns: the column specification.
        size: the font, and the room between columns.
        is_wide: whether it is wider than a column of a page with two.
        heights: of every row, in lines.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[str, ...]
    columns: str
    size: str
    is_wide: bool
    heights: tuple[float, ...]

    @property
    def lines(self) -> float:
        """How high it is."""
        return 4.0 + len(self.header) + sum(self.heights)

    @property
    def is_long(self) -> bool:
        """Whether it is too high for a float."""
        return self.lines > FLOAT_LINES


def blocks_of(grid: Grid, two_columns: bool) -> list[Block]:
    """Return a grid as it fits: in parts where it has too many columns, or too many rows for a float."""
    made: list[Block] = []
    for number, part in enumerate(_parts(grid)):
        title = part.title if not number else f"{part.title} (further columns)".strip()
        block = _block(Grid(title, part.header, part.rows))
        made += _in_pieces(block) if two_columns and block.is_long else [block]
    return made


def _in_pieces(block: Block) -> Iterable[Block]:
    """Yield a block that is too high in pieces that fit a float."""
    room = FLOAT_LINES - 4.0 - len(block.header)
    start, used = 0, 0.0
    for place, height in enumerate((*block.heights, math.inf)):
        if used + height > room and place > start:
            title = block.title if not start else f"{block.title} (continued)".strip()
            piece = slice(start, place)
            yield replace(block, title=title, rows=block.rows[piece], heights=block.heights[piece])
            start, used = place, 0.0
        used += height


def _parts(grid: Grid) -> Iterable[Grid]:
    """Yield a grid in parts of as many columns as fit side by side at their narrowest; the first stands in each."""
    _, points, gap = _last_size(grid)
    least = _narrowest(grid, points)
    kept, used = [0], least[0] + 2 * gap
    for place in range(1, len(grid.header)):
        if used + least[place] + 2 * gap > _PAGE_WIDTH and len(kept) > 1:
            yield _taken(grid, kept)
            kept, used = [0], least[0] + 2 * gap
        kept.append(place)
        used += least[place] + 2 * gap
    yield _taken(grid, kept)


def _narrowest(grid: Grid, points: float) -> list[float]:
    """Return how narrow every column can be."""
    return [width if least is None else min(width, least) for width, least in _widths(grid, points, True)]


def _last_size(grid: Grid) -> tuple[str, float, float]:
    """Return the type for a grid that does not fit otherwise."""
    for size in _LAST_SIZES:
        if sum(width + 2 * size[2] for width in _narrowest(grid, size[1])) <= _PAGE_WIDTH:
            return size
    return _LAST_SIZES[-1]


def _taken(grid: Grid, places: Sequence[int]) -> Grid:
    def taken(cells: Sequence[Cell]) -> tuple[Cell, ...]:
        return tuple(cells[place] for place in places)

    return Grid(grid.title, tuple(grid.header[place] for place in places), tuple(map(taken, grid.rows)))


def _block(grid: Grid) -> Block:
    """Return a grid in the largest type, and with its intervals beside the values, if that fits."""
    for limit in (_COLUMN_WIDTH, _PAGE_WIDTH):
        for size, points, gap in _SIZES:
            for beneath in (False, True):
                widths = _widths(grid, points, beneath)
                total = sum(width + 2 * gap for width, _ in widths)
                if total <= limit and (limit == _PAGE_WIDTH or not beneath):
                    return _set(grid, size, gap, beneath, [None] * len(widths), limit > _COLUMN_WIDTH, points)
    size, points, gap = _last_size(grid)
    widths = _widths(grid, points, True)
    fixed = sum(width for width, least in widths if least is None) + 2 * gap * len(widths)
    texts = [(width, least) for width, least in widths if least is not None]
    shares = iter(_shared(texts, _PAGE_WIDTH - fixed))
    paragraphs = [None if least is None else next(shares) for _, least in widths]
    return _set(grid, size, gap, True, paragraphs, True, points)


def _shared(wanted: Sequence[tuple[float, float]], room: float) -> list[float | None]:
    """Return how wide the columns of text are: as they want where that is less than their share, which is then even.

    Args:
        wanted: for each, how wide it is on one line, and how narrow it may be.
        room: for all of them.
    """
    given: list[float | None] = [None] * len(wanted)
    for place in sorted(range(len(wanted)), key=lambda place: wanted[place]):
        open_ones = sum(width is None for width in given)
        width = max(wanted[place][1], min(wanted[place][0], room / open_ones))
        given[place], room = width, room - width
    return given


def _widths(grid: Grid, points: float, beneath: bool) -> list[tuple[float, float | None]]:
    """Return for every column how many points it needs, and how few will do where it holds text that may be broken."""
    found: list[tuple[float, float | None]] = []
    for place, name in enumerate(grid.header):
        cells = [row[place] for row in grid.rows]
        inner = max((_width(cell, points, beneath) for cell in cells), default=0.0)
        words = max(map(len, name.split()), default=0)
        header = max(points * _ems(word) for word in name.split() or [""]) if words else 0.0
        is_text = any(len(cell.text) > MAX_WORD and not cell.aside for cell in cells) or words > MAX_WORD
        found.append((max(inner, header), _least(name, cells, points) if is_text else None))
    return found


def _least(name: str, cells: Sequence[Cell], points: float) -> float:
    """Return how many points the longest word needs that is not broken."""
    words = [
        (piece, 1.2 if cell.strong else 1)
        for cell in (Cell(name), *cells)
        for word in cell.text.split()
        for piece in pieces(word)
    ]
    return max([_MIN_PARAGRAPH, *(points * bold * _ems(word) for word, bold in words)])


def _width(cell: Cell, points: float, beneath: bool) -> float:
    text, aside = points * _ems(cell.text) * (1.2 if cell.strong else 1), 7 * _ems(cell.aside)
    return max(text, aside) if beneath else text + aside + (points * 0.4 if cell.aside else 0)


_NARROW, _BROAD = frozenset(".,:;'|!iljI()[] "), frozenset("mwMW%@—…&≥≤×−_")


def _ems(text: str) -> float:
    """Return an upper estimate of the width of a text in its own font size."""
    return sum(
        0.34 if mark in _NARROW else 0.95 if mark in _BROAD else 0.78 if mark.isupper() else 0.56
        for mark in text
    )


def _set(
    grid: Grid,
    size: str,
    gap: float,
    beneath: bool,
    paragraphs: Sequence[float | None],
    is_wide: bool,
    points: float,
) -> Block:
    lines = [
        [name] if paragraphs[place] else _lines(name, grid, place) for place, name in enumerate(grid.header)
    ]
    deep = max(map(len, lines), default=1)
    header = [_header_line(lines, number - deep, paragraphs) for number in range(deep)]
    rows: list[str] = []
    heights: list[float] = []
    for row in grid.rows:
        texts = [_cell(cell, beneath, paragraphs[place] is not None) for place, cell in enumerate(row)]
        asides = [rf"{{\scriptsize {escape(cell.aside)}}}" if cell.aside else "" for cell in row]
        under = beneath and any(cell.aside for cell in row)
        rows.append(" & ".join(texts) + r" \\" + (("\n" + " & ".join(asides) + r" \\") if under else ""))
        # A line of a narrow column is not filled to its end.
        folded = [
            math.ceil(1.2 * points * _ems(cell.text) / width)
            for cell, width in zip(row, paragraphs, strict=True)
            if width
        ]
        heights.append(max(1.0, *folded, 1.0) + under)
    kinds = [
        f"p{{{width:.0f}pt}}" if width else "r" if place else "l" for place, width in enumerate(paragraphs)
    ]
    spaced = size if gap == _SIZES[0][2] else rf"{size}\setlength{{\tabcolsep}}{{{gap:g}pt}}"
    return Block(
        title=escape(grid.title),
        header=tuple(header),
        rows=tuple(rows),
        columns=f"@{{}}{''.join(kinds)}@{{}}",
        size=spaced,
        is_wide=is_wide,
        heights=tuple(heights),
    )


def _header_line(lines: Sequence[Sequence[str]], number: int, paragraphs: Sequence[float | None]) -> str:
    """Return one line of the names of columns, counted from the last, which is -1."""
    names = [Cell(each[number] if -number <= len(each) else "") for each in lines]
    return (
        " & ".join(_cell(name, False, bool(width)) for name, width in zip(names, paragraphs, strict=True))
        + r" \\"
    )


def _lines(name: str, grid: Grid, place: int) -> list[str]:
    """Return a column's name on as many lines as keep it no wider than the column."""
    room = max([0, *(len(row[place].text) for row in grid.rows), *map(len, name.split())])
    lines = [""]
    for word in name.split():
        lines += [word] if lines[-1] and len(lines[-1]) + len(word) >= room else []
        lines[-1] = word if lines[-1] in ("", word) else f"{lines[-1]} {word}"
    return lines


def _cell(cell: Cell, beneath: bool, in_paragraph: bool) -> str:
    text = breakable(cell.text) if in_paragraph else escape(cell.text)
    text = rf"\textbf{{{text}}}" if cell.strong else text
    if in_paragraph:
        text = rf"{{\raggedright {text}\par}}"
    return text if beneath or not cell.aside else rf"{text} {{\scriptsize {escape(cell.aside)}}}"
