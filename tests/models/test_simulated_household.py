"""The simulated player at the real game: it can win every kind of task, and learns from nothing but what it reads."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from reflex_bench.agents.base import Limits, Reflection, Trajectory, Verdict
from reflex_bench.agents.memory.base import SlidingMemory, TaskMemory
from reflex_bench.agents.messages import opening
from reflex_bench.agents.react import react
from reflex_bench.agents.reflection import reflectors
from reflex_bench.agents.reflexion import Trial, reflexion
from reflex_bench.envs import prompts
from reflex_bench.envs.alfworld.environment import create
from reflex_bench.envs.base import Environment, Task
from reflex_bench.models.base import Message, Reply, Request
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.simulated import model as simulated
from reflex_bench.models.simulated.household import HABITS

pytestmark = pytest.mark.slow

TEXTS = prompts.load("alfworld")
MODEL = simulated.create("", ModelOptions())
TASKS, TRIALS = 134, 3
Chains = dict[str, list[Trial]]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with pytest.MonkeyPatch.context() as settings:
        settings.setenv("REFLEX_BENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        household = create({"engine": "native", "split": "procedural:seed=7"})
        yield household
        household.close()


def ask(messages: Sequence[Message], step: int, stop: Sequence[str] = (), *, key: str) -> Reply:
    seed = int.from_bytes(hashlib.sha256(f"{key}/{step}".encode()).digest()[:4], "big")
    return MODEL.complete(Request(tuple(messages), 0.7, stop=tuple(stop), seed=seed))


def chain(environment: Environment, task: Task, learns: bool, shows: bool) -> list[Trial]:
    """The trials of a task. Seeds know task, trial and step, so that arms differ only in what is shown."""

    def attempt(number: int, memory: tuple[str, ...]) -> Trajectory:
        limits, speak = Limits(environment.max_steps), partial(ask, key=f"{task.id}/{number}")
        return react(task, number, memory if shows else (), environment, speak, limits)

    def reflect(failed: Trajectory, verdict: Verdict, memory: TaskMemory) -> Reflection | None:
        speak = partial(ask, key=f"{task.id}/{failed.trial}/reflection")
        return reflectors.reflexion(failed, memory.all(), environment.prompts, speak) if learns else None

    def evaluate(done: Trajectory) -> Verdict:
        return Verdict(done.success, "environment")

    return list(reflexion(attempt, evaluate, reflect, SlidingMemory(3).view(task), TRIALS))


def play(environment: Environment, learns: bool, shows: bool = True) -> Chains:
    tasks = environment.load(TASKS).tasks
    assert len(tasks) == TASKS
    return {task.id: chain(environment, task, learns, shows) for task in tasks}


@pytest.fixture(scope="module")
def retried(environment: Environment) -> Chains:
    return play(environment, learns=False)


@pytest.fixture(scope="module")
def reflected(environment: Environment) -> Chains:
    return play(environment, learns=True)


def solved(chains: Chains, trials: int) -> float:
    """Share of tasks solved within the first trials."""
    return sum(any(trial.verdict.success for trial in chain[:trials]) for chain in chains.values()) / len(
        chains
    )


def test_it_wins_every_task_type_at_the_first_trial_and_loses_every_one(retried: Chains) -> None:
    first = Counter((chain[0].trajectory.task.type, chain[0].verdict.success) for chain in retried.values())
    for kind in ("put", "clean", "heat", "cool", "examine", "puttwo"):
        assert first[kind, True] > 0
        assert first[kind, False] > 0


def test_between_35_and_65_percent_of_first_trials_succeed(retried: Chains) -> None:
    assert 0.35 <= solved(retried, 1) <= 0.65


def test_trying_again_gains_some_and_reflecting_gains_clearly_more(
    retried: Chains, reflected: Chains
) -> None:
    assert solved(reflected, 1) == solved(retried, 1)
    assert solved(retried, 3) >= solved(retried, 1) + 0.1
    for trials in (2, 3):
        assert solved(reflected, trials) >= solved(retried, trials) + 0.1


def test_with_the_reflections_taken_out_of_the_prompt_every_trial_is_that_of_plain_retrying(
    environment: Environment, retried: Chains
) -> None:
    unseen = play(environment, learns=True, shows=False)
    assert any(trial.reflection for chain in unseen.values() for trial in chain)
    digests = {task: [trial.trajectory.digest for trial in chain] for task, chain in unseen.items()}
    assert digests == {task: [trial.trajectory.digest for trial in chain] for task, chain in retried.items()}


def test_trials_that_are_retried_are_not_all_the_same(retried: Chains) -> None:
    again = [chain for chain in retried.values() if len(chain) == TRIALS]
    assert sum(len({trial.trajectory.digest for trial in chain}) > 1 for chain in again) > len(again) / 2


def test_every_trial_begins_with_a_thought_and_admits_its_habits(retried: Chains) -> None:
    firsts = [trial.trajectory.steps[0] for chain in retried.values() for trial in chain]
    assert all(step.thought.startswith("I have to ") and step.action is None for step in firsts)
    for sentence in HABITS.values():
        assert any(sentence in step.thought for step in firsts)


def test_reflections_are_two_to_four_sentences_and_name_what_the_room_holds(reflected: Chains) -> None:
    texts = [trial.reflection.text for chain in reflected.values() for trial in chain if trial.reflection]
    assert all(2 <= len(re.findall(r"[.!?](?:\s|$)", text)) <= 4 for text in texts)
    assert all(re.search(r"[a-z]+ \d+", text) for text in texts)
    assert len(set(texts)) > 0.8 * len(texts)


def test_replies_are_untidy_at_times_and_repair_loses_none(retried: Chains) -> None:
    steps = [step for chain in retried.values() for trial in chain for step in trial.trajectory.steps]
    names = {name for step in steps for name in step.repairs}
    assert {"prompt_prefix", "full_stop", "action_label", "cut_invented_observation"} <= names
    assert not any(step.error for step in steps)


ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a bed 1, a desk 1, a drawer 2, a drawer 1, "
    "a garbagecan 1, a shelf 2, a shelf 1, and a sidetable 1.\n\nYour task is to: put some mug on shelf."
)
PLAN = "think: I have to find a mug and put it on a shelf."


def say(*turns: tuple[str, str], memory: Sequence[str] = (), room: str = ROOM) -> str:
    """What the player says after the given turns, its untidiness taken off."""
    conversation = list(opening(TEXTS, "put", room, memory))
    for said, seen in turns:
        conversation += [Message("assistant", said), Message("user", seen)]
    reply = MODEL.complete(Request(tuple(conversation))).text
    return re.sub(r"^(?:> |OK\.\n|Action: )|\.$|\nYou see what you need\.$", "", reply)


AT_CLOSED_DRAWER = ("go to drawer 1", "You arrive at drawer 1. The drawer 1 is closed.")
AT_DESK = ("go to desk 1", "You arrive at desk 1. On the desk 1, you see a cup 1, and a pen 2.")


def test_a_habit_is_read_back_from_the_first_thought_whoever_wrote_it() -> None:
    assert say((PLAN, "OK."), AT_CLOSED_DRAWER) == "open drawer 1"
    assert say((f"{PLAN} {HABITS['unopened']}", "OK."), AT_CLOSED_DRAWER).startswith("go to ")
    assert say((PLAN, "OK."), AT_DESK).startswith("go to ")
    assert say((f"{PLAN} {HABITS['lookalike']}", "OK."), AT_DESK) == "think: There is cup 1. I take it"


def test_it_goes_straight_to_where_a_note_says_the_object_is() -> None:
    assert "I start with drawer 2" in say(memory=["I saw that the mug 1 was in drawer 2."])
    assert say((PLAN, "OK."), memory=["I saw that the mug 1 was in drawer 2."]) == "go to drawer 2"
    assert say((PLAN, "OK."), memory=["I saw that the pen 1 was in drawer 2."]) != "go to drawer 2"


def test_it_passes_over_places_that_a_note_says_to_skip() -> None:
    skip = "I can skip bed 1, desk 1, drawer 2, garbagecan 1, shelf 2, shelf 1 and sidetable 1: no mug there."
    assert say((PLAN, "OK."), memory=[skip]) == "go to drawer 1"


def test_it_looks_first_where_a_note_tells_it_to() -> None:
    assert say((PLAN, "OK."), memory=["Next time I should go to garbagecan 1 first."]) == "go to garbagecan 1"


@pytest.mark.parametrize(
    ("habit", "note"),
    [
        ("unopened", "Next time I should open them: drawer 1 and drawer 2."),
        ("lookalike", "Next time only a mug counts, and not a cup."),
        ("early", "Next time I should keep searching and not give up."),
        ("unnumbered", "Next time I must write every name with its number."),
    ],
)
def test_a_warning_is_heeded_more_often_than_not_given(habit: str, note: str) -> None:
    rooms = [ROOM.replace("bed 1", f"bed {number}") for number in range(200)]

    def admitted(*memory: str) -> int:
        openings = [opening(TEXTS, "put", room, memory) for room in rooms]
        return sum(HABITS[habit] in MODEL.complete(Request(messages)).text for messages in openings)

    assert admitted(note) < 0.7 * admitted()


def test_a_place_that_cannot_be_gone_to_is_looked_at_from_where_it_stands() -> None:
    turns = [(PLAN, "OK."), AT_DESK]
    aim = say(*turns)
    assert aim.startswith("go to ")
    assert say(*turns, (aim, "Nothing happens.")) == aim.replace("go to", "examine")
