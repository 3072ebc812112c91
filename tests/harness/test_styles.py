from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from synthetic_runs import REFLEXION, chain, chains, trial, write_run

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.reporting.tables.styles import styled_table
from reflex_bench.harness.storage.run_data import Run, read_run

TWO = {"react": {}, "reflexion": REFLEXION}


def run_of(path: Path, rows: list[dict[str, Any]], tasks: int, **info: Any) -> Run:
    return read_run(write_run(path / "run", rows, **{"arms": TWO, "tasks": tasks, "trials": 2, **info}))


def cells(text: str) -> list[list[str]]:
    """The rows of the one grid of a Markdown table, without its rule."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [re.split(r" *\| *", line.strip("| ")) for line in (lines[0], *lines[2:])]


def typed(arm: str, counts: dict[str, tuple[int, int]]) -> list[dict[str, Any]]:
    """For every type (tasks, of them solved at the second trial); the others fail twice."""
    return [
        row
        for name, (tasks, solved) in counts.items()
        for n in range(tasks)
        for row in chain(arm, f"{name}-{n}", 2 if n < solved else None, 2, task_type=name)
    ]


def test_table_3_has_the_types_of_the_paper_in_its_order_and_counts_all_over_tasks(tmp_path: Path) -> None:
    rows = typed("react", {"put": (10, 1), "puttwo": (5, 0)}) + typed(
        "reflexion", {"put": (10, 8), "puttwo": (5, 1)}
    )
    table = styled_table(run_of(tmp_path, rows, 15), "react-table3")
    assert cells(render(table, "markdown")) == [
        ["Arm", "Pick", "Pick 2", "All"],
        ["Tasks", "10", "5", "15"],
        ["react, 1 trial", "0", "0", "0"],
        ["react, 2 trials", "10", "0", "7"],
        ["reflexion, 1 trial", "0", "0", "0"],
        # 7 to 0 has p = 2/2^7 = .016, 8 to 0 .008; 1 to 0 on the five tasks of Pick 2 has p = 1.
        ["reflexion, 2 trials", "**80**", "20", "**60**"],
    ]
    assert table.frame["All solved"].tolist() == [0, 1, 0, 9]


def test_the_best_of_three_arms_is_bold_only_if_it_beats_both_others(tmp_path: Path) -> None:
    arms = TWO | {"third": {}}
    rows = (
        typed("react", {"put": (10, 0)})
        + typed("reflexion", {"put": (10, 9)})
        + typed("third", {"put": (10, 4)})
    )
    # 5 to 0 against the third has p = .0625.
    text = render(styled_table(run_of(tmp_path, rows, 10, arms=arms), "react-table3"), "markdown")
    assert cells(text)[5] == ["reflexion, 2 trials", "90", "90"]


def test_table_3_is_refused_where_the_task_types_are_others(tmp_path: Path) -> None:
    rows = [trial("react", "a", 1, task_type="bridge")]
    with pytest.raises(UsageError, match="this run has: bridge"):
        styled_table(run_of(tmp_path, rows, 1), "react-table3")


def test_table_3_shows_bounds_where_too_much_is_unknown(tmp_path: Path) -> None:
    rows = [*typed("react", {"put": (4, 1)}), *(trial("reflexion", f"put-{n}", 1, "error") for n in range(4))]
    text = render(styled_table(run_of(tmp_path, rows, 4), "react-table3"), "markdown")
    assert cells(text)[-1] == ["reflexion, 2 trials", "0–100", "0–100"]


def test_the_curve_has_a_line_for_every_trial_and_a_dash_where_an_arm_has_fewer(tmp_path: Path) -> None:
    rows = chains("react", [1, 2, None, None], 2) + chains("reflexion", [1, 2, 3, None], 3)
    arms = {"react": {"trials": 2}, "reflexion": REFLEXION | {"trials": 3}}
    table = styled_table(run_of(tmp_path, rows, 4, arms=arms, trials=3), "reflexion-curve")
    assert cells(render(table, "markdown")) == [
        ["t", "react", "reflexion"],
        ["1", "1 25.0%", "1 25.0%"],
        ["2", "2 50.0%", "2 50.0%"],
        ["3", "–", "3 75.0%"],
    ]
    assert render(table, "csv").splitlines()[-1] == "3,,,3,0"


def test_hotpotqa_shows_f1_pages_steps_and_tokens_beside_exact_match(tmp_path: Path) -> None:
    def result(f1: float | None, reached: int) -> dict[str, Any]:
        return {"f1": f1, "em": float(f1 == 1.0), "gold_pages": 2, "gold_pages_reached": reached}

    rows = [
        trial("react", "a", 1, "success", result=result(1.0, 2)),
        trial("react", "b", 1, result=result(None, 0)),
        trial("react", "b", 2, result=result(0.5, 1)),
    ]
    table = styled_table(run_of(tmp_path, rows, 2, arms={"react": {}}, environment=QUESTIONS), "hotpotqa")
    assert cells(render(table, "markdown")) == [
        ["Arm", "Trials", "EM", "F1", "Gold pages", "Steps", "Tokens"],
        # 2 of 4 pages, then 3 of 4; two trials, then three, over two questions.
        ["react", "1", "50.0% [9.5–90.5]", "50.0%", "50.0%", "10.0", "1.10k"],
        ["react", "2", "50.0% [9.5–90.5]", "75.0%", "75.0%", "15.0", "1.65k"],
    ]


QUESTIONS = {"name": "hotpotqa", "feedback": "oracle", "settings": {"success": "em"}}


def test_under_another_rule_the_solved_share_is_named_by_it_and_em_is_the_answers_own(tmp_path: Path) -> None:
    environment = {"name": "hotpotqa", "feedback": "oracle", "settings": {"success": "f1>=0.5"}}
    rows = [
        trial("react", "a", 1, "success", result={"f1": 1.0, "em": 1.0}),
        *(trial("react", task, 1, "success", result={"f1": 0.6, "em": 0.0}) for task in ("b", "c")),
        trial("react", "d", 1, result={"f1": 0.2, "em": 0.0}),
    ]
    run = run_of(tmp_path, rows, 4, arms={"react": {}}, trials=1, environment=environment)
    table = styled_table(run, "hotpotqa")
    # Wilson: 3 of 4 and 1 of 4.
    assert cells(render(table, "markdown")) == [
        ["Arm", "Trials", "Solved (f1>=0.5)", "EM", "F1", "Gold pages", "Steps", "Tokens"],
        ["react", "1", "75.0% [30.1–95.4]", "25.0% [4.6–69.9]", "60.0%", "–", "10.0", "1.10k"],
    ]
    assert (table.frame["share"][0], table.frame["em"][0]) == (0.75, 0.25)
    assert not any("exact" in note for note in table.notes)


def test_samples_of_questions_are_averaged_and_their_curve_is_refused(tmp_path: Path) -> None:
    rows = [
        trial("react", "a", 1, "success", result={"f1": 1.0, "em": 1.0}),
        trial("react", "a", 2, result={"f1": 0.0, "em": 0.0}),
        trial("react", "b", 1, result={"f1": 0.5, "em": 0.0}),
        trial("react", "b", 2, result={"f1": 0.5, "em": 0.0}),
    ]
    arms = {"react": {"independent": True}}
    run = run_of(tmp_path, rows, 2, arms=arms, environment=QUESTIONS)
    (line,) = cells(render(styled_table(run, "hotpotqa"), "markdown"))[1:]
    assert (line[0], line[1], line[2][:5], line[3]) == ("react", "2", "25.0%", "50.0%")
    with pytest.raises(UsageError, match="its trials are independent samples"):
        styled_table(run, "reflexion-curve")
    typed_rows = [row | {"task_type": "put"} for row in rows]
    text = render(styled_table(run_of(tmp_path / "t", typed_rows, 2, arms=arms), "react-table3"), "markdown")
    assert cells(text)[-1] == ["react, mean of 2 samples", "25", "25"]


def test_hotpotqa_is_refused_where_nothing_was_scored(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no trial of this run has a score"):
        styled_table(run_of(tmp_path, [trial("react", "a", 1)], 1), "hotpotqa")


def test_an_unknown_style_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'reflexion-curve'"):
        styled_table(run_of(tmp_path, [], 1), "reflexion-curves")


def test_numbers_are_not_cut_off_in_a_terminal_that_is_too_narrow(tmp_path: Path) -> None:
    rows = typed("react", {"put": (10, 10)}) + typed("reflexion", {"put": (10, 10)})
    text = render(styled_table(run_of(tmp_path, rows, 10), "react-table3"), width=20)
    assert re.search(r"^reflexion, 2 trials +100 +100$", text, re.MULTILINE)
