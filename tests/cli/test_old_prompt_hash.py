"""A run that was begun when the prompt hash was made in another way (tests/data/runs/first_prompt_hash)."""

import json
import shutil
from pathlib import Path

import pytest
from reading import record, rows

BEFORE = Path(__file__).parents[1] / "data" / "runs" / "first_prompt_hash"


@pytest.fixture
def cut(tmp_path):
    """The run as it was killed behind its first trial."""
    run = tmp_path / "run"
    shutil.copytree(BEFORE, run)
    for file in (run / "trajectories").glob("*.trial-2.jsonl"):
        file.unlink()
    for name in ("trials.jsonl", "calls.jsonl"):
        kept = [
            line
            for line, row in zip((run / name).read_text().splitlines(True), rows(run / name), strict=True)
            if row["trial"] == 1
        ]
        (run / name).write_text("".join(kept))
    return run


def asked(run):
    return sorted(
        (row["attempt"], row["role"], row["call"], row["request"]) for row in rows(run / "calls.jsonl")
    )


def test_it_is_resumed_to_what_it_would_have_been_and_says_what_could_not_be_checked(reflex, cut):
    done = reflex("resume", cut, "--quiet")
    assert done.returncode == 0, done.stderr
    assert record(cut) == record(BEFORE)
    assert asked(cut) == asked(BEFORE)
    note = "which hashed prompts in another way: whether they are still the same could not be checked"
    assert done.stderr.count(note) == 1
    assert (
        json.loads((cut / "run.json").read_text())["arms"]
        == json.loads((BEFORE / "run.json").read_text())["arms"]
    )


def test_beside_a_run_of_today_its_hash_is_called_incomparable(reflex, cut, tmp_path):
    reflex("resume", cut, "--quiet")
    words = (
        "bench",
        "alfworld",
        "--tasks",
        1,
        "--trials",
        2,
        "-c",
        "limits.max_steps=3",
        "-q",
        "--run-id",
        "today",
    )
    assert reflex(*words, "--results", tmp_path).returncode == 0
    done = reflex("compare", cut, tmp_path / "today", "--arms", "reflexion")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert (
        "The prompt hashes come from different versions of reflex; whether the prompts differ is not known."
        in said
    )
