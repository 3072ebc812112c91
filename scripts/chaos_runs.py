"""What all campaigns need: the command in a process of its own, a clock that jumps, and comparisons of runs."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from loopback import MODEL
from reading import record, rows

REFLEX = str(Path(sys.executable).with_name("reflex"))
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
        # Its hints then name the command in the same way wherever it is installed.
        own |= {"REFLEX_BENCH_CALLED_AS": "reflex", "COLUMNS": "100"}
        self.variables = own | {"REFLEX_BENCH_CACHE": str(folder / "cache")} | variables

    def start(
        self, *arguments: object, cwd: Path | None = None, variables: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.Popen[str]:
        """Starts it, with further variables of its environment; what it says is kept for `finish`."""
        return subprocess.Popen(
            [REFLEX, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="backslashreplace",
            cwd=cwd,
            env={**self.variables, **variables},
            # In the background of a shell SIGINT is ignored, and would be passed on.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )

    def __call__(
        self, *arguments: object, cwd: Path | None = None, variables: Mapping[str, str] = MappingProxyType({})
    ) -> Done:
        return finish(self.start(*arguments, cwd=cwd, variables=variables))


def finish(process: subprocess.Popen[str]) -> Done:
    """Waits for a process's end; one that hangs is killed, and says so."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += f"\nHANGS: killed after {PATIENCE} s"
    return Done(process.returncode, out, err)


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
