"""What `scripts/fuzz` throws broken input at: readers with real inputs to begin with, and the errors they document."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from reflex_bench.agents import schema
from reflex_bench.agents.base import Step, Trajectory
from reflex_bench.agents.evaluation import judge
from reflex_bench.agents.memory import base as memory
from reflex_bench.agents.memory import building as memory_building
from reflex_bench.agents.reflection import audit, structured
from reflex_bench.core.errors import ReflexError, UsageError
from reflex_bench.envs.alfworld.engine import game as engine
from reflex_bench.envs.alfworld.generator.first import game as games
from reflex_bench.envs.alfworld.parsing import actions as household
from reflex_bench.envs.base import Action, ParsePolicy, Task
from reflex_bench.envs.hotpotqa import episode, profiles, questions, scoring
from reflex_bench.envs.hotpotqa import splits as question_splits
from reflex_bench.envs.hotpotqa.corpus import corpus, documents, snapshot
from reflex_bench.envs.hotpotqa.parsing import actions
from reflex_bench.envs.hotpotqa.parsing.tools import from_tool_call
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.harness.running import memory_io
from reflex_bench.models.base import Reply
from reflex_bench.models.openai import wire as openai_wire
from reflex_bench.models.openai.errors import faults as openai_faults

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "results" / "sample"
DATA = ROOT / "tests" / "data" / "hotpotqa"


@dataclass(frozen=True)
class Target:
    """Something that reads.

    Attributes:
        name: on the command line.
        kind: how inputs are changed: as `text`, as `bytes`, as one `json` value, or as `lines` of such.
        seeds: real inputs.
        read: reads one input; anything that it raises and that is not in `refuses` is a finding.
        refuses: the documented errors.
        names: what the text of a documented error must name, e.g. the file.
    """

    name: str
    kind: str
    seeds: tuple[bytes, ...]
    read: Callable[[bytes], object]
    refuses: tuple[type[Exception], ...] = ()
    names: str = ""


def targets(folder: Path) -> tuple[Target, ...]:
    """Every target apart from runs and imports; the files that are read lie in an empty folder."""
    os.environ["REFLEX_BENCH_CACHE"] = str(folder / "cache")
    return (*_parsers(), *_wire(), *_files(folder))


def text_of(data: bytes) -> str:
    """An input as text, half surrogate pairs and all."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def rows_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _parsers() -> Iterator[Target]:
    """What reads the replies of models."""
    rows = [row for path in sorted((SAMPLE / "trajectories").iterdir()) for row in rows_of(path)]
    played = tuple(step["reply"].encode() for row in rows for step in row["trajectory"])
    asked = tuple(case["completion"].encode() for case in rows_of(DATA / "hotpotqa_action_cases.jsonl"))
    written = tuple(row["reflection"].encode() for row in rows if row.get("reflection"))
    for name, read in (("alfworld-action", household.read_action), ("hotpotqa-action", actions.read_action)):
        yield Target(name, "text", played + asked, partial(_read_action, read))
    yield Target("tool-call", "json", (b'{"entity": "Lake Merrin"}', b'{"answer": "1871"}'), _call_tool)
    game = engine.Game.from_json(games.generate_one(0, 1).game)
    yield Target(
        "alfworld-command",
        "text",
        tuple(map(str.encode, game.admissible)),
        lambda data: game.step(text_of(data)),
    )
    yield Target(
        "hotpotqa-command", "text", (b"Search[Lake Merrin]", b"Lookup[deep]", b"Finish[1871]"), _play
    )
    replies = (
        b'{"reason": "It was there.", "critical_step": 3, "efficiency": "", "score": 0.5, "success": false}',
        b'```json\n{"reason": "It goes on.", "status": "on_track"}\n```',
        b'<think>Hm.</think>{"failed_step": 2, "expected": "a mug", "observed": "none", "deviation_type": '
        b'"premise_error", "root_cause": "It was elsewhere.", "correction": "Look there.", "confidence": 0.8}',
    )
    yield Target("json-reply", "text", replies, _ask)
    steps = tuple(Step(**{**step, "repairs": ()}) for step in rows[0]["trajectory"])
    told = Trajectory(Task("t", "put", "", ""), 2, (), rows[0]["opening"], steps, "failure", {}, "")
    yield Target(
        "reflection-audit",
        "text",
        written,
        lambda data: audit.audit(text_of(data), told, (text_of(data)[:99],), 30, ("go to",)),
    )


