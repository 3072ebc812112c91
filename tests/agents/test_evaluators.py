"""Who decides that a trial failed: each evaluator on trials written by hand, and a configuration that names none."""

from dataclasses import replace

import pytest

from reflex_bench.agents.base import Step, Trajectory, Verdict
from reflex_bench.agents.evaluation.evaluators import (
    AllOf,
    AnyOf,
    Heuristic,
    ModelJudge,
    as_judged,
    build,
    environment,
)
from reflex_bench.core import parts
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Task
from reflex_bench.envs.prompts import load
from reflex_bench.models.base import Reply

PROMPTS = load("alfworld")
TASK = Task("t1", "put", "put a mug on the desk", "00")


def nobody(messages, step, stop=()):
    raise AssertionError("rules ask no model")


def steps(*pairs):
    return tuple(
        Step(number, action or "hm", "", action, seen) for number, (action, seen) in enumerate(pairs, 1)
    )


def trial(outcome, *pairs):
    return Trajectory(TASK, 1, (), "You are in a room.", steps(*pairs), outcome)


def says(success, calls=None):
    """An evaluator whose mind is made up, and who notes that it was asked."""

    class Settled:
        name, sources = "settled", ("settled",)

        def __call__(self, trajectory, prompts, ask):
            if calls is not None:
                calls.append(success)
            return Verdict(success, "settled", 0.9 if success else 0.2, f"it is {success}", malformed=1)

    return Settled()


@pytest.mark.parametrize("outcome", ["success", "failure", "step_limit", "loop", "gave_up"])
def test_the_environment_passes_what_it_counts_as_success_and_nothing_else(outcome):
    verdict = environment(trial(outcome, ("look", "a room")), PROMPTS, nobody)
    assert verdict == Verdict(outcome == "success", "environment")


SAME = ("open drawer 1", "Nothing happens.")


def test_the_fourth_repetition_fails_a_trial_and_the_third_does_not():
    won = ("take mug 1", "You win.")
    assert Heuristic()(trial("success", *[SAME] * 3, won), PROMPTS, nobody).success
    verdict = Heuristic()(trial("success", *[SAME] * 4, won), PROMPTS, nobody)
    assert not verdict.success
    assert verdict.critical_step == 4
    assert "more than 3 times" in verdict.reason


def test_the_number_of_cycles_can_be_set_and_zero_switches_the_rule_off():
    looped = trial("success", *[SAME] * 10)
    assert not Heuristic(cycles=1)(trial("success", *[SAME] * 2), PROMPTS, nobody).success
    assert Heuristic(cycles=0)(looped, PROMPTS, nobody).success


def test_more_than_thirty_actions_fail_a_trial_and_thirty_do_not():
    tour = [(f"go to shelf {n}", f"You arrive at shelf {n}.") for n in range(31)]
    assert Heuristic()(trial("success", *tour[:30]), PROMPTS, nobody).success
    verdict = Heuristic()(trial("success", *tour), PROMPTS, nobody)
    assert (verdict.success, verdict.critical_step) == (False, 31)
    assert Heuristic(max_actions=31)(trial("success", *tour), PROMPTS, nobody).success


def test_thoughts_are_no_actions_and_neither_is_giving_up():
    tour = [(f"go to shelf {n}", f"You arrive at shelf {n}.") for n in range(30)]
    thoughts = [(None, "OK.")] * 3
    assert Heuristic()(trial("failure", *thoughts, *tour), PROMPTS, nobody).success
    gave_up = Heuristic()(trial("gave_up", *tour, ("give up", "")), PROMPTS, nobody)
    assert (gave_up.success, gave_up.reason) == (False, "you gave up")


@pytest.mark.parametrize(
    ("outcome", "passes"),
    [
        ("success", True),
        ("failure", True),
        ("step_limit", False),
        ("gave_up", False),
        ("budget", False),
        ("context_limit", False),
        ("wrong_path", False),
    ],
)
def test_rules_take_an_answer_that_was_handed_in_for_right_and_being_stopped_for_a_failure(outcome, passes):
    assert Heuristic()(trial(outcome, ("Finish[1911]", "")), PROMPTS, nobody).success is passes


def test_the_heuristic_does_not_know_the_true_outcome():
    right, wrong = (trial(outcome, ("Finish[1911]", "")) for outcome in ("success", "failure"))
    assert Heuristic()(right, PROMPTS, nobody) == Heuristic()(wrong, PROMPTS, nobody)


