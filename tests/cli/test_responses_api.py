"""`--api responses` from the command line: the same trials as through the chat API, and reasoning kept across turns."""

import json

import pytest
from loopback import MODEL, chat, response, said
from overriding import overriding
from reading import rows

from reflex_bench.models.base import Message, Request
from reflex_bench.models.simulated.model import answer

COUNTED = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "reflection_tokens", "prompt_characters")
# The API is a part of what an attempt is known by.
COUNTED = (*COUNTED, "cached_tokens", "repeated_characters", "seconds", "attempt")


def turns_of(body):
    """The conversation of a request of either API."""
    if "messages" in body:
        return [(turn["role"], turn["content"]) for turn in body["messages"]]
    spoken = [(item["role"], item["content"]) for item in body["input"] if "role" in item]
    return [("system", body["instructions"]), *spoken]


def play(call):
    """The simulated player behind a server of both APIs; in the Responses API it also thinks, out of sight."""
    turns = tuple(Message(role, text) for role, text in turns_of(call.body))
    room = call.body.get("max_tokens") or call.body["max_output_tokens"]
    text = answer(Request(turns, call.body["temperature"], room, (), None))
    if call.path.endswith("/chat/completions"):
        return chat(text)
    count = len(call.body["input"])
    thought = {
        "id": f"rs_{count}",
        "type": "reasoning",
        "summary": [],
        "encrypted_content": f"sealed-{count}",
    }
    return response(thought, said(text))


@pytest.fixture
def bench(reflex, loopback, tmp_path):
    """Runs `reflex bench alfworld` on the loopback server, under a name of its own."""

    def run(name, *arguments, model=f"openai/{MODEL}"):
        return reflex(
            *(
                "bench",
                "alfworld",
                "--model",
                model,
                "--base-url",
                loopback.base_url,
                "-c",
                "model.seed=false",
            ),
            *overriding(
                ("--tasks", 2, "--trials", 2), "--run-id", name, "--results", tmp_path, "--quiet", *arguments
            ),
        )

    return run


def test_the_trials_are_those_of_the_chat_api_and_can_be_replayed(bench, loopback, tmp_path):
    loopback.answer = play
    assert bench("chat").returncode == 0
    done = bench("responses", "--api", "responses")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert (
        f"The endpoint of openai/{MODEL} does not take all parameters: seed left out, stop left out." in told
    )

    def bare(name):
        trials = sorted(
            rows(tmp_path / name / "trials.jsonl"), key=lambda row: (row["arm"], row["task"], row["trial"])
        )
        return [{key: value for key, value in row.items() if key not in COUNTED} for row in trials]

    assert bare("responses") == bare("chat")
    posts = len(loopback.posts)
    again = bench("again", "--api", "responses", model=f"replay:{tmp_path / 'responses'}")
    assert again.returncode == 0, again.stderr
    assert (bare("again"), len(loopback.posts)) == (bare("chat"), posts)
    settings = json.loads((tmp_path / "responses" / "run.json").read_text())["models"][f"openai/{MODEL}"]
    assert settings["api"] == "responses"


def test_sealed_reasoning_is_sent_back_where_that_is_wanted(bench, loopback, tmp_path):
    loopback.answer = play
    arguments = ("--api", "responses", "--arms", "react", "--tasks", 1, "--trials", 1, "--max-steps", 3)
    done = bench("kept", *arguments, "-c", "model.send_reasoning=all")
    assert done.returncode == 0, done.stderr
    items = loopback.posts[2].body["input"]
    sealed = [place for place, item in enumerate(items) if item.get("type") == "reasoning"]
    assert [items[place + 1]["role"] for place in sealed] == ["assistant"] * 2
    assert [items[place]["encrypted_content"] for place in sealed] == [
        f"sealed-{len(call.body['input'])}" for call in loopback.posts[:2]
    ]
    assert "sealed" not in (tmp_path / "kept" / "trajectories" / "react.trial-1.jsonl").read_text()
