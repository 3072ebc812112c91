"""Replays a run's own journal: anyone can run a published result again, without a key or a bill."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from reflex_bench.core.errors import ModelError, UsageError
from reflex_bench.models.base import Reply, Request, ToolCall, Usage
from reflex_bench.models.hashing import request_hash
from reflex_bench.models.options import ModelOptions

JOURNAL = "calls.jsonl"
RECORD = "run.json"


class _ToolCall(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    arguments: str


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str
    finish: str = ""
    model: str = ""
    server: str = ""
    calls: tuple[_ToolCall, ...] = ()
    reasoning: str = ""
    reasoning_form: str = ""
    reasoning_data: str = ""


class _Usage(BaseModel):
    model_config = ConfigDict(extra="ignore")

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    reasoning_estimated: bool = False


class _Call(BaseModel):
    """One line of the journal, as far as a reply is made of it; runs of later versions may say more."""

    model_config = ConfigDict(extra="ignore")

    request: str
    reply: _Reply
    usage: _Usage = _Usage()
    cost: float | None = None
    seconds: float = 0.0
    lost: bool = False

    def as_reply(self) -> Reply:
        reply, usage = self.reply, self.usage
        return Reply(
            text=reply.text,
            usage=Usage(**usage.model_dump()),
            finish=reply.finish,
            cost=self.cost,
            seconds=self.seconds,
            model=reply.model,
            server=reply.server,
            calls=tuple(ToolCall(call.name, call.arguments) for call in reply.calls),
            reasoning=reply.reasoning,
            reasoning_form=reply.reasoning_form,
            reasoning_data=reply.reasoning_data,
        )


def create(name: str, options: ModelOptions) -> ReplayModel:
    """Return the entry point of `replay:<run directory>`; the options have no bearing on it.

    Raises:
        UsageError: no such directory, or no journal in it.
    """
    del options
    run = Path(name).expanduser()
    if not name or not run.is_dir():
        raise UsageError(f"model 'replay:{name}': no such run directory; write replay:results/<run>")
    if not (run / JOURNAL).is_file():
        raise UsageError(
            f"model 'replay:{name}': the run has no {JOURNAL}, so there are no replies to give again"
        )
    return ReplayModel(run)


class ReplayModel:
    """Gives each request the reply that it got in the recorded run.

    A request is looked up by `request_hash`, which covers the seed: samples of one prompt are told apart.
    Where the run asked for the same thing twice (a trial was attempted again), the later reply counts, as it
    did in the run's tables. Cost and seconds are those of the recording.

    Args:
        run: a run directory with a journal.
    """

    def __init__(self, run: Path) -> None:
        self._run = run.resolve()
        self.name = f"replay:{self._run.name}"
        self.simulated = _was_simulated(run)
        self._replies, self._unreadable = _read(run / JOURNAL)

    def check(self) -> Sequence[str]:
        """Raises `UsageError` for a journal without a single reply; warns of lines that could not be read."""
        if not self._replies:
            raise UsageError(f"{self.name}: {JOURNAL} holds no replies")
        if self._unreadable:
            return [
                f"{self.name}: {self._unreadable} unreadable lines in {JOURNAL}; their replies are missing"
            ]
        return []

    def complete(self, request: Request) -> Reply:
        """Return the recorded reply.

        Raises:
            ModelError: kind `not_recorded`, where the recorded run never asked this.
        """
        digest = request_hash(request)
        try:
            return self._replies[digest]
        except KeyError:
            raise ModelError(
                f"{self.name} has no reply to this request ({digest[:12]}, {len(request.messages)} messages, "
                f"seed {request.seed}): replay needs the tasks, arms, prompts and seeds of the recorded run",
                kind="not_recorded",
            ) from None

    def cost(self, usage: Usage) -> float | None:
        """Return None: what was paid stands with each recorded reply."""
        return None

    def settings(self) -> Mapping[str, Any]:
        """Return which run answers, and with how many replies."""
        models = sorted({reply.model for reply in self._replies.values() if reply.model})
        return {
            "kind": "replay",
            "run": self._run.name,
            "replies": len(self._replies),
            "recorded_models": models,
            "changed_parameters": _changed_parameters(self._run),
        }

    def close(self) -> None:
        """There is nothing to free."""


def _read(journal: Path) -> tuple[dict[str, Reply], int]:
    """Return the replies by request, and the number of unreadable lines; a torn last line is not counted."""
    replies: dict[str, Reply] = {}
    unreadable = 0
    with journal.open("rb") as lines:
        for line in lines:
            try:
                call = _Call.model_validate_json(line)
            except ValidationError:
                unreadable += bool(line.strip()) and line.endswith(b"\n")
            else:
                # An empty answer that was asked for again is no reply.
                if not call.lost:
                    replies[call.request] = call.as_reply()
    return replies, unreadable


def _was_simulated(run: Path) -> bool:
    return _record(run).get("simulated") is True


def _changed_parameters(run: Path) -> dict[str, str]:
    """Return what the endpoints of the recorded run did not take: its replies were made without it."""
    models = _record(run).get("models")
    each = models.values() if isinstance(models, dict) else ()
    found = [model.get("changed_parameters") for model in each if isinstance(model, dict)]
    return {str(name): str(became) for one in found if isinstance(one, dict) for name, became in one.items()}


def _record(run: Path) -> dict[str, Any]:
    try:
        record = json.loads((run / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
