"""Killed, interrupted, or refused in the middle: a resumed run ends like an unbroken one."""

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from reading import record, rows

BENCH = ("bench", "alfworld", "--tasks", 12, "--trials", 3, "--quiet")


def lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def catches(process, which):
    """Whether a process has a handler for a signal: what is sent before ends any program without a word."""
    status = Path(f"/proc/{process}/status").read_text()
    caught = int(re.search(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)[1], 16)
    return bool(caught >> (which - 1) & 1)


def break_off(start, results, name, after, how):
    """Starts the run and sends it a signal once `after` calls are written down; None if it was done before."""
    process = start(*BENCH, "--run-id", name, "--results", results)
    calls = results / name / "calls.jsonl"
    while process.poll() is None and lines(calls) < after:
        time.sleep(0.0005)
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


def assert_like_unbroken(run, whole):
    assert record(run) == record(whole)
    calls = Counter((row["attempt"], row["role"], row["call"]) for row in rows(run / "calls.jsonl"))
    assert set(calls.values()) == {1}, "a call that had been answered was made again"
    assert (run / "tables" / "pass_at_k.csv").read_bytes() == (
        whole / "tables" / "pass_at_k.csv"
    ).read_bytes()


@pytest.mark.parametrize("moment", range(10))
def test_killed_at_a_random_moment_a_resumed_run_equals_an_unbroken_one(
    finished, reflex, start, tmp_path, moment
):
    whole, _ = finished
    after = random.Random(moment).randrange(1, lines(whole / "calls.jsonl"))
    code, _ = break_off(start, tmp_path, "whole", after, signal.SIGKILL)
    assert code == -signal.SIGKILL
    done = reflex("resume", tmp_path / "whole", "--quiet")
    assert done.returncode == 0, done.stderr
    assert_like_unbroken(tmp_path / "whole", whole)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_ends_cleanly_and_says_how_to_go_on(finished, reflex, start, tmp_path, how):
    whole, _ = finished
    code, said = break_off(start, tmp_path, "whole", 40, how)
    assert code == 130
    assert f"reflex resume {tmp_path / 'whole'}" in said
    assert "Traceback" not in said
    assert reflex("resume", tmp_path / "whole", "--quiet").returncode == 0
    assert_like_unbroken(tmp_path / "whole", whole)


def test_torn_lines_are_owed_again(finished, reflex, start, tmp_path):
    whole, _ = finished
    break_off(start, tmp_path, "whole", 150, signal.SIGKILL)
    run = tmp_path / "whole"
    torn = [run / "calls.jsonl", run / "trials.jsonl", *(run / "trajectories").iterdir()]
    for path in torn:
        path.write_bytes(path.read_bytes()[:-7])
    assert reflex("resume", run, "--quiet").returncode == 0
    assert record(run) == record(whole)


def test_a_finished_run_is_resumed_to_the_same_bytes_without_a_call(finished, reflex):
    run, _ = finished
    before, calls = record(run), (run / "calls.jsonl").read_bytes()
    done = reflex("resume", run, "--quiet")
    assert done.returncode == 0, done.stderr
    assert record(run) == before
    assert (run / "calls.jsonl").read_bytes() == calls


def test_a_second_writer_is_refused(reflex, start, tmp_path):
    process = start(*BENCH, "--run-id", "busy", "--results", tmp_path, "--engine", "official")
    try:
        while not (tmp_path / "busy" / "calls.jsonl").exists():
            assert process.poll() is None
            time.sleep(0.01)
        done = reflex("resume", tmp_path / "busy")
        assert done.returncode == 2
        assert "another process is writing to this run" in done.stderr
    finally:
        process.kill()
        process.communicate()


def test_a_run_whose_settings_have_changed_is_not_mixed(finished, reflex, tmp_path):
    run = tmp_path / "changed"
    shutil.copytree(finished[0], run)
    info = json.loads((run / "run.json").read_text())
    info["arms"]["react"]["prompt_hash"] = "v2:" + "0" * 16
    (run / "run.json").write_text(json.dumps(info))
    done = reflex("resume", run)
    assert done.returncode == 2
    assert "prompt_hash changed since this run began" in done.stderr


