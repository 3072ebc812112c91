"""What a person sees of a run that takes its time, with and without a terminal, and how they leave it."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import MODEL, chat
from reading import rows

REFLEX = str(Path(sys.executable).with_name("reflex"))
ROOT = Path(__file__).parents[2]


def slow(seconds: float, text: str = "look"):
    return lambda call: replace(chat(text), wait=seconds)


@pytest.fixture
def command(loopback, tmp_path):
    """The words of a run of two tasks on the loopback server."""
    return [
        *("bench", "alfworld", "--model", f"openai/{MODEL}", "--base-url", loopback.base_url, "--tasks", "2"),
        *("--trials", "1", "--run-id", "slow", "--results", str(tmp_path), "-c", "limits.max_steps=5"),
    ]


class Terminal:
    """A process in a pseudo-terminal, and what it has shown."""

    def __init__(self, words, environment) -> None:
        self.shown = ""
        self.process, self._end = pty.fork()
        if self.process == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execve(words[0], words, environment | {"TERM": "xterm", "COLUMNS": "100"})

    def read_until(self, wanted: str, seconds: float) -> bool:
        """Whether a pattern was shown within so many seconds; "" reads until the process has closed its end."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (wanted and re.search(wanted, self.shown)):
            if select.select([self._end], [], [], 0.05)[0]:
                try:
                    read = os.read(self._end, 65536)
                except OSError:  # how a pseudo-terminal says that nobody is there any more
                    read = b""
                if not read:
                    return not wanted
                self.shown += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read.decode(errors="replace"))
        return bool(wanted and re.search(wanted, self.shown))

    def press_ctrl_c(self) -> None:
        os.write(self._end, b"\x03")

    def code(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def test_a_terminal_shows_steps_calls_and_time_before_any_task_is_done(
    command, loopback, surroundings
) -> None:
    loopback.answer = slow(1.0)
    terminal = Terminal([REFLEX, *command], surroundings)
    assert terminal.read_until(r"2 steps, 2 calls \(\d+ a minute, \d under way\)", 60)
    assert re.search(r"0:00:0\d gone, at most 0:\d\d:\d\d left", terminal.shown)
    assert terminal.read_until("", 60)
    assert terminal.code() == 0


def test_ctrl_c_says_at_once_what_it_waits_for_and_a_second_one_leaves_now(
    command, loopback, surroundings, reflex, tmp_path
) -> None:
    loopback.answer = slow(600)
    terminal = Terminal([REFLEX, *command], surroundings)
    assert terminal.read_until(r"0 steps, 0 calls \(0 a minute, 2 under way\)", 60)
    terminal.press_ctrl_c()
    assert terminal.read_until(r"interrupted; waiting for 2 calls that are under way, at most 120 s", 3)
    assert terminal.read_until(r"Ctrl-C again leaves now", 1)
    terminal.press_ctrl_c()
    assert terminal.read_until("", 5), terminal.shown
    assert terminal.code() == 130
    assert f"resume {tmp_path / 'slow'}" in terminal.shown
    assert "Traceback" not in terminal.shown
    assert json.loads((tmp_path / "slow" / "run.json").read_text())["status"] == "interrupted"
    loopback.answer = slow(0)
    done = reflex("resume", tmp_path / "slow", "-q")
    assert done.returncode == 0, done.stderr
    assert len(rows(tmp_path / "slow" / "trials.jsonl")) == 4


def test_one_ctrl_c_waits_for_the_calls_under_way_and_keeps_their_replies(
    command, loopback, surroundings, tmp_path
) -> None:
    loopback.answer = slow(3)
    terminal = Terminal([REFLEX, *command], surroundings)
    assert terminal.read_until(r"2 under way", 60)
    terminal.press_ctrl_c()
    assert terminal.read_until("", 60)
    assert terminal.code() == 130
    assert len(rows(tmp_path / "slow" / "calls.jsonl")) == len(loopback.posts) > 0


def test_without_a_terminal_it_tells_a_line_a_minute(loopback, tmp_path, surroundings, command) -> None:
    loopback.answer = slow(0.5)
    script = "from reflex_bench.cli import live, main; live.LINE_EVERY /= 60; main.run()"
    words = [sys.executable, "-c", script, *command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=surroundings)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if " steps, " in line]
    assert len(lines) >= 2, done.stderr
    assert re.search(r"react 0/2 \(0 solved\), .* steps, \d+ calls \(\d+ a minute, 2 under way\)", lines[0])
    assert re.search(r"0:00:0\d gone, (about|at most) 0:\d\d:\d\d left", lines[0])


def test_time_outs_are_counted_while_it_goes_on(loopback, surroundings, command, reflex) -> None:
    late = iter([True, True])
    lock = threading.Lock()

    def answer(call):
        with lock:
            return replace(chat("look"), wait=3.0 if next(late, False) else 0.0)

    loopback.answer = answer
    done = reflex(*command, "-c", "endpoint.timeout=0.5")
    assert done.returncode == 0, done.stderr
    assert ", 2 time-outs" in done.stderr


