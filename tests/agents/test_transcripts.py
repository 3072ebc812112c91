"""Trials told as text: what is left out when they are long, and in what kind of failure they ended."""

from dataclasses import replace

import pytest

from reflex_bench.agents.base import Step, Trajectory
from reflex_bench.agents.transcripts import (
    LEFT_OUT,
    as_text,
    error_class_of,
    history_block,
    numbered,
    shortened,
    summary_of,
)
from reflex_bench.envs.base import Task
from reflex_bench.envs.prompts import load

PROMPTS = load("alfworld")
TASK = Task("t1", "put", "put some mug on shelf", "00")


def did(action, seen, **more):
    return Step(1, action or "hm", "", action, seen, **more)


def trial(*steps, outcome="step_limit", opening="A room."):
    steps = tuple(replace(step, number=number) for number, step in enumerate(steps, 1))
    return Trajectory(TASK, 1, (), opening, steps, outcome)


def test_a_short_trial_is_told_whole():
    played = trial(did("look", "A desk 1."))
    assert shortened(played, PROMPTS) == played


def test_the_longest_observations_go_first_and_no_more_than_needed():
    played = trial(did("a", "x" * 100), did("b", "y" * 300), did("c", "z" * 200))
    assert [step.observation for step in shortened(played, PROMPTS, tokens=120).steps] == [
        "x" * 100,
        LEFT_OUT,
        "z" * 200,
    ]
    assert [step.observation for step in shortened(played, PROMPTS, tokens=45).steps] == [
        "x" * 100,
        LEFT_OUT,
        LEFT_OUT,
    ]


def test_where_that_is_not_enough_the_first_steps_go_and_the_task_stays():
    played = trial(*(did(f"go to shelf {n}", "It is empty.") for n in range(1, 101)), opening="A long room.")
    short = shortened(played, PROMPTS, tokens=100)
    assert short.opening.startswith("A long room.\n[")
    assert short.steps[-1].number == 100
    assert len(as_text(short, PROMPTS)) < 600
    assert f"[{100 - len(short.steps)} steps left out]" in short.opening


def test_a_trial_of_one_endless_step_keeps_that_step():
    short = shortened(trial(did("x" * 9000, "y" * 9000)), PROMPTS)
    assert [step.observation for step in short.steps] == [LEFT_OUT]


def test_steps_are_told_under_their_numbers():
    played = trial(Step(1, "think: hm\nlook", "hm", "look", "A desk 1."), did("open desk 1", "It is open."))
    assert numbered("A room.", played.steps, PROMPTS, "END") == (
        "A room.\n[Step 1]\n> think: hm\n> look\nA desk 1.\n[Step 2]\n> open desk 1\nIt is open.\nEND"
    )


REFUSED = did("open sky 1", "Nothing happens.", valid=False)
LOST = did(None, "Nothing happens.", valid=False, error="no_action")
THOUGHT = Step(1, "think: hm", "hm", None, "OK.")


@pytest.mark.parametrize(
    ("played", "expected"),
    [
        (trial(REFUSED, REFUSED, did("look", "A room."), outcome="loop"), "loop:invalid_actions"),
        (trial(LOST, did("look", "A room."), did("inventory", "Nothing.")), "step_limit:unparsed_replies"),
        (trial(*[did("look", "A room.")] * 3), "step_limit:repeated_actions"),
        (trial(THOUGHT, did("look", "A room."), outcome="gave_up"), "gave_up:thoughts"),
        (trial(did("look", "A room."), did("go to desk 1", "A desk."), outcome="failure"), "failure:other"),
        (trial(did("look", "A room."), did("look", "A dark room.")), "step_limit:other"),
        (trial(outcome="budget"), "budget:other"),
    ],
)
def test_the_class_of_a_failure_is_how_it_ended_and_what_went_wrong_on_the_way(played, expected):
    assert error_class_of(played) == expected


def test_one_bad_step_among_many_does_not_make_the_class():
    tour = [did(f"go to shelf {n}", f"Shelf {n}.") for n in range(3)]
    assert error_class_of(trial(REFUSED, *tour)) == "step_limit:other"


def test_a_summary_is_one_short_line():
    line = summary_of(trial(did("look", "A room.")), "Open\nthe drawer. " * 100)
    assert line.startswith("put some mug on shelf (all 1 steps were used up): Open the drawer.")
    assert len(line) == 300
    assert "\n" not in line


def test_without_a_history_nothing_is_added():
    assert history_block(()) == ""