def _read_action(read: Callable[[str, ParsePolicy], Action], data: bytes) -> None:
    read(text_of(data), "strict")
    read(text_of(data), "repair")


def _call_tool(data: bytes) -> None:
    for name in ("Search", "finish", text_of(data)[:20]):
        (from_tool_call(name, text_of(data)).command or "").encode()


def _play(data: bytes) -> None:
    page = documents.Document("Lake Merrin", ("Lake Merrin is deep. ", "It lies in Orlan."), ("Merrin",))
    task = Task("q", "bridge", "How deep?", "", questions.Question("1871", (("Lake Merrin", 0),), (page,)))
    pages, rule = corpus.LocalCorpus("file", [page]), scoring.success_rule("f1>=0.8")
    for profile in profiles.PROFILES.values():
        played = episode.HotpotEpisode(task, pages, profile, rule, True, pages.best)
        for words in (
            "Search[Merrin]",
            text_of(data),
            f"Lookup[{text_of(data)}]",
            f"Finish[{text_of(data)}]",
        ):
            played.step(words)
        played.result()


def _ask(data: bytes) -> None:
    for shape in (structured.Diagnosis, judge.Judgement, judge.Assessment):
        value = schema.ask_json(lambda *_, **__: Reply(text_of(data)), (), shape, 1).value
        json.dumps(value and value.model_dump(), ensure_ascii=False).encode()


def _wire() -> Iterator[Target]:
    """What reads the answers of endpoints."""
    answers = (
        b'{"choices": [{"message": {"content": "go", "tool_calls": [{"function": {"name": "Search", "arguments": '
        b'"{}"}}]}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "prompt_tokens_details": '
        b'{"cached_tokens": 1}}, "model": "m"}',
        b'{"choices": [{"message": {"content": [{"type": "text", "text": "a"}]}}]}',
        b'{"object": "response", "status": "completed", "output": [{"type": "reasoning", "encrypted_content": "e"}, '
        b'{"type": "message", "content": [{"type": "output_text", "text": "a"}]}, {"type": "function_call", '
        b'"call_id": "c", "name": "Search", "arguments": "{}"}], "usage": {"input_tokens": 5, "output_tokens": 1}}',
        b'{"choices": [{"text": " go", "finish_reason": "length"}], "system_fingerprint": "f"}',
        b'{"error": {"message": "max_tokens is not supported", "code": "unsupported_parameter", "param": "stop"}}',
        *(
            b'{"detail": [{"msg": "x"}]}',
            b'{"error": "no model"}',
            b'{"choices": [], "error": {"code": 429}}',
        ),
    )
    for api in ("chat", "completions", "responses"):
        yield Target(
            f"{api}-reply",
            "json",
            answers,
            partial(openai_wire.read_reply, api=api, stop=("\n", ">")),
            (ReflexError,),
        )
    yield Target("error-body", "json", (*answers, b"<html><title>Bad gateway</title></html>"), _complain)
    yield Target(
        "model-list", "json", (b'{"data": [{"id": "m", "aliases": ["n"]}]}',), openai_wire.model_names
    )


def _complain(data: bytes) -> None:
    complaint = openai_faults.error_message(data)
    for status in (400, 401, 402, 404, 413, 429, 500):
        said = str(openai_faults.rejection(status, complaint, "http://h/v1", "m", True))
        if not said.isprintable():
            raise AssertionError("an error text that is no plain line")
    openai_faults.unsupported(complaint, ("max_tokens", "stop", "temperature", "seed"))
    openai_faults.redact(text_of(data), ("secret",))


