"""`reflex bench tools` as a person runs it: gold, worlds that are carried, the barrier, resume, bad input."""

from __future__ import annotations

import json
import shutil

import pytest

GOLD = ("-c", "agent=gold", "-c", "arms={gold: {reflector: none}}")
ALWAYS_FAILS = ("-c", "evaluator={heuristic: {max_actions: 1}}")
"""So that every task is tried again."""


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def bench(reflex, tmp_path):
    def run(name, *arguments):
        done = reflex("bench", "tools", *arguments, "--results", tmp_path, "--run-id", name, "-q")
        assert done.returncode == 0, done.stderr
        return tmp_path / name, done.stdout

    return run


@pytest.mark.parametrize("world", ["fresh", "carried"])
def test_gold_solves_what_there_is_without_harm_in_a_storm_and_no_table_calls_it_an_agent(bench, world):
    path, table = bench(
        "gold", *GOLD, "--faults", "storm", "--world", world, "--tasks", "16", "--trials", "2"
    )
    trials = rows(path / "trials.jsonl")
    assert len(trials) == 16
    assert {(row["outcome"], row["result"]["harms"]) for row in trials} == {("success", 0)}
    assert "gold is no agent under test" in table
    assert "ghost=0.15" in " ".join(table.split())
    calls = rows(path / "tool_calls.jsonl")
    assert {call["task"] for call in calls} == {row["task"] for row in trials}
    assert any(call["error_type"] for call in calls)


def test_what_was_done_in_one_trial_is_there_in_the_next_only_where_the_world_is_carried(bench):
    harms = {}
    for world in ("fresh", "carried"):
        path, _ = bench(
            world, *GOLD, *ALWAYS_FAILS, "--task-type", "refund", "--tasks", "4", "--world", world
        )
        harms[world] = [row["result"]["harms"] for row in rows(path / "trials.jsonl")]
    assert harms["fresh"] == [0] * 12
    assert sum(harms["carried"]) > 0


def test_the_barrier_lets_nothing_out_that_did_not_pass_and_says_what_became_of_it(bench, reflex, tmp_path):
    path, _ = bench(
        "held", *GOLD, *ALWAYS_FAILS, "--task-type", "refund", "--tasks", "4", "--world", "carried", "-c",
        "controls.barrier=true",
    )  # fmt: skip
    trials = rows(path / "trials.jsonl")
    assert sum(row["result"]["harms_irreversible"] for row in trials) == 0
    assert sum(
        row["result"]["controls_barrier_dropped"]
        for row in trials
        if "controls_barrier_dropped" in row["result"]
    )
    held = next(row for row in trials if row["result"].get("controls_barrier_dropped"))
    shown = reflex("show", tmp_path / "held", held["task"])
    assert "dropped" in shown.stdout


def test_a_run_that_was_cut_off_and_resumed_has_the_same_files(bench, reflex, tmp_path):
    arms = "arms={a: {reflector: none}, b: {reflector: none, controls: {barrier: true}}}"
    given = (
        *ALWAYS_FAILS,
        "-c",
        "agent=gold",
        "-c",
        arms,
        "--tasks",
        "8",
        "--faults",
        "storm",
        "--world",
        "carried",
    )
    path, _ = bench("whole", *given)
    other = tmp_path / "cut"
    shutil.copytree(path, other)
    for file in (other / "trajectories").glob("*.jsonl"):
        lines = file.read_bytes().splitlines(keepends=True)
        kept = {"1": 5, "2": 2}.get(file.stem[-1], 0)
        file.write_bytes(b"".join(lines[:kept]))
    (other / "trials.jsonl").unlink()
    (other / "tool_calls.jsonl").unlink()
    assert reflex("resume", other, "-q").returncode == 0
    files = sorted(file.relative_to(path) for file in path.rglob("*.jsonl") if file.name != "trials.jsonl")
    assert len(files) == 2 * 3 + 2
    assert [name for name in files if (path / name).read_bytes() != (other / name).read_bytes()] == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--faults", "strom"), "did you mean 'storm'"),
        (("--faults", "ghost=2"), "a rate from 0 to 1"),
        (("--world", "old"), "'fresh' or 'carried'"),
        (("--samples", "2", "--world", "carried"), "does not go with --samples"),
        (("-c", "controls.gost=true"), "did you mean 'ghost'"),
        (("-c", "controls.retry.most=99"), "less than or equal to 10"),
        (("-c", "controls.barrier.release=ask"), "a person at the terminal"),
        (("-c", "environment.transport=http"), "transport"),
    ],
)
def test_what_cannot_be_is_told_in_one_line_before_anything_is_run(reflex, tmp_path, given, told):
    done = reflex("bench", "tools", *GOLD, *given, "--results", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert told in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "given", [("--faults", "light"), ("--world", "carried"), ("-c", "controls.ghost=true")]
)
def test_an_environment_without_it_is_named(reflex, tmp_path, given):
    done = reflex("bench", "alfworld", *given, "--results", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "alfworld" in done.stderr
