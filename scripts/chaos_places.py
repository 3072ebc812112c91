"""Where the kill campaign tries its mishaps, when it strikes, and what it counts."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chaos_runs import Done, Reflex, doubled, finish, found_out, served, unlike
from chaos_server import Server

BENCH = ("bench", "alfworld", "--tasks", 12, "--trials", 3, "--quiet", "--run-id", "run")
LATENCY = 0.02  # seconds of the served model
KILL, TERM = signal.SIGKILL, signal.SIGTERM

Moment = Callable[[Path, float], bool]
"""Whether to strike, given the run's directory and the seconds since the process was started."""


@dataclass
class Tally:
    """What came of one kind of mishap, over all its repetitions."""

    what: str
    count: int = 0
    equal: int = 0
    rows_twice: int = 0
    calls_twice: int = 0
    remarks: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    guard: threading.Lock = field(default_factory=threading.Lock)

    def check(self, holds: object, fault: str) -> None:
        if not holds:
            with self.guard:
                self.faults[fault] += 1

    def remark(self, text: str, count: int = 1) -> None:
        with self.guard:
            self.remarks[text] += count

    def compare(self, run: Path, whole: dict[str, Any]) -> None:
        """Counts a run that has ended, beside an unbroken one."""
        differing = unlike(run, whole)
        trials, calls = (0, 0) if differing.startswith("unreadable") else doubled(run)
        self.check(not differing, f"differs in {differing}")
        self.check(not trials and not calls, "something twice")
        with self.guard:
            self.count, self.equal = self.count + 1, self.equal + (not differing)
            self.rows_twice, self.calls_twice = self.rows_twice + trials, self.calls_twice + calls

    def cells(self) -> list[object]:
        told = [
            "; ".join(f"{count} {text}" for text, count in sorted(each.items()) if count)
            for each in (self.remarks, self.faults)
        ]
        numbers = [self.count, self.equal, self.rows_twice, self.calls_twice]
        return [self.what, *numbers, told[0] or "–", told[1] or "none"]


@dataclass(frozen=True)
class Setting:
    """One experiment that is to be disturbed.

    Attributes:
        folder: a new one for each repetition is made in it.
        whole: what an unbroken run found out.
        calls: how many that made.
        seconds: how long it took, start-up included.
        behind: whether the model is behind a server.
    """

    reflex: Reflex
    folder: Path
    seed: int
    behind: bool
    whole: dict[str, Any] = field(default_factory=dict)
    calls: int = 0
    seconds: float = 0.0

    @contextmanager
    def place(self, name: str, latency: float = LATENCY) -> Iterator[Place]:
        """A new folder, with dice that depend on its name, and a server where there is to be one."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        with Server(latency=latency) if self.behind else nullcontext() as server:
            yield Place(self, folder, server, random.Random(f"{self.seed}/{name}"))
        shutil.rmtree(folder)


@dataclass
class Place:
    """Where one repetition is tried.

    Attributes:
        dice: what chance decides here.
        answered: after each strike, the requests whose replies were written down, and how often each had been posted.
    """

    setting: Setting
    folder: Path
    server: Server | None
    dice: random.Random
    answered: list[tuple[set[str], Counter[str]]] = field(default_factory=list)

    @property
    def run(self) -> Path:
        return self.folder / "run"

    def bench(self) -> tuple[object, ...]:
        """The arguments that begin the run."""
        return (*BENCH, *(served(self.server.base_url) if self.server else ()), "--results", self.folder)

    def command(self) -> tuple[object, ...]:
        """Begins the run, or goes on with it."""
        return ("resume", self.run, "--quiet") if status_of(self.run) else self.bench()

    def strike(self, when: Moment, how: signal.Signals, **variables: str) -> Done:
        """Starts the run, or goes on with it, and sends a signal when the moment has come, or the end."""
        process, began = self.setting.reflex.start(*self.command(), variables=variables), time.monotonic()
        while process.poll() is None and not when(self.run, time.monotonic() - began):
            time.sleep(0.001)
        process.send_signal(how)
        done = finish(process)
        if self.server:
            known = {json.loads(line)["request"] for line in whole_lines(self.run / "calls.jsonl")}
            self.answered.append((known, self.server.posted.counts()))
        return done

    def go_on(self, tally: Tally, **variables: str) -> None:
        """Ends the run, compares it to an unbroken one, and counts what was done twice."""
        if not status_of(self.run):
            tally.remark("not begun: the same command again")
        done = self.setting.reflex(*self.command(), variables=variables)
        tally.check(done.code == 0 and not done.err, f"exit {done.code} in the end: {self.plain(done.last)}")
        self.judge_end(tally, self.run)

    def judge_end(self, tally: Tally, run: Path) -> None:
        """Compares a run that has ended to an unbroken one."""
        tally.compare(run, self.setting.whole)
        if self.server:
            counts = self.server.posted.counts()
            paid = [key for known, then in self.answered for key in known if counts[key] != then[key]]
            tally.check(not paid, f"{len(paid)} answered calls posted again")
            tally.remark("posts under way made again", sum(counts.values()) - len(counts))

    def plain(self, line: str) -> str:
        return line.replace(str(self.folder), "…")


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file that have ends; none where there is no file."""
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1].splitlines()


