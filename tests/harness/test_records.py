"""The row of a trial: what it holds, what it leaves out, and that the trial can be made of it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_world import task

from reflex_bench.agents.base import Reflection, Step, Trajectory, Verdict
from reflex_bench.agents.memory.base import Shown
from reflex_bench.agents.reflexion import Trial
from reflex_bench.harness.storage.records import (
    BULKY,
    RARE,
    Spent,
    Where,
    brief,
    error_row,
    read_spent,
    read_trajectory,
    trial_row,
)
from reflex_bench.models.base import Reply, Usage

WHERE = Where("reflexion", task(3), 2, "0123456789abcdef")
STEPS = (
    Step(1, "Hm.", "Hm.", None, "OK."),
    Step(2, "?", "", None, "A number is wanted.", valid=False, error="no_action"),
    Step(3, "1\n2", "", "1", "No.", repairs=("extra_actions", "code_fence"), reasoning="low"),
    Step(4, "x", "x?", "x", "What?", valid=False, repairs=("code_fence",), reason="absent"),
    Step(5, "y", "y?", "y", "What?", valid=False, reason="no_effect"),
    Step(6, "z", "", "z", "What?", valid=False),
)
ACTOR = Spent(6, 600, 60, 300, 0.25, 2400, 1800)
REFLECTOR = Spent(2, 200, 40, 0, 0.5, 800, 0, reasoning_tokens=7, asked_again=1, lost_calls=1)
REFLECTION = Reflection(
    text="It is not 1.",
    kind="reflexion",
    data={"lesson": "It is not 1."},
    error_class="failure:other",
    audit=("too_long",),
    attempts=2,
    kept=False,
    repairs=("run_on",),
)


def played(**more: Any) -> Trajectory:
    given = {"memory": ("It is not 0.",), "steps": STEPS, "outcome": "step_limit", "result": {"wanted": 3}}
    return Trajectory(task(3), 2, opening="Which number?", **{**given, **more})


def row(reflection: Reflection | None = REFLECTION, **spent: Spent) -> dict[str, Any]:
    spent = spent or {"actor": ACTOR, "evaluator": Spent(), "reflector": REFLECTOR}
    verdict = Verdict(True, "model", 0.5, "Near.", critical_step=3)
    return trial_row(WHERE, Trial(played(), verdict, (Shown("n3#1", "It is not 0."),), reflection), spent)


def test_a_row_says_which_trial_it_is_about_how_it_ended_and_how_it_was_judged() -> None:
    said = row()
    assert list(said)[:5] == ["arm", "task", "task_type", "trial", "attempt"]
    assert list(said.values())[:5] == ["reflexion", "n3", "number", 2, "0123456789abcdef"]
    # The evaluator is content; that makes no success.
    assert (said["outcome"], said["success"], said["passed"]) == ("step_limit", False, True)
    assert (said["evaluator"], said["verdict"]["score"], said["verdict"]["critical_step"]) == (
        "model",
        0.5,
        3,
    )
    assert (said["text"], said["opening"], said["result"]) == ("number 3", "Which number?", {"wanted": 3})
    assert said["error"] is None


def test_a_row_counts_the_steps_by_what_became_of_them() -> None:
    said = row()
    counts = ("steps", "thoughts", "invalid_actions", "unparsed", "repairs")
    # Steps 1, 4 and 5 have a thought; 4, 5 and 6 were not accepted; 2 could not be read, and counts as nothing else.
    assert [said[name] for name in counts] == [6, 3, 3, 1, 3]
    assert said["repair_kinds"] == {"code_fence": 2, "extra_actions": 1}
    assert said["invalid_kinds"] == {"absent": 1, "no_effect": 1}


def test_a_row_sums_what_all_roles_took_and_keeps_it_by_role_where_a_model_was_asked() -> None:
    said = row()
    sums = ("calls", "prompt_tokens", "completion_tokens", "cached_tokens", "cost")
    assert [said[name] for name in sums] == [8, 800, 100, 300, 0.75]
    assert (said["prompt_characters"], said["repeated_characters"]) == (3200, 1800)
    assert said["reflection_tokens"] == 240
    assert list(said["spent"]) == ["actor", "reflector"]
    assert said["spent"]["actor"]["prompt_tokens"] == 600


def test_what_any_role_does_not_know_is_unknown_in_all() -> None:
    said = row(actor=ACTOR, reflector=Spent(1, 10, None, None, None))
    assert (said["prompt_tokens"], said["completion_tokens"], said["cost"]) == (610, None, None)
    assert said["reflection_tokens"] is None


def test_rare_counts_stand_there_only_where_they_are_not_0() -> None:
    said = row()
    assert {name: said[name] for name in RARE if name in said} == {
        "reasoning_tokens": 7,
        "asked_again": 1,
        "lost_calls": 1,
    }
    assert not set(RARE) & set(said["spent"]["actor"])
    assert not set(RARE) & set(row(actor=ACTOR))


def test_a_row_says_what_was_made_of_a_failure() -> None:
    said = row()
    assert (said["reflected"], said["reflection"], said["reflection_data"]) == (
        True,
        "It is not 1.",
        {"lesson": "It is not 1."},
    )
    names = ("kind", "audit", "repairs", "attempts", "kept")
    assert [said[f"reflection_{name}"] for name in names] == [
        "reflexion",
        ["too_long"],
        ["run_on"],
        2,
        False,
    ]
    assert said["error_class"] == "failure:other"
    nothing = row(None)
    assert (nothing["reflected"], nothing["reflection"]) == (False, None)
    told = {name for name in nothing if name.startswith(("reflection_", "error_class"))}
    assert told == {"reflection_tokens", "reflection_data"}


def test_a_row_says_what_was_shown() -> None:
    said = row()
    assert (said["memory_shown"], said["memory"], said["memory_ids"]) == (1, ["It is not 0."], ["n3#1"])


def test_every_key_of_a_row_is_explained_beside_the_results() -> None:
    explained = (Path(__file__).parents[2] / "results" / "README.md").read_text(encoding="utf-8")
    failed = error_row(WHERE, "down", (), {}, "Traceback")
    keys = {*row(), *failed, *row()["trajectory"][2]}
    assert {key for key in keys if f"`{key}`" not in explained} == set()


def test_a_row_is_json_and_a_trial_can_be_made_of_it_again() -> None:
    said = json.loads(json.dumps(row()))
    assert read_trajectory(said, task(3)) == played()
    assert read_trajectory(said, task(3)).digest == said["digest"]
    assert read_spent(said, ("actor", "evaluator", "reflector")) == {"actor": ACTOR, "reflector": REFLECTOR}
    assert read_spent(said, ("actor",)) == {"actor": ACTOR}


def test_a_step_without_reasoning_has_no_key_for_it() -> None:
    steps = row()["trajectory"]
    assert ["reasoning" in step for step in steps] == [False, False, True, False, False, False]


def test_a_trial_that_infrastructure_ended_says_nothing_about_the_agent() -> None:
    said = error_row(WHERE, "down", ("It is not 0.",), {"actor": ACTOR}, "Traceback …")
    assert (said["outcome"], said["success"], said["passed"], said["error"]) == ("error", None, False, "down")
    assert (said["trial"], said["memory"], said["memory_shown"]) == (2, ["It is not 0."], 1)
    assert (said["calls"], said["cost"], said["result"]) == (6, 0.25, {})
    assert said["traceback"] == "Traceback …"
    assert not {"steps", "digest", "trajectory", "verdict"} & set(said)


def test_an_error_stands_on_one_line_of_at_most_a_thousand_characters() -> None:
    said = error_row(WHERE, "first\n  second\t" + "x" * 2000, (), {}, None)
    assert said["error"] == "first second " + "x" * 987


def test_a_short_line_has_all_but_what_only_a_reader_of_trajectories_needs() -> None:
    whole = row()
    short = brief(whole)
    # Errors alone have a traceback, and trials that are settled after their verdict the other two.
    assert set(whole) - set(short) == set(BULKY) - {"traceback", "lines", "ended"}
    assert all(short[key] == whole[key] for key in short)
    assert "traceback" not in brief(error_row(WHERE, "down", (), {}, "Traceback"))


def test_costs_add_up_to_ten_decimals() -> None:
    spent = Spent()
    for _ in range(3):
        spent.add(Reply("1", Usage(1, 1, 0), cost=0.1), 4, 0)
    # 0.1 + 0.1 + 0.1 is 0.30000000000000004 in binary.
    assert spent.cost == 0.3


@pytest.mark.parametrize(("one", "other"), [(1, None), (None, 1), (None, None)])
def test_the_sum_of_two_roles_is_unknown_where_one_is(one: int | None, other: int | None) -> None:
    both = Spent(1, cached_tokens=one) + Spent(2, cached_tokens=other)
    assert (both.calls, both.cached_tokens) == (3, None)
