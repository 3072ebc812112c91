"""Append-only files of JSON lines that survive a kill."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from reflex_bench.core.errors import RunStopped, UsageError

SYNC_EVERY = 0.1
"""Seconds between two syncs."""

_spelled_out = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def as_line(value: Any) -> bytes:
    """Return a value as JSON on one line, the line's end included."""
    try:
        return to_json(value, inf_nan_mode="constants") + b"\n"
    except PydanticSerializationError:  # half a surrogate pair
        return (_spelled_out(value) + "\n").encode("utf-8", "surrogatepass")


def unwritable(path: Path, error: OSError) -> RunStopped:
    """Return what a file that the disk does not take means for a run."""
    return RunStopped(f"cannot write {path}: {error.strerror or error}")


class Syncer:
    """Makes what was written safe from a power cut, moments later, so that no call waits for the disk.

    What a process wrote outlives its being killed in any case.
    """

    def __init__(self) -> None:
        self._due: dict[int, None] = {}
        self._lock, self._syncing = threading.Lock(), threading.Lock()
        self._wanted, self._closing = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="syncer", daemon=True)
        self._thread.start()
        self.failure: OSError | None = None

    def add(self, file: int) -> None:
        """Syncs an open file soon."""
        with self._lock:
            self._due[file] = None
        if not self._wanted.is_set():
            self._wanted.set()

    def drop(self, file: int) -> None:
        """Forgets a file that is about to be closed, once it is synced."""
        with self._syncing:
            with self._lock:
                due = file in self._due
                self._due.pop(file, None)
            self._sync([file] if due else [])

    def _work(self) -> None:
        while not self._closing.is_set():
            self._wanted.wait()
            self._closing.wait(SYNC_EVERY)
            with self._syncing:
                with self._lock:
                    self._wanted.clear()
                    due, self._due = list(self._due), {}
                self._sync(due)

    def _sync(self, files: Iterable[int]) -> None:
        for file in files:
            try:
                os.fsync(file)
            except OSError as error:
                self.failure = error

    def close(self) -> None:
        """Ends the thread; the files are to be closed before."""
        self._closing.set()
        self._wanted.set()
        self._thread.join()


class AppendFile:
    """A file of lines that survives being killed: each line is written whole before `append` returns.

    Args:
        path: made if it is not there; a torn last line is cut off.
        syncer: None leaves syncing to the system, for lines that cost nothing to make again.
    """

    def __init__(self, path: Path, syncer: Syncer | None = None) -> None:
        cut_torn_line(path)
        self._path = path
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 - lives as long as the run
        self._size = self._file.seek(0, os.SEEK_END)
        self._syncer = syncer
        self._lock = threading.Lock()

    def append(self, row: Any) -> None:
        """Writes one row as a JSON line.

        Raises:
            RunStopped: the disk is full, or does not take it for another reason; nothing of the line is left.
        """
        line = as_line(row)
        with self._lock:
            self._write_whole(line)
        if self._syncer is not None:
            self._syncer.add(self._file.fileno())
            if self._syncer.failure is not None:
                raise unwritable(self._path, self._syncer.failure)

    def _write_whole(self, line: bytes) -> None:
        try:
            if self._file.write(line) == len(line):
                self._size += len(line)
                return
            raise OSError("the disk took only a part of a line")
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(self._size)
            raise unwritable(self._path, error) from None

    def close(self) -> None:
        """Closes the file; nothing is pending."""
        if self._syncer is not None and not self._file.closed:
            self._syncer.drop(self._file.fileno())
        self._file.close()


def cut_torn_line(path: Path) -> None:
    """Cuts off what follows the last line end: the mark of a process that was killed while writing.

    Where that is a whole JSON object it lacks its line end alone, and is given it: readers count it, too.
    """
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
        if position == end:
            return
        file.seek(position)
        if _is_object(file.read()):
            file.write(b"\n")
        else:
            file.truncate(position)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSONL file, one by one; a torn last line is not one.

    Raises:
        UsageError: a line other than a torn last one is no JSON: the file was changed by other hands.
    """
    if not path.exists():
        return
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                if line.endswith(b"\n"):
                    raise UsageError(
                        f"{path}, line {number}: not a JSON line; restore the file or remove the line"
                    ) from None
            else:
                yield row
