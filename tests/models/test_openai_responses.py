"""The Responses API: what is posted, what is made of its answers, and how reasoning goes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from loopback import Answer, Loopback, chat, error, response, said

from reflex_bench.core.errors import ContextOverflow, ModelError, RunStopped
from reflex_bench.models.base import Message, Request, ToolCall
from reflex_bench.models.openai.model import OpenAIModel

Connect = Callable[..., OpenAIModel]

TALK = (
    Message("system", "Play."),
    Message("user", "a"),
    Message("assistant", "look"),
    Message("user", "b"),
)
SEARCH: dict[str, Any] = {
    "type": "function",
    "function": {"name": "Search", "description": "Finds.", "parameters": {"type": "object"}},
}
SCHEMA: dict[str, Any] = {"name": "reply", "schema": {"type": "object"}, "strict": True}
THOUGHT: dict[str, Any] = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
CALL: dict[str, Any] = {
    "id": "fc_1",
    "type": "function_call",
    "status": "completed",
    "call_id": "call_7",
    "name": "Search",
    "arguments": '{"entity": "Kiel"}',
}


@pytest.fixture
def model(connect: Connect) -> OpenAIModel:
    return connect(api="responses")


def test_a_request_is_posted_in_the_shape_of_this_api(loopback: Loopback, model: OpenAIModel) -> None:
    more = {
        "reasoning_effort": "low",
        "reasoning": {"summary": "auto"},
        "response_format": {"type": "json_schema", "json_schema": SCHEMA},
    }
    reply = model.complete(Request(TALK, 0.5, 64, ("\n",), seed=7, tools=(SEARCH,), more=more))
    assert (reply.text, reply.finish, reply.model) == ("ok", "stop", "loopback-2026-01-01")
    assert loopback.posts[0].path == "/v1/responses"
    assert loopback.posts[0].body == {
        "model": "loopback",
        "instructions": "Play.",
        "input": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "look"},
            {"role": "user", "content": "b"},
        ],
        "temperature": 0.5,
        "max_output_tokens": 64,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "tools": [
            {
                "type": "function",
                "name": "Search",
                "description": "Finds.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
        "reasoning": {"effort": "low", "summary": "auto"},
        "text": {"format": {"type": "json_schema", **SCHEMA}},
    }


def test_it_is_said_that_seed_and_stops_are_not_sent_and_the_stops_hold_all_the_same(
    loopback: Loopback, model: OpenAIModel
) -> None:
    loopback.play(response(said("look\nObservation: a lamp")))
    reply = model.complete(Request(TALK, stop=("\nObservation",), seed=3))
    assert (reply.text, reply.finish, reply.cut_here) == ("look", "stop", True)
    assert model.settings()["changed_parameters"] == {"seed": "left out", "stop": "left out"}


def test_usage_is_read_with_what_was_cached_and_what_was_reasoning(
    loopback: Loopback, model: OpenAIModel
) -> None:
    counts = {
        "input_tokens": 40,
        "input_tokens_details": {"cached_tokens": 32},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 12},
        "total_tokens": 60,
    }
    loopback.play(response(THOUGHT, said("look"), usage=counts))
    usage = model.complete(Request(TALK)).usage
    assert (usage.prompt_tokens, usage.cached_tokens) == (40, 32)
    assert (usage.completion_tokens, usage.reasoning_tokens, usage.reasoning_estimated) == (20, 12, False)


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ({"summary": [{"type": "summary_text", "text": "I go."}]}, "I go."),
        (
            {"content": [{"type": "reasoning_text", "text": "I go."}], "summary": [{"text": "Going."}]},
            "I go.",
        ),
        ({"summary": [{"text": "One."}, {"text": "Two."}]}, "One.\n\nTwo."),
    ],
)
def test_reasoning_that_can_be_read_is_kept_apart_from_the_answer(
    loopback: Loopback, model: OpenAIModel, item: dict[str, object], shown: str
) -> None:
    loopback.play(response({"type": "reasoning", "id": "rs_1", **item}, said("look")))
    reply = model.complete(Request(TALK))
    assert (reply.text, reply.reasoning, reply.reasoning_form) == ("look", shown, "responses")


def test_reasoning_goes_back_as_it_came_right_before_the_turn_that_it_led_to(
    loopback: Loopback, model: OpenAIModel
) -> None:
    loopback.play(response({**THOUGHT, "status": None}, said("look\n")))
    reply = model.complete(Request(TALK))
    assert reply.reasoning == ""
    turn = Message("assistant", "look", reply.reasoning_data, reply.reasoning_form)
    model.complete(Request((*TALK, turn, Message("user", "c"))))
    assert loopback.posts[1].body["input"][3:] == [
        THOUGHT,
        {"role": "assistant", "content": "look"},
        {"role": "user", "content": "c"},
    ]


def test_reasoning_of_which_only_a_summary_came_is_not_sent_to_an_endpoint_that_stores_nothing(
    loopback: Loopback, model: OpenAIModel
) -> None:
    loopback.play(response({"type": "reasoning", "id": "rs_1", "summary": [{"text": "I go."}]}, said("look")))
    reply = model.complete(Request(TALK))
    turn = Message("assistant", "look", reply.reasoning_data or reply.reasoning, reply.reasoning_form)
    model.complete(Request((*TALK, turn, Message("user", "c"))))
    assert loopback.posts[1].body["input"][3:] == [
        {"role": "assistant", "content": "look"},
        {"role": "user", "content": "c"},
    ]


def test_between_tool_calls_reasoning_goes_back_with_its_call_and_the_output(
    loopback: Loopback, model: OpenAIModel
) -> None:
    second = {**CALL, "call_id": "call_8"}
    loopback.play(response(THOUGHT, said("I search."), CALL, second))
    reply = model.complete(Request(TALK, tools=(SEARCH,)))
    assert (reply.text, reply.finish) == ("I search.", "tool_calls")
    assert [(call.name, call.arguments) for call in reply.calls] == [("Search", '{"entity": "Kiel"}')] * 2
    turn = Message("assistant", "Search[Kiel]", reply.reasoning_data, reply.reasoning_form)
    model.complete(Request((*TALK, turn, Message("user", "A city.")), tools=(SEARCH,)))
    assert loopback.posts[1].body["input"][3:] == [
        THOUGHT,
        {"role": "assistant", "content": "I search."},
        {
            "type": "function_call",
            "call_id": "call_7",
            "name": "Search",
            "arguments": '{"entity": "Kiel"}',
        },
        {"type": "function_call_output", "call_id": "call_7", "output": "A city."},
    ]
    # A call without its output is refused by such endpoints.
    model.complete(Request((*TALK, turn), tools=(SEARCH,)))
    assert loopback.posts[2].body["input"][3:] == [THOUGHT, {"role": "assistant", "content": "Search[Kiel]"}]


def test_calls_and_outputs_of_a_conversation_are_items_with_and_without_reasoning(
    loopback: Loopback, model: OpenAIModel
) -> None:
    made = ToolCall("Search", '{"entity": "Kiel"}')
    turns = (Message("assistant", "", call=made, call_id="c1"), Message("tool", "A city.", call_id="c1"))
    model.complete(Request((*TALK, *turns), tools=(SEARCH,)))
    called = {"type": "function_call", "name": "Search", "arguments": '{"entity": "Kiel"}'}
    assert loopback.posts[0].body["input"][3:] == [
        {**called, "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "A city."},
    ]
    # With its reasoning, the call goes back under the name that the endpoint gave it.
    kept = json.dumps([THOUGHT, {**called, "call_id": "call_7"}])
    thought = replace(turns[0], reasoning=kept, form="responses")
    model.complete(Request((*TALK, thought, turns[1]), tools=(SEARCH,)))
    assert loopback.posts[1].body["input"][3:] == [
        THOUGHT,
        {**called, "call_id": "call_7"},
        {"type": "function_call_output", "call_id": "call_7", "output": "A city."},
    ]


def test_a_call_that_was_cut_off_is_not_sent_back(loopback: Loopback, model: OpenAIModel) -> None:
    loopback.play(response(THOUGHT, {**CALL, "arguments": '{"enti'}))
    reply = model.complete(Request(TALK))
    assert json.loads(reply.reasoning_data) == [THOUGHT]


@pytest.mark.parametrize(("reason", "finish"), [("max_output_tokens", "length"), (None, "length")])
def test_an_incomplete_response_ended_for_want_of_room(
    loopback: Loopback, model: OpenAIModel, reason: str | None, finish: str
) -> None:
    details = {"reason": reason} if reason else None
    loopback.play(response(THOUGHT, status="incomplete", incomplete_details=details))
    reply = model.complete(Request(TALK))
    assert (reply.text, reply.finish, len(loopback.posts)) == ("", finish, 1)


def refused(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": text}]}


@pytest.mark.parametrize(
    "answer",
    [
        response(said("I was"), status="incomplete", incomplete_details={"reason": "content_filter"}),
        response(refused("I can't help with that.")),
        response(status="failed", error={"code": "invalid_prompt", "message": "Flagged by our policy."}),
    ],
)
def test_a_withheld_reply_is_a_content_filter(loopback: Loopback, model: OpenAIModel, answer: Answer) -> None:
    loopback.play(answer)
    with pytest.raises(ModelError) as caught:
        model.complete(Request(TALK))
    assert (caught.value.kind, len(loopback.posts)) == ("content_filter", 1)


@pytest.mark.parametrize(
    "answer",
    [
        response(status="failed", error={"code": "server_error", "message": "Try again."}),
        response(status="failed", error={"code": "rate_limit_exceeded", "message": "Slow down."}),
        response(said("half of"), status="in_progress"),
        response(said("half of"), status="cancelled"),
        response(),
    ],
)
def test_what_may_be_better_next_time_is_asked_again(
    loopback: Loopback, model: OpenAIModel, answer: Answer
) -> None:
    loopback.play(answer)
    assert (model.complete(Request(TALK)).text, len(loopback.posts)) == ("ok", 2)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(401, "Incorrect API key provided.", code="invalid_api_key"), RunStopped),
        (error(400, "Your input exceeds the window.", code="context_length_exceeded"), ContextOverflow),
        (
            response(status="failed", error={"code": "insufficient_quota", "message": "No quota is left."}),
            RunStopped,
        ),
    ],
)
def test_errors_mean_what_they_mean_in_the_chat_api(
    loopback: Loopback, model: OpenAIModel, answer: Answer, expected: type[Exception]
) -> None:
    loopback.play(answer)
    with pytest.raises(expected):
        model.complete(Request(TALK))


@pytest.mark.parametrize(
    ("refusal", "gone", "more"),
    [
        (
            error(400, "Encrypted content is not supported with this model."),
            ["include"],
            {},
        ),
        (
            error(400, "Unsupported parameter: 'temperature' is not supported with this model."),
            ["temperature"],
            {},
        ),
        (
            error(400, "Unsupported parameter: 'reasoning.effort'.", param="reasoning.effort"),
            ["reasoning"],
            {"reasoning_effort": "low"},
        ),
        (
            error(400, "Unsupported parameter: 'text.format' is not supported with this model.", param="text.format"),
            ["text"],
            {"response_format": {"type": "json_object"}},
        ),
        (error(422, "Unknown field: store"), ["store"], {}),
    ],
)  # fmt: skip
def test_what_an_endpoint_does_not_take_is_left_out(
    loopback: Loopback, model: OpenAIModel, refusal: Answer, gone: list[str], more: dict[str, Any]
) -> None:
    loopback.play(refusal)
    model.complete(Request(TALK, more=more))
    first, second = (call.body for call in loopback.posts)
    assert [name for name in first if name not in second] == gone
    assert [name for name in second if first.get(name) != second[name]] == []


def test_too_small_a_limit_is_raised_to_the_smallest_that_is_taken(
    loopback: Loopback, model: OpenAIModel
) -> None:
    told = (
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 8 instead."
    )
    loopback.play(error(400, told, param="max_output_tokens", code="integer_below_min_value"))
    model.complete(Request(TALK, max_tokens=8))
    assert [call.body["max_output_tokens"] for call in loopback.posts] == [8, 16]


def test_a_resumed_run_knows_what_is_left_out(
    loopback: Loopback, connect: Connect, model: OpenAIModel
) -> None:
    loopback.play(error(400, "Encrypted content is not supported with this model.", param="include"))
    model.complete(Request(TALK))
    resumed = connect(api="responses")
    resumed.recall(json.loads(json.dumps(model.settings())))
    resumed.complete(Request(TALK))
    assert loopback.posts[2].body == loopback.posts[1].body
    assert resumed.settings()["changed_parameters"] == {
        "seed": "left out",
        "stop": "left out",
        "include": "left out",
    }


def test_a_streamed_answer_is_read_from_its_last_event(loopback: Loopback, model: OpenAIModel) -> None:
    whole = json.loads(response(THOUGHT, said("look")).body)
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {"type": "response.output_text.delta", "delta": "lo"},
        {"type": "response.completed", "response": whole},
    ]
    body = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    streamed = Answer(body.encode(), headers={"Content-Type": "text/event-stream"})
    torn = streamed.but(body=body[: body.index("event: response.completed")].encode())
    loopback.play(error(400, "This model only supports streaming."), torn, streamed)
    reply = model.complete(Request(TALK))
    assert (reply.text, reply.retries) == ("look", 1)
    assert loopback.posts[2].body["stream"] is True
    assert "stream_options" not in loopback.posts[2].body


def test_an_error_in_a_stream_is_that_error(loopback: Loopback, model: OpenAIModel) -> None:
    event = {"type": "error", "code": "insufficient_quota", "message": "No quota is left.", "param": None}
    loopback.play(Answer(f"event: error\ndata: {json.dumps(event)}\n\n".encode()))
    with pytest.raises(RunStopped, match="quota"):
        model.complete(Request(TALK))


def test_a_chat_api_that_answers_so_is_named_with_the_option(loopback: Loopback, connect: Connect) -> None:
    loopback.play(response(said("look")))
    with pytest.raises(RunStopped, match="--api responses"):
        connect().complete(Request(TALK))


def test_an_answer_in_the_form_of_the_chat_api_is_read_all_the_same(
    loopback: Loopback, model: OpenAIModel
) -> None:
    loopback.play(chat("look"))
    assert model.complete(Request(TALK)).text == "look"


def test_the_key_is_taken_out_of_everything_that_is_kept(loopback: Loopback, connect: Connect) -> None:
    key = "hush-hush-hush"
    loopback.play(response({**THOUGHT, "encrypted_content": f"x{key}"}, said(f"look {key}")))
    reply = connect(key=key, api="responses").complete(Request(TALK))
    assert reply.text == "look [key]"
    assert key not in reply.reasoning_data
