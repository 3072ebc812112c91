from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic_runs import REFLEXION, chain, chains, trial, write_run

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.storage.run_data import accounting, read_run

pytestmark = pytest.mark.slow

TWO = {"react": {}, "reflexion": REFLEXION}


def small(path: Path, rows: list[dict[str, Any]], **more: Any) -> Path:
    return write_run(path / "run", rows, **{"arms": {"react": {}}, "tasks": 2, **more})


def test_unknown_numbers_stay_unknown_and_results_become_columns(tmp_path: Path) -> None:
    rows = [
        trial(
            "react",
            "a",
            1,
            "success",
            cost=None,
            cached_tokens=None,
            result={"f1": 1.0},
            repair_kinds={"cut": 2},
        ),
        trial("react", "b", 1, result={"em": False}),
    ]
    read = read_run(small(tmp_path, rows)).trials
    assert read["cost"].isna().tolist() == [True, False]
    assert read["cached_tokens"].isna().tolist() == [True, False]
    assert read["result.f1"].tolist() == [1.0, None]
    assert read["result.em"].tolist() == [None, False]
    assert read["repair.cut"].tolist() == [2, 0]


def test_ids_that_look_like_numbers_or_dates_stay_texts(tmp_path: Path) -> None:
    rows = [trial("react", "007", 1), trial("react", "2020-01-01", 1)]
    assert read_run(small(tmp_path, rows)).task_ids == ("007", "2020-01-01")


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_torn_last_line_is_a_trial_that_is_still_owed(tmp_path: Path, cut: int) -> None:
    path = small(tmp_path, [trial("react", "a", 1, "success"), trial("react", "b", 1, task_type="größer")])
    file = path / "trials.jsonl"
    file.write_bytes(file.read_bytes()[:-cut])
    read = read_run(path)
    # Without its newline alone the line is still whole.
    assert len(read.trials) == (2 if cut == 1 else 1)


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = small(tmp_path, [trial("react", "a", 1), trial("react", "b", 1)])
    file = path / "trials.jsonl"
    file.write_bytes(file.read_bytes().replace(b"{", b"[", 1))
    with pytest.raises(UsageError, match=r"trials\.jsonl, line 1: not JSON"):
        read_run(path)


def test_a_run_that_has_only_begun_has_no_trials(tmp_path: Path) -> None:
    path = small(tmp_path, [], status="running")
    (path / "trials.jsonl").unlink()
    assert read_run(path).trials.empty
    assert accounting(read_run(path))["not recorded"].tolist() == [2, 2, 2]


