"""Runs the official engine in processes of its own, so that threads may use it.

A worker plays one game at a time and is replaced after some games, because the engine never frees what it loaded.
Parent and worker exchange one JSON line a message over the worker's standard input and output; when the parent ends,
however it ends, the worker reads the end of its input and ends too.
"""

from __future__ import annotations

import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import EnvironmentFailure
from reflex_bench.envs.alfworld.engine.loading.pddl import UnwinnableGame
from reflex_bench.envs.alfworld.official.engine import OfficialGame, OfficialStep

CALL_TIMEOUT = 120.0  # seconds for one message; loading takes about 2, a step 0.1
GAMES_PER_WORKER = 25

# The working folder must not shadow installed modules; `-P` came only with Python 3.11.
_PROGRAM = (
    "import sys; sys.path[:] = [folder for folder in sys.path if folder]; "
    "from reflex_bench.envs.alfworld.official.workers import serve; serve()"
)


class WorkerPool:
    """At most `size` engine processes, started when needed.

    Args:
        size: how many games may be open at once; who asks for one more waits.
        timeout: seconds to wait for an answer before the worker is killed.
        games_per_worker: games after which a worker is replaced.
    """

    def __init__(
        self, size: int, timeout: float = CALL_TIMEOUT, games_per_worker: int = GAMES_PER_WORKER
    ) -> None:
        self._timeout = timeout
        self._games_per_worker = games_per_worker
        self._seats = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._closed = False

    def open(self, path: Path) -> RemoteGame:
        """Return a game in a worker of its own until it is closed; waits while all workers are taken."""
        self._seats.acquire()
        try:
            with self._lock:
                if self._closed:
                    raise EnvironmentFailure("the ALFWorld engine is closed")
                worker = self._idle.pop() if self._idle else _Worker(self._timeout)
                self._busy.add(worker)
        except BaseException:
            self._seats.release()
            raise
        return RemoteGame(worker, path, self._take_back)

    def close(self) -> None:
        """Ends all workers, also those at play; safe to call twice."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for worker in self._busy:
                worker.kill()  # its thread may be waiting for an answer: it clears up when it gives the game back
        for worker in idle:
            worker.stop()

    def _take_back(self, worker: _Worker) -> None:
        with self._lock:
            self._busy.discard(worker)
            reusable = not self._closed and worker.usable and worker.games < self._games_per_worker
            if reusable:
                self._idle.append(worker)
        if not reusable:
            worker.stop()
        self._seats.release()


class RemoteGame:
    """One game played by a worker, with the methods of `OfficialGame`.

    Every failure of the worker (crash, time-out, exception) is an `EnvironmentFailure`, never an observation.
    """

    def __init__(self, worker: _Worker, path: Path, give_back: Callable[[_Worker], None]) -> None:
        self._worker: _Worker | None = worker
        self._path = path
        self._give_back = give_back

    def reset(self) -> OfficialStep:
        worker = self._working()
        worker.games += 1
        return worker.ask({"load": str(self._path)})

    def step(self, command: str) -> OfficialStep:
        return self._working().ask({"step": command})

    def close(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._give_back(worker)

    def _working(self) -> _Worker:
        if self._worker is None:
            raise EnvironmentFailure("the game is closed")
        return self._worker


class _Worker:
    """One engine process."""

    def __init__(self, timeout: float) -> None:
        self.usable = True
        self.games = 0
        self._timeout = timeout
        self._pending = b""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `stop`)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
        )

    def ask(self, message: dict[str, str]) -> OfficialStep:
        """Return one message and its answer."""
        if not self.usable:
            raise EnvironmentFailure("the ALFWorld engine process has ended")
        try:
            reply = self._exchange(message)
        except BaseException:
            # Also after an interruption: an answer that nobody read would be taken for the next one.
            self.stop()
            raise
        if "failure" in reply:
            self.stop()
            raise EnvironmentFailure(f"the ALFWorld engine failed: {reply['failure']}")
        return OfficialStep(reply["observation"], reply["won"], tuple(reply["admissible"]))

    def kill(self) -> None:
        """Ends the process, which has nothing to save; whoever waits for its answer is told."""
        self.usable = False
        self._process.kill()

    def stop(self) -> None:
        """Ends the process and frees everything; safe to call twice."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                pipe.close()

    def _exchange(self, message: dict[str, str]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
        except OSError:
            raise EnvironmentFailure(f"the ALFWorld engine process ended: {self._last_words()}") from None
        line = self._read_line()
        try:
            reply: dict[str, Any] = json.loads(line)
        except ValueError:
            raise EnvironmentFailure(f"the ALFWorld engine gave no proper answer: {line[:80]!r}") from None
        return reply

    def _read_line(self) -> bytes:
        assert self._process.stdout is not None
        deadline = time.monotonic() + self._timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise EnvironmentFailure(f"the ALFWorld engine gave no answer in {self._timeout:g} s")
                chunk = os.read(self._process.stdout.fileno(), 1 << 16)
                if not chunk:
                    raise EnvironmentFailure(f"the ALFWorld engine process ended: {self._last_words()}")
                self._pending += chunk
        line, self._pending = self._pending.split(b"\n", 1)
        return line

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "without a word")


def serve() -> None:
    """Answer messages until the input ends: the worker's side."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends its workers
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the engine prints must not look like an answer
    messages: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(messages,), daemon=True).start()
    game: OfficialGame | None = None
    while True:
        message = json.loads(messages.get())
        try:
            if "load" in message:
                if game is not None:
                    game.close()
                game = OfficialGame(message["load"])
                step = game.reset()
            else:
                assert game is not None
                step = game.step(message["step"])
            reply: dict[str, Any] = asdict(step)
        except UnwinnableGame as error:
            reply = {"failure": str(error)}
        except (Exception, SystemExit) as error:  # the translator exits at what it cannot read
            reply = {"failure": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def _listen(messages: queue.SimpleQueue[str]) -> None:
    """Ends the process with its parent, even while the engine is at work in the other thread."""
    for line in sys.stdin:
        messages.put(line)
    os._exit(0)
