"""The failure campaign: real runs against a server that misbehaves by script, and what came of each.

Every case runs `reflex bench` in a process of its own. What it found out is compared to a run whose server never
misbehaved; then the server recovers, `reflex resume` ends the run, and that must be equal to the other. At the end the
key, which the misbehaving answers repeat in every way, is looked for in everything that was written.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, redirect_stderr, redirect_stdout
from math import inf
from pathlib import Path
from typing import Any

import chaos_runs as runs
from chaos_answers import ANSWERS
from chaos_cases import CASES, Case, indiscreet
from chaos_judging import Tried, judge, judge_end, read
from chaos_runs import Reflex
from chaos_server import Post, Server
from loopback import MODEL, Answer, models

CANARIES = ("sk-canary-0123456789abcdefghij", "plainkey42correcthorsebattery")
"""One that looks like a key, and one that does not: nothing but knowing it can keep it out."""
TASKS, TRIALS = 4, 2
OPTIONS = (
    *("bench", "alfworld", "--tasks", TASKS, "--trials", TRIALS, "--quiet", "--run-id", "run"),
    *("--max-workers", 4, "-c", "endpoint.max_retries=2", "-c", "endpoint.timeout=2"),
    *("-c", "limits.stop_after_errors=4"),
)
COLUMNS = (
    *("case", "misbehaved", "posts a call", "exit", "what the person sees", "what the trials record"),
    *("scored through it", "in the end", "faults"),
)


def serve(case: Case, key: str) -> Server:
    """A server that misbehaves as the case says."""
    gone = threading.Event()

    def spoil(post: Post) -> Answer | None:
        if not case.when(post):
            return None
        if case.gone is None:
            return indiscreet(case.answer(post.call) if callable(case.answer) else case.answer, key)
        if not gone.is_set():
            gone.set()
            server.vanish_soon(None if case.gone == inf else case.gone)
        return Answer(reset_after=0)

    server = Server(spoil)
    server.listing = indiscreet(case.listing or server.listing, key)
    return server


def attempt(case: Case, key: str, reflex: Reflex, folder: Path, whole: Mapping[str, Any]) -> Tried:
    """Runs one case, lets the server recover, goes on, and judges both."""
    folder.mkdir()
    clock: AbstractContextManager[Mapping[str, str]]
    clock = runs.jumping_clock(folder) if case.jumps else nullcontext({})
    with serve(case, key) as server, clock as variables:
        tried = Tried(case, folder, key, server)
        if case.absent:
            server.vanish()
        bench = (*OPTIONS, *runs.served(server.base_url), "--results", folder, *case.options)
        sent = {"OPENAI_API_KEY": key, **variables}
        tried.bench = reflex(*bench, variables=sent)
        judge(tried, whole)
        server.spoil, server.listing = None, models(MODEL)
        if case.absent or case.gone == inf:
            server.come_back()
        known = {row["request"] for row in read(tried.run / "calls.jsonl") if not row.get("lost")}
        before = server.posted.counts()
        if tried.bench.code == 2:
            tried.resumed = reflex(*bench, variables=sent)
        elif tried.bench.code:
            # Errors are gone from a run that was gone on with; what stood in them is read in the copy.
            shutil.copytree(tried.run, folder / "faulty")
            tried.resumed = reflex("resume", tried.run, "--quiet", variables=sent)
        again = [name for name in known if server.posted.counts()[name] != before[name]]
        tried.check(not again, f"{len(again)} answered calls posted again")
    judge_end(tried, whole)
    return tried


READINGS = (
    *(("table", "--format", form) for form in ("terminal", "markdown", "csv", "latex", "html")),
    *(("compare", "--format", form) for form in ("terminal", "markdown", "csv", "latex", "html")),
    *(("table", "--style", style) for style in ("outcomes", "reflexion-curve", "reflections")),
    ("show",),
)


def read_back(tried: Tried) -> None:
    """Writes down what the processes said, and all that the reading commands say about a run, faulty and mended."""
    from reflex_bench.cli.main import app
    from reflex_bench.core.errors import ReflexError

    said = [each for done in (tried.bench, tried.resumed) if done for each in (done.out, done.err)]
    left = [run for run in (tried.folder / "faulty", tried.run) if run.exists()]
    commands = [(name, str(run), *more) for run in left for name, *more in READINGS]
    for command in [*commands, ("list", "--results", str(tried.folder))]:
        text = io.StringIO()
        with redirect_stdout(text), redirect_stderr(text):
            try:
                app(list(command), standalone_mode=False)
            except ReflexError as error:
                text.write(str(error))
            except Exception as error:
                text.write(f"{type(error).__name__}: {error}")
                tried.check(False, f"reflex {command[0]}: {type(error).__name__}")
        said.append(text.getvalue())
    (tried.folder / "said.txt").write_text("\n".join(said), encoding="utf-8", errors="backslashreplace")


def leaks(tried: Tried) -> tuple[int, int, int]:
    """Files and bytes of a case that were searched for the keys, and in how many files one was found."""
    wanted = [*(key.encode() for key in CANARIES), CANARIES[0][:9].encode()]
    files = {path: path.read_bytes() for path in sorted(tried.folder.rglob("*")) if path.is_file()}
    found = [path.name for path, content in files.items() if any(each in content for each in wanted)]
    tried.check(not found, f"a key in {', '.join(found)}")
    return len(files), sum(map(len, files.values())), len(found)


def campaign(cases: list[Case], folder: Path) -> list[Tried]:
    """Tries every case, two at a time, each with one of the two keys."""
    reflex, began = Reflex(folder), time.monotonic()
    with Server() as server:
        bench = (*OPTIONS, *runs.served(server.base_url), "--results", folder / "whole")
        reflex(*bench, variables={"OPENAI_API_KEY": "none"})
    whole = runs.found_out(folder / "whole" / "run")

    def one(number: int) -> Tried:
        tried = attempt(cases[number], CANARIES[number % 2], reflex, folder / f"{number:02}", whole)
        passed = time.monotonic() - began
        print(f"{passed:4.0f} s  {tried.case.name}: {tried.faults or 'good'}", file=sys.stderr)
        return tried

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, range(len(cases))))


def main() -> int:
    """Returns 1 where any check of any case failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="only cases with this in their names")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--keep", type=Path, help="a new folder for all the runs, instead of a temporary one")
    arguments = parser.parse_args()
    wanted = arguments.cases or [""]
    cases = (*CASES, *ANSWERS)
    chosen = [case for case in cases if any(part in case.name for part in wanted)]
    if not chosen:
        parser.error(f"no such case; there are: {'; '.join(case.name for case in cases)}")
    if not runs.FAKETIME:
        print("skipped, as libfaketime is not installed:", *(case.name for case in chosen if case.jumps))
        chosen = [case for case in chosen if not case.jumps]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        tried = campaign(chosen, folder)
        for each in tried:
            read_back(each)
        files, size, found = map(sum, zip(*map(leaks, tried), strict=True))
    lines = [[*each.cells, "; ".join(each.faults) or "none"] for each in tried]
    runs.print_table(COLUMNS, lines, arguments.markdown)
    failed = [each for each in tried if each.faults]
    repeated = sum(sum(each.server.posted.spoiled.values()) for each in tried if each.case.gone is None)
    print(
        f"\nkeys: the server repeated them in {repeated:,} answers; searched {files:,} files, {size:,} bytes: "
        f"{found} with a key"
    )
    print(f"{len(tried)} cases, {len(failed)} with failed checks, {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
