"""An OpenAI-compatible server on the loopback interface that answers, and misbehaves, by script.

    with Loopback() as server:
        server.play(error(429, "slow down", headers={"Retry-After": "0.05"}), chat("go to desk 1"))
        ...  # talk to server.base_url
        assert [call.path for call in server.calls] == [...]

What is scripted is played once and in order to whoever posts next; after that, `answer` decides.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, TypeVar

Serving = TypeVar("Serving", bound="Loopback")

MODEL = "loopback"


@dataclass(frozen=True)
class Call:
    """One request that came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """One answer to give.

    Attributes:
        wait: seconds before the first byte.
        drip: seconds before each further byte of the body; 0 sends all at once.
        reset_after: bytes of the body after which the connection is reset.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    wait: float = 0.0
    drip: float = 0.0
    reset_after: int | None = None

    def but(self, **changes: Any) -> Answer:
        return replace(self, **changes)


def as_json(data: object, status: int = 200) -> Answer:
    return Answer(json.dumps(data).encode(), status)


def page(html: str, status: int = 200) -> Answer:
    return Answer(html.encode(), status, {"Content-Type": "text/html"})


def usage(prompt: int = 12, completion: int = 3, cached: int | None = None) -> dict[str, Any]:
    counts: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    return counts if cached is None else {**counts, "prompt_tokens_details": {"cached_tokens": cached}}


def chat(
    text: str | None, finish: str = "stop", tokens: dict[str, Any] | None = None, **message: Any
) -> Answer:
    """A chat completion; `message` adds to the message, e.g. `reasoning_content`."""
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": text, **message},
    }
    return _reply("chat.completion", choice, tokens)


def completion(text: str, finish: str = "stop", tokens: dict[str, Any] | None = None) -> Answer:
    """A text completion."""
    return _reply("text_completion", {"index": 0, "finish_reason": finish, "text": text}, tokens)


def _reply(kind: str, choice: dict[str, Any], tokens: dict[str, Any] | None) -> Answer:
    return as_json(
        {
            "id": "reply-1",
            "object": kind,
            "created": 1,
            "model": f"{MODEL}-2026-01-01",
            "system_fingerprint": "fp_loopback",
            "choices": [choice],
            "usage": usage() if tokens is None else tokens,
        }
    )


def response(*output: dict[str, Any], status: str = "completed", **fields: Any) -> Answer:
    """An answer of the Responses API with these output items."""
    counts = {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    }
    return as_json(
        {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "model": f"{MODEL}-2026-01-01",
            "output": list(output),
            "usage": counts,
            **fields,
        }
    )


def said(text: str) -> dict[str, Any]:
    """A message, as an output item of the Responses API."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def error(status: int, message: str, headers: Mapping[str, str] | None = None, **fields: Any) -> Answer:
    """An error in OpenAI's form; `fields` are `code`, `type`, `param`."""
    answer = as_json({"error": {"message": message, **fields}}, status)
    return answer.but(headers={**answer.headers, **(headers or {})})


def models(*names: str) -> Answer:
    return as_json({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})


def agreeable(call: Call) -> Answer:
    """Says `ok` in the shape that the path asks for."""
    if call.path.endswith("/responses"):
        return response(said("ok"))
    return chat("ok") if call.path.endswith("/chat/completions") else completion(" ok")


