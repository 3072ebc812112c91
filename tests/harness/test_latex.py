"""LaTeX compiles in one and in two columns, and nothing sticks out; skips where there is no LaTeX."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from synthetic_runs import REFLEXION, chains, two_arms, write_run

from reflex_bench.harness.reporting.compare import compare, compare_each
from reflex_bench.harness.reporting.tables.comparison import comparison_tables
from reflex_bench.harness.reporting.tables.latex import write_latex
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table
from reflex_bench.harness.reporting.tables.several import models_table, table_over
from reflex_bench.harness.storage.run_data import Run, read_run

SAMPLE = Path(__file__).parents[2] / "results" / "sample"
COMPILER = shutil.which("pdflatex")
DOCUMENT = r"""\documentclass[%s]{article}
\usepackage{booktabs,longtable}
\begin{document}
%s
\clearpage
\end{document}
"""


def boxes_outside(text: str, option: str, folder: Path) -> list[str]:
    """What LaTeX complains of when it sets a text in a document of one or two columns."""
    (folder / "t.tex").write_text(DOCUMENT % (option, text), encoding="utf-8")
    done = subprocess.run(
        [str(COMPILER), "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return re.findall(
        r"(?:Overfull [^\n]*|Float too large[^\n]*|LaTeX Warning: Float too[^\n]*)", done.stdout
    )


def long_names(path: Path) -> Run:
    """A run with six arms, twelve trials, and names as long as they come."""
    arms = {
        f"reflexion-with-retrieval-{n}": REFLEXION
        | {
            "model": f"openrouter/somebody/a-very-long-name-of-a-model-{n}-instruct-2026-11-30",
            "temperature": n / 10,
        }
        for n in range(6)
    }
    rows = [row for arm in arms for row in chains(arm, [1, None, 12, 3], 12)]
    return read_run(write_run(path, rows, arms=arms, tasks=4, trials=12))


def long_grid() -> Table:
    rows = tuple(
        (Cell(f"setting {n}"), Cell("a text of some words " * (n % 5)), Cell(str(n))) for n in range(130)
    )
    return Table("Long", pd.DataFrame(), (Grid("", ("Name", "Text", "n"), rows),), ("A note.",))


def sampled(path: Path) -> Run:
    rows = chains("react", [1, None], 1)
    return read_run(write_run(path, rows, arms={"react": {"independent": True}}, tasks=2, trials=1))


TABLES: dict[str, Callable[[Path], list[Table]]] = {
    **{
        style: (lambda path, style=style: [table_over([read_run(SAMPLE)], style)])
        for style in (
            "pass-at-k",
            "outcomes",
            "react-table3",
            "reflexion-curve",
            "metrics",
            "reflections",
            "evaluator",
        )
    },
    **{
        f"{style} and reference": (lambda path, style=style: [table_over([read_run(SAMPLE)], style, True)])
        for style in ("pass-at-k", "react-table3", "reflexion-curve")
    },
    "samples": lambda path: [table_over([sampled(path / "s")], "samples")],
    "arms of a run compared": lambda path: list(comparison_tables(compare(read_run(SAMPLE)))),
    "runs compared": lambda path: (
        list(comparison_tables(compare_each([read_run(SAMPLE), read_run(two_arms(path / "b"))], force=True)))
        if {*read_run(SAMPLE).task_ids} & {*read_run(two_arms(path / "b")).task_ids}
        else []
    ),
    "several runs": lambda path: [models_table([read_run(SAMPLE), long_names(path / "c")])],
    "long names": lambda path: [table_over([long_names(path / "l")])],
    "long names by trial": lambda path: [table_over([long_names(path / "l")], "reflexion-curve")],
    "a long block": lambda path: [long_grid()],
}


@pytest.mark.skipif(COMPILER is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("option", ["onecolumn", "twocolumn"])
@pytest.mark.parametrize("name", TABLES)
def test_no_table_sticks_out_of_its_column_or_page(name: str, option: str, tmp_path: Path) -> None:
    tables = TABLES[name](tmp_path)
    text = "\n".join(write_latex(table, "tab:x", option == "twocolumn") for table in tables)
    assert boxes_outside(text, option, tmp_path) == []


@pytest.mark.skipif(COMPILER is None, reason="pdflatex is not installed")
def test_what_a_run_writes_by_itself_fits_in_two_columns_too(tmp_path: Path) -> None:
    text = (
        (SAMPLE / "tables" / "pass_at_k.tex").read_text()
        if False
        else write_latex(table_over([read_run(SAMPLE)]))
    )
    assert boxes_outside(text, "twocolumn", tmp_path) == []


@pytest.mark.skipif(COMPILER is None, reason="pdflatex is not installed")
def test_this_test_sees_a_table_that_is_too_wide(tmp_path: Path) -> None:
    text = r"\begin{table}\begin{tabular}{l}%s\end{tabular}\end{table}" % ("too wide " * 20)
    assert boxes_outside(text, "twocolumn", tmp_path)


def test_a_label_stands_on_every_float_and_differs() -> None:
    labels = re.findall(
        r"\\label\{([^}]*)\}", write_latex(table_over([read_run(SAMPLE)], reference=True), "tab:x")
    )
    assert labels[0] == "tab:x"
    assert labels[1:] == [f"tab:x-{n}" for n in range(2, len(labels) + 1)]


def test_long_blocks_are_longtables_and_nothing_is_scaled() -> None:
    assert r"\begin{longtable}" in write_latex(long_grid())
    assert r"\begin{longtable}" not in write_latex(long_grid(), two_columns=True)
    assert "resizebox" not in write_latex(long_grid()) + write_latex(long_grid(), two_columns=True)
