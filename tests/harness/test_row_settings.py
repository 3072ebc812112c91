"""The settings on a row as they took effect, and the notes that follow them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synthetic_runs import chains, trial, two_arms, write_run

from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.measures import pass_at_k
from reflex_bench.harness.reporting.tables.pass_at_k import write_tables
from reflex_bench.harness.storage.run_data import Run, read_run


def one_arm(path: Path, rows: list[dict[str, Any]], tasks: int = 2, **info: Any) -> Run:
    return read_run(write_run(path / "run", rows, **{"arms": {"react": {}}, "tasks": tasks, **info}))


def questions(rule: str) -> dict[str, Any]:
    return {"name": "hotpotqa", "feedback": "oracle", "settings": {"success": rule, "corpus": "split"}}


def test_f1_is_of_the_last_trial_of_every_task_and_no_answer_scores_nothing(tmp_path: Path) -> None:
    rows = [
        trial("react", "a", 1, result={"f1": 0.2, "em": 0.0}),
        trial("react", "a", 2, "success", result={"f1": 0.8, "em": 0.0}),
        trial("react", "b", 1, result={"f1": 0.9, "em": 0.0}),
        trial("react", "b", 2, "step_limit", result={"f1": None, "em": None}),
    ]
    run = one_arm(tmp_path, rows, trials=2, environment=questions("f1>=0.5"))
    assert pass_at_k(run)["f1"][0] == 0.4
    # Solved by the rule, and yet no exact match.
    assert (pass_at_k(run)["pass@2"][0], pass_at_k(run)["em"][0]) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("em", "its answer matches the gold answer exactly (EM)"),
        ("contains", "its answer contains the gold answer (contains)"),
        ("f1>=0.5", "the F1 of its answer is at least 0.5"),
    ],
)
def test_the_note_on_what_is_solved_follows_the_rule(tmp_path: Path, rule: str, words: str) -> None:
    run = one_arm(
        tmp_path, [trial("react", "a", 1, result={"f1": 0.5, "em": 0.0})], environment=questions(rule)
    )
    assert f"A task is solved when {words}." in notes(run)
    assert sum("A task is solved when" in note for note in notes(run)) == 1
    assert "EM and F1 are of the last trial each task had." in notes(run)
    assert pass_at_k(run)["success_rule"][0] == rule


REFUSED = {
    "openai/synthetic-model": {
        "changed_parameters": {"temperature": "left out", "max_tokens": "max_completion_tokens"}
    }
}


def test_what_an_endpoint_changed_stands_on_the_row_in_every_form(tmp_path: Path) -> None:
    run = one_arm(tmp_path, chains("react", [1, None], 3), models=REFUSED)
    frame = pass_at_k(run)
    assert frame["temperature"][0] == "left out (not 0.7)"
    assert frame["changed_parameters"][0] == "temperature left out; max_tokens sent as max_completion_tokens"
    for file in write_tables(run.path):
        assert "left out (not 0.7)" in file.read_text(encoding="utf-8"), file.name
    assert any(
        "does not take all parameters: temperature left out, max_tokens sent as" in note
        for note in notes(run)
    )


def test_every_exported_table_carries_the_settings_of_its_rows(tmp_path: Path) -> None:
    for file in write_tables(two_arms(tmp_path)):
        text = file.read_text(encoding="utf-8")
        assert "sliding" in text, file.name
        assert "synthetic-model" in text, file.name


def test_a_stand_in_that_only_judges_is_not_said_to_have_played(tmp_path: Path) -> None:
    arms = {"react": {"evaluator_model": "simulated"}}
    models = {"simulated": {"simulated": True}, "openai/synthetic-model": {"kind": "openai"}}
    run = one_arm(tmp_path, [trial("react", "a", 1)], arms=arms, models=models, simulated=True)
    assert notes(run)[0].startswith(
        "SIMULATED: a deterministic stand-in, not a language model, was evaluator;"
    )
