"""What both campaigns need: the command in a process of its own, a server that can fail and vanish, and comparisons."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import loopback
from loopback import MODEL, Answer, Call, Loopback, chat
from reading import record, rows

from reflex_bench.models.base import Message, Request
from reflex_bench.models.hashing import request_hash
from reflex_bench.models.simulated.model import answer

REFLEX = str(Path(sys.executable).with_name("reflex"))
OPENING = re.compile(r"you see [^\n]*\s+Your task is to: [^\n]*")
"""What tells the tasks of prompts apart; examples stand before it."""
FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
PATIENCE = 180  # seconds after which a process that has not ended is a failed check


@dataclass(frozen=True)
class Done:
    """A process that has ended."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line on stderr: what a person sees."""
        return self.err.strip().rpartition("\n")[2]


class Reflex:
    """The installed command, as a person runs it.

    Args:
        folder: where it finds its cache and home.
        variables: of its environment, on top of this process's own without keys and endpoints.
    """

    def __init__(self, folder: Path, **variables: str) -> None:
        own = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "REFLEX_BENCH_"))}
        self.variables = own | {"REFLEX_BENCH_CACHE": str(folder / "cache"), "COLUMNS": "100"} | variables

    def start(self, *arguments: object, cwd: Path | None = None, **variables: str) -> subprocess.Popen[str]:
        """Starts it; what it says is kept for `finish`."""
        return subprocess.Popen(
            [REFLEX, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="backslashreplace",
            cwd=cwd,
            env=self.variables | variables,
            # In the background of a shell SIGINT is ignored, and would be passed on.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )

    def __call__(self, *arguments: object, cwd: Path | None = None, **variables: str) -> Done:
        return finish(self.start(*arguments, cwd=cwd, **variables))


def finish(process: subprocess.Popen[str]) -> Done:
    """Waits for a process's end; one that hangs is killed, and says so."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += f"\nHANGS: killed after {PATIENCE} s"
    return Done(process.returncode, out, err)


def request_of(call: Call) -> Request:
    """The request that a post was made from."""
    body = call.body
    turns = tuple(Message(turn["role"], turn["content"]) for turn in body["messages"])
    stop, room = tuple(body.get("stop") or ()), body.get("max_tokens", body.get("max_completion_tokens"))
    return Request(turns, body.get("temperature", 0.7), room, stop, body.get("seed"))


def play(call: Call) -> Answer:
    """The simulated player behind a server: it reads the messages of the request, and nothing else."""
    return chat(answer(request_of(call)))


@dataclass(frozen=True)
class Post:
    """One post among all.

    Attributes:
        call: what came in.
        key: hash of its request, as in `calls.jsonl`.
        number: of the post, from 1.
        request: number of the request among the different ones, from 1.
        before: how often this request had been posted.
        task: number of its task among the different ones, from 1.
    """

    call: Call
    key: str
    number: int
    request: int
    before: int
    task: int


@dataclass
class Posts:
    """What a server was asked, by request.

    Attributes:
        times: of each post of a request, in seconds of a clock that does not jump.
        spoiled: how many of them were not answered properly.
        tasks: the openings of tasks, with their numbers.
        spoiled_tasks: the openings of the tasks with posts that were not.
    """

    times: dict[str, list[float]] = field(default_factory=dict)
    spoiled: Counter[str] = field(default_factory=Counter)
    tasks: dict[str, int] = field(default_factory=dict)
    spoiled_tasks: set[str] = field(default_factory=set)

    def counts(self) -> Counter[str]:
        return Counter({key: len(times) for key, times in self.times.items()})


class Server(Loopback):
    """Plays properly, except where `spoil` has another answer.

    Args:
        spoil: gives the answer to a post, or None for the proper one.
        latency: seconds before every proper answer.
    """

    def __init__(self, spoil: Callable[[Post], Answer | None] | None = None, latency: float = 0.0) -> None:
        self.posted = Posts()
        self.spoil, self.latency = spoil, latency
        self._counting = threading.Lock()
        super().__init__(self._decide)
        self._server.handle_error = self._note

    def _note(self, *_: object) -> None:
        """A client that is killed leaves half a request behind: no news. Anything else is."""
        if not isinstance(sys.exc_info()[1], ValueError):
            traceback.print_exc()

    def _decide(self, call: Call) -> Answer:
        key = request_hash(request_of(call))
        task = OPENING.findall("\n".join(turn["content"] for turn in call.body["messages"]))[-1]
        with self._counting:
            seen = self.posted
            times = seen.times.setdefault(key, [])
            number = 1 + sum(map(len, seen.times.values()))
            known = seen.tasks.setdefault(task, len(seen.tasks) + 1)
            post = Post(call, key, number, list(seen.times).index(key) + 1, len(times), known)
            times.append(time.monotonic())
        spoiled = self.spoil(post) if self.spoil else None
        if spoiled is None:
            return play(call).but(wait=self.latency)
        with self._counting:
            self.posted.spoiled[key] += 1
            self.posted.spoiled_tasks.add(task)
        return spoiled

    def vanish(self, seconds: float | None = None) -> None:
        """Refuses connections and breaks those there are, for a while or until `come_back`."""
        self._server.shutdown()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._thread.join()
        if seconds is not None:
            time.sleep(seconds)
            self.come_back()

    def come_back(self) -> None:
        """Listens again, where it did before."""
        again = loopback._Server.__new__(loopback._Server)
        ThreadingHTTPServer.__init__(again, self._server.server_address, loopback._Handler)
        again.owner, self._server = self, again
        again.handle_error = self._note
        self._thread = threading.Thread(target=again.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()


@contextlib.contextmanager
def jumping_clock(folder: Path) -> Iterator[Mapping[str, str]]:
    """Variables under which a process's wall clock jumps a day ahead and back ten times a second."""
    file, over = folder / "clock", threading.Event()

    def jump() -> None:
        for shift in ("+1d", "-1d", "+0") * 10_000:
            new = file.with_suffix(".new")
            new.write_text(shift)
            new.replace(file)
            if over.wait(0.1):
                return

    file.write_text("+0")
    thread = threading.Thread(target=jump)
    thread.start()
    fake = {"FAKETIME_TIMESTAMP_FILE": str(file), "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1"}
    try:
        yield {**fake, "LD_PRELOAD": str(FAKETIME[-1]), "NO_FAKE_STAT": "1"}
    finally:
        over.set()
        thread.join()


def served(url: str) -> tuple[object, ...]:
    """Arguments of `reflex bench` for a model behind a server."""
    return ("--model", f"openai/{MODEL}", "--base-url", url)


def found_out(run: Path) -> dict[str, Any]:
    """What must be equal in two equal runs: trials without their wall times, and all files that are made of them."""
    trials, files = record(run)
    for folder in ("tables", "memory"):
        files |= {
            f"{folder}/{path.name}": path.read_bytes()
            for path in sorted((run / folder).glob("*"))
            if path.is_file()
        }
    return {"trials.jsonl": trials, **files}


def unlike(run: Path, whole: Mapping[str, Any]) -> str:
    """The files in which a run differs from what `found_out` says of another; "" where it is equal."""
    try:
        mine = found_out(run)
    except (OSError, ValueError) as error:
        return f"unreadable: {type(error).__name__}"
    return ", ".join(
        name for name in sorted({*mine, *whole}) if mine.get(name, None) != whole.get(name, None)
    )


def doubled(run: Path) -> tuple[int, int]:
    """Rows of the same arm, task and trial beyond the first; answers to the same call beyond the first."""
    trials = Counter((row["arm"], row["task"], row["trial"]) for row in rows(run / "trials.jsonl"))
    for file in (run / "trajectories").glob("*.jsonl"):
        each = Counter((row["arm"], row["task"], row["trial"]) for row in rows(file))
        trials.update({key: count - 1 for key, count in each.items()})
    calls = Counter(
        (row["attempt"], row["role"], row["call"], row.get("again", 0))
        for row in rows(run / "calls.jsonl")
        if not row.get("lost")
    )
    return sum(n - 1 for n in trials.values()), sum(n - 1 for n in calls.values())


def shortened(text: str, limit: int) -> str:
    """Text of one line, cut in the middle to `limit` characters."""
    line = " ".join(text.split()).replace("|", "/")
    half = (limit - 1) // 2
    return line if len(line) <= limit else f"{line[:half]}…{line[-half:]}"


def print_table(headers: Sequence[str], lines: Iterable[Sequence[object]], markdown: bool) -> None:
    """Prints a table, in columns or as Markdown."""
    cells = [[str(cell) for cell in line] for line in lines]
    if markdown:
        for line in [list(headers), ["---"] * len(headers), *cells]:
            print("| " + " | ".join(line) + " |")
        return
    widths = [max(map(len, column)) for column in zip(headers, *cells, strict=True)]
    width = min(shutil.get_terminal_size((240, 40)).columns, 400)
    for line in [list(headers), ["─" * each for each in widths], *cells]:
        print("  ".join(map(str.ljust, line, widths)).rstrip()[:width])
