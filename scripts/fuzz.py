#!/usr/bin/env python
"""Throws broken input at everything that reads what others wrote: replies of models, configurations, runs, logs.

    scripts/fuzz [--seconds 30 | --count 1000] [--seed 0] [--save FOLDER] [--markdown] [TARGET ...]

Real inputs (`fuzz_targets.py` names them) are changed, as trees where they are JSON, else sign by sign. A target may
refuse an input by the error that it documents. Anything else is a finding, as is an answer after more than ten
seconds: the smallest input that still shows it is printed, and kept with --save. Exit code 1 if there was one.
With --count the inputs depend on the seed alone; their digest is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz_changes import changed, smaller
from fuzz_runs import imports, runs
from fuzz_targets import ROOT, Target, targets

MAX_LENGTH = 10
"""Seconds after which an answer is a finding."""
MAX_MEMORY = 8 * 2**30
SHRINKING = 400
"""How many smaller inputs are tried for each finding."""


class Hang(Exception):
    """No answer in time."""


@dataclass
class Finding:
    """An undocumented exception, by where it was raised."""

    key: str
    says: str
    data: bytes


@dataclass
class Report:
    """What became of one target."""

    name: str
    tried: int = 0
    refused: int = 0
    slowest: float = 0.0
    digest: Any = field(default_factory=hashlib.sha256)
    findings: dict[str, Finding] = field(default_factory=dict)


def main() -> int:
    options = _options()
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ResourceWarning)
    reports = []
    with tempfile.TemporaryDirectory() as folder:
        known = {
            each.name: each for each in (*targets(Path(folder)), *runs(Path(folder)), *imports(Path(folder)))
        }
        for name in options.targets:
            if name not in known:
                print(f"fuzz: no target {name!r}; known: {', '.join(known)}", file=sys.stderr)
                return 2
        for name in options.targets or known:
            reports.append(fuzz(known[name], options.seed, options.seconds, options.count))
            if not options.markdown:
                print(_line(reports[-1]), flush=True)
    if options.markdown:
        print("\n".join(_markdown(reports)))
    found = [(report.name, finding) for report in reports for finding in report.findings.values()]
    for name, finding in found:
        print(f"\n{name}: {finding.says}\n  {finding.key}\n  {finding.data[:300]!r}")
        if options.save:
            options.save.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256(finding.data).hexdigest()[:12]
            (options.save / f"{name}-{digest}").write_bytes(finding.data)
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="which [default: all]")
    parser.add_argument("--seconds", type=float, default=30, help="for each target [default: 30]")
    parser.add_argument("--count", type=int, help="so many inputs for each target, whatever the time")
    parser.add_argument("--seed", type=int, default=0, help="of the dice [default: 0]")
    parser.add_argument("--save", type=Path, help="where the smallest input of each finding goes")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    return parser.parse_args()


def fuzz(target: Target, seed: int, seconds: float, count: int | None) -> Report:
    """Changed inputs, one after the other, until time or count is up; the seeds themselves come first."""
    dice = random.Random(f"{seed} {target.name}")
    report, ends = Report(target.name), time.monotonic() + seconds
    while report.tried < count if count is not None else time.monotonic() < ends:
        if report.tried < len(target.seeds):
            data = target.seeds[report.tried]
        else:
            data = changed(dice, dice.choice(target.seeds), target)
        report.tried += 1
        report.digest.update(len(data).to_bytes(8, "big") + data)
        started = time.perf_counter()
        finding = attempt(target, data, report)
        report.slowest = max(report.slowest, time.perf_counter() - started)
        if finding and finding.key not in report.findings:
            report.findings[finding.key] = shrunk(target, finding)
    return report


def attempt(target: Target, data: bytes, report: Report | None = None) -> Finding | None:
    """One input: accepted, refused as documented, or a finding."""
    try:
        with _at_most(MAX_LENGTH):
            target.read(data)
    except target.refuses as refusal:
        says = str(refusal)
        if "\n" not in says and target.names in says:
            if report:
                report.refused += 1
            return None
        return Finding(
            f"a refusal by {_place(refusal)}", f"no one line that names {target.names}: {says[:300]!r}", data
        )
    except Exception as error:
        return Finding(
            f"{type(error).__name__} at {_place(error)}", f"{type(error).__name__}: {str(error)[:200]}", data
        )
    return None


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def ring(signum: int, frame: FrameType | None) -> None:
        raise Hang(f"no answer in {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _place(error: BaseException) -> str:
    """The innermost line of this project that an error came through, scripts apart."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        each
        for each in frames
        if each.filename.startswith(str(ROOT)) and "/scripts/fuzz.py" not in each.filename
    ]
    return f"{Path(ours[-1].filename).relative_to(ROOT)}:{ours[-1].lineno}" if ours else "nowhere of ours"


def shrunk(target: Target, finding: Finding) -> Finding:
    """The same finding with the smallest input found."""
    tries, again = 0, True
    while again and tries < SHRINKING:
        again = False
        for less in smaller(finding.data, target.kind):
            tries += 1
            found = attempt(target, less)
            if found and found.key == finding.key:
                finding, again = found, True
                break
            if tries >= SHRINKING:
                break
    return finding


def _line(report: Report) -> str:
    return (
        f"{report.name:20} {report.tried:>8,} tried {report.refused:>8,} refused {len(report.findings):>3} findings "
        f"{1000 * report.slowest:>8.1f} ms slowest  {report.digest.hexdigest()[:8]}"
    )


def _markdown(reports: list[Report]) -> Iterator[str]:
    yield "| target | inputs | refused as documented | undocumented | slowest, ms | inputs' digest |"
    yield "|---|---:|---:|---:|---:|---|"
    for report in reports:
        yield (
            f"| {report.name} | {report.tried:,} | {report.refused:,} | {len(report.findings)} "
            f"| {1000 * report.slowest:.1f} | {report.digest.hexdigest()[:8]} |"
        )


if __name__ == "__main__":
    sys.exit(main())
