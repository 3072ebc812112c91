"""A name that does not exist: one line with a few names, however many there are; and what two runs have in common."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("environment", ["alfworld", "hotpotqa"])
def test_an_unknown_task_lists_eight_names_at_most(reflex, environment):
    done = reflex("bench", environment, "--task-id", "zzzzzz", "--dry-run")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    listed = line.partition("known: ")[2]
    assert len(listed.split(", ")) == 8
    assert listed.endswith(" more")


def test_an_unknown_task_of_a_run_lists_eight_names_at_most(reflex, finished):
    done = reflex("show", finished[0], "zzzzzz")
    assert len(done.stderr.partition("known: ")[2].split(", ")) == 8
    assert done.stderr.endswith("and 4 more\n")


def test_a_pilot_and_the_whole_say_how_many_tasks_they_share(reflex, finished, tmp_path):
    bench = ("--trials", 1, "--arms", "react", "-q", "--results", tmp_path)
    assert reflex("bench", "alfworld", "--tasks", 5, "--run-id", "pilot", *bench).returncode == 0
    assert reflex("bench", "hotpotqa", "--tasks", 5, "--run-id", "other", *bench).returncode == 0
    done = reflex("compare", tmp_path / "pilot", finished[0])
    assert done.returncode == 2
    assert "have 5 of 12 tasks in common" in done.stderr
    assert "--force compares those" in done.stderr
    assert reflex("compare", tmp_path / "pilot", finished[0], "--force").returncode == 0
    done = reflex("compare", tmp_path / "pilot", tmp_path / "other")
    assert done.returncode == 2
    assert "runs of two environments, alfworld and hotpotqa" in done.stderr
