from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from synthetic_runs import REFLEXION, chain, trial, write_run

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.reference import (
    ALFWORLD_TYPES,
    ReferenceRow,
    read_reference,
    reference_rows,
)
from reflex_bench.harness.reporting.tables.reference_grid import marks
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.reporting.tables.styles import styled_table
from reflex_bench.harness.storage.run_data import Run, read_run

ALFWORLD = {"name": "alfworld", "feedback": "environment", "settings": {}}
VALID_UNSEEN = {"name": "valid_unseen", "fingerprint": "ab" * 32, "tasks": 134, "notes": []}


def test_the_totals_that_do_not_follow_from_their_cells_are_these() -> None:
    """134 games by type: 24, 31, 23, 21, 18, 17. ReAct's best of 6: 22 + 18 + 22 + 18 + 14 + 7 = 101 of 134 = 75.4."""
    assert sum(ALFWORLD_TYPES.values()) == 134
    cells = [row for row in reference_rows("alfworld", "success") if row.implied_total() is not None]
    wrong = {
        (row.label, row.selection, row.values["all"]): round(row.implied_total() or 0, 1)
        for row in cells
        if not row.reconciles
    }
    assert wrong == {
        ("Act", "best of 6 prompts", 45): 63.4,
        ("ReAct", "best of 6 prompts", 71): 75.4,
        ("ReAct-IM", "best of 6 prompts", 53): 60.4,
        ("BUTLER, goal instructions only", "best of 8 runs", 22): 39.6,
        ("BUTLER", "best of 8 runs", 37): 51.5,
        ("Act", None, 37): 27.6,
        ("ReAct", None, 40.0): 36.6,
    }
    assert len(cells) == 14


def test_published_curves_of_the_logs_are_those_of_the_result_files() -> None:
    found = {(row.label, row.pages): row.curve for row in reference_rows("hotpotqa", "curve")}
    assert found["ReAct + Reflexion", "live Wikipedia"] == (32, 42, 48, 50, 51, 53, 53)
    assert found["CoT + last trial", "none"] == (32, 34, 35, 36, 37, 38)
    first = reference_rows("alfworld", "curve")[1]
    assert (first.label, first.percentages[-4:]) == (
        "ReAct + Reflexion",
        pytest.approx((97.0, 97.8, 99.3, 100), abs=0.05),
    )


def test_every_published_row_says_how_it_came_here_and_best_rows_say_of_what() -> None:
    rows = [
        row
        for environment, metric in (("alfworld", "success"), ("hotpotqa", "em"))
        for row in reference_rows(environment, metric)
    ]  # type: ignore[arg-type]
    assert {row.selection for row in rows if row.label == "BUTLER"} == {"best of 8 runs"}
    assert {row.certainty for row in rows if row.source.startswith("Ma et al.")} == {"unsure"}
    assert {row.availability for row in rows if row.model == "PaLM-540B"} == {"never public"}


ONE = """
source: Somebody (2026)
published: "2026-01"
tables:
  - table: table 1
    environment: alfworld
    metric: success
    model: gpt-x
    split: valid_unseen
    n: 134
    trials: 1
    max_steps: 30
    feedback: none
    certainty: unsure
    read: the paper
    rows:
      - {label: ReAct, values: {all: 50}}
"""


def one(**changes: str) -> ReferenceRow:
    text = ONE
    for name, value in changes.items():
        text = re.sub(rf"\b{name}: [^\n]*", f"{name}: {value}", text)
    (row,) = read_reference(text, "one.yaml")
    return row


def run_of(path: Path, **changes: Any) -> Run:
    rows = [trial("react", f"put-{n}", 1, "success") for n in range(134)]
    settings = {"react": {"model": "openai/gpt-x", "trials": 1} | changes.pop("settings", {})}
    info = {
        "environment": ALFWORLD,
        "split": VALID_UNSEEN,
        "arms": settings,
        "tasks": 134,
        "trials": 1,
    } | changes
    return read_run(write_run(path / "run", rows, **info))


