from __future__ import annotations

import csv
import io
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from synthetic_runs import REFLEXION, SETTINGS, TWO, chains, trial, two_arms, write_run

from reflex_bench.core.control_characters import strip_control_chars
from reflex_bench.core.errors import UsageError
from reflex_bench.harness.parts.row_names import SETTINGS as SETTINGS_OF_ROWS
from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.measures import by_type, pass_at_k
from reflex_bench.harness.reporting.tables.number_format import amount, dollars
from reflex_bench.harness.reporting.tables.pass_at_k import (
    outcomes_table,
    pass_at_k_table,
    shown_trials,
    write_tables,
)
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table, render
from reflex_bench.harness.storage.run_data import Run, read_run


def one_arm(path: Path, rows: list[dict[str, Any]], tasks: int = 2, **info: Any) -> Run:
    return read_run(write_run(path / "run", rows, **{"arms": {"react": {}}, "tasks": tasks, **info}))


def test_pass_at_k_counts_tasks_solved_within_k_trials_over_all_tasks(tmp_path: Path) -> None:
    frame = pass_at_k(read_run(two_arms(tmp_path))).set_index("arm")
    assert frame.loc["react", ["solved@1", "solved@2", "solved@3"]].tolist() == [4, 5, 5]
    assert frame.loc["reflexion", ["pass@1", "pass@2", "pass@3"]].tolist() == [0.4, 0.7, 0.8]
    # Wilson, 7 of 10.
    assert frame.loc["reflexion", ["low@2", "high@2"]].tolist() == pytest.approx([0.397, 0.892], abs=5e-4)
    # 4 + 2 + 5·3 trials of 10 calls, 1,100 tokens and a tenth of a dollar each.
    assert frame.loc["react", ["trials_run", "calls", "prompt_tokens"]].tolist() == [21, 210, 21_000]
    assert frame.loc["react", "cost"] == pytest.approx(2.1)
    assert frame.loc["react", "invalid_rate"] == pytest.approx(0.1)


def test_tasks_that_were_never_attempted_stay_in_the_denominator(tmp_path: Path) -> None:
    frame = pass_at_k(one_arm(tmp_path, chains("react", [1] * 39, 3), tasks=40))
    assert frame["pass@3"].tolist() == [39 / 40]
    assert frame["unknown@3"].tolist() == [1]


def test_many_errors_leave_two_bounds_and_no_rate(tmp_path: Path) -> None:
    rows = [trial("react", "t0", 1, "success"), *(trial("react", f"t{n}", 1, "error") for n in range(1, 10))]
    run = one_arm(tmp_path, rows, tasks=10, trials=1)
    assert math.isnan(pass_at_k(run)["pass@1"][0])
    text = render(pass_at_k_table(run), width=100)
    assert "10.0–100.0%" in text
    assert "9 trials ended in an error; 9 tasks of 10 without a result" in text
    assert "pass@1 is 10.0% if all of them fail and 100.0% if all succeed" in re.sub(r"\s+", " ", text)


def test_few_errors_keep_the_rate_and_widen_its_interval_on_one_side(tmp_path: Path) -> None:
    rows = [*chains("react", [1] * 20 + [None] * 19, 1), trial("react", "t039", 1, "error")]
    frame = pass_at_k(one_arm(tmp_path, rows, tasks=40, trials=1))
    assert frame["pass@1"][0] == 0.5
    # Wilson by scipy: 20 of 40 gives 35.2 to 64.8, 21 of 40 gives 37.5 to 67.1.
    assert frame["low@1"][0] == pytest.approx(0.352, abs=5e-4)
    assert frame["high@1"][0] == pytest.approx(0.671, abs=5e-4)


def test_unknown_cost_is_unknown_even_if_all_other_trials_have_one(tmp_path: Path) -> None:
    run = one_arm(tmp_path, [trial("react", "a", 1, "success"), trial("react", "b", 1, cost=None)], trials=1)
    assert math.isnan(pass_at_k(run)["cost"][0])
    assert re.search(r"^Cost +unknown$", render(pass_at_k_table(run), width=80), re.MULTILINE)


