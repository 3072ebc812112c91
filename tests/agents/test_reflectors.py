"""How one reflects: what each reflector asks, what it remembers, and what the audit keeps out."""

from dataclasses import replace

import pytest
from scripted_ask import Script

from reflex_bench.agents.base import CallLimit, Limits, Step, Trajectory
from reflex_bench.agents.messages import reflecting
from reflex_bench.agents.reflection import reflectors
from reflex_bench.agents.transcripts import as_text
from reflex_bench.core import parts
from reflex_bench.core.errors import ContextOverflow, ModelError, ReflexError, UsageError
from reflex_bench.core.shared_texts import EARLIER_REFLECTIONS, HISTORY_HEADER
from reflex_bench.envs.base import Task
from reflex_bench.envs.prompts import load
from reflex_bench.models.base import Reply

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
        Step(1, "think: The desk?", "The desk?", None, "OK."),
        Step(2, "go to desk 1", "", "go to desk 1", "On the desk 1, you see a cup 3."),
        Step(3, "go to drawer 1", "", "go to drawer 1", "The drawer 1 is closed."),
    ),
    "step_limit",
)
SOUND = "I never opened drawer 1. Next time I should open drawer 1 before I give up."
LIMITS = Limits(max_steps=30)


def reflect(kind, *lines, failed=FAILED, earlier=(), history=(), enforce=True):
    script = Script(*lines)
    made = reflectors.build(kind, LIMITS, enforce)(failed, earlier, PROMPTS, script, history)
    return made, script


def test_none_remembers_nothing_and_asks_nobody():
    made, script = reflect("none")
    assert (made, script.heard) == (None, [])


def test_a_sound_reflection_is_asked_for_once_and_kept():
    made, script = reflect("reflexion", f"  {SOUND}\n")
    assert (made.text, made.kind, made.audit, made.attempts, made.kept) == (SOUND, "reflexion", (), 1, True)
    assert made.error_class == "step_limit:thoughts"
    assert len(script.heard) == 1


def test_the_question_is_exactly_that_of_plain_reflexion():
    _, script = reflect("reflexion", SOUND, earlier=("older",))
    assert script.heard[0] == list(reflecting(PROMPTS, as_text(FAILED, PROMPTS), ("older",)))


@pytest.mark.parametrize("bad", ["42", ""])
def test_a_bad_reflection_is_asked_for_once_more_with_what_is_wrong_named(bad):
    made, script = reflect("reflexion", bad, SOUND)
    assert (made.text, made.audit, made.attempts, made.kept) == (SOUND, (), 2, True)
    first, second = script.heard
    assert second[: len(first)] == first
    assert [message.role for message in second[len(first) :]] == ["assistant", "user"]
    assert second[-2].content == (bad or "(nothing)")
    assert "name the steps or things of this attempt" in second[-1].content
    assert "say what to do next time" in second[-1].content
    assert "earlier reflection" not in second[-1].content
    assert second[-1].content.endswith("Reflection:")


def test_one_that_fails_again_is_kept_out_and_its_failed_rules_are_recorded():
    made, script = reflect("reflexion", "42", SOUND, earlier=(SOUND,))
    assert (made.text, made.audit, made.attempts, made.kept) == (SOUND, ("not_repeated",), 2, False)
    assert script.lines == []


def test_a_repeat_of_an_earlier_reflection_is_not_kept_twice():
    made, _ = reflect("reflexion", SOUND, f"{SOUND} ", earlier=("other", SOUND))
    assert (made.audit, made.kept) == (("not_repeated",), False)


def test_the_reasoning_of_a_reasoning_model_is_no_part_of_its_reflection():
    assert reflect("reflexion", f"<think>Which drawer?</think>\n{SOUND}")[0].text == SOUND
    made, _ = reflect("reflexion", f"<think>{SOUND}", f"<think>{SOUND}")
    assert (made.text, made.kept) == ("", False)


