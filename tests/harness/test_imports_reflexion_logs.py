from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
import typer
from reflexion_logs import FERRY, HEADER, LIGHTHOUSE, TOWNS, attempt, react, record, trial, write, write_games
from typer.testing import CliRunner

from reflex_bench.cli import imports as command
from reflex_bench.core.errors import UsageError
from reflex_bench.harness.importing.paper_claims import claims_table
from reflex_bench.harness.importing.reflexion_logs import import_reflexion_logs
from reflex_bench.harness.reporting.compare import compare
from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.show import as_lines, trials_of
from reflex_bench.harness.reporting.tables.pass_at_k import write_tables
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.reporting.tables.styles import styled_table
from reflex_bench.harness.storage.run_data import Run, accounting, read_run

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "published_logs"
SAMPLE = PUBLISHED.parent / "hotpotqa" / "distractor_100.jsonl"
ASKED = "Question: {question}\n"
SOLVED = record(LIGHTHOUSE, ASKED + react("Ilse Varga", "CORRECT"))


def curve(run: Run, arm: str) -> list[int]:
    return [int(count) for count in run.solved_within(arm).sum(axis=0)]


def games(root: Path) -> None:
    """Three games; both arms solve env_0 at once, base env_1 at its second trial, reflexion all at its third."""
    first = {"env_0": (True, []), "env_1": (False, ["one"]), "env_10": (False, ["ten"])}
    write_games(root, "base_run_logs", [first, first | {"env_1": (True, ["one"])}])
    second = first | {"env_1": (False, ["one", "two"]), "env_10": (True, ["ten"])}
    third = second | {"env_1": (True, ["one", "two"])}
    write_games(root, "reflexion_run_logs", [first, second, third])


def imported(root: Path, name: str) -> Run:
    import_reflexion_logs(root, root / "results")
    return read_run(root / "results" / name)


def test_games_are_tried_until_the_trial_after_which_they_stand_solved(tmp_path: Path) -> None:
    games(tmp_path)
    run = imported(tmp_path, "reflexion-alfworld")
    assert (curve(run, "base"), curve(run, "reflexion")) == ([1, 2], [1, 2, 3])
    kept = run.rows("reflexion")[["task", "trial", "outcome"]].values.tolist()
    assert kept == [
        ["env_0", 1, "success"],
        ["env_1", 1, "failure"],
        ["env_1", 2, "failure"],
        ["env_1", 3, "success"],
        ["env_10", 1, "failure"],
        ["env_10", 2, "success"],
    ]


def test_a_first_trial_of_equal_bytes_is_one_experiment(tmp_path: Path) -> None:
    games(tmp_path)
    assert any(
        "Trial 1 was run once for base and reflexion" in note
        for note in notes(imported(tmp_path, "reflexion-alfworld"))
    )


def test_a_first_trial_of_other_bytes_is_not_shared(tmp_path: Path) -> None:
    write_games(tmp_path, "base_run_logs", [{"env_0": (False, [])}])
    write_games(tmp_path, "reflexion_run_logs", [{"env_0": (False, ["I failed"])}])
    assert not any("was run once" in note for note in notes(imported(tmp_path, "reflexion-alfworld")))


def test_what_the_files_do_not_say_is_unknown_and_not_zero(tmp_path: Path) -> None:
    games(tmp_path)
    run = imported(tmp_path, "reflexion-alfworld")
    lines = {
        line.split("  ")[0]: line.split()[-2:] for line in render(styled_table(run), width=120).splitlines()
    }
    assert lines["Model calls"] == lines["Repairs"] == lines["Cost"] == ["unknown", "unknown"]
    assert lines["Steps a trial"] == ["–", "–"]
    # Memories grew after the failures of trial 1, and in reflexion after that of env_1 in trial 2.
    assert lines["Reflections"] == ["2", "3"]
    (pair,) = compare(run).pairs
    assert math.isnan(pair.levels[-1].took_a.calls)


def test_a_reflection_is_kept_with_the_trial_after_which_it_was_written_and_shown_in_the_next(
    tmp_path: Path,
) -> None:
    games(tmp_path)
    run = imported(tmp_path, "reflexion-alfworld")
    found = trials_of(run.path, "env_1", "reflexion", None)
    assert [(row["memory"], row["reflection"]) for row in found] == [
        ([], "one"),
        (["one"], "two"),
        (["one", "two"], None),
    ]
    assert ("bold green", "=> success") in list(as_lines(found[-1], 80))


