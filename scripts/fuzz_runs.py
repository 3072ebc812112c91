"""The run directories and published results that `scripts/fuzz` spoils, and everything that reads them."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from fuzz_targets import SAMPLE, Target, file_target, rows_of, text_of

from reflex_bench.cli import read as command
from reflex_bench.core.errors import UsageError
from reflex_bench.harness.checks import rescore as rescoring
from reflex_bench.harness.checks import verify as verifying
from reflex_bench.harness.importing import hotpotqa_logs, mapped_rows, reflexion_logs
from reflex_bench.harness.reporting.compare import compare
from reflex_bench.harness.reporting.tables.comparison import comparison_tables
from reflex_bench.harness.reporting.tables.render import Table, render
from reflex_bench.harness.reporting.tables.styles import styled_table
from reflex_bench.harness.storage import journal
from reflex_bench.harness.storage import run_data as frame
from reflex_bench.harness.storage.store import Store
from reflex_bench.models import replay
from reflex_bench.models.options import ModelOptions

TAGS = {"h2", "ul", "li", "table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "small"}
"""All that a table as HTML is made of; none has an attribute."""
STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
STYLES = ("pass-at-k", "outcomes", "react-table3", "reflexion-curve", "reflections", "evaluator")


def runs(folder: Path) -> Iterator[Target]:
    """A run directory with one of its files changed, before everything that reads runs."""
    run = shutil.copytree(SAMPLE, folder / "results" / "run")
    replayed = (
        b'{"settings": {}, "attempts": {"432a7660bdcb6856": {"steps": 7, "won": true, "difference": null}}}'
    )
    (run / "verified.json").write_bytes(replayed)
    answered = shutil.copytree(SAMPLE, folder / "answered" / "run")
    for path in (answered / "run.json", *(answered / "trajectories").iterdir()):
        path.write_text(re.sub(r'"(name": "|plan_length":\d+,")', _as_question, path.read_text()))
    first = "trajectories/reflexion.trial-1.jsonl"
    for name, home, file, read in (
        *(
            ("run-json", run, "run.json", _read),
            ("trials", run, "trials.jsonl", _read),
            ("verified", run, "verified.json", _read),
        ),
        *(("trajectories", run, first, _read), ("replayed-calls", run, "calls.jsonl", _replay)),
        *(("resumed-run-json", run, "run.json", _resume), ("resumed-trials", run, "trials.jsonl", _resume)),
        *(("resumed-trajectories", run, first, _resume), ("resumed-calls", run, "calls.jsonl", _resume)),
        *(
            ("rescored-run-json", answered, "run.json", _rescore),
            ("rescored-trials", answered, first, _rescore),
        ),
    ):
        yield Target(
            name,
            "json" if file.endswith(".json") else "lines",
            ((home / file).read_bytes(),),
            partial(_with, home, file, read),
            (UsageError,),
        )
    odd = (
        "<script>alert(1)</script>",
        '"><img src=x onerror=y>',
        "\x1b]8;;http://x\x07",
        "=1+1",
        "](http://x)",
        "[red]x[/red]",
    )
    yield Target("markup", "text", tuple(map(str.encode, odd)), partial(_fill, folder / "markup" / "run"))


def _as_question(found: re.Match[str]) -> str:
    return (
        '"name": "hotpotqa", "was": "'
        if found[1].startswith("name")
        else '"answer":"1871","gold_answer":"1872","'
    )


def _with(run: Path, file: str, read: Callable[[Path], object], data: bytes) -> None:
    original = {path: path.read_bytes() for path in (run / file, run / "trials.jsonl", run / "run.json")}
    (run / file).write_bytes(data)
    try:
        read(run)
    finally:
        for path, content in original.items():
            path.write_bytes(content)


def _read(run: Path) -> None:
    """Every reader in turn; what one refuses, the next may take."""
    size = sum(path.stat().st_size for path in run.rglob("*.json*"))
    readers: list[Callable[[], object]] = [
        lambda: _written(styled_table(frame.read_run(run), STYLES[size % len(STYLES)])),
        lambda: _written(*comparison_tables(compare(frame.read_run(run)))),
        lambda: _printed(command.list_runs, run.parent),
        lambda: _printed(command.show, str(run), None, None, None),
        lambda: verifying.verify(_unplayed(run), None, lambda *_: None),
    ]
    refused = None
    for reader in readers:
        try:
            reader()
        except UsageError as error:
            refused = refused or error
    if refused and "no trajectory has been recorded" not in str(refused):
        raise refused


def _unplayed(run: Path) -> Path:
    """The run without trajectories, so that no official engine is started."""
    (run.parent / "bare").mkdir(exist_ok=True)
    shutil.copy(run / "run.json", run.parent / "bare" / "run.json")
    return run.parent / "bare"


def _written(*tables: Table) -> None:
    for table in tables:
        for form in ("terminal", "markdown", "csv", "latex", "html"):
            text = render(table, form, width=100)
            text.encode()
            if found := STEERING.search(text):
                raise AssertionError(f"a control character in {form}: {found[0]!r}")
        Checked().feed(text)


class Checked(HTMLParser):
    """Raises on any markup that no template of ours holds."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS or attrs:
            raise AssertionError(f"foreign markup: {tag} {attrs}")

    def handle_endtag(self, tag: str) -> None:
        if tag not in TAGS:
            raise AssertionError(f"foreign markup: the end of {tag}")

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"foreign markup: a comment {data!r}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"foreign markup: a declaration {decl!r}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"foreign markup: a processing instruction {data!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"foreign markup: an unknown declaration {data!r}")


