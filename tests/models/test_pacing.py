"""How fast an endpoint is asked: in flight at a time, in a minute, and after it has refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from loopback import Answer, Call, Loopback, chat, error, usage

from reflex_bench.core.errors import RunStopped
from reflex_bench.models.base import Message, Request
from reflex_bench.models.openai.model import OpenAIModel
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.pacing import Rate, RateLimiter

pytestmark = pytest.mark.slow

Connect = Callable[..., OpenAIModel]
ASKED = Request((Message("user", "x" * 400),))


def test_a_rate_spreads_what_is_taken_evenly_over_the_minute() -> None:
    rate, now = Rate(60), 1000.0
    begun = []
    for _ in range(5):
        now = max(now, rate.due)
        begun.append(now)
        rate.take(1, now)
    # The first call of all may use what was left over before it: a quarter of a second's worth.
    assert begun == pytest.approx([1000.0, 1000.75, 1001.75, 1002.75, 1003.75])


def test_a_call_larger_than_the_rate_goes_through_and_the_next_waits_for_it() -> None:
    rate = Rate(600)
    assert rate.due <= 1000.0
    rate.take(1200, 1000.0)
    assert rate.due == pytest.approx(1120 - 0.25)
    rate.take(-600, 1000.0)
    assert rate.due == pytest.approx(1060 - 0.25), "what was foreseen and not taken is given back"


def test_no_rate_never_waits() -> None:
    rate = Rate(None)
    rate.take(1e12, 1000.0)
    assert rate.due <= 1000.0


@contextmanager
def turn(pace: RateLimiter) -> Iterator[None]:
    pace.acquire(0)
    try:
        yield
    finally:
        pace.release()


def refuse(pace: RateLimiter, calls: int) -> None:
    """So many calls at once, all refused, none of which asks for a pause."""
    together = threading.Barrier(calls)

    def call(_: int) -> None:
        with turn(pace):
            together.wait()
        together.wait()
        pace.on_429(None)

    with ThreadPoolExecutor(calls) as pool:
        list(pool.map(call, range(calls)))


def test_one_burst_of_refusals_halves_the_limit_once_and_answers_raise_it_again() -> None:
    pace = RateLimiter(ModelOptions(max_connections=16))
    refuse(pace, 16)
    assert pace.limit == 8
    refuse(pace, 8)
    assert pace.limit == 4
    raised = 0
    while pace.limit < 16:
        with turn(pace):
            pace.on_success(None)
        raised += 1
    # One more connection for each limit's worth of answers: 4 + 5 + ... + 15 are 114, a few less as it grows meanwhile.
    assert 90 <= raised <= 125
    for _ in range(200):
        pace.on_success(None)
    assert pace.limit == 16


def test_the_limit_never_falls_below_one_call() -> None:
    pace = RateLimiter(ModelOptions(max_connections=3))
    for _ in range(5):
        refuse(pace, 1)
    assert pace.limit == 1


def test_a_pause_asked_for_holds_up_everybody(loopback: Loopback, connect: Connect) -> None:
    times: list[tuple[float, int]] = []
    first = threading.Event()

    def answer(call: Call) -> Answer:
        refused = not first.is_set()
        first.set()
        times.append((time.monotonic(), 429 if refused else 200))
        return error(429, "later", {"Retry-After": "0.5"}) if refused else chat("ok")

    loopback.answer = answer
    model = connect(max_connections=8)
    refused = threading.Thread(target=model.complete, args=(ASKED,))
    refused.start()
    first.wait()
    time.sleep(0.1)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: model.complete(ASKED), range(8)))
    refused.join()
    assert [status for _, status in times] == [429] + [200] * 9
    assert min(at for at, status in times if status == 200) - times[0][0] >= 0.49


class Limited:
    """A server that takes so many calls at a time, and answers 429 to what goes beyond."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._busy = self.on_429 = self.on_success = 0

    def __call__(self, call: Call) -> Answer:
        with self._lock:
            if self._busy >= self._most:
                self.on_429 += 1
                return error(429, "too many at a time")
            self._busy += 1
        time.sleep(0.02)
        with self._lock:
            self._busy -= 1
            self.on_success += 1
        return chat("ok")


def test_it_settles_at_what_the_server_takes_and_no_call_is_lost(
    loopback: Loopback, connect: Connect
) -> None:
    server = Limited(4)
    loopback.answer = server
    model = connect(max_connections=32, max_retries=0, patience=60.0)
    with ThreadPoolExecutor(32) as pool:
        texts = list(pool.map(lambda _: model.complete(ASKED).text, range(300)))
    assert texts == ["ok"] * 300
    assert server.on_success == 300
    assert server.on_429 < 200, "without backing off, 28 of every 32 attempts are refused"


@pytest.mark.parametrize(
    ("limit", "calls"),
    [
        ({"requests_per_minute": 600}, 11),
        # 100 tokens a prompt, foreseen from its 400 characters, of which the server says there were 50.
        ({"tokens_per_minute": 30_000}, 11),
    ],
)
def test_no_more_is_asked_in_a_minute_than_is_allowed(
    loopback: Loopback, connect: Connect, limit: dict[str, Any], calls: int
) -> None:
    loopback.answer = lambda call: chat("ok", tokens=usage(40, 10))
    model = connect(**limit)
    started = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: model.complete(ASKED), range(calls)))
    took = time.monotonic() - started
    # Ten a second; the first of them is free, and another quarter of a second's worth.
    assert 0.75 <= took < 4.0


def test_turns_are_taken_in_the_order_in_which_they_were_asked_for() -> None:
    pace, order = RateLimiter(ModelOptions(max_connections=1)), []

    def call(number: int) -> None:
        with turn(pace):
            order.append(number)

    with turn(pace):
        threads = [threading.Thread(target=call, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
            time.sleep(0.02)
    for thread in threads:
        thread.join()
    assert order == list(range(6))


def test_waiting_for_a_turn_ends_when_the_run_is_being_stopped() -> None:
    options = ModelOptions(max_connections=1)
    pace = RateLimiter(options)
    with turn(pace):
        threading.Timer(0.1, options.stopping.set).start()
        with pytest.raises(RunStopped), turn(pace):
            raise AssertionError("two calls where one is allowed")
