r"""Tables as LaTeX that fits a page and a column: floats of `booktabs` tables, and `longtable` for long ones.

Widths are estimated from the characters, with the widths of Computer Modern rounded up. What is too wide gets its
intervals beneath the values, then smaller type, then paragraphs in the columns of text, then fewer columns side by
side. Nothing is scaled. A block that is wider than a column of a page with two stands across both (`table*`), which in
a document with one column is the same as `table`.
"""

from __future__ import annotations

from collections.abc import Sequence

from reflex_bench.harness.reporting.tables.grid import Table
from reflex_bench.harness.reporting.tables.latex_blocks import FLOAT_LINES, Block, blocks_of
from reflex_bench.harness.reporting.tables.latex_text import breakable

_NOTES_INSIDE = 500
"""Characters of notes that stand in the float; more go beneath it as text, which breaks over pages."""


def write_latex(table: Table, label: str | None = None, two_columns: bool = False) -> str:
    r"""Return a table as LaTeX; it needs `\usepackage{booktabs}`, and `longtable` where that is used.

    Args:
        table: what to write.
        label: for `\ref`; further floats get `-2`, `-3` behind it. None: no label.
        two_columns: for a document with two columns, in which `longtable` does not work.
    """
    blocks = [block for grid in table.grids for block in blocks_of(grid, two_columns)]
    floats: list[list[Block]] = []
    for block in blocks:
        if floats and sum(each.lines for each in (*floats[-1], block)) <= FLOAT_LINES:
            floats[-1].append(block)
        else:
            floats.append([block])
    inside = sum(map(len, (*table.lead, *table.notes))) <= _NOTES_INSIDE and len(blocks) > 0
    last = floats[-1] if floats else []
    inside = inside and sum(each.lines for each in last) <= FLOAT_LINES - _NOTES_INSIDE / 35
    long = any(block.is_long for block in blocks)
    lines = [rf"% needs \usepackage{{booktabs}}{' and {longtable}' if long else ''}"]
    lines += [] if inside else _text(table.lead)
    for number, group in enumerate(floats, 1):
        caption = breakable(table.title) + ("" if number == 1 else _continued(group))
        own = "" if label is None else rf"\label{{{label}{'' if number == 1 else f'-{number}'}}}"
        notes = (table.lead, table.notes) if inside and number == len(floats) else ((), ())
        lines += _float(group, caption + own, *notes)
    if not inside:
        lines += _text(table.notes)
    return "\n".join(lines) + "\n"


def _continued(group: Sequence[Block]) -> str:
    titles = ", ".join(dict.fromkeys(block.title for block in group if block.title))
    return f" ({titles})" if titles else " (continued)"


def _float(group: Sequence[Block], caption: str, lead: Sequence[str], notes: Sequence[str]) -> list[str]:
    (first, *_), kind = group, "table*" if any(block.is_wide for block in group) else "table"
    if first.is_long:
        return _longtable(first, caption)
    lines = [rf"\begin{{{kind}}}[tp]", r"\centering", rf"\caption{{{caption}}}"]
    if lead:
        lines += _minipage(lead)
    for index, block in enumerate(group):
        title = rf"\textit{{{block.title}}}\\[2pt]" if block.title and len(group) > 1 else ""
        lines += ["", r"\medskip"] if index else []
        lines += ["{" + block.size, *([title] if title else []), *_tabular(block), r"\par}"]
    return [*lines, *(_minipage(notes) if notes else []), rf"\end{{{kind}}}"]


def _tabular(block: Block) -> list[str]:
    head = [rf"\begin{{tabular}}{{{block.columns}}}", r"\toprule", *block.header, r"\midrule"]
    return [*head, *block.rows, r"\bottomrule", r"\end{tabular}"]


def _longtable(block: Block, caption: str) -> list[str]:
    head = [r"\toprule", *block.header, r"\midrule"]
    return [
        "{" + block.size,
        rf"\begin{{longtable}}{{{block.columns}}}",
        rf"\caption{{{caption}}} \\",
        *(*head, r"\endfirsthead", *head, r"\endhead", r"\bottomrule", r"\endfoot"),
        *block.rows,
        r"\end{longtable}",
        "}",
    ]


def _minipage(lines: Sequence[str]) -> list[str]:
    inner = [f"{breakable(line)}\\par" for line in lines]
    return [
        "",
        r"\medskip",
        r"\begin{minipage}{\linewidth}\footnotesize\raggedright",
        *inner,
        r"\end{minipage}",
    ]


def _text(lines: Sequence[str]) -> list[str]:
    """Notes as text of the document, which may break over columns and pages."""
    if not lines:
        return []
    return ["", r"{\footnotesize\raggedright\noindent", *(f"{breakable(line)}\\par" for line in lines), "}"]
