"""The scripts that load and break runs still do, on the smallest scale; the figures of whole campaigns are in docs."""

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def script(name, *arguments):
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / name), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests")},
    )


@pytest.fixture
def scripts(monkeypatch):
    """The scripts can be imported, as they import one another."""
    monkeypatch.syspath_prepend(ROOT / "scripts")


@pytest.mark.parametrize("case", ["429, retry-after 1 s", "the key in proper replies, with escapes"])
def test_a_failure_campaign_of_one_case_finds_nothing(case):
    done = script("chaos_failures.py", case)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 cases, 0 with failed checks" in done.stdout
    assert ": 0 with a key" in done.stdout


def test_a_server_that_vanishes_during_a_case_is_back_before_the_run_goes_on():
    done = script("chaos_failures.py", "refused, for")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 cases, 0 with failed checks" in done.stdout


def test_a_server_that_never_left_has_no_need_to_come_back(scripts):
    from chaos_server import Server

    with Server() as server:
        server.come_back()
        urllib.request.urlopen(f"{server.base_url}/models").close()
        server.vanish_soon(0.2)
    with pytest.raises(OSError):
        urllib.request.urlopen(f"{server.base_url}/models")


def test_a_run_against_a_slow_server_that_is_killed_ends_like_an_unbroken_one():
    done = script("chaos_load.py", "--tasks", "6", "--kills", "2", "--latency", "0.02")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all as it should be" in done.stdout


def test_the_harness_is_measured_beside_bare_loops():
    done = script("bench_harness.py", "memory", "--trials", "60", "--repeats", "1")
    assert "memory from 6 to 60 trials" in done.stdout, done.stderr
    assert script("bench_harness.py", "speed").returncode == 2
