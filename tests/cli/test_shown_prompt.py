"""`reflex show --prompt` prints what was sent: the server's own record of the request is the expected value."""

from __future__ import annotations

import pytest
from loopback import MODEL, chat
from reading import rows

from reflex_bench.models.base import Message, Request
from reflex_bench.models.simulated.model import answer


def play(call):
    """A player behind a real server: it reads the messages of the request, and nothing else."""
    body = call.body
    messages = tuple(Message(turn["role"], turn["content"]) for turn in body["messages"])
    return chat(answer(Request(messages, body["temperature"], body["max_tokens"], (), body["seed"])))


def as_printed(messages):
    return "".join(f"[{turn['role']}]\n{turn['content']}\n\n" for turn in messages)


@pytest.mark.parametrize("environment", ["alfworld", "hotpotqa"])
def test_the_prompt_of_any_call_is_the_one_that_the_server_received(reflex, loopback, tmp_path, environment):
    loopback.answer = play
    done = reflex(
        *("bench", environment, "--model", f"openai/{MODEL}", "--base-url", loopback.base_url, "--tasks", 4),
        *("--trials", 2, "--run-id", "r", "--results", tmp_path, "-q", "--max-workers", 1),
    )
    assert done.returncode == 0, done.stderr
    sent = [call.body["messages"] for call in loopback.calls if call.method == "POST"]
    made = rows(tmp_path / "r" / "calls.jsonl")
    assert len(sent) == len(made)
    second = [place for place, row in enumerate(made) if row["trial"] == 2 and row["arm"] == "reflexion"]
    noted = [place for place, row in enumerate(made) if row["role"] == "reflector"]
    for place in (0, 3, second[0], second[-1], noted[0]):
        row = made[place]
        wanted = row["step"] if row["role"] == "actor" else row["role"]
        shown = reflex(
            *("show", tmp_path / "r", row["task"], "--arm", row["arm"], "--trial", row["trial"]),
            *("--prompt", wanted),
        )
        assert shown.returncode == 0, shown.stderr
        assert shown.stdout.split("\n\n", 1)[1] == as_printed(sent[place])


def test_a_call_that_was_never_made_is_one_clear_line(reflex, finished):
    for wanted in ("999", "evaluator"):
        done = reflex("show", finished[0], "--arm", "react", "--trial", 1, "--prompt", wanted)
        assert done.returncode == 2
        assert "has no call of" in done.stderr


def test_a_prompt_that_would_be_another_today_is_not_shown(reflex, finished, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("run.json", "trials.jsonl"):
        (copy / name).write_bytes((finished[0] / name).read_bytes())
    calls = (finished[0] / "calls.jsonl").read_text()
    first = rows(finished[0] / "calls.jsonl")[0]["request"]
    (copy / "calls.jsonl").write_text(calls.replace(first, "0" * 64))
    (copy / "trajectories").symlink_to(finished[0] / "trajectories")
    row = rows(finished[0] / "calls.jsonl")[0]
    done = reflex("show", copy, row["task"], "--arm", row["arm"], "--trial", 1, "--prompt", 2)
    assert done.returncode == 2
    assert "cannot be made again" in done.stderr