def test_a_row_measured_like_an_arm_of_the_run_has_no_mark(tmp_path: Path) -> None:
    assert marks(one(), run_of(tmp_path)) == ()


@pytest.mark.parametrize(
    ("changes", "mark"),
    [
        ({"model": "gpt-y"}, "m"),
        ({"model": "not recorded"}, "m"),
        ({"n": "50"}, "t"),
        ({"split": "valid_seen"}, "t"),
        ({"trials": "3", "feedback": "environment"}, "k"),
        ({"max_steps": "49"}, "c"),
        ({"max_steps": "null"}, "c"),
        ({"label": "x, selection: best of 6 prompts, values: {all: 50}}"}, "s"),
        ({"label": "x, values: {put: 9, clean: 9, heat: 9, cool: 9, examine: 9, puttwo: 9, all: 50}}"}, "a"),
    ],
)
def test_every_difference_has_its_mark(tmp_path: Path, changes: dict[str, str], mark: str) -> None:
    assert marks(one(**changes), run_of(tmp_path)) == (mark,)


def test_a_run_with_hints_on_commands_without_effect_is_not_comparable(tmp_path: Path) -> None:
    hinting = ALFWORLD | {"settings": {"engine": "native", "feedback": "hint"}}
    assert marks(one(), run_of(tmp_path, environment=hinting)) == ("h",)


def test_feedback_counts_where_there_is_more_than_one_trial(tmp_path: Path) -> None:
    run = run_of(tmp_path, settings={"trials": 3}, trials=3)
    assert marks(one(trials="3", feedback="environment"), run) == ()
    assert marks(one(trials="3", feedback="oracle"), run) == ("f",)


def test_the_closest_arm_decides(tmp_path: Path) -> None:
    arms = {"other": {"model": "openai/gpt-y"}, "react": {"model": "openai/gpt-x"}}
    assert marks(one(), run_of(tmp_path, arms=arms)) == ()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("n: 134", "n: 134\n    number: 134", "number: Extra inputs are not permitted"),
        ("max_steps: 30", "", "max_steps: Field required"),
        ("read: the paper", "", "read: Field required"),
        ("read: the paper", 'read: ""', "read: String should have at least 4 characters"),
        ('published: "2026-01"', 'published: "spring"', "published: String should match"),
        ("all: 50", "all: 150", "less than or equal to 100"),
        ("all: 50", "put: 50", "values must have 'all'"),
        ("all: 50", "all: 50, pick: 5", "unknown values: pick"),
        ("metric: success", "metric: curve", "a curve must rise"),
        ("certainty: unsure", "certainty: sure", "certainty: Input should be"),
        ("tables:", "table:", "not a file of reference rows"),
    ],
)
def test_a_file_with_a_mistake_is_refused_and_the_mistake_named(old: str, new: str, says: str) -> None:
    with pytest.raises(UsageError, match=rf"one\.yaml: .*{says}"):
        read_reference(ONE.replace(old, new), "one.yaml")


def test_a_curve_that_falls_or_exceeds_its_tasks_is_refused() -> None:
    text = ONE.replace("metric: success", "metric: curve\n    unit: tasks").replace("trials: 1", "trials: 2")
    for curve in ("[4, 3]", "[4, 135]"):
        with pytest.raises(UsageError, match="a curve must rise"):
            read_reference(text.replace("values: {all: 50}", f"curve: {curve}"), "one.yaml")
    (row,) = read_reference(text.replace("values: {all: 50}", "curve: [67, 134]"), "one.yaml")
    assert row.percentages == (50, 100)


def typed_run(path: Path) -> Run:
    rows = [
        row
        for arm in ("react", "reflexion")
        for kind in ALFWORLD_TYPES
        for n in range(2)
        for row in chain(arm, f"{kind}-{n}", 2 if n else None, 2, task_type=kind)
    ]
    arms = {"react": {}, "reflexion": REFLEXION}
    return read_run(write_run(path / "run", rows, arms=arms, tasks=12, trials=2, environment=ALFWORLD))


