import json
from collections import Counter

import pytest
from reading import record, rows


def test_a_run_leaves_the_directory_that_the_readme_describes(finished):
    run, _ = finished
    names = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    assert {"run.json", "calls.jsonl", "trials.jsonl", "tables/pass_at_k.md", "tables/pass_at_k.csv"} <= names
    assert {"trajectories/react.trial-1.jsonl", "trajectories/reflexion.trial-1.jsonl"} <= names
    info = json.loads((run / "run.json").read_text())
    assert info["status"] == "complete"
    assert info["simulated"] is True
    assert info["packages"]["alfworld"]


def test_a_prompt_mostly_repeats_the_one_before_because_it_only_grows_at_its_end(finished):
    run, done = finished
    for row in rows(run / "trials.jsonl"):
        assert 0 <= row["repeated_characters"] < row["prompt_characters"]
        if row["steps"] > 5:
            assert row["repeated_characters"] > 0.7 * row["prompt_characters"]
    assert "repeating the last call's" in done.stdout


def test_both_arms_and_the_word_simulated_stand_in_what_is_printed(finished):
    _, done = finished
    assert "react" in done.stdout
    assert "reflexion" in done.stdout
    assert "SIMULATED" in done.stdout


def test_each_arm_has_one_row_a_trial_until_it_solves_the_task_or_has_used_three(finished):
    run, _ = finished
    seen = Counter()
    by_chain = {}
    for row in rows(run / "trials.jsonl"):
        seen[row["arm"], row["task"], row["trial"]] += 1
        by_chain.setdefault((row["arm"], row["task"]), []).append(row)
    assert set(seen.values()) == {1}
    assert len(by_chain) == 24
    for chain in by_chain.values():
        assert [row["trial"] for row in chain] == list(range(1, len(chain) + 1))
        assert not any(row["success"] for row in chain[:-1])
        assert chain[-1]["success"] or len(chain) == 3


def test_the_first_trial_is_run_once_and_shared_and_later_ones_are_not(finished):
    run, _ = finished
    attempts = {(row["arm"], row["task"], row["trial"]): row["attempt"] for row in rows(run / "trials.jsonl")}
    for (arm, task, trial), attempt in attempts.items():
        twin = attempts.get(("react" if arm == "reflexion" else "reflexion", task, trial))
        if twin is not None:
            assert (attempt == twin) == (trial == 1)
    calls = Counter((row["attempt"], row["role"], row["call"]) for row in rows(run / "calls.jsonl"))
    assert set(calls.values()) == {1}


def test_a_reflection_is_shown_in_the_next_trial_of_its_own_task_and_nowhere_else(finished):
    run, _ = finished
    written = {}
    for path in sorted((run / "trajectories").glob("reflexion.*")):
        for row in rows(path):
            written[row["task"], row["trial"]] = row
    followed = 0
    for (task, trial), row in written.items():
        own = [written[task, n]["reflection"] for n in range(1, trial)]
        assert row["memory"] == own[-3:]
        followed += len(own)
    assert followed > 0
    for path in (run / "trajectories").glob("react.*"):
        assert all(row["memory"] == [] and row["reflection"] is None for row in rows(path))


def test_a_temperature_above_zero_makes_retries_differ(finished):
    run, _ = finished
    digests = {}
    for row in rows(run / "trials.jsonl"):
        if row["arm"] == "react":
            digests.setdefault(row["task"], []).append(row["digest"])
    repeated = [seen for seen in digests.values() if len(seen) > 1]
    assert repeated
    assert any(len(set(seen)) == len(seen) for seen in repeated)


@pytest.mark.parametrize("workers", [1, 8])
def test_the_number_of_workers_changes_no_byte_of_the_trajectories(finished, reflex, tmp_path, workers):
    done = reflex(
        *("bench", "alfworld", "--tasks", 12, "--trials", 3, "--run-id", "again", "--results", tmp_path),
        *("--max-workers", workers, "--quiet"),
    )
    assert done.returncode == 0, done.stderr
    assert record(tmp_path / "again") == record(finished[0])