def lines(path: Path) -> int:
    """How many lines a file has."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def status_of(run: Path) -> str:
    """What `run.json` says of the run; "" where there is none yet."""
    file = run / "run.json"
    return str(json.loads(file.read_text())["status"]) if file.exists() else ""


def judge_death(tally: Tally, done: Done, place: Place, how: signal.Signals) -> None:
    """How a process ends that got a signal."""
    status, said = status_of(place.run), place.plain(done.last)
    tally.remark(how.name)
    tally.check(
        "Traceback" not in done.err and "xception" not in done.err, f"a traceback on {how.name}: {said}"
    )
    if done.code == 0:
        tally.remark("over before the signal")
    elif how == TERM and done.code == 130:
        if "reflex resume" not in said:
            tally.check(said == "reflex: interrupted", f"130, {status}: {said or 'silence'}")
            tally.remark("ended before or after its work")
    else:
        tally.check(done.code == -how, f"exit {done.code} on {how.name}: {said}")
        if how == TERM:
            # Before the run has begun there is nothing to end cleanly.
            tally.remark(f"SIGTERM in start-up, {'' if status else 'no '}run.json")


def measured(setting: Setting) -> Setting:
    """The setting with what an unbroken run found out, and how long it took once games were made."""
    with setting.place("first") as place:
        setting.reflex(*place.bench())
    with setting.place("whole") as place:
        began = time.monotonic()
        done = setting.reflex(*place.bench())
        if done.code:
            raise SystemExit(f"the unbroken run failed: {done.err}")
        seconds = time.monotonic() - began
        return replace(
            setting, whole=found_out(place.run), calls=lines(place.run / "calls.jsonl"), seconds=seconds
        )


def at_random(place: Place, number: int) -> Moment:
    """By turns a random time after the start, and a random number of calls written down."""
    if number % 2:
        due = place.dice.uniform(0.0, place.setting.seconds)
        return lambda run, passed: passed >= due
    after = place.dice.randrange(1, place.setting.calls)
    return lambda run, passed: lines(run / "calls.jsonl") >= after


def at_the_end(place: Place, number: int) -> Moment:
    """While files are sorted, tables written, the status set: shortly after the last trial was written."""
    every, due = len(place.setting.whole["trials.jsonl"]), place.dice.uniform(0, 0.3)
    ended: list[float] = []

    def when(run: Path, passed: float) -> bool:
        if not ended and lines(run / "trials.jsonl") >= every:
            ended.append(passed)
        return bool(ended) and passed >= ended[0] + due

    return when


def at_the_start(place: Place, number: int) -> Moment:
    """While modules are loaded, games made and the directory is laid out."""
    due = place.dice.uniform(0.1, 1.0) * place.setting.seconds
    return lambda run, passed: passed >= due or run.exists()


@contextmanager
def disk(folder: Path, size: int) -> Iterator[Callable[[str], None]]:
    """A small file system of so many kilobytes at `folder`; gives a way to mount it anew with other options."""
    folder.mkdir(exist_ok=True)

    def mount(options: str) -> None:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "chaos", folder], check=True, capture_output=True
        )

    mount(f"size={size}k")
    try:
        yield lambda options: mount(f"remount,{options}")
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def may_mount(folder: Path) -> bool:
    """Whether this process is allowed to make small disks."""
    try:
        with disk(folder / "try", 64):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False
