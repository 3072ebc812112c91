"""Scoring against the official script's own answers, and the success rules.

`data/hotpotqa/hotpotqa_em_f1_vectors.jsonl` and `hotpotqa_sp_joint_vectors.jsonl` hold what hotpot_evaluate_v1.py
computed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.hotpotqa.scoring import (
    Score,
    answer_score,
    evaluate,
    exact_match,
    joint_score,
    normalise,
    success_rule,
    support_score,
)

DATA = Path(__file__).parents[2] / "data" / "hotpotqa"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    "row", rows("hotpotqa_em_f1_vectors.jsonl"), ids=lambda row: f"{row['n']}-{row['rule']}"
)
def test_answers_score_as_in_the_official_script(row: dict[str, Any]) -> None:
    assert normalise(row["pred"]) == row["norm_pred"]
    assert normalise(row["gold"]) == row["norm_gold"]
    assert exact_match(row["pred"], row["gold"]) is row["em"]
    expected = Score(float(row["em"]), row["f1"], row["precision"], row["recall"])
    assert answer_score(row["pred"], row["gold"]) == expected


@pytest.mark.parametrize("row", rows("hotpotqa_sp_joint_vectors.jsonl"), ids=lambda row: row["name"])
def test_data_sets_score_as_in_the_official_script(row: dict[str, Any]) -> None:
    answers, facts = row["prediction"]["answer"], row["prediction"].get("sp")
    if row["name"] == "list-answer":
        with pytest.raises(UsageError, match="answer to question 'q1' is a list"):
            evaluate(answers, row["gold"], facts)
        return
    metrics = evaluate(answers, row["gold"], facts)
    if row["metrics"] is not None:
        assert metrics == pytest.approx(row["metrics"], abs=0)
    elif (
        row["name"] == "null-answer"
    ):  # the original crashes; here it is no answer, and the citations still count
        assert (metrics["em"], metrics["f1"], metrics["sp_em"], metrics["joint_em"]) == (0, 0, 1, 0)
    else:
        assert row["name"] == "prediction-without-sp-key"
        assert (metrics["em"], metrics["sp_f1"], metrics["joint_f1"]) == (1, 0, 0)


# Real pairs of prediction and gold from the published Reflexion logs, and corner cases; F1 worked out by hand.
PAIRS = [
    ("January 10, 1920", "10 January 1920", 0, 1.00),
    ("November 22, 1761", "22 November", 0, 0.80),
    ("Albany, New York", "New York", 0, 0.80),
    ("Oneida Ltd", "Oneida Limited", 0, 0.50),
    ("Cold War (1947-91)", "the Cold War (1947–91)", 0, 0.67),
    ("Stone Brewing Co.", "Stone Brewing", 0, 0.80),
    ("Vivendi", "Vivendi S.A.", 0, 0.67),
    ("Larnelle Steward Harris", "Larnelle Harris", 0, 0.80),
    ("Read It and Weep", '"Read It and Weep" (2006)', 0, 0.89),
    ("Cleaning, Catering, and Security services", "cleaning, catering and security", 0, 0.89),
    ("fortnightly women interest magazines", "fortnightly women interest magazine", 0, 0.75),
    ("Roman Empire", "Roman", 0, 0.67),
    ("Six schools", "six", 0, 0.67),
    ("Teen Titans and Teen Titans Go!", "Teen Titans Go!", 0, 0.67),
    ("KXII 12", "KXII", 0, 0.67),
    ('"Creature Comforts"', "Creature Comforts", 1, 1.00),
    ("Jonny Craig", 'Jonny" Craig', 1, 1.00),
    ("Yes, they are", "yes", 0, 0.00),
    ("The", "A", 1, 0.00),
    ("", "The", 1, 0.00),
    ("", "", 1, 0.00),
    ("co-founder", "cofounder", 1, 1.00),
    ("Beyoncé", "Beyonce", 0, 0.00),
    (None, "anything", 0, 0.00),
    (None, "The The", 0, 0.00),
]


@pytest.mark.parametrize(("prediction", "gold", "em", "f1"), PAIRS)
def test_pairs_from_published_logs_score_as_worked_out_by_hand(
    prediction: str | None, gold: str, em: int, f1: float
) -> None:
    score = answer_score(prediction, gold)
    assert score.em == em
    assert round(score.f1, 2) == f1


def test_joint_scores_multiply_precision_and_recall() -> None:
    answer = answer_score("Dr Kessler", "Kessler")  # precision 1/2, recall 1
    support = support_score([("A", 0), ("B", 1)], [("A", 0)])  # precision 1/2, recall 1
    joint = joint_score(answer, support)
    assert (joint.precision, joint.recall, joint.em) == (0.25, 1.0, 0.0)
    assert joint.f1 == pytest.approx(0.4)


def test_nothing_to_score_is_an_error_and_not_a_division_by_zero() -> None:
    with pytest.raises(UsageError, match="empty"):
        evaluate({}, [])


@pytest.mark.parametrize(
    ("rule", "answer", "gold", "holds"),
    [
        ("em", "the Iron Lantern", "Iron Lantern", True),
        ("em", "Iron Lantern Street", "Iron Lantern", False),
        ("em", None, "Iron Lantern", False),
        # Official EM of these two is 1; an answer without a character is never a success.
        ("em", "", "The The", False),
        ("em", "The The", "The The", True),
        ("contains", "", "", False),
        ("f1>=0.8", "Stone Brewing Co.", "Stone Brewing", True),  # exactly 4/5
        # 6 shared of 7 and 8 words: 4/5, which floating point puts a little below.
        ("f1>=0.8", "b c d e f g x", "b c d e f g y z", True),
        ("f1>=0.8", "Vivendi", "Vivendi S.A.", False),
        ("f1>=0.8", None, "Vivendi", False),
        ("f1 >= .5", "Oneida Ltd", "Oneida Limited", True),
        ("contains", "It was the year 1871.", "1871", True),
        # As a substring this would hold.
        ("contains", "Norway", "no", False),
        ("contains", "No, it is not", "no", True),
        ("contains", "York New", "New York", False),
        ("contains", "Oslo", "The The", False),
    ],
)
def test_success_rules(rule: str, answer: str | None, gold: str, holds: bool) -> None:
    assert success_rule(rule).holds(answer, gold) is holds


@pytest.mark.parametrize("text", ["em", "contains", "f1>=0.8", "f1>=1", "f1>=0.05"])
def test_a_success_rule_is_named_as_it_is_written(text: str) -> None:
    assert success_rule(text).name == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f1", "unknown success rule 'f1'; known: em, contains, f1>="),
        ("f1>0.8", "unknown success rule"),
        ("f1>=", "threshold must be above 0 and at most 1"),
        ("f1>=0", "threshold must be above 0 and at most 1"),
        ("f1>=80", "threshold must be above 0 and at most 1"),
        ("f1>=nan", "threshold must be above 0 and at most 1"),
        ("", "unknown success rule ''"),
    ],
)
def test_a_bad_success_rule_is_named(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        success_rule(text)
