"""Tables over several runs: models × arms with marks, and the p-values of all pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synthetic_runs import REFLEXION, chains, write_run

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.compare import compare_each
from reflex_bench.harness.reporting.seeds import seeds_table, write_seeds
from reflex_bench.harness.reporting.tables.comparison import long_form
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.reporting.tables.several import models_table, table_over
from reflex_bench.harness.storage.run_data import Run, read_run


def made(path: Path, model: str, won: int, tasks: int = 10, **settings: Any) -> Run:
    own = {"model": model, "settings_hash": model, **settings}
    arms = {"react": own, "reflexion": {**own, **REFLEXION}}
    rows = chains("react", [1] * won + [None] * (tasks - won), 2)
    rows += chains("reflexion", [1] * won + [2] * (tasks - won), 2)
    split = {"name": "twin", "fingerprint": f"of {tasks}", "tasks": tasks}
    return read_run(write_run(path, rows, arms=arms, tasks=tasks, trials=2, split=split))


def test_a_line_of_the_table_is_a_model_and_an_arm(tmp_path: Path) -> None:
    table = models_table([made(tmp_path / "a", "openai/one", 4), made(tmp_path / "b", "openai/two", 7)])
    (grid,) = table.grids
    assert grid.header == ("Model", "Arm", "pass@1", "pass@2", "Solved", "Errors")
    lines = [[cell.text for cell in row] for row in grid.rows]
    assert lines == [
        ["openai/one", "react", "40.0%", "40.0%", "4/10", "0"],
        ["", "reflexion", "40.0%", "100.0%", "10/10", "0"],
        ["openai/two", "react", "70.0%", "70.0%", "7/10", "0"],
        ["", "reflexion", "70.0%", "100.0%", "10/10", "0"],
    ]
    assert [cell.aside for row in grid.rows for cell in row[:2]] == [""] * 8
    assert list(table.frame["run"]) == ["a", "a", "b", "b"]
    assert list(table.frame["pass@1"]) == [0.4, 0.4, 0.7, 0.7]


def test_other_tasks_caps_and_feedback_are_marked_and_told(tmp_path: Path) -> None:
    first = made(tmp_path / "a", "openai/one", 4)
    other = made(tmp_path / "b", "openai/two", 4, tasks=8, max_steps=50, feedback="oracle")
    table = models_table([first, other, made(tmp_path / "c", "openai/three", 4, max_steps=50)])
    assert [row[1].aside for row in table.grids[0].rows] == ["", "", "(abc)", "(abc)", "(b)", "(b)"]
    assert table.notes[:3] == (
        "(a) other tasks: 8 of twin, 8 of them among the first run's 10.",
        "(b) step cap 50, not 30.",
        "(c) feedback oracle, not environment.",
    )


def test_two_runs_of_one_model_are_told_apart_by_their_names(tmp_path: Path) -> None:
    table = models_table([made(tmp_path / "a", "openai/one", 4), made(tmp_path / "b", "openai/one", 7)])
    assert [row[0].text for row in table.grids[0].rows] == ["openai/one (a)", "", "openai/one (b)", ""]


def test_what_shows_one_run_and_a_run_named_twice_are_refused(tmp_path: Path) -> None:
    runs = [made(tmp_path / "a", "openai/one", 4), made(tmp_path / "b", "openai/two", 7)]
    with pytest.raises(UsageError, match="--style react-table3 shows one run"):
        table_over(runs, "react-table3")
    with pytest.raises(UsageError, match="--reference shows one run"):
        table_over(runs, reference=True)
    with pytest.raises(UsageError, match="named twice"):
        table_over([runs[0], runs[0]])
    with pytest.raises(UsageError, match="two runs or more"):
        table_over(runs[:1], "seeds")


def test_runs_that_differ_in_more_than_their_seed_have_no_common_mean(tmp_path: Path) -> None:
    runs = [made(tmp_path / "a", "openai/one", 4), made(tmp_path / "b", "openai/two", 7)]
    with pytest.raises(UsageError, match="arm 'react' has other settings"):
        seeds_table(runs)


def test_mean_and_spread_are_written_into_every_run_as_they_are_printed(tmp_path: Path) -> None:
    runs = [made(tmp_path / "a", "openai/one", 4), made(tmp_path / "b", "openai/one", 7)]
    assert len(write_seeds(runs)) == 6
    for run in runs:
        written = (run.path / "tables" / "seeds.csv").read_text()
        assert written == render(table_over(runs, "seeds"), "csv")
        # (0.4 + 0.7) / 2, and |0.4 - 0.7| / sqrt(2)
        assert written.splitlines()[1] == "react,1,0.55,0.212132,0.4,0.7"


def test_every_two_of_three_runs_are_compared_and_corrected_together(tmp_path: Path) -> None:
    runs = [made(tmp_path / name, f"openai/{name}", won) for name, won in (("a", 0), ("b", 5), ("c", 10))]
    compared = compare_each(runs, ["react"])
    assert [(pair.a.run, pair.b.run) for pair in compared.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    # Exact McNemar: 2 / 2**5, 2 / 2**10, 2 / 2**5; Holm: the smallest times 3, then times 2, never falling.
    assert [pair.levels[-1].p for pair in compared.pairs] == pytest.approx([0.0625, 2 / 1024, 0.0625])
    assert [pair.adjusted_p for pair in compared.pairs] == pytest.approx([0.125, 6 / 1024, 0.125])


def test_a_comparison_as_csv_is_one_table(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    runs = [made(tmp_path / name, f"openai/{name}", won) for name, won in (("a", 0), ("b", 5), ("c", 10))]
    (tmp_path / "c.csv").write_text(render(long_form(compare_each(runs)), "csv"))
    frame = pandas.read_csv(tmp_path / "c.csv")
    assert len(frame) == 3 * 2 * 2  # pairs of runs × arms × k
    assert set(frame["k"]) == {1, 2}
    assert frame["pairs"].dtype.kind == "i"
    assert frame["p"].dtype.kind == "f"
