"""Algorithm 1, with trajectories that were written by hand."""

from reflex_bench.agents.base import Reflection, Step, Trajectory, Verdict
from reflex_bench.agents.memory.base import SlidingMemory
from reflex_bench.agents.reflexion import reflexion
from reflex_bench.envs.base import Task

TASK = Task("t1", "put", "put a mug on the desk", "00")
STEP = Step(1, "look", "", "look", "You see a desk 1.")


def trajectory(trial, memory, outcome):
    return Trajectory(TASK, trial, memory, "You are in a room.", (STEP,), outcome)


def run(outcomes, size=3, trials=None, unkept=()):
    shown, asked = [], []

    def attempt(trial, memory):
        shown.append(memory)
        return trajectory(trial, memory, outcomes[trial - 1])

    def evaluate(played):
        return Verdict(played.success, "environment")

    def reflect(failed, verdict, memory):
        asked.append(failed.trial)
        return Reflection(f"lesson {failed.trial}", "reflexion", kept=failed.trial not in unkept)

    memory = SlidingMemory(size).view(TASK)
    made = list(reflexion(attempt, evaluate, reflect, memory, trials or len(outcomes)))
    return made, shown, asked


def test_trials_stop_at_the_first_success():
    made, _, asked = run(["failure", "success", "success"])
    assert [trial.verdict.success for trial in made] == [False, True]
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


def test_a_reflection_that_is_not_kept_is_recorded_and_never_shown():
    made, shown, _ = run(["failure"] * 3, unkept={1})
    assert made[0].reflection.text == "lesson 1"
    assert shown == [(), (), ("lesson 2",)]


def test_the_evaluator_decides_even_where_it_is_wrong():
    played = trajectory(1, (), "failure")
    memory = SlidingMemory(3).view(TASK)
    wrong = Verdict(True, "model")
    made = list(reflexion(lambda *_: played, lambda _: wrong, lambda *_: None, memory, trials=3))
    assert len(made) == 1
    assert not made[0].trajectory.success