def test_a_game_that_a_file_lacks_is_not_recorded_and_stays_in_the_denominator(tmp_path: Path) -> None:
    write_games(
        tmp_path,
        "base_run_logs",
        [
            {"env_0": (True, []), "env_1": (False, [])},
            {"env_0": (True, [])},
            {"env_0": (True, []), "env_1": (False, [])},
        ],
    )
    run = imported(tmp_path, "reflexion-alfworld")
    table = accounting(run).set_index("trial")
    assert table["not recorded"].tolist() == [0, 1, 0]
    assert table["tasks"].tolist() == [2, 2, 2]
    assert run.unknown_within("base").sum(axis=0).tolist() == [0, 1, 1]


def test_a_game_that_is_solved_and_then_is_not_is_refused(tmp_path: Path) -> None:
    write_games(tmp_path, "base_run_logs", [{"env_0": (True, [])}, {"env_0": (False, [])}])
    with pytest.raises(UsageError, match="env_0 was solved before trial 2, not after it"):
        import_reflexion_logs(tmp_path, tmp_path / "results")


def test_a_damaged_result_file_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    (file,) = write_games(tmp_path, "base_run_logs", [{"env_0": (True, [])}])
    file.write_text(file.read_text().replace("true", '"yes"'))
    with pytest.raises(
        UsageError, match=r"env_results_trial_0\.json.*0\.is_success: Input should be a valid boolean"
    ):
        import_reflexion_logs(tmp_path, tmp_path / "results")


def test_a_trial_missing_between_two_others_is_refused(tmp_path: Path) -> None:
    files = write_games(tmp_path, "base_run_logs", [{"env_0": (False, [])}] * 3)
    files[1].unlink()
    with pytest.raises(UsageError, match="a trial of ALFWorld's base arm is missing"):
        import_reflexion_logs(tmp_path, tmp_path / "results")


def react_logs(root: Path) -> None:
    """Three questions, two arms; in reflexion's trial 2 the towns are lost, and the lighthouse is printed bare."""
    wrong = record(TOWNS, ASKED + react("Orlan", searches=5))
    halted = record(FERRY, ASKED + react(None, searches=6))
    first = trial(
        1,
        {"CORRECT": [SOLVED], "INCORRECT": [wrong], "HALTED": [wrong, halted]},
        "Correct: 1, Incorrect: 1, Halted: 1",
    )
    retry = trial(
        2,
        {"CORRECT": [SOLVED], "INCORRECT": [wrong], "HALTED": [halted]},
        "Correct: 1, Incorrect: 1, Halted: 1",
    )
    write(root, "ReAct/base", "100_questions_2_trials.txt", first, retry)
    bare = record(LIGHTHOUSE, "Question: {question}")
    reflecting = f"Question: {{question}}{HEADER}\nReflections:\n- I looped.\n"
    second = trial(
        2,
        {"CORRECT": [bare, record(FERRY, reflecting + react("The 1871!", "CORRECT"))]},
        "Correct: 2, Incorrect: 0, Halted: 0",
    )
    again = record(TOWNS, reflecting + react("Old Tessel"))
    solved = record(FERRY, "Question: {question}")
    third = trial(3, {"CORRECT": [bare, solved], "INCORRECT": [again]}, "Correct: 2, Incorrect: 1, Halted: 0")
    write(root, "ReAct/reflexion", "100_questions_5_trials.txt", first, second)
    write(root, "ReAct/reflexion", "100_questions_7_trials.txt", first, second, third)
    write(root, "ReAct/reflexion", "100_questions_trials_3_to_3.txt", third)


def test_carried_agents_have_no_row_and_lost_ones_are_not_recorded(tmp_path: Path) -> None:
    react_logs(tmp_path)
    run = imported(tmp_path, "reflexion-hotpotqa-react")
    assert (run.tasks, run.limit("base"), run.limit("reflexion")) == (3, 2, 3)
    assert (curve(run, "base"), curve(run, "reflexion")) == ([1, 1], [1, 2, 2])
    table = accounting(run).set_index(["arm", "trial"])
    assert table.loc["reflexion", "not recorded"].tolist() == [0, 1, 0]
    assert table.loc["reflexion", "solved earlier"].tolist() == [0, 1, 2]
    assert run.unknown_within("reflexion").sum(axis=0).tolist() == [0, 1, 1]


