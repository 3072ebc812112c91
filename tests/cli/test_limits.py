"""Limits in dollars, tokens and time: the run ends cleanly, says why, and goes on once they are raised."""

import json
import re
import threading
import time

import pytest
from loopback import MODEL, chat
from overriding import overriding
from reading import record, rows

from reflex_bench.harness.planning.plan import make_plan
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.models.base import Message, Request
from reflex_bench.models.simulated.model import answer

BENCH = ("bench", "alfworld", "--tasks", 12, "--trials", 3, "--quiet")


def tokens_in(run):
    usages = [row["usage"] for row in rows(run / "calls.jsonl")]
    return sum(used["prompt_tokens"] + used["completion_tokens"] for used in usages)


def status(run):
    return json.loads((run / "run.json").read_text())["status"]


def play(call, **more):
    body = call.body
    messages = tuple(Message(turn["role"], turn["content"]) for turn in body["messages"])
    return chat(answer(Request(messages, body["temperature"], body["max_tokens"], (), body["seed"])), **more)


@pytest.fixture
def served(reflex, loopback, tmp_path):
    """Runs `reflex bench alfworld` on the loopback server, where the simulated player answers."""
    loopback.answer = play

    def run(*arguments):
        where = ("--model", f"openai/{MODEL}", "--base-url", loopback.base_url, "--results", tmp_path)
        return reflex(*overriding(BENCH, *where, "--run-id", "served", *arguments))

    return run


def test_a_token_limit_ends_a_run_that_ends_like_an_unbroken_one_when_it_is_raised(
    finished, reflex, tmp_path
):
    whole, _ = finished
    run, limit = tmp_path / "whole", tokens_in(whole) // 3
    stopped = reflex(*BENCH, "--run-id", "whole", "--results", tmp_path, "--token-limit", limit)
    assert stopped.returncode == 1
    assert f"the token limit of {limit:,} is reached" in stopped.stderr
    go_on = rf"go on with: \S*reflex resume {re.escape(str(run))}"
    assert re.search(rf"--token-limit raises it; {go_on}", stopped.stderr)
    assert status(run) == "stopped"
    assert limit <= tokens_in(run) < limit + 5000, "one worker: it ends with the call that reaches the limit"

    before = (run / "calls.jsonl").read_bytes()
    again = reflex("resume", run, "--quiet")
    assert again.returncode == 1
    assert "the token limit" in again.stderr
    assert (run / "calls.jsonl").read_bytes() == before, "what an earlier process used counts"

    raised = reflex("resume", run, "--quiet", "--token-limit", 10**9)
    assert raised.returncode == 0, raised.stderr
    assert record(run) == record(whole)


def test_a_cost_limit_ends_a_run_near_it(served, reflex, tmp_path):
    # 12 and 3 tokens a call, as the server says: two cents.
    prices = ("-c", "endpoint.prices={input: 1000, output: 2667}")
    done = served(*prices, "--cost-limit", "0.5", "--max-connections", 4)
    assert done.returncode == 1
    assert "the cost limit of $0.50 is reached" in done.stderr
    calls = rows(tmp_path / "served" / "calls.jsonl")
    assert 25 <= len(calls) <= 25 + 3, "beyond the limit go only calls that were in flight"
    raised = reflex("resume", tmp_path / "served", "--quiet", "--cost-limit", 1000)
    assert raised.returncode == 0, raised.stderr
    assert status(tmp_path / "served") == "complete"


@pytest.mark.parametrize("told", [{}, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}])
def test_a_cost_limit_holds_where_the_server_does_not_say_what_it_took(
    served, reflex, loopback, tmp_path, told
):
    loopback.answer = lambda call: play(call, tokens=told)
    limited = ("-c", "endpoint.prices={input: 10, output: 10}", "--cost-limit", "0.1", "--max-workers", 1)
    assert "the cost limit of $0.10 is reached" in served(*limited).stderr
    calls = rows(tmp_path / "served" / "calls.jsonl")
    assert {row["cost"] for row in calls} == {None}, "an estimate is no cost that anybody was told"
    estimated = sum(row["prompt_characters"] + len(row["reply"]["text"]) for row in calls) / 4
    assert estimated * 10 / 1e6 == pytest.approx(0.1, abs=0.02)
    before = len(calls)
    assert reflex("resume", tmp_path / "served", "--quiet").returncode == 1
    assert len(rows(tmp_path / "served" / "calls.jsonl")) == before


def test_a_cost_limit_without_a_price_is_refused_before_anything_is_written(served, reflex, tmp_path):
    done = served("--cost-limit", 1)
    assert done.returncode == 2
    assert done.stderr.startswith(f"reflex: --cost-limit: no price is known for openai/{MODEL}; give one")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "served").exists()


def test_a_time_limit_ends_a_run_in_time_even_while_every_call_waits(served, reflex, loopback, tmp_path):
    slow = threading.Event()
    loopback.answer = lambda call: play(call).but(wait=0.0 if slow.is_set() else 0.2)
    started = time.monotonic()
    done = served("--time-limit", "2s")
    assert time.monotonic() - started < 15
    assert done.returncode == 1
    go_on = rf"go on with: \S*reflex resume {re.escape(str(tmp_path / 'served'))}"
    assert re.search(rf"the time limit of 2 s is reached; {go_on}", done.stderr)
    assert status(tmp_path / "served") == "stopped"
    slow.set()
    assert reflex("resume", tmp_path / "served", "--quiet", "--time-limit", "1h").returncode == 0


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        (
            "--time-limit",
            "soon",
            "limits.time: a time is written in seconds, or like 15m or 1h30m (got 'soon')",
        ),
        ("--time-limit", "0", "limits.time: input should be greater than 0"),
        ("--token-limit", "0", "limits.tokens: input should be greater than or equal to 1"),
        ("--cost-limit", "-1", "limits.cost: input should be greater than 0"),
        ("--max-connections", "0", "limits.max_connections: input should be greater than or equal to 1"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(reflex, tmp_path, flag, value, said):
    done = reflex(*BENCH, "--results", tmp_path, f"{flag}={value}")
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("written", "seconds"), [("90", 90), ("90s", 90), ("15m", 900), ("1h30m", 5400), ("1.5H", 5400), (7, 7)]
)
def test_times_may_be_written_in_hours_and_minutes(written, seconds):
    assert resolve([], {"limits": {"time": written}}).limits.time == seconds


def test_no_chain_is_held_up_by_one_that_waits_for_a_trial_that_it_shares(served, loopback, tmp_path):
    plan = make_plan(resolve([], {"environment": {"name": "alfworld"}, "tasks": 2}))
    first, second = (task.text for task in plan.split.tasks)
    plan.close()
    assert first not in second
    begun, late = threading.Event(), []

    def answer(call):
        if second in call.body["messages"][-1]["content"]:
            begun.set()
        elif not late and not begun.wait(10):
            late.append(call)
        return play(call)

    loopback.answer = answer
    # Of the first task's two chains, one plays and one waits for it: the second worker is free for the second task.
    assert served("--tasks", 2, "--max-workers", 2).returncode == 0
    assert not late


def test_calls_in_flight_are_bounded_by_the_connections_and_not_by_the_workers(served, loopback):
    loopback.answer = lambda call: play(call).but(wait=0.02)
    assert served("--trials", 1, "--max-connections", 3, "--max-workers", 12).returncode == 0
    assert loopback.busiest == 3
