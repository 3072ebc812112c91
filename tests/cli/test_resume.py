"""Killed, interrupted, or refused in the middle: a resumed run ends like an unbroken one."""

import random
import signal
import time
from collections import Counter

import pytest
from reading import record, rows

BENCH = ("bench", "alfworld", "--tasks", 12, "--trials", 3, "--quiet")


def lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


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
    import json
    import shutil

    run = tmp_path / "changed"
    shutil.copytree(finished[0], run)
    info = json.loads((run / "run.json").read_text())
    info["arms"]["react"]["prompt_hash"] = "0" * 16
    (run / "run.json").write_text(json.dumps(info))
    done = reflex("resume", run)
    assert done.returncode == 2
    assert "prompt_hash changed since this run began" in done.stderr
