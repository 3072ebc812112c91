#!/usr/bin/env python
"""An OpenAI-compatible server to load the harness with: a fixed latency, so many slots, a count of how busy they were.

    scripts/load_server.py [--latency 0.2] [--slots 64] [--player constant|simulated] [--text look] [--think 0]

It prints its address and serves until it is killed. No language model answers: `constant` says the same text to
everything, `simulated` is the project's stand-in behind HTTP. With `--think N` a player's reply begins with N tokens of
reasoning, in a field of its own, and is cut off where the request leaves no room for it. A request beyond the slots
waits for one. `GET /stats` tells, and begins to count anew:

- `calls`: answered;
- `most`: requests that were being answered at one time;
- `first`, `last`: when the first request came and the last answer went, in seconds since 1970;
- `busy`: pairs of a time and the slot-seconds taken until then, about ten a second; a request takes its slot from its
  last byte to its answer's first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

Answerer = Callable[[bytes], dict[str, Any]]

SAMPLE_EVERY = 0.1  # seconds


class Slots:
    """What is being answered, and what waits for it."""

    def __init__(self, count: int, latency: float, answer: Answerer, pool: Executor | None) -> None:
        self.count, self.latency, self.answer, self.pool = count, latency, answer, pool
        self.waiting: deque[tuple[Connection, bytes]] = deque()
        self.busy = 0
        self.reset()

    def reset(self) -> None:
        self.calls = self.most = 0
        self.first = self.last = self.taken = 0.0
        self.at = time.time()
        self.samples: list[tuple[float, float]] = []

    def change(self, by: int) -> float:
        """A slot more or less is taken from now on."""
        now = time.time()
        self.taken += self.busy * (now - self.at)
        self.busy += by
        self.most, self.at = max(self.most, self.busy), now
        if not self.samples or now - self.samples[-1][0] >= SAMPLE_EVERY:
            self.samples.append((now, self.taken))
        return now

    def take(self, connection: Connection, body: bytes) -> None:
        if self.busy >= self.count:
            self.waiting.append((connection, body))
            return
        begun = time.monotonic()
        now = self.change(+1)
        self.first = self.first or now
        if self.pool is None:
            self.later(connection, self.answer(body), begun)
            return
        # What takes its time is computed elsewhere: meanwhile no request may wait to be counted.
        asked = asyncio.get_running_loop().run_in_executor(self.pool, self.answer, body)
        asked.add_done_callback(lambda done: self.later(connection, done.result(), begun))

    def later(self, connection: Connection, said: dict[str, Any], begun: float) -> None:
        if self.latency:
            asyncio.get_running_loop().call_at(begun + self.latency, self.finish, connection, said)
        else:
            self.finish(connection, said)

    def finish(self, connection: Connection, said: dict[str, Any]) -> None:
        self.last = self.change(-1)
        self.calls += 1
        connection.send(json.dumps(said).encode())
        if self.waiting:
            self.take(*self.waiting.popleft())

    def stats(self) -> bytes:
        self.samples.append((self.at, self.taken))
        told = {name: getattr(self, name) for name in ("calls", "most", "first", "last")}
        body = json.dumps({**told, "busy": self.samples}).encode()
        self.reset()
        return body


def completion(text: str) -> dict[str, Any]:
    """A chat completion in the form of OpenAI's API."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    tokens = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
    whole = {"id": "load", "object": "chat.completion", "created": 1, "model": "load", "choices": [choice]}
    return {**whole, "usage": tokens}


class Connection(asyncio.Protocol):
    """One client's connection: HTTP/1.1 with `Content-Length`, one request after another."""

    def __init__(self, slots: Slots, model: str) -> None:
        self._slots, self._model = slots, model
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        lines = head.lower().split(b"\r\n")
        lengths = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
        length = lengths[0] if lengths else 0
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        if lines[0].startswith(b"get /stats"):
            self.send(self._slots.stats())
        elif lines[0].startswith(b"get "):
            self.send(json.dumps({"object": "list", "data": [{"id": self._model}]}).encode())
        else:
            self._slots.take(self, rest[:length])

    def send(self, body: bytes) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        if not self._transport.is_closing():
            self._transport.write(head.encode() + body)


def simulated(body: bytes) -> dict[str, Any]:
    """What the stand-in that `--model simulated` is makes of a request."""
    from reflex_bench.models.base import Message, Request
    from reflex_bench.models.simulated.model import answer

    asked = json.loads(body)
    messages = tuple(Message(turn["role"], turn["content"]) for turn in asked["messages"])
    seed, stop = asked.get("seed"), tuple(asked.get("stop") or ())
    return completion(answer(Request(messages, asked["temperature"], asked["max_tokens"], stop, seed)))


def thinks(body: bytes, answer: Answerer, tokens: int) -> dict[str, Any]:
    """What a player says after so many tokens of reasoning."""
    from loopback import thinking

    return thinking(answer(body), json.loads(body)["max_tokens"], tokens)


def constant(body: bytes, text: str) -> dict[str, Any]:
    """The same to everything."""
    return completion(text)


@dataclass(frozen=True)
class Server:
    """A server in a process of its own."""

    url: str
    model: str

    def stats(self) -> dict[str, Any]:
        """What it counted since the last time."""
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/stats") as answer:
            told: dict[str, Any] = json.load(answer)
        return told


@contextmanager
def running(player: str, latency: float, slots: int = 64, think: int = 0) -> Iterator[Server]:
    """Starts a server, and ends it."""
    arguments = ["--player", player, "--latency", str(latency), "--slots", str(slots), "--think", str(think)]
    process = subprocess.Popen([sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().strip(), f"{player}-player")
    finally:
        process.terminate()
        process.communicate()


async def serve(slots: Slots, model: str) -> None:
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(slots, model), "127.0.0.1", 0, backlog=1024
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--player", choices=("constant", "simulated"), default="constant")
    parser.add_argument("--text", default="look", help="what `constant` says")
    parser.add_argument("--think", type=int, default=0, help="tokens of reasoning before every reply")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    is_simulated = given.player == "simulated"
    answer: Answerer = simulated if is_simulated else partial(constant, text=given.text)
    if given.think:
        sys.path.append(str(Path(__file__).parent.parent / "tests"))
        answer = partial(thinks, answer=answer, tokens=given.think)
    with ProcessPoolExecutor(1) if is_simulated else nullcontext() as pool:
        slots = Slots(given.slots, given.latency, answer, pool)
        with suppress(KeyboardInterrupt):
            asyncio.run(serve(slots, f"{given.player}-player"))


if __name__ == "__main__":
    main()