def test_where_the_audit_only_counts_nothing_is_asked_again_and_nothing_kept_out():
    made, script = reflect("reflexion", "I should try harder.", enforce=False)
    assert (made.kept, made.attempts, len(script.heard)) == (True, 1, 1)
    assert made.audit == ("cites_trajectory", "actionable")


def test_an_empty_reflection_is_never_kept():
    made, _ = reflect("reflexion", " \n", enforce=False)
    assert (made.text, made.kept) == ("", False)


def test_the_step_cap_of_the_run_bounds_what_may_be_asked_for():
    longer = "I never opened drawer 1. Next time I should open drawer 1 within 40 steps."
    assert reflect("reflexion", longer, longer)[0].audit == ("within_limits",)
    assert reflectors.build("reflexion", Limits(max_steps=49))(FAILED, (), PROMPTS, Script(longer)).kept


@pytest.mark.parametrize("kind", ["reflexion", "last_attempt", "last_attempt_and_reflexion", "structured"])
def test_a_success_is_never_reflected_on(kind):
    with pytest.raises(ReflexError, match="success"):
        reflect(kind, SOUND, failed=replace(FAILED, outcome="success"))


def test_what_an_evaluator_remarked_reaches_the_reflector():
    stopped = replace(FAILED, outcome="wrong_path", remark="It looks at\nthe desk again.")
    _, script = reflect("reflexion", SOUND, failed=stopped)
    line = "STATUS: FAILED (the attempt was stopped, as it was on a wrong path; It looks at the desk again.)"
    assert line in script.heard[0][-1].content


def test_earlier_failures_of_the_same_kind_stand_before_the_request_and_only_if_there_are_any():
    _, script = reflect("reflexion", SOUND, earlier=("older",), history=("one lost mug", "another lost mug"))
    asked = script.heard[0][-1].content
    assert f"\n\n{HISTORY_HEADER}\n- one lost mug\n- another lost mug\n\nReflection:" in asked
    assert asked.index(EARLIER_REFLECTIONS) < asked.index(HISTORY_HEADER)


def test_a_trial_too_long_for_the_reflector_is_told_shortened():
    long = replace(FAILED, steps=(*FAILED.steps, Step(4, "look", "", "look", "dust " * 9000)))
    made, script = reflect("reflexion", ContextOverflow("too long"), SOUND, failed=long)
    assert made.kept
    assert "dust" not in script.heard[1][-1].content
    assert "go to drawer 1" in script.heard[1][-1].content


@pytest.mark.parametrize("kind", ["reflexion", "structured"])
@pytest.mark.parametrize("fault", [ContextOverflow("too long"), CallLimit("4 calls")])
def test_a_reflector_that_cannot_be_asked_costs_the_reflection_and_not_the_trial(kind, fault):
    made, _ = reflect(kind, fault, fault)
    assert (made.text, made.kept, made.attempts, made.kind) == ("", False, 0, kind)


def test_a_second_draft_that_cannot_be_asked_for_leaves_the_first_one_out():
    made, _ = reflect("reflexion", "42", ContextOverflow("too long"))
    assert (made.text, made.kept, made.attempts) == ("42", False, 1)


def test_a_provider_error_is_no_reflection():
    with pytest.raises(ModelError):
        reflect("reflexion", ModelError("500"))


def test_the_last_attempt_is_remembered_word_for_word_and_no_model_is_asked():
    made, script = reflect("last_attempt")
    assert made.text == f"{reflectors.ATTEMPT_HEADER}\n{as_text(FAILED, PROMPTS)}"
    assert (made.kept, made.attempts, made.audit, script.heard) == (True, 0, (), [])


def test_a_long_attempt_is_remembered_without_its_longest_observations():
    steps = [Step(n, f"Search[{n}]", "", f"Search[{n}]", f"page {n} " * (200 * n)) for n in range(1, 7)]
    text = reflect("last_attempt", failed=replace(FAILED, steps=tuple(steps)))[0].text
    assert len(text) <= 1.02 * 1600 * 4
    assert "page 1 page 1" in text
    assert "page 2 page 2" in text
    assert "> Search[6]\n[left out]" in text
    assert "page 6" not in text


