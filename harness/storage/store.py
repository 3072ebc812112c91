"""The run directory: what is written, and what a resumed run finds there.

::

    results/<run-id>/
      run.json                             what was run, with what, how it ended
      calls.jsonl                          every model call
      trajectories/<arm>.trial-1.jsonl     one line a task: the whole trial
      trials.jsonl                         one short line a trial, from which the tables are made
      tables/                              made from the lines above, at any time
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from reflex_bench.core.errors import RunStopped, UsageError
from reflex_bench.core.jsonl import AppendFile, Syncer, as_line, cut_torn_line, unwritable
from reflex_bench.harness.running.refused import is_for_good, is_owed
from reflex_bench.harness.storage.journal import Journal, Taken
from reflex_bench.harness.storage.records import brief
from reflex_bench.harness.storage.recovery import key_of, recover, resumed
from reflex_bench.harness.storage.trials import recorded

SCHEMA_VERSION = 2
"""Of a run directory. Version 1 had other defaults: see `reflex_bench.harness.storage.manifest.config_of`."""


class Store:
    """One run directory, held by one writer.

    Args:
        path: the directory; must hold a `run.json`.

    Raises:
        UsageError: it is no run directory, or another process is writing to it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # Tables read what is written here, so the one module that checks it all comes later in line.
        from reflex_bench.harness.storage.run_data import read_info

        self.manifest = read_info(path)
        if self.manifest["split"].get("task_ids") is None:
            raise UsageError(f"{path}/run.json: names no tasks, so there is nothing to go on with")
        self._lock = FileLock(path / ".lock", timeout=0)
        try:
            self._lock.acquire()
        except Timeout:
            raise UsageError(
                f"{path}: another process is writing to this run; wait for it or stop it"
            ) from None
        except OSError as error:
            raise UsageError(f"{path}: cannot write there: {error.strerror}") from None
        self._guard = threading.Lock()
        self._files: dict[str, AppendFile] = {}
        self.done: dict[tuple[str, str], int] = {}
        self.resumed: dict[str, list[dict[str, Any]]] = {}
        self.refused: dict[str, int] = {}  # by attempt, how often an endpoint refused it
        self._written: set[tuple[str, str, int]] = set()  # by earlier processes
        self._solved: Counter[str] = Counter()
        self.engines: Counter[str] = Counter()  # by which engine how many of the trials on record were played
        try:
            self._recovered = recover(path, self.manifest)
            self.refused = self._recovered.refused
            if self.refused:
                self.manifest = {**self.manifest, "refused": self.refused}
            self._take_in(self._recovered.rows)
            self.resumed = resumed(self._recovered, self.unfinished())
        except BaseException:
            self._lock.release()
            raise
        self.taken = Taken()
        self._syncer: Syncer | None = None
        self._journal: Journal | None = None

    def begin(self) -> Journal:
        """Brings the files in step with one another and opens the journal; until then nothing is written.

        Trials that ended in errors are owed again and leave their files; `trials.jsonl` follows the trajectories. One
        that has results which no trajectory file has is kept as `trials.jsonl.old`.

        Raises:
            UsageError: `calls.jsonl` is damaged; nothing is changed.
            RunStopped: a file cannot be written; it is as it was.
        """
        index, calls, found = self.path / "trials.jsonl", self.path / "calls.jsonl", self._recovered
        unfinished = self.unfinished() if calls.exists() else None
        # What a stand-in said costs nothing to make again; a paid reply must survive a power cut.
        self._syncer = None if self.manifest.get("simulated") else Syncer()
        journal = self._journal = Journal(calls, self._syncer, unfinished)
        self.taken = journal.taken
        for file in found.files:
            cut_torn_line(file)
        for file in found.failed:
            write_lines(file, (row for row in recorded(file) if not is_owed(row)))
        if found.lost:
            _replace(index.with_name(index.name + ".old"), [index.read_bytes()])
        if found.rows or index.exists():
            write_lines(index, found.rows)
        return journal

    def unfinished(self) -> set[str]:
        """The ids of the tasks that some arm has not finished."""
        arms, tasks = self.manifest["arms"], self.manifest["split"]["task_ids"]
        owed = {(arm, task) for arm in arms for task in tasks if (arm, task) not in self.done}
        # A memory of the whole arm is made again from all its trials.
        if any(self.manifest["arms"][arm].get("memory_scope") == "arm" for arm, _ in owed):
            return set(tasks)
        return {task for _, task in owed}

    @classmethod
    def create(cls, path: Path, manifest: Mapping[str, Any]) -> Store:
        """A new run directory.

        Raises:
            UsageError: the directory holds something already, or cannot be made.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            # What a process that was killed right here leaves behind is nothing.
            if any(child.name != "run.json.tmp" for child in path.iterdir()):
                raise UsageError(f"{path}: not empty; choose another --run-id, or `reflex resume {path}`")
            write_json(path / "run.json", manifest)
        except OSError as error:
            raise UsageError(f"{path}: cannot write there: {error.strerror}") from None
        except RunStopped as stopped:
            raise UsageError(str(stopped)) from None
        return cls(path)

    def solved(self, arm: str) -> int:
        """How many tasks an arm had solved when this process began."""
        return self._solved[arm]

    def _take_in(self, rows: Iterable[dict[str, Any]]) -> None:
        """Finds out what earlier processes finished."""
        ended: list[tuple[str, str, int]] = []
        for row in rows:
            key = arm, _, trial = key_of(row)
            self._written.add(key)
            self._solved[arm] += bool(row["success"])
            self._count_engine(row)
            ends = row["passed"] and not self.manifest["arms"][arm].get("independent")
            if ends or is_for_good(row) or trial == self.manifest["trials"]:
                ended.append(key)
        # A trial that is missing before the last one is owed, too.
        self.done = {
            (arm, task): last
            for arm, task, last in ended
            if all((arm, task, trial) in self._written for trial in range(1, last))
        }

    def set_status(self, status: str, **more: Any) -> None:
        """Writes how the run stands into `run.json`."""
        self.manifest = {**self.manifest, **more, "status": status}
        write_json(self.path / "run.json", self.manifest)

    def add(self, row: Mapping[str, Any], seconds: float) -> bool:
        """Writes one finished trial: the whole of it, then its short line. False where it stood there already.

        Args:
            row: from `reflex_bench.harness.storage.records`.
            seconds: wall time of the trial.
        """
        if (row["arm"], row["task"], row["trial"]) in self._written:
            return False
        name = f"{row['arm']}.trial-{row['trial']}"
        self._append(f"trajectories/{name}.jsonl", row)
        self._append("trials.jsonl", {**brief(row), "seconds": round(seconds, 3)})
        with self._guard:
            self._count_engine(row)
        return True

    def _count_engine(self, row: Mapping[str, Any]) -> None:
        engine = row["result"].get("engine")
        if isinstance(engine, str):
            self.engines[engine] += 1

    def _append(self, name: str, row: Mapping[str, Any]) -> None:
        path = self.path / name
        with self._guard:
            if name not in self._files:
                try:
                    path.parent.mkdir(exist_ok=True)
                    self._files[name] = AppendFile(path, self._syncer)
                except OSError as error:
                    raise unwritable(path, error) from None
            file = self._files[name]
        file.append(row)

    def sort(self) -> None:
        """Puts every file of a finished run in the order of tasks, so that equal runs are equal files."""
        self._close_files()
        for file in [*sorted((self.path / "trajectories").glob("*.jsonl")), self.path / "trials.jsonl"]:
            if file.exists():
                sort_lines(file, key_of)

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def close(self) -> None:
        """Closes all files and lets other writers in."""
        self._close_files()
        if self._journal is not None:
            self._journal.close()
        if self._syncer is not None:
            self._syncer.close()
        self._lock.release()


def read_manifest(path: Path) -> dict[str, Any]:
    """`run.json` of a run directory.

    Raises:
        UsageError: there is none, it is not readable, or a newer version of the harness wrote it.
    """
    try:
        manifest: dict[str, Any] = json.loads((path / "run.json").read_text(encoding="utf-8"))
        version = manifest["schema_version"]
    except FileNotFoundError:
        raise UsageError(
            f"{path}: no run directory (it has no run.json); `reflex list` shows the runs"
        ) from None
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        raise UsageError(f"{path}/run.json: not readable as the description of a run") from None
    if version not in range(1, SCHEMA_VERSION + 1):
        raise UsageError(f"{path}: has format {version}, this version of reflex reads 1 to {SCHEMA_VERSION}")
    return manifest


def write_json(path: Path, value: Any) -> None:
    """Replaces a file with a value as JSON; a reader sees the old or the new one, whole."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """Replaces a file with JSON lines, all at once."""
    _replace(path, map(as_line, rows))


def sort_lines(path: Path, key: Callable[[dict[str, Any]], Any]) -> None:
    """Sorts the lines of a JSONL file without holding them in memory."""
    places, start = [], 0
    with open(path, "rb") as file:
        for line in file:
            places.append((key(json.loads(line)), start, len(line)))
            start += len(line)
        if places == (places := sorted(places)):
            return

        def line_at(place: tuple[Any, int, int]) -> bytes:
            file.seek(place[1])
            return file.read(place[2])

        _replace(path, map(line_at, places))


def write_text(path: Path, text: str) -> None:
    """Replaces a file with a text; see `write_json`.

    Raises:
        RunStopped: the disk is full, or does not take it for another reason; the file is as it was.
    """
    _replace(path, [text.encode("utf-8", "surrogatepass")])


def _replace(path: Path, content: Iterable[bytes]) -> None:
    """Replaces a file by way of a temporary one in the same folder."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.writelines(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise unwritable(path, error) from None