def test_task_types_add_up_to_the_tasks(tmp_path: Path) -> None:
    rows = [*chains("react", [1, None, 2], 3), trial("react", "z", 1, "success", task_type="heat")]
    frame = by_type(one_arm(tmp_path, rows, tasks=4)).set_index("type")
    assert frame.loc["put", ["tasks", "solved"]].tolist() == [3, 2]
    assert frame.loc["heat", ["tasks", "solved"]].tolist() == [1, 1]


def test_a_simulated_model_is_named_first(tmp_path: Path) -> None:
    assert "not a language model" in notes(read_run(two_arms(tmp_path, simulated=True)))[0]
    assert not any("SIMULATED" in note for note in notes(read_run(two_arms(tmp_path / "real"))))


def test_shared_first_trials_are_found_by_their_attempt(tmp_path: Path) -> None:
    rows = [trial(arm, task, 1, attempt="both" if task == "a" else arm) for arm in TWO for task in ("a", "b")]
    run = one_arm(tmp_path, rows, arms=TWO)
    assert any("Trial 1 was run once for react and reflexion on 1 of 2 tasks" in note for note in notes(run))


def test_retries_that_repeat_the_first_trial_are_named(tmp_path: Path) -> None:
    rows = [trial("react", task, n, digest=f"same {task}") for task in ("a", "b") for n in (1, 2, 3)]
    run = one_arm(tmp_path, rows, arms={"react": {"temperature": 0.0}})
    expected = (
        "Every retry of react repeated its first trial exactly (temperature 0.0): retrying could not help it."
    )
    assert expected in notes(run)
    rows[-1]["digest"] = "another"
    assert "3 of 4 retries of react repeated an earlier trial of their task exactly." in notes(
        one_arm(tmp_path / "partly", rows)
    )


def test_the_csv_counts_the_retries_that_only_repeat(tmp_path: Path) -> None:
    # Two tasks of three trials: four retries, of which one differs.
    rows = [trial("react", task, n, digest=f"same {task}") for task in ("a", "b") for n in (1, 2, 3)]
    rows[-1]["digest"] = "another"
    (line,) = csv.DictReader(io.StringIO(render(pass_at_k_table(one_arm(tmp_path, rows)), "csv")))
    assert (line["retries"], line["repeated_retries"]) == ("4", "3")


def test_a_copied_run_shows_the_name_under_which_it_is_found_and_says_that_it_is_a_copy(
    tmp_path: Path,
) -> None:
    original = two_arms(tmp_path)
    copy = shutil.copytree(original, tmp_path / "kept")
    table = pass_at_k_table(read_run(copy))
    assert table.title.endswith("run kept")
    assert "This directory is a copy of run run, or was renamed." in table.notes
    assert not any("copy" in note for note in pass_at_k_table(read_run(original)).notes)


def test_every_setting_of_a_row_stands_in_the_latex_table_that_a_run_writes(tmp_path: Path) -> None:
    own = {"temperature": 0.25, "memory_size": 7, "max_steps": 41, "prompt_hash": "abcdef12"}
    elsewhere = ("success_rule", "changed_parameters")  # Of the environment, and of the endpoint.
    named = [name for name, _ in SETTINGS_OF_ROWS if name not in elsewhere]
    values = {name: own.get(name, f"value{index}of") for index, name in enumerate(named)}
    run = write_run(tmp_path / "run", chains("react", [1], 1), arms={"react": values}, tasks=1, trials=1)
    latex = next(path for path in write_tables(run) if path.suffix == ".tex").read_text(encoding="utf-8")
    missing = [name for name, value in values.items() if str(value) not in latex]
    assert not missing, latex


