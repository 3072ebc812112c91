import pytest

from reflex_bench.agents.base import Step
from reflex_bench.agents.guards import is_loop


def steps(*pairs):
    return [Step(number, action, "", action, seen) for number, (action, seen) in enumerate(pairs, 1)]


def test_the_fourth_repetition_of_one_step_is_a_loop_and_the_third_is_not():
    same = ("open drawer 1", "Nothing happens.")
    assert not is_loop(steps(*[same] * 3), cycles=3)
    assert is_loop(steps(*[same] * 4), cycles=3)


@pytest.mark.parametrize("length", [2, 3, 4])
def test_a_cycle_of_several_steps_is_a_loop_after_more_than_three_rounds(length):
    cycle = [(f"go to shelf {n}", f"On the shelf {n}, you see nothing.") for n in range(length)]
    assert not is_loop(steps(*cycle * 3), cycles=3)
    assert is_loop(steps(("look", "a room"), *cycle * 4), cycles=3)


def test_the_same_action_with_another_answer_is_no_loop():
    pairs = [("look", f"You see {n} things.") for n in range(8)]
    assert not is_loop(steps(*pairs), cycles=3)


def test_thoughts_between_the_steps_of_a_cycle_do_not_hide_it():
    thought = Step(0, "think: again", "again", None, "OK.")
    taken = steps(*[("look", "a room")] * 4)
    mixed = [step for pair in zip(taken, [thought] * 4, strict=True) for step in pair]
    assert is_loop(mixed[:-1], cycles=3)


def test_replies_in_which_nothing_can_be_read_are_a_loop_too():
    lost = Step(0, "hm", "", None, "Nothing happens.", valid=False, error="no_action")
    assert is_loop([lost] * 4, cycles=3)


def test_zero_cycles_switches_the_rule_off():
    assert not is_loop(steps(*[("look", "a room")] * 50), cycles=0)