def test_all_passes_when_every_one_does_and_asks_no_further_after_a_no():
    calls = []
    verdict = AllOf([says(True, calls), says(False, calls), says(True, calls)])(
        trial("loop"), PROMPTS, nobody
    )
    assert (verdict.success, verdict.reason, verdict.malformed, calls) == (
        False,
        "it is False",
        2,
        [True, False],
    )
    agreed = AllOf([says(True), environment])(trial("success"), PROMPTS, nobody)
    assert (agreed.success, agreed.score, agreed.reason) == (True, 0.9, "it is True")


def test_any_passes_when_one_does_and_asks_no_further_after_a_yes():
    calls = []
    verdict = AnyOf([says(False, calls), says(True, calls), says(False, calls)])(
        trial("loop"), PROMPTS, nobody
    )
    assert (verdict.success, verdict.reason, verdict.malformed, calls) == (
        True,
        "it is True",
        2,
        [False, True],
    )
    assert not AnyOf([says(False), environment])(trial("loop"), PROMPTS, nobody).success


@pytest.mark.parametrize(
    ("config", "name", "sources"),
    [
        ("environment", "environment", ("environment",)),
        ("heuristic", "heuristic(cycles=3, max_actions=30)", ("heuristic",)),
        ({"heuristic": {"max_actions": 49}}, "heuristic(cycles=3, max_actions=49)", ("heuristic",)),
        ("model", "model", ("model",)),
        ({"all": ["model", "environment"]}, "all(model, environment)", ("model", "environment")),
        (
            {"any": [{"all": ["model", {"heuristic": {"cycles": 0}}]}, "model"]},
            "any(all(model, heuristic(cycles=0, max_actions=30)), model)",
            ("model", "heuristic"),
        ),
    ],
)
def test_a_configuration_builds_an_evaluator_that_says_all_that_decides_its_verdicts(config, name, sources):
    built = build(config)
    assert (built.name, built.sources) == (name, sources)


def endless():
    config = {"all": ["model"]}
    config["all"].append(config)
    return config


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("enviroment", "unknown evaluator 'enviroment'; did you mean 'environment'"),
        ({"heuristics": {}}, "did you mean 'heuristic'"),
        ({"heuristic": {"cycle": 3}}, "did you mean 'cycles'"),
        ({"heuristic": {"cycles": -1}}, "option 'cycles' is -1: Input should be greater than or equal to 0"),
        (
            {"heuristic": {"max_actions": "many"}},
            "option 'max_actions' is 'many': Input should be a valid integer",
        ),
        (
            {"heuristic": {"max_actions": True}},
            "option 'max_actions' is True: Input should be a valid integer",
        ),
        ({"heuristic": 3}, "a mapping of one name to its options"),
        ({"all": []}, "takes a list"),
        ({"any": "model"}, "takes a list"),
        ({"all": ["model", "modle"]}, "did you mean 'model'"),
        ({"all": ["model"], "any": ["model"]}, "a mapping of one name to its options"),
        (None, "a name"),
        (endless(), "levels deep"),
    ],
)
def test_a_configuration_that_names_no_evaluator_is_refused_in_one_line(config, message):
    with pytest.raises(UsageError, match=message) as refused:
        build(config)
    assert "\n" not in str(refused.value)


def test_a_success_that_was_not_seen_is_told_to_the_reflector_as_a_failure_with_the_remark():
    seen = as_judged(
        trial("success", ("look", "a room")), Verdict(False, "model", reason="No mug was moved.")
    )
    assert (seen.outcome, seen.remark) == ("failure", "No mug was moved.")
    stopped = replace(trial("wrong_path", ("look", "a room")), remark="It looks round and round.")
    assert as_judged(stopped, Verdict(False, "environment")) == stopped


def test_the_model_is_asked_only_where_it_decides():
    def judge(messages, step, stop=()):
        return Reply('{"success": true, "score": 1}')

    assert build({"any": ["environment", "model"]})(trial("loop"), PROMPTS, judge).success
    assert not build({"all": ["environment", "model"]})(trial("loop"), PROMPTS, nobody).success
    assert isinstance(build("model"), ModelJudge)
    assert [part.name for part in parts.ours("evaluators")] == ["environment", "heuristic", "model", "rules"]