def test_answers_are_scored_again_and_halted_agents_ran_out_of_steps(tmp_path: Path) -> None:
    react_logs(tmp_path)
    run = imported(tmp_path, "reflexion-hotpotqa-react")
    rows = run.rows("reflexion").sort_values(["trial", "task"])
    found = {
        (row["trial"], row["result.answer"]): (
            row["outcome"],
            row["result.f1"],
            row["steps"],
            row["memory_shown"],
        )
        for row in rows.to_dict("records")
    }
    assert found == {
        (1, "Ilse Varga"): ("success", 1.0, 2, 0),
        (1, "Orlan"): ("failure", 0.0, 6, 0),
        (1, None): ("step_limit", 0.0, 6, 0),
        (2, "The 1871!"): ("success", 1.0, 2, 1),
        # One word of two, and the one of the gold answer: 2 · ½ · 1 / (½ + 1).
        (3, "Old Tessel"): ("failure", pytest.approx(2 / 3), 2, 1),
    }


def test_failures_were_reflected_on_where_a_reflecting_agent_tried_again(tmp_path: Path) -> None:
    react_logs(tmp_path)
    run = imported(tmp_path, "reflexion-hotpotqa-react")
    found = run.rows("reflexion").groupby("trial")["reflected"].sum().tolist()
    assert (found, int(run.rows("base")["reflected"].sum())) == ([2, 0, 0], 0)


def test_files_of_one_folder_that_contradict_one_another_are_refused(tmp_path: Path) -> None:
    one = trial(1, {"CORRECT": [SOLVED]}, "Correct: 1, Incorrect: 0")
    other = trial(1, {"CORRECT": [SOLVED.replace("I know", "I am sure")]}, "Correct: 1, Incorrect: 0")
    write(tmp_path, "ReAct/base", "100_questions_1_trials.txt", one)
    write(tmp_path, "ReAct/base", "100_questions_2_trials.txt", other)
    with pytest.raises(UsageError, match="its trial 1 is not that of another file"):
        import_reflexion_logs(tmp_path, tmp_path / "results")


def test_a_printed_verdict_that_exact_match_contradicts_is_refused(tmp_path: Path) -> None:
    log = trial(
        1, {"CORRECT": [record(FERRY, ASKED + attempt("1870", "CORRECT"))]}, "Correct: 1, Incorrect: 0"
    )
    write(tmp_path, "CoT/no_context/base", "100_questions_1_trials.txt", log)
    with pytest.raises(UsageError, match="printed as CORRECT, but exact match is 0"):
        import_reflexion_logs(tmp_path, tmp_path / "results")


def test_a_solved_question_that_fails_later_is_refused(tmp_path: Path) -> None:
    later = trial(2, {"INCORRECT": [record(LIGHTHOUSE, ASKED + react("Bo"))]}, "Correct: 0, Incorrect: 1")
    write(
        tmp_path,
        "ReAct/base",
        "100_questions_2_trials.txt",
        trial(1, {"CORRECT": [SOLVED]}, "Correct: 1, Incorrect: 0"),
        later,
    )
    with pytest.raises(UsageError, match="solved in trial 1, and INCORRECT now"):
        import_reflexion_logs(tmp_path, tmp_path / "results")