def test_another_seed_gives_other_trajectories(finished, reflex, tmp_path):
    reflex("bench", "alfworld", "--tasks", 12, "--seed", 1, "--run-id", "x", "--results", tmp_path, "-q")
    assert record(tmp_path / "x")[1] != record(finished[0])[1]


def test_without_sharing_each_arm_runs_a_first_trial_of_its_own(reflex, tmp_path):
    done = reflex(
        *("bench", "alfworld", "--tasks", 3, "--trials", 1, "--no-share-first-trial"),
        *("--run-id", "apart", "--results", tmp_path, "-q"),
    )
    assert done.returncode == 0, done.stderr
    attempts = [row["attempt"] for row in rows(tmp_path / "apart" / "trials.jsonl")]
    assert len(set(attempts)) == 6


def test_a_recorded_run_is_played_again_from_its_journal_without_a_model(finished, reflex, tmp_path):
    run, _ = finished
    done = reflex(
        *("bench", "alfworld", "--tasks", 12, "--trials", 3, "--model", f"replay:{run}"),
        *("--run-id", "replayed", "--results", tmp_path, "-q"),
    )
    assert done.returncode == 0, done.stderr
    outcomes = [
        [(row["arm"], row["task"], row["outcome"]) for row in record(path)[0]]
        for path in (run, tmp_path / "replayed")
    ]
    assert outcomes[0] == outcomes[1]


def test_a_dry_run_calls_nothing_and_writes_nothing(reflex, tmp_path):
    done = reflex("bench", "alfworld", "--tasks", 5, "--dry-run", "--results", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    assert "5 tasks" in done.stdout
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bench", "alfwolrd"), "unknown environment 'alfwolrd'; did you mean 'alfworld'?"),
        (("bench", "alfworld", "--model", "simulate"), "did you mean 'simulated'?"),
        (
            ("bench", "alfworld", "--arms", "reflection"),
            "unknown arm 'reflection'; did you mean 'reflexion'?",
        ),
        (("bench", "alfworld", "-c", "trails=3"), "did you mean 'trials'?"),
        (("bench", "alfworld", "--split", "valid_unsen"), "did you mean 'valid_unseen'?"),
        (("bench", "alfworld", "--trails", "3"), "--trials"),
        (("bench", "alfworld", "--trials", "many"), "valid integer"),
        (("bench", "alfworld", "--split", "valid_unseen", "--data", "/nowhere"), "/nowhere"),
        (("bench", "alfworld", "--task-type", "hoover"), "hoover"),
        (("bench", "alfworld", "--run-id", "../x"), "--run-id"),
        (("table", "nothing"), "no run 'nothing'"),
        (("show", "nothing"), "no run 'nothing'"),
        (("resume", "nothing"), "no run 'nothing'"),
        (("tabel",), "table"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2_and_leaves_nothing_behind(reflex, tmp_path, arguments, said):
    done = reflex(*arguments, REFLEX_BENCH_RESULTS=str(tmp_path / "results"))
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_run_directory_is_never_overwritten(finished, reflex):
    run, _ = finished
    before = record(run)
    done = reflex("bench", "alfworld", "--tasks", 1, "--run-id", "whole", "--results", run.parent)
    assert done.returncode == 2
    assert "resume" in done.stderr
    assert record(run) == before


def test_a_latex_table_takes_a_label_and_its_first_block_alone(reflex, finished):
    run, _ = finished
    done = reflex("table", run, "-f", "latex", "--only", "grid", "--label", "tab:mine")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(r"\begin{tabular}") == 1
    assert r"\label{tab:mine}" in done.stdout
    # A stand-in is named wherever its numbers go.
    assert "SIMULATED" in done.stdout
    assert "Settings" not in done.stdout
    for words, told in ((("--label", "x"), "--format latex"), (("--only", "grids"), "did you mean 'grid'")):
        done = reflex("table", run, *words)
        assert done.returncode == 2
        assert told in done.stderr
