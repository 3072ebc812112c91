"""Runs damaged in many ways: a command either leaves one that reads, or leaves every byte as it was."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reading import record, rows

from reflex_bench.cli.main import app
from reflex_bench.core.errors import ReflexError, UsageError
from reflex_bench.harness.storage.run_data import read_run

pytestmark = pytest.mark.slow  # a command each, some with a whole run

FIRST, SECOND = "trajectories/react.trial-1.jsonl", "trajectories/react.trial-2.jsonl"


def reflex(*arguments: object) -> int:
    return int(app([str(each) for each in arguments], standalone_mode=False) or 0)


def bench(environment: str, results: Path) -> Path:
    """A run over four tasks that was broken off: the last two trials of an arm are owed."""
    reflex("bench", environment, "--tasks", 4, "--trials", 2, "-q", "--run-id", "run", "--results", results)
    shutil.copytree(results / "run", results / "whole")
    for name in ("trajectories/reflexion.trial-2.jsonl", "trials.jsonl"):
        change(name, lambda lines: lines[:-1])(results / "run")
    return results / "run"


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bench("hotpotqa", tmp_path_factory.mktemp("questions"))


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bench("alfworld", tmp_path_factory.mktemp("games"))


@pytest.fixture
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(request.getfixturevalue(request.param), tmp_path / "run"))


def bytes_of(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


Damage = Callable[[Path], object]


def change(name: str, how: Callable[[list[bytes]], list[bytes]]) -> Damage:
    """Lines of a file, as another hand left them."""

    def damage(run: Path) -> None:
        lines = (run / name).read_bytes().splitlines(keepends=True)
        (run / name).write_bytes(b"".join(how(lines)))

    return damage


def spoil(name: str, how: Callable[[dict[str, Any]], object]) -> Damage:
    """The first line of a file with something changed in it."""

    def first(lines: list[bytes]) -> list[bytes]:
        row = json.loads(lines[0])
        how(row)
        return [json.dumps(row).encode() + b"\n", *lines[1:]]

    return change(name, first)


def add(name: str, **values: Any) -> Damage:
    """A file beside the others, with the first line of a sound one and other values in it."""

    def damage(run: Path) -> None:
        row = rows(run / FIRST)[0] | values
        with (run / name).open("a") as file:
            file.write(json.dumps(row) + "\n")

    return damage


def describe(how: Callable[[dict[str, Any]], object]) -> Damage:
    def damage(run: Path) -> None:
        info = json.loads((run / "run.json").read_text())
        how(info)
        (run / "run.json").write_text(json.dumps(info))

    return damage


def fail_once(run: Path) -> None:
    """A trial that ended in an error, which a resumed run plays again."""
    for name in (FIRST, "trials.jsonl"):
        spoil(name, lambda row: row.update(outcome="error", success=None, passed=False, error="lost"))(run)


def both(*damages: Damage) -> Damage:
    def damage(run: Path) -> None:
        for each in damages:
            each(run)

    return damage


def retried_after_success(run: Path) -> None:
    solved = next(row for row in rows(run / FIRST) if row["passed"])
    add(SECOND, **(solved | {"trial": 2}))(run)


def replace_folder(run: Path) -> None:
    shutil.rmtree(run / "trajectories")
    (run / "trajectories").write_text("a file")


DAMAGES: dict[str, tuple[Damage, str]] = {
    "a line twice in a trajectory file": (
        change(FIRST, lambda lines: [*lines, lines[0]]),
        "react.trial-1.jsonl",
    ),
    "a trajectory file of a third trial": (
        add("trajectories/react.trial-3.jsonl", trial=3),
        "react.trial-3.jsonl",
    ),
    "a trajectory file of another name": (add("trajectories/old.trial-1.jsonl"), "old.trial-1.jsonl"),
    "a trajectory file of an unknown arm": (
        add("trajectories/old.trial-1.jsonl", arm="old"),
        "old.trial-1.jsonl",
    ),
    "a trial of an unknown task": (add(FIRST, task="nobody"), "react.trial-1.jsonl"),
    "a trial after one that passed": (retried_after_success, "react.trial-2.jsonl"),
    "a torn trajectory line": (change(FIRST, lambda lines: [*lines[:-1], lines[-1][:-9]]), ""),
    "a trajectory line without its end": (change(FIRST, lambda lines: [*lines[:-1], lines[-1][:-1]]), ""),
    "a trajectory line that is no JSON": (
        change(FIRST, lambda lines: [b"{]\n", *lines]),
        "react.trial-1.jsonl",
    ),
    "an empty trajectory line": (
        change(FIRST, lambda lines: [lines[0], b"\n", *lines[1:]]),
        "react.trial-1.jsonl",
    ),
    "bytes of another encoding": (
        change(FIRST, lambda lines: [b"\xff\xfe" + lines[0]]),
        "react.trial-1.jsonl",
    ),
    "a number that is a text": (
        spoil(FIRST, lambda row: row.update(prompt_tokens="many")),
        "react.trial-1.jsonl",
    ),
    "a count that is no whole number": (
        spoil(FIRST, lambda row: row.update(calls=1.5)),
        "react.trial-1.jsonl",
    ),
    "a step with a field too many": (
        change(FIRST, lambda lines: [line.replace(b'"number":1,', b'"number":1,"odd":1,') for line in lines]),
        "react.trial-1.jsonl",
    ),
    "a number for the ids of what was shown": (
        spoil(FIRST, lambda row: row.update(memory_ids=5)),
        "react.trial-1.jsonl",
    ),
    "no trajectory file of an arm's trial": (lambda run: (run / FIRST).unlink(), ""),
    "a file in place of the trajectories": (replace_folder, "trajectories"),
    "no trials.jsonl": (lambda run: (run / "trials.jsonl").unlink(), ""),
    "a line twice in trials.jsonl": (change("trials.jsonl", lambda lines: [*lines, lines[0]]), ""),
    "a torn line in trials.jsonl": (change("trials.jsonl", lambda lines: [*lines[:-1], lines[-1][:-9]]), ""),
    "a line of trials.jsonl that is no JSON": (
        change("trials.jsonl", lambda lines: [b"{]\n", *lines]),
        "trials.jsonl",
    ),
    "no calls.jsonl": (lambda run: (run / "calls.jsonl").unlink(), ""),
    "a torn call": (change("calls.jsonl", lambda lines: [*lines[:-1], lines[-1][:-9]]), ""),
    "a call that is no JSON, and an error": (
        both(fail_once, change("calls.jsonl", lambda lines: [b"{]\n", *lines])),
        "calls.jsonl",
    ),
    "a call without its reply, and an error": (
        both(fail_once, spoil("calls.jsonl", lambda row: row.pop("reply"))),
        "calls.jsonl",
    ),
    "a torn run.json": (lambda run: (run / "run.json").write_text("{"), "run.json"),
    "other settings, and an error": (
        both(fail_once, describe(lambda info: info["arms"]["react"].update(prompt_hash="v2:" + "0" * 16))),
        "prompt_hash",
    ),
    "other tasks, and an error": (
        both(fail_once, describe(lambda info: info["split"].update(fingerprint="0" * 64))),
        "changed",
    ),
    "a configuration with an unknown key, and an error": (
        both(fail_once, describe(lambda info: info["config"].update(odd=1))),
        "odd",
    ),
    "a trial that ended in an error": (fail_once, ""),
}
"""What was done to a run that was broken off; and what a refusal to resume it names: "" where it is mended."""


@pytest.fixture(params=DAMAGES)
def damage(request: pytest.FixtureRequest) -> tuple[Damage, str]:
    return DAMAGES[request.param]


@pytest.mark.parametrize("copy", ["questions"], indirect=True)
def test_resume_mends_a_run_or_changes_nothing_and_names_the_guilty_file(
    copy: Path, damage: tuple[Damage, str], questions: Path
) -> None:
    done, named = damage
    done(copy)
    before = bytes_of(copy)
    if named:
        with pytest.raises(UsageError, match=named.replace(".", r"\.")):
            reflex("resume", copy, "-q")
        assert bytes_of(copy) == before
        return
    assert reflex("resume", copy, "-q") == 0
    assert record(copy) == record(questions.parent / "whole")
    assert read_run(copy).status == "complete"
    assert not list(copy.rglob("*.tmp"))


@pytest.mark.parametrize("copy", ["questions"], indirect=True)
def test_results_whose_trajectories_are_gone_are_played_again_and_kept_beside(copy: Path) -> None:
    before = (copy / "trials.jsonl").read_bytes()
    (copy / FIRST).unlink()
    assert reflex("resume", copy, "-q") == 0
    assert (copy / "trials.jsonl.old").read_bytes() == before


@pytest.mark.parametrize("copy", ["questions"], indirect=True)
def test_rescore_leaves_the_run_alone_and_a_new_one_that_reads_or_none(
    copy: Path, damage: tuple[Damage, str]
) -> None:
    damage[0](copy)
    before, beside = bytes_of(copy), set(copy.parent.iterdir())
    try:
        reflex("rescore", copy, "--success", "contains")
    except ReflexError:
        assert set(copy.parent.iterdir()) == beside
    else:
        [made] = set(copy.parent.iterdir()) - beside
        assert len(read_run(made).trials) == len(rows(made / "trials.jsonl"))
    assert bytes_of(copy) == before


REFUSED_BY_VERIFY = (
    *("a trajectory line that is no JSON", "an empty trajectory line"),
    *("bytes of another encoding", "a number that is a text", "a count that is no whole number"),
    *("a file in place of the trajectories", "a torn run.json", "other tasks, and an error"),
)


@pytest.mark.official
@pytest.mark.parametrize("copy", ["games"], indirect=True)
@pytest.mark.parametrize("name", REFUSED_BY_VERIFY)
def test_verify_changes_nothing_in_a_run_that_it_refuses(copy: Path, name: str) -> None:
    DAMAGES[name][0](copy)
    before = bytes_of(copy)
    with pytest.raises(UsageError):
        reflex("verify", copy)
    assert bytes_of(copy) == before


@pytest.mark.official
@pytest.mark.parametrize("copy", ["games"], indirect=True)
def test_verify_refuses_damaged_findings_before_it_replays_and_else_adds_to_them_alone(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    DAMAGES["a line twice in a trajectory file"][0](copy)
    before = bytes_of(copy)
    (copy / "verified.json").write_text("{")
    with monkeypatch.context() as patch:
        patch.setattr("reflex_bench.harness.checks.verify.open_environment", None)
        with pytest.raises(UsageError, match=r"verified\.json"):
            reflex("verify", copy)
    assert (copy / "verified.json").read_text() == "{"
    (copy / "verified.json").unlink()
    assert reflex("verify", copy, "--sample", 1) == 0
    after = bytes_of(copy)
    assert after.pop("verified.json")
    assert after == before
