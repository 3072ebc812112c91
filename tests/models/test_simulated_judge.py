"""The simulated judge and form-filler: right more often than not, wrong and malformed now and then, always the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import pytest

from reflex_bench.agents.base import Limits, Step, Trajectory
from reflex_bench.agents.evaluation.evaluators import build
from reflex_bench.agents.evaluation.judge import StepJudge, assessing, judging
from reflex_bench.agents.messages import reflecting
from reflex_bench.agents.react import react
from reflex_bench.agents.reflection import reflectors
from reflex_bench.agents.reflection.audit import audit
from reflex_bench.agents.reflection.structured import diagnosing
from reflex_bench.agents.transcripts import as_text
from reflex_bench.envs import prompts
from reflex_bench.envs.alfworld.environment import create
from reflex_bench.envs.base import Environment, Task
from reflex_bench.models.base import Message, Reply, Request
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.simulated import model as simulated

MODEL = simulated.create("", ModelOptions())
TEXTS = prompts.load("alfworld")
TASKS = 60
LIMITS = Limits(max_steps=30)


class Asking:
    """The simulated model in one role of one trial; seeds know the call, as in a run."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.replies: list[str] = []

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        digest = hashlib.sha256(f"{self.key}/{len(self.replies)}".encode()).digest()
        request = Request(tuple(messages), 0.7, 512, stop=tuple(stop), seed=int.from_bytes(digest[:4], "big"))
        reply = MODEL.complete(request)
        self.replies.append(reply.text)
        return reply


