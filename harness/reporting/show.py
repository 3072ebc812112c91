"""A trial as text for a reader in a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reflex_bench.core.control_characters import strip_control_chars
from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.core.jsonl import read_lines
from reflex_bench.harness.storage.run_info import as_mapping, read_info
from reflex_bench.harness.storage.trials import checked_lines, recorded


def trials_of(run: Path, task: str | None, arm: str | None, trial: int | None) -> list[dict[str, Any]]:
    """The recorded trials of one task, by arm and trial.

    Args:
        run: the run directory.
        task: a task id or an unambiguous part of one; None takes the first task that some arm solved after
            reflecting, else the first of all.
        arm, trial: only these; None for all.

    Raises:
        UsageError: no such task, arm or trial was recorded.
    """
    arms = read_info(run)["arms"]
    if arm is not None and arm not in arms:
        raise unknown("arm", arm, arms)
    recorded = list(checked_lines(run / "trials.jsonl"))
    index = [row for row in [*recorded, *under_way(run, recorded)] if arm in (None, row["arm"])]
    if not index:
        raise UsageError(f"{run}: no trial has been recorded yet, and no call has been answered")
    wanted = _task(index, task) if task else _telling_task(index)
    found = [row for row in index if row["task"] == wanted and trial in (None, row["trial"])]
    if not found:
        raise UsageError(f"{run}: no trial {trial} of {wanted}")
    found.sort(key=lambda row: (row["arm"], row["trial"]))
    return [row if "replies" in row else _whole(run, row) for row in found]


def under_way(run: Path, recorded: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Trials that have begun and are not recorded, from the journal: what the model replied so far.

    What it was answered is not known before the trial is written. A trial that arms share goes by the arm that plays.

    Args:
        run: the run directory.
        recorded: the rows of all recorded trials.

    Raises:
        UsageError: a line of `calls.jsonl` is no call.
    """
    file, known = run / "calls.jsonl", {row["attempt"] for row in recorded}
    found: dict[str, dict[str, Any]] = {}
    try:
        for call in read_lines(file):
            if call["attempt"] in known:
                continue
            row = found.setdefault(
                call["attempt"],
                {key: call[key] for key in ("attempt", "arm", "task", "trial")}
                | {"success": False, "replies": [], "time": ""},
            )
            row["replies"].append((call["step"], call["role"], str(call["reply"]["text"])))
            row["time"] = str(call["time"])
    except (LookupError, TypeError):
        raise UsageError(f"{file}: a line is no model call; restore the file or remove the line") from None
    return list(found.values())


def _task(index: list[dict[str, Any]], name: str) -> str:
    known = sorted({row["task"] for row in index})
    near = [task for task in known if name in task]
    if name in known or len(near) == 1:
        return name if name in known else near[0]
    if near:
        raise UsageError(
            f"task {name!r} fits {len(near)} tasks, e.g. {near[0]} and {near[1]}; say more of it"
        )
    raise unknown("task", name, known)


def _telling_task(index: list[dict[str, Any]]) -> str:
    learned = (row["task"] for row in index if row["success"] and row.get("memory_shown"))
    return str(next(learned, index[0]["task"]))


def _whole(run: Path, row: Mapping[str, Any]) -> dict[str, Any]:
    folder, name = run / "trajectories", f"{row['arm']}.trial-{row['trial']}.jsonl"
    # What stands in a file never becomes a path; it only picks one of those that are there.
    for path in (path for path in folder.glob("*.jsonl") if path.name == name):
        for line in recorded(path):
            if line["task"] == row["task"]:
                return line
    raise UsageError(f"{folder}: has no line for {row['task']} in {name}, though trials.jsonl has")


