"""A server that misbehaves in every way known, and what each becomes: a retry, an error of a kind, or the run's end."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from clock import Clock
from loopback import Answer, Call, Loopback, as_json, chat, completion, error, page

from reflex_bench.core.errors import ContextOverflow, ModelError, RunStopped
from reflex_bench.models.base import Message, Request
from reflex_bench.models.openai.errors.faults import Complaint, unsupported
from reflex_bench.models.openai.model import OpenAIModel

pytestmark = pytest.mark.slow

Connect = Callable[..., OpenAIModel]

SOON = {"retry-after-ms": "20"}
ASKED = Request((Message("user", "hello"),), seed=3, stop=("\n",))


def failing(model: OpenAIModel, kind: str) -> str:
    """The message of the `ModelError` that a call ends in."""
    with pytest.raises(ModelError) as caught:
        model.complete(ASKED)
    assert caught.value.kind == kind
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("status", [429, 500, 502, 503, 408])
def test_a_passing_fault_is_asked_again(loopback: Loopback, connect: Connect, status: int) -> None:
    loopback.play(error(status, "later", SOON), error(status, "later", SOON), chat("at last"))
    assert connect().complete(ASKED).text == "at last"
    assert len(loopback.posts) == 3
    assert loopback.posts[0].body == loopback.posts[2].body


def test_the_pause_that_the_server_asks_for_is_kept(loopback: Loopback, connect: Connect) -> None:
    loopback.play(error(429, "later", {"Retry-After": "0.3"}), chat("now"))
    assert connect().complete(ASKED).seconds >= 0.3


def test_without_a_pause_asked_for_the_client_waits_by_itself_twice_as_long_each_time(
    loopback: Loopback, connect: Connect, clock: Clock
) -> None:
    loopback.play(error(429, "later"), error(429, "later"), error(503, "later"), chat("now"))
    assert connect(stopping=clock, patience=60.0).complete(ASKED).text == "now"
    # Half a second, doubled with every further refusal, and shortened by up to half at random; faults count apart.
    assert [
        longest / 2 <= pause <= longest for pause, longest in zip(clock.pauses, (0.5, 1.0, 0.5), strict=True)
    ] == [True] * 3


RATE_LIMIT_INSIDE = as_json(
    {
        "id": None,
        "choices": None,
        "error": {
            "message": "Provider returned error",
            "code": 429,
            "metadata": {"raw": "Too Many Requests", "provider_name": "P"},
        },
    }
)


def test_a_rate_limit_inside_a_successful_answer_is_waited_for_as_any_other(
    loopback: Loopback, connect: Connect, clock: Clock
) -> None:
    loopback.play(*[RATE_LIMIT_INSIDE.but(headers=SOON)] * 10, chat("at last"))
    reply = connect(max_retries=0, stopping=clock).complete(ASKED)
    assert (reply.text, reply.retries, len(loopback.posts)) == ("at last", 10, 11)
    loopback.answer = lambda call: RATE_LIMIT_INSIDE.but(headers={"Retry-After": "0.2"})
    said = failing(connect(patience=0.5, stopping=clock), "rate_limit")
    assert "its rate limit (200: Provider returned error: Too Many Requests)" in said


def test_a_rate_limit_is_waited_for_beyond_the_retries_and_no_longer_than_the_patience(
    loopback: Loopback, connect: Connect, clock: Clock
) -> None:
    loopback.play(*[error(429, "later", SOON)] * 10, chat("at last"))
    reply = connect(max_retries=0, stopping=clock).complete(ASKED)
    assert (reply.text, reply.retries, len(loopback.posts)) == ("at last", 10, 11)
    loopback.answer = lambda call: error(429, "later", {"Retry-After": "0.2"})
    clock.pauses.clear()
    hasty = connect(patience=0.5, stopping=clock)
    assert "keeps refusing for its rate limit (429: later)" in failing(hasty, "rate_limit")
    assert clock.pauses == [0.2, 0.2]
    assert len(loopback.posts) == 11 + 3, "at 0, 0.2 and 0.4 seconds"


def test_a_pause_beyond_the_patience_is_not_waited_for(
    loopback: Loopback, connect: Connect, clock: Clock
) -> None:
    loopback.answer = lambda call: error(429, "tomorrow", {"Retry-After": "86400"})
    failing(connect(stopping=clock), "rate_limit")
    assert (clock.pauses, len(loopback.posts)) == ([], 1)


def test_a_date_to_wait_for_is_measured_by_the_clock_of_the_server(
    loopback: Loopback, connect: Connect, clock: Clock
) -> None:
    dates = {"Date": "Tue, 01 Jan 2030 00:00:00 GMT", "Retry-After": "Tue, 01 Jan 2030 00:00:01 GMT"}
    passed = {**dates, "Retry-After": "Mon, 31 Dec 1990 00:00:00 GMT"}
    for headers in (dates, passed):
        loopback.play(error(503, "later", headers), chat("now"))
        connect(stopping=clock).complete(ASKED)
    assert clock.pauses == [1.0, 0.0], "a date that has passed asks for no pause"


@pytest.mark.parametrize("asked", ["soon", "", "nan", "-5", "Tue, 99 Foo 2030", "1e999"])
def test_a_pause_that_makes_no_sense_is_none(
    loopback: Loopback, connect: Connect, clock: Clock, asked: str
) -> None:
    loopback.play(error(503, "later", {"Retry-After": asked}), chat("now"))
    connect(stopping=clock).complete(ASKED)
    (pause,) = clock.pauses
    assert pause <= 0.5


def test_waiting_ends_when_the_run_is_being_stopped(loopback: Loopback, connect: Connect) -> None:
    stopping = threading.Event()
    loopback.answer = lambda call: error(429, "later", {"Retry-After": "60"})
    threading.Timer(0.3, stopping.set).start()
    started = time.monotonic()
    with pytest.raises(RunStopped):
        connect(patience=600.0, stopping=stopping).complete(ASKED)
    assert time.monotonic() - started < 5.0


@pytest.mark.parametrize(
    ("status", "kind"),
    [(500, "server"), (502, "server"), (503, "server"), (409, "server"), (408, "timeout")],
)
def test_a_lasting_fault_is_an_error_after_the_retries(
    loopback: Loopback, connect: Connect, status: int, kind: str
) -> None:
    loopback.answer = lambda call: error(status, "still\x1b[31m busy\n", SOON)
    message = failing(connect(), kind)
    assert len(loopback.posts) == 3
    assert f"{status}: still [31m busy" in message


def test_a_used_up_quota_ends_the_run(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = lambda call: error(
        429, "pay first", SOON, code="insufficient_quota", type="insufficient_quota"
    )
    with pytest.raises(RunStopped, match="quota or credit is used up"):
        connect().complete(ASKED)


def test_missing_credit_ends_the_run(loopback: Loopback, connect: Connect) -> None:
    loopback.play(error(402, "Insufficient Balance"))
    with pytest.raises(RunStopped, match="quota or credit"):
        connect().complete(ASKED)


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_ends_the_run(loopback: Loopback, connect: Connect, status: int) -> None:
    loopback.answer = lambda call: error(status, "no entry", code="invalid_api_key")
    with pytest.raises(RunStopped, match="refuses the key in OPENAI_API_KEY"):
        connect(key="wrong-key").complete(ASKED)
    with pytest.raises(RunStopped, match="OPENAI_API_KEY is not set"):
        connect().complete(ASKED)
    assert len(loopback.posts) == 2


def test_a_missing_model_ends_the_run(loopback: Loopback, connect: Connect) -> None:
    loopback.play(error(404, "The model `nonesuch` does not exist", code="model_not_found"))
    with pytest.raises(RunStopped, match="no model 'nonesuch', or not this API") as caught:
        connect("nonesuch").complete(ASKED)
    assert "end in /v1" not in str(caught.value)


def test_an_address_without_its_path_is_pointed_out(loopback: Loopback, connect: Connect) -> None:
    loopback.play(page("<html>not here</html>", 404))
    with pytest.raises(RunStopped, match="usually end in /v1"):
        connect(url=loopback.base_url.removesuffix("/v1")).complete(ASKED)


def test_silence_is_a_timeout(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = lambda call: chat("too late").but(wait=5.0)
    assert "did not answer within 0.2 s" in failing(connect(timeout=0.2, max_retries=1), "timeout")
    assert len(loopback.posts) == 2


def test_a_body_that_trickles_in_is_a_timeout_too(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = lambda call: chat("x" * 200).but(drip=0.05)
    started = time.monotonic()
    failing(connect(timeout=0.3, max_retries=0), "timeout")
    assert time.monotonic() - started < 2.0


def test_a_body_that_trickles_in_within_the_time_is_a_reply(loopback: Loopback, connect: Connect) -> None:
    loopback.play(chat("slow").but(drip=0.001))
    assert connect(timeout=5.0, max_retries=0).complete(ASKED).text == "slow"


def test_a_connection_reset_inside_the_body_is_asked_again(loopback: Loopback, connect: Connect) -> None:
    loopback.play(chat("half").but(reset_after=40), chat("whole"))
    assert connect().complete(ASKED).text == "whole"
    assert len(loopback.posts) == 2


def test_a_connection_reset_for_good_is_an_error(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = lambda call: chat("half").but(reset_after=40)
    assert "the connection to" in failing(connect(max_retries=1), "connection")
    assert len(loopback.posts) == 2


def test_a_dead_endpoint_is_an_error_of_the_connection(connect: Connect) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connecting is refused
        model = connect(url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1", max_retries=0)
        assert "refused" in failing(model, "connection")


MALFORMED = {
    "cut off": Answer(b'{"choices": [{"mess'),
    "empty": Answer(b""),
    "html": page("<html><head><title>Gateway</title></head><body>hi</body></html>"),
    "plain text": Answer(b"OK", headers={"Content-Type": "text/plain"}),
    "stream": Answer(b'data: {"choices": []}\n\n', headers={"Content-Type": "text/event-stream"}),
    "list": as_json([]),
    "no choices": as_json({"object": "chat.completion"}),
    "empty choices": as_json({"choices": []}),
    "no message": as_json({"choices": [{"finish_reason": "stop"}]}),
    "number": as_json({"choices": [{"message": {"content": 7}}]}),
    "bottomless": Answer(b"[" * 100_000),
    "not gzip": chat("x").but(headers={"Content-Type": "application/json", "Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED.keys())
def test_an_unreadable_body_is_asked_for_again_and_then_an_error(
    loopback: Loopback, connect: Connect, answer: Answer
) -> None:
    loopback.play(answer, chat("fine"))
    model = connect(max_retries=1)
    assert model.complete(ASKED).text == "fine"
    loopback.answer = lambda call: answer
    failing(model, "malformed")
    assert len(loopback.posts) == 4


def test_json_under_another_content_type_is_read(loopback: Loopback, connect: Connect) -> None:
    loopback.play(chat("fine").but(headers={"Content-Type": "text/plain"}))
    assert connect(max_retries=0).complete(ASKED).text == "fine"


def test_an_html_error_page_is_named_by_its_title(loopback: Loopback, connect: Connect) -> None:
    loopback.play(page("<!DOCTYPE html><html><head><title>502\nBad Gateway</title></head></html>", 502))
    assert "an HTML page titled '502 Bad Gateway'" in failing(connect(max_retries=0), "server")


@pytest.mark.parametrize(
    "broken",
    [
        as_json({"error": {"message": "upstream is down", "code": 502}}),
        as_json({"choices": [{"finish_reason": "error", "error": {"message": "upstream is down"}}]}),
        as_json(
            {
                "choices": [
                    {"finish_reason": "error", "message": {"content": "go to"}, "error": "upstream is down"}
                ]
            }
        ),
    ],
)
def test_an_error_inside_a_successful_answer_is_no_reply(
    loopback: Loopback, connect: Connect, broken: Answer
) -> None:
    loopback.play(broken, chat("fine"))
    model = connect(max_retries=1)
    assert model.complete(ASKED).text == "fine"
    loopback.answer = lambda call: broken
    assert "upstream is down" in failing(model, "server")


@pytest.mark.parametrize(
    "filtered",
    [
        chat("I was about to", "content_filter"),
        chat(None, "content_filter"),
        error(400, "The response was filtered", code="content_filter"),
        error(403, "Your input was flagged"),
    ],
)
def test_a_content_filter_is_an_error_and_not_asked_again(
    loopback: Loopback, connect: Connect, filtered: Answer
) -> None:
    loopback.play(filtered)
    assert "content filter" in failing(connect(), "content_filter")
    assert len(loopback.posts) == 1


TOO_LONG = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"
OVERFLOWS = {
    "OpenAI": error(
        400, TOO_LONG, type="invalid_request_error", param="messages", code="context_length_exceeded"
    ),
    "llama.cpp": as_json(
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 5000,
                "n_ctx": 4096,
            }
        },
        400,
    ),
    "vLLM": as_json(
        {"object": "error", "message": TOO_LONG, "type": "BadRequestError", "param": None, "code": 400}, 400
    ),
    "vLLM, room for the reply": error(
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 512. This model's maximum context length is 4096 tokens "
        "and your request has 3900 input tokens",
        code=400,
    ),
    "the code alone": error(400, "Too many tokens.", code="context_length_exceeded"),
    "the type alone": error(400, "Too many tokens.", code=400, type="exceed_context_size_error"),
    "a proxy": error(413, "Request Entity Too Large"),
}


@pytest.mark.parametrize("answer", OVERFLOWS.values(), ids=OVERFLOWS.keys())
def test_a_prompt_that_does_not_fit_is_told_apart(
    loopback: Loopback, connect: Connect, answer: Answer
) -> None:
    loopback.play(answer)
    with pytest.raises(ContextOverflow, match="does not fit"):
        connect().complete(ASKED)
    assert len(loopback.posts) == 1


def test_any_other_bad_request_shows_what_the_server_said(loopback: Loopback, connect: Connect) -> None:
    loopback.play(error(400, "messages must alternate:\r\n\x1b]0;pwned\x07" + "user, " * 200))
    message = failing(connect(), "bad_request")
    assert "messages must alternate:" in message
    assert message.isprintable()
    assert len(message) < 420
    assert len(loopback.posts) == 1


REASONING_REFUSALS = [
    error(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        type="invalid_request_error",
        param="max_tokens",
        code="unsupported_parameter",
    ),
    error(
        400,
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        type="invalid_request_error",
        param="temperature",
        code="unsupported_value",
    ),
    error(
        400, "Unsupported parameter: 'stop' is not supported with this model.", code="unsupported_parameter"
    ),
]


def test_parameters_that_a_model_refuses_are_renamed_or_left_out_once_and_for_all(
    loopback: Loopback, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    loopback.play(*REASONING_REFUSALS, chat("first\nmore"), chat("second\nmore"))
    model = connect()
    with caplog.at_level(logging.WARNING):
        # `stop` is not sent any more, and still holds.
        assert [model.complete(ASKED).text for _ in range(2)] == ["first", "second"]
    bodies = [set(call.body) - {"model", "messages"} for call in loopback.posts]
    assert bodies == [
        {"max_tokens", "temperature", "stop", "seed"},
        {"max_completion_tokens", "temperature", "stop", "seed"},
        {"max_completion_tokens", "stop", "seed"},
        {"max_completion_tokens", "seed"},
        {"max_completion_tokens", "seed"},
    ]
    assert loopback.posts[4].body["max_completion_tokens"] == ASKED.max_tokens
    assert model.settings()["changed_parameters"] == {
        "max_tokens": "max_completion_tokens",
        "temperature": "left out",
        "stop": "left out",
    }
    assert len(caplog.records) == 3


def test_threads_that_learn_of_a_refusal_at_once_tell_it_once(
    loopback: Loopback, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    together = threading.Barrier(8, timeout=20)

    def choosy(call: Call) -> Answer:
        if "temperature" not in call.body:
            return chat("fine")
        together.wait()
        return error(400, "Only the default value will do here: temperature", code="unsupported_value")

    loopback.answer = choosy
    model = connect(timeout=30.0, max_connections=8)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: model.complete(ASKED).text, range(8))) == ["fine"] * 8
    assert len(loopback.posts) == 16
    assert len(caplog.records) == 1


def test_a_validator_that_forbids_the_seed_is_understood(loopback: Loopback, connect: Connect) -> None:
    detail = [
        {
            "type": "extra_forbidden",
            "loc": ["body", "seed"],
            "msg": "Extra inputs are not permitted",
            "input": 3,
        }
    ]
    loopback.play(as_json({"detail": detail}, 422), chat("fine"))
    assert connect().complete(ASKED).text == "fine"
    assert "seed" not in loopback.posts[1].body


def test_a_refusal_that_names_nothing_we_sent_is_not_asked_again(
    loopback: Loopback, connect: Connect
) -> None:
    loopback.play(error(400, "Unsupported parameter: 'tools'", param="tools", code="unsupported_parameter"))
    failing(connect(), "bad_request")
    assert len(loopback.posts) == 1


def test_a_limit_on_tokens_is_never_just_dropped(loopback: Loopback, connect: Connect) -> None:
    refused = error(400, "Unsupported parameter: 'max_completion_tokens'", code="unsupported_parameter")
    loopback.play(REASONING_REFUSALS[0], refused)
    failing(connect(), "bad_request")
    assert len(loopback.posts) == 2


def test_a_value_out_of_range_is_no_unsupported_parameter() -> None:
    complaint = Complaint("Invalid 'temperature': decimal above maximum value.", "decimal_above_max_value")
    assert unsupported(complaint, {"temperature", "max_tokens"}) is None


def test_faults_of_the_completions_api_are_the_same(loopback: Loopback, connect: Connect) -> None:
    loopback.play(error(503, "loading", SOON), as_json({"choices": [{"message": {}}]}), completion(" ok"))
    loopback.play(OVERFLOWS["llama.cpp"])
    model = connect(api="completions")
    assert model.complete(ASKED).text == "ok"
    with pytest.raises(ContextOverflow):
        model.complete(ASKED)


def test_errors_carry_no_request_along(loopback: Loopback, connect: Connect) -> None:
    loopback.play(error(400, "no"), as_json({}))
    model = connect(max_retries=0)
    for _ in range(2):
        with pytest.raises(ModelError) as caught:
            model.complete(ASKED)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_bodies_that_say_nothing_still_make_a_line(loopback: Loopback, connect: Connect) -> None:
    for body in (
        b"",
        b"null",
        b"[]",
        b"3",
        b'{"error": null}',
        json.dumps({"error": ["a", {"b": 1}]}).encode(),
    ):
        loopback.play(Answer(body, 400))
        assert "400: " in failing(connect(), "bad_request")