def _files(folder: Path) -> Iterator[Target]:
    """Configurations, data sets, games, memories. A list with one entry a kind of file, hence its length."""
    bomb = b"a: &a [x, x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (n + 1, n + 1, b", ".join([b"*%c" % n] * 9)) for n in range(97, 110)
    )
    odd = (
        b"a: 2024-99-99\n",
        b"? [1]\n: 2\n",
        b"1: 2\n",
        b"seed: !!int x\n",
        b"a: &a [*a]\n",
        b"arms: {short: reflexion}\n",
    )
    shipped = tuple(path.read_bytes() for path in sorted((ROOT / "configs" / "profiles").iterdir()))
    yield file_target(
        folder / "c.yaml",
        "config-file",
        "bytes",
        (*shipped, bomb, *odd),
        lambda path: resolve([str(path)], {}),
        "",
    )
    pairs = (
        b"trials=3",
        b"arms={react: , short: {reflector: reflexion}}",
        b"limits.max_steps=3",
        b"paper",
        b"x.yaml",
    )
    yield Target("config-pair", "text", pairs, lambda data: resolve([text_of(data)], {}), (UsageError,))
    fact = b'"question": "Who?", "answer": "x", "type": "bridge", "level": "hard", '
    official = (
        b'{"_id": "a", ' + fact + b'"supporting_facts": [["T", 0]], "context": [["T", ["One.", " Two."]]]}'
    )
    hub = b'{"id": "b", ' + fact + b'"supporting_facts": {"title": ["T"], "sent_id": [0]}}'
    yield file_target(
        folder / "asked.json",
        "questions",
        "lines",
        (b"[" + official + b"]", official + b"\n" + hub),
        question_splits.file,
    )
    pages = (
        (DATA / "example_pages.jsonl").read_bytes(),
        b'{"title": "T", "text": "One. Two.", "redirects": ["U"]}\n',
    )
    yield file_target(
        folder / "pages.jsonl",
        "pages",
        "lines",
        pages,
        lambda path: corpus.LocalCorpus("file", corpus.read_pages(path)),
    )
    seen = (
        b'{"request": "r", "time": "t", "answer": {"query": {"pages": [{"title": "T", "extract": "x"}]}}}\n'
    )
    yield file_target(
        folder / "wiki.jsonl",
        "wikipedia-snapshot",
        "lines",
        (seen,),
        lambda path: snapshot.Snapshot(path).sha256(),
    )
    game = games.generate_one(0, 0).game
    yield Target(
        "alfworld-game",
        "json",
        (game,),
        lambda data: engine.Game.from_json(data).reset(),
        (engine.UnknownGame,),
    )
    notes = (SAMPLE / "memory" / "reflexion.jsonl").read_bytes()
    lesson = b'{"id": "L1", "text": "Look.", "confidence": 0.7, "age": 1, "shown": 2, "helped": 1, "sources": [%s]}\n'
    lesson %= b'{"task": "t", "number": 1, "trial": 1, "text": "Look.", "error_class": "loop"}'
    for kind in ("sliding", "retrieval", "strategy"):
        yield file_target(
            folder / "memory.jsonl", f"memory-{kind}", "lines", (notes, lesson), partial(_remember, kind)
        )


def _remember(kind: str, path: Path) -> None:
    kept: memory.Memory = memory_building.build(kind)
    memory_io.load(kept, path)
    kept.commit()
    kept.view(Task("t", "put", "put a mug on a desk.", "")).shown("a room")


def file_target(
    path: Path,
    name: str,
    kind: str,
    seeds: tuple[bytes, ...],
    read: Callable[[Path], object],
    names: str | None = None,
) -> Target:
    path.parent.mkdir(parents=True, exist_ok=True)
    return Target(
        name,
        kind,
        seeds,
        lambda data: (path.write_bytes(data), read(path)),
        (UsageError,),
        path.name if names is None else names,
    )
