"""The shipped profiles, environment by environment, beside figures read off the papers and the published code."""

from __future__ import annotations

from typing import Any

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.planning.config import Config
from reflex_bench.harness.planning.plan import make_plan
from reflex_bench.harness.planning.resolving import resolve

# noahshinn/reflexion: alfworld_runs/alfworld_trial.py (`cur_step < 49`, `memory[-3:]`), env_history.py and
# run_reflexion.sh; hotpotqa_runs/agents.py (`max_steps: int = 6`) and fewshots.py (WEBTHINK_SIMPLE6). ReAct:
# hotpotqa.ipynb (`range(1, 8)`).
PUBLISHED = {
    ("paper", "alfworld"): {"max_steps": 30, "cycles": 3, "memory_size": 3, "examples": 2, "trials": 12},
    ("paper", "hotpotqa"): {"max_steps": 7, "cycles": 0, "memory_size": 100, "examples": 6, "trials": 5},
    ("upstream-code", "alfworld"): {
        "max_steps": 49,
        "same_action": True,
        "memory_size": 3,
        "examples": 2,
        "trials": 10,
    },
    ("upstream-code", "hotpotqa"): {
        "max_steps": 6,
        "same_action": False,
        "memory_size": 100,
        "examples": 6,
        "trials": 5,
    },
}


def configured(*sources: str, environment: str) -> Config:
    return resolve(sources, {"environment": {"name": environment}, "tasks": 2})


@pytest.mark.parametrize(("profile", "environment"), PUBLISHED)
def test_a_profile_has_the_published_figures_of_each_environment(profile: str, environment: str) -> None:
    plan = make_plan(configured(profile, environment=environment))
    try:
        reflexion: dict[str, Any] = dict(plan.arms[1].settings)
    finally:
        plan.close()
    expected = PUBLISHED[profile, environment]
    assert {name: reflexion[name] for name in expected} == expected
    assert plan.arms[1].settings["reflector"] == "reflexion"


def test_what_a_profile_says_of_another_environment_does_not_count() -> None:
    assert configured("paper", environment="hotpotqa").environment == {"name": "hotpotqa", "profile": "react"}
    assert configured("paper", environment="alfworld").environment == {"name": "alfworld"}


def test_a_later_source_wins_over_what_a_profile_says_of_an_environment() -> None:
    config = configured("paper", "limits.max_steps=3", environment="hotpotqa")
    assert (config.limits.max_steps, config.limits.cycles) == (3, 0)


def test_settings_by_environment_must_be_mappings() -> None:
    with pytest.raises(UsageError, match="environments: a mapping"):
        configured("environments=alfworld", environment="alfworld")


def test_more_examples_than_there_are_is_one_line_that_says_how_many_there_are() -> None:
    with pytest.raises(UsageError, match="examples=7: hotpotqa has 6 of each type"):
        make_plan(configured("examples=7", environment="hotpotqa"))


def test_tools_in_a_running_text_and_a_published_structure_in_a_chat_are_refused() -> None:
    with pytest.raises(UsageError, match="tools are called in the turns of a chat"):
        make_plan(configured("limits.actions=tools", "endpoint.api=completions", environment="hotpotqa"))
    with pytest.raises(UsageError, match="the published loops send one text"):
        make_plan(configured("layout.structure=published", environment="hotpotqa"))


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ((), (6, "turns")),
        (("examples=0", "layout.instruction=last"), (0, "turns, instruction last")),
        (("examples=[1, 3]", "endpoint.api=completions"), ("1,3", "text")),
        (("upstream-code",), (6, "published text")),
    ],
)
def test_how_the_episode_is_shown_stands_on_the_row(
    settings: tuple[str, ...], shown: tuple[object, str]
) -> None:
    plan = make_plan(configured(*settings, environment="hotpotqa"))
    plan.close()
    assert (plan.arms[0].settings["examples"], plan.arms[0].settings["layout"]) == shown