def test_other_versions_than_the_run_began_with_are_told_once_and_noted(finished, reflex, tmp_path):
    run = tmp_path / "older"
    shutil.copytree(finished[0], run)
    info = json.loads((run / "run.json").read_text())
    now = info["packages"]["pandas"]
    info["packages"]["pandas"] = "0.1"
    (run / "run.json").write_text(json.dumps(info))
    finished_run = reflex("resume", run, "-q")
    assert (finished_run.returncode, finished_run.stderr) == (0, ""), "nothing was owed: nothing is played"
    file = run / "trajectories" / "react.trial-1.jsonl"
    for told in (
        f"reflex: the run goes on with other versions than before: pandas {now} instead of 0.1\n",
        "",
    ):
        file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
        done = reflex("resume", run, "-q")
        assert (done.returncode, done.stderr) == (0, told)
    said = " ".join(done.stdout.split())
    assert re.search(
        rf"Later trials were played with other versions, from \S+ on: pandas {re.escape(now)}\.", said
    )


def test_a_corpus_named_by_a_relative_path_is_found_from_any_folder(reflex, tmp_path):
    (tmp_path / "pages.jsonl").write_text(
        json.dumps({"title": "Orm", "sentences": ["Orm is a river."]}) + "\n"
    )
    words = [
        "bench",
        "hotpotqa",
        "--corpus",
        "file:pages.jsonl",
        "--tasks",
        2,
        "--trials",
        1,
        "--run-id",
        "r",
    ]
    done = reflex(*words, "--token-limit", 1, cwd=tmp_path)
    assert done.returncode == 1, "stopped at the limit"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = reflex("resume", tmp_path / "results" / "r", "--token-limit", 10**9, "-q", cwd=elsewhere)
    assert done.returncode == 0, done.stderr


def test_a_trial_that_is_missing_before_the_last_one_is_owed(finished, reflex, tmp_path):
    whole, _ = finished
    run = tmp_path / "whole"
    shutil.copytree(whole, run)
    retried = {row["task"] for row in rows(run / "trajectories" / "react.trial-2.jsonl")}
    file = run / "trajectories" / "react.trial-1.jsonl"
    kept = [
        line for line in file.read_text().splitlines(keepends=True) if json.loads(line)["task"] not in retried
    ]
    assert len(kept) < len(file.read_text().splitlines())
    file.write_text("".join(kept))
    done = reflex("resume", run, "--quiet")
    assert done.returncode == 0, done.stderr
    assert_like_unbroken(run, whole)


def test_a_directory_in_which_a_run_had_not_yet_begun_is_as_good_as_an_empty_one(reflex, tmp_path):
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "run.json.tmp").write_text('{"half')
    done = reflex(*BENCH, "--run-id", "whole", "--results", tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kilobytes", [4, 16, 64, 120])
def test_where_no_more_can_be_written_it_says_so_in_one_line_and_goes_on_later(
    finished, reflex, surroundings, tmp_path, kilobytes
):
    whole, _ = finished
    run = tmp_path / "whole"
    # The kernel's limit on file sizes refuses a write as a full disk does.
    words = [Path(sys.executable).with_name("reflex"), *BENCH, "--run-id", "whole", "--results", tmp_path]
    command = f"ulimit -f {kilobytes}; exec {' '.join(map(str, words))}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=surroundings, timeout=120
    )
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"reflex: cannot write {run}")
    if (run / "run.json").exists():
        assert re.search(rf"go on with: \S*reflex resume {re.escape(str(run))}$", last)
        again = reflex("resume", run, "--quiet")
    else:
        again = reflex(*BENCH, "--run-id", "whole", "--results", tmp_path)
    assert again.returncode == 0, again.stderr
    assert_like_unbroken(run, whole)


def test_told_to_end_before_it_has_begun_it_says_so(start, tmp_path):
    process = start(*BENCH, "--results", tmp_path)
    while not catches(process.pid, signal.SIGTERM):
        assert process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in said) == (130, False)
    assert said.splitlines()[-1].startswith("reflex: interrupted")
