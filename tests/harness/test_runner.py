"""The runner: in which order it plays what is owed, what ends a run, and that nothing is played twice."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from reading import record, rows
from small_world import Answer, Scripted, number_of, plan_of, said_to

from reflex_bench.core.errors import ModelError, RunStopped
from reflex_bench.harness.planning.plan import Plan
from reflex_bench.harness.running.progress import Ended
from reflex_bench.harness.running.runner import Runner, max_workers
from reflex_bench.harness.storage.manifest import describe
from reflex_bench.harness.storage.store import Store
from reflex_bench.models.base import Reply, Request, Usage
from reflex_bench.models.local_server import HOSTED


class Told:
    """Keeps what it is told of a run. See `reflex_bench.harness.running.progress.Progress`."""

    def __init__(self) -> None:
        self.trials: list[tuple[str, str, int, str]] = []
        self.chains: list[str] = []
        self.calls: list[str] = []
        self.waited_for: list[int] = []

    def calling(self) -> None:
        self.calls.append("asked")

    def called(self, role: str, reply: Reply | None) -> None:
        self.calls.append(role if reply else f"{role} failed")

    def stopping(self, calls: int) -> None:
        self.waited_for.append(calls)

    def trial(self, row: dict[str, Any]) -> None:
        self.trials.append((row["arm"], row["task"], row["trial"], row["outcome"]))

    def chain(self, arm: str) -> None:
        self.chains.append(arm)


def right(request: Request) -> Answer:
    """Names the number that is wanted."""
    return str(number_of(request))


def wrong(request: Request) -> Answer:
    """Names another number."""
    return "9"


def fails(request: Request) -> Answer:
    return ModelError("the endpoint is down")


def lesson(request: Request) -> Answer:
    """A reflection that names its task."""
    return f"Task {number_of(request)} is not 9."


Answers = Sequence[Answer] | Callable[[Request], Answer]


def planned(actor: Answers, *sources: str, reflector: Answers = lesson, **settings: Any) -> Plan:
    models = {"actor": Scripted(actor), "reflector": Scripted(reflector)}
    return plan_of(models, ["audit=count", *sources], **{"arms": "react", "trials": 1} | settings)


def run(plan: Plan, path: Path, told: Told | None = None) -> Ended:
    """Work on a run as one process would: begin it, or go on with it."""
    store = Store(path) if path.exists() else Store.create(path, describe(plan, "run", []))
    try:
        return Runner(plan, store, told or Told()).run()
    finally:
        store.close()


def asked(plan: Plan) -> list[int]:
    """The numbers of the tasks about which an actor was asked, in order."""
    [actor] = [model for name, model in plan.models.items() if name.endswith("actor")]
    return [number_of(request) for request in actor.asked]


def test_a_run_plays_every_task_and_is_complete(world: Path) -> None:
    plan, told = planned(right), Told()
    assert run(plan, world, told) == Ended("complete", "", 0, ())
    assert told.trials == [("react", f"n{number}", 1, "success") for number in range(4)]
    assert told.chains == ["react"] * 4
    assert told.calls == ["asked", "actor"] * 4
    written = rows(world / "trials.jsonl")
    assert [(row["task"], row["outcome"]) for row in written] == [(f"n{n}", "success") for n in range(4)]
    assert all(row["seconds"] >= 0 for row in written)


def test_it_goes_task_by_task_through_all_arms_and_trial_by_trial_through_a_task(world: Path) -> None:
    told = Told()
    run(planned(wrong, arms="react,reflexion", trials=2, tasks=2), world, told)
    assert [trial[:3] for trial in told.trials] == [
        *(("react", "n0", 1), ("react", "n0", 2), ("reflexion", "n0", 1), ("reflexion", "n0", 2)),
        *(("react", "n1", 1), ("react", "n1", 2), ("reflexion", "n1", 1), ("reflexion", "n1", 2)),
    ]


def test_what_arms_share_is_played_once_also_by_many_threads(world: Path) -> None:
    plan = planned(wrong, arms="react,reflexion", trials=2, limits={"max_workers": 4})
    assert run(plan, world).status == "complete"
    # A first trial for both arms, and a second one for each.
    assert sorted(asked(plan)) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert len(rows(world / "trials.jsonl")) == 16


def test_files_do_not_depend_on_the_number_of_threads(world: Path) -> None:
    for workers in (1, 3):
        plan = planned(wrong, arms="react,reflexion", trials=3, limits={"max_workers": workers})
        run(plan, world.with_name(f"run{workers}"))
    assert record(world.with_name("run1")) == record(world.with_name("run3"))


def test_a_finished_run_is_not_played_again(world: Path) -> None:
    run(planned(wrong, arms="react,reflexion", trials=2), world)
    before = record(world)
    plan, told = planned([], reflector=[], arms="react,reflexion", trials=2), Told()
    assert run(plan, world, told) == Ended("complete", "", 0, ())
    assert (asked(plan), told.trials, told.calls, record(world)) == ([], [], [], before)


def test_a_resumed_run_plays_what_ended_in_an_error_and_nothing_else(world: Path) -> None:
    def two_fail(request: Request) -> Answer:
        return fails(request) if number_of(request) in (1, 3) else right(request)

    assert run(planned(two_fail), world).errors == 2
    plan, told = planned(right), Told()
    assert run(plan, world, told) == Ended("complete", "", 0, ())
    assert asked(plan) == [1, 3]
    assert [trial[1] for trial in told.trials] == ["n1", "n3"]
    assert [row["outcome"] for row in rows(world / "trials.jsonl")] == ["success"] * 4


def test_a_recorded_trial_is_not_played_again_where_its_calls_are_no_longer_on_record(world: Path) -> None:
    assert run(planned(wrong, trials=2, tasks=1, limits={"tokens": 12}), world).status == "stopped"
    (world / "calls.jsonl").unlink()
    plan = planned(wrong, trials=2, tasks=1)
    assert run(plan, world).status == "complete"
    assert asked(plan) == [0]
    assert [row["trial"] for row in rows(world / "trials.jsonl")] == [1, 2]


def test_a_chain_that_an_error_ended_does_not_end_the_others(world: Path) -> None:
    def first_fails(request: Request) -> Answer:
        return fails(request) if number_of(request) == 0 else wrong(request)

    told = Told()
    ended = run(planned(first_fails, trials=2, tasks=2), world, told)
    assert (ended.status, ended.errors) == ("complete", 1)
    assert [trial[1:] for trial in told.trials] == [
        ("n0", 1, "error"),
        ("n1", 1, "failure"),
        ("n1", 2, "failure"),
    ]
    assert told.calls[:2] == ["asked", "actor failed"]


def test_trials_that_end_in_errors_in_a_row_stop_a_run(world: Path) -> None:
    told = Told()
    ended = run(planned(fails, limits={"stop_after_errors": 2}), world, told)
    assert ended.status == "stopped"
    assert ended.reason == "2 trials in a row ended in errors; the last: the endpoint is down"
    assert ([trial[1] for trial in told.trials], ended.errors) == (["n0", "n1"], 2)


def test_a_trial_that_ends_without_an_error_breaks_the_row(world: Path) -> None:
    def every_other(request: Request) -> Answer:
        return fails(request) if number_of(request) % 2 else wrong(request)

    ended = run(planned(every_other, limits={"stop_after_errors": 2}), world)
    assert (ended.status, ended.errors) == ("complete", 2)


def test_a_model_that_can_not_be_asked_any_more_stops_a_run_and_what_is_done_stays(world: Path) -> None:
    def gone(request: Request) -> Answer:
        return RunStopped("the key is wrong") if number_of(request) == 1 else right(request)

    ended = run(planned(gone), world)
    assert (ended.status, ended.reason, ended.errors) == ("stopped", "the key is wrong", 0)
    assert [row["task"] for row in rows(world / "trials.jsonl")] == ["n0"]
    plan = planned(right)
    assert run(plan, world).status == "complete"
    assert asked(plan) == [1, 2, 3]


LIMITS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "tokens": ({"tokens": 24}, "the token limit of 24 is reached (24 used)"),
    "cost": ({"cost": 1.0}, "the cost limit of $1.00 is reached ($1.0000 spent)"),
}


@pytest.mark.parametrize("what", LIMITS)
def test_a_limit_of_the_run_stops_it_before_the_next_call(what: str, world: Path) -> None:
    # Each call takes 12 tokens and half a dollar: two calls reach the limit, and there is no third.
    limits, said = LIMITS[what]
    plan = planned(right, limits=limits)
    ended = run(plan, world)
    assert (ended.status, asked(plan)) == ("stopped", [0, 1])
    assert ended.reason.startswith(said)
    assert len(rows(world / "trials.jsonl")) == 2


def test_what_earlier_processes_took_counts_against_the_limit(world: Path) -> None:
    run(planned(right, limits={"tokens": 24}), world)
    plan = planned(right, limits={"tokens": 36})
    assert run(plan, world).status == "stopped"
    assert asked(plan) == [2]


def test_the_time_limit_stops_a_run_and_waits_for_the_call_that_is_under_way(world: Path) -> None:
    plan = planned(wrong, trials=2, limits={"time": 0.05})

    def slow(request: Request) -> Answer:
        # Answers when the run is being stopped, and not before.
        assert plan.stopping.wait(10)
        return wrong(request)

    for model in plan.models.values():
        model.answers = slow
    ended = run(plan, world)
    assert (ended.status, ended.reason) == ("stopped", "the time limit of 0.05 s is reached")
    assert (asked(plan), [row["outcome"] for row in rows(world / "trials.jsonl")]) == ([0], ["failure"])


def test_an_interrupted_run_waits_for_the_call_that_is_under_way_and_writes_its_reply(world: Path) -> None:
    plan, told = planned(right), Told()

    def interrupted(request: Request) -> Answer:
        _thread.interrupt_main()
        assert plan.stopping.wait(10)
        return right(request)

    for model in plan.models.values():
        model.answers = interrupted
    ended = run(plan, world, told)
    assert (ended.status, ended.abandoned, told.waited_for) == ("interrupted", False, [1])
    assert [row["task"] for row in rows(world / "trials.jsonl")] == ["n0"]
    again = planned(right)
    assert run(again, world).status == "complete"
    assert asked(again) == [1, 2, 3]


def test_a_fault_of_the_harness_itself_stops_the_run_and_is_told(world: Path) -> None:
    class Faulty(Told):
        def trial(self, row: dict[str, Any]) -> None:
            raise LookupError("no such thing")

    ended = run(planned(right), world, Faulty())
    assert (ended.status, ended.reason) == ("stopped", "LookupError: no such thing")


def test_a_content_that_is_refused_for_good_is_no_error_that_is_tried_again(world: Path) -> None:
    def refuses(request: Request) -> Answer:
        return ModelError("content policy", "content_filter") if number_of(request) == 0 else right(request)

    assert [run(planned(refuses, tasks=2), world).errors for _ in range(4)] == [1, 1, 0, 0]
    plan = planned(refuses, tasks=2)
    run(plan, world)
    assert asked(plan) == []
    assert [row["outcome"] for row in rows(world / "trials.jsonl")] == ["error", "success"]


def test_as_many_chains_play_at_a_time_as_there_are_workers_and_no_more(world: Path) -> None:
    meeting, guard = threading.Barrier(2), threading.Lock()
    playing, most = 0, 0

    def meets(request: Request) -> Answer:
        nonlocal playing, most
        with guard:
            playing += 1
            most = max(most, playing)
        meeting.wait(10)  # for the other one
        time.sleep(0.05)  # so that a third one would be seen
        with guard:
            playing -= 1
        return right(request)

    # Two arms have threads of their own, for chains that wait.
    both = {"arms": "react,reflexion", "share_first_trial": False}
    ended = run(planned(meets, limits={"max_workers": 2}, **both), world)
    assert (ended, most) == (Ended("complete", "", 0, ()), 2)


def test_a_chain_that_waits_for_a_shared_trial_lets_another_play(world: Path) -> None:
    # Two workers, and both arms of the first task need its first trial: the second task is played meanwhile.
    both = threading.Barrier(2)

    def meets(request: Request) -> Answer:
        both.wait(3)
        return right(request)

    plan = planned(meets, arms="react,reflexion", tasks=2, limits={"max_workers": 2})
    assert run(plan, world) == Ended("complete", "", 0, ())
    assert sorted(asked(plan)) == [0, 1]


# A memory that goes across tasks is filled in rounds.

ACROSS = ("memory.kind=retrieval", "memory.scope=arm", "memory.size=9")


def shown(plan: Plan) -> list[tuple[int, list[int]]]:
    """Of every call of an actor, the task, and whose lessons it was shown."""
    [actor] = [model for name, model in plan.models.items() if name.endswith("actor")]
    return [
        (number_of(request), [n for n in range(4) if f"Task {n} is not 9." in said_to(request)])
        for request in actor.asked
    ]


def test_all_tasks_are_tried_before_any_is_tried_again_with_what_all_have_taught(world: Path) -> None:
    plan = planned(wrong, *ACROSS, arms="reflexion", trials=2, tasks=3)
    assert run(plan, world).status == "complete"
    everything = [0, 1, 2]
    assert shown(plan) == [(0, []), (1, []), (2, []), (0, everything), (1, everything), (2, everything)]
    assert [row["id"] for row in rows(world / "memory" / "reflexion.jsonl")] == ["n0#1", "n1#1", "n2#1"]


def test_a_round_in_which_an_error_came_up_is_not_ended(world: Path) -> None:
    def one_fails(request: Request) -> Answer:
        return fails(request) if number_of(request) == 1 else wrong(request)

    plan = planned(one_fails, *ACROSS, arms="reflexion", trials=2, tasks=3)
    assert run(plan, world).errors == 1
    assert asked(plan) == [0, 1, 2]
    # The next process makes up for the one that is missing, and then all go on with the same lessons.
    again = planned(wrong, *ACROSS, arms="reflexion", trials=2, tasks=3)
    told = Told()
    assert run(again, world, told).status == "complete"
    everything = [0, 1, 2]
    assert shown(again) == [(1, []), (0, everything), (1, everything), (2, everything)]
    # What was recorded before is not told again.
    assert [trial[1:3] for trial in told.trials] == [("n1", 1), ("n0", 2), ("n1", 2), ("n2", 2)]


def test_tasks_that_are_finished_teach_the_others_in_a_resumed_run_too(world: Path) -> None:
    def later_right(request: Request) -> Answer:
        """Right with a lesson in task 0; in task 1, down with a lesson."""
        learned = "is not 9." in said_to(request)
        return wrong(request) if not learned else [right, fails][number_of(request)](request)

    settings: dict[str, Any] = {"arms": "reflexion", "trials": 3, "tasks": 2}
    assert run(planned(later_right, *ACROSS, **settings), world).errors == 1
    plan, told = planned(wrong, *ACROSS, **settings), Told()
    assert run(plan, world, told).status == "complete"
    # Task 0 was won in its second trial. Task 1 has its second one again, with the lessons of both.
    assert shown(plan) == [(1, [0, 1]), (1, [0, 1])]
    assert told.chains == ["reflexion"]
    again = planned([], *ACROSS, reflector=[], **settings)
    assert (run(again, world).status, asked(again)) == ("complete", [])


def test_what_a_run_remembers_is_left_behind_for_each_arm_that_remembers(world: Path) -> None:
    run(planned(wrong, arms="react,reflexion", trials=2, tasks=2), world)
    assert [file.name for file in (world / "memory").iterdir()] == ["reflexion.jsonl"]
    texts = [row["text"] for row in rows(world / "memory" / "reflexion.jsonl")]
    assert texts == ["Task 0 is not 9.", "Task 1 is not 9."]


@pytest.mark.parametrize(
    ("limits", "simulated", "connections", "expected"),
    [
        ({"max_workers": 3, "max_connections": 8}, False, 5, 3),
        ({"max_workers": None, "max_connections": 8}, False, 5, 8),
        ({"max_workers": None}, False, 5, 5),
        ({"max_workers": None}, False, None, HOSTED),
        ({"max_workers": None, "max_connections": 8}, True, None, 1),
    ],
)
def test_as_many_chains_as_calls_run_where_a_server_does_the_work_and_else_one(
    world: Path, limits: Mapping[str, Any], simulated: bool, connections: int | None, expected: int
) -> None:
    plan = planned(right, limits=limits)
    for model in plan.models.values():
        model.simulated = simulated
        if connections is not None:
            model.connections = connections
    assert max_workers(plan) == expected


def test_tokens_that_a_server_does_not_report_are_estimated_for_the_limit(world: Path) -> None:
    def silent(request: Request) -> Answer:
        return Reply(str(right(request)), Usage(None, None), cost=0.5)

    plan = planned(silent, limits={"tokens": 1})
    assert (run(plan, world).status, asked(plan)) == ("stopped", [0])
