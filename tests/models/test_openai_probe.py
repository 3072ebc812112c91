"""What is told of an endpoint is what it showed: yes, no, or not told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from loopback import MODEL, Answer, Call, Loopback, as_json, chat, completion, error, response, said, usage

from reflex_bench.core.errors import RunStopped
from reflex_bench.models.openai.model import OpenAIModel
from reflex_bench.models.openai.probe import probe

Connect = Callable[..., OpenAIModel]

COUNTED = "one, two, three, four, "
SATURN = '{"planet_name": "Saturn", "moon_count": 274}'
CALLED: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "temperature_in", "arguments": '{"city": "Oslo"}'},
}


def able(call: Call) -> Answer:
    """An endpoint of the chat API that can do everything, and tells of it."""
    if "tools" in call.body:
        return chat(None, "tool_calls", tool_calls=[CALLED])
    if "response_format" in call.body:
        return chat(SATURN)
    tokens = {**usage(40, 9, cached=32), "completion_tokens_details": {"reasoning_tokens": 4}}
    return chat(COUNTED, tokens=tokens, reasoning_content="I count.")


def poor(call: Call) -> Answer:
    """One that takes everything, heeds nothing and tells nothing."""
    return chat("one, two, three, four, five, six", tokens={})


def found(model: OpenAIModel, **more: Any) -> dict[str, tuple[str, str]]:
    return {each.what: (each.can, each.said) for each in probe(model, more)}


def test_an_endpoint_that_can_do_everything(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = able
    loopback.listing = as_json(
        {"data": [{"id": "other", "max_model_len": 5}, {"id": MODEL, "max_model_len": 32768}]}
    )
    assert found(connect(), top_p=0.9) == {
        "system role": ("yes", ""),
        "stop": ("yes", ""),
        "seed": ("yes", "taken; whether it decides the reply, an endpoint does not tell"),
        "usage": ("yes", "40 + 9 tokens"),
        "cached tokens": ("yes", "32 of 40"),
        "reasoning": ("yes", "in reasoning_content"),
        "tools": ("yes", ""),
        "structured output": ("yes", "the reply keeps to the JSON schema"),
        "context": ("yes", "32,768 tokens, as max_model_len in its list of models says"),
    }
    assert [call.path for call in loopback.posts] == ["/v1/chat/completions"] * 3
    assert [call.body["top_p"] for call in loopback.posts] == [0.9] * 3


def test_an_endpoint_that_takes_everything_and_heeds_nothing(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = poor
    told = found(connect())
    assert {what: can for what, (can, _) in told.items()} == {
        "system role": "yes",
        "stop": "no",
        "seed": "yes",
        "usage": "not told",
        "cached tokens": "not told",
        "reasoning": "not told",
        "tools": "no",
        "structured output": "no",
        "context": "not told",
    }
    assert told["stop"][1] == "taken and not heeded; replies are cut here instead"
    assert told["tools"][1] == "the request was taken, and no call came"


def picky(call: Call) -> Answer:
    """One that refuses the system role, stops, seeds, tools and schemas."""
    body = call.body
    if any(turn["role"] == "system" for turn in body["messages"]):
        return error(400, "System role not supported")
    for name in ("stop", "seed", "tools", "response_format"):
        if name in body:
            return error(400, f"Unsupported parameter: '{name}'", param=name)
    return chat("one, two, three, four, five, six", tokens=usage(40, 9))


def test_what_an_endpoint_refuses_it_cannot_do(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = picky
    told = found(connect())
    assert told["system role"] == ("no", "merged into the first user message")
    assert told["stop"] == ("no", "left out; replies are cut here instead")
    assert told["seed"] == ("no", "left out: replies cannot be asked for by seed")
    assert told["tools"] == ("no", "refused")
    assert told["structured output"] == ("no", "refused")
    assert told["usage"] == ("yes", "40 + 9 tokens")


@pytest.mark.parametrize(
    ("answer", "can"),
    [
        (chat("1, 2, 3, 4"), "not told"),
        (chat(COUNTED, "length"), "not told"),
        (chat(COUNTED), "yes"),
        (chat(COUNTED + "five"), "no"),
    ],
)
def test_a_stop_is_heeded_only_where_the_reply_ends_right_before_it(
    loopback: Loopback, connect: Connect, answer: Answer, can: str
) -> None:
    loopback.play(answer)
    assert found(connect())["stop"][0] == can


@pytest.mark.parametrize(
    ("text", "finish", "can"),
    [
        (SATURN, "stop", "yes"),
        (f"```json\n{SATURN}\n```", "stop", "no"),
        ('{"planet_name": "Saturn", "moon_count": "many"}', "stop", "no"),
        ('{"planet": "Saturn", "moons": 274}', "stop", "no"),
        ("[]", "stop", "no"),
        ('{"planet_name": "Sat', "length", "not told"),
    ],
)
def test_structured_output_is_a_reply_that_keeps_to_the_schema(
    loopback: Loopback, connect: Connect, text: str, finish: str, can: str
) -> None:
    loopback.play(chat(COUNTED), chat("It is warm."), chat(text, finish))
    assert found(connect())["structured output"][0] == can


def test_a_call_of_another_form_is_no_tool_call(loopback: Loopback, connect: Connect) -> None:
    strange = {"function": {"name": "temperature_in", "arguments": '{"town": "Oslo"}'}}
    loopback.play(chat(COUNTED), chat(None, tool_calls=[strange]), chat(SATURN))
    assert found(connect())["tools"][0] == "no"


def test_an_error_that_tools_or_a_schema_cause_is_told_and_ends_nothing(
    loopback: Loopback, connect: Connect
) -> None:
    loopback.play(chat(COUNTED), error(500, "no tool parser"), error(500, "no grammar"))
    told = found(connect(max_retries=0))
    assert told["tools"][0] == told["structured output"][0] == "no"
    assert "no tool parser" in told["tools"][1]
    assert "no grammar" in told["structured output"][1]
    assert told["context"] == ("not told", "")


def test_a_first_call_that_cannot_succeed_ends_it(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = lambda call: error(404, "The model does not exist", code="model_not_found")
    with pytest.raises(RunStopped, match="has no model"):
        found(connect())


@pytest.mark.parametrize(
    ("message", "tokens", "expected"),
    [
        ({}, None, ("not told", "")),
        ({}, 0, ("no", "none came")),
        ({}, 7, ("yes", "7 tokens, which are not shown")),
        ({"reasoning": "I count."}, None, ("yes", "in reasoning")),
        ({"content": f"<think>I count.</think>{COUNTED}"}, None, ("yes", "with marks in the text")),
    ],
)
def test_reasoning_is_told_with_where_it_stands(
    loopback: Loopback,
    connect: Connect,
    message: dict[str, Any],
    tokens: int | None,
    expected: tuple[str, str],
) -> None:
    details = {} if tokens is None else {"completion_tokens_details": {"reasoning_tokens": tokens}}
    answer = json.loads(chat(COUNTED, tokens={**usage(40, 9), **details}).body)
    answer["choices"][0]["message"] |= message
    loopback.play(as_json(answer))
    assert found(connect())["reasoning"] == expected


def test_the_other_apis_are_told_as_they_are(loopback: Loopback, connect: Connect) -> None:
    call = {"type": "function_call", "call_id": "c", **CALLED["function"]}
    loopback.play(response(said("one, two, three, four, five")), response(call), response(said(SATURN)))
    told = found(connect(api="responses"))
    assert told["stop"] == ("no", "left out; replies are cut here instead")
    assert told["seed"][0] == "no"
    assert (told["tools"][0], told["structured output"][0], told["system role"][0]) == ("yes", "yes", "yes")
    loopback.play(completion(f" {COUNTED}"), completion(" warm"), completion(" Saturn"))
    told = found(connect(api="completions"))
    assert (told["system role"][0], told["tools"][0], told["stop"][0]) == ("no", "no", "yes")


def serving(paths: dict[str, object]) -> Callable[[Call], Answer]:
    """Answers by path, and 404 elsewhere."""
    return lambda call: as_json(paths[call.path]) if call.path in paths else error(404, "no such path")


@pytest.mark.parametrize(
    ("paths", "length", "source"),
    [
        ({"/v1/models": {"data": [{"id": MODEL, "context_length": 131072}]}}, 131072, "context_length"),
        ({"/v1/models": {"data": [{"id": MODEL, "context_window": 8192}]}}, 8192, "context_window"),
        (
            {"/v1/models": {"data": [{"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}]}},
            None,
            "",
        ),
        ({"/v1/models": {"data": [{"id": "the-file.gguf", "max_model_len": 4096}]}}, 4096, "max_model_len"),
        (
            {
                "/props": {"default_generation_settings": {"n_ctx": 2048}, "total_slots": 1},
                "/v1/models": {"data": [{"id": MODEL, "max_model_len": 32768}]},
            },
            2048,
            "/props",
        ),
        (
            {
                "/v1/models": {"data": [{"id": MODEL}]},
                "/api/show": {"model_info": {"general.architecture": "qwen2", "qwen2.context_length": 40960}},
            },
            40960,
            "OLLAMA_CONTEXT_LENGTH",
        ),
        ({"/v1/models": {"data": [{"id": MODEL, "max_model_len": True}]}}, None, ""),
        ({"/v1/models": {"data": "none"}, "/props": [], "/api/show": {"model_info": []}}, None, ""),
        ({}, None, ""),
    ],
)
def test_the_context_is_told_by_whoever_knows_it(
    loopback: Loopback, connect: Connect, paths: dict[str, object], length: int | None, source: str
) -> None:
    loopback._answer_to = serving(paths)  # type: ignore[method-assign]
    told, where = connect().context_length
    assert told == length
    assert (source in where) if source else where == ""
