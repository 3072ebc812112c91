#!/usr/bin/env python
"""A run as a lab makes it, killed three times: 134 tasks, two arms, three trials, 64 connections to a server of 200 ms.

    scripts/chaos load [--tasks 134] [--kills 3] [--seed 1] [--latency 0.2] [--markdown]

The simulated player answers, behind HTTP and in a process of its own; no language model does. The run is killed at
random numbers of calls, resumed each time, and at its end compared with one that nothing happened to: trajectories,
tables, rows and calls. Exit code 1 where anything differs.
"""

from __future__ import annotations

import argparse
import random
import signal
import tempfile
import time
from pathlib import Path

from chaos_places import lines
from chaos_runs import REFLEX, Reflex, doubled, found_out, print_table, unlike
from load_server import Server, running

CONNECTIONS = 64


def whole_run(reflex: Reflex, bench: list[object], results: Path) -> tuple[Path, float]:
    """The unbroken run, and its seconds."""
    clock = time.monotonic()
    done = reflex(*bench, "--results", results)
    if done.code:
        raise SystemExit(f"{REFLEX} ended with {done.code}: {done.last}")
    return results / "run", time.monotonic() - clock


def broken_run(reflex: Reflex, bench: list[object], results: Path, moments: list[int]) -> list[int]:
    """The same run, killed whenever so many calls are written down; how many there were each time it was."""
    run, killed = results / "run", []
    command: list[object] = [*bench, "--results", results]
    for moment in moments:
        process = reflex.start(*command)
        while process.poll() is None and lines(run / "calls.jsonl") < moment:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed.append(lines(run / "calls.jsonl"))
        command = ["resume", run, "--quiet"]
    done = reflex(*command)
    if done.code:
        raise SystemExit(f"{REFLEX} ended with {done.code}: {done.last}")
    return killed


def campaign(
    server: Server, given: argparse.Namespace, folder: Path
) -> tuple[list[tuple[str, object]], bool]:
    """What is measured, and whether all of it is as it should be."""
    reflex, dice = Reflex(folder), random.Random(given.seed)
    served = ["--model", f"openai/{server.model}", "--base-url", server.url, "--max-connections", CONNECTIONS]
    size = ["--tasks", given.tasks, "--trials", 3, "--max-workers", CONNECTIONS * 5 // 4]
    bench = ["bench", "alfworld", *served, *size, "--run-id", "run", "--quiet"]
    unbroken, seconds = whole_run(reflex, bench, folder / "unbroken")
    calls, posts = lines(unbroken / "calls.jsonl"), server.stats()["calls"]
    moments = sorted(dice.sample(range(calls // 20, calls), given.kills))
    killed = broken_run(reflex, bench, folder / "broken", moments)
    run, again = folder / "broken" / "run", server.stats()["calls"]
    differing = unlike(run, found_out(unbroken))
    rows, twice = doubled(run)
    bound = calls + given.kills * CONNECTIONS
    told: list[tuple[str, object]] = [
        ("tasks, arms, trials", f"{given.tasks}, 2, up to 3"),
        ("connections, latency of the server", f"{CONNECTIONS}, {given.latency:g} s"),
        ("unbroken: calls written down, calls that the server answered", f"{calls:,}, {posts:,}"),
        ("unbroken: time", f"{seconds:.0f} s"),
        ("killed after so many calls", ", ".join(f"{each:,}" for each in killed)),
        ("killed and resumed: calls written down", f"{lines(run / 'calls.jsonl'):,}"),
        (
            "calls that the server answered (those under way at a kill are lost)",
            f"{again:,}, at most {bound:,}",
        ),
        ("files that differ", differing or "none"),
        ("rows twice, answered calls made twice", f"{rows}, {twice}"),
    ]
    good: bool = not differing and not rows and not twice and calls == posts and again <= bound
    return told, good and lines(run / "calls.jsonl") == calls


def main() -> int:
    """Returns 1 where the runs differ, or anything was done twice."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tasks", type=int, default=134)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--latency", type=float, default=0.2, help="of the server, in seconds")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    with running("simulated", given.latency) as server, tempfile.TemporaryDirectory() as folder:
        told, good = campaign(server, given, Path(folder))
    print_table(("what", "found"), told, given.markdown)
    print(f"\n{'all as it should be' if good else 'NOT as it should be'}")
    return not good


if __name__ == "__main__":
    raise SystemExit(main())
