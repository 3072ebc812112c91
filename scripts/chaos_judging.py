"""Judges a case of the failure campaign: what was seen, posted and recorded, and whether that is as it must be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chaos_runs as runs
from chaos_cases import LIMITED, Case
from chaos_runs import Done
from chaos_server import OPENING, Server
from reading import rows


@dataclass
class Tried:
    """One case, as it went.

    Attributes:
        bench, resumed: the processes; `resumed` only where the run was left to be gone on with.
        faults: the checks that failed.
    """

    case: Case
    folder: Path
    key: str
    server: Server
    bench: Done = field(default_factory=lambda: Done(0, "", ""))
    resumed: Done | None = None
    cells: list[object] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def run(self) -> Path:
        return self.folder / "run"

    def check(self, holds: object, fault: str) -> None:
        if not holds:
            self.faults.append(fault)


def read(path: Path) -> list[dict[str, Any]]:
    return rows(path) if path.exists() else []


def judge(tried: Tried, whole: Mapping[str, Any]) -> None:
    """What a person saw, what was posted, and what stands in the record when the faulty run is over."""
    case, done = tried.case, tried.bench
    trials, calls = read(tried.run / "trials.jsonl"), read(tried.run / "calls.jsonl")
    errors = sorted({row["error"] for row in trials if row["outcome"] == "error"})
    tried.check(done.code == case.exit, f"exit {done.code}, not {case.exit}")
    lines = done.err.splitlines()
    learned = [line for line in lines if case.learned and re.search(case.learned, line)]
    tried.check(len(learned) == bool(case.learned), f"says {len(learned)} times what it learned")
    last = next((line for line in reversed(lines) if line not in learned), "")
    tried.check(bool(case.seen) == bool(last) and re.search(case.seen, last), "says something else")
    tried.check("Traceback" not in done.err, "a traceback")
    tried.check(not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.err), "control signs on the screen")
    more = [line for line in lines if line not in (last, *learned) and not re.search(LIMITED, line)]
    tried.check(not more, f"says more: {more}")
    tried.check(bool(case.error) == bool(errors), "errors recorded" if errors else "no errors recorded")
    tried.check(all(re.search(case.error, each) for each in errors), "another error recorded")
    tried.check(done.code != 2 or not tried.run.exists(), "exit 2, yet a run was begun")
    affected = tasks_of(tried) if case.data else set()
    wrong = scored(trials, whole, affected)
    tried.check(not wrong, f"{wrong} trials scored through the fault")
    if case.data:
        mine = [row for row in trials if row["task"] in affected]
        tried.check(mine and case.data(mine, calls), "the fault is not in the record")
    most = judge_posts(tried, calls)
    recorded = Counter(row["outcome"] for row in trials)
    record = ", ".join(f"{name} {count}" for name, count in sorted(recorded.items())) or "nothing"
    record += f": {runs.shortened(errors[0], 90)}" if errors else ""
    seen = runs.shortened(done.last.replace(str(tried.folder), "…"), 130) or "nothing"
    misbehaved = sum(tried.server.posted.spoiled.values())
    tried.cells = [case.name, misbehaved, most, done.code, seen, record, wrong]


def judge_posts(tried: Tried, calls: list[dict[str, Any]]) -> int:
    """How often and when the affected calls were posted; returns the most posts of one."""
    case, posted = tried.case, tried.server.posted
    counts = posted.counts()
    most = max((counts[key] for key in posted.spoiled), default=0)
    tried.check(case.posts in (None, most), f"{most} posts, not {case.posts}")
    low, high = case.waits
    for times in (posted.times[key] for key in posted.spoiled if counts[key] > 1):
        wait = times[1] - times[0]
        tried.check(low <= wait <= high, f"waited {wait:.2f} s")
    if case.gone is None and case.matched:
        whole = [call for call in calls if not call.get("lost") and not call.get("after_lost")]
        told = [call for call in whole if call.get("retries", 0) != counts[call["request"]] - 1]
        tried.check(not told, f"retries of {len(told)} calls miscounted in calls.jsonl")
    return most


def scored(trials: list[dict[str, Any]], whole: Mapping[str, Any], data: set[str]) -> int:
    """Trials with a verdict that differs from what the same trial has where nothing went wrong."""
    keys = ("arm", "task", "trial", "outcome", "success", "steps", "digest")
    right = {tuple(row.get(key) for key in keys) for row in whole["trials.jsonl"]}
    wrong = 0
    for row in trials:
        if row["outcome"] == "error":
            wrong += row["success"] is not None
        elif row["task"] not in data:
            wrong += tuple(row.get(key) for key in keys) not in right
    return wrong


def tasks_of(tried: Tried) -> set[str]:
    """The ids of the tasks in which the server misbehaved, by the openings of their trajectories."""
    lines = [row for file in (tried.run / "trajectories").glob("*.jsonl") for row in rows(file)]
    openings = {row["task"]: OPENING.findall(row.get("opening") or "") for row in lines}
    return {task for task, found in openings.items() if set(found) & tried.server.posted.spoiled_tasks}


def judge_end(tried: Tried, whole: Mapping[str, Any]) -> None:
    """What the run is in the end, beside one without faults."""
    if tried.resumed:
        # What is in the record as data stays there: a run in which no arm acted is none after a resume, either.
        expected = 1 if tried.case.data else 0
        tried.check(tried.resumed.code == expected, f"exit {tried.resumed.code} after the server recovered")
    if tried.case.data:
        tried.cells.append("n.a.: data")
        return
    differing = runs.unlike(tried.run, whole)
    if tried.case.learned:
        differing = ", ".join(
            name for name in differing.split(", ") if name and not name.startswith("tables/")
        )
    tried.check(not differing, f"differs in {runs.shortened(differing, 60)}")
    tried.check(differing.startswith("unreadable") or not any(runs.doubled(tried.run)), "rows or calls twice")
    tried.cells.append("DIFFERENT" if differing else "equal" if tried.resumed else "equal without")
