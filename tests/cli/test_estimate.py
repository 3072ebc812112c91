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