def test_table_3_prints_published_rows_as_published_with_their_marks_and_sources(tmp_path: Path) -> None:
    run = typed_run(tmp_path)
    plain, table = styled_table(run, "react-table3"), styled_table(run, "react-table3", reference=True)
    assert [grid.title for grid in table.grids] == [
        "Success, %",
        "Published results, % as printed by their authors",
    ]
    assert table.frame.equals(plain.frame)
    grid = table.grids[1]
    assert grid.header == ("", "Model", "Pick", "Clean", "Heat", "Cool", "Look", "Pick 2", "All", "Marks")
    shown = {tuple(cell.text for cell in row) for row in grid.rows}
    assert (
        "ReAct (best of 6 prompts) [1]",
        "PaLM-540B",
        "92",
        "58",
        "96",
        "86",
        "78",
        "41",
        "71",
        "m t c s a",
    ) in shown
    assert ("ExpeL [2]", "gpt-3.5-turbo", "83", "74", "43", "67", "39", "29", "59.0±0.3", "m t c") in shown
    text = "\n".join(table.notes)
    assert (
        "[1] Yao et al. (2023), ReAct, ICLR, arXiv:2210.03629, table 3 (2022-10): tasks 134, of valid_unseen;"
        in text
    )
    assert "s the best of several on the evaluated tasks" in text
    assert "p other pages" not in text


def test_curves_stand_beside_the_runs_trials_and_end_with_their_last(tmp_path: Path) -> None:
    grid = styled_table(typed_run(tmp_path), "reflexion-curve", reference=True).grids[1]
    shown = [tuple(cell.text for cell in row) for row in grid.rows]
    assert grid.header == ("", "Model", "t=1", "t=2", "Last", "Marks")
    assert shown[1] == ("ReAct + Reflexion [1]", "not recorded", "62.7", "76.9", "100.0 (t=15)", "m t c")


def test_hotpotqa_rows_stand_beside_a_hotpotqa_run(tmp_path: Path) -> None:
    settings = {
        "name": "hotpotqa",
        "feedback": "oracle",
        "settings": {"corpus": "live Wikipedia", "success": "em"},
    }
    row = trial("react", "a", 1, result={"f1": 0.5})
    split = {"name": "distractor/react-500", "fingerprint": "ab", "tasks": 500}
    arms = {"react": {"model": "openai/text-davinci-003", "max_steps": 7}}
    run = read_run(
        write_run(tmp_path / "run", [row], arms=arms, tasks=500, trials=1, environment=settings, split=split)
    )
    for style in ("hotpotqa", "pass-at-k"):
        grid = styled_table(run, style, reference=True).grids[-1]
        assert grid.header == ("", "Model", "Tasks", "Trials", "EM", "Marks")
        shown = {tuple(cell.text for cell in row) for row in grid.rows}
        assert ("ReAct [2]", "text-davinci-003", "500", "1", "35.4", "–") in shown
        assert ("ReAct [2]", "PaLM-540B", "500", "1", "29.4", "m") in shown
        assert ("CoT [1]", "PaLM-540B", "–", "1", "29.4", "m t c p") in shown


def test_rows_scored_by_exact_match_are_marked_beside_a_run_scored_otherwise(tmp_path: Path) -> None:
    found = {}
    for rule in ("em", "f1>=0.5", "contains", None):
        settings = {"corpus": "live Wikipedia", **({"success": rule} if rule else {})}
        environment = {"name": "hotpotqa", "feedback": "oracle", "settings": settings}
        rows = [trial("react", "a", 1, result={"f1": 0.5})]
        path = tmp_path / str(rule)[:3]
        run = read_run(write_run(path, rows, arms={"react": {}}, tasks=1, environment=environment))
        table = styled_table(run, "hotpotqa", reference=True)
        found[rule] = all("r" in row[-1].text.split() for row in table.grids[-1].rows)
        assert found[rule] == any("r another success rule" in note for note in table.notes)
    assert found == {"em": False, "f1>=0.5": True, "contains": True, None: True}


