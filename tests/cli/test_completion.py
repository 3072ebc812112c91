"""What the shell is offered when a person presses Tab: the installed script, asked as bash asks it."""

from __future__ import annotations

import subprocess

import pytest
from warm import REFLEX


def offered(line, surroundings, folder):
    """The words that bash is given for the last word of a command line."""
    variables = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_REFLEX_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [REFLEX], env=surroundings | variables, cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert "Traceback" not in done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("reflex bench h", ["hotpotqa"]),
        ("reflex comp", ["compare"]),
        ("reflex show wh", ["whole"]),
        ("reflex table l", ["latest"]),
        ("reflex resume who", ["whole"]),
        ("reflex bench alfworld --dry", ["--dry-run"]),
    ],
)
def test_commands_options_environments_and_runs_are_offered(surroundings, finished, line, words):
    variables = surroundings | {"REFLEX_BENCH_RESULTS": str(finished[0].parent)}
    assert offered(line, variables, finished[0]) == words


def test_the_tasks_of_the_run_that_is_named_are_offered(surroundings, finished):
    variables = surroundings | {"REFLEX_BENCH_RESULTS": str(finished[0].parent)}
    words = offered("reflex show whole pick_", variables, finished[0])
    assert words
    assert all(word.startswith("pick_") for word in words)


def test_the_script_for_a_shell_can_be_printed(surroundings):
    done = subprocess.run(
        [REFLEX, "--show-completion", "bash"], env=surroundings, capture_output=True, text=True, timeout=120
    )
    assert "_REFLEX_COMPLETE" in done.stdout, done.stderr
