"""Runs that differ in their seed: mean and spread, and of what the spread is."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_runs import chains, trial, write_run

from reflex_bench.harness.reporting.seeds import seeds_table
from reflex_bench.harness.storage.run_data import Run, read_run


def seeded(path: Path, seed: int, fingerprint: str) -> Run:
    rows = chains("react", [1] * (4 + 2 * seed) + [None] * (6 - 2 * seed), 1)
    split = {"name": f"twin:seed={fingerprint}", "fingerprint": fingerprint, "tasks": 10}
    return read_run(write_run(path, rows, arms={"react": {}}, tasks=10, trials=1, seed=seed, split=split))


def test_the_note_says_whether_the_tasks_were_the_same(tmp_path: Path) -> None:
    same = seeds_table([seeded(tmp_path / str(seed), seed, "ab") for seed in (0, 1)])
    assert "The tasks are the same: this is the noise of sampling alone." in same.notes[0]
    assert (same.frame["mean"][0], same.frame["sd"][0]) == pytest.approx((0.5, 0.02**0.5))
    other = seeds_table([seeded(tmp_path / f"x{seed}", seed, f"a{seed}") for seed in (0, 1)])
    assert "Each seed has tasks of its own" in other.notes[0]
    assert "The tasks are the same" not in other.notes[0]
    assert "twin:seed=a0, twin:seed=a1" in other.title


def test_seeds_of_samples_are_averaged_over_the_unbiased_estimate(tmp_path: Path) -> None:
    runs = []
    for seed, won in enumerate(((False, True), (True, True))):
        rows = [trial("react", "a", n, "success" if ok else "failure") for n, ok in enumerate(won, 1)]
        arms = {"react": {"independent": True}}
        runs.append(read_run(write_run(tmp_path / str(seed), rows, arms=arms, tasks=1, trials=2, seed=seed)))
    table = seeds_table(runs)
    # One of two and two of two: 1/2 and 1, where the first samples alone say 0 and 1.
    assert table.frame["mean"][0] == 0.75
    assert "unbiased estimate" in table.notes[0]