def all_rows() -> list[ReferenceRow]:
    kinds = (("alfworld", "success"), ("alfworld", "curve"), ("hotpotqa", "em"), ("hotpotqa", "curve"))
    return [row for environment, metric in kinds for row in reference_rows(environment, metric)]  # type: ignore[arg-type]


def test_every_row_has_a_source_a_date_and_what_was_read() -> None:
    for row in all_rows():
        assert re.search(r"arXiv:\d{4}\.\d{5}", row.source), row
        assert re.fullmatch(r"20\d\d(-\d\d)?", row.published), row
        assert len(row.read.split()) > 1, row


def one_of(source: str, label: str, model: str | None = None, **more: object) -> ReferenceRow:
    found = [
        row
        for row in all_rows()
        if source in row.source
        and row.label == label
        and model in (None, row.model)
        and all(getattr(row, name) == value for name, value in more.items())
    ]
    assert len(found) == 1, found
    return found[0]


def test_agentbench_has_the_caps_dates_and_tasks_of_its_two_editions() -> None:
    """`configs/tasks/alfworld.yaml`: max_step 35 in October 2023, 20 in October 2025; 50 and 109 games in its lists."""
    old = one_of("AgentBench", "AgentBench agent", "gpt-4-0613")
    assert (old.values["all"], old.max_steps, old.n, old.published) == (78.0, 35, 50, "2023-10")
    new = one_of("AgentBench", "function calling", "GPT-5")
    assert (new.values["all"], new.max_steps, new.n, new.published) == (65.4, 20, 109, "2025-10")
    assert one_of("AgentBench", "AgentBench agent", "claude-3-opus").values == {"all": 70.0}
    assert one_of("AgentBench", "AgentBench agent", "glm-4").values == {"all": 34.0}


def test_autoguide_has_its_model_its_trials_and_all_six_rows() -> None:
    rows = [row for row in all_rows() if "AutoGuide" in row.source]
    assert {row.label: (row.values["all"], row.trials) for row in rows} == {
        "ReAct": (54.5, 1),
        "ExpeL": (59.0, 1),
        "AutoGuide": (79.1, 1),
        "ReAct + Reflexion": (67.2, 3),
        "ExpeL + Reflexion": (71.6, 3),
        "AutoGuide + Reflexion": (88.1, 3),
    }
    assert {row.model for row in rows} == {"gpt-3.5-turbo"}


def test_a_vote_over_samples_has_neither_trials_nor_gold_answers() -> None:
    vote = one_of("LATS", "CoT-SC")
    assert (vote.values["all"], vote.trials, vote.feedback) == (38, 1, "none")
    assert one_of("LATS", "RAP, n = 10").values == {"all": 60}
    # What does search with the gold answer stays as it was.
    assert (one_of("LATS", "LATS").trials, one_of("LATS", "LATS").feedback) == (50, "oracle")


def test_published_rows_take_every_form(tmp_path: Path) -> None:
    table = styled_table(typed_run(tmp_path), "react-table3", reference=True)
    # Long names are paragraphs of a column.
    names, numbers = (
        r"ReAct \(best of 6 prompts\) \[1\]\S* & \S* ?PaLM-540B\S* & ",
        "92 & 58 & 96 & 86 & 78 & 41 & 71",
    )
    assert re.search(names + numbers + r" & m t c s a \\\\", render(table, "latex"))
    assert "| ExpeL [2] " in render(table, "markdown")
    assert "<td>59.0±0.3</td>" in render(table, "html")


def test_other_environments_have_no_published_results(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", [trial("react", "a", 1)], arms={"react": {}}, tasks=1))
    with pytest.raises(
        UsageError, match="there are no published results of synthetic for the style pass-at-k"
    ):
        styled_table(run, reference=True)
