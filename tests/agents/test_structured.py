"""The filled-in form: checked, told as prose, audited, and asked for again where it is no use."""

import pytest
from scripted_ask import Script

from reflex_bench.agents.base import Limits, Step, Trajectory
from reflex_bench.agents.reflection import reflectors
from reflex_bench.agents.reflection.structured import MAX_CALLS, Diagnosis, as_sentences
from reflex_bench.core.shared_texts import HISTORY_HEADER
from reflex_bench.envs.base import Task
from reflex_bench.envs.prompts import load

PROMPTS = load("alfworld")
ROOM = (
    "You are in a room. You see a desk 1, a drawer 2, a drawer 1, and a shelf 1.\n\n"
    "Your task is to: put some mug on shelf."
)
FAILED = Trajectory(
    Task("t1", "put", "put some mug on shelf", "00"),
    1,
    (),
    ROOM,
    (
        Step(1, "go to desk 1", "", "go to desk 1", "On the desk 1, you see a cup 3."),
        Step(2, "go to drawer 1", "", "go to drawer 1", "The drawer 1 is closed."),
    ),
    "gave_up",
    remark="It stopped early.",
)
SOUND = {
    "failed_step": 2,
    "expected": "to see what is in drawer 1",
    "observed": "it was closed",
    "deviation_type": "action_error",
    "root_cause": "I did not open it",
    "correction": "open drawer 1 and drawer 2.",
    "confidence": 0.75,
}


def reflect(*lines, earlier=(), history=(), enforce=True):
    script = Script(*lines)
    reflector = reflectors.build("structured", Limits(max_steps=30), enforce)
    return reflector(FAILED, earlier, PROMPTS, script, history), script


def test_the_fields_are_recorded_and_told_as_prose():
    made, script = reflect(SOUND)
    assert made.text == (
        "At step 2 I expected: to see what is in drawer 1. But: it was closed. The cause (action error, 75% sure): "
        "I did not open it. Next time: open drawer 1 and drawer 2."
    )
    assert (made.kind, made.data, made.audit, made.attempts, made.kept) == ("structured", SOUND, (), 1, True)
    assert made.error_class == "gave_up:other"
    assert script.steps[0] == 3


def test_the_reflector_sees_numbered_steps_the_end_the_remark_and_what_it_wrote_before():
    _, script = reflect(SOUND, earlier=("older",), history=("a lost cup",))
    system, user = script.heard[0]
    assert PROMPTS.instruction in system.content
    assert (
        "[Step 2]\n> go to drawer 1\nThe drawer 1 is closed.\nSTATUS: FAILED (you gave up; It stopped"
        in user.content
    )
    assert user.content.index("- older") < user.content.index(f"{HISTORY_HEADER}\n- a lost cup")
    assert user.content.endswith("\n\nDiagnosis:")


@pytest.mark.parametrize(
    "broken",
    [
        {**SOUND, "deviation_type": "bad_luck"},
        {**SOUND, "confidence": 1.5},
        {**SOUND, "failed_step": 0},
        {**SOUND, "failed_step": "the last"},
        {**SOUND, "correction": "  "},
        {key: value for key, value in SOUND.items() if key != "root_cause"},
        "I should have opened drawer 1.",
    ],
)
def test_a_form_that_is_not_filled_in_right_is_asked_for_once_more(broken):
    made, script = reflect(broken, SOUND)
    assert (made.data, made.attempts, made.kept, len(script.heard)) == (SOUND, 2, True, 2)


def test_two_malformed_answers_are_no_reflection_and_no_crash():
    made, script = reflect("no", "{}")
    assert (made.text, made.data, made.audit, made.attempts, made.kept) == ("", None, ("schema",), 2, False)
    assert script.lines == []


@pytest.mark.parametrize("enforce", [True, False])
def test_a_form_that_cannot_be_read_is_never_kept(enforce):
    assert not reflect("no", "{}", enforce=enforce)[0].kept


def test_a_form_about_a_step_that_there_was_not_is_asked_for_again_and_then_kept_out():
    wrong = {**SOUND, "failed_step": 9}
    made, script = reflect(wrong, SOUND)
    assert (made.data, made.attempts, made.kept) == (SOUND, 2, True)
    assert "none that did not occur" in script.heard[1][-1].content
    assert script.heard[1][-1].content.endswith("Diagnosis:")
    made, _ = reflect(wrong, wrong)
    assert (made.audit, made.attempts, made.kept) == (("cites_trajectory",), 2, False)


def test_a_repeated_form_is_kept_out():
    said = as_sentences(Diagnosis.model_validate(SOUND))
    assert reflect(SOUND, SOUND, earlier=(said,))[0].audit == ("not_repeated",)


def test_one_reflection_never_takes_more_than_its_calls():
    wrong = {**SOUND, "failed_step": 9}
    made, script = reflect("no", wrong, "no", SOUND)
    assert (made.kept, made.attempts, len(script.heard)) == (True, 4, MAX_CALLS)
