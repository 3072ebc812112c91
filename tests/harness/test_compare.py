from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from comparing import LEARNS, REACT, TWO, flowing, only, run_of, text_of
from synthetic_runs import REFLEXION, chain, chains, trial, write_run

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.compare import compare
from reflex_bench.harness.reporting.tables.number_format import p_value
from reflex_bench.harness.storage.run_data import read_run

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "published_logs" / "alfworld_runs"


def test_pairs_are_counted_task_by_task(tmp_path: Path) -> None:
    pair = only(compare(run_of(tmp_path, "run", {"react": REACT, "reflexion": LEARNS})))
    first, second, last = pair.levels
    assert (first.solved_a, first.solved_b, first.only_a, first.only_b, first.p) == (10, 10, 0, 0, 1.0)
    assert (second.solved_a, second.solved_b, second.only_a, second.only_b) == (11, 10, 1, 0)
    assert (last.pairs, last.excluded, last.solved_a, last.solved_b) == (100, 0, 11, 28)
    assert (last.only_a, last.only_b) == (1, 18)
    assert last.p == pytest.approx(7.6e-5, rel=0.01)
    assert last.difference == pytest.approx(0.17)
    # Normal approximation: 17 points, standard error sqrt(.19 - .17²) / 10 = 4.0.
    assert last.interval == pytest.approx((0.17 - 0.079, 0.17 + 0.079), abs=0.012)
    assert pair.only_a == ("t010",)
    assert pair.only_b == tuple(f"t{n:03d}" for n in range(11, 29))
    assert last.bounds == (pytest.approx(0.17), pytest.approx(0.17))


def test_the_difference_of_settings_stands_before_the_numbers(tmp_path: Path) -> None:
    comparison = compare(run_of(tmp_path, "run", {"react": REACT, "reflexion": LEARNS}))
    assert only(comparison).settings == (
        ("reflector", "none", "reflexion"),
        ("memory", "none", "sliding"),
        ("memory_size", "0", "3"),
    )
    for format in ("terminal", "markdown", "latex", "html"):
        text = text_of(comparison, format)
        assert text.index("sliding") < text.index("pass@1")
    assert "7.6e-5" in text_of(comparison)
    assert "+17.0" in text_of(comparison, "markdown")


def test_the_verdict_says_it_in_words(tmp_path: Path) -> None:
    react = run_of(tmp_path, "run", {"react": REACT, "reflexion": LEARNS})
    text = flowing(text_of(compare(react)))
    assert "Within 3 trials reflexion solves 17.0 points more than react" in text
    assert (
        "(95% interval +9.8 to +25.9, Tango's score interval for paired rates; exact McNemar p = 7.6e-5)"
        in text
    )
    # 19 discordant pairs: 5 to 14 has p = .064, 4 to 15 p = .019, hence 11 of 100.
    assert (
        "With 100 pairs, 19 of them discordant, an observed difference under 11.0 points cannot be told"
        in text
    )
    backwards = flowing(text_of(compare(react, arms=["reflexion", "react"])))
    assert "Within 3 trials react solves 17.0 points fewer than reflexion" in backwards


def test_what_either_arm_took_is_stated(tmp_path: Path) -> None:
    run = run_of(tmp_path, "run", {"react": [1, 1], "reflexion": [2, None]})
    text = flowing(text_of(compare(run)))
    # 2 trials against 2 + 3.
    assert "within that reflexion used 2.50× the tokens and 2.50× the calls of react" in text
    last = only(compare(run)).levels[-1]
    assert (last.took_a.tokens, last.took_b.tokens, last.took_a.calls) == (2200, 5500, 20)
    assert last.took_b.cost == pytest.approx(0.5)
    # Two trials of reflexion cost 4,400, one of both tasks 2,200: as much as all of react.
    equal = "At equal cost, 2.20k tokens: react solves 100.0% within 3 trials, reflexion 0.0% within the 1 that it"
    assert f"{equal} gets for no more" in text


def test_unknown_tokens_and_costs_stay_unknown(tmp_path: Path) -> None:
    rows = [*chain("react", "a", 1, 1, cost=None), *chain("reflexion", "a", 1, 1, prompt_tokens=None)]
    comparison = compare(read_run(write_run(tmp_path / "run", rows, arms=TWO, tasks=1, trials=1)))
    assert math.isnan(only(comparison).levels[0].took_a.cost)
    assert math.isnan(only(comparison).levels[0].took_b.tokens)
    assert only(comparison).equal_cost is None
    assert "tokens are not known" in text_of(comparison)
    assert re.search(r"^Cost +unknown +\$0.1 +–$", text_of(comparison), re.MULTILINE)


