"""The tables of the audit and of the evaluators, on made-up runs whose numbers were counted by hand."""

from __future__ import annotations

import json

import pytest
from synthetic_runs import REFLEXION, chains, trial, write_run

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.tables.audit import confusion_table, reflections_table
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.storage.run_data import read_run


def markdown(table):
    return " ".join(render(table, "markdown").split())


def reflected(
    task, *rules, attempts=1, kept=None, arm="reflexion", kind="reflexion", error_class="loop:other"
):
    return trial(
        arm,
        task,
        1,
        reflected=True,
        reflection_kind=kind,
        reflection_audit=list(rules),
        reflection_attempts=attempts,
        reflection_kept=not rules if kept is None else kept,
        error_class=error_class,
    )


@pytest.fixture
def audited(tmp_path):
    rows = [
        reflected("t000"),
        reflected("t001", attempts=2),
        reflected(
            "t002", "cites_trajectory", "actionable", attempts=2, error_class="step_limit:invalid_actions"
        ),
        reflected("t003", "cites_trajectory", attempts=2),
        reflected("t004", arm="attempt", kind="last_attempt", attempts=0),
        *chains("react", [None], 1),
    ]
    return write_run(
        tmp_path / "run", rows, arms={"react": {}, "attempt": {}, "reflexion": REFLEXION}, tasks=5
    )


def test_every_rate_is_a_share_of_the_arms_reflections(audited):
    frame = reflections_table(read_run(audited)).frame
    assert frame.to_dict("records") == [
        {
            "arm": "reflexion",
            "reflections": 4,
            "asked_again": 3,
            "repaired": 0,
            "kept": 2,
            "schema": 0,
            "cites_trajectory": 2,
            "actionable": 1,
            "within_limits": 0,
            "known_history": 0,
            "not_repeated": 0,
            "new_action": 0,
            "prose": 0,
            "truncated": 0,
            "repeats_itself": 0,
            "copied_example": 0,
            "class loop:other": 3,
            "class step_limit:invalid_actions": 1,
        }
    ]


def test_the_table_names_rules_and_failures_in_words_with_intervals(audited):
    text = markdown(reflections_table(read_run(audited)))
    # Wilson, 2 of 4: centre 1/2, half-width 0.3495 at z = 1.96.
    assert "| Remembered | 2 (50.0%) [15.0–85.0]" in text
    assert "| cites trajectory | 2 (50.0%) [15.0–85.0]" in text
    assert "| step limit: invalid actions | 1 (25.0%)" in text
    assert "last_attempt" not in text


def test_without_reflections_there_is_no_table(tmp_path):
    run = write_run(tmp_path / "run", chains("react", [1, None], 3), arms={"react": {}}, tasks=2)
    with pytest.raises(UsageError, match="no arm made a reflection"):
        reflections_table(read_run(run))


@pytest.fixture
def judged(tmp_path):
    outcomes = [
        *[("success", True)] * 3,
        *[("failure", True)] * 2,
        *[("failure", False)] * 4,
        *[("success", False)],
    ]
    rows = [
        trial("judged", f"t{number:03d}", 1, outcome, passed=passed)
        for number, (outcome, passed) in enumerate(outcomes)
    ]
    # The solved task that was not passed is tried again, and then passed.
    rows += [trial("judged", "t009", 2, "success"), trial("judged", "t010", 1, "error")]
    rows += chains("told", [1, None], 2)
    arms = {"judged": {"evaluator": "model"}, "told": {}}
    return read_run(write_run(tmp_path / "run", rows, arms=arms, tasks=11, trials=2))


def test_the_four_cells_are_counted_over_all_trials_and_for_each_without_the_errors(judged):
    frame = confusion_table(judged).frame
    cells = {
        (line["arm"], line["trial"]): (line["TP"], line["FP"], line["TN"], line["FN"])
        for line in frame.to_dict("records")
    }
    assert cells == {
        ("judged", "all"): (4, 2, 4, 1),
        ("judged", "1"): (3, 2, 4, 1),
        ("judged", "2"): (1, 0, 0, 0),
        ("told", "all"): (1, 0, 2, 0),
        ("told", "1"): (1, 0, 1, 0),
        ("told", "2"): (0, 0, 1, 0),
    }


def test_rates_are_of_the_row_they_belong_to_with_wilsons_interval(judged):
    line = confusion_table(judged).frame.iloc[0]
    assert line["precision"] == pytest.approx(4 / 6)
    assert line["false_positive_rate"] == pytest.approx(2 / 6)
    assert line["false_negative_rate"] == pytest.approx(1 / 5)
    assert line["accuracy"] == pytest.approx(8 / 11)
    # Wilson, 2 of 6 at 95 %: 0.0968 to 0.7000.
    assert line["false_positive_rate_low"] == pytest.approx(0.0968, abs=5e-5)
    assert line["false_positive_rate_high"] == pytest.approx(0.7000, abs=5e-5)


def test_the_evaluator_stands_beside_its_arm_and_an_empty_row_has_no_rate(judged):
    text = markdown(confusion_table(judged))
    assert "| judged | model | all | 4 | 2 | 4 | 1 | 33.3% [9.7–70.0]" in text
    assert "| judged | model | 2 | 1 | 0 | 0 | 0 | – | 0.0%" in text
    assert "| told | environment | all" in text


def test_a_row_of_an_older_run_has_neither_and_does_no_harm(tmp_path):
    rows = chains("react", [1], 1)
    for row in rows:
        del row["passed"]
    run = read_run(write_run(tmp_path / "run", rows, arms={"react": {}}, tasks=1))
    assert confusion_table(run).frame.iloc[0]["TP"] == 1
    assert "reflection_kind" not in json.loads((run.path / "trials.jsonl").read_text().splitlines()[0])


@pytest.mark.parametrize(
    ("audit", "says"),
    [
        ("enforce", "reflexion: a reflection that fails a rule is asked for once more, and kept out"),
        ("count", "reflexion: a reflection that fails a rule is counted, and remembered all the same."),
    ],
)
def test_the_note_on_what_the_audit_did_follows_its_setting(tmp_path, audit, says):
    rows = [reflected("t000"), reflected("t001", "actionable", kept=audit == "count")]
    run = read_run(
        write_run(tmp_path / "run", rows, arms={"reflexion": REFLEXION | {"audit": audit}}, tasks=2)
    )
    notes = reflections_table(run).notes
    assert any(note.startswith(says) for note in notes)
    assert len(notes) == 2


def test_an_attempt_that_is_remembered_without_its_reflection_does_not_count_as_one_kept(tmp_path):
    kind = "last_attempt_and_reflexion"
    rows = [reflected("t000", kind=kind), reflected("t001", "actionable", kind=kind, kept=True)]
    for audit, kept in (("enforce", 1), ("count", 2)):
        arms = {"reflexion": {"reflector": kind, "audit": audit}}
        run = read_run(write_run(tmp_path / audit, rows, arms=arms, tasks=2))
        assert reflections_table(run).frame["kept"].tolist() == [kept]
