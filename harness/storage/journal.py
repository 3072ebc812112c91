"""Journal of model calls: every reply is written down before it is used, so that none is paid for twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import ModelError, UsageError
from reflex_bench.core.jsonl import AppendFile, Syncer, read_lines
from reflex_bench.models.base import CHARACTERS_PER_TOKEN, Reply, ToolCall, Usage


def flat(record: Any) -> dict[str, Any]:
    """Return a dataclass record's fields, not copied.

    `dataclasses.asdict` copies every value, several times as slowly.
    """
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Call:
    """Which call of a run this is.

    Attributes:
        attempt: the experiment it belongs to; arms that share a trial share its calls.
        number: from 1, within the attempt and role.
        arm, task, trial, step, role: for the reader.
    """

    attempt: str
    number: int
    arm: str
    task: str
    trial: int
    step: int
    role: str


@dataclass
class Taken:
    """What the calls of a run took, in all its processes.

    Attributes:
        tokens: of prompts and replies; estimated for calls whose tokens the server did not report.
        cost: US dollars, of the calls whose cost is known.
        uncosted: tokens of the other calls.
        timeouts: attempts that timed out before the call was answered.
        lost: prompt tokens of these attempts, which the endpoint may have read all the same; part of `tokens`.
    """

    tokens: int = 0
    cost: float = 0.0
    uncosted: Usage = field(default_factory=lambda: Usage(0, 0, 0))
    timeouts: int = 0
    lost: int = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Counts a line of `calls.jsonl`."""
        prompt, completion = row["usage"]["prompt_tokens"], row["usage"]["completion_tokens"]
        if prompt is None or completion is None:
            prompt = row.get("prompt_characters", 0) // CHARACTERS_PER_TOKEN
            said = len(row["reply"]["text"]) + len(row["reply"].get("reasoning", ""))
            completion = -(-said // CHARACTERS_PER_TOKEN)
        timeouts = row.get("timeouts", 0)
        self.timeouts += timeouts
        self.lost += timeouts * prompt
        self.tokens += (1 + timeouts) * prompt + completion
        if row["cost"] is not None:
            self.cost += row["cost"]
        else:
            so_far = self.uncosted
            self.uncosted = Usage(
                (so_far.prompt_tokens or 0) + prompt, (so_far.completion_tokens or 0) + completion, 0
            )


class Journal:
    """`calls.jsonl` of one run.

    Attributes:
        taken: what its calls took.

    Args:
        path: the file.
        syncer: see `AppendFile`.
        tasks: the tasks whose recorded replies may be asked for again; None for a run that has just begun.
    """

    def __init__(
        self, path: Path, syncer: Syncer | None = None, tasks: Collection[str] | None = None
    ) -> None:
        self._guard = threading.Lock()
        self.taken = Taken()
        try:
            self._recorded = dict(self._read(path, tasks)) if tasks else {}
        except (LookupError, TypeError, AttributeError, ValueError):
            raise UsageError(
                f"{path}: a line is no model call; restore the file or remove the line"
            ) from None
        self._file = AppendFile(path, syncer)

    def reply(
        self, call: Call, request: str, characters: int, ask: Callable[[], Reply], again: int = 0
    ) -> Reply:
        """Return the recorded reply to this very call, or a new one, written down before it is returned.

        Args:
            call: which call.
            request: hash of the request; a recorded reply to another request is not used.
            characters: of its messages.
            ask: makes the call.
            again: how many times it was asked for before, with less room.
        """
        recorded = self._recorded.get((call.attempt, call.role, call.number, request))
        if recorded is not None:
            return recorded
        try:
            reply = ask()
        except ModelError as failure:
            self._write_lost(call, request, characters, failure.lost)
            raise
        self._write_lost(call, request, characters, reply.lost)
        more = {"again": again} if again else {}
        if reply.lost:
            more["after_lost"] = len(reply.lost)
        self._write(_row(call, request, characters, reply, more))
        return reply

    def _write_lost(self, call: Call, request: str, characters: int, lost: Sequence[Reply]) -> None:
        """Writes answers down that were of no use and are paid for."""
        for reply in lost:
            self._write(_row(call, request, characters, reply, {"lost": True}))

    def _write(self, row: dict[str, Any]) -> None:
        with self._guard:
            self.taken.add(row)
        self._file.append(row)

    def _read(self, path: Path, tasks: Collection[str]) -> Iterator[tuple[tuple[str, str, int, str], Reply]]:
        lost: dict[tuple[str, str, int, str], list[Reply]] = {}
        for row in read_lines(path):
            self.taken.add(row)
            if row["task"] not in tasks:
                continue
            key, reply = (row["attempt"], row["role"], row["call"], row["request"]), recorded_reply(row)
            if row.get("lost"):
                lost.setdefault(key, []).append(reply)
            else:
                # Those of an attempt that ended in an error are no part of this one.
                before = lost.pop(key, [])
                count = int(row.get("after_lost", 0))
                yield key, replace(reply, lost=tuple(before[len(before) - count :] if count else ()))

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def _row(call: Call, request: str, characters: int, reply: Reply, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the line of `calls.jsonl` for one answer."""
    said: dict[str, Any] = {
        "text": reply.text,
        "finish": reply.finish,
        "model": reply.model,
        "server": reply.server,
    }
    if reply.calls:
        said["calls"] = [flat(native) for native in reply.calls]
    for name in ("reasoning", "reasoning_form", "reasoning_data"):
        if getattr(reply, name):
            said[name] = getattr(reply, name)
    usage = flat(reply.usage)
    if reply.usage.reasoning_tokens is None:
        del usage["reasoning_tokens"], usage["reasoning_estimated"]
    return {
        "attempt": call.attempt,
        "arm": call.arm,
        "task": call.task,
        "trial": call.trial,
        "step": call.step,
        "role": call.role,
        "call": call.number,
        **more,
        "request": request,
        "prompt_characters": characters,
        "reply": said,
        "usage": usage,
        "cost": reply.cost,
        "seconds": round(reply.seconds, 4),
        "retries": reply.retries,
        **({"timeouts": reply.timeouts} if reply.timeouts else {}),
        "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
    }


def recorded_reply(row: dict[str, Any]) -> Reply:
    """Return the reply that a line of `calls.jsonl` was made from."""
    said = dict(row["reply"])
    calls = tuple(ToolCall(**native) for native in said.pop("calls", ()))
    return Reply(
        usage=Usage(**row["usage"]),
        cost=row["cost"],
        seconds=row["seconds"],
        calls=calls,
        retries=row.get("retries", 0),
        timeouts=row.get("timeouts", 0),
        **said,
    )
