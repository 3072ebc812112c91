"""Independent samples, and the whole with several seeds."""

import re
import statistics
from math import comb

import pytest
from reading import rows


@pytest.fixture(scope="module")
def sampled(reflex, tmp_path_factory):
    results = tmp_path_factory.mktemp("samples")
    done = reflex(
        "bench", "alfworld", "--tasks", 8, "--samples", 4, "-q", "--run-id", "s", "--results", results
    )
    assert done.returncode == 0, done.stderr
    return results / "s"


def test_every_sample_is_taken_whatever_became_of_the_others_and_none_is_shown_a_memory(sampled):
    taken = {}
    for row in rows(sampled / "trials.jsonl"):
        taken.setdefault(row["task"], []).append(row)
    assert len(taken) == 8
    assert all([row["trial"] for row in own] == [1, 2, 3, 4] for own in taken.values())
    assert any(row["success"] for own in taken.values() for row in own[:-1])
    assert not any(row["memory_shown"] for own in taken.values() for row in own)
    assert len({row["attempt"] for own in taken.values() for row in own}) == 32


def test_the_estimates_are_those_of_chen_et_al_and_of_tau_bench(reflex, sampled):
    wins = {}
    for row in rows(sampled / "trials.jsonl"):
        wins[row["task"]] = wins.get(row["task"], 0) + row["success"]
    done = reflex("table", sampled, "--style", "samples", "--format", "csv")
    lines = [line.split(",") for line in done.stdout.splitlines()]
    printed = {
        int(dict(zip(lines[0], line, strict=True))["k"]): dict(zip(lines[0], line, strict=True))
        for line in lines[1:]
    }
    for k in range(1, 5):
        any_of = statistics.mean(1 - comb(4 - won, k) / comb(4, k) for won in wins.values())
        all_of = statistics.mean(comb(won, k) / comb(4, k) for won in wins.values())
        assert float(printed[k]["pass@k"]) == pytest.approx(any_of, abs=1e-5)
        assert float(printed[k]["pass^k"]) == pytest.approx(all_of, abs=1e-5)


def test_a_resumed_run_of_samples_owes_nothing(reflex, sampled):
    before = (sampled / "calls.jsonl").read_bytes()
    assert reflex("resume", sampled, "-q").returncode == 0
    assert (sampled / "calls.jsonl").read_bytes() == before


def test_an_arm_that_learns_has_no_independent_samples(reflex, tmp_path):
    done = reflex("bench", "alfworld", "--samples", 3, "--arms", "reflexion", "--results", tmp_path)
    assert done.returncode == 2
    assert "the trials of arm 'reflexion' learn from one another" in done.stderr


def test_the_unbiased_estimates_are_refused_where_trials_stop_at_success(reflex, finished):
    done = reflex("table", finished[0], "--style", "samples")
    assert done.returncode == 2
    assert "not defined" in done.stderr


def test_several_seeds_are_several_runs_with_mean_and_spread(reflex, tmp_path):
    done = reflex(
        *("bench", "alfworld", "--tasks", 6, "--trials", 1, "--arms", "react", "--seeds", 2),
        *("-q", "--run-id", "x", "--results", tmp_path),
    )
    assert done.returncode == 0, done.stderr
    rates = [
        statistics.mean(row["success"] for row in rows(tmp_path / f"x-seed{seed}" / "trials.jsonl"))
        for seed in (0, 1)
    ]
    spread = f"{100 * statistics.mean(rates):.1f}% ± {100 * statistics.stdev(rates):.1f}"
    assert spread in done.stdout
    # They are not lost: every run has a copy, and every format can be made again.
    kept = (tmp_path / "x-seed1" / "tables" / "seeds.md").read_text()
    assert spread in kept
    assert "SIMULATED" in kept
    again = ("table", "x-*", "--style", "seeds", "--results", tmp_path)
    assert reflex(*again, "--format", "markdown").stdout == kept
    for format in ("latex", "html", "csv", "terminal"):
        assert reflex(*again, "--format", format).returncode == 0


def test_the_estimate_of_several_seeds_is_for_all_of_them(reflex):
    def calls(*words):
        done = reflex("bench", "alfworld", "--tasks", 6, *words, "--dry-run")
        assert done.returncode == 0, done.stderr
        return int(re.search(r"about ([\d,]+) in [\d,]+ trials", done.stdout)[1].replace(",", ""))

    assert calls("--seeds", 4) == 4 * calls()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--trials", 5, "--samples", 3), "--trials and --samples exclude one another"),
        (("-c", "trials=5", "-c", "samples=3"), "trials: 5 and samples: 3 exclude one another"),
        (("-c", "trials=5", "--samples", 3), "exclude one another"),
        (("--task-type", "heat", "--task-type", "cool"), "--task-type is given 2 times"),
        (("--tasks", 3, "--tasks", 4), "--tasks is given 2 times"),
        (("-m", "simulated", "--model", "openai/x"), "--model is given 2 times"),
        (("--arms", ""), "arms: a list of names"),
    ],
)
def test_what_cannot_be_honoured_together_is_refused(reflex, words, told):
    done = reflex("bench", "alfworld", *words, "--dry-run")
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stdout == ""


def test_options_that_may_be_repeated_and_flags_are_taken(reflex):
    done = reflex("bench", "alfworld", "-c", "trials=1", "-c", "trials=2", "-q", "-q", "--dry-run")
    assert "up to 2 of each task" in done.stdout, done.stderr


def test_the_last_of_trials_and_samples_holds_over_an_earlier_source(reflex, tmp_path):
    (tmp_path / "samples.yaml").write_text("samples: 3\narms: [react]\n")
    done = reflex("bench", "alfworld", "-c", "samples.yaml", "--trials", 2, "--dry-run", cwd=tmp_path)
    assert "up to 2 of each task" in done.stdout, done.stderr


def test_samples_say_which_arm_they_leave_out(reflex):
    done = reflex("bench", "alfworld", "--samples", 3, "--dry-run")
    assert "--samples runs the arm react alone" in done.stderr
    done = reflex("bench", "alfworld", "--samples", 3, "--arms", "react", "--dry-run")
    assert done.stderr == ""
