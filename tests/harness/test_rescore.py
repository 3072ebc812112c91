"""Recorded answers scored again by another rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from synthetic_runs import trial, write_run

from reflex_bench.harness.checks.rescore import rescore
from reflex_bench.harness.reporting.declared import success_rule
from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.tables.metrics import scores_table
from reflex_bench.harness.storage.run_data import read_run


def answered(task: str, number: int, answer: str, won: bool, f1: float) -> dict[str, Any]:
    """A trial with its trajectory; the gold answer is `the river Mere`."""
    result = {"answer": answer, "gold_answer": "the river Mere", "em": float(won), "f1": f1}
    row = trial("react", task, number, "success" if won else "failure", result=result)
    return row | {"opening": "Question: ?", "trajectory": [], "memory": [], "reflection": None, "text": "?"}


def written(path: Path, rows: list[dict[str, Any]], **settings: Any) -> Path:
    environment = {"name": "hotpotqa", "feedback": "oracle", "settings": {"success": "em"}}
    tasks = len({row["task"] for row in rows})
    run = write_run(path, rows, arms={"react": settings}, tasks=tasks, trials=2, environment=environment)
    (run / "trajectories").mkdir()
    for number in (1, 2):
        lines = [json.dumps(row) + "\n" for row in rows if row["trial"] == number]
        (run / "trajectories" / f"react.trial-{number}.jsonl").write_text("".join(lines), encoding="utf-8")
    return run


def test_headings_and_notes_follow_the_new_rule_and_say_that_it_is_one(tmp_path: Path) -> None:
    rows = [answered("a", 1, "river Mere", True, 1.0), answered("b", 1, "Mere", False, 2 / 3)]
    rows.append(answered("b", 2, "Alder", False, 0.0))
    run = read_run(rescore(written(tmp_path / "run", rows), "f1>=0.5"))
    assert success_rule(run) == "f1>=0.5"
    table = scores_table(run)
    assert table.grids[0].header[2:4] == ("Solved (f1>=0.5)", "EM")
    first = table.frame.iloc[0]
    assert (first["share"], first["em"]) == (1.0, 0.5)
    assert any(note.startswith("Scored again from run run, without playing") for note in notes(run))


def test_every_sample_is_scored_again_whatever_became_of_the_others(tmp_path: Path) -> None:
    rows = [answered("a", n, "Mere", False, 2 / 3) for n in (1, 2)]
    run = read_run(rescore(written(tmp_path / "run", rows, independent=True), "f1>=0.5"))
    assert run.trials["success"].tolist() == [1.0, 1.0]
