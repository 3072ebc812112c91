"""Whatever stands in the files of a run, its readers print tables or say on one line what is wrong, and where."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from broken import SOME_BYTES, examples, spoilt, spoilt_lines, torn
from hypothesis import example, given
from reading import rows
from synthetic_runs import chains, trial, write_run

from reflex_bench.cli.read import list_runs
from reflex_bench.core.errors import UsageError
from reflex_bench.core.jsonl import read_lines
from reflex_bench.harness.checks.rescore import rescore
from reflex_bench.harness.checks.verify import read_verified, verify
from reflex_bench.harness.reporting.compare import compare
from reflex_bench.harness.reporting.show import as_lines, trials_of
from reflex_bench.harness.reporting.tables.audit import reflections_table
from reflex_bench.harness.reporting.tables.comparison import comparison_tables
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.reporting.tables.styles import styled_table
from reflex_bench.harness.storage.run_data import read_run
from reflex_bench.harness.storage.run_info import read_manifest
from reflex_bench.harness.storage.store import Store

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parent.parent.parent / "results" / "sample"
FIRST = "trajectories/reflexion.trial-1.jsonl"
INFO = json.loads((SAMPLE / "run.json").read_text())
SHORT = rows(SAMPLE / "trials.jsonl")
WHOLE = rows(SAMPLE / FIRST)
VERIFIED = {"settings": {}, "attempts": {"432a7660bdcb6856": {"steps": 7, "won": True, "difference": None}}}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return shutil.copytree(SAMPLE, tmp_path / "run")


@contextmanager
def holding(file: Path, data: bytes) -> Iterator[None]:
    before = file.read_bytes() if file.exists() else None
    file.write_bytes(data)
    try:
        yield
    finally:
        if before is not None:
            file.write_bytes(before)


def refused(read: Callable[[], object], run: Path) -> str | None:
    """What a reader says that refuses; None where it reads."""
    try:
        read()
    except UsageError as error:
        text = str(error)
        assert "\n" not in text
        assert len(text) < 2000
        return text
    return None


def tables(run: Path) -> None:
    read = read_run(run)
    for style in ("pass-at-k", "outcomes", "reflexion-curve", "evaluator"):
        render(styled_table(read, style), "html")
    for made in comparison_tables(compare(read, force=True)):
        render(made, "csv")


def show(run: Path) -> None:
    for row in trials_of(run, None, None, None):
        assert list(as_lines(row, 80))


READERS = (tables, show, lambda run: reflections_table(read_run(run)), lambda run: list_runs(run.parent))


@examples(40)
@given(spoilt(INFO) | torn(json.dumps(INFO).encode()) | SOME_BYTES)
@example(json.dumps(INFO | {"trials": 10**12}).encode())
@example(json.dumps(INFO | {"split": INFO["split"] | {"tasks": 10**9}}).encode())
@example(json.dumps(INFO | {"arms": {"react": {"trials": "3"}}}).encode())
@example(json.dumps(INFO | {"arms": {"react": {"model": "\ud800"}, "reflexion": {}}}).encode())
@example(json.dumps(INFO | {"environment": []}).encode())
@example(json.dumps(INFO | {"contamination": [{"arms": 7}]}).encode())
@example(b'{"schema_version": 1, "arms": ' + b"[" * 20_000)
def test_any_run_json_is_read_or_refused(run: Path, data: bytes) -> None:
    with holding(run / "run.json", data):
        for read in READERS:
            said = refused(lambda read=read: read(run), run)
            assert said is None or str(run) in said or "arm" in said or "same settings" in said


@examples(40)
@given(spoilt_lines(SHORT) | torn((SAMPLE / "trials.jsonl").read_bytes()) | SOME_BYTES)
@example(json.dumps(SHORT[0] | {"steps": 10**400}).encode() + b"\n")
@example(json.dumps(SHORT[0] | {"trial": 10**400}).encode() + b"\n")
@example(json.dumps(SHORT[0] | {"attempt": ["a"]}).encode() + b"\n")
@example(json.dumps(SHORT[0] | {"result": [1]}).encode() + b"\n")
@example(json.dumps(SHORT[0] | {"task_type": "\ud800"}).encode() + b"\n")
@example(json.dumps(SHORT[6] | {"reflection_audit": [{}]}).encode() + b"\n")
@example(json.dumps(SHORT[6] | {"reflection_attempts": "2"}).encode() + b"\n")
@example(b'{"arm": "", "task": ""}\n')
@example(b"[" * 20_000 + b"\n")
@example(b"\xff\n")
def test_any_trials_are_read_or_refused_with_the_file_and_the_line(run: Path, data: bytes) -> None:
    with holding(run / "trials.jsonl", data):
        for read in READERS:
            said = refused(lambda read=read: read(run), run)
            assert said is None or str(run) in said


@examples(100)
@given(spoilt_lines(WHOLE) | torn((SAMPLE / FIRST).read_bytes()) | SOME_BYTES)
@example(json.dumps(WHOLE[0] | {"trajectory": [{}]}).encode() + b"\n")
@example(json.dumps(WHOLE[0] | {"reflection_audit": 7}).encode() + b"\n")
@example(json.dumps(WHOLE[0] | {"verdict": {"by": "model"}}).encode() + b"\n")
@example(b"0\n")
@example(b"[" * 20_000 + b"\n")
@example(b"\xff\n")
def test_any_trajectories_are_shown_or_refused_with_the_file(run: Path, data: bytes) -> None:
    with holding(run / FIRST, data):
        for choice in (None, "Bread"):
            said = refused(
                lambda choice=choice: [list(as_lines(row, 80)) for row in trials_of(run, choice, None, None)],
                run,
            )
            assert said is None or str(run / "trajectories") in said or "task" in said


@examples(60)
@given(spoilt(VERIFIED) | SOME_BYTES)
@example(b"[" * 20_000)
@example(b'"attempts"')
@example(b'{"attempts": {"a": {}}}')
@example(b"\xff")
def test_any_record_of_a_replay_is_read_or_refused(run: Path, data: bytes) -> None:
    with holding(run / "verified.json", data):
        said = refused(lambda: read_verified(run), run)
        assert said is None or str(run / "verified.json") in said


@examples(60)
@given(spoilt(INFO))
@example(json.dumps({key: value for key, value in INFO.items() if key != "config"}).encode())
@example(json.dumps(INFO | {"config": {"environment": "alfworld"}}).encode())
def test_verify_refuses_any_run_that_it_cannot_replay(run: Path, data: bytes) -> None:
    shutil.rmtree(run / "trajectories")
    (run / "run.json").write_bytes(data)
    with pytest.raises(UsageError) as error:
        verify(run, None, lambda *_: None)
    assert str(run) in str(error.value)
    shutil.copytree(SAMPLE / "trajectories", run / "trajectories")


def test_verify_names_a_task_that_the_run_does_not_have(run: Path) -> None:
    config = {**INFO["config"], "environment": {"name": "alfworld"}, "tasks": 3}
    (run / "run.json").write_text(json.dumps(INFO | {"config": config}))
    (run / FIRST).write_text(json.dumps(WHOLE[0] | {"task": "another", "attempt": "x"}) + "\n")
    with pytest.raises(UsageError, match="name the task 'another', which the run does not have"):
        verify(run, None, lambda *_: None)


def answered(run: Path) -> Path:
    """The sample as if it had been about questions."""
    info = INFO | {"environment": INFO["environment"] | {"name": "hotpotqa"}}
    (run / "run.json").write_text(json.dumps(info))
    for path in (run / "trajectories").iterdir():
        played = rows(SAMPLE / "trajectories" / path.name)
        scored = [row | {"result": {"answer": "1871", "gold_answer": "1872"}} for row in played]
        path.write_text("".join(json.dumps(row) + "\n" for row in scored))
    return run


@examples(60)
@given(spoilt_lines(WHOLE) | SOME_BYTES)
@example(json.dumps(WHOLE[0] | {"result": {"answer": 1}}).encode() + b"\n")
@example(b'{"arm": "on", "task": {}}\n')
@example(b"\xff\n")
def test_a_run_is_rescored_whole_or_not_at_all(run: Path, data: bytes) -> None:
    (answered(run) / FIRST).write_bytes(data)
    target = run.parent / "run-contains"
    said = refused(lambda: rescore(run, "contains"), run)
    assert said is None or str(run) in said
    assert target.exists() == (said is None)
    shutil.rmtree(target, ignore_errors=True)


@pytest.mark.parametrize(
    "without", ["environment", "arms.environment", "arms.settings_hash", "environment.settings"]
)
def test_a_run_without_some_of_its_settings_can_still_be_rescored(run: Path, without: str) -> None:
    info = json.loads((answered(run) / "run.json").read_text())
    *path, name = without.split(".")
    for holder in [*info["arms"].values()] if path == ["arms"] else [info[path[0]]] if path else []:
        holder.pop(name)
    (run / "run.json").write_text(json.dumps(info))
    assert (
        json.loads((rescore(run, "contains") / "run.json").read_text())["environment"]["settings"]["success"]
        == "contains"
    )


def test_a_file_that_is_no_trial_does_not_stop_a_rescoring(run: Path) -> None:
    answered(run)
    (run / "trajectories" / "notes.jsonl").write_text("")
    assert rescore(run, "contains").exists()


def test_what_a_line_says_picks_a_file_but_never_becomes_a_path(run: Path) -> None:
    outside = run.parent / "outside.trial-1.jsonl"
    outside.write_text(json.dumps(WHOLE[0] | {"arm": "../../outside"}) + "\n")
    (run / "run.json").write_text(json.dumps(INFO | {"arms": {"../../outside": {}}}))
    (run / "trials.jsonl").write_text(json.dumps(SHORT[0] | {"arm": "../../outside"}) + "\n")
    with pytest.raises(UsageError, match="has no line for"):
        trials_of(run, None, None, None)


@pytest.mark.parametrize("arm", ["\x00", "a" * 5000, "\ud800", "/etc"])
def test_an_arm_that_can_be_no_file_name_is_refused(tmp_path: Path, arm: str) -> None:
    run = write_run(tmp_path / "run", [trial(arm, "t", 1)], arms={arm: {}}, tasks=1)
    with pytest.raises(UsageError, match="has no line for"):
        trials_of(run, None, None, None)


def test_a_damaged_run_does_not_hide_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "whole", [], arms={"react": {}}, tasks=1)
    (write_run(tmp_path / "torn", [], arms={"react": {}}, tasks=1) / "run.json").write_text("{")
    list_runs(tmp_path)
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "not readable" in lines["torn"]
    assert "complete" in lines["whole"]


def test_half_a_surrogate_pair_in_a_run_can_be_printed_in_every_form(tmp_path: Path) -> None:
    half = {"task_type": "\ud800", "digest": "\udfff"}
    made = chains("react", [1, None], 2, **half)
    run = write_run(tmp_path / "run", made, arms={"react": {"model": "m\ud800"}}, tasks=2, trials=2)
    for form in ("terminal", "markdown", "csv", "latex", "html"):
        assert render(styled_table(read_run(run)), form).encode()


LIMITS: dict[str, Any] = {"trials": 10_001, "split": {"name": "x", "tasks": 10_000_001}}


@pytest.mark.parametrize("name", LIMITS)
def test_a_run_too_large_to_be_one_is_refused_before_it_fills_the_memory(tmp_path: Path, name: str) -> None:
    run = write_run(tmp_path / "run", [], arms={"react": {}}, tasks=1)
    info = json.loads((run / "run.json").read_text()) | {name: LIMITS[name]}
    del info["arms"]["react"]["trials"]
    (run / "run.json").write_text(json.dumps(info))
    with pytest.raises(UsageError, match="must be at most"):
        read_run(run)


@examples(100)
@given(spoilt_lines(SHORT) | torn((SAMPLE / "trials.jsonl").read_bytes()) | SOME_BYTES)
@example(b"[" * 20_000 + b"\n")
@example(b"\xff\n")
def test_any_lines_are_json_or_refused(run: Path, data: bytes) -> None:
    with holding(run / "calls.jsonl", data):
        said = refused(lambda: list(read_lines(run / "calls.jsonl")), run)
        assert said is None or str(run / "calls.jsonl") in said


@examples(100)
@given(spoilt(INFO) | torn(json.dumps(INFO).encode()) | SOME_BYTES)
@example(b"[" * 20_000)
def test_any_description_is_read_or_refused(run: Path, data: bytes) -> None:
    with holding(run / "run.json", data):
        said = refused(lambda: read_manifest(run), run)
        assert said is None or str(run) in said


def begun(run: Path) -> None:
    """Opens a run to go on with it, as far as before its first call."""
    with closing(Store(run)) as store:
        store.begin()


@examples(60)
@given(
    spoilt_lines(WHOLE) | SOME_BYTES,
    spoilt_lines(rows(SAMPLE / "calls.jsonl")[:3]) | SOME_BYTES,
    spoilt(INFO),
)
@example(json.dumps(WHOLE[0] | {"arm": "another"}).encode() + b"\n", b"", json.dumps(INFO).encode())
@example(b"", b'{"reply": 1}\n', json.dumps(INFO).encode())
def test_any_run_is_resumed_or_refused(run: Path, trials: bytes, calls: bytes, info: bytes) -> None:
    unbroken = json.dumps(INFO).encode()
    for changed in ((trials, b"", unbroken), (b"", calls, unbroken), (b"", b"", info)):
        for name, data in zip((FIRST, "calls.jsonl", "run.json"), changed, strict=True):
            (run / name).write_bytes(data)
        said = refused(lambda: begun(run), run)
        assert said is None or str(run) in said
