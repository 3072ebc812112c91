"""The journal of model calls: every reply is written down before it is used, so that none is ever paid for twice."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from reflex_bench.harness.errors import RunStopped, UsageError
from reflex_bench.models.base import Reply, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class Call:
    """Which call of a run this is.

    Attributes:
        attempt: the experiment it belongs to; arms that share a trial share its calls.
        number: from 1, within the attempt and role.
        arm, task, trial, step, role: for the reader.
    """

    attempt: str
    number: int
    arm: str
    task: str
    trial: int
    step: int
    role: str


class AppendFile:
    """A file of lines that survives being killed: each line is written whole, and synced before `append` returns.

    Threads that wait for a sync share one (group commit), so that many callers cost few syncs.

    Args:
        path: made if it is not there; a torn last line is cut off.
        durable: False leaves syncing to the system, for lines that cost nothing to make again.
    """

    def __init__(self, path: Path, durable: bool = True) -> None:
        cut_torn_line(path)
        self._path = path
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 - lives as long as the run
        self._durable = durable
        self._write_lock, self._sync_lock = threading.Lock(), threading.Lock()
        self._written = self._synced = 0

    def append(self, row: Any) -> None:
        """Writes one row as a JSON line."""
        line = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n").encode(
            "utf-8", "surrogatepass"
        )
        with self._write_lock:
            self._write_whole(line)
            self._written += 1
            mine = self._written
        if self._durable:
            with self._sync_lock:
                if self._synced < mine:
                    upto = self._written
                    os.fsync(self._file.fileno())
                    self._synced = upto

    def _write_whole(self, line: bytes) -> None:
        before = self._file.seek(0, os.SEEK_END)
        try:
            if self._file.write(line) == len(line):
                return
            raise OSError("the disk took only a part of a line")
        except OSError as error:
            self._file.truncate(before)
            raise RunStopped(f"cannot write {self._path}: {error.strerror or error}") from None

    def close(self) -> None:
        """Closes the file; nothing is pending."""
        self._file.close()


def cut_torn_line(path: Path) -> None:
    """Cuts off what follows the last line end: the mark of a process that was killed while writing."""
    if not path.exists():
        return
    with open(path, "rb+") as file:
        end = file.seek(0, os.SEEK_END)
        position = end
        while position > 0:
            start = max(0, position - 65536)
            file.seek(start)
            block = file.read(position - start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                position = start + newline + 1
                break
            position = start
        if position != end:
            file.truncate(position)


class Journal:
    """`calls.jsonl` of one run.

    Args:
        path: the file.
        durable: see `AppendFile`.
        tasks: the tasks whose recorded replies may be asked for again; None for a run that has just begun.
    """

    def __init__(self, path: Path, durable: bool, tasks: Collection[str] | None = None) -> None:
        self._file = AppendFile(path, durable)
        self._recorded = dict(_recorded(path, tasks)) if tasks else {}

    def reply(self, call: Call, request: str, ask: Callable[[], Reply]) -> Reply:
        """The recorded reply to this very call, or a new one, written down before it is returned.

        Args:
            call: which call.
            request: hash of the request; a recorded reply to another request is not used.
            ask: makes the call.
        """
        recorded = self._recorded.get((call.attempt, call.role, call.number, request))
        if recorded is not None:
            return recorded
        reply = ask()
        row = asdict(call)
        row["call"] = row.pop("number")
        row["request"] = request
        row["reply"] = {
            "text": reply.text,
            "finish": reply.finish,
            "model": reply.model,
            "server": reply.server,
        }
        if reply.calls:
            row["reply"]["calls"] = [asdict(native) for native in reply.calls]
        row["usage"] = asdict(reply.usage)
        row["cost"] = reply.cost
        row["seconds"] = round(reply.seconds, 4)
        row["time"] = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        self._file.append(row)
        return reply

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def _recorded(path: Path, tasks: Collection[str]) -> Iterator[tuple[tuple[str, str, int, str], Reply]]:
    for row in read_lines(path):
        if row["task"] in tasks:
            key = (row["attempt"], row["role"], row["call"], row["request"])
            yield key, recorded_reply(row)


def recorded_reply(row: dict[str, Any]) -> Reply:
    """The reply that a line of `calls.jsonl` was made from."""
    said = dict(row["reply"])
    calls = tuple(ToolCall(**native) for native in said.pop("calls", ()))
    return Reply(usage=Usage(**row["usage"]), cost=row["cost"], seconds=row["seconds"], calls=calls, **said)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file, one by one; a torn last line is not one.

    Raises:
        UsageError: a line other than a torn last one is no JSON: the file was changed by other hands.
    """
    if not path.exists():
        return
    with open(path, encoding="utf-8", errors="surrogatepass") as file:
        for number, line in enumerate(file, 1):
            if line.endswith("\n"):
                try:
                    yield json.loads(line)
                except ValueError:
                    raise UsageError(
                        f"{path}, line {number}: not a JSON line; restore the file or remove the line"
                    ) from None
