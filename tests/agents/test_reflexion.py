"""Algorithm 1, with trajectories that were written by hand."""

import pytest

from reflex_bench.agents import reflectors
from reflex_bench.agents.base import Step, Trajectory
from reflex_bench.agents.memory import SlidingMemory
from reflex_bench.agents.prompts import load
from reflex_bench.agents.reflexion import reflexion
from reflex_bench.envs.base import Task
from reflex_bench.harness.errors import ReflexError
from reflex_bench.models.base import Reply

TASK = Task("t1", "put", "put a mug on the desk", "00")
STEP = Step(1, "look", "", "look", "You see a desk 1.")


def trajectory(trial, memory, outcome):
    return Trajectory(TASK, trial, memory, "You are in a room.", (STEP,), outcome)


def run(outcomes, size=3, trials=None):
    shown, asked = [], []

    def attempt(trial, memory):
        shown.append(memory)
        return trajectory(trial, memory, outcomes[trial - 1])

    def reflect(failed, memory):
        asked.append(failed.trial)
        return f"lesson {failed.trial}"

    made = list(
        reflexion(
            attempt, lambda played: played.success, reflect, SlidingMemory(size), trials or len(outcomes)
        )
    )
    return made, shown, asked


def test_trials_stop_at_the_first_success():
    made, _, asked = run(["failure", "success", "success"])
    assert [trial.passed for trial in made] == [False, True]
    assert asked == [1]


def test_the_memory_slides_over_the_last_three_reflections():
    _, shown, _ = run(["failure"] * 5)
    assert shown == [
        (),
        ("lesson 1",),
        ("lesson 1", "lesson 2"),
        ("lesson 1", "lesson 2", "lesson 3"),
        ("lesson 2", "lesson 3", "lesson 4"),
    ]


def test_a_memory_of_size_zero_shows_nothing():
    _, shown, _ = run(["failure"] * 3, size=0)
    assert shown == [(), (), ()]


def test_nothing_is_reflected_on_after_the_last_trial_because_nobody_would_read_it():
    made, _, asked = run(["failure"] * 3)
    assert asked == [1, 2]
    assert made[-1].reflection is None


def test_a_success_is_never_reflected_on():
    with pytest.raises(ReflexError, match="success"):
        reflectors.REFLECTORS["reflexion"](
            trajectory(1, (), "success"), (), load("alfworld"), lambda *_, **__: Reply("x")
        )


def test_the_reflector_reads_the_trial_and_how_it_ended():
    heard = []

    def ask(messages, step, stop=()):
        heard.extend(messages)
        return Reply("  Next time\nopen the drawer. ")

    text = reflectors.REFLECTORS["reflexion"](
        trajectory(1, (), "step_limit"), ("older",), load("alfworld"), ask
    )
    assert text == "Next time open the drawer."
    prompt = heard[-1].content
    assert "> look\nYou see a desk 1.\nSTATUS: FAILED (all 1 steps were used up)" in prompt
    assert "older" in prompt


def test_an_empty_reflection_is_not_remembered():
    text = reflectors.REFLECTORS["reflexion"](
        trajectory(1, (), "loop"), (), load("alfworld"), lambda *_, **__: Reply(" \n")
    )
    assert text is None
