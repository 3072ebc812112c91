"""Memories, evaluators and reflectors through the whole harness."""

import json
import signal
import time

import pytest
from loopback import MODEL, chat, error
from reading import record, rows

from reflex_bench.models.base import Message, Request
from reflex_bench.models.simulated.model import answer

CROSS = "arms={reflexion: {reflector: reflexion, memory: {kind: strategy}}}"
BENCH = ("bench", "alfworld", "--tasks", 10, "--trials", 3, "-q", "-c", CROSS)


@pytest.fixture(scope="module")
def strategic(reflex, tmp_path_factory):
    results = tmp_path_factory.mktemp("strategy")
    done = reflex(*BENCH, "--max-workers", 1, "--run-id", "run", "--results", results)
    assert done.returncode == 0, done.stderr
    return results / "run"


def test_a_memory_that_crosses_tasks_is_the_same_with_one_worker_and_with_sixteen(
    reflex, strategic, tmp_path
):
    done = reflex(*BENCH, "--max-workers", 16, "--run-id", "run", "--results", tmp_path)
    assert done.returncode == 0, done.stderr
    assert record(tmp_path / "run") == record(strategic)
    assert (tmp_path / "run" / "memory" / "reflexion.jsonl").read_bytes() == (
        strategic / "memory" / "reflexion.jsonl"
    ).read_bytes()


def test_lessons_of_other_tasks_are_shown_and_their_names_recorded(strategic):
    lessons = {row["id"]: row for row in rows(strategic / "memory" / "reflexion.jsonl")}
    shown = [
        (row["task"], name)
        for path in (strategic / "trajectories").glob("reflexion.trial-2.jsonl")
        for row in rows(path)
        for name in row["memory_ids"]
    ]
    assert shown
    assert all(name in lessons for _, name in shown)
    written_by = {name: {source["task"] for source in lesson["sources"]} for name, lesson in lessons.items()}
    assert any(task not in written_by[name] for task, name in shown)


def test_killed_between_rounds_it_ends_with_the_same_memory(reflex, start, strategic, tmp_path):
    process = start(*BENCH, "--max-workers", 1, "--run-id", "run", "--results", tmp_path)
    calls = tmp_path / "run" / "calls.jsonl"
    half = (strategic / "calls.jsonl").read_bytes().count(b"\n") // 2
    while process.poll() is None and not (calls.exists() and calls.read_bytes().count(b"\n") >= half):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert reflex("resume", tmp_path / "run", "-q").returncode == 0
    assert record(tmp_path / "run") == record(strategic)
    assert len(rows(calls)) == len(rows(strategic / "calls.jsonl"))


def test_a_memory_is_carried_to_another_run(reflex, strategic, tmp_path):
    carry = (*BENCH, "--split", "procedural:seed=5", "--memory-from", strategic)
    done = reflex(*carry, "--run-id", "next", "--results", tmp_path)
    assert done.returncode == 0, done.stderr
    trusted = [row for row in rows(strategic / "memory" / "reflexion.jsonl") if row["confidence"] > 0.5]
    first = rows(tmp_path / "next" / "trajectories" / "reflexion.trial-1.jsonl")
    assert {len(row["memory"]) for row in first} == {min(3, len(trusted))}
    # Whatever is trusted no more is still known, and is no new lesson.
    carried = {row["id"] for row in rows(strategic / "memory" / "reflexion.jsonl")}
    assert carried <= {row["id"] for row in rows(tmp_path / "next" / "memory" / "reflexion.jsonl")}
    assert (
        json.loads((tmp_path / "next" / "run.json").read_text())["arms"]["reflexion"]["memory_from"] == "run"
    )


def test_reflections_of_another_run_are_shown_from_the_first_trial_on(reflex, finished, tmp_path):
    done = reflex(
        *("bench", "alfworld", "--tasks", 12, "--arms", "reflexion", "--trials", 1, "-q"),
        *("--memory-from", finished[0], "--run-id", "next", "--results", tmp_path),
    )
    assert done.returncode == 0, done.stderr
    kept = {}
    for row in rows(finished[0] / "memory" / "reflexion.jsonl"):
        kept.setdefault(row["task"], []).append(row["text"])
    first = rows(tmp_path / "next" / "trajectories" / "reflexion.trial-1.jsonl")
    assert any(row["memory"] for row in first)
    assert all(row["memory"] == kept.get(row["task"], [])[-3:] for row in first)