def test_a_question_file_gives_tasks_their_official_ids_types_and_fingerprint(tmp_path: Path) -> None:
    from reflex_bench.envs.base import Split
    from reflex_bench.envs.hotpotqa.splits import file as read_questions

    write(
        tmp_path,
        "ReAct/base",
        "100_questions_1_trials.txt",
        trial(1, {"CORRECT": [SOLVED]}, "Correct: 1, Incorrect: 0"),
    )
    official = {
        "_id": "5a7",
        "question": LIGHTHOUSE[0],
        "answer": "x",
        "type": "bridge",
        "supporting_facts": [],
        "context": [],
    }
    questions = tmp_path / "dev.jsonl"
    questions.write_text(json.dumps(official) + "\n", encoding="utf-8")
    import_reflexion_logs(tmp_path, tmp_path / "results", questions)
    run = read_run(tmp_path / "results" / "reflexion-hotpotqa-react")
    assert (run.task_ids, run.trials["task_type"].tolist()) == (("5a7",), ["bridge"])
    assert run.split["fingerprint"] == Split("own", read_questions(questions).tasks).fingerprint
    questions.write_text(json.dumps(official | {"question": "Another?"}) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="lacks the question 'Who built the Merrin lighthouse"):
        import_reflexion_logs(tmp_path, tmp_path / "results", questions)


def test_the_questions_of_the_original_reflection_examples_are_told_apart_for_arms_that_reflect(
    tmp_path: Path,
) -> None:
    shown = ("Which film with Kam Heskin came first?", "None")
    agents = [SOLVED, record(shown, ASKED + react("None", "CORRECT"))]
    log = trial(1, {"CORRECT": agents}, "Correct: 2, Incorrect: 0")
    write(tmp_path, "ReAct/base", "100_questions_1_trials.txt", log)
    assert imported(tmp_path, "reflexion-hotpotqa-react").info["contamination"] == []
    write(tmp_path, "ReAct/reflexion", "100_questions_1_trials.txt", log)
    (overlap,) = imported(tmp_path, "reflexion-hotpotqa-react").info["contamination"]
    assert overlap["task"] == "q-" + hashlib.sha256(shown[0].encode()).hexdigest()[:12]
    assert (overlap["example"], overlap["arms"]) == ("reflection_examples[2]", ["reflexion"])


def test_the_source_of_every_number_is_named_with_its_hash(tmp_path: Path) -> None:
    react_logs(tmp_path)
    source = imported(tmp_path, "reflexion-hotpotqa-react").info["source"]
    name = "hotpotqa_runs/root/ReAct/base/100_questions_2_trials.txt"
    assert source["files"][name] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert len(source["files"]) == 4


def test_importing_again_replaces_what_was_imported_and_nothing_else(tmp_path: Path) -> None:
    games(tmp_path)
    results = tmp_path / "results"
    (path,) = import_reflexion_logs(tmp_path, results)
    before = (path / "trials.jsonl").read_bytes()
    import_reflexion_logs(tmp_path, results)
    assert (path / "trials.jsonl").read_bytes() == before
    (path / "run.json").write_text("{}")
    with pytest.raises(UsageError, match="holds something that was not imported"):
        import_reflexion_logs(tmp_path, results)


def test_a_folder_without_results_is_refused_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected alfworld_runs/…/base_run_logs/env_results_trial_0\.json"):
        import_reflexion_logs(tmp_path, tmp_path / "results")


def test_statements_whose_logs_are_not_there_cannot_be_told(tmp_path: Path) -> None:
    games(tmp_path)
    frame = claims_table([imported(tmp_path, "reflexion-alfworld")]).frame
    # Base has two trials and reflexion three: nothing reaches trial 6, 7 or 12.
    assert frame["equal"].tolist() == [None] * len(frame)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    if not PUBLISHED.exists():
        pytest.skip("the published result files are not there")
    results = tmp_path_factory.mktemp("published")
    return {path.name: read_run(path) for path in import_reflexion_logs(PUBLISHED, results, SAMPLE)}


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    if not PUBLISHED.exists():
        pytest.skip("the published result files are not there")
    tables: dict[str, Any] = json.loads((PUBLISHED / "expected_tables.json").read_text(encoding="utf-8"))
    return tables


RUN_OF = {
    "CoT/no_context": "reflexion-hotpotqa-cot",
    "CoT/context": "reflexion-hotpotqa-cot-context",
    "ReAct": "reflexion-hotpotqa-react",
}


