"""What is found out before the first paid call."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from loopback import Answer, Loopback, as_json, error, models, page

from reflex_bench.core.errors import UsageError
from reflex_bench.models.openai.model import OpenAIModel, create
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.prices import Prices

Connect = Callable[..., OpenAIModel]


@pytest.mark.parametrize(
    ("name", "listing"),
    [
        ("loopback", models("other", "loopback")),
        ("llama3.2", models("llama3.2:latest")),
        ("gemini-2.5-flash", models("models/gemini-2.5-flash")),
        ("short", as_json({"data": [{"id": "a-very-long-file-name.gguf", "aliases": ["short"]}]})),
        ("plain", as_json([{"id": "plain"}])),
    ],
)
def test_a_listed_name_passes_in_every_form_servers_list_it(
    loopback: Loopback, connect: Connect, name: str, listing: Answer
) -> None:
    loopback.listing = listing
    assert connect(name).check() == []
    assert not loopback.posts


def test_an_unlisted_name_is_refused_with_the_nearest(loopback: Loopback, connect: Connect) -> None:
    loopback.listing = models("qwen2.5-coder-1.5b", "llama-3.2-3b")
    with pytest.raises(UsageError, match=r"'qwen2.5-coder'; did you mean 'qwen2.5-coder-1.5b'"):
        connect("qwen2.5-coder").check()


def test_an_unlisted_name_is_taken_where_the_check_is_off(loopback: Loopback, connect: Connect) -> None:
    assert connect("deployment-7", check_model=False).check() == []
    assert [call.path for call in loopback.calls] == ["/v1/models", "/props"]


@pytest.mark.parametrize(
    "listing",
    [error(404, "no such route"), error(405, "POST only"), error(403, "missing scopes"), page("<p>hi</p>")],
)
def test_an_endpoint_that_lists_nothing_is_a_warning(
    loopback: Loopback, connect: Connect, listing: Answer
) -> None:
    loopback.listing = listing
    (warning,) = connect(key="some-key").check()
    assert "'loopback' could not be checked" in warning


def test_a_wrong_key_is_named_by_its_variable(loopback: Loopback, connect: Connect) -> None:
    loopback.listing = error(401, "Incorrect API key provided")
    with pytest.raises(UsageError, match="refuses the key in OPENAI_API_KEY"):
        connect(key="wrong-key").check()
    with pytest.raises(UsageError, match="wants a key, and OPENAI_API_KEY is not set"):
        connect().check()


def test_a_server_that_is_still_loading_is_a_mistake_of_the_moment(
    loopback: Loopback, connect: Connect
) -> None:
    loopback.listing = error(503, "Loading model", {"retry-after-ms": "10"}, type="unavailable_error")
    with pytest.raises(UsageError, match="503: Loading model"):
        connect().check()
    assert len(loopback.calls) == 2


def test_no_server_is_said_in_one_line(connect: Connect) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(UsageError, match=f"no server answers at {url}"):
            connect(url=url, max_retries=0).check()


def test_a_paid_endpoint_needs_a_key_before_anything_is_sent(connect: Connect) -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        connect(url="https://api.openai.com/v1").check()


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8080/v1", "ftp://host/v1", "http://", "http://[::1/v1", "http://host:port/v1"]
)
def test_a_base_url_that_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="looks like http://127"):
        create("any", ModelOptions(base_url=url))


def test_the_address_comes_from_the_environment_where_none_is_given(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.base_url + "/")
    monkeypatch.setenv("OPENAI_API_KEY", " key-from-environment\n")
    model = create("loopback", ModelOptions())
    assert model.check() == []
    assert model.settings()["endpoint"] == loopback.base_url
    assert loopback.calls[0].headers["authorization"] == "Bearer key-from-environment"
    model.close()


def test_a_local_server_gets_some_key_where_none_is_set(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = create("loopback", ModelOptions(base_url=loopback.base_url))
    assert model.check() == []
    assert loopback.calls[0].headers["authorization"] == "Bearer none"
    model.close()


def test_a_key_that_no_header_can_carry_is_refused_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("two words", "line\nbreak", "“quoted”"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with pytest.raises(UsageError, match="OPENAI_API_KEY holds a character") as caught:
            create("any", ModelOptions())
        assert key not in str(caught.value)


def test_settings_say_where_and_how_and_at_what_price(loopback: Loopback, connect: Connect) -> None:
    assert connect(api="completions", prices=Prices(1.0, 2.0)).settings() == {
        "kind": "openai",
        "endpoint": loopback.base_url,
        "api": "completions",
        "connections": 2,
        "prices": {"input": 1.0, "output": 2.0, "cached": None},
        "changed_parameters": {},
    }


@pytest.mark.parametrize("status", [301, 307])
def test_a_listing_that_has_moved_on_the_same_host_is_read_there(
    loopback: Loopback, connect: Connect, status: int
) -> None:
    moved, there = Answer(b"", status, {"Location": "/v1/models/"}), models("other")
    loopback.listing = moved
    answer_to = loopback._answer_to
    loopback._answer_to = lambda call: there if call.path == "/v1/models/" else answer_to(call)  # type: ignore[method-assign]
    with pytest.raises(UsageError, match="other"):
        connect().check()