def test_pairs_with_an_error_are_left_out_counted_and_bounded(tmp_path: Path) -> None:
    rows = [
        *chains("react", [1, None, None, None], 1),
        *chains("reflexion", [1, 1], 1),
        trial("reflexion", "t002", 1, "error"),
        trial("reflexion", "t003", 1, "error"),
    ]
    comparison = compare(read_run(write_run(tmp_path / "run", rows, arms=TWO, tasks=4, trials=1)))
    (level,) = only(comparison).levels
    assert (level.pairs, level.excluded, level.only_a, level.only_b) == (2, 2, 0, 1)
    # Of four: one more for sure, three more if both errors would have been solved.
    assert level.bounds == (0.25, 0.75)
    assert "2 of 4 pairs lack a result" in flowing(text_of(comparison))
    assert "anywhere from +25.0 to +75.0 points" in flowing(text_of(comparison))


def test_a_shared_first_trial_is_equal_by_construction(tmp_path: Path) -> None:
    rows = [trial(arm, "a", 1, "success", attempt="both") for arm in TWO]
    pair = only(compare(read_run(write_run(tmp_path / "run", rows, arms=TWO, tasks=1))))
    assert pair.warnings == (
        "Trial 1 is one experiment for both arms on 1 of 1 tasks: equal by construction.",
    )


@pytest.mark.parametrize("format", ["terminal", "csv"])
def test_retries_that_only_repeat_are_a_caution_of_a_comparison(tmp_path: Path, format: str) -> None:
    rows = [trial("react", "a", n, digest="same") for n in (1, 2, 3)]
    rows += [trial("reflexion", "a", n) for n in (1, 2, 3)]
    comparison = compare(read_run(write_run(tmp_path / "run", rows, arms=TWO, tasks=1)))
    repeated = "Every retry of react repeated its first trial exactly (temperature 0.7)"
    assert repeated in flowing(text_of(comparison, format))


def test_three_arms_are_compared_pairwise_with_holms_correction(tmp_path: Path) -> None:
    solved = {"react": REACT, "reflexion": LEARNS, "third": [*REACT[1:], 1]}
    comparison = compare(run_of(tmp_path, "run", solved))
    assert [(pair.a.arm, pair.b.arm) for pair in comparison.pairs] == [
        ("react", "reflexion"),
        ("react", "third"),
        ("reflexion", "third"),
    ]
    p = [pair.levels[-1].p for pair in comparison.pairs]
    assert comparison.pairs[0].adjusted_p == pytest.approx(3 * p[0])
    assert comparison.pairs[1].adjusted_p == 1.0
    assert "after Holm's correction for 3 comparisons" in flowing(text_of(comparison))


def test_arms_with_the_same_settings_are_refused_unless_forced(tmp_path: Path) -> None:
    arms = {"one": {"settings_hash": "same"}, "two": {"settings_hash": "same"}}
    rows = [*chains("one", [1, None], 3), *chains("two", [None, 1], 3)]
    run = read_run(write_run(tmp_path / "run", rows, arms=arms, tasks=2))
    with pytest.raises(UsageError, match="one and two: same settings; nothing to compare"):
        compare(run)
    assert "no setting differs" in text_of(compare(run, force=True))


def test_equal_arms_beside_others_are_skipped_by_name(tmp_path: Path) -> None:
    one = run_of(tmp_path, "one", {"react": REACT, "reflexion": LEARNS})
    other = run_of(tmp_path, "other", {"react": REACT, "reflexion": LEARNS}, arms={
        "react": {}, "reflexion": REFLEXION | {"memory_size": 1, "settings_hash": "changed"},
    })  # fmt: skip
    comparison = compare(one, other)
    assert [(pair.a.run, pair.b.run, pair.a.arm) for pair in comparison.pairs] == [
        ("one", "other", "reflexion")
    ]
    assert comparison.skipped == ("react and react: same settings; not compared.",)
    assert "react and react: same settings; not compared." in text_of(comparison)
    assert "A:reflexion and B:reflexion · runs one (A) and other (B)" in text_of(comparison)


def test_different_splits_are_refused_unless_forced_and_then_only_common_tasks_count(tmp_path: Path) -> None:
    one = run_of(tmp_path, "one", {"react": [1, 1, None]})
    split = {"name": "elsewhere", "fingerprint": "cd" * 32, "tasks": 2, "notes": []}
    other = run_of(tmp_path, "other", {"reflexion": [1, 2]}, split=split)
    with pytest.raises(UsageError, match=r"have 2 of 3 tasks in common \(3 and 2 of made-up and elsewhere\)"):
        compare(one, other)
    pair = only(compare(one, other, force=True))
    assert pair.levels[-1].pairs == 2
    assert any("only the 2 tasks whose ids are in both" in warning for warning in pair.warnings)
    assert ("split", "made-up", "elsewhere") in pair.settings


def test_runs_without_a_common_task_cannot_be_compared(tmp_path: Path) -> None:
    one = run_of(tmp_path, "one", {"react": [1]})
    rows = chain("reflexion", "another", 1, 3)
    other = read_run(write_run(tmp_path / "other", rows, arms={"reflexion": REFLEXION}, tasks=1))
    with pytest.raises(UsageError, match="no task in common"):
        compare(one, other)