def test_published_alfworld_logs_give_the_expected_tables(
    published: dict[str, Run], expected: dict[str, Any]
) -> None:
    run = published["reflexion-alfworld"]
    for arm in ("base", "reflexion"):
        trials = expected["alfworld"][f"{arm}_run_logs"]
        assert run.tasks == trials[0]["envs"]
        assert curve(run, arm) == [each["solved"] for each in trials]
        reflections = run.rows(arm).groupby("trial")["reflected"].sum().cumsum().tolist()
        assert reflections == [each["memories"] for each in trials][: len(reflections)]
        hashes = {
            name.rpartition("/")[2]: value
            for name, value in run.info["source"]["files"].items()
            if f"/{arm}_" in name
        }
        assert hashes == {f"env_results_trial_{each['trial_index']}.json": each["sha256"] for each in trials}


def test_published_hotpotqa_logs_give_the_expected_tables(
    published: dict[str, Run], expected: dict[str, Any]
) -> None:
    for name, log in expected["hotpotqa"].items():
        folder, _, arm = name.rpartition("/")
        run = published[RUN_OF[folder]]
        assert log["sha256"] in run.info["source"]["files"].values()
        assert run.limit(arm) == len(log["trials"])
        assert curve(run, arm) == [each["em_recomputed"] for each in log["trials"]]
        rows, solved_f1 = run.rows(arm), 0.0
        for each in log["trials"]:
            now = rows[rows["trial"] == each["trial"]]
            assert (solved_f1 + now["result.f1"].sum()) / 100 == pytest.approx(
                each["f1_mean_over_100"], abs=5.1e-5
            )
            solved_f1 += now.loc[now["success"] == 1, "result.f1"].sum()
            missing = set(run.task_ids) - set(now["task"]) - solved_before(rows, each["trial"])
            assert missing == set(each["missing_ids"])
            counts = {
                "CORRECT": len(solved_before(rows, each["trial"] + 1)),
                "INCORRECT": int((now["outcome"] == "failure").sum()),
                "HALTED": int(now["outcome"].isin(["step_limit", "context_limit"]).sum()),
            }
            assert {name: count for name, count in counts.items() if count} == each["deduped"]


def solved_before(rows: Any, trial: int) -> set[str]:
    return set(rows.loc[(rows["success"] == 1) & (rows["trial"] < trial), "task"])


def test_published_runs_compare_as_their_discordant_pairs_say(published: dict[str, Run]) -> None:
    (pair,) = compare(published["reflexion-alfworld"]).pairs
    # Two-sided exact McNemar of 23 to 1: 2 · (1 + 24) / 2^24.
    last = pair.levels[6]
    assert (last.only_b, last.only_a, last.p) == (23, 1, pytest.approx(50 / 2**24))
    (pair,) = compare(published["reflexion-hotpotqa-react"]).pairs
    assert [(level.only_b, level.only_a) for level in pair.levels][::4] == [(4, 6), (18, 1)]


def test_six_statements_of_the_paper_are_equal_and_four_are_not(published: dict[str, Run]) -> None:
    table = claims_table(published.values())
    assert table.frame["equal"].tolist() == [True] * 6 + [False] * 4
    # The base files of trials 6 and 7 (named 5 and 6) have the same bytes.
    assert table.frame["empty"].tolist() == [False, True, *[False] * 8]
    assert "equal, but empty: both trials are one file, byte for byte" in render(table, width=200)
    assert table.frame["logs"].tolist() == pytest.approx([130, 0, 100 * 29 / 134, 39, 14, 8, 19, 1, 75, 53])


def test_every_table_of_every_published_run_can_be_made(published: dict[str, Run]) -> None:
    for run in published.values():
        styles = ["pass-at-k", "outcomes", "reflexion-curve"] + ["hotpotqa"] * ("hotpotqa" in run.id)
        assert all(len(styled_table(run, style).frame) for style in styles)
        assert len(write_tables(run.path)) == 3


def test_the_command_writes_the_runs_and_prints_the_statements(tmp_path: Path) -> None:
    games(tmp_path)
    app = typer.Typer()
    app.callback()(lambda: None)
    command.register(app)
    done = CliRunner().invoke(
        app, ["import", "reflexion-logs", str(tmp_path), "--results", str(tmp_path / "runs")]
    )
    assert done.exit_code == 0
    first, *rest = done.stdout.splitlines()
    assert first.endswith("runs/reflexion-alfworld: 3 tasks, 11 trials, arms base, reflexion")
    assert "The logs cannot be the runs of table 5" in " ".join(" ".join(rest).split())
