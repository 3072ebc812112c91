"""Whatever an endpoint answers is a reply or one documented error, on one line, with a text that can be written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from broken import SOME_BYTES, TEXTS, VALUES, examples, spoilt, torn
from growth import grows_linearly
from hypothesis import example, given
from hypothesis import strategies as st

from reflex_bench.core.errors import ModelError, ReflexError
from reflex_bench.models.base import Reply
from reflex_bench.models.openai.errors.faults import error_message, one_line, redact, rejection, unsupported
from reflex_bench.models.openai.wire import model_names, read_reply

CALL = {"id": "c", "type": "function", "function": {"name": "Search", "arguments": '{"entity": "x"}'}}
CHAT = {
    "choices": [
        {"message": {"role": "assistant", "content": "go", "tool_calls": [CALL]}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 2}},
    "model": "m",
    "system_fingerprint": "f",
}
TEXT = {"choices": [{"text": " go", "finish_reason": "length"}], "usage": CHAT["usage"]}
RESPONSE = {
    "object": "response",
    "status": "completed",
    "output": [
        {"type": "reasoning", "id": "r", "summary": [{"text": "hm"}], "encrypted_content": "e"},
        {"type": "message", "content": [{"type": "output_text", "text": "go"}]},
        {"type": "function_call", "call_id": "c", "name": "Search", "arguments": "{}"},
    ],
    "usage": {"input_tokens": 5, "output_tokens": 1},
}
ERROR = {"error": {"message": "max_tokens is not supported", "type": "t", "code": "c", "param": "max_tokens"}}
BODIES = st.one_of(
    SOME_BYTES,
    TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")),
    VALUES.map(lambda value: json.dumps(value).encode()),
    *(spoilt(body) for body in (CHAT, TEXT, RESPONSE, ERROR)),
    torn(json.dumps(CHAT).encode()),
)


def said(content: bytes) -> list[Reply | ModelError]:
    answers: list[Reply | ModelError] = []
    for api in ("chat", "completions", "responses"):
        try:
            answers.append(read_reply(content, api, ("\n", ">")))
        except ModelError as error:
            answers.append(error)
    return answers


@examples(400)
@given(BODIES)
@example(b'{"choices": [{"message": {"content": "", "tool_calls": 7}}]}')
@example(b'{"choices": [{"message": {"content": "", "tool_calls": {"function": 1}}}]}')
@example(
    json.dumps(
        {"choices": [{"message": {"tool_calls": [{"function": {"name": "x", "arguments": "\ud800"}}]}}]}
    ).encode()
)
def test_any_body_is_a_reply_or_a_model_error(content: bytes) -> None:
    for answer in said(content):
        if isinstance(answer, ModelError):
            assert str(answer).isprintable()
            assert answer.kind in ("malformed", "server", "content_filter")
            continue
        texts = (answer.text, answer.model, answer.server, answer.finish)
        assert all(
            text.encode() is not None for text in (*texts, *(c.name + c.arguments for c in answer.calls))
        )
        assert "\n" not in answer.text
        counts = (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.cached_tokens)
        assert all(count is None or count >= 0 for count in counts)


@pytest.mark.parametrize(
    ("sent", "read_as"), [({"entity": "x"}, {"entity": "x"}), ('{"entity": "x"}', {"entity": "x"})]
)
def test_arguments_that_a_server_sends_as_an_object_are_read_as_well(sent: Any, read_as: Any) -> None:
    body = {"choices": [{"message": {"tool_calls": [{"function": {"name": "Search", "arguments": sent}}]}}]}
    (call,) = read_reply(json.dumps(body).encode(), "chat", ()).calls
    assert json.loads(call.arguments) == read_as


@examples(200)
@given(BODIES, st.sampled_from([400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503]))
def test_any_error_body_becomes_one_printable_line_of_bounded_length(content: bytes, status: int) -> None:
    complaint = error_message(content)
    error = rejection(status, complaint, "http://h/v1", "m", has_key=True)
    assert isinstance(error, ReflexError)
    assert str(error).isprintable()
    assert len(str(error)) < 1000
    found = unsupported(complaint, ("max_tokens", "stop"))
    assert found is None or found[0] in ("max_tokens", "stop")


@examples(100)
@given(TEXTS, TEXTS)
def test_a_secret_is_found_in_any_text(before: str, after: str) -> None:
    assert "sekret-1" not in redact(f"{before}sekret-1{after}", ("sekret-1",))


@examples(100)
@given(BODIES)
def test_any_list_of_models_is_a_set_of_names(content: bytes) -> None:
    assert all(isinstance(name, str) for name in model_names(content))


@pytest.mark.parametrize(
    "piece", ["[", '{"a":', '"', "\\u", "sk-", "bearer ", "<title>", "<", " ", "\x00", "context "]
)
def test_a_long_body_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def whole(length: int) -> None:
        text = piece * (length // len(piece))
        said(text.encode())
        error_message(text.encode())
        redact(one_line(text) + text, ("secret",))

    assert grows_linearly(whole, 10_000)
