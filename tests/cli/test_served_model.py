"""`reflex bench --model openai/…` against an OpenAI-compatible server on this machine that misbehaves by script."""

import json
from collections import Counter

import pytest
from loopback import MODEL, chat, error, models, page
from reading import rows

from reflex_bench.models.base import Message, Request
from reflex_bench.models.simulated.model import answer

CANARY = "sk-canary-0123456789abcdef"


def play(call):
    """The simulated player behind a real server: it reads the messages of the request, and nothing else."""
    body = call.body
    messages = tuple(Message(turn["role"], turn["content"]) for turn in body["messages"])
    return chat(answer(Request(messages, body["temperature"], body["max_tokens"], (), body["seed"])))


@pytest.fixture
def bench(reflex, loopback, tmp_path):
    """Runs `reflex bench alfworld` on the loopback server."""

    def run(*arguments, **variables):
        return reflex(
            *("bench", "alfworld", "--model", f"openai/{MODEL}", "--base-url", loopback.base_url),
            *("--run-id", "served", "--results", tmp_path, "--quiet", *arguments),
            **{"OPENAI_API_KEY": CANARY} | variables,
        )

    return run


def test_a_served_model_plays_and_its_usage_and_name_are_recorded(bench, loopback, tmp_path):
    loopback.answer = play
    done = bench("--tasks", 4, "--trials", 2)
    assert done.returncode == 0, done.stderr
    assert "SIMULATED" not in done.stdout
    calls = rows(tmp_path / "served" / "calls.jsonl")
    posted = [call for call in loopback.calls if call.method == "POST"]
    assert len(calls) == len(posted) > 10
    assert {call["reply"]["model"] for call in calls} == {f"{MODEL}-2026-01-01"}
    assert {call["usage"]["prompt_tokens"] for call in calls} == {12}
    assert {call["cost"] for call in calls} == {None}
    trials = rows(tmp_path / "served" / "trials.jsonl")
    assert all(row["prompt_tokens"] == 12 * row["calls"] for row in trials)


def test_errors_are_errors_of_the_trial_and_the_rest_of_the_run_goes_on(bench, reflex, loopback, tmp_path):
    failing = {"left": 3}

    def flaky(call):
        if "fridge" in call.body["messages"][-1]["content"] and failing["left"]:
            failing["left"] -= 1
            return error(500, "the server is on fire")
        return play(call)

    loopback.answer = flaky
    done = bench("--tasks", 12, "--trials", 2, "-c", "endpoint.max_retries=0", "--max-workers", 1)
    assert done.returncode == 1
    # Three first trials failed, and each of them was to serve both arms.
    assert "6 trials ended in an error" in done.stderr
    trials = rows(tmp_path / "served" / "trials.jsonl")
    errors = [row for row in trials if row["outcome"] == "error"]
    assert (len(errors), len({row["attempt"] for row in errors})) == (6, 3)
    assert all(row["success"] is None and "on fire" in row["error"] for row in errors)
    for arm in ("react", "reflexion"):
        first = Counter(row["outcome"] for row in trials if row["arm"] == arm and row["trial"] == 1)
        assert sum(first.values()) == 12, "every task has a first trial, whatever became of it"
    assert "rror" in done.stdout

    again = reflex("resume", tmp_path / "served", "--quiet", OPENAI_API_KEY=CANARY)
    assert again.returncode == 0, again.stderr
    mended = rows(tmp_path / "served" / "trials.jsonl")
    assert not [row for row in mended if row["outcome"] == "error"]
    assert max(Counter((row["arm"], row["task"], row["trial"]) for row in mended).values()) == 1


def test_a_dead_endpoint_stops_the_run_after_so_many_errors_and_says_how_to_go_on(bench, loopback, tmp_path):
    loopback.answer = lambda call: error(503, "no capacity")
    done = bench(
        "--tasks", 30, "-c", "endpoint.max_retries=0", "-c", "limits.stop_after_errors=5", "--max-workers", 1
    )
    assert done.returncode == 1
    assert "5 trials in a row ended in errors" in done.stderr
    assert f"reflex resume {tmp_path / 'served'}" in done.stderr
    assert json.loads((tmp_path / "served" / "run.json").read_text())["status"] == "stopped"
    assert len(rows(tmp_path / "served" / "trials.jsonl")) == 5


def test_a_prompt_that_no_longer_fits_is_an_outcome_and_no_error(bench, loopback, tmp_path):
    def narrow(call):
        if len(call.body["messages"]) > 50:
            return error(400, "too long", code="context_length_exceeded", type="invalid_request_error")
        return chat(f"go to nowhere {len(call.body['messages'])}")

    loopback.answer = narrow
    assert bench("--tasks", 2, "--trials", 1).returncode == 0
    assert {row["outcome"] for row in rows(tmp_path / "served" / "trials.jsonl")} == {"context_limit"}


def test_a_wrong_key_ends_the_run_before_anything_is_paid_for(bench, loopback, tmp_path):
    loopback.listing = error(401, f"Incorrect API key provided: {CANARY}", code="invalid_api_key")
    done = bench("--tasks", 2)
    assert done.returncode == 2
    assert "OPENAI_API_KEY" in done.stderr
    assert CANARY not in done.stderr
    assert not (tmp_path / "served").exists()


def test_a_model_that_the_server_does_not_have_is_refused_with_the_nearest_it_has(bench, loopback):
    loopback.listing = models("loopback-large", "other")
    done = bench("--tasks", 2)
    assert done.returncode == 2
    assert "loopback-large" in done.stderr


def test_no_server_at_all_is_told_in_one_line(reflex, tmp_path):
    done = reflex(
        "bench",
        "alfworld",
        "--model",
        "openai/x",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--results",
        tmp_path,
    )
    assert done.returncode == 2
    assert "127.0.0.1:9" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_key_is_in_no_file_and_no_message_even_where_the_server_repeats_it(bench, loopback, tmp_path):
    replies = iter(range(10_000))

    def indiscreet(call):
        if next(replies) % 5 == 0:
            return error(500, f"bad key {CANARY} in header")
        return page(f"<h1>{CANARY}</h1>", 502) if next(replies) % 7 == 0 else play(call)

    loopback.answer = indiscreet
    done = bench("--tasks", 6, "--trials", 2, "-c", "endpoint.max_retries=0")
    assert CANARY not in done.stdout + done.stderr
    for path in (tmp_path / "served").rglob("*"):
        if path.is_file():
            assert CANARY not in path.read_text(), path
    sent = {value for call in loopback.calls for value in call.headers.values()}
    assert f"Bearer {CANARY}" in sent, "the test must use the key that it looks for"
