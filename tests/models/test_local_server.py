"""A server on this machine is asked for as much at a time as it has slots, and for less once it is too slow."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from loopback import MODEL, Answer, Call, Loopback, as_json, chat

from reflex_bench.core.errors import ModelError
from reflex_bench.models.base import Message, Request
from reflex_bench.models.local_server import default_connections, is_loopback
from reflex_bench.models.openai.model import OpenAIModel

pytestmark = pytest.mark.slow

Connect = Callable[..., OpenAIModel]
ASKED = Request((Message("user", "What now?"),))


def busiest(server: Loopback, model: OpenAIModel, calls: int = 12) -> int:
    server.answer = lambda call: chat("ok").but(wait=0.05)
    with ThreadPoolExecutor(calls) as pool:
        list(pool.map(lambda _: model.complete(ASKED), range(calls)))
    return server.busiest


@pytest.mark.parametrize(
    ("slots", "asked", "expected"),
    [(None, None, 2), (1, None, 1), (3, None, 3), (3, 6, 6), (None, 5, 5), (6, 2, 2)],
)
def test_a_loopback_endpoint_gets_as_many_calls_as_it_has_slots_and_a_number_given_wins(
    loopback: Loopback, connect: Connect, slots: int | None, asked: int | None, expected: int
) -> None:
    loopback.slots = slots
    model = connect(max_connections=asked)
    warnings = model.check()
    assert model.connections == model.settings()["connections"] == expected
    assert busiest(loopback, model) == expected
    assert bool(warnings) is (slots == 3 and asked == 6)


def test_more_calls_than_slots_are_told_of_in_one_line(loopback: Loopback, connect: Connect) -> None:
    loopback.slots = 2
    (line,) = connect(max_connections=16).check()
    assert line.startswith(
        "the server has 2 slots, and --max-connections asks for 16 calls at a time: 14 of them"
    )


@pytest.mark.parametrize("props", [{"total_slots": 0}, {"total_slots": True}, {"total_slots": "4"}, [], "no"])
def test_slots_that_make_no_sense_are_none(loopback: Loopback, connect: Connect, props: object) -> None:
    loopback._answer_to = lambda call: as_json(props) if call.path == "/props" else loopback.listing  # type: ignore[method-assign]
    model = connect()
    assert (model.check(), model.connections) == ([], 2)


def test_the_slots_are_asked_for_beside_the_api_and_only_on_this_machine(
    loopback: Loopback, connect: Connect
) -> None:
    connect().check()
    assert [call.path for call in loopback.calls] == ["/v1/models", "/props"]
    assert [is_loopback(f"http://{host}:8080/v1") for host in ("127.0.0.1", "[::1]", "localhost")] == [
        True
    ] * 3
    assert [is_loopback(f"https://{host}/v1") for host in ("api.openai.com", "192.168.0.4", "box")] == [
        False
    ] * 3
    assert (default_connections("http://127.0.0.2/v1"), default_connections("http://192.168.0.4/v1")) == (
        2,
        16,
    )


def test_a_timeout_halves_the_calls_at_a_time_is_logged_and_counted_with_the_call(
    loopback: Loopback, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    slow = [chat("late").but(wait=30.0)] * 8

    def answer(call: Call) -> Answer:
        return slow.pop() if slow else chat("ok")

    loopback.answer = answer
    model = connect(max_connections=8, timeout=1.5, max_retries=3)
    with caplog.at_level(logging.WARNING), ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: model.complete(ASKED), range(8)))
    assert [reply.timeouts for reply in replies] == [1] * 8
    assert [reply.retries for reply in replies] == [1] * 8
    assert caplog.messages == [f"openai/{MODEL} does not answer in time: 4 at a time for now"]


def test_a_call_that_never_is_in_time_fails_after_its_retries(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = lambda call: chat("late").but(wait=2.0)
    model = connect(timeout=0.2, max_retries=1)
    with pytest.raises(ModelError, match="did not answer within"):
        model.complete(ASKED)
