"""A model as judge: what it is shown, what is made of its answers, and what is not its to know."""

from dataclasses import replace

import pytest
from scripted_ask import Script

from reflex_bench.agents.base import CallLimit, Step, Trajectory
from reflex_bench.agents.evaluation import judge
from reflex_bench.agents.evaluation.judge import NO_VERDICT, ModelJudge, StepJudge
from reflex_bench.core.errors import ContextOverflow, ModelError
from reflex_bench.envs.base import Task
from reflex_bench.envs.prompts import load
from reflex_bench.models.base import Reply

PROMPTS = load("alfworld")
TASK = Task("t1", "put", "put a mug on the desk", "00")
STEPS = (
    Step(1, "think: A shelf?", "A shelf?", None, "OK."),
    Step(2, "take mug 1 from shelf 1", "", "take mug 1 from shelf 1", "You pick up the mug 1."),
    Step(3, "move mug 1 to desk 1", "", "move mug 1 to desk 1", "You move the mug 1 to the desk 1."),
)
WON = Trajectory(TASK, 1, ("an old lesson",), "You are in a room.", STEPS, "success", {"plan_length": 7})
GOOD = {
    "reason": "It stands there.",
    "critical_step": 3,
    "efficiency": "None wasted.",
    "score": 0.9,
    "success": True,
}


def judged(trajectory, *lines):
    script = Script(*lines)
    return ModelJudge()(trajectory, PROMPTS, script), script


def test_every_field_of_the_answer_reaches_the_verdict():
    verdict, _ = judged(WON, GOOD)
    assert (verdict.success, verdict.by, verdict.score, verdict.reason) == (
        True,
        "model",
        0.9,
        "It stands there.",
    )
    assert (verdict.efficiency, verdict.critical_step, verdict.malformed) == ("None wasted.", 3, 0)


def test_the_judge_sees_the_task_the_steps_by_number_and_the_agents_instructions():
    _, script = judged(WON, GOOD)
    (system, user), step = script.heard[0], script.steps[0]
    assert PROMPTS.instruction in system.content
    assert "[Step 2]\n> take mug 1 from shelf 1\nYou pick up the mug 1.\n[Step 3]" in user.content
    assert step == 4


def test_the_judge_is_not_shown_how_the_trial_was_counted():
    prompts = []
    for outcome in ("success", "failure", "step_limit", "gave_up"):
        _, script = judged(replace(WON, outcome=outcome, result={"em": outcome == "success"}), GOOD)
        prompts.append((script.heard[0], script.steps[0]))
    assert all(prompt == prompts[0] for prompt in prompts)


@pytest.mark.parametrize("given", [0, -1, 4, 10**30, None])
def test_a_critical_step_that_does_not_exist_counts_as_none(given):
    verdict, _ = judged(WON, {**GOOD, "critical_step": given})
    assert (verdict.success, verdict.critical_step) == (True, None)


def test_a_malformed_answer_is_asked_for_once_more_and_counted():
    verdict, script = judged(WON, "Looks fine to me!", GOOD)
    assert (verdict.success, verdict.malformed, len(script.heard)) == (True, 1, 2)


def test_a_judge_that_cannot_be_understood_passes_nothing_and_crashes_nothing():
    verdict, _ = judged(WON, "Looks fine to me!", "Still does.")
    assert (verdict.success, verdict.reason, verdict.malformed, verdict.score) == (False, NO_VERDICT, 2, None)


def test_a_score_in_percent_is_no_score_between_0_and_1():
    verdict, script = judged(WON, {**GOOD, "score": 85}, GOOD)
    assert (verdict.score, verdict.malformed) == (0.9, 1)
    assert "score" in script.heard[1][-1].content


def test_an_attempt_that_does_not_fit_is_judged_by_its_shortened_text():
    long = replace(WON, steps=(replace(STEPS[0], observation="page " * 5000), *STEPS[1:]))
    verdict, script = judged(long, ContextOverflow("too long"), GOOD)
    assert verdict.success
    assert len(script.heard[1][1].content) < 7000
    assert "take mug 1" in script.heard[1][1].content


@pytest.mark.parametrize("fault", [CallLimit("2 calls"), ContextOverflow("too long")])
def test_where_no_judge_can_be_asked_nothing_has_passed(fault):
    verdict, _ = judged(WON, fault, fault)
    assert (verdict.success, verdict.reason, verdict.malformed) == (False, NO_VERDICT, 0)


def test_a_provider_error_is_no_verdict():
    with pytest.raises(ModelError):
        judged(WON, ModelError("500"))


def assessed(*lines, steps=STEPS):
    script = Script(*lines)
    return StepJudge()("You are in a room.", steps, PROMPTS, script), script


@pytest.mark.parametrize("status", ["on_track", "deviation", "wrong_path"])
def test_a_step_judge_says_where_an_attempt_stands_and_why(status):
    verdict, script = assessed({"reason": "It holds the mug.", "status": status})
    assert (verdict.status, verdict.reason) == (status, "It holds the mug.")
    (system, user), step = script.heard[0], script.steps[0]
    assert PROMPTS.instruction in system.content
    assert "[Step 3]\n> move mug 1 to desk 1" in user.content
    assert step == 3


def test_a_step_judge_looks_every_third_step_unless_told_otherwise():
    assert StepJudge().every == 3
    assert StepJudge(every=5).every == 5


@pytest.mark.parametrize(
    "lines",
    [("hm", "hm"), ('{"status": "lost"}', "{}"), (CallLimit("6 calls"),), (ContextOverflow("too long"),)],
)
def test_an_attempt_is_never_ended_by_an_answer_that_cannot_be_read(lines):
    verdict, _ = assessed(*lines)
    assert (verdict.status, verdict.reason) == ("on_track", NO_VERDICT)


def test_the_prompt_of_a_step_judge_only_grows_at_its_end():
    grown = [judge.assessing("You are in a room.", STEPS[:count], PROMPTS) for count in (1, 2, 3)]
    assert len({messages[0] for messages in grown}) == 1
    told = [messages[1].content.rpartition("\nTHE ATTEMPT SO FAR")[0] for messages in grown]
    assert told[1].startswith(told[0])
    assert told[2].startswith(told[1])


def test_judges_of_a_text_that_is_continued_are_asked_with_stops_and_what_runs_on_is_named():
    class Continued:
        def __init__(self, text):
            self.text, self.stops = text, []

        def __call__(self, messages, step, stop=()):
            self.stops.append(tuple(stop))
            return Reply(self.text)

    verdict = '{"reason": "done", "score": 1, "success": true}'
    ask = Continued(f"{verdict}\n\nHere is another.\n" + verdict.replace("true", "false"))
    found = ModelJudge(continued=True)(WON, PROMPTS, ask)
    assert (found.success, found.repairs) == (True, ("run_on",))
    step = Continued('{"reason": "", "status": "wrong_path"}\n\n{"reason": "", "status": "on_track"}')
    assert StepJudge(3, True)(WON.opening, WON.steps, PROMPTS, step).status == "wrong_path"
    assert ask.stops == step.stops == [("\nSTATUS:", "\nHere is your task.", "\n> ")]
