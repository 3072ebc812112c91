"""A canary key: wherever a server puts it, it must not come out."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable

import pytest
from loopback import Answer, Loopback, as_json, chat, error, page

from reflex_bench.core.errors import ReflexError
from reflex_bench.models.base import Message, Request
from reflex_bench.models.openai.errors.faults import public_url, redact
from reflex_bench.models.openai.model import OpenAIModel

Connect = Callable[..., OpenAIModel]

CANARY = "canary-7f3a/91c2d4e8"
OTHER = "sk-proj-0123456789abcdef"
ASKED = Request((Message("user", "hello"),))

SOON = {"retry-after-ms": "10"}
LEAKY = f"Incorrect API key provided: {CANARY}; also {OTHER} and sk-abc***xyz1. Header: Bearer {CANARY}"
LEAKS = {
    **{
        str(status): error(status, LEAKY, SOON)
        for status in (400, 401, 403, 404, 408, 413, 422, 429, 500, 503)
    },
    "quota": error(429, LEAKY, SOON, code="insufficient_quota"),
    "overflow": error(400, LEAKY, code="context_length_exceeded"),
    "code": error(400, "", code=CANARY),
    "text body": page(LEAKY, 400),
    "html title": page(f"<html><title>{LEAKY}</title></html>", 502),
    "not json": page(LEAKY),
    "cut through": error(400, "x" * 290 + CANARY),
    "cut through a page": page("x" * 110 + CANARY),
    "escaped": Answer(json.dumps({"error": {"message": CANARY}}).replace("/", "\\/").encode(), 400),
    "error inside": as_json({"error": {"message": LEAKY}}),
    "list": as_json([LEAKY]),
    "reset": chat(LEAKY).but(reset_after=30),
    "silence": chat("late").but(wait=3.0),
}


@pytest.mark.parametrize("answer", LEAKS.values(), ids=LEAKS.keys())
def test_no_error_shows_a_key(
    loopback: Loopback, connect: Connect, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    loopback.answer = lambda call: answer
    loopback.listing = answer
    model = connect(key=CANARY, max_retries=0, timeout=0.3)
    seen = []
    with caplog.at_level(logging.DEBUG, "reflex_bench"), caplog.at_level(logging.DEBUG, "openai"):
        with pytest.raises(ReflexError) as caught:
            model.complete(ASKED)
        seen += [repr(caught.value), *traceback.format_exception(caught.value)]
        try:
            seen += model.check()
        except ReflexError as failure:
            seen += [repr(failure), *traceback.format_exception(failure)]
    assert loopback.calls[0].headers["authorization"] == f"Bearer {CANARY}"
    for text in (*seen, caplog.text):
        assert "canary" not in text
        assert OTHER not in text
        assert "abc***" not in text


def test_a_server_that_echoes_the_key_in_its_reply_does_not_get_it_into_the_journal(
    loopback: Loopback, connect: Connect
) -> None:
    body = {
        "model": CANARY,
        "system_fingerprint": CANARY,
        "choices": [{"message": {"content": f"it is {CANARY}"}}],
    }
    plain = as_json(body)
    coded = plain.body.replace(CANARY.encode(), "".join(f"\\u{ord(sign):04x}" for sign in CANARY).encode())
    loopback.play(plain, plain.but(body=plain.body.replace(b"/", rb"\/")), plain.but(body=coded))
    model = connect(key=CANARY)
    for reply in (model.complete(ASKED), model.complete(ASKED), model.complete(ASKED)):
        assert (reply.text, reply.model, reply.server) == ("it is [key]", "[key]", "[key]")


def test_a_password_in_the_address_stays_there(loopback: Loopback, connect: Connect) -> None:
    secret = "canary-7f3a91c2d4e8"
    url = loopback.base_url.replace("http://", f"http://user:{secret}@") + f"?token={secret}#{secret}"
    model = connect(url=url, max_retries=0)
    loopback.answer = lambda call: error(400, f"hello {secret}")
    with pytest.raises(ReflexError) as caught:
        model.complete(ASKED)
    for text in (str(caught.value), repr(model), repr(model.settings())):
        assert secret not in text
    assert model.settings()["endpoint"] == loopback.base_url


def test_headers_from_the_environment_are_secrets_too(
    loopback: Loopback, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Gateway: {CANARY}\nX-Team: ab")
    loopback.play(error(400, f"bad gateway key {CANARY}, a table"))
    with pytest.raises(ReflexError, match=r"bad gateway key \[key\], a table"):
        connect().complete(ASKED)
    assert loopback.posts[0].headers["x-gateway"] == CANARY


def test_words_that_only_resemble_a_key_are_left_alone() -> None:
    text = "the risk-averse task-manager asks for desk-lamps, none of them a bearer of news"
    assert redact(text, ()) == text


def test_an_address_keeps_host_port_and_path_only() -> None:
    assert public_url("https://a:b@host.example:8443/v1/?k=v#f") == "https://host.example:8443/v1"