def test_a_directory_without_a_run_and_a_future_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run\.json"):
        read_run(tmp_path)
    path = small(tmp_path, [], schema_version=99)
    with pytest.raises(UsageError, match="99"):
        read_run(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arms": {}}, "'arms' must map"),
        ({"trials": 0}, "'trials' must be a whole number from 1, not 0"),
        ({"split": {"name": "x"}}, "'split.tasks' must be a whole number from 1, not None"),
    ],
)
def test_a_manifest_without_the_essentials_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = small(tmp_path, [])
    manifest = json.loads((path / "run.json").read_text(encoding="utf-8")) | change
    (path / "run.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read_run(path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([trial("react", "a", 1), trial("react", "a", 1)], "two results for arm 'react', task 'a', trial 1"),
        ([trial("react", "a", 4)], "trial 4 is beyond the 3 trials"),
        ([trial("other", "a", 1)], "arm 'other' is not in run.json"),
        ([trial("react", name, 1) for name in "abc"], "results for 3 tasks, but the split has 2"),
        ([trial("react", "a", 1, "success"), trial("react", "a", 2)], "trial 2 was run although an earlier"),
        ([trial("react", "a", 1, success=True)], "outcome 'failure' goes with success False, not True"),
        (
            [trial("react", "a", 1, "error", success=False)],
            "outcome 'error' goes with success None, not False",
        ),
        ([trial("react", "a", 0)], "'trial' must be a whole number from 1, not 0"),
        ([trial("react", "a", 1, cost="cheap")], "'cost' must be a number or null, not 'cheap'"),
        ([trial("react", "a", 1) | {"task": 7}], "'task' must be a text, not 7"),
    ],
)
def test_impossible_results_are_refused(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_run(small(tmp_path, rows))


def test_a_task_that_is_not_in_the_split_is_refused(tmp_path: Path) -> None:
    split = {"name": "x", "tasks": 2, "task_ids": ["a", "b"]}
    with pytest.raises(UsageError, match="task 'c' is not in the split"):
        read_run(small(tmp_path, [trial("react", "c", 1)], split=split))


def test_independent_trials_may_go_on_after_a_success(tmp_path: Path) -> None:
    rows = [trial("react", "a", 1, "success"), trial("react", "a", 2)]
    read = read_run(small(tmp_path, rows, arms={"react": {"independent": True}}))
    assert read.solved_within("react")[0].tolist() == [True, True, True]


def test_every_task_is_accounted_for_in_every_trial(tmp_path: Path) -> None:
    rows = [
        *chain("react", "a", 1, 3),
        *chain("react", "b", 3, 3),
        trial("react", "c", 1, "step_limit"),
        trial("react", "c", 2, "error"),
        # The evaluator is wrong: it passes a failed trial, and the chain stops.
        trial("react", "d", 1, "gave_up", passed=True),
        trial("react", "e", 1, "loop"),
    ]
    table = accounting(read_run(small(tmp_path, rows, tasks=6))).set_index("trial")
    assert table.loc[1].drop("arm").to_dict() == {
        "success": 1, "failure": 1, "gave_up": 1, "loop": 1, "step_limit": 1, "error": 0,
        "solved earlier": 0, "wrongly passed": 0, "after an error": 0, "not recorded": 1, "tasks": 6,
    }  # fmt: skip
    assert table.loc[3].drop("arm").to_dict() == {
        "success": 1, "failure": 0, "gave_up": 0, "loop": 0, "step_limit": 0, "error": 0,
        "solved earlier": 1, "wrongly passed": 1, "after an error": 1, "not recorded": 2, "tasks": 6,
    }  # fmt: skip


def test_an_error_is_unknown_from_then_on_and_a_wrong_pass_is_known_to_have_failed(tmp_path: Path) -> None:
    rows = [
        trial("react", "a", 1),
        trial("react", "a", 2, "error"),
        trial("react", "b", 1, passed=True),
    ]
    read = read_run(small(tmp_path, rows))
    assert read.unknown_within("react").tolist() == [[False, True, True], [False, False, False]]
    assert not read.solved_within("react").any()


outcomes = st.sampled_from(["success", "failure", "loop", "step_limit", "error"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.lists(outcomes, max_size=4), min_size=1, max_size=8))
def test_any_chains_add_up_and_solved_and_unknown_never_overlap(
    tmp_path: Path, made: list[list[str]]
) -> None:
    rows = []
    for index, sequence in enumerate(made):
        for number, outcome in enumerate(sequence, 1):
            rows.append(trial("react", f"t{index}", number, outcome))
            if outcome in ("success", "error"):
                break
    read = read_run(small(tmp_path, rows, tasks=len(made), trials=4))
    table = accounting(read)
    assert (table.drop(columns=["arm", "trial", "tasks"]).sum(axis=1) == len(made)).all()
    solved, unknown = read.solved_within("react"), read.unknown_within("react")
    assert not (solved & unknown).any()
    assert solved[:, -1].sum() == sum("success" in each.split("error")[0] for each in map(" ".join, made))


def test_a_hundred_thousand_trials_are_read_in_seconds(tmp_path: Path) -> None:
    rows = chains("react", [None] * 16_667, 3) + chains("reflexion", [None] * 16_667, 3)
    path = write_run(tmp_path / "run", rows, arms=TWO, tasks=16_667)
    begin = time.process_time()
    assert len(read_run(path).trials) == 100_002
    assert time.process_time() - begin < 10
