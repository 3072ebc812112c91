"""Run directory: what is written, and what a resumed run finds there.

::

    results/<run-id>/
      run.json                             what was run, with what, how it ended
      calls.jsonl                          every model call
      trajectories/<arm>.trial-1.jsonl     one line a task: the whole trial
      trials.jsonl                         one short line a trial, from which the tables are made
      tables/                              made from the lines above, at any time
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from reflex_bench.core.errors import RunStopped, UsageError
from reflex_bench.core.jsonl import AppendFile, Syncer, cut_torn_line, unwritable
from reflex_bench.harness.storage.journal import Journal, Taken
from reflex_bench.harness.storage.records import brief
from reflex_bench.harness.storage.recovery import key_of, recover, resumed
from reflex_bench.harness.storage.refused import is_for_good, is_owed
from reflex_bench.harness.storage.run_info import read_info
from reflex_bench.harness.storage.trials import recorded
from reflex_bench.harness.storage.whole_files import replace_file, sort_lines, write_json, write_lines


class Store:
    """One run directory, held by one writer.

    Args:
        path: the directory; must hold a `run.json`.

    Raises:
        UsageError: it is no run directory, or another process is writing to it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
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
            replace_file(index.with_name(index.name + ".old"), [index.read_bytes()])
        if found.rows or index.exists():
            write_lines(index, found.rows)
        return journal

    def unfinished(self) -> set[str]:
        """Return the ids of the tasks that some arm has not finished."""
        arms, tasks = self.manifest["arms"], self.manifest["split"]["task_ids"]
        owed = {(arm, task) for arm in arms for task in tasks if (arm, task) not in self.done}
        # A memory of the whole arm is made again from all its trials.
        if any(self.manifest["arms"][arm].get("memory_scope") == "arm" for arm, _ in owed):
            return set(tasks)
        return {task for _, task in owed}

    @classmethod
    def create(cls, path: Path, manifest: Mapping[str, Any]) -> Store:
        """Return a new run directory.

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
        """Return how many tasks an arm had solved when this process began."""
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