def test_arms_must_exist_and_be_two(tmp_path: Path) -> None:
    one = run_of(tmp_path, "one", {"react": [1], "reflexion": [1]})
    alone = run_of(tmp_path, "alone", {"third": [1]})
    with pytest.raises(UsageError, match="unknown arm 'reflexio'; did you mean 'reflexion'"):
        compare(one, arms=["react", "reflexio"])
    with pytest.raises(UsageError, match="alone has the arm 'third' only"):
        compare(alone)
    with pytest.raises(UsageError, match="have no arm in common"):
        compare(one, alone)
    pair = only(compare(one, alone, arms=["reflexion", "third"]))
    assert (pair.a.run, pair.a.arm, pair.b.run, pair.b.arm) == ("one", "reflexion", "alone", "third")


@pytest.mark.parametrize(
    ("first", "second", "info", "warning"),
    [
        ({"feedback": "oracle"}, {"feedback": "none"}, {}, "Feedback differs: oracle against none"),
        ({"max_steps": 30}, {"max_steps": 50}, {}, "Step caps differ: 30 against 50."),
        ({}, {}, {"simulated": True}, "One of the runs was played by a simulated stand-in"),
        (
            {"model": "openai/some-model-2024-05-13"},
            {"model": "openai/some-model-2024-08-06"},
            {},
            "Different snapshots of one model: openai/some-model-2024-05-13 and openai/some-model-2024-08-06.",
        ),
        (
            {},
            {},
            {"created": "2026-06-01T00:00:00+00:00"},
            "openai/synthetic-model was asked on 2026-01-01 and 2026-06-01; the name may have come to mean another",
        ),
        (
            {"model": "openai/m-20240513"},
            {"model": "openai/m-20240513"},
            {"created": "2026-06-01T00:00:00Z"},
            None,
        ),
    ],
)
def test_what_makes_a_comparison_doubtful_is_said_first(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], info: dict[str, Any], warning: str | None
) -> None:
    rows = chains("react", [1, None], 3)
    one = read_run(write_run(tmp_path / "a", rows, arms={"react": first | {"settings_hash": "a"}}, tasks=2))
    other = read_run(
        write_run(tmp_path / "b", rows, arms={"react": second | {"settings_hash": "b"}}, tasks=2, **info)
    )
    comparison = compare(one, other)
    if warning is None:
        assert only(comparison).warnings == ()
    else:
        assert only(comparison).warnings[0].startswith(warning)
        text = flowing(text_of(comparison, "markdown"))
        assert text.index(warning[:40]) < text.index("pass@1")


def test_too_few_disagreements_for_any_result_are_named(tmp_path: Path) -> None:
    text = text_of(compare(run_of(tmp_path, "run", {"react": [None] * 9, "reflexion": [1] * 5 + [None] * 4})))
    assert "The arms disagree on 5 tasks only" in text


def test_a_run_that_has_only_begun_compares_nothing_and_says_so(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", [trial("react", "a", 1)], arms=TWO, tasks=3))
    comparison = compare(run)
    assert only(comparison).levels[-1].pairs == 0
    assert "No task has a result in both arms yet." in text_of(comparison)


def test_p_values_keep_two_digits_however_small() -> None:
    assert [p_value(p) for p in (1.0, 0.7539, 0.0490, 0.00434, 7.63e-5, 2.98e-12)] == [
        "1.00", "0.75", "0.049", "0.0043", "7.6e-5", "3.0e-12",
    ]  # fmt: skip


def published(name: str, trials: int) -> list[dict[str, Any]]:
    """Rows of a published run, whose files say after each trial which tasks are solved."""
    rows, solved = [], set()
    for number in range(trials):
        file = PUBLISHED / f"{name}_run_logs" / f"env_results_trial_{number}.json"
        for entry in json.loads(file.read_text(encoding="utf-8")):
            if entry["name"] not in solved:
                outcome = "success" if entry["is_success"] else "failure"
                rows.append(trial(name, entry["name"], number + 1, outcome))
                solved |= {entry["name"]} if entry["is_success"] else set()
    return rows


@pytest.mark.skipif(
    not PUBLISHED.exists(), reason="the published Reflexion logs are not beside this repository"
)
def test_the_published_alfworld_runs_give_the_published_curves_and_known_p_values(tmp_path: Path) -> None:
    rows = [*published("base", 7), *published("reflexion", 15)]
    arms = {"base": {"trials": 7}, "reflexion": REFLEXION | {"trials": 15}}
    run = read_run(write_run(tmp_path / "run", rows, arms=arms, tasks=134, trials=15))
    assert run.solved_within("base").sum(axis=0).tolist() == [84, 94, 97, 98, 100, 101, 101]
    assert run.solved_within("reflexion").sum(axis=0).tolist() == [
        84, 103, 111, 113, 117, 118, 123, 126, 128, 129, 130, 130, 131, 133, 134,
    ]  # fmt: skip
    levels = only(compare(run)).levels
    assert len(levels) == 7
    assert [(levels[k].only_a, levels[k].only_b) for k in (0, 1, 2, 6)] == [(0, 0), (4, 13), (4, 18), (1, 23)]
    assert [levels[k].p for k in (1, 2, 6)] == pytest.approx([0.049, 0.0043, 3.0e-6], rel=0.02)
