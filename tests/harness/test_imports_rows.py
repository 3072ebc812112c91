from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from reflex_bench.cli import imports as command
from reflex_bench.core.errors import UsageError
from reflex_bench.harness.importing.mapped_rows import import_rows, read_map
from reflex_bench.harness.reporting.compare import compare
from reflex_bench.harness.reporting.statistics.samples import independent_estimates
from reflex_bench.harness.storage.run_data import Run, accounting, read_run


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    file = path / "others.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def imported(path: Path, rows: list[dict[str, Any]], mapping: str, **options: Any) -> Run:
    return read_run(import_rows(lines(path, rows), read_map(mapping), path / "run", **options))


def test_names_are_found_by_dotted_paths_and_scores_become_verdicts(tmp_path: Path) -> None:
    rows = [
        {"info": {"id": 7}, "agent": {"name": "act"}, "n": 1, "reward": 0.5, "kind": "put"},
        {"info": {"id": 7}, "agent": {"name": "act"}, "n": 2, "reward": 1.0, "kind": "put"},
        {"info": {"id": 8}, "agent": {"name": "plan"}, "n": 1, "reward": 1, "kind": "heat"},
        {"info": {"id": 7}, "agent": {"name": "plan"}, "n": 1, "reward": 0, "kind": "put"},
    ]
    run = imported(tmp_path, rows, "task=info.id, arm=agent.name, trial=n, success=reward>=1, type=kind")
    assert (run.task_ids, list(run.arms), run.limit("act"), run.limit("plan")) == (
        ("7", "8"),
        ["act", "plan"],
        2,
        1,
    )
    assert run.solved_within("act").tolist() == [[False, True], [False, False]]
    assert run.solved_within("plan").tolist() == [[False], [True]]
    assert dict(zip(run.trials["task"], run.trials["task_type"], strict=True)) == {"7": "put", "8": "heat"}


def test_a_task_that_one_arm_lacks_is_not_recorded_there_and_stays_in_the_denominator(tmp_path: Path) -> None:
    rows = [
        {"t": "a", "ok": True, "by": "x"},
        {"t": "b", "ok": False, "by": "x"},
        {"t": "a", "ok": 0, "by": "y"},
    ]
    run = imported(tmp_path, rows, "task=t,success=ok,arm=by")
    table = accounting(run).set_index("arm")
    assert table["not recorded"].to_dict() == {"x": 0, "y": 1}
    assert table["tasks"].tolist() == [2, 2]
    (pair,) = compare(run).pairs
    assert (pair.levels[0].pairs, pair.levels[0].excluded) == (1, 1)


def test_a_null_verdict_is_an_error_and_no_failure(tmp_path: Path) -> None:
    run = imported(tmp_path, [{"t": "a", "ok": None}, {"t": "b", "ok": 1}], "task=t,success=ok")
    assert run.trials["outcome"].tolist() == ["error", "success"]
    assert list(run.arms) == ["others"]


def test_trials_that_count_from_0_count_from_1(tmp_path: Path) -> None:
    rows = [{"t": "a", "ok": False, "n": 0}, {"t": "a", "ok": True, "n": 1}]
    assert imported(tmp_path, rows, "task=t,success=ok,trial=n").trials["trial"].tolist() == [1, 2]


def test_trials_after_a_success_need_the_word_that_they_are_independent(tmp_path: Path) -> None:
    rows = [{"t": "a", "ok": True, "n": 1}, {"t": "a", "ok": False, "n": 2}]
    with pytest.raises(
        UsageError, match=r"line 2: task 'a' of arm 'others' was tried again .* --independent"
    ):
        imported(tmp_path, rows, "task=t,success=ok,trial=n")
    run = imported(tmp_path, rows, "task=t,success=ok,trial=n", independent=True)
    # One of two succeeds: pass@1 is ½, and of two draws without replacement one is the success.
    assert independent_estimates(run, "others")["pass@k"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("row", "mapping", "says"),
    [
        (
            {"t": "a", "ok": 0.5},
            "task=t,success=ok",
            r"line 1: 'ok' must be true, false, 0, 1 or null, not 0\.5; .*ok>=1",
        ),
        ({"t": "a", "ok": "yes"}, "task=t,success=ok", "not 'yes'"),
        ({"t": "a", "ok": True}, "task=t,success=ok>=1", "'ok' must be a number, not True"),
        (
            {"t": "a", "ok": True},
            "task=info.id,success=ok",
            r"line 1: no 'info\.id' \('info' is not among: t, ok\)",
        ),
        (
            {"t": "a", "ok": True, "n": "2"},
            "task=t,success=ok,trial=n",
            "'n' must be a whole number, not '2'",
        ),
        ({"t": "a", "ok": True, "n": 2}, "task=t,success=ok,trial=n", "trials begin with 2"),
        ({"t": "a", "ok": True, "by": "../x"}, "task=t,success=ok,arm=by", "cannot be the name of an arm"),
    ],
)
def test_a_line_that_cannot_be_read_so_is_named(
    tmp_path: Path, row: dict[str, Any], mapping: str, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        imported(tmp_path, [row], mapping)


def test_two_results_for_one_trial_are_refused_with_both_lines(tmp_path: Path) -> None:
    rows = [{"t": "a", "ok": False}, {"t": "b", "ok": True}, {"t": "a", "ok": False}]
    with pytest.raises(UsageError, match="lines 1 and 3: two results for arm 'others', task 'a', trial 1"):
        imported(tmp_path, rows, "task=t,success=ok")


def test_a_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    file = tmp_path / "others.jsonl"
    file.write_text('{"t": 1, "ok": 1}\nnot json\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"others\.jsonl, line 2: not JSON"):
        import_rows(file, read_map("task=t,success=ok"), tmp_path / "run")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("task=id", "says no 'success'"),
        ("task=id,success", "'success' is not FIELD=NAME"),
        ("task=id,succes=ok", "did you mean 'success'"),
    ],
)
def test_a_map_that_cannot_be_read_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_map(text)


def test_the_command_says_what_was_imported_and_the_run_says_from_where(tmp_path: Path) -> None:
    file = lines(tmp_path, [{"t": "a", "ok": True}])
    app = typer.Typer()
    app.callback()(lambda: None)
    command.register(app)
    given = ["import", "rows", str(file), "--map", "task=t,success=ok", "--results", str(tmp_path / "runs")]
    done = CliRunner().invoke(app, given)
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path}/runs/others: 1 tasks, 1 trials, arms others\n")
    source = read_run(tmp_path / "runs" / "others").info["source"]
    assert source["files"] == {"others.jsonl": hashlib.sha256(file.read_bytes()).hexdigest()}
