"""The fuzzer: what it tries depends on the seed alone, and what is not documented it finds and makes small."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError

SCRIPTS = Path(__file__).parent.parent / "scripts"


@pytest.fixture(scope="module")
def fuzzer():
    sys.path.append(str(SCRIPTS))
    try:
        import fuzz
    finally:
        sys.path.remove(str(SCRIPTS))
    return fuzz


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPTS / "fuzz.py"), *arguments], capture_output=True, text=True, timeout=300
    )


def test_a_count_and_a_seed_decide_every_input():
    names = ("tool-call", "json-reply", "chat-reply", "mapped-rows", "reflexion-log")
    first, again = (run("--count", "30", "--seed", "5", "--markdown", *names) for _ in range(2))
    other = run("--count", "30", "--seed", "6", "--markdown", *names)
    tables = [[line.split("|") for line in done.stdout.splitlines()[2:]] for done in (first, again, other)]
    assert [done.returncode for done in (first, again, other)] == [0, 0, 0], first.stdout + first.stderr
    # Everything but the milliseconds.
    told = [[[*row[:5], row[6]] for row in table] for table in tables]
    assert told[0] == told[1]
    assert [row[1].strip() for row in told[0]] == list(names)
    assert not {row[5] for row in told[0]} & {row[5] for row in told[2]}


def test_a_target_that_does_not_exist_is_named():
    done = run("--count", "1", "nothing")
    assert (done.returncode, done.stderr.split(";")[0]) == (2, "fuzz: no target 'nothing'")


def test_an_undocumented_exception_is_found_with_a_small_input(fuzzer):
    def read(data):
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise UsageError("not JSON") from None
        if isinstance(value, dict) and value.get("trials", 3) is None:
            raise KeyError("trials")

    seed = json.dumps({"trials": 3, "tasks": ["a", "b"], "arms": {"x": {"y": 1}}}).encode()
    report = fuzzer.fuzz(fuzzer.Target("t", "json", (seed,), read, (UsageError,)), 0, 0, 2000)
    (found,) = report.findings.values()
    assert found.says == "KeyError: 'trials'"
    assert json.loads(found.data) == {"trials": None}
    harmless = fuzzer.Target("t", "json", (seed,), read, (UsageError, KeyError))
    assert not fuzzer.fuzz(harmless, 0, 0, 2000).findings


def test_a_refusal_that_does_not_say_what_it_is_about_is_a_finding(fuzzer):
    def read(data):
        raise UsageError(data.decode())

    target = fuzzer.Target("t", "text", (b"run.json: no",), read, (UsageError,), "run.json")
    assert fuzzer.attempt(target, b"run.json: no") is None
    assert fuzzer.attempt(target, b"no") is not None
    assert fuzzer.attempt(target, b"run.json:\nno") is not None


def test_an_answer_that_takes_too_long_is_a_finding(fuzzer, monkeypatch):
    def read(data):
        while True:
            pass

    monkeypatch.setattr(fuzzer, "MAX_LENGTH", 0.1)
    found = fuzzer.attempt(fuzzer.Target("t", "text", (b"x",), read), b"x")
    assert found.says == "Hang: no answer in 0.1 s"


def test_only_the_markup_of_our_own_tables_passes(fuzzer):
    import fuzz_runs

    fuzz_runs.Checked().feed("<table><tr><td>5 &lt; 6</td></tr></table>")
    for foreign in (
        "<img src=x>",
        "<td x=y>",
        "</script>",
        "<!-- x -->",
        "<!DOCTYPE x>",
        "<?php x?>",
        "<![CDATA[x]]>",
    ):
        with pytest.raises(AssertionError, match="foreign markup"):
            fuzz_runs.Checked().feed(foreign)
