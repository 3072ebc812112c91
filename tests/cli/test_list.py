"""`reflex list`: date, status, score and cost of every run, and that a killed run is no running one."""

from __future__ import annotations

import json
import signal
import time

from reading import rows


def test_a_run_is_listed_with_its_date_score_and_cost(reflex, finished):
    run, _ = finished
    solved = {"react": set(), "reflexion": set()}
    for row in rows(run / "trials.jsonl"):
        if row["success"]:
            solved[row["arm"]].add(row["task"])
    shares = {arm: len(tasks) / 12 for arm, tasks in solved.items()}
    (told,) = json.loads(reflex("list", "--json", "--results", run.parent).stdout)
    assert told["scores"] == shares
    info = json.loads((run / "run.json").read_text())
    assert (told["run"], told["status"], told["created"]) == ("whole", "complete", info["created"])
    assert (told["tasks"], told["trials"], told["simulated"]) == (12, 3, True)
    line = reflex("list", "--results", run.parent).stdout.splitlines()[1]
    assert line.split()[:3] == ["whole", info["created"][:10], "complete"]
    assert f"{100 * max(shares.values()):.1f}%" in line


def test_the_list_fits_80_columns(reflex, finished):
    wide = reflex("list", "--results", finished[0].parent, COLUMNS="200").stdout
    narrow = reflex("list", "--results", finished[0].parent, COLUMNS="80").stdout
    assert "alfworld procedural:seed=0" in wide
    assert max(map(len, narrow.splitlines())) <= 80
    assert "complete" in narrow
    assert "best" in narrow


def test_a_killed_run_is_not_listed_as_running(reflex, start, tmp_path):
    process = start("bench", "alfworld", "--run-id", "k", "--results", tmp_path, "-q")
    for _ in range(600):
        if (tmp_path / "k" / "trials.jsonl").exists() and (tmp_path / "k" / "trials.jsonl").stat().st_size:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGSTOP)

    def status():
        return json.loads(reflex("list", "--json", "--results", tmp_path).stdout)[0]["status"]

    assert status() == "running"
    process.kill()
    process.communicate()
    assert json.loads((tmp_path / "k" / "run.json").read_text())["status"] == "running"
    assert status() == "killed"
    assert "The run is killed" in reflex("table", tmp_path / "k").stdout


def test_a_run_that_cannot_be_read_hides_no_other(reflex, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{}")
    done = reflex("list", "--results", tmp_path)
    assert done.returncode == 0
    assert "not readable" in done.stdout
    (told,) = json.loads(reflex("list", "--json", "--results", tmp_path).stdout)
    assert "broken" in told["problem"]
