"""Independent samples: the unbiased estimates, with uneven numbers too, and never two definitions of pass@k."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from synthetic_runs import trial, two_arms, write_run

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.measures import pass_at_k
from reflex_bench.harness.reporting.statistics.samples import independent_estimates
from reflex_bench.harness.reporting.tables.pass_at_k import pass_at_k_table, write_tables
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.storage.run_data import Run, read_run


def one_arm(path: Path, rows: list[dict[str, Any]], tasks: int = 2, **info: Any) -> Run:
    return read_run(write_run(path / "run", rows, **{"arms": {"react": {}}, "tasks": tasks, **info}))


def test_unbiased_estimates_are_refused_for_trials_that_stop_at_success(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not defined"):
        independent_estimates(read_run(two_arms(tmp_path)), "react")


def test_unbiased_estimates_of_independent_trials(tmp_path: Path) -> None:
    won = {"a": [True, False, False], "b": [True, True, True]}
    rows = [
        trial("react", task, number, "success" if ok else "failure")
        for task, results in won.items()
        for number, ok in enumerate(results, 1)
    ]
    run = one_arm(tmp_path, rows, arms={"react": {"independent": True}})
    frame = independent_estimates(run, "react").set_index("k")
    # Task a: 1/3, then 1 - C(2,2)/C(3,2) = 2/3, then 1; task b always 1. All of k: 1/3, 0, 0 and 1.
    assert frame["pass@k"].tolist() == pytest.approx([2 / 3, 5 / 6, 1.0])
    assert frame["pass^k"].tolist() == pytest.approx([2 / 3, 1 / 2, 1 / 2])


def uneven(path: Path) -> Run:
    """Twenty-one tasks of three samples; of one the last ended in an error, two were won once, the others never."""
    rows = [
        trial("react", f"t{n:02d}", number, "success" if (n < 2 and number == 1) else "failure")
        for n in range(21)
        for number in (1, 2, 3)
    ]
    rows[2] = trial("react", "t00", 3, "error")
    return one_arm(path, rows, tasks=21, arms={"react": {"independent": True}})


def test_uneven_numbers_of_samples_say_what_every_task_allows(tmp_path: Path) -> None:
    run = uneven(tmp_path)
    frame = independent_estimates(run, "react").set_index("k")
    # One of two and one of three samples won, and nineteen tasks of which none was.
    assert frame.loc[1, "pass@k"] == pytest.approx((1 / 2 + 1 / 3) / 21)
    assert frame.loc[2, "pass@k"] == pytest.approx((1 + 2 / 3) / 21)
    assert frame["unknown"].tolist() == [0, 0, 1]
    # At k = 3 one task is unknown: at most 5 %, so the others' sum stands, and the interval reaches to its being won.
    assert frame.loc[3, "pass@k"] == pytest.approx(1 / 21)
    assert frame.loc[3, "pass@k high"] > frame.loc[2, "pass@k high"]
    assert (
        "react: 1 sample ended in an error; 1 task of 21 without all 3 samples. Every task allows k up to 2; beyond it "
        "a task with too few samples is unknown."
    ) in notes(run)


def test_a_run_of_samples_shows_the_unbiased_estimate_and_no_other_pass_at_k(tmp_path: Path) -> None:
    """Of six tasks one was won by its first sample; all samples together say something else."""
    won = [[True, False, False, False, False], *[[False, True, True, False, True]] * 3, *[[False] * 5] * 2]
    rows = [
        trial("react", f"t{n}", number, "success" if ok else "failure")
        for n, taken in enumerate(won)
        for number, ok in enumerate(taken, 1)
    ]
    run = one_arm(tmp_path, rows, tasks=6, trials=5, arms={"react": {"independent": True}})
    # (1/5 + 3 · 3/5 + 0 + 0) / 6 = 1/3, where the first samples alone say 1/6.
    frame = pass_at_k(run)
    assert frame["pass@1"][0] == pytest.approx(1 / 3)
    assert frame["pass^2"][0] == pytest.approx(3 * 3 / 10 / 6)
    for format in ("terminal", "markdown", "latex"):
        text = render(pass_at_k_table(run), format, width=200)
        assert "33.3" in text
        assert "16.7" not in text
        assert "pass^k" in text or r"pass\textasciicircum{}k" in text
    said = "\n".join(notes(run))
    assert "Unbiased, over all samples" in said
    assert "Wilson interval over the tasks with their effective sample size" in said
    assert "within the first k trials" not in said
    # 30 samples of 1,100 tokens, ten of them successes.
    assert re.search(r"^Tokens a success +3.30k$", render(pass_at_k_table(run), width=100), re.MULTILINE)
    files = {file.suffix: file.read_text(encoding="utf-8") for file in write_tables(run.path)}
    assert all("16.7" not in text and "0.166" not in text for text in files.values())
