"""A recorded run answers again, from real files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reflex_bench.core.errors import ModelError, UsageError
from reflex_bench.models.base import Message, Reply, Request, Usage
from reflex_bench.models.hashing import request_hash
from reflex_bench.models.registry import open_model

ASKED = Request((Message("user", "hello"),), temperature=0.7, seed=1)


def line(request: Request, text: str, **fields: Any) -> bytes:
    """A line of the journal as a run writes it."""
    call = {
        "attempt": "a1",
        "call": 1,
        "arm": "react",
        "task": "t-1",
        "trial": 1,
        "step": 1,
        "role": "actor",
        "request": request_hash(request),
        "reply": {"text": text, "finish": "stop", "model": "m-1", "server": "fp"},
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": None},
        "cost": 0.25,
        "seconds": 1.5,
        "time": "2026-01-01T00:00:00Z",
    }
    return json.dumps({**call, **fields}).encode() + b"\n"


def recorded(folder: Path, *lines: bytes, **record: Any) -> str:
    """A run directory; returns the spec that replays it."""
    run = folder / "first-run"
    run.mkdir()
    (run / "calls.jsonl").write_bytes(b"".join(lines))
    if record:
        (run / "run.json").write_text(json.dumps(record))
    return f"replay:{run}"


def test_an_empty_answer_that_was_asked_for_again_is_no_reply(tmp_path: Path) -> None:
    thought = {"text": "look", "reasoning": "Hm.", "reasoning_form": "reasoning"}
    usage = {"prompt_tokens": 10, "completion_tokens": 9, "cached_tokens": None, "reasoning_tokens": 7}
    spec = recorded(tmp_path, line(ASKED, "", reply=thought, usage=usage), line(ASKED, "", lost=True))
    reply = open_model(spec).complete(ASKED)
    assert (reply.text, reply.reasoning, reply.usage.reasoning_tokens) == ("look", "Hm.", 7)


def test_a_request_gets_the_reply_that_it_got(tmp_path: Path) -> None:
    model = open_model(recorded(tmp_path, line(ASKED, "go to desk 1")))
    assert model.check() == []
    assert model.complete(ASKED) == Reply("go to desk 1", Usage(10, 2, None), "stop", 0.25, 1.5, "m-1", "fp")
    assert (model.name, model.simulated) == ("replay:first-run", False)
    assert model.settings() == {
        "kind": "replay",
        "run": "first-run",
        "replies": 1,
        "recorded_models": ["m-1"],
        "changed_parameters": {},
    }


def test_what_an_endpoint_left_out_of_the_recorded_run_is_left_out_of_its_replay(tmp_path: Path) -> None:
    models = {
        "openai/m-1": {"changed_parameters": {"temperature": "left out"}},
        "simulated": {"simulated": True},
    }
    model = open_model(recorded(tmp_path, line(ASKED, "go to desk 1"), models=models))
    assert model.settings()["changed_parameters"] == {"temperature": "left out"}


def test_samples_of_one_prompt_are_told_apart_by_their_seeds(tmp_path: Path) -> None:
    samples = [replace(ASKED, seed=seed) for seed in range(5)]
    model = open_model(recorded(tmp_path, *(line(asked, f"sample {asked.seed}") for asked in samples)))
    assert [model.complete(asked).text for asked in reversed(samples)] == [
        f"sample {n}" for n in (4, 3, 2, 1, 0)
    ]


def test_of_two_replies_to_one_request_the_later_counts(tmp_path: Path) -> None:
    model = open_model(recorded(tmp_path, line(ASKED, "first"), line(ASKED, "second", attempt="a2")))
    assert [model.complete(ASKED).text for _ in range(2)] == ["second", "second"]


def test_what_was_never_asked_is_an_error_that_says_so(tmp_path: Path) -> None:
    model = open_model(recorded(tmp_path, line(ASKED, "hi")))
    with pytest.raises(
        ModelError, match=r"replay:first-run has no reply to this request .* seed 2"
    ) as caught:
        model.complete(replace(ASKED, seed=2))
    assert caught.value.kind == "not_recorded"


def test_a_torn_last_line_is_no_loss(tmp_path: Path) -> None:
    model = open_model(recorded(tmp_path, line(ASKED, "hi"), line(replace(ASKED, seed=2), "lost")[:-30]))
    assert model.check() == []
    assert model.complete(ASKED).text == "hi"


def test_other_unreadable_lines_are_counted(tmp_path: Path) -> None:
    odd = [b'{"half": \n', b"\n", b"[]\n", b'{"request": "x", "reply": null}\n', b"\xff\xfe\n"]
    model = open_model(recorded(tmp_path, *odd, line(ASKED, "hi")))
    (warning,) = model.check()
    assert "4 unreadable lines" in warning
    assert model.complete(ASKED).text == "hi"


def test_fields_of_later_versions_and_unknown_costs_are_no_trouble(tmp_path: Path) -> None:
    model = open_model(recorded(tmp_path, line(ASKED, "hi", cost=None, usage={}, weather="fine")))
    reply = model.complete(ASKED)
    assert (reply.cost, reply.usage) == (None, Usage())


@pytest.mark.parametrize("simulated", [True, False])
def test_a_replayed_run_is_what_the_run_was(tmp_path: Path, simulated: bool) -> None:
    assert open_model(recorded(tmp_path, line(ASKED, "hi"), simulated=simulated)).simulated is simulated


def test_a_run_without_replies_is_refused_before_the_first_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no replies"):
        open_model(recorded(tmp_path)).check()


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such run directory"):
        open_model(f"replay:{tmp_path}/nope")
    with pytest.raises(UsageError, match=r"no calls\.jsonl"):
        open_model(f"replay:{tmp_path}")
    with pytest.raises(UsageError, match="no such run directory"):
        open_model("replay:")