def thinking(
    said: dict[str, Any], room: int, tokens: int, field: str = "reasoning_content"
) -> dict[str, Any]:
    """A chat completion as a reasoning model gives it, which thinks before it says the same.

    Args:
        said: the completion of a model that does not think.
        room: most tokens of the reply.
        tokens: how many it thinks for; where there is no room for them and one more, the reply ends within.
        field: where the reasoning stands; `text` for marks in the content.
    """
    choice, usage = dict(said["choices"][0]), dict(said["usage"])
    content, thought = choice["message"]["content"], "hm " * min(tokens, room)
    is_cut = tokens >= room
    message: dict[str, Any]
    if field == "text":
        message = {"content": f"<think>{thought}" if is_cut else f"<think>{thought}</think>\n\n{content}"}
    else:
        message = {"content": None if is_cut else content, field: thought}
    choice |= {"finish_reason": "length" if is_cut else choice["finish_reason"]}
    choice["message"] = {"role": "assistant", **message}
    usage["completion_tokens"] = room if is_cut else usage["completion_tokens"] + tokens
    usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
    usage["completion_tokens_details"] = {"reasoning_tokens": min(tokens, room)}
    return {**said, "choices": [choice], "usage": usage}


class Loopback:
    """The server; a context manager, or `close` it.

    Args:
        answer: decides once the script is over; called from one thread a connection.
        listing: the answer to `GET /v1/models`.
        slots: what `GET /props` tells, as llama.cpp's server does; None: 404, as most servers answer.
    """

    def __init__(
        self,
        answer: Callable[[Call], Answer] = agreeable,
        listing: Answer | None = None,
        slots: int | None = None,
    ) -> None:
        self.answer = answer
        self.slots = slots
        self.listing = models(MODEL) if listing is None else listing
        self.calls: list[Call] = []
        self.busiest = 0
        self._busy = 0
        self._script: deque[Answer] = deque()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._listen()
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def _listen(self, port: int = 0) -> None:
        """Listens at a port; 0 is one that is free."""
        self._server = _Server(self, port)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def note_fault(self) -> None:
        """Is called where the answering of a call raised an error."""
        traceback.print_exc()

    def play(self, *answers: Answer) -> None:
        """Adds to the script."""
        with self._lock:
            self._script.extend(answers)

    @property
    def posts(self) -> list[Call]:
        """The calls that asked for a reply."""
        return [call for call in self.calls if call.method == "POST"]

    def close(self) -> None:
        self._stopping.set()
        self._server.shutdown()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._thread.join()

    def __enter__(self: Serving) -> Serving:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer_to(self, call: Call) -> Answer:
        with self._lock:
            self.calls.append(call)
            if call.path == "/props":
                return (
                    error(404, "no such path") if self.slots is None else as_json({"total_slots": self.slots})
                )
            if call.method == "GET":
                return self.listing
            if self._script:
                return self._script.popleft()
        return self.answer(call)

    def _serve(self, call: Call, connection: socket.socket) -> bool:
        """Answers one call; False ends the connection."""
        with self._lock:
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        try:
            answer = self._answer_to(call)
            self._stopping.wait(answer.wait)
        finally:
            with self._lock:
                self._busy -= 1
        lines = [f"HTTP/1.1 {answer.status} Scripted", f"Content-Length: {len(answer.body)}"]
        lines += [f"{name}: {value}" for name, value in answer.headers.items()]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        if answer.reset_after is not None:
            connection.sendall(head + answer.body[: answer.reset_after])
            # The client must have read this much before the reset throws away what is on its way.
            self._stopping.wait(0.05)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if not answer.drip:
            connection.sendall(head + answer.body)
            return True
        connection.sendall(head)
        for byte in answer.body:
            if self._stopping.wait(answer.drip):
                return False
            connection.sendall(bytes([byte]))
        return True


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 256

    def __init__(self, owner: Loopback, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.owner = owner

    def handle_error(self, request: object, client_address: object) -> None:
        self.owner.note_fault()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.owner._open.add(self.connection)

    def finish(self) -> None:
        self.server.owner._open.discard(self.connection)
        super().finish()

    def handle(self) -> None:
        # A client that has given up closes its end: no news.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        self._take(None)

    def do_POST(self) -> None:
        self._take(json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0)))))

    def _take(self, body: Any) -> None:
        call = Call(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        if not self.server.owner._serve(call, self.connection):
            self.close_connection = True
            # Without this the server says goodbye in an orderly way first, and nothing is reset.
            self.connection.close()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""