def test_gold_answers_as_feedback_and_a_wrong_evaluator_are_named(tmp_path: Path) -> None:
    arms = {"react": {"feedback": "oracle"}, "reflexion": REFLEXION | {"feedback": "none"}}
    rows = [trial("react", "a", 1, "success"), trial("reflexion", "a", 1, passed=True)]
    text = "\n".join(notes(one_arm(tmp_path, rows, arms=arms, tasks=1)))
    assert "The arms differ in feedback: react oracle, reflexion none." in text
    assert "Feedback of react is the gold answer (oracle)" in text
    assert "reflexion: its evaluator took 1 failed task for solved and stopped there." in text


def test_an_interrupted_run_says_what_is_owed_and_how_to_go_on(tmp_path: Path) -> None:
    run = one_arm(tmp_path, [trial("react", "a", 1)], status="interrupted")
    assert "The run is interrupted: up to 5 trials are owed; `reflex resume run` goes on." in notes(run)


def test_invented_observations_are_counted(tmp_path: Path) -> None:
    row = trial("react", "a", 1, repairs=2, repair_kinds={"cut_invented_observation": 2})
    assert "react: invented observations were cut out of 2 of 10 replies (20.0%)." in notes(
        one_arm(tmp_path, [row], tasks=1)
    )


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_table_fits_its_width(tmp_path: Path, width: int) -> None:
    rows = chains("react", [1] * 5, 15) + chains("reflexion", [15] * 5, 15)
    run = one_arm(tmp_path, rows, arms=TWO, tasks=5, trials=15)
    lines = render(pass_at_k_table(run), width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.startswith("reflexion ") for line in lines)


def test_numbers_stand_beneath_one_another(tmp_path: Path) -> None:
    lines = render(pass_at_k_table(read_run(two_arms(tmp_path)), details=False), width=120).splitlines()
    rows = [line for line in lines if line.startswith(("react", "reflexion")) and "%" in line]
    assert [match.end() for match in re.finditer("%", rows[0])] == [
        match.end() for match in re.finditer("%", rows[1])
    ]
    assert len(rows[0]) == len(rows[1])


def test_only_a_coloured_terminal_gets_control_sequences(tmp_path: Path) -> None:
    table = pass_at_k_table(read_run(two_arms(tmp_path)))
    assert "\x1b[1m" in render(table, color=True)
    assert "\x1b" not in render(table)


def test_csv_holds_the_bare_numbers(tmp_path: Path) -> None:
    read = list(csv.DictReader(io.StringIO(render(pass_at_k_table(read_run(two_arms(tmp_path))), "csv"))))
    assert [line["arm"] for line in read] == ["react", "reflexion"]
    assert float(read[1]["pass@3"]) == 0.8
    assert int(read[0]["prompt_tokens"]) == 21_000
    assert read[0]["prompt_hash"] == SETTINGS["prompt_hash"]


def test_markdown_rows_have_as_many_cells_as_the_header(tmp_path: Path) -> None:
    text = render(pass_at_k_table(read_run(two_arms(tmp_path))), "markdown")
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(blocks) == 4
    for block in blocks:
        assert len({len(line) for line in block.splitlines()}) == 1
        assert len({line.count("|") for line in block.splitlines()}) == 1
    assert "| reflexion | 40.0% [16.8–68.7] |" in text


HOSTILE = "\x1b]0;title\x07\x1b[31m<b>a|b</b>\\ 50% & $x_1$ `c` \u202etxt\r\n"


def hostile(format: str) -> str:
    import pandas as pd

    grid = Grid("grid", ("name", "value"), ((Cell(HOSTILE), Cell("[1]")),))
    return render(Table("t", pd.DataFrame(), (grid,), (HOSTILE,)), format, width=200)


def test_names_cannot_steer_a_terminal() -> None:
    assert strip_control_chars(HOSTILE) == "<b>a|b</b>\\ 50% & $x_1$ `c` txt "
    assert "<b>a|b</b>\\ 50% & $x_1$ `c` txt" in hostile("terminal")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", hostile("terminal"))