def greedy(messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
    return MODEL.complete(Request(tuple(messages)))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with pytest.MonkeyPatch.context() as settings:
        settings.setenv("REFLEX_BENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        household = create({"engine": "native", "split": "procedural:seed=7"})
        yield household
        household.close()


@pytest.fixture(scope="module")
def played(environment: Environment) -> list[Trajectory]:
    """First trials, of which about half are lost."""
    return [
        react(task, 1, (), environment, Asking(task.id), LIMITS) for task in environment.load(TASKS).tasks
    ]


def test_a_judge_is_right_about_most_trials_and_wrong_in_both_directions(played: list[Trajectory]) -> None:
    verdicts = [build("model")(trial, TEXTS, Asking(f"{trial.task.id}/judge")) for trial in played]
    cells = Counter((found.success, trial.success) for found, trial in zip(verdicts, played, strict=True))
    assert 0.7 <= (cells[True, True] + cells[False, False]) / TASKS <= 0.95
    assert min(cells[True, False], cells[False, True]) > 0


def test_some_verdicts_have_to_be_asked_for_again_and_most_of_these_come(played: list[Trajectory]) -> None:
    malformed = Counter(
        build("model")(trial, TEXTS, Asking(f"{trial.task.id}/{again}")).malformed
        for trial in played
        for again in range(4)
    )
    assert malformed[0] > 0.8 * 4 * TASKS
    assert malformed[1] > malformed[2] > 0


def test_the_judge_knows_nothing_but_the_text(played: list[Trajectory]) -> None:
    for trial in played[:10]:
        turned = replace(trial, outcome="failure" if trial.success else "success")
        assert build("model")(trial, TEXTS, Asking("x")) == build("model")(turned, TEXTS, Asking("x"))


def test_most_forms_pass_the_audit_some_need_a_second_draft_and_few_are_kept_out(
    played: list[Trajectory],
) -> None:
    lost = [trial for trial in played if not trial.success]
    reflect = reflectors.build("structured", LIMITS)
    made = [reflect(trial, (), TEXTS, Asking(f"{trial.task.id}/{n}")) for trial in lost for n in range(12)]
    kept = [found for found in made if found and found.kept]
    assert 0.8 * len(made) <= len(kept) < len(made)
    assert any(found.attempts > 1 for found in kept)
    assert {found.data["deviation_type"] for found in kept if found.data} >= {"premise_error", "action_error"}
    assert all("Next time: " in found.text for found in kept)


def test_what_a_form_says_helps_the_simulated_player_as_a_free_reflection_does(
    environment: Environment, played: list[Trajectory]
) -> None:
    lost = [trial for trial in played if not trial.success]
    solved = dict.fromkeys(("none", "structured"), 0)
    for kind in solved:
        reflect = reflectors.build(kind, LIMITS)
        for trial, draw in product(lost, range(4)):
            found = reflect(trial, (), TEXTS, Asking(f"{trial.task.id}/form/{draw}"))
            memory = (found.text,) if found and found.kept else ()
            again = react(trial.task, 2, memory, environment, Asking(f"{trial.task.id}/2/{draw}"), LIMITS)
            solved[kind] += again.success
    assert solved["structured"] > 1.1 * solved["none"]


def test_a_free_reflection_that_was_turned_down_is_written_again(played: list[Trajectory]) -> None:
    lost = next(trial for trial in played if not trial.success)
    asked = reflecting(TEXTS, as_text(lost, TEXTS), ())
    turned_down = (Message("assistant", "42"), Message("user", "This cannot be kept.\n\nReflection:"))
    first, again = (MODEL.complete(Request(messages)).text for messages in (asked, (*asked, *turned_down)))
    assert audit(again, lost, (), 30, ("open", "use")) == ()
    assert again == first


def test_a_history_in_the_prompt_is_no_part_of_the_attempt(played: list[Trajectory]) -> None:
    lost = next(trial for trial in played if not trial.success)
    for kind in ("reflexion", "structured"):
        reflect = reflectors.build(kind, LIMITS)
        plain, with_history = (
            reflect(lost, (), TEXTS, greedy, history) for history in ((), ("go to sky 1",))
        )
        assert plain
        assert with_history
        assert "sky" not in with_history.text
        assert with_history.text.rpartition("Next time")[2] == plain.text.rpartition("Next time")[2]


def step(number: int, action: str, seen: str) -> Step:
    return Step(number, action, "", action, seen)


ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a desk 1, a drawer 1, and a shelf 1.\n\n"
    "Your task is to: put some mug on shelf."
)
TAKEN = step(1, "take mug 1 from desk 1", "You pick up the mug 1 from the desk 1.")
PUT = step(2, "move mug 1 to shelf 1", "You move the mug 1 to the shelf 1.")


def majority(messages: tuple[Message, ...], key: str) -> object:
    """What most of many answers say under a key."""
    said: Counter[object] = Counter()
    for seed in range(40):
        found = re.search(r"\{.*\}", MODEL.complete(Request(messages, 0.7, seed=seed)).text, re.DOTALL)
        try:
            said[json.loads(found[0])[key] if found else None] += 1
        except ValueError:
            said["malformed"] += 1
    return said.most_common(1)[0][0]


@pytest.mark.parametrize(("steps", "done"), [((TAKEN, PUT), True), ((TAKEN,), False), ((), False)])
def test_a_household_task_counts_as_done_when_the_thing_stands_where_it_belongs(
    steps: tuple[Step, ...], done: bool
) -> None:
    trial = Trajectory(Task("t", "put", "", "00"), 1, (), ROOM, steps, "step_limit")
    assert majority(judging(trial, TEXTS, len(steps)), "success") is done


@pytest.mark.parametrize(
    ("answer", "told", "done"),
    [("Sundry Cove", "", True), ("Aldmoor", "", False), ("Sundry Cove", "The answer is wrong.", False)],
)
def test_an_answer_counts_as_right_when_it_was_read_and_not_turned_down(
    answer: str, told: str, done: bool
) -> None:
    steps = (
        step(1, "Search[Harrowgill Viaduct]", "It was designed by Orla Penhallick."),
        step(2, "Search[Orla Penhallick]", "She was born in Sundry Cove."),
        step(3, f"Finish[{answer}]", told),
    )
    trial = Trajectory(
        Task("q", "bridge", "", "00"), 1, (), "Question: Where was she born?", steps, "failure"
    )
    texts = prompts.load("hotpotqa")
    assert majority(judging(trial, texts, 3), "success") is done


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ((step(1, "go to desk 1", "On the desk 1, you see a mug 1."), TAKEN), "on_track"),
        ([step(n, f"open sky {n}", "Nothing happens.") for n in (1, 2, 3)], "wrong_path"),
        ((step(1, "take pen 1 from desk 1", "You pick up the pen 1 from the desk 1."),), "wrong_path"),
        ([step(n, "look", "You are facing the desk 1.") for n in (1, 2, 3)], "deviation"),
    ],
)
def test_an_attempt_under_way_is_told_from_one_that_got_lost(steps: Sequence[Step], status: str) -> None:
    assert majority(assessing(ROOM, steps, TEXTS), "status") == status
    assert StepJudge()(ROOM, steps, TEXTS, Asking("look")).status in ("on_track", "deviation", "wrong_path")


def test_the_same_question_gets_the_same_answer_and_at_temperature_0_whatever_the_seed() -> None:
    trial = Trajectory(Task("t", "put", "", "00"), 1, (), ROOM, (TAKEN, PUT), "loop")
    for messages in (
        judging(trial, TEXTS, 2),
        assessing(ROOM, (TAKEN,), TEXTS),
        diagnosing(trial, (), TEXTS, ()),
    ):
        assert len({MODEL.complete(Request(messages, 0.0, seed=seed)).text for seed in range(5)}) == 1
        sampled = [MODEL.complete(Request(messages, 0.7, seed=seed)).text for seed in range(30)]
        assert len(set(sampled)) > 3
        assert sampled == [MODEL.complete(Request(messages, 0.7, seed=seed)).text for seed in range(30)]
