"""The command as a person runs it: the installed script, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest
from warm import REFLEX, Warm


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory):
    """Environment variables without keys and endpoints of the person who runs the tests."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "REFLEX_BENCH_"))
    }
    # As in an environment that is activated: hints then name the command by its bare name.
    kept["PATH"] = f"{Path(REFLEX).parent}{os.pathsep}{kept['PATH']}"
    return kept | {"REFLEX_BENCH_CACHE": str(tmp_path_factory.mktemp("cache")), "COLUMNS": "100"}


@pytest.fixture(scope="session")
def warm():
    """Forks for every command; see `tests/warm.py`."""
    processes = Warm()
    yield processes
    processes.close()


@pytest.fixture(scope="session")
def reflex(surroundings, warm):
    """Runs `reflex` with the arguments given and returns the finished process."""

    def run(*arguments, cwd=None, **variables):
        return warm.run([str(each) for each in arguments], surroundings | variables, cwd)

    return run


@pytest.fixture(scope="session")
def start(surroundings):
    """Starts `reflex` and returns the running process."""

    def run(*arguments, **variables):
        return subprocess.Popen(
            [REFLEX, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=surroundings | variables,
            # A test run in the background of a shell has SIGINT ignored, and would pass that on.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )

    return run


@pytest.fixture(scope="session")
def finished(reflex, tmp_path_factory):
    """A run of both arms over twelve procedural games with the simulated model: its directory and what was printed."""
    results = tmp_path_factory.mktemp("results")
    done = reflex(
        "bench", "alfworld", "--tasks", 12, "--trials", 3, "--run-id", "whole", "--results", results
    )
    assert done.returncode == 0, done.stderr
    return results / "whole", done
