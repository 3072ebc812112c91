"""Reading recorded trials: rows of all versions, and damaged lines, named by file and line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from reading import rows
from synthetic_runs import trial

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.storage.trials import MAX_TRIALS, lines_of, read_trials, recorded, recorded_lines

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "results" / "sample"
OLD = ROOT / "tests" / "data" / "runs" / "first_prompt_hash"


def written(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    file = path / "trials.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def refused(file: Path) -> str:
    """Return the line in which reading is refused."""
    with pytest.raises(UsageError) as error:
        read_trials(file)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_run_that_has_no_trial_yet_has_an_empty_table(tmp_path: Path) -> None:
    table = read_trials(tmp_path / "trials.jsonl")
    assert len(table) == 0
    assert {"arm", "task", "trial", "success", "passed", "cost"} <= set(table.columns)


@pytest.mark.parametrize("run", [SAMPLE, OLD], ids=["the sample", "a run of an earlier version"])
def test_rows_of_every_version_are_read_as_they_stand_there(run: Path) -> None:
    lines, table = rows(run / "trials.jsonl"), read_trials(run / "trials.jsonl")
    for name in ("arm", "task", "trial", "outcome", "steps", "calls", "prompt_tokens"):
        assert list(table[name]) == [line[name] for line in lines], name
    assert list(table["result.plan_length"]) == [line["result"]["plan_length"] for line in lines]


def test_what_a_row_of_an_earlier_version_lacks_is_0_or_unknown(tmp_path: Path) -> None:
    least = {"arm": "react", "task": "t", "trial": 1, "outcome": "success", "success": True}
    [read] = read_trials(written(tmp_path, [least])).to_dict("records")
    # Before there were evaluators, a trial passed that succeeded.
    assert (read["passed"], read["steps"], read["asked_again"], read["lost_calls"]) == (True, 0, 0, 0)
    assert all(math.isnan(read[name]) for name in ("cost", "prompt_tokens", "prompt_characters", "seconds"))
    assert (read["reflected"], read["reflection_written"]) == (False, False)


def test_an_unknown_number_is_no_0(tmp_path: Path) -> None:
    lines = [trial("a", "t0", 1), trial("a", "t1", 1, cost=None, steps=None), trial("a", "t2", 1, "error")]
    table = read_trials(written(tmp_path, lines))
    assert table["cost"].isna().tolist() == [False, True, False]
    assert table["steps"].isna().tolist() == [False, True, False]
    assert table["success"].isna().tolist() == [False, False, True]


def test_what_environments_measured_and_parsers_repaired_stands_in_columns_of_its_own(tmp_path: Path) -> None:
    lines = [
        trial("a", "t0", 1, result={"f1": 0.5, "answer": "yes"}, repair_kinds={"code_fence": 2}),
        trial("a", "t1", 1, invalid_kinds={"absent": 3}),
    ]
    table = read_trials(written(tmp_path, lines))
    assert table["result.f1"].tolist()[0] == 0.5
    assert table["result.f1"].isna().tolist() == [False, True]
    assert table["result.answer"].tolist() == ["yes", None]
    assert table["repair.code_fence"].tolist() == [2, 0]
    assert table["invalid.absent"].tolist() == [0, 3]


REFLECTIONS: dict[str, tuple[Mapping[str, Any], tuple[Any, ...]]] = {
    "none": ({"reflected": False}, (False, False, False, False)),
    "of an earlier version": ({"reflected": True}, (True, True, True, False)),
    "a record of the attempt": ({"reflected": True, "reflection_attempts": 0}, (True, False, True, False)),
    "kept out": ({"reflected": True, "reflection_kept": False}, (True, True, False, False)),
    "flawed": ({"reflected": True, "reflection_audit": ["too_long"]}, (True, True, True, True)),
}


@pytest.mark.parametrize("which", REFLECTIONS)
def test_a_reflection_is_written_by_a_model_or_not_kept_or_not_flawed_or_not(
    which: str, tmp_path: Path
) -> None:
    changes, expected = REFLECTIONS[which]
    [read] = read_trials(written(tmp_path, [trial("a", "t", 1, **changes)])).to_dict("records")
    names = ("reflected", "reflection_written", "reflection_kept", "reflection_flawed")
    assert tuple(read[name] for name in names) == expected


def test_where_nobody_says_whether_there_was_a_reflection_it_is_unknown(tmp_path: Path) -> None:
    lines = [trial("a", "t0", 1, reflected=True), trial("a", "t1", 1, reflected=None)]
    table = read_trials(written(tmp_path, lines))
    for name in ("reflected", "reflection_written", "reflection_kept", "reflection_flawed"):
        assert table[name].isna().tolist() == [False, True], name


def test_a_torn_last_line_is_a_trial_still_owed(tmp_path: Path) -> None:
    file = written(tmp_path, [trial("a", "t0", 1), trial("a", "t1", 1)])
    file.write_bytes(file.read_bytes()[:-20])
    assert read_trials(file)["task"].tolist() == ["t0"]


@pytest.mark.parametrize(
    "damage", [b"nonsense\n", b'{"arm": \n', b"\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n"]
)
def test_a_line_before_the_last_that_is_no_json_is_named_by_file_and_line(
    tmp_path: Path, damage: bytes
) -> None:
    file = written(tmp_path, [trial("a", "t0", 1)])
    file.write_bytes(file.read_bytes() + damage + file.read_bytes())
    assert refused(file) == f"{file}, line 2: not JSON; restore the line or remove it"


def test_half_a_surrogate_pair_is_replaced_so_that_it_can_be_printed(tmp_path: Path) -> None:
    file = written(tmp_path, [{"text": "a\ud800b", "pair": "\U0001f600"}])
    [(number, value)] = lines_of(file)
    assert (number, value) == (1, {"text": "a?b", "pair": "\U0001f600"})


WRONG: dict[str, tuple[Mapping[str, Any], str]] = {
    "no arm": ({"arm": None}, "'arm' must be a text, not None"),
    "a list as task": ({"task": ["t"]}, "'task' must be a text, not a list"),
    "trial 0": ({"trial": 0}, "'trial' must be a whole number from 1, not 0"),
    "a truth value as trial": ({"trial": True}, "'trial' must be a whole number from 1, not True"),
    "too many trials": ({"trial": MAX_TRIALS + 1}, f"'trial' must be at most {MAX_TRIALS}"),
    "a number as error": ({"error": 5}, "'error' must be a text or null, not 5"),
    "a list as result": ({"result": [1]}, "'result' must be an object, not a list"),
    "half a step": ({"steps": 1.5}, "'steps' must be a whole number or null, not 1.5"),
    "a text as cost": ({"cost": "0.1"}, "'cost' must be a number or null, not '0.1'"),
    "a count beyond all counting": ({"calls": 2**53 + 1}, "'calls' is larger than any that was counted"),
    "a failure with success": ({"success": True}, "outcome 'failure' goes with success False, not True"),
    "an error with success": (
        {"outcome": "error", "success": False},
        "outcome 'error' goes with success None, not False",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_impossible_value_is_named_by_file_and_line(what: str, tmp_path: Path) -> None:
    changes, said = WRONG[what]
    good = trial("a", "t0", 1)
    file = written(tmp_path, [good, {**trial("a", "t1", 1), **changes}, good])
    assert f"{file}, line 2: {said}" in refused(file)


def test_a_line_that_is_no_object_is_named(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    file.write_text("[1]\n")
    assert refused(file) == f"{file}, line 1: a trial must be a JSON object"


def test_bounds_are_allowed(tmp_path: Path) -> None:
    lines = [trial("a", "t", MAX_TRIALS, steps=2.0, calls=2**53)]
    [read] = read_trials(written(tmp_path, lines)).to_dict("records")
    assert (read["trial"], read["steps"], read["calls"]) == (MAX_TRIALS, 2, 2**53)


# Whole trials, from the folder of the trajectories.


@pytest.mark.parametrize("run", [SAMPLE, OLD], ids=["the sample", "a run of an earlier version"])
def test_whole_trials_of_every_version_are_read_unchanged(run: Path) -> None:
    for file in sorted((run / "trajectories").glob("*.jsonl")):
        assert list(recorded(file)) == rows(file)
        assert [number for number, _ in recorded_lines(file)] == list(range(1, len(rows(file)) + 1))


LACKING: dict[str, tuple[Mapping[str, Any], str]] = {
    "no memory": ({"memory": None}, "memory: input should be a valid list"),
    "a text as success": ({"success": "yes"}, "success: input should be a valid boolean"),
    "a step that is none": ({"trajectory": [{"number": 1}]}, "trajectory.0.reply: field required"),
    "a result of lists": ({"result": {"x": [1]}}, "result.x."),
    "no opening": ({"opening": 1}, "opening: input should be a valid string"),
}


@pytest.mark.parametrize("what", LACKING)
def test_a_trial_that_lacks_what_readers_need_is_named_by_file_line_and_key(
    what: str, tmp_path: Path
) -> None:
    changes, said = LACKING[what]
    good = rows(SAMPLE / "trajectories" / "react.trial-1.jsonl")[0]
    file = written(tmp_path, [good, {**good, **changes}])
    with pytest.raises(UsageError) as error:
        list(recorded(file))
    assert str(error.value).startswith(f"{file}, line 2: no recorded trial ({said}")


def test_a_trial_that_ended_in_an_error_needs_no_steps(tmp_path: Path) -> None:
    whole = rows(SAMPLE / "trajectories" / "react.trial-1.jsonl")[0]
    keys = ("arm", "task", "trial", "attempt", "passed", "memory")
    failed = {key: whole[key] for key in keys} | {"outcome": "error", "success": None, "error": "down"}
    assert list(recorded(written(tmp_path, [failed]))) == [failed]
    with pytest.raises(UsageError, match="line 1: no recorded trial"):
        list(recorded(written(tmp_path, [{**failed, "outcome": "failure", "success": False}])))
