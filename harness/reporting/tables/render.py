"""Tables as text: terminal, Markdown, CSV, LaTeX and HTML, all from one `Table`."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from reflex_bench.core.control_characters import strip_control_chars
from reflex_bench.core.errors import unknown
from reflex_bench.harness.reporting.tables.grid import Cell, Grid, Table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group
    from rich.table import Table as RichTable
    from rich.text import Text

__all__ = ["Cell", "Grid", "Table", "render", "rich_table"]


def render(
    table: Table,
    format: str = "terminal",
    width: int | None = None,
    color: bool = False,
    label: str | None = None,
    two_columns: bool = False,
) -> str:
    """A table as text that ends with a newline.

    Args:
        table: what to write.
        format: `terminal`, `markdown`, `csv`, `latex` or `html`.
        width: columns of the terminal; None asks the terminal.
        color: whether a terminal table may use colours and weights.
        label: of LaTeX; see `write_latex`.
        two_columns: of LaTeX; see `write_latex`.

    Raises:
        UsageError: there is no such format.
    """
    from reflex_bench.harness.reporting.tables.latex import write_latex

    writers: dict[str, Callable[[], str]] = {
        "terminal": lambda: _terminal(table, width, color),
        "markdown": lambda: _markdown(table),
        "csv": lambda: _csv(table.frame),
        "latex": lambda: write_latex(table, label, two_columns),
        "html": lambda: _html(table),
    }
    if format not in writers:
        raise unknown("table format", format, writers)
    return writers[format]()


def rich_table(table: Table, width: int, text_width: int | None = None) -> Group:
    """The terminal form as something a `rich` console prints.

    Args:
        table: what to print.
        width: columns for the grids.
        text_width: columns for title and notes; None: as `width`.
    """
    from rich.console import Group
    from rich.constrain import Constrain
    from rich.text import Text

    title = Text(strip_control_chars(table.title), style="bold")
    parts: list[Text | RichTable | Constrain] = [Constrain(title, text_width), Text("")]
    if table.lead:
        parts += [Constrain(_rich_list(table.lead, "yellow"), text_width), Text("")]
    for grid in table.grids:
        if grid.title:
            parts.append(Text(strip_control_chars(grid.title), style="bold cyan"))
        parts += [_rich_grid(grid, width), Text("")]
    if table.notes:
        parts.append(Constrain(_rich_list(table.notes, "dim"), text_width))
    return Group(*parts)


def _rich_list(lines: tuple[str, ...], style: str) -> RichTable:
    from rich.table import Table as RichTable
    from rich.text import Text

    listed = RichTable.grid(padding=(0, 1, 0, 0))
    for line in lines:
        listed.add_row(Text("·", style=style), Text(strip_control_chars(line), style=style))
    return listed


def _terminal(table: Table, width: int | None, color: bool) -> str:
    from rich.console import Console

    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    # A terminal that is too narrow wraps lines of numbers, which is better than numbers that are cut off; text fits it.
    text_width = console.width
    console.width = max(console.width, *(_width(grid, beneath=True) for grid in table.grids))
    console.print(rich_table(table, console.width, text_width))
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip("\n").split("\n")) + "\n"


def _rich_grid(grid: Grid, width: int) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable

    beneath = _width(grid, beneath=False) > width
    drawn = RichTable(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False, header_style="bold"
    )
    for index, name in enumerate(grid.header):
        justify: Literal["left", "right"] = "right" if index else "left"
        drawn.add_column(_text(Cell(name), False), justify=justify, no_wrap=index > 0, overflow="fold")
    for row in grid.rows:
        drawn.add_row(*(_text(cell, beneath) for cell in row))
    return drawn


def _width(grid: Grid, beneath: bool) -> int:
    """Columns a grid needs when every aside stands beneath its value, or behind it."""
    cells = [tuple(Cell(name) for name in grid.header), *grid.rows]
    return sum(max(_length(cell, beneath) for cell in column) + 2 for column in zip(*cells, strict=True))


def _length(cell: Cell, beneath: bool) -> int:
    if beneath:
        return max(len(cell.text), len(cell.aside))
    return len(cell.text) + len(cell.aside) + bool(cell.aside)


def _text(cell: Cell, beneath: bool) -> Text:
    from rich.text import Text

    text = Text(strip_control_chars(cell.text), style="bold" if cell.strong else "")
    if cell.aside:
        text.append("\n" if beneath else " ").append(strip_control_chars(cell.aside), style="dim not bold")
    return text


def _markdown(table: Table) -> str:
    parts = [f"### {_md(table.title)}", *_markdown_list(table.lead)]
    for grid in table.grids:
        if grid.title:
            parts.append(f"**{_md(grid.title)}**")
        parts.append(_markdown_grid(grid))
    return "\n\n".join([*parts, *_markdown_list(table.notes)]) + "\n"


def _markdown_list(lines: tuple[str, ...]) -> list[str]:
    return ["\n".join(f"- {_md(line)}" for line in lines)] if lines else []


def _markdown_grid(grid: Grid) -> str:
    lines = [[_md(name) for name in grid.header]]
    lines += [[_md_cell(cell) for cell in row] for row in grid.rows]
    widths = [max(3, *(len(line[index]) for line in lines)) for index in range(len(grid.header))]
    rule = ["-" * width if index == 0 else "-" * (width - 1) + ":" for index, width in enumerate(widths)]
    padded = [
        [
            text.rjust(width) if index else text.ljust(width)
            for index, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in (lines[0], rule, *lines[1:])
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def _md_cell(cell: Cell) -> str:
    text = f"**{_md(cell.text)}**" if cell.strong else _md(cell.text)
    return f"{text} {_md(cell.aside)}" if cell.aside else text


def _md(text: str) -> str:
    # A bracket before `(` would end a link, one before `:` a definition that vanishes from the page.
    return re.sub(r"([\\`*<|]|\](?=[(:]))", r"\\\1", strip_control_chars(text))


def _csv(frame: pd.DataFrame) -> str:
    tidy = frame.apply(lambda column: column if column.dtype.kind in "biuf" else column.map(_field))
    return str(tidy.rename(columns=_field).to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def _field(value: Any) -> Any:
    """A value for CSV; a text that a spreadsheet would take for a formula stands behind an apostrophe."""
    return re.sub(r"^(?=[=+@-])", "'", strip_control_chars(value)) if isinstance(value, str) else value


def _html(table: Table) -> str:
    parts = [f"<h2>{_h(table.title)}</h2>", *_html_list(table.lead)]
    for grid in table.grids:
        head = "".join(f"<th>{_h(name)}</th>" for name in grid.header)
        body = "\n".join(f"<tr>{''.join(_html_cell(cell) for cell in row)}</tr>" for row in grid.rows)
        parts.append(
            f"<table>\n<caption>{_h(grid.title)}</caption>\n<thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{body}\n</tbody>\n</table>"
        )
    return "\n".join([*parts, *_html_list(table.notes)]) + "\n"


def _html_list(lines: tuple[str, ...]) -> list[str]:
    return [f"<ul>{''.join(f'<li>{_h(line)}</li>' for line in lines)}</ul>"] if lines else []


def _html_cell(cell: Cell) -> str:
    text = f"<strong>{_h(cell.text)}</strong>" if cell.strong else _h(cell.text)
    return f"<td>{text} <small>{_h(cell.aside)}</small></td>" if cell.aside else f"<td>{text}</td>"


def _h(text: str) -> str:
    return html.escape(strip_control_chars(text))
