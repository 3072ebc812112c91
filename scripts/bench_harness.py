#!/usr/bin/env python
"""Measures the harness itself: what it adds to a model's calls, and how busy it keeps a server.

    scripts/bench harness [PART ...] [--repeats 5] [--trials 50000] [--versus inspect]

Parts: `cpu`, `wall`, `slots`, `memory`; all unless named. The models are stand-ins throughout: a constant in this
process, and `scripts/load_server.py` in another. Ratios can be compared between machines, times cannot.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from load_server import Server, running
from standing_in import STEPS, TASKS, Constant, Counting, plan_of, run

from reflex_bench.models.base import Request

WORKERS, SLOTS = 16, 64


@dataclass(frozen=True)
class Figure:
    """One line of what is printed."""

    what: str
    measured: str
    promised: str = ""
    met: bool = True


def cpu(given: argparse.Namespace) -> Iterator[Figure]:
    """Processor time of the harness for a model call, the environment's steps included."""
    calls = TASKS * STEPS
    took = [run(plan_of(Constant()))[1] for _ in range(given.repeats)]
    each = 1000 * statistics.median(took) / calls
    yield Figure(
        "CPU of a call, constant model in this process", f"{each:.3f} ms", "at most 0.25 ms", each <= 0.25
    )
    crowded = [run(plan_of(Constant(), limits={"max_workers": WORKERS}))[1] for _ in range(given.repeats)]
    each = 1000 * statistics.median(crowded) / calls
    yield Figure(f"the same where {WORKERS} threads crowd it, which is not the default", f"{each:.3f} ms")
    if given.versus == "inspect":
        from versus_inspect import processor_time

        other = 1000 * statistics.median(processor_time(TASKS, STEPS) for _ in range(given.repeats)) / calls
        yield Figure(
            "as many calls of growing conversations in inspect_ai, its mock model",
            f"{other:.3f} ms",
        )


def conversations(**settings: Any) -> list[list[Request]]:
    """The requests of a run, each conversation by itself."""
    model = Constant()
    model.asked = []
    run(plan_of(model, **settings))
    found: list[list[Request]] = []
    for request in model.asked:
        if not found or len(request.messages) <= len(found[-1][-1].messages):
            found.append([])
        found[-1].append(request)
    return found


def bare(complete: Callable[[Request], object], conversed: list[list[Request]], count: int) -> float:
    """Seconds in which so many threads make the calls of some conversations, and do nothing else."""
    waiting: queue.SimpleQueue[list[Request] | None] = queue.SimpleQueue()
    for conversation in [*conversed, *[None] * count]:
        waiting.put(conversation)

    def work() -> None:
        while (conversation := waiting.get()) is not None:
            for request in conversation:
                complete(request)

    threads = [threading.Thread(target=work) for _ in range(count)]
    clock = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - clock


def create(server: Server) -> Callable[[Request], object]:
    """What a bare loop usually calls: the `openai` package's own method."""
    import openai

    client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)

    def call(request: Request) -> object:
        turns: Any = [{"role": turn.role, "content": turn.content} for turn in request.messages]
        settings: Any = {"max_tokens": request.max_tokens, "stop": list(request.stop), "seed": request.seed}
        return client.chat.completions.create(model=server.model, messages=turns, **settings)

    return call


def wall(given: argparse.Namespace) -> Iterator[Figure]:
    """Wall time of a run of both arms and three trials beside bare loops that make the same calls.

    The server answers at once, so that nothing hides what the client and the harness take.
    """
    games: dict[str, Any] = {"tasks": 24, "trials": 3, "arms": "react,reflexion"}
    conversed = conversations(**games)
    took: defaultdict[str, list[float]] = defaultdict(list)
    with running("constant", latency=0.0) as server:
        spec = f"openai/{server.model}"
        served = {**games, "model": {"model": spec}, "endpoint": {"base_url": server.url}}
        for _ in range(given.repeats):
            for count in (WORKERS, 1):
                settings = served | {"limits": {"max_connections": count}}
                with closing(plan_of(**settings)) as plan:
                    took[f"own {count}"].append(bare(plan.models[spec].complete, conversed, count))
                took[f"harness {count}"].append(run(plan_of(**settings))[0])
        took["create"].append(bare(create(server), conversed, WORKERS))
        calls = server.stats()["calls"] / (4 * given.repeats + 1)
    if calls != sum(map(len, conversed)):
        sys.exit(f"not the same calls: {calls} a run and {sum(map(len, conversed))} in a loop")
    median = {name: statistics.median(times) for name, times in took.items()}
    yield _beside(median, calls, "wall time beside a bare loop over `chat.completions.create`", "create")
    own = f"own {WORKERS}"
    yield _beside(median, calls, "the same, a loop over the harness's own, lighter use of the client", own)
    # One thread at a time leaves nothing to gain by their order: what the harness takes shows bare.
    told = "the same, the lighter use, one thread on either side (16 otherwise)"
    yield _beside(median, calls, told, "own 1", "harness 1", promised=False)