def test_both_are_remembered_and_the_reflector_is_shown_its_own_earlier_words_alone():
    first, _ = reflect("last_attempt_and_reflexion", SOUND)
    assert first.text == f"{reflect('last_attempt')[0].text}\n{reflectors.LESSON_HEADER} {SOUND}"
    assert (first.kind, first.kept, first.attempts) == ("last_attempt_and_reflexion", True, 1)
    other = "Desk 1 holds only cup 3. Next time I should go to drawer 2."
    _, script = reflect(
        "last_attempt_and_reflexion", other, failed=replace(FAILED, trial=2), earlier=(first.text,)
    )
    assert script.heard[0][-1].content.endswith(f"{EARLIER_REFLECTIONS}\n- {SOUND}\n\nReflection:")
    assert script.heard[0][-1].content.count(ROOM) == 1


def test_of_both_the_attempt_alone_is_remembered_where_the_reflection_is_bad():
    made, _ = reflect("last_attempt_and_reflexion", "42", "43")
    assert made.text == reflect("last_attempt")[0].text
    assert (made.kept, made.audit) == (True, ("cites_trajectory", "actionable"))


def test_an_unknown_reflector_is_named_with_the_nearest_one():
    with pytest.raises(UsageError, match="did you mean 'structured'"):
        reflectors.build("structred", LIMITS)


def test_every_reflector_can_be_built():
    found = {part.name: part for part in parts.ours("reflectors")}
    assert sorted(found) == [
        *("fallback", "last_attempt", "last_attempt_and_reflexion", "none", "reflexion", "structured")
    ]
    asking = {name for name, part in found.items() if part.states("asks_model", True)}
    assert asking == {"last_attempt_and_reflexion", "reflexion", "structured"}
    newest = {name for name, part in found.items() if part.states("newest_only")}
    assert newest == {"fallback", "last_attempt", "last_attempt_and_reflexion"}
    for name in found:
        assert callable(reflectors.build(name, LIMITS))


def continued(*lines):
    script = Script(*lines)
    reflector = reflectors.build("reflexion", LIMITS, continued=True)
    return reflector(FAILED, (), PROMPTS, script), script


def test_a_reflection_that_is_continued_has_stops_and_ends_at_the_first_blank_line():
    made, script = continued(f" {SOUND}\n\nYou are in the middle of a room. You see a bed 1.")
    assert (made.text, made.repairs, made.kept) == (SOUND, ("run_on",), True)
    assert script.stops == [("\nSTATUS:", "\nHere is your task.", "\n> ")]
    made, script = reflect("reflexion", f"I saw desk 1.\n\n{SOUND}")
    assert (made.text, made.repairs, script.stops) == (f"I saw desk 1. {SOUND}", (), [()])


def test_a_reflection_that_breaks_off_is_kept_without_its_tail_or_asked_for_once_more():
    made, _ = reflect("reflexion", Reply(f"{SOUND} After that I should", finish="length"))
    assert (made.text, made.repairs, made.audit, made.kept) == (SOUND, ("truncated_tail",), (), True)
    made, script = reflect("reflexion", Reply("Next time I should open drawer 1 and", finish="length"), SOUND)
    assert (made.text, made.attempts) == (SOUND, 2)
    assert "end every sentence" in script.heard[1][-1].content


def test_the_sentences_of_an_example_are_never_kept():
    copied = PROMPTS.reflection_examples[0][1]
    made, script = reflect("reflexion", copied, copied)
    assert (made.kept, "copied_example" in made.audit) == (False, True)
    assert "use your own words" in script.heard[1][-1].content


def test_a_list_of_actions_is_no_reflection():
    made, _ = reflect("reflexion", "Step 1: go to drawer 1.\nStep 2: open drawer 1.", SOUND)
    assert (made.text, made.attempts) == (SOUND, 2)