def test_a_memory_of_another_kind_is_refused_before_anything_is_run(reflex, strategic, tmp_path):
    done = reflex("bench", "alfworld", "--tasks", 2, "--memory-from", strategic, "--results", tmp_path / "r")
    assert done.returncode == 2
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("environment", ["alfworld", "hotpotqa"])
@pytest.mark.parametrize(
    "evaluator", ["heuristic", "model", "{all: [heuristic, model]}", "{any: [environment, model]}"]
)
def test_the_evaluator_decides_and_the_true_outcome_is_kept_apart(reflex, tmp_path, environment, evaluator):
    done = reflex(
        *("bench", environment, "--tasks", 12, "--trials", 2, "-q", "-c", f"evaluator={evaluator}"),
        *("--run-id", "run", "--results", tmp_path),
    )
    assert done.returncode == 0, done.stderr
    trials = rows(tmp_path / "run" / "trials.jsonl")
    for row in trials:
        follows = any(
            other["trial"] == row["trial"] + 1 and (other["arm"], other["task"]) == (row["arm"], row["task"])
            for other in trials
        )
        assert follows == (not row["passed"] and row["trial"] == 1)
    table = reflex("table", tmp_path / "run", "--style", "evaluator")
    assert table.returncode == 0, table.stderr
    verdicts = (
        ""
        if environment == "alfworld"
        else (tmp_path / "run" / "trajectories" / "react.trial-1.jsonl").read_text()
    )
    assert "The answer is wrong" not in verdicts, "a judge must not be told"


@pytest.mark.parametrize("reflector", ["last_attempt", "last_attempt_and_reflexion", "structured"])
@pytest.mark.parametrize("environment", ["alfworld", "hotpotqa"])
def test_each_reflector_reaches_the_next_prompt(reflex, tmp_path, environment, reflector):
    done = reflex(
        *("bench", environment, "--tasks", 10, "--trials", 2, "-q"),
        *("-c", f"arms={{learner: {{reflector: {reflector}}}}}", "--run-id", "run", "--results", tmp_path),
    )
    assert done.returncode == 0, done.stderr
    written = {row["task"]: row for row in rows(tmp_path / "run" / "trajectories" / "learner.trial-1.jsonl")}
    later = rows(tmp_path / "run" / "trajectories" / "learner.trial-2.jsonl")
    assert later
    for row in later:
        before = written[row["task"]]
        assert row["memory"] == ([before["reflection"]] if before["reflection_kept"] else [])
    assert any(row["memory"] for row in later)


def test_a_step_evaluator_ends_trials_and_its_reason_is_recorded(reflex, tmp_path):
    done = reflex(
        *("bench", "alfworld", "--tasks", 20, "--trials", 1, "-q", "-c", "step_evaluator=3"),
        *("--run-id", "run", "--results", tmp_path),
    )
    assert done.returncode == 0, done.stderr
    stopped = [
        row
        for row in rows(tmp_path / "run" / "trajectories" / "react.trial-1.jsonl")
        if row["outcome"] == "wrong_path"
    ]
    assert stopped
    assert all(row["remark"] and row["steps"] % 3 == 0 for row in stopped)


def test_with_all_of_it_off_the_prompts_are_those_of_plain_react(reflex, finished, tmp_path):
    done = reflex(
        *(
            "bench",
            "alfworld",
            "--tasks",
            12,
            "--trials",
            3,
            "-q",
            "--run-id",
            "plain",
            "--results",
            tmp_path,
        ),
        *("-c", "arms={react: {reflector: none, evaluator: environment, step_evaluator: 0}}"),
    )
    assert done.returncode == 0, done.stderr

    def asked(run):
        return sorted(
            (row["task"], row["trial"], row["call"], row["request"])
            for row in rows(run / "calls.jsonl")
            if row["arm"] == "react" and row["trial"] > 1
        )

    assert asked(tmp_path / "plain") == asked(finished[0])


def test_an_error_holds_up_the_rounds_of_a_memory_that_crosses_tasks_until_it_is_made_good(
    reflex, loopback, tmp_path
):
    failing = {"left": 0}

    def play(call):
        body = call.body
        messages = tuple(Message(turn["role"], turn["content"]) for turn in body["messages"])
        if len(messages) > 12 and failing["left"]:
            failing["left"] -= 1
            return error(500, "on fire")
        return chat(answer(Request(messages, body["temperature"], body["max_tokens"], (), body["seed"])))

    loopback.answer = play
    served = (
        *BENCH,
        "--model",
        f"openai/{MODEL}",
        "--base-url",
        loopback.base_url,
        "-c",
        "endpoint.max_retries=0",
    )
    assert reflex(*served, "--run-id", "whole", "--results", tmp_path).returncode == 0
    failing["left"] = 2
    broken = reflex(*served, "--max-workers", 1, "--run-id", "run", "--results", tmp_path)
    assert broken.returncode == 1
    trials = rows(tmp_path / "run" / "trials.jsonl")
    assert sum(row["outcome"] == "error" for row in trials) == 2
    assert {row["trial"] for row in trials} == {1}, (
        "nobody may be shown a memory that lacks what the errors cost"
    )
    assert reflex("resume", tmp_path / "run", "-q").returncode == 0
    assert record(tmp_path / "run") == record(tmp_path / "whole")
