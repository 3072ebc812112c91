"""Literal answers and refusals of endpoints, one test a row, and others of every kind, through the real client."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clock import Clock
from loopback import Answer, Loopback, as_json, chat, error, page

from reflex_bench.core.errors import ContextOverflow, ModelError, RunStopped
from reflex_bench.models.base import Message, Reply, Request
from reflex_bench.models.openai.errors.meanings import meaning_of
from reflex_bench.models.openai.errors.messages import error_message
from reflex_bench.models.openai.model import OpenAIModel, base_of
from reflex_bench.models.prices import Prices

Connect = Callable[..., OpenAIModel]

DATA = Path(__file__).parent.parent / "data" / "endpoints"
SOON = {"retry-after-ms": "10"}
STOPS = ("\nObservation", "\n")
ASKED = Request((Message("system", "Play."), Message("user", "You see a desk 1.")), 0.7, 256, STOPS, seed=7)


def rows(name: str) -> list[Any]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(row, id=row["name"]) for row in map(json.loads, lines)]


def answer_of(row: dict[str, Any]) -> Answer:
    body = row["body"]
    # What is no JSON stands in the file as the bytes of Latin-1.
    raw = body.encode("latin-1") if isinstance(body, str) else json.dumps(body).encode()
    return Answer(raw, row["status"], {"Content-Type": "application/json", **row.get("headers", {}), **SOON})


def outcome(model: OpenAIModel, request: Request = ASKED) -> Reply | ModelError | RunStopped:
    try:
        return model.complete(request)
    except (ModelError, RunStopped) as failure:
        return failure


ERRORS = {
    "content_filter": "content_filter",
    "rate_limit": "rate_limit",
    "never_fits": "never_fits",
    "bad_request": "bad_request",
    "server, tried again": "server",
    "malformed, tried again": "malformed",
    "empty answer: tried again, then error": "empty",
}
STOPPED = {
    "no_credit": "quota or credit is used up",
    "no_model": "has no model",
    "wrong address": "is the address right",
}


@pytest.mark.parametrize("row", [row for row in rows("answers") if row.values[0]["should"] != "text"])
def test_an_answer_of_an_endpoint_becomes_what_it_says(
    loopback: Loopback, connect: Connect, row: dict[str, Any]
) -> None:
    loopback.answer = lambda call: answer_of(row)
    found, should = outcome(connect(key="key-of-the-test", max_retries=1, patience=0.6)), row["should"]
    kind = next((kind for start, kind in ERRORS.items() if should.startswith(start)), None)
    fatal = next((words for start, words in STOPPED.items() if should.startswith(start)), None)
    tried_again = len(loopback.posts) > 1
    if should == "context_overflow":
        assert isinstance(found, ContextOverflow)
    elif fatal is not None:
        assert isinstance(found, RunStopped)
        assert fatal in str(found)
    elif "one line that names the address" in should:
        assert isinstance(found, RunStopped)
        assert "/v1" in str(found)
    elif kind is not None:
        assert isinstance(found, ModelError)
        assert found.kind == kind
        # An answer that will not change is not asked for again.
        assert tried_again == (kind in ("rate_limit", "server", "malformed", "empty"))
    else:
        assert isinstance(found, Reply)
        EXPECTED[should](found)
    if not isinstance(found, Reply):
        assert "\n" not in str(found)


def _cut_off(reply: Reply) -> None:
    assert (reply.text, reply.finish, reply.reasoning) == ("", "length", "Lots of words")
    assert (reply.usage.reasoning_tokens, reply.usage.reasoning_estimated) == (256, False)


def _kept(reply: Reply) -> None:
    assert (reply.text, reply.reasoning, reply.reasoning_form) == (
        "go to desk 1",
        "because",
        "reasoning_details",
    )
    # Of 2 tokens, 7 of 19 characters were reasoning.
    assert (reply.usage.reasoning_tokens, reply.usage.reasoning_estimated) == (1, True)


def _text(text: str, *usage: int | None) -> Callable[[Reply], None]:
    def check(reply: Reply) -> None:
        assert (reply.text, reply.reasoning) == (text, "")
        if usage:
            assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == usage[:2]

    return check


def _cached(reply: Reply) -> None:
    assert (reply.usage.prompt_tokens, reply.usage.cached_tokens) == (100, 64)


def _costs(reply: Reply) -> None:
    assert reply.cost == 0.00123


def _added(reply: Reply) -> None:
    assert (reply.usage.completion_tokens, reply.usage.reasoning_tokens) == (302, 300)


def _called(reply: Reply) -> None:
    assert [(call.name, call.arguments) for call in reply.calls] == [("search", '{"q":"x"}')]


EXPECTED: dict[str, Callable[[Reply], None]] = {
    "cut_off in reasoning: asked again with more room; reasoning kept": _cut_off,
    "text; reasoning kept": _kept,
    "text 'go to desk 1'": _text("go to desk 1"),
    "tokens unknown": _text("look", None, None),
    "tokens unknown: a reply of 0 tokens is not possible": _text("look", None, None),
    "10 and 2 tokens": _text("look", 10, 2),
    "cached tokens read": _cached,
    "cost as told": _costs,
    "reasoning tokens added": _added,
    "read as a stream, or one line that says the server streams": _text("look"),
    "text with the letter, or malformed": _text("Search[Beyoncé]"),
    "a native call": _called,
}


@pytest.mark.parametrize("row", [row for row in rows("answers") if row.values[0]["should"] == "text"])
def test_an_answer_in_an_odd_form_is_read_at_once(
    loopback: Loopback, connect: Connect, row: dict[str, Any]
) -> None:
    loopback.answer = lambda call: answer_of(row)
    assert connect(max_retries=0).complete(ASKED).text == "look"
    assert len(loopback.posts) == 1


def test_reasoning_without_an_answer_is_kept_with_the_error_and_its_tokens_are_not_forgotten(
    loopback: Loopback, connect: Connect
) -> None:
    loopback.answer = lambda call: chat(
        "", reasoning_content="I should go to desk 1", tokens={"prompt_tokens": 9, "completion_tokens": 6}
    )
    failure = outcome(connect(max_retries=0))
    assert isinstance(failure, ModelError)
    assert [(reply.text, reply.reasoning, reply.usage.completion_tokens) for reply in failure.lost] == [
        ("", "I should go to desk 1", 6)
    ]


# What each refusal of `refusals.jsonl` has to be answered with: fields that are then sent (None: left out).
WANTED: dict[str, dict[str, Any]] = {
    "temperature left out": {"temperature": None},
    "max_completion_tokens; temperature, stop left out": {"max_tokens": None, "max_completion_tokens": 256},
    "stop left out": {"stop": None},
    "temperature 1 sent": {"temperature": 1},
    "the named field left out": {"seed": None},
    "one stop sent, the others applied here": {"stop": ["\nObservation"]},
    "stop without white space only, or left out and applied here": {"stop": ["\nObservation"]},
    "max_tokens 100 sent": {"max_tokens": 100},
    "max_tokens 512 sent": {"max_tokens": 512},
    "system merged into the first user message": {
        "messages": [{"role": "user", "content": "Play.\n\nYou see a desk 1."}]
    },
    "enable_thinking false sent, or streamed": {"stream": True},
    "streamed": {"stream": True},
}
WANTED["system merged or sent as developer"] = WANTED["system merged into the first user message"]


@pytest.mark.parametrize("row", rows("refusals"))
def test_what_a_server_refuses_is_sent_otherwise_once_and_for_all_and_said_once(
    loopback: Loopback, connect: Connect, row: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    loopback.play(answer_of(row))
    loopback.answer = lambda call: chat("look\nObservation: more\nand more")
    model = connect()
    assert [model.complete(ASKED).text for _ in range(2)] == ["look", "look"], "every stop holds, sent or not"
    first, *later = (call.body for call in loopback.posts)
    assert len(later) == 2, "the refusal is learned from once"
    for body in later:
        changed = {name: body.get(name) for name in {*first, *body} if body.get(name) != first.get(name)}
        changed.pop("stream_options", None)
        assert changed == WANTED[row["should"]]
    assert len(caplog.records) == 1
    told = model.settings()["changed_parameters"]
    assert len(told) == 1
    # A process that goes on with the run needs no refusal to know.
    loopback.play(chat("look"))
    resumed = connect()
    resumed.recall(json.loads(json.dumps(model.settings())))
    resumed.complete(ASKED)
    assert loopback.posts[-1].body == later[0]
    assert resumed.settings()["changed_parameters"] == told


def said(status: int, body: object) -> str:
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return meaning_of(status, error_message(raw))


def message(text: str, **more: object) -> dict[str, Any]:
    return {"error": {"message": text, **more}}


FURTHER = [
    # The prompt is too long: in other languages, wrapped twice, under another status, as text, in an event.
    ("context_overflow", 400, message("输入内容超出模型上下文长度限制")),
    ("context_overflow", 400, message("Die Eingabe ist zu lang für das Kontextfenster des Modells.")),
    ("context_overflow", 400, message("La requête dépasse la longueur maximale du contexte (8192 jetons).")),
    ("context_overflow", 400, message("El mensaje es demasiado largo: supera el contexto máximo de 8192 tokens.")),
    ("context_overflow", 400, message("プロンプトが長すぎます")),
    ("context_overflow", 400, message("Запрос превышает максимальную длину контекста")),
    ("context_overflow", 400, message("입력이 최대 토큰 수를 초과했습니다")),
    ("context_overflow", 500, message("litellm.ContextWindowExceededError: prompt too long", code="400")),
    ("context_overflow", 400, {"message": json.dumps({"error": json.dumps(message("prompt is too long: 9 > 8"))})}),
    ("context_overflow", 422, {"detail": [{"msg": "Input length 9000 exceeds maximum context length 8192"}]}),
    ("context_overflow", 413, message("Request body too large for gpt-4o model. Max size: 8000 tokens.",
                                      code="tokens_limit_reached")),
    ("context_overflow", 400, "ValueError: This model's maximum context length is 4096 tokens."),
    ("context_overflow", 200, 'data: {"error": {"message": "the request exceeds the available context size"}}\n\n'),
    # Content that is not wanted.
    ("content_filter", 403, message("Request blocked by our safety policies")),
    ("content_filter", 400, message("Votre demande enfreint la politique d'utilisation : contenu inapproprié.")),
    ("content_filter", 400, message("Die Anfrage verstößt gegen die Inhaltsrichtlinie.")),
    ("content_filter", 400, message("不適切なコンテンツが含まれています")),
    ("content_filter", 400, {"code": "InputTextSensitiveContentDetected", "message": "Request rejected"}),
    ("content_filter", 400, {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}),
    ("content_filter", 403, message("The user message was flagged for violence")),
    ("content_filter", 500, message("ContentPolicyViolationError: blocked")),
    # Nothing more can be paid for, or not today.
    ("no_credit", 429, message("Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests")),
    ("no_credit", 429, message("Rate limit reached on requests per day (RPD): Limit 200, Used 200, Requested 1.")),
    ("no_credit", 400, message("Your credit balance is too low to access the API.")),
    ("no_credit", 403, message("Guthaben aufgebraucht")),
    ("no_credit", 429, message("残高が不足しています")),
    ("no_credit", 402, message("prompt tokens limit exceeded: 5000 > 3000")),
    ("no_credit", 200, {"error": {"message": "Insufficient credits. Add more", "code": 402}}),
    ("no_credit", 429, message("您的余额不足，请充值")),
    # Waited for: limits of a minute, also where the words are those of a quota.
    ("rate_limit", 429, [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message":
        "You exceeded your current quota, please check your plan and billing details.", "details": [
            {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}]}}]),
    ("rate_limit", 429, message("Rate limit reached, tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.")),
    ("rate_limit", 429, message("Rate limit exceeded: free-models-per-min")),
    ("rate_limit", 403, message("You have exceeded a secondary rate limit")),
    ("rate_limit", 400, {"code": "1302", "message": "您当前使用该API的并发数过高"}),
    ("rate_limit", 200, {"error": {"message": "Zu viele Anfragen"}}),
    ("rate_limit", 500, message("litellm.RateLimitError: too many requests", code="429")),
    ("never_fits", 413, message("Request too large for `x` on tokens per minute (TPM): Limit 6000, Requested 12000",
                                code="rate_limit_exceeded", type="tokens")),
    # The key, and only the key.
    ("bad_key", 400, [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}]),
    ("bad_key", 500, message("litellm.AuthenticationError: invalid api key", code="401")),
    ("bad_key", 200, {"base_resp": {"status_code": 1004, "status_msg": "login fail"}}),
    ("bad_key", 403, message("You do not have access to this project")),
    ("no_account", 403, message("Your account has been suspended.")),
    ("no_account", 403, message("Country, region, or territory not supported")),
    ("bad_request", 400, message("Invalid token in JSON at position 4")),
    ("bad_request", 400, message("unknown key 'foo' in the request")),
    # Models and addresses.
    ("no_model", 400, message("foo/bar is not a valid model ID")),
    ("no_model", 400, message("The model `llama-2` has been decommissioned", code="model_decommissioned")),
    ("no_model", 404, message("No endpoints found for foo/bar.")),
    ("no_model", 404, {"error": "model 'x' not found"}),
    ("wrong_address", 404, {"detail": "Not Found"}),
    ("wrong_address", 405, "Method Not Allowed"),
    # The server's faults.
    ("server", 529, message("Overloaded", type="overloaded_error")),
    ("server", 400, message("model runner has unexpectedly stopped: internal server error")),
    ("server", 503, {"message": "稍后重试"}),
    ("server", 502, "<html><title>Bad gateway</title></html>"),
]  # fmt: skip


@pytest.mark.parametrize(("meaning", "status", "body"), FURTHER)
def test_further_answers_of_every_kind_mean_what_they_say(meaning: str, status: int, body: object) -> None:
    assert said(status, body) == meaning


def test_a_prompt_that_an_answer_repeats_is_not_taken_for_what_it_says() -> None:
    echo = "my account was suspended, the maximum context length, rate limit, invalid api key"
    body = {"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required", "input": echo}]}
    assert said(422, body) == "bad_request"
    assert said(400, {"error": {"message": "Field required"}, "request": {"prompt": echo}}) == "bad_request"


@pytest.mark.parametrize(
    ("status", "body", "shown"),
    [
        (400, message("<400> Range of things should be [1, 2]"), "(400: <400> Range of things should be [1, 2])"),
        (400, {"detail": {"error": {"message": "no such thing"}}}, "(400: no such thing)"),
        (400, [message("first"), message("second")], "(400: first: second)"),
        (400, message("Provider returned error", metadata={"raw": '{"detail": "a bad day"}'}),
         "(400: Provider returned error: a bad day)"),
    ],
)  # fmt: skip
def test_what_the_server_said_is_shown_unwrapped(
    loopback: Loopback, connect: Connect, status: int, body: object, shown: str
) -> None:
    loopback.play(as_json(body, status))
    assert shown in str(outcome(connect(max_retries=0)))


def test_the_hint_for_another_protocol_names_the_address(loopback: Loopback, connect: Connect) -> None:
    for body in (
        {"object": "response", "output": [{"type": "message", "content": []}]},
        {"type": "message", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"},
        {"candidates": [{"content": {"parts": [{"text": "x"}]}}]},
        [{"generated_text": "x"}],
    ):
        loopback.play(as_json(body))
        failure = outcome(connect())
        assert isinstance(failure, RunStopped)
        assert "the address to give ends in /v1" in str(failure)


@pytest.mark.parametrize("pasted", ["/chat/completions", "/chat/completions/", "/completions", "/models", ""])
def test_a_pasted_address_is_understood(pasted: str) -> None:
    assert base_of(f"http://127.0.0.1:8080/v1{pasted}") == "http://127.0.0.1:8080/v1"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_on_the_same_host_is_followed_with_the_key_and_remembered(
    loopback: Loopback, connect: Connect, status: int
) -> None:
    moved = Answer(b"", status, {"Location": "/v1/chat/completions/"})
    loopback.answer = lambda call: chat("here") if call.path.endswith("/") else moved
    model = connect(key="key-of-the-test")
    assert [model.complete(ASKED).text for _ in range(2)] == ["here", "here"]
    assert [call.path for call in loopback.posts] == ["/v1/chat/completions", *["/v1/chat/completions/"] * 2]
    assert loopback.posts[1].headers["authorization"] == "Bearer key-of-the-test"
    assert loopback.posts[1].body == loopback.posts[0].body


def test_a_redirect_to_another_host_is_one_line_with_the_address_and_gets_no_key(
    loopback: Loopback, connect: Connect
) -> None:
    with Loopback() as other:
        loopback.play(Answer(b"", 307, {"Location": f"{other.base_url}/chat/completions"}))
        failure = outcome(connect(key="key-of-the-test"))
        assert isinstance(failure, RunStopped)
        assert f"--base-url {other.base_url}" in str(failure)
        assert other.calls == []


def test_redirects_in_a_circle_end(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = lambda call: Answer(b"", 307, {"Location": "/v1/chat/completions"})
    failure = outcome(connect())
    assert isinstance(failure, RunStopped)
    assert "from one address to the next" in str(failure)


def test_a_key_never_goes_from_https_to_http() -> None:
    from reflex_bench.models.openai.endpoint import _is_same_host

    assert _is_same_host("http://h/v1", "https://h/v1")
    assert not _is_same_host("https://h/v1", "http://h/v1")
    assert not _is_same_host("http://h:1/v1", "http://h:2/v1")


USAGES = [
    # DeepSeek: 100,000 at 1 dollar and 900,000 at 0.1 a million: 0.1 + 0.09.
    ({"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000, "prompt_cache_hit_tokens": 900_000,
      "prompt_cache_miss_tokens": 100_000}, 0.19),
    # Thinking in the total alone: 11,476 - 7,477 = 3,999 at 10 dollars, 7,477 at 1.
    ({"prompt_tokens": 7477, "completion_tokens": 2060, "total_tokens": 11476}, 0.047467),
    ({"prompt_tokens": "7477", "completion_tokens": 3999.0}, 0.047467),
    # Anthropic's own count of a prompt leaves out what came from the cache: 10 + 90, of which 90 at 0.1.
    ({"input_tokens": 10, "output_tokens": 0, "cache_read_input_tokens": 90}, 0.000019),
    ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, None),
]  # fmt: skip


@pytest.mark.parametrize(("usage", "cost"), USAGES)
def test_the_cost_follows_from_the_usage_however_it_is_told(
    loopback: Loopback, connect: Connect, usage: dict[str, Any], cost: float | None
) -> None:
    loopback.play(chat("look", tokens=usage))
    reply = connect(prices=Prices(1.0, 10.0, 0.1)).complete(ASKED)
    assert reply.cost == (None if cost is None else pytest.approx(cost))


def test_an_html_page_for_a_wrong_address_says_so(loopback: Loopback, connect: Connect) -> None:
    loopback.play(page("<html><title>404 page not found</title></html>", 404))
    failure = outcome(connect())
    assert isinstance(failure, RunStopped)
    assert "does not know this path: is the address right?" in str(failure)


PAUSES = [
    ({"Retry-After": "0.1s"}, "later", 0.1),
    ({"Retry-After": "100ms"}, "later", 0.1),
    ({"x-ratelimit-reset-requests": "120ms", "x-ratelimit-reset-tokens": "6m0s",
      "x-ratelimit-remaining-requests": "0", "x-ratelimit-remaining-tokens": "900"}, "later", 0.12),
    ({"ratelimit-reset": "0.1"}, "later", 0.1),
    ({}, "Rate limit reached. Please try again in 144ms.", 0.144),
    ({}, "Please retry after 0.1 seconds", 0.1),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "text", "seconds"), PAUSES)
def test_a_pause_is_read_wherever_it_stands(
    loopback: Loopback, connect: Connect, clock: Clock, headers: dict[str, str], text: str, seconds: float
) -> None:
    loopback.play(error(429, text, headers), chat("now"))
    # Without a pause asked for it would be at least a quarter of a second.
    assert connect(stopping=clock).complete(ASKED).text == "now"
    assert clock.pauses == [pytest.approx(seconds)]


def test_google_tells_the_pause_in_the_body(loopback: Loopback, connect: Connect, clock: Clock) -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.1s"}
    loopback.play(as_json([{"error": {"code": 429, "message": "slow", "details": [info]}}], 429), chat("now"))
    connect(stopping=clock).complete(ASKED)
    assert clock.pauses == [pytest.approx(0.1)]