def test_a_run_is_resumed_with_other_ways_to_its_endpoint_and_with_nothing_else(
    command, loopback, reflex, start, tmp_path
) -> None:
    loopback.answer = slow(600)
    process = start(*command)
    while not loopback.posts:
        time.sleep(0.05)
    process.kill()
    process.communicate()
    for wrong, said in (
        ("model.temperature=0", "model.temperature stays as the run began"),
        ("endpoint.api=completions", "endpoint.api stays as the run began"),
        ("endpoint.timout=1", "did you mean 'endpoint.timeout'?"),
        ("endpoint.timeout", "a value is missing"),
        ("endpoint.timeout=-1", "endpoint.timeout"),
        ("paper", "stays as the run began"),
    ):
        refused = reflex("resume", tmp_path / "slow", "-c", wrong)
        assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1), refused.stderr
        assert said in refused.stderr
    loopback.answer = slow(0)
    other = loopback.base_url.replace("127.0.0.1", "localhost")
    done = reflex(
        *("resume", tmp_path / "slow", "-q", "--base-url", other, "--max-connections", 1),
        *("-c", "endpoint.timeout=2m"),
    )
    assert done.returncode == 0, done.stderr
    assert loopback.posts[-1].headers["host"].startswith("localhost")
    info = json.loads((tmp_path / "slow" / "run.json").read_text())
    assert info["config"]["endpoint"]["timeout"] == 120
    changes = {"endpoint": {"base_url": other, "timeout": "2m"}, "limits": {"max_connections": 1}}
    assert [each["changes"] for each in info["resumed"]] == [changes]


def test_show_reads_a_trial_under_way_and_an_unparsed_reply_once(
    command, loopback, reflex, start, tmp_path
) -> None:
    said = "I would rather not say what to do here."
    answered = iter(range(3))  # a fourth would end the trial as a loop
    loopback.answer = lambda call: replace(chat(said), wait=0.0 if next(answered, None) is not None else 600)
    process = start(*command, "--max-workers", "1", "--arms", "react")
    calls = tmp_path / "slow" / "calls.jsonl"
    while not calls.exists() or calls.read_bytes().count(b"\n") < 3:
        time.sleep(0.05)
    under_way = reflex("show", tmp_path / "slow")
    process.kill()
    process.communicate()
    assert under_way.returncode == 0, under_way.stderr
    assert under_way.stdout.count(said) >= 3
    assert re.search(r"=> under way: \d calls so far, the last at \d{4}-", under_way.stdout)
    loopback.answer = slow(0, said)
    done = reflex("resume", tmp_path / "slow", "-q")
    # A run in which nothing was executed is no result, and says so.
    assert (done.returncode, done.stderr.count("never acted")) == (1, 1), done.stderr
    shown = reflex("show", tmp_path / "slow").stdout
    steps = rows(tmp_path / "slow" / "trials.jsonl")[0]["steps"]
    assert shown.count(said) == steps


def test_hints_name_the_command_as_it_was_called(surroundings, tmp_path, loopback, command) -> None:
    venv = Path(REFLEX).parent
    found = surroundings | {"PATH": f"{venv}:{surroundings['PATH']}"}
    absent = surroundings | {"PATH": os.defpath}
    games = [*("bench", "alfworld", "--tasks", "1", "--trials", "1", "--results", str(tmp_path / "my runs"))]
    checkout = absent | {"REFLEX_BENCH_CALLED_AS": "./scripts/reflex"}
    for words, variables, name in (
        (["reflex"], found, "reflex"),
        ([REFLEX], absent, REFLEX),
        ([REFLEX], checkout, "./scripts/reflex"),
    ):
        done = subprocess.run(
            ["/usr/bin/env", *words, *games], capture_output=True, text=True, timeout=120, env=variables
        )
        assert done.returncode == 0, done.stderr
        assert f"read on with: {name} compare " in done.stdout
        run = shlex.split(done.stdout.splitlines()[-1].partition("read on with: ")[2])[2]
        # What it says is typed as it stands; the run lies where `--results` said, and its path has a space.
        again = subprocess.run(
            [*words, "compare", run.rstrip(",")], capture_output=True, timeout=120, env=variables
        )
        assert again.returncode == 0, again.stderr
        refused = subprocess.run([*words, "bench", "--nix"], capture_output=True, text=True, env=variables)
        assert f"see `{name} bench --help`" in refused.stderr
        refused = subprocess.run(
            [*words, "bench", "alfworld", "-m", "opnai"], capture_output=True, text=True, env=variables
        )
        assert f"`{name} models` lists" in refused.stderr
    assert 'REFLEX_BENCH_CALLED_AS="${REFLEX_BENCH_CALLED_AS:-$0}"' in (ROOT / "scripts/reflex").read_text()


def test_a_note_on_the_screen_names_the_command_as_called_and_one_in_a_file_by_its_bare_name(
    command, loopback, surroundings, tmp_path
) -> None:
    loopback.answer = slow(0, "I would rather not say what to do here.")
    variables = surroundings | {"REFLEX_BENCH_CALLED_AS": "./scripts/reflex"}
    done = subprocess.run(
        [REFLEX, *command, "-q"], capture_output=True, text=True, env=variables, timeout=120
    )
    first = done.stdout[done.stdout.index("· ") :]
    for words in (done.stderr, " ".join(first.split())):
        assert "`./scripts/reflex show slow` prints what it wrote" in words
    written = (tmp_path / "slow" / "tables" / "pass_at_k.md").read_text()
    assert "reflex show slow" in written
    assert "scripts/reflex" not in written


def test_no_library_speaks_where_quiet_was_asked_for(reflex, tmp_path) -> None:
    done = reflex("bench", "hotpotqa", "--tasks", 2, "--trials", 1, "-q", "--results", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
