"""The kill campaign: runs that are killed, torn, copied and starved of disk, and whether they end like an unbroken one.

`reflex bench` and `reflex resume` run in processes of their own, and are sent signals at random moments; the runs that
come of it are compared to one that nothing disturbed, byte for byte but for wall times.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chaos_places import (
    KILL,
    TERM,
    Moment,
    Place,
    Setting,
    Tally,
    at_random,
    at_the_end,
    at_the_start,
    disk,
    judge_death,
    lines,
    may_mount,
    measured,
    status_of,
)
from chaos_runs import Done, Reflex, finish, print_table
from chaos_server import Post, Server, play
from loopback import Answer, error

COLUMNS = ("what", "runs", "equal", "rows twice", "calls twice", "remarks", "faults")


def repeat(count: int, one: Callable[[int], None]) -> None:
    """So many repetitions, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(count)))


def killed(
    setting: Setting, what: str, count: int, moments: Callable[[Place, int], Moment], new: bool = False
) -> Tally:
    """Runs that are struck at so many moments, up to four times each.

    Args:
        new: once each, and every run with an empty cache.
    """
    tally, plan = Tally(f"SIGKILL, SIGTERM {what}"), list[list[signal.Signals]]()
    dice = random.Random(f"{setting.seed}/{what}")
    while sum(map(len, plan)) < count:
        times = 1 if new or dice.random() < 0.6 else dice.randint(2, 4)
        plan.append([dice.choice((KILL, TERM)) for _ in range(times)])

    def one(number: int) -> None:
        with setting.place(f"{moments.__name__}-{number}") as place:
            cache = {"REFLEX_BENCH_CACHE": str(place.folder / "cache")} if new else {}
            for time_of_it, how in enumerate(plan[number]):
                done = place.strike(moments(place, number + time_of_it), how, **cache)
                judge_death(tally, done, place, how)
            place.go_on(tally, **cache)
            if place.server and KILL not in plan[number]:
                posts = place.server.posted
                tally.check(len(place.server.posts) == len(posts.times), "SIGTERM gave up a call under way")

    repeat(len(plan), one)
    return tally


WAITS = (
    ("a rate limit, retry-after 60 s", error(429, "slow down", {"Retry-After": "60"}), 3),
    ("a server that fails", error(503, "no capacity"), 3),
    ("a reply under way", None, 6),
)
"""What a run waits for, what the server answers meanwhile, and the seconds that SIGTERM may take to end it."""


def while_waiting(setting: Setting) -> Tally:
    """SIGTERM ends a run that waits; a reply that is under way is paid for, and waited for."""
    tally = Tally("SIGTERM while waiting for the server")
    for number, (what, answer, seconds) in enumerate(WAITS):
        with setting.place(f"waiting-{number}") as place:
            server, late, struck = place.server, answer or Answer(wait=4.0), list[float]()
            if server is None:
                raise ValueError("there is no server to wait for in this setting")

            def spoil(post: Post, late: Answer = late) -> Answer | None:
                if post.number <= 30:
                    return None
                return late if late.body else play(post.call).but(wait=late.wait)

            def when(run: Path, passed: float, server: Server = server, struck: list[float] = struck) -> bool:
                struck.append(time.monotonic())
                return bool(server.posted.spoiled)

            server.spoil = spoil
            done = place.strike(when, TERM)
            took = time.monotonic() - struck[-1]
            tally.remark(f"{took:.1f} s for {what}")
            judge_death(tally, done, place, TERM)
            tally.check(took <= seconds, f"{took:.0f} s to end, waiting for {what}")
            server.spoil = None
            place.go_on(tally)
            again = len(server.posts) - len(server.posted.times)
            tally.check(answer or not again, f"{again} calls made twice whose replies were under way")
    return tally


def half_laid_out(setting: Setting) -> Tally:
    """What a kill can leave between the making of the directory and that of `run.json`."""
    tally = Tally("killed before run.json was there")
    for left in ((), ("run.json.tmp",)):
        with setting.place(f"laid-out-{len(left)}") as place:
            place.run.mkdir()
            for name in left:
                (place.run / name).write_text('{"sch')
            place.go_on(tally)
    return tally


def torn(setting: Setting, count: int) -> Tally:
    """Bytes cut off the ends of all files; half a UTF-8 sequence, or zeros, in their place."""
    tally = Tally("torn files, in the middle and of finished runs")

    def one(number: int) -> None:
        with setting.place(f"torn-{number}") as place:
            place.strike(at_random(place, 0) if number % 3 else lambda run, passed: False, KILL)
            for file in sorted(place.run.rglob("*.jsonl")):
                content = file.read_bytes()
                kept = content[: len(content) - place.dice.choice((0, 1, 7, place.dice.randrange(2000)))]
                tail = place.dice.choice((b"", b"", '{"arm":"é'.encode()[:-1], b"\0" * 512))
                file.write_bytes(kept + tail)
            place.go_on(tally)

    repeat(count, one)
    return tally


def copied(setting: Setting, count: int) -> Tally:
    """Copied while it is being written, and resumed elsewhere: another home, cache and working directory."""
    tally = Tally("copied in the middle, resumed elsewhere")

    def one(number: int) -> None:
        with setting.place(f"copied-{number}") as place:
            other = place.folder / "other" / "machine"
            other.mkdir(parents=True)
            due = at_random(place, 0)

            def copy(run: Path, passed: float) -> bool:
                return due(run, passed) and subprocess.call(["cp", "-r", run, other]) is not None

            place.strike(copy, KILL)
            if not (other / "run").exists():
                shutil.copytree(place.run, other / "run")
            home = {"HOME": str(other), "XDG_CACHE_HOME": "", "REFLEX_BENCH_CACHE": ""}
            done = setting.reflex("resume", "run", "--results", ".", "--quiet", cwd=other, variables=home)
            tally.check(done.code == 0, f"exit {done.code} elsewhere: {place.plain(done.last)}")
            place.judge_end(tally, other / "run")
            place.go_on(tally)

    repeat(count, one)
    return tally


