"""ALFWorld as the harness sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reflex_bench.core.errors import EnvironmentFailure, UsageError
from reflex_bench.envs.alfworld.environment import create
from reflex_bench.envs.alfworld.generator import GAME_FILE, write
from reflex_bench.envs.base import Environment, StepResult, Task


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFLEX_BENCH_CACHE", str(tmp_path_factory.getbasetemp() / "alfworld-cache"))


@pytest.fixture
def native() -> Iterator[Environment]:
    environment = create({"engine": "native"})
    yield environment
    environment.close()


def walkthrough(task: Task) -> list[str]:
    plan: list[str] = json.loads(task.data.path.read_bytes())["walkthrough"]
    return plan


def play(environment: Environment, task: Task, commands: list[str]) -> tuple[list[StepResult], Any]:
    episode = environment.start(task)
    opening = StepResult(episode.reset())
    steps = [opening, *map(episode.step, commands)]
    result = episode.result()
    episode.close()
    return steps, result


def test_an_episode_shows_the_task_takes_commands_and_is_won(native: Environment) -> None:
    task = native.load().tasks[0]
    plan = walkthrough(task)
    steps, result = play(native, task, ["dance", *plan])
    assert steps[0].observation.startswith("You are in the middle of a room.")
    assert steps[0].observation.endswith(f"\n\nYour task is to: {task.text}")
    assert steps[1] == StepResult("Nothing happens.", valid=False, reason="unparsed")
    assert [step.won for step in steps[2:]] == [False] * (len(plan) - 1) + [True]
    assert [step.done for step in steps] == [step.won for step in steps]
    assert all(step.valid for step in steps[2:])
    assert result == {"plan_length": len(plan), "translated": 0, "engine": "native"}


def test_episodes_of_a_task_know_nothing_of_one_another(native: Environment) -> None:
    task = next(task for task in native.load().tasks if task.type == "examine")
    first, second = native.start(task), native.start(task)
    opening = first.reset()
    for command in walkthrough(task):
        first.step(command)
    assert "You are carrying" in first.step("inventory").observation
    assert second.reset() == opening
    assert second.step("inventory") == StepResult("You are not carrying anything.")


def test_an_episode_is_started_once_and_not_played_before(native: Environment) -> None:
    episode = native.start(native.load().tasks[0])
    with pytest.raises(EnvironmentFailure, match="not started"):
        episode.step("look")
    episode.reset()
    with pytest.raises(EnvironmentFailure, match="started once"):
        episode.reset()
    episode.close()
    episode.close()
    with pytest.raises(EnvironmentFailure, match="closed"):
        episode.step("look")


def test_the_old_way_of_putting_is_understood_and_counted(native: Environment) -> None:
    task = next(task for task in native.load().tasks if task.type == "clean")
    commands = [
        c.replace("move ", "put ").replace(" to ", " in ") if c[:4] == "move" else c
        for c in walkthrough(task)
    ]
    steps, result = play(native, task, commands)
    assert steps[-1].won
    assert "You move the" in steps[-1].observation
    assert result["translated"] == 1


def as_data_2_1_1(game: dict[str, Any]) -> dict[str, Any]:
    """A game as it was before alfworld 0.4.0: the replacements of its scripts/patch_tw-pddl.py, undone."""
    grammar = game["grammar"].split("action help {")[0]
    for new, old in (
        ("You arrive at {r.name}.", "You arrive at {lend.name}."),
        ("move {o} to {r}", "put {o} in/on {r}"),
        ("You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."),
    ):
        assert new in grammar
        grammar = grammar.replace(new, old)
    domain = game["pddl_domain"].rsplit("(:action help", 1)[0] + ")"
    return {**game, "grammar": grammar, "pddl_domain": domain}


@pytest.mark.official
def test_old_and_new_games_read_alike_in_both_engines(tmp_path: Path) -> None:
    split = tmp_path / "json_2.1.1" / "valid_seen"
    entry = next(entry for entry in write(0, 5, split) if entry.type == "put")
    path = split / entry.id / GAME_FILE
    new = create({"engine": "native", "split": "valid_seen", "data": tmp_path, "task_ids": (entry.id,)})
    task = new.load().tasks[0]
    commands = [*walkthrough(task)[:-1], "inventory", "look", walkthrough(task)[-1]]
    steps, result = play(new, task, commands)
    assert steps[-1].won
    path.write_text(json.dumps(as_data_2_1_1(json.loads(path.read_bytes()))))
    for engine in ("native", "official"):
        old = create(
            {"engine": engine, "split": "valid_seen", "data": tmp_path, "task_ids": (entry.id,), "workers": 1}
        )
        old_steps, old_result = play(old, old.load().tasks[0], commands)
        old.close()
        assert old_steps == steps
        assert old_result == {**result, "translated": 1, "engine": engine}


def test_selection_by_type_and_number_grows_the_procedural_split() -> None:
    environment = create({"split": "procedural:seed=7", "task_type": "puttwo"})
    split = environment.load(20)
    assert {task.type for task in split.tasks} == {"puttwo"}
    assert len(split.tasks) == 20
    environment.close()


def test_a_replaced_game_file_is_a_failure_and_no_observation(native: Environment, tmp_path: Path) -> None:
    task = native.load().tasks[0]
    path = tmp_path / GAME_FILE
    moved = Task(task.id, task.type, task.text, task.fingerprint, type(task.data)(path))
    with pytest.raises(EnvironmentFailure, match="cannot read the game"):
        native.start(moved).reset()
    path.write_text("{}")
    with pytest.raises(EnvironmentFailure, match="cannot read the game"):
        native.start(moved).reset()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splitt": "train"}, "unknown option of the environment 'alfworld': 'splitt'; did you mean 'split'"),
        ({"split": "trian"}, "did you mean 'train'"),
        ({"engine": "fast"}, "environment 'alfworld': option 'engine'"),
        ({"seed": -1}, "environment 'alfworld': option 'seed'"),
        ({"tasks": "many"}, "option of the environment 'alfworld': 'tasks'; did you mean 'task_ids'"),
    ],
)
def test_wrong_options_are_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        create(options)
    assert "\n" not in str(raised.value)


@pytest.mark.official
def test_settings_name_all_that_decides_what_a_game_is() -> None:
    environment = create({"engine": "official"})
    assert set(environment.settings()) == {"engine", "alfworld", "textworld", "generator"}
    assert environment.settings()["engine"] == "official"
    environment.close()


def test_the_environment_brings_its_texts_and_reads_its_actions(native: Environment) -> None:
    assert native.prompts.instruction
    assert native.read_action("go to desk 1", "strict").command == "go to desk 1"
    assert (native.name, native.max_steps, native.feedback) == ("alfworld", 30, "environment")
