"""Threads take turns at computing, and none waits for one that only waits itself."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from loopback import MODEL, Loopback, chat, error

from reflex_bench.agents.memory.similarity import Embeddings
from reflex_bench.core import compute_lock as turns
from reflex_bench.core.compute_lock import Turns, Urgency, give_up, take_back, waiting
from reflex_bench.core.errors import EnvironmentFailure, ModelError, ReflexError
from reflex_bench.envs.alfworld.official.workers import WorkerPool
from reflex_bench.envs.hotpotqa.corpus.wikipedia import Wikipedia
from reflex_bench.models.base import Message, Request
from reflex_bench.models.openai.model import OpenAIModel
from reflex_bench.models.pacing import Pace
from reflex_bench.models.registry import ModelOptions

pytestmark = pytest.mark.slow

SOON = 0.9
"""Seconds: below `turns.PATIENCE`, after which nobody waits any more, and below `LONG`."""
LONG = 1.6
"""Seconds that something takes in which others may compute."""
ASKED = Request((Message("user", "Where is the mug?"),))


@contextmanager
def running(*works: Callable[[], object]) -> Iterator[None]:
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def queued(shared: Turns, count: int) -> None:
    end = time.monotonic() + 5
    while len(shared._waiting) < count and time.monotonic() < end:
        time.sleep(0.002)
    assert len(shared._waiting) == count


def test_one_thread_computes_at_a_time_and_others_while_it_waits() -> None:
    shared, guard, now, most = Turns(), threading.Lock(), 0, 0
    seen: list[int] = []

    def compute() -> None:
        nonlocal now, most
        with guard:
            now += 1
            most = max(most, now)
        time.sleep(0.001)
        with guard:
            now -= 1

    def work() -> None:
        for _ in range(20):
            with shared.one():
                compute()
                with waiting():
                    seen.append(threading.get_ident())
                compute()

    with running(*[work] * 8):
        pass
    assert most == 1
    assert len(seen) == 160
    assert shared.take(Urgency.COMPUTE), "everyone gave it back"


def test_who_sends_goes_first_then_who_was_answered_and_equals_in_the_order_they_came() -> None:
    shared, order = Turns(), []

    def work(name: str, urgency: Urgency) -> None:
        shared.take(urgency)
        order.append(name)
        shared.give()

    arrivals = [
        ("computes", Urgency.COMPUTE),
        ("reads", Urgency.READ),
        ("sends", Urgency.SEND),
        ("computes later", Urgency.COMPUTE),
        ("sends later", Urgency.SEND),
    ]
    assert shared.take(Urgency.COMPUTE)
    threads = []
    for number, arrival in enumerate(arrivals):
        threads.append(threading.Thread(target=work, args=arrival))
        threads[-1].start()
        queued(shared, number + 1)
    shared.give()
    for thread in threads:
        thread.join(5)
    assert order == ["sends", "sends later", "reads", "computes", "computes later"]


def test_a_thread_that_is_blocked_with_the_turn_holds_up_nobody_for_long() -> None:
    shared, blocked, free = Turns(), threading.Event(), threading.Event()

    def block() -> None:
        with shared.one():
            blocked.set()
            free.wait(10)

    with running(block):
        blocked.wait(5)
        clock = time.monotonic()
        with shared.one():
            assert turns.PATIENCE <= time.monotonic() - clock < turns.PATIENCE + 1
        # It went on without the turn, so it gave none back: the next one has to wait as well.
        assert not shared.take(Urgency.SEND)
        free.set()
    assert shared.take(Urgency.SEND)


def test_an_error_gives_the_turn_back() -> None:
    shared = Turns()
    with pytest.raises(ValueError, match="mug"), shared.one():
        raise ValueError("mug")
    with pytest.raises(ValueError, match="mug"), shared.one(), waiting():
        raise ValueError("mug")
    assert shared.take(Urgency.COMPUTE)


def test_a_thread_that_takes_no_turns_never_waits_for_one() -> None:
    shared = Turns()
    assert shared.take(Urgency.COMPUTE)
    clock = time.monotonic()
    with waiting(Urgency.SEND):
        give_up()
    take_back(Urgency.READ)
    assert time.monotonic() - clock < SOON
    shared.give()


@pytest.fixture
def model(loopback: Loopback) -> Iterator[OpenAIModel]:
    options = ModelOptions(timeout=5.0, max_retries=1)
    with closing(OpenAIModel(MODEL, loopback.base_url, "", options)) as opened:
        yield opened


@contextmanager
def in_a_turn(work: Callable[[], object]) -> Iterator[Turns]:
    """Does something with the turn in a thread, and goes on while it is under way."""
    shared, begun = Turns(), threading.Event()

    def inside() -> None:
        with shared.one():
            begun.set()
            work()

    with running(inside):
        begun.wait(5)
        time.sleep(0.05)
        yield shared


def let_go(shared: Turns) -> bool:
    """Whether the turn can be had soon."""
    clock = time.monotonic()
    return shared.take(Urgency.COMPUTE) and time.monotonic() - clock < SOON


def test_a_call_lets_others_compute_until_its_answer_is_there(loopback: Loopback, model: OpenAIModel) -> None:
    loopback.play(chat("ok").but(wait=LONG))
    with in_a_turn(lambda: model.complete(ASKED)) as shared:
        assert let_go(shared)
        shared.give()


def test_an_answer_that_drips_lets_others_compute(loopback: Loopback, model: OpenAIModel) -> None:
    answer = chat("ok")
    loopback.play(answer.but(drip=LONG / len(answer.body)))
    with in_a_turn(lambda: model.complete(ASKED)) as shared:
        time.sleep(0.1)
        assert let_go(shared)
        shared.give()


def test_a_call_has_the_turn_again_when_it_returns_however_it_ends(
    loopback: Loopback, model: OpenAIModel
) -> None:
    has = []
    broken = chat("ok").but(reset_after=9)
    loopback.play(chat("ok"), error(500, "on fire"), chat("ok"), broken, broken, error(404, "no model"))
    shared = Turns()
    with shared.one():
        for _ in range(4):
            try:
                model.complete(ASKED)
            except ReflexError as failure:
                has.append((type(failure).__name__, turns._mine.has_turn))
            else:
                has.append(("", turns._mine.has_turn))
    assert has == [("", True), ("", True), ("ModelError", True), ("RunStopped", True)]
    assert shared.take(Urgency.COMPUTE)


def test_a_connection_that_does_not_come_about_lets_others_compute() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        host, port = server.getsockname()
        for _ in range(3):  # nobody accepts these, and they leave no room for another
            waits = stack.enter_context(socket.socket())
            waits.setblocking(False)
            waits.connect_ex((host, port))
        options = ModelOptions(timeout=LONG, max_retries=0)
        away = stack.enter_context(closing(OpenAIModel(MODEL, f"http://{host}:{port}/v1", "", options)))

        def ask() -> None:
            with pytest.raises(ModelError, match="did not answer"):
                away.complete(ASKED)

        with in_a_turn(ask) as shared:
            time.sleep(0.1)
            assert let_go(shared)
            shared.give()


def test_a_body_that_is_not_taken_lets_others_compute() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        host, port = server.getsockname()

        def answer_once() -> None:
            connection = stack.enter_context(server.accept()[0])
            connection.recv(1 << 16)
            body = chat("ok").body
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

        options = ModelOptions(timeout=2.0, max_retries=0)
        model = stack.enter_context(closing(OpenAIModel(MODEL, f"http://{host}:{port}/v1", "", options)))
        with running(answer_once):
            model.complete(ASKED)
        more_than_all_buffers = Request((Message("user", "mug " * 5_000_000),))

        def ask() -> None:
            with pytest.raises(ModelError, match="did not answer"):
                model.complete(more_than_all_buffers)

        with in_a_turn(ask) as shared:
            time.sleep(0.5)  # in which the body is built
            assert let_go(shared)
            shared.give()


def test_a_server_that_nobody_reaches_gives_the_turn_back(loopback: Loopback) -> None:
    loopback.close()
    away = OpenAIModel(MODEL, loopback.base_url, "", ModelOptions(max_retries=0))
    with closing(away), Turns().one():
        with pytest.raises(ModelError, match="failed"):
            away.complete(ASKED)
        assert turns._mine.has_turn


def test_the_pause_before_another_attempt_lets_others_compute(loopback: Loopback, model: OpenAIModel) -> None:
    loopback.play(error(503, "busy", {"Retry-After": str(LONG)}), chat("ok"))
    with in_a_turn(lambda: model.complete(ASKED)) as shared:
        time.sleep(0.1)
        assert let_go(shared)
        shared.give()


def test_a_call_that_may_not_begin_lets_others_compute() -> None:
    pace = Pace(ModelOptions(requests_per_minute=32))
    pace.begin(0)  # from another thread, which leaves nothing for the next 1.6 s
    pace.end()
    with in_a_turn(lambda: (pace.begin(0), pace.end())) as shared:
        assert let_go(shared)
        shared.give()


def test_a_game_that_waits_for_an_engine_lets_others_compute(tmp_path: Path) -> None:
    pool = WorkerPool(size=1)
    taken = pool.open(tmp_path)
    try:
        with in_a_turn(lambda: pool.open(tmp_path).close()) as shared:
            assert let_go(shared)
            shared.give()
            taken.close()
    finally:
        pool.close()


def test_a_game_that_an_engine_is_reading_lets_others_compute(tmp_path: Path) -> None:
    pool = WorkerPool(size=1)

    def read() -> None:
        # No game is there; the engine takes its time to find that out.
        with pytest.raises(EnvironmentFailure):
            pool.open(tmp_path).reset()

    with in_a_turn(read) as shared:
        time.sleep(0.2)
        assert let_go(shared)
        shared.give()
    pool.close()


def test_a_query_that_waits_for_a_wiki_lets_others_compute(tmp_path: Path) -> None:
    with Loopback(listing=chat("no wiki").but(wait=LONG)) as server:
        wiki = Wikipedia(tmp_path / "pages.jsonl", f"{server.base_url}/models", attempts=1)

        def find() -> None:
            with pytest.raises(EnvironmentFailure, match="Wikipedia"):
                wiki.find("mug", 3)

        with in_a_turn(find) as shared:
            assert let_go(shared)
            shared.give()


def test_texts_that_wait_for_their_vectors_let_others_compute() -> None:
    answered = threading.Event()

    def embed(texts: list[str]) -> list[list[float]]:
        answered.wait(LONG)
        return [[1.0, 0.0] for _ in texts]

    import numpy  # noqa: F401 - its first import takes longer than anybody should wait

    compared = Embeddings("slow", embed)
    with in_a_turn(lambda: compared.scores("mug", ["cup"])) as shared:
        assert let_go(shared)
        shared.give()
        answered.set()
