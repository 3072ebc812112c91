"""What ends a run, what a terminal can show, and names that can be typed again."""

from __future__ import annotations

import json
import re
import signal
import time

import pytest
from reading import rows


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_a_hangup_ends_a_run_as_ctrl_c_does(reflex, start, tmp_path):
    process = start("bench", "alfworld", "--run-id", "h", "--results", tmp_path, "-q")
    file = tmp_path / "h" / "trials.jsonl"
    for _ in range(600):
        if file.exists() and file.stat().st_size:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGHUP)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "go on with: " in told
    assert json.loads((tmp_path / "h" / "run.json").read_text())["status"] == "interrupted"
    done = len(rows(file))
    assert reflex("resume", tmp_path / "h", "-q").returncode == 0
    assert len(rows(file)) > done


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
@pytest.mark.parametrize("command", ["table", "compare", "show", "doctor"])
def test_force_color_holds_for_every_command(reflex, finished, command, variables, coloured):
    words = [command] if command == "doctor" else [command, finished[0]]
    done = reflex(*words, **variables)
    assert (re.search(r"\x1b\[[0-9;]*3[0-9]m", done.stdout) is not None) == coloured, done.stdout[:300]


@pytest.mark.parametrize("command", ["table", "compare"])
def test_on_a_narrow_terminal_the_text_beside_tables_is_wrapped_at_words(reflex, finished, command):
    wide = reflex(command, finished[0], COLUMNS="400").stdout
    narrow = reflex(command, finished[0], COLUMNS="50").stdout
    notes = [line for line in narrow.splitlines() if line.startswith(("· ", "  "))]
    assert notes
    known = set(wide.split())
    for line in notes:
        if not re.search(r"\s{3,}", line):
            assert len(line) <= 50, line
    assert {word for line in narrow.splitlines() if line.startswith("· ") for word in line.split()} <= known


@pytest.mark.parametrize(
    "name", ["-x", "--dry-run", "a b", "a\nb", " ", "a*", "a'b", "$HOME", "a;b", "~", "#a"]
)
def test_a_run_gets_no_name_that_cannot_be_typed_again(reflex, tmp_path, name):
    done = reflex("bench", "alfworld", "--tasks", 1, f"--run-id={name}", "--results", tmp_path)
    assert done.returncode == 2
    assert "--run-id" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_names_of_other_alphabets_are_taken(reflex, tmp_path):
    bench = ("bench", "alfworld", "--tasks", 1, "--trials", 1, "--arms", "react", "-q", "--results", tmp_path)
    assert reflex(*bench, "--run-id", "lauf_ü-2.1").returncode == 0
    assert reflex("table", "lauf_ü-2.1", "--results", tmp_path).returncode == 0
