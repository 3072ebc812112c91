"""What trials took and were like: the rows of the table beneath the rates."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from synthetic_runs import REFLEXION, trial, write_run

from reflex_bench.harness.reporting.measures import pass_at_k
from reflex_bench.harness.reporting.tables.pass_at_k import pass_at_k_table
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.storage.run_data import Run, read_run


def one_arm(path: Path, rows: list[dict[str, Any]], tasks: int = 2, **info: Any) -> Run:
    return read_run(write_run(path / "run", rows, **{"arms": {"react": {}}, "tasks": tasks, **info}))


def test_tokens_a_solved_task_are_undefined_where_nothing_was_solved_and_unknown_where_they_are_not_told(
    tmp_path: Path,
) -> None:
    def shown(path: Path, *rows: dict[str, Any]) -> str:
        text = render(pass_at_k_table(one_arm(path, list(rows), tasks=1, trials=1)), width=80)
        found = re.search(r"^Tokens a solved task +(.+)$", text, re.MULTILINE)
        return found[1] if found else "no such row"

    assert shown(tmp_path / "a", trial("react", "a", 1)) == "none solved"
    assert shown(tmp_path / "b", trial("react", "a", 1, prompt_tokens=None)) == "none solved"
    assert shown(tmp_path / "c", trial("react", "a", 1, "success", prompt_tokens=None)) == "unknown"
    assert shown(tmp_path / "d", trial("react", "a", 1, "success")) == "1.10k"


def test_reflections_are_those_that_were_kept_and_what_was_only_written_stands_apart(tmp_path: Path) -> None:
    def reflected(task: str, **keys: Any) -> dict[str, Any]:
        return trial("reflexion", task, 1, reflected=True, reflection_kind="reflexion", **keys)

    rows = [
        reflected("a", reflection_attempts=1, reflection_kept=True, reflection_audit=[]),
        reflected("b", reflection_attempts=2, reflection_kept=False, reflection_audit=["actionable"]),
        # The model could not even be asked.
        reflected("c", reflection_attempts=0, reflection_kept=False, reflection_audit=[]),
        trial("reflexion", "d", 1),
    ]
    run = one_arm(tmp_path, rows, tasks=4, trials=2, arms={"reflexion": REFLEXION})
    frame = pass_at_k(run)
    assert (frame["reflections"][0], frame["reflections_written"][0]) == (1, 2)
    text = render(pass_at_k_table(run), width=80)
    assert re.search(r"^Reflections +1$", text, re.MULTILINE)
    assert re.search(r"^… written, some not kept +2$", text, re.MULTILINE)


def test_an_attempt_that_is_remembered_is_no_reflection_and_keeps_none_that_the_audit_threw_out(
    tmp_path: Path,
) -> None:
    kind = "last_attempt_and_reflexion"
    keys = {"reflected": True, "reflection_kind": kind, "reflection_attempts": 2, "reflection_kept": True}
    rows = [
        trial("both", "a", 1, **keys, reflection_audit=[]),
        trial("both", "b", 1, **keys, reflection_audit=["not_repeated"]),
        trial(
            "last",
            "a",
            1,
            reflected=True,
            reflection_kind="last_attempt",
            reflection_attempts=0,
            reflection_kept=True,
        ),
    ]
    arms = {"both": {"reflector": kind, "audit": "enforce"}, "last": {"reflector": "last_attempt"}}
    frame = pass_at_k(one_arm(tmp_path, rows, tasks=2, trials=2, arms=arms)).set_index("arm")
    assert frame.loc["both", ["reflections", "reflections_written"]].tolist() == [1, 2]
    assert frame.loc["last", ["reflections", "reflections_written"]].tolist() == [0, 0]


def test_invalid_actions_are_told_apart_by_why_they_were_not_accepted(tmp_path: Path) -> None:
    kinds = {"absent": 1, "no_effect": 3}
    rows = [
        trial("react", "a", 1, invalid_actions=4, invalid_kinds=kinds),
        trial("react", "b", 1, invalid_actions=1, invalid_kinds={"unparsed": 1}, unparsed=2),
    ]
    run = one_arm(tmp_path, rows, trials=1)
    text = render(pass_at_k_table(run), width=80)
    # Of twenty steps.
    for label, share in (
        ("Invalid actions", "25.0%"),
        ("… of no form that the environment has", "5.0%"),
        ("… names something that is not there", "5.0%"),
        ("… known, but without effect now", "15.0%"),
        ("Unparsed replies", "10.0%"),
    ):
        assert re.search(rf"^{label} +{share}$", text, re.MULTILINE), label
    assert pass_at_k(run)["invalid.no_effect_rate"][0] == 0.15


def test_reasons_of_an_environment_of_its_own_stand_under_their_names_and_old_runs_have_none(
    tmp_path: Path,
) -> None:
    row = trial("react", "a", 1, invalid_actions=2, invalid_kinds={"too_heavy": 2})
    text = render(pass_at_k_table(one_arm(tmp_path / "a", [row], tasks=1, trials=1)), width=80)
    assert re.search(r"^… too heavy +20.0%$", text, re.MULTILINE)
    text = render(
        pass_at_k_table(one_arm(tmp_path / "b", [trial("react", "a", 1)], tasks=1, trials=1)), width=80
    )
    assert "without effect" not in text


def test_path_efficiency_is_of_won_trials_with_a_known_plan(tmp_path: Path) -> None:
    rows = [
        trial("react", "a", 1, "success", steps=10, result={"plan_length": 5}),
        trial("react", "b", 1, "success", steps=8, result={"plan_length": 8}),
        trial("react", "c", 1, "success", result={}),
        trial("react", "d", 1, steps=30, result={"plan_length": 3}),
    ]
    frame = pass_at_k(one_arm(tmp_path, rows, tasks=4, trials=1))
    assert frame["path_efficiency"][0] == pytest.approx((0.5 + 1.0) / 2)
