"""What `--dry-run` says a run will take, beside what it then takes (simulated model)."""

import re

import pytest
from reading import rows


def number(pattern, text):
    return int(re.search(pattern, text)[1].replace(",", ""))


@pytest.mark.parametrize("environment", ["alfworld", "hotpotqa"])
@pytest.mark.parametrize("settings", [(), ("--arms", "react", "--trials", 2), ("--samples", 2)])
def test_the_estimate_is_within_a_quarter_of_what_the_run_uses(reflex, tmp_path, environment, settings):
    bench = ("bench", environment, "--tasks", 60, *settings)
    told = reflex(*bench, "--dry-run").stdout
    assert reflex(*bench, "--run-id", "run", "--results", tmp_path, "--quiet").returncode == 0
    calls = rows(tmp_path / "run" / "calls.jsonl")
    used = sum(call["usage"]["prompt_tokens"] + call["usage"]["completion_tokens"] for call in calls)
    prompt, completion = number(r"about ([\d,]+) in prompts", told), number(r"and ([\d,]+) in replies", told)
    assert prompt + completion == pytest.approx(used, rel=0.25)
    assert number(r"model calls  about ([\d,]+)", told) == pytest.approx(len(calls), rel=0.25)
    assert number(r"at most ([\d,]+)", told) >= len(calls)


def files_in(folder):
    return {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("environment", ["alfworld", "hotpotqa"])
def test_a_dry_run_generates_no_more_tasks_than_every_run_has(reflex, tmp_path, environment):
    few, many = tmp_path / "few", tmp_path / "many"
    assert reflex("bench", environment, "--dry-run", REFLEX_BENCH_CACHE=str(few)).returncode == 0
    done = reflex("bench", environment, "--tasks", 3000, "--dry-run", REFLEX_BENCH_CACHE=str(many))
    assert "3,000 tasks, generated when the run begins" in done.stdout, done.stderr
    assert sum(files_in(many).values()) <= sum(files_in(few).values())


@pytest.mark.parametrize("environment", ["alfworld", "hotpotqa"])
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_more_tasks_than_can_be_generated_are_refused_at_once(reflex, tmp_path, environment, dry):
    words = ("bench", environment, "--tasks", 99999999999999999999, *dry)
    done = reflex(*words, REFLEX_BENCH_CACHE=str(tmp_path / "cache"), cwd=tmp_path)
    assert done.returncode == 2
    assert "at most 10,000 are for one run" in done.stderr
    assert files_in(tmp_path) == {}