def _printed(shown: Callable[..., object], *arguments: object) -> None:
    """What a command prints must be printable, and steer no terminal."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        shown(*arguments)
    out.getvalue().encode()
    if found := STEERING.search(out.getvalue()):
        raise AssertionError(f"a control character reaches the terminal: {found[0]!r}")


def _replay(run: Path) -> None:
    replay.create(str(run), ModelOptions()).settings()


def _resume(run: Path) -> None:
    with contextlib.closing(Store(run)) as store:
        store.begin()
        tasks = set(store.manifest["split"]["task_ids"])
    journal.Journal(run / "calls.jsonl", tasks=tasks).close()


def _rescore(run: Path) -> None:
    shutil.rmtree(run.parent / "run-contains", ignore_errors=True)
    rescoring.rescore(run, "contains")


def _fill(run: Path, data: bytes) -> None:
    """A text in every place of a run that others may fill, before everything that shows runs."""
    text, kept = text_of(data)[:2000], {"trial", "outcome", "arm", "attempt", "task", "reflection_kind"}
    shutil.copytree(SAMPLE, run, dirs_exist_ok=True)
    info = _filled(json.loads((SAMPLE / "run.json").read_text()), text, {"task_ids"})
    (run / "run.json").write_text(json.dumps(info))
    for path in (SAMPLE / "trials.jsonl", *(SAMPLE / "trajectories").iterdir()):
        lines = [json.dumps(_filled(row, text, kept)) + "\n" for row in rows_of(path)]
        (run / path.relative_to(SAMPLE)).write_text("".join(lines))
    whole = frame.read_run(run)
    _written(styled_table(whole), *comparison_tables(compare(whole, force=True)))
    _printed(command.list_runs, run.parent)
    _printed(command.show, str(run), None, None, None)


def _filled(value: Any, text: str, kept: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: each if key in kept else _filled(each, text, kept) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, text, kept) for each in value]
    return text if isinstance(value, str) else value


def imports(folder: Path) -> Iterator[Target]:
    """What others have published."""
    row = b'{"id": "a", "ok": true, "n": 1, "by": {"name": "x"}}\n{"id": "b", "ok": 0, "n": 1, "by": {"name": "y"}}\n'
    fields = mapped_rows.read_map("task=id,success=ok,trial=n,arm=by.name")

    def map_rows(path: Path) -> None:
        frame.read_run(mapped_rows.import_rows(path, fields, folder / "mapped"))

    yield file_target(folder / "rows.jsonl", "mapped-rows", "lines", (row,), map_rows)
    maps = (b"task=id,success=score>=1,trial=attempt,arm=agent.name,type=kind",)
    yield Target("map", "text", maps, lambda data: mapped_rows.read_map(text_of(data)), (UsageError,))
    states = b'[{"name": "env_0", "memory": ["I failed."], "is_success": false, "skip": false}]'
    log = (
        b"########\nBEGIN TRIAL 1\nTrial summary: Correct: 0, Incorrect: 1\n########\n"
        b"------ BEGIN INCORRECT AGENTS ------\n\n"
        b"Question: In what year?\nThought: Hm.\nAction: Finish[1870]\nObservation: Answer is INCORRECT\n"
        b"Reflections: I guessed.\nCorrect answer: 1871\n\n"
    )
    for name, place, kind, seed in (
        ("reflexion-games", "alfworld_runs/root/reflexion_run_logs/env_results_trial_0.json", "json", states),
        ("reflexion-questions", "hotpotqa_runs/root/ReAct/base/100_questions_1_trials.txt", "bytes", log),
    ):
        home = folder / name

        def take(path: Path, home: Path = home) -> None:
            for run in reflexion_logs.import_reflexion_logs(home, folder / "made"):
                frame.read_run(run)

        yield file_target(home / place, name, kind, (seed,), take)
    yield file_target(folder / "log.txt", "reflexion-log", "bytes", (log,), hotpotqa_logs.read_log)
