"""Fixed rules after errors, and the evaluator that goes by a business's own rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reflex_bench.agents.base import Outcome, Step, Trajectory
from reflex_bench.agents.evaluation.rules import rules
from reflex_bench.agents.reflection.fallback import fallback
from reflex_bench.agents.transcripts import error_class_of, status_of
from reflex_bench.core.errors import UsageError
from reflex_bench.envs import prompts
from reflex_bench.envs.base import Task

PROMPTS = replace(
    prompts.load("hotpotqa"),
    advice={"TIMEOUT": "look before you repeat", "RATE_LIMITED": "wait as long as the answer says"},
)


def nobody(*asked: object, **named: object) -> Any:
    raise AssertionError("no model is asked")


def trial(outcome: Outcome, *reasons: str, **result: Any) -> Trajectory:
    steps = tuple(
        Step(number, "…", "", f"tool_{number} {{}}", f"answer {number}", reason=reason)
        for number, reason in enumerate(reasons, 1)
    )
    return Trajectory(Task("t", "refund", "refund it", "0"), 1, (), "Request", steps, outcome, result)


def test_the_advice_for_every_error_is_remembered_once() -> None:
    made = fallback(trial("failure", "TIMEOUT", "", "RATE_LIMITED", "TIMEOUT"), (), PROMPTS, nobody)
    assert made is not None
    assert made.text == (
        "After TIMEOUT (here of tool_1): look before you repeat. "
        "After RATE_LIMITED (here of tool_3): wait as long as the answer says."
    )


def test_without_an_error_that_is_known_nothing_is_remembered() -> None:
    assert fallback(trial("failure", "", "OTHER"), (), PROMPTS, nobody) is None


def test_a_trial_passes_by_the_rules_where_it_ended_and_broke_none() -> None:
    assert rules(trial("failure", rules_broken=""), PROMPTS, nobody).success
    assert rules(trial("handed_over", rules_broken=""), PROMPTS, nobody).success
    broken = rules(trial("success", rules_broken="E_TWO_REFUNDS"), PROMPTS, nobody)
    assert (broken.success, broken.reason) == (False, "rules of the business were broken: E_TWO_REFUNDS")
    assert not rules(trial("step_limit", rules_broken=""), PROMPTS, nobody).success


def test_an_environment_without_rules_is_told() -> None:
    with pytest.raises(UsageError, match="has no rules"):
        rules(trial("failure"), PROMPTS, nobody)


def test_failures_are_gathered_by_the_error_that_was_met_most_often() -> None:
    assert error_class_of(trial("failure", "TIMEOUT", "TIMEOUT", "CONFLICT")) == "failure:TIMEOUT"
    assert error_class_of(trial("failure", "CONFLICT", "TIMEOUT")) == "failure:CONFLICT"
    assert error_class_of(trial("handed_over", "", "handed_over")) == "handed_over:other"
    assert error_class_of(trial("failure", "")) == "failure:other"


def test_a_hand_over_is_told_to_a_reflector() -> None:
    assert status_of(trial("handed_over")) == "STATUS: FAILED (you handed the request over to a person)"