def _beside(
    median: Mapping[str, float],
    calls: float,
    what: str,
    loop: str,
    harness: str = f"harness {WORKERS}",
    promised: bool = True,
) -> Figure:
    ratio = median[harness] / median[loop]
    each, other = (f"{1000 * median[name] / calls:.2f} ms a call" for name in (harness, loop))
    measured = f"{ratio:.2f} ({each} against {other})"
    return Figure(what, measured, "at most 1.15" if promised else "", ratio <= 1.15 or not promised)


def slots(given: argparse.Namespace) -> Iterator[Figure]:
    """How busy a run of both arms and three trials keeps 64 slots of 200 ms."""
    for connections in (SLOTS, SLOTS + 4):
        waiting, whole, calls = slots_of(connections)
        yield Figure(
            f"slots busy while tasks wait to begin, {connections} connections",
            f"{waiting:.1%} ({calls:,} calls; {whole:.1%} from the first to the last)",
            "at least 95%",
            waiting >= 0.95,
        )


def slots_of(connections: int) -> tuple[float, float, int]:
    """Shares of the slots that were busy: while tasks waited to begin, and in all; how many calls there were."""
    with running("simulated", 0.2, SLOTS) as server, tempfile.TemporaryDirectory() as folder:
        flags = ["--model", f"openai/{server.model}", "--base-url", server.url, "--results", folder]
        size = ["--tasks", "268", "--max-connections", str(connections), "--max-workers", "80"]
        reflex = str(Path(sys.executable).with_name("reflex"))
        command = [reflex, "bench", "alfworld", *flags, *size, "--run-id", "run", "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        told = server.stats()
        lines = (Path(folder) / "run" / "calls.jsonl").read_text().splitlines()
    begun: dict[tuple[str, str], float] = {}
    for call in map(json.loads, lines):
        at = datetime.fromisoformat(call["time"]).timestamp() - call["seconds"]
        chain = (call["arm"], call["task"])
        begun[chain] = min(begun.get(chain, at), at)
    # While chains wait to begin, there is work for every slot; after that, the last ones run out one by one.
    return busy(told, max(begun.values())), busy(told, told["last"]), told["calls"]


def busy(told: Mapping[str, Any], until: float) -> float:
    """The share of the slots that was taken from the first request until a time in seconds since 1970."""
    taken = [(at, so_far) for at, so_far in told["busy"] if at <= until]
    (start, before), (end, after) = taken[0], taken[-1]
    return float((after - before) / (end - start) / SLOTS)


def memory(given: argparse.Namespace) -> Iterator[Figure]:
    """How much memory a run takes up from a tenth of its trials to its last one."""
    resident: dict[int, float] = {}
    marks = {given.trials // 10, given.trials}

    def look(trials: int) -> None:
        if trials in marks:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            resident[trials] = pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    settings: dict[str, Any] = {
        "environment": {"name": "hotpotqa"},
        "tasks": -(-given.trials // 3),
        "trials": 3,
    }
    run(plan_of(Constant("Finish[nothing]"), **settings), Counting(look))
    (early, first), (late, last) = sorted(resident.items())
    growth = last / first
    yield Figure(
        f"memory from {early:,} to {late:,} trials", f"{first:.0f} to {last:.0f} MB", "flat", growth <= 1.02
    )


PARTS = {"cpu": cpu, "wall": wall, "slots": slots, "memory": memory}


def main() -> int:
    """Returns 1 where a figure is not what the project promises."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--trials", type=int, default=50_000, help="of the memory part")
    parser.add_argument("--versus", choices=("inspect",), help="another harness that is installed")
    given = parser.parse_args()
    if unknown := set(given.parts) - PARTS.keys():
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    good = True
    print("| what | measured | promised | |\n|---|---|---|---|")
    for name in given.parts or PARTS:
        for figure in PARTS[name](given):
            good = good and figure.met
            met = "" if not figure.promised else "met" if figure.met else "**not met**"
            print(f"| {figure.what} | {figure.measured} | {figure.promised} | {met} |", flush=True)
    return not good


if __name__ == "__main__":
    raise SystemExit(main())