def two_at_once(setting: Setting, count: int) -> Tally:
    """Two processes on one run directory: one works, the other is refused."""
    tally = Tally("two processes on one run directory")
    pairs = (("bench", "resume"), ("resume", "resume"), ("bench", "bench"))
    for number in range(count):
        first, second = pairs[number % 3]
        with setting.place(f"two-{number}", latency=0.04) as place:
            if first == "resume":
                place.strike(lambda run, passed: lines(run / "calls.jsonl") > 20, KILL)
            one = setting.reflex.start(*place.command())
            while second == "resume" and not status_of(place.run):
                time.sleep(0.001)
            commands = {"resume": ("resume", place.run, "--quiet"), "bench": place.bench()}
            both = finish(setting.reflex.start(*commands[second])), finish(one)
            good, bad = sorted(both, key=lambda done: done.code)
            tally.remark(f"{first} + {second}: exits {good.code} and {bad.code}")
            tally.check(
                (good.code, bad.code) == (0, 2), f"exits {good.code}, {bad.code}: {place.plain(bad.last)}"
            )
            tally.check(bad.err.count("\n") == 1, "more than one line from the refused one")
            place.go_on(tally)
    return tally


def judge_refusal(tally: Tally, what: str, done: Done, place: Place) -> None:
    """One line that names a file, and where the run has begun, how to go on."""
    said = place.plain(done.last)
    wrong = (
        "a traceback" * ("Traceback" in done.err)
        or f"exit {done.code}" * (done.code not in (1, 2))
        or "more than one line" * (done.err.count("\n") != 1)
        or "names no file" * ("…/" not in said)
        or "no hint to resume" * (done.code == 1 and "reflex resume" not in said)
    )
    tally.check(not wrong, f"{what}: {wrong}: {said}")


def disk_full(setting: Setting, count: int) -> Tally:
    """The disk is full at a point of the run, then enlarged."""
    tally = Tally("disk full, then enlarged")
    with setting.place("size") as place:
        setting.reflex(*place.bench())
        whole = sum(-(-file.stat().st_size // 4096) * 4 for file in place.run.rglob("*") if file.is_file())

    def one(number: int) -> None:
        size = 8 + 4 * round((whole - 8) / 4 * number / count)
        with setting.place(f"full-{number}") as place, disk(place.folder / "disk", size) as remount:
            place.folder /= "disk"
            done = setting.reflex(*place.bench())
            tally.remark(f"exit {done.code}")
            if done.code:
                judge_refusal(tally, "bench", done, place)
            remount("size=64m")
            place.go_on(tally)
            place.folder = place.folder.parent

    repeat(count, one)
    return tally


def read_only(setting: Setting) -> Tally:
    """A directory that nothing can be written to: begun there, resumed there, read there."""
    tally = Tally("read-only directory, then writable")
    with setting.place("read-only") as place, disk(place.folder / "disk", 65536) as remount:
        place.folder /= "disk"
        place.strike(at_random(place, 0), KILL)
        remount("ro")
        reflex = setting.reflex
        judge_refusal(tally, "resume", reflex("resume", place.run, "--quiet"), place)
        judge_refusal(tally, "bench", reflex(*place.bench()[:-3], "other", *place.bench()[-2:]), place)
        for command in ("table", "compare", "show"):
            done = reflex(command, place.run)
            tally.check(done.code == 0, f"{command}: exit {done.code}, {place.plain(done.last)}")
        remount("rw")
        place.go_on(tally)
        place.folder = place.folder.parent
    return tally


def campaign(folder: Path, moments: int, seed: int) -> Iterator[Tally]:
    """Every mishap, one after the other."""
    reflex = Reflex(folder, OPENAI_API_KEY="none")
    plain = measured(Setting(reflex, folder / "plain", seed, behind=False))
    behind = measured(Setting(reflex, folder / "behind", seed, behind=True))
    few = max(4, moments // 20)
    yield killed(plain, "at random moments", moments, at_random)
    yield killed(plain, "in the end", few, at_the_end)
    yield killed(plain, "in start-up, no cache yet", few, at_the_start, new=True)
    yield killed(behind, "behind a server", few, at_random)
    yield while_waiting(behind)
    yield half_laid_out(plain)
    yield torn(plain, few)
    yield two_at_once(behind, 6)
    yield copied(plain, few // 2)
    if may_mount(folder):
        yield disk_full(plain, few)
        yield read_only(plain)
    else:
        print("skipped, as mounting is not allowed here: disk full, read-only directory")


def main() -> int:
    """Returns 1 where any check failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    began, tallies = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        for tally in campaign(Path(folder), arguments.moments, arguments.seed):
            tallies.append(tally)
            print(f"{time.monotonic() - began:4.0f} s  {tally.what}: {tally.cells()[-1]}", file=sys.stderr)
    print_table(COLUMNS, [tally.cells() for tally in tallies], arguments.markdown)
    failed = sum(bool(tally.faults) for tally in tallies)
    runs = sum(tally.count for tally in tallies)
    print(
        f"\n{runs} runs, {failed} of {len(tallies)} kinds with failed checks, {time.monotonic() - began:.0f} s"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