def as_lines(row: Mapping[str, Any], width: int, reasoning: bool = False) -> Iterator[tuple[str, str]]:
    """One trial as (style, line) pairs, without anything that steers a terminal; the styles are rich's.

    Args:
        row: a line of a trajectory file.
        width: columns.
        reasoning: whether what the model thought before each reply is shown, too.
    """
    yield "bold", strip_control_chars(f"{row['arm']} · trial {row['trial']} · {row['task']}")
    if "replies" in row:
        yield from _replies(row, width)
        return
    for text in row["memory"]:
        yield from _wrapped("magenta", "remembers  ", text, width)
    if row["outcome"] == "error":
        yield from _wrapped("red", "error      ", row["error"] or "", width)
        return
    yield from _wrapped("", "           ", row["opening"], width)
    modes, acted = _modes(row), 0
    for step in row["trajectory"]:
        yield from _step(step, width, reasoning)
        acted += step["action"] is not None
        if step["action"] is not None and acted in modes:
            yield from _wrapped("magenta", "    in the end ", modes[acted], width)
    yield from _ending(row, width)


def _modes(row: Mapping[str, Any]) -> dict[int, str]:
    """What became of the commands of a trial that were not simply done, by their places from 1."""
    lines = as_mapping(row.get("lines"))
    listed = [each for each in lines.values() if isinstance(each, list)]
    records = [each for rows in listed for each in rows if isinstance(each, Mapping)]
    told = {each.get("step"): each.get("mode") for each in records}
    return {
        step: str(mode)
        for step, mode in told.items()
        if isinstance(step, int) and mode not in (None, "", "real")
    }


def _step(step: Mapping[str, Any], width: int, reasoning: bool) -> Iterator[tuple[str, str]]:
    number = f"{step['number']:>3}"
    if reasoning and step.get("reasoning"):
        yield from _wrapped("dim", f"{number} reason ", str(step["reasoning"]), width)
    # A reply that could not be read is shown as it came, and its thought stands in it.
    if step["thought"] and not step["error"]:
        yield from _wrapped("cyan", f"{number} thinks ", step["thought"], width)
    if step["action"] is not None:
        yield from _wrapped("bold", f"{number} does   ", step["action"], width)
    if step["error"]:
        yield from _wrapped("yellow", f"{number} wrote  ", f"{step['reply']} [{step['error']}]", width)
    if step["action"] is not None or step["error"]:
        yield from _wrapped("" if step["valid"] else "yellow", "    sees   ", step["observation"], width)


def _ending(row: Mapping[str, Any], width: int) -> Iterator[tuple[str, str]]:
    """The outcome of a trial, how it was judged, and what was made of it."""
    style = "bold green" if row["success"] else "bold red"
    after = "" if row["steps"] is None else f" after {row['steps']} steps"
    yield style, strip_control_chars(f"=> {row['outcome']}{after}")
    if row.get("remark"):
        yield from _wrapped("yellow", "stopped    ", row["remark"], width)
    verdict = row.get("verdict") or {}
    if verdict.get("by", "environment") != "environment":
        said = f"{'passed' if verdict['success'] else 'failed'} ({verdict['by']}). {verdict['reason']}"
        yield from _wrapped("yellow", "judged     ", said, width)
    if row["reflection"]:
        yield from _wrapped("magenta", "reflects   ", row["reflection"], width)
        if row.get("reflection_audit"):
            kept = "kept" if row.get("reflection_kept") else "kept out of the memory"
            yield (
                "yellow",
                strip_control_chars(f"           audit: {', '.join(row['reflection_audit'])}; {kept}"),
            )


def _replies(row: Mapping[str, Any], width: int) -> Iterator[tuple[str, str]]:
    for number, role, text in row["replies"]:
        who = "says   " if role == "actor" else f"{role.replace('_', ' ')} says "
        yield from _wrapped("", f"{number:>3} {who}", text, width)
    count = len(row["replies"])
    calls = "1 call" if count == 1 else f"{count} calls"
    yield (
        "bold yellow",
        strip_control_chars(
            f"=> under way: {calls} so far, the last at {row['time']}; answers follow at its end"
        ),
    )


def _wrapped(style: str, label: str, text: str, width: int) -> Iterator[tuple[str, str]]:
    lines = [
        line
        for paragraph in text.splitlines() or [""]
        # What a model or a page wrote must not steer the reader's terminal.
        for line in textwrap.wrap(
            strip_control_chars(paragraph), max(20, width - len(label)), break_on_hyphens=False
        )
        or [""]
    ]
    for number, line in enumerate(lines):
        yield style, (label if number == 0 else " " * len(label)) + line
