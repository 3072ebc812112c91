"""Chains: the order of playing, judging and reflecting, their ends, and what the chains of one task share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from small_world import Scripted, plan_of, said_to, task

from reflex_bench.core.errors import ContextOverflow, ModelError, RunStopped
from reflex_bench.harness.planning.plan import Plan
from reflex_bench.harness.running.chain import Chain, SingleFlight
from reflex_bench.harness.running.memory_io import begin
from reflex_bench.harness.storage.journal import Journal
from reflex_bench.models.base import Reply, Request, Usage

NO, YES = '{"score": 0, "success": false}', '{"score": 1, "success": true}'


class Table:
    """One task at which chains of a plan are played, one after the other.

    Attributes:
        rows: that were written.
        asked: (role, request) of every call of a model.
    """

    def __init__(
        self, plan: Plan, run: Path, shared: SingleFlight | None = None, fresh: bool = False
    ) -> None:
        self.plan, self.run = plan, run
        self.shared = SingleFlight() if shared is None else shared
        run.mkdir(exist_ok=True)
        self.journal = Journal(run / "calls.jsonl", None, {"n0"} if fresh else None)
        self.rows: list[dict[str, Any]] = []
        self.asked: list[tuple[str, Request]] = []

    def chain(self, arm: str) -> Chain:
        [found] = [each for each in self.plan.arms if each.name == arm]

        def complete(model: str, role: str, request: Request) -> Reply:
            self.asked.append((role, request))
            return self.plan.models[model].complete(request)

        return Chain(
            plan=self.plan,
            arm=found,
            task=task(0),
            shared=self.shared,
            journal=self.journal,
            complete=complete,
            write=lambda row, seconds: self.rows.append(row),
            stopping=threading.Event(),
            memory=begin(self.plan, found, self.run),
        )

    def play(self, arm: str) -> Chain:
        """Plays a chain to its end."""
        chain = self.chain(arm)
        while chain.step():
            pass
        return chain

    @property
    def roles(self) -> list[str]:
        return [role for role, _ in self.asked]


Sit = Callable[..., Table]


@pytest.fixture
def sit(world: Path) -> Iterator[Sit]:
    """Makes tables: models by role as `plan_of` takes them, settings as `key=value`."""
    made: list[Table] = []

    def sit(
        models: Mapping[str, Sequence[Any]],
        *sources: str,
        arms: str = "reflexion",
        shared: SingleFlight | None = None,
        fresh: bool = False,
    ) -> Table:
        scripted = {role: Scripted(said) for role, said in models.items()}
        plan = plan_of(scripted, ["audit=count", *sources], tasks=1, arms=arms)
        made.append(Table(plan, world, shared, fresh))
        return made[-1]

    yield sit
    for table in made:
        table.journal.close()


def outcomes(table: Table) -> list[tuple[int, str]]:
    return [(row["trial"], row["outcome"]) for row in table.rows]


def test_a_failed_trial_is_judged_and_reflected_on_before_the_next_and_the_last_is_not_reflected_on(
    sit: Sit,
) -> None:
    table = sit({"actor": "123", "evaluator": [NO] * 3, "reflector": ["Not 1.", "Not 2."]}, "evaluator=model")
    table.play("reflexion")
    assert table.roles == [
        *("actor", "evaluator", "reflector"),
        *("actor", "evaluator", "reflector"),
        *("actor", "evaluator"),
    ]
    assert [row["reflection"] for row in table.rows] == ["Not 1.", "Not 2.", None]


def test_a_success_ends_the_chain(sit: Sit) -> None:
    table = sit({"actor": "10", "reflector": ["Not 1."]})
    chain = table.chain("reflexion")
    assert (chain.step(), chain.step()) == (True, False)
    assert outcomes(table) == [(1, "failure"), (2, "success")]
    assert (chain.failed, chain.refused, table.roles) == (False, False, ["actor", "reflector", "actor"])


def test_the_last_trial_ends_the_chain(sit: Sit) -> None:
    table = sit({"actor": "12"}, "trials=2", arms="react")
    chain = table.chain("react")
    assert (chain.step(), chain.step()) == (True, False)
    assert outcomes(table) == [(1, "failure"), (2, "failure")]


def test_the_evaluators_word_ends_the_chain_and_the_environments_word_stays_the_success(sit: Sit) -> None:
    table = sit({"actor": "10", "evaluator": [YES]}, "evaluator=model")
    table.play("reflexion")
    [row] = table.rows
    assert (row["outcome"], row["success"], row["passed"], row["evaluator"]) == (
        "failure",
        False,
        True,
        "model",
    )


def test_what_an_evaluator_does_not_see_as_a_success_is_tried_again(sit: Sit) -> None:
    table = sit({"actor": "00", "evaluator": [NO, YES], "reflector": ["Hm."]}, "evaluator=model")
    table.play("reflexion")
    assert [(row["success"], row["passed"]) for row in table.rows] == [(True, False), (True, True)]


def test_samples_go_on_after_a_success_and_none_is_reflected_on(sit: Sit) -> None:
    table = sit({"actor": "010"}, "samples=3", arms="react")
    table.play("react")
    assert outcomes(table) == [(1, "success"), (2, "failure"), (3, "success")]
    assert table.roles == ["actor"] * 3


def test_the_next_trial_is_shown_what_was_reflected_and_the_row_says_so(sit: Sit) -> None:
    table = sit({"actor": "123", "reflector": ["It is not 1.", "It is not 2."]}, "memory.size=1")
    table.play("reflexion")
    told = [said_to(request) for role, request in table.asked if role == "actor"]
    assert ["It is not 1." in each for each in told] == [False, True, False]
    assert ["It is not 2." in each for each in told] == [False, False, True]
    assert [row["memory"] for row in table.rows] == [[], ["It is not 1."], ["It is not 2."]]
    assert [row["memory_ids"] for row in table.rows] == [[], ["n0#1"], ["n0#2"]]


def test_a_reflector_is_told_the_failed_trial_and_what_is_remembered(sit: Sit) -> None:
    table = sit({"actor": "123", "reflector": ["It is not 1.", "It is not 2."]})
    table.play("reflexion")
    first, second = (said_to(request) for role, request in table.asked if role == "reflector")
    assert "Which number is meant in task 0?" in first
    assert "> 1\nNo." in first
    assert "It is not 1." not in first
    assert "> 2\nNo." in second
    assert "It is not 1." in second


@pytest.mark.parametrize(("history", "summaries"), [(0, 0), (1, 1), (5, 2)])
def test_earlier_failures_of_the_kind_are_summed_up_before_a_reflector(
    sit: Sit, history: int, summaries: int
) -> None:
    lessons = ["It is not 1.", "It is not 2.", "It is not 3."]
    table = sit({"actor": "1234", "reflector": lessons}, "trials=4", f"history={history}", "memory.size=0")
    table.play("reflexion")
    last = [said_to(request) for role, request in table.asked if role == "reflector"][-1]
    assert ("Earlier failures of the same kind" in last) == bool(history)
    assert last.count("number 0 (the attempt ended without success): It is not") == summaries


def test_failures_of_another_kind_are_not_summed_up(sit: Sit) -> None:
    # The first reply has no action, nor has the one that is asked for again; it ends at the limit of one step.
    actor = ["well", "well", "2", "3"]
    table = sit({"actor": actor, "reflector": ["Say a number.", "Not 2."]}, "history=5", "memory.size=0")
    table.play("reflexion")
    second = [said_to(request) for role, request in table.asked if role == "reflector"][1]
    assert "Earlier failures of the same kind" not in second


def test_arms_share_a_first_trial_that_is_the_same_and_no_later_one(sit: Sit) -> None:
    table = sit({"actor": "1234", "reflector": ["Not 1."]}, "trials=2", arms="react,reflexion")
    table.play("react")
    table.play("reflexion")
    assert table.roles == ["actor", "actor", "reflector", "actor"]
    (plain, second), (first, other) = table.rows[:2], table.rows[2:]
    assert (plain["attempt"], plain["digest"]) == (first["attempt"], first["digest"])
    assert plain["spent"]["actor"] == first["spent"]["actor"]
    assert second["attempt"] != other["attempt"]
    assert [row["trajectory"][0]["action"] for row in table.rows] == ["1", "2", "1", "3"]


def test_what_is_not_shared_is_played_by_each_arm_with_seeds_of_its_own(sit: Sit) -> None:
    table = sit({"actor": "00"}, "share_first_trial=false", arms="react,reflexion")
    table.play("react")
    table.play("reflexion")
    assert table.roles == ["actor", "actor"]
    one, other = (request for _, request in table.asked)
    assert (one.messages, one.seed == other.seed) == (other.messages, False)
    assert table.rows[0]["attempt"] != table.rows[1]["attempt"]


def test_arms_that_play_differently_share_nothing(sit: Sit) -> None:
    table = sit({"actor": "00"}, "arms={cool: {actor: {temperature: 0}}, warm: {}}", arms="cool,warm")
    table.play("cool")
    table.play("warm")
    assert [request.temperature for _, request in table.asked] == [0.0, 0.7]


def test_arms_whose_judges_differ_share_the_trial_and_not_the_verdict(sit: Sit) -> None:
    arms = "arms={one: {evaluator: model}, two: {evaluator: model, evaluation: {temperature: 0.5}}}"
    table = sit({"actor": "1", "evaluator": [NO, YES]}, arms, "trials=1", arms="one,two")
    table.play("one")
    table.play("two")
    assert table.roles == ["actor", "evaluator", "evaluator"]
    assert [row["passed"] for row in table.rows] == [False, True]


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (ModelError("the endpoint is down"), "the endpoint is down"),
        (ValueError("an odd\nvalue"), "ValueError: an odd value"),
    ],
)
def test_a_fault_ends_the_chain_with_an_error_that_says_nothing_about_the_agent(
    sit: Sit, failure: Exception, told: str
) -> None:
    table = sit({"actor": ["1", failure], "reflector": ["Not 1."]})
    chain = table.chain("reflexion")
    assert (chain.step(), chain.step()) == (True, False)
    assert (chain.failed, chain.refused) == (True, False)
    row = table.rows[1]
    assert (row["trial"], row["outcome"], row["success"], row["error"]) == (2, "error", None, told)
    assert row["memory"] == ["Not 1."]
    assert "refused" not in row
    # A fault that nobody foresaw is shown with the place where it happened.
    assert (row["traceback"] is None) == isinstance(failure, ModelError)


def test_an_error_of_the_reflector_ends_the_chain_and_the_trial_before_it_is_not_written(sit: Sit) -> None:
    table = sit({"actor": "1", "reflector": [ModelError("down")]})
    chain = table.chain("reflexion")
    assert chain.step() is False
    assert outcomes(table) == [(1, "error")]
    # What was paid for is on the row all the same.
    assert (table.rows[0]["calls"], table.rows[0]["prompt_tokens"]) == (1, 10)


def test_a_run_that_cannot_go_on_writes_no_row(sit: Sit) -> None:
    table = sit({"actor": [RunStopped("the key is wrong")]})
    with pytest.raises(RunStopped):
        table.chain("reflexion").step()
    assert table.rows == []


def test_a_prompt_that_does_not_fit_is_an_outcome_and_no_error(sit: Sit) -> None:
    table = sit({"actor": [ContextOverflow("5000 tokens"), "0"], "reflector": ["Shorter."]})
    chain = table.play("reflexion")
    assert (outcomes(table), chain.failed) == ([(1, "context_limit"), (2, "success")], False)


def test_a_refused_trial_is_counted_over_processes_and_the_third_time_is_for_good(sit: Sit) -> None:
    refusal = ModelError("content policy", "content_filter")
    first = sit({"actor": [refusal]})
    chain = first.play("reflexion")
    [row] = first.rows
    assert (row["refused"], chain.failed, chain.refused) == (1, True, False)
    third = sit({"actor": [refusal]}, shared=SingleFlight(refused={row["attempt"]: 2}))
    chain = third.play("reflexion")
    assert (third.rows[0]["refused"], chain.refused) == (3, True)
    # Now it is on record, and an arm that has the same trial is told so without asking anybody.
    fourth = sit({"actor": []}, shared=SingleFlight(third.rows, refused={row["attempt"]: 3}))
    chain = fourth.play("reflexion")
    assert (fourth.roles, fourth.rows[0]["error"], chain.refused) == ([], "content policy", True)


def test_a_resumed_chain_goes_on_from_the_recorded_trials_and_asks_only_for_what_is_missing(
    sit: Sit,
) -> None:
    before = sit({"actor": ["1", "2"], "reflector": ["Not 1."]}, "trials=4")
    chain = before.chain("reflexion")
    assert chain.step()
    before.journal.close()
    # One trial is written; its reflection stands in the journal.
    after = sit(
        {"actor": "23", "reflector": ["Not 2.", "Not 3."]},
        "trials=4",
        shared=SingleFlight(before.rows),
        fresh=True,
    )
    chain = after.chain("reflexion")
    assert chain.step()
    assert (after.roles, after.rows) == ([], before.rows)
    assert chain.step()
    assert after.roles == ["actor", "reflector"]
    assert after.rows[1]["memory"] == ["Not 1."]


def test_a_recorded_trial_is_not_played_again_where_its_calls_are_no_longer_on_record(
    sit: Sit, world: Path
) -> None:
    before = sit({"actor": "1"}, "trials=2", arms="react")
    before.chain("react").step()
    before.journal.close()
    (world / "calls.jsonl").unlink()
    after = sit({"actor": "2"}, "trials=2", arms="react", shared=SingleFlight(before.rows), fresh=True)
    after.play("react")
    assert after.roles == ["actor"]
    assert after.rows[0] == before.rows[0]
    assert [row["trajectory"][0]["action"] for row in after.rows] == ["1", "2"]


def test_a_wrong_path_that_a_step_evaluator_sees_ends_the_trial(sit: Sit) -> None:
    bad = '{"reason": "This leads nowhere.", "status": "wrong_path"}'
    # Two turns without an action, each asked for once more; the judge looks after the second.
    sources = ("step_evaluator=2", "limits.max_steps=5", "limits.max_calls=9", "trials=1")
    table = sit({"actor": ["well"] * 4, "evaluator": [bad]}, *sources, arms="react")
    table.play("react")
    assert table.roles == ["actor"] * 4 + ["step_evaluator"]
    [row] = table.rows
    assert (row["outcome"], row["remark"], row["steps"]) == ("wrong_path", "This leads nowhere.", 2)
    assert row["spent"]["step_evaluator"]["calls"] == 1


def test_a_trial_ends_at_its_limit_of_calls(sit: Sit) -> None:
    table = sit({"actor": ["well"] * 3}, "limits.max_steps=5", "limits.max_calls=3", "trials=1", arms="react")
    table.play("react")
    assert (outcomes(table), table.rows[0]["calls"]) == ([(1, "budget")], 3)


def test_unknown_costs_stay_unknown(sit: Sit) -> None:
    table = sit({"actor": [Reply("0", Usage(10, None, None))]}, arms="react")
    table.play("react")
    [row] = table.rows
    assert (row["prompt_tokens"], row["completion_tokens"], row["cost"]) == (10, None, None)


# What chains of a task have in common.


def test_what_is_asked_for_twice_is_made_once(tmp_path: Path) -> None:
    made: list[str] = []
    shared = SingleFlight()
    assert [shared.once("a", lambda: len(made.append("a") or made)) for _ in range(3)] == [1, 1, 1]
    assert shared.once("b", lambda: len(made.append("b") or made)) == 2
    assert made == ["a", "b"]


def test_what_fails_for_one_fails_for_all_and_is_not_tried_again() -> None:
    tried: list[int] = []

    def fails() -> None:
        tried.append(1)
        raise ModelError("down")

    shared = SingleFlight()
    for _ in range(2):
        with pytest.raises(ModelError, match="down"):
            shared.once("a", fails)
    assert tried == [1]


def test_whoever_asks_meanwhile_waits_idle_and_gets_the_same() -> None:
    begun, may_end, waiting = threading.Event(), threading.Event(), threading.Event()
    idle: list[str] = []

    @contextmanager
    def idling() -> Iterator[None]:
        idle.append("in")
        waiting.set()
        yield
        idle.append("out")

    def slow() -> str:
        begun.set()
        assert may_end.wait(10)
        return "made by the first"

    shared, got = SingleFlight(idle=idling), list[str]()
    first = threading.Thread(target=lambda: got.append(shared.once("a", slow)))
    second = threading.Thread(target=lambda: got.append(shared.once("a", lambda: "made by the second")))
    first.start()
    assert begun.wait(10)
    second.start()
    assert waiting.wait(10)
    assert idle == ["in"]
    may_end.set()
    first.join(10)
    second.join(10)
    assert (got, idle) == (["made by the first"] * 2, ["in", "out"])
    # Nobody waits for what is there.
    assert shared.once("a", slow) == "made by the first"
    assert idle == ["in", "out"]


def test_of_two_records_of_a_trial_the_one_that_was_played_counts() -> None:
    played = {"attempt": "a", "outcome": "success"}
    refused = {"attempt": "a", "outcome": "error"}
    for rows in ([played, refused], [refused, played]):
        assert SingleFlight(rows).rows == {"a": played}