def test_names_cannot_break_out_of_markdown_latex_or_html() -> None:
    assert r"| \<b>a\|b\</b>\\ 50% & $x_1$ \`c\` txt" in hostile("markdown")
    assert r"\textless{}b\textgreater{}a\textbar{}b" in hostile("latex")
    assert r"\textbackslash{} 50\% \& \$x\_1\$" in hostile("latex")
    assert "<td>&lt;b&gt;a|b&lt;/b&gt;" in hostile("html")


def test_latex_is_balanced_and_a_bracket_cannot_become_an_argument_of_a_line_end(tmp_path: Path) -> None:
    text = render(pass_at_k_table(read_run(two_arms(tmp_path))), "latex")
    assert text.count(r"\begin{") == text.count(r"\end{")
    unescaped = re.sub(r"\\[{}]", "", text)
    assert unescaped.count("{") == unescaped.count("}")
    assert "& {[1]}" in hostile("latex")
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert text.count(rule) == text.count(r"\begin{tabular}")


def test_an_unknown_format_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown table format 'markdwn'; did you mean 'markdown'"):
        render(pass_at_k_table(read_run(two_arms(tmp_path))), "markdwn")


def test_tables_are_written_whole_and_can_be_written_again(tmp_path: Path) -> None:
    path = two_arms(tmp_path)
    written = write_tables(path)
    assert [file.name for file in written] == ["pass_at_k.md", "pass_at_k.csv", "pass_at_k.tex"]
    before = [file.read_bytes() for file in written]
    written[0].write_text("torn", encoding="utf-8")
    assert [file.read_bytes() for file in write_tables(path)] == before
    assert sorted(file.name for file in (path / "tables").iterdir()) == sorted(file.name for file in written)


def test_the_outcome_table_shows_errors_and_what_was_not_run(tmp_path: Path) -> None:
    rows = [trial("react", "a", 1, "success"), trial("react", "b", 1, "error")]
    text = render(outcomes_table(one_arm(tmp_path, rows, trials=2)), "markdown")
    header, _, first, second = (line.strip("| ") for line in text.splitlines() if line.startswith("|"))
    assert re.split(r" *\| *", header) == [
        "arm", "trial", "success", "error", "solved earlier", "after an error", "tasks",
    ]  # fmt: skip
    assert re.split(r" *\| *", first) == ["react", "1", "1", "1", "0", "0", "2"]
    assert re.split(r" *\| *", second) == ["react", "2", "0", "0", "1", "1", "2"]


def test_no_more_than_four_trials_have_a_column() -> None:
    assert shown_trials(3) == (1, 2, 3)
    assert shown_trials(15) == (1, 2, 5, 15)
    assert all(len(set(shown_trials(n))) == min(n, 4) for n in range(1, 60))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (950, "950"),
        (999.6, "1.00k"),
        (12_400, "12.4k"),
        (999_400, "999k"),
        (999_600, "1.00M"),
        (1.24e6, "1.24M"),
    ],
)
def test_amounts_keep_three_digits(value: float, text: str) -> None:
    assert amount(value) == text


def test_money_is_never_rounded_to_nothing() -> None:
    assert [dollars(value) for value in (0.0, 0.00123, 0.5, 12.345, math.nan)] == [
        "$0.00", "$0.0012", "$0.5", "$12.35", "unknown",
    ]  # fmt: skip


def test_attempts_that_timed_out_are_told_under_the_table_with_their_tokens(tmp_path: Path) -> None:
    rows = [trial("react", "a", 1)]
    run = one_arm(tmp_path / "x", rows, timeouts={"attempts": 16, "prompt_tokens": 23456})
    told = [note.partition(":")[0] for note in notes(run) if "timed out" in note]
    assert told == [
        "16 attempts at a call timed out and went out again, with about 23,456 prompt tokens that count in no cell"
    ]
    assert not any("timed out" in note for note in notes(one_arm(tmp_path / "y", rows)))
