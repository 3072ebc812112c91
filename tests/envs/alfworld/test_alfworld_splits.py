"""The named sets of tasks."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld.generator import Recipe
from reflex_bench.envs.alfworld.splits import (
    games_needed,
    load_procedural,
    only,
    parse_name,
    select,
)
from reflex_bench.envs.base import Split, Task


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("REFLEX_BENCH_CACHE", str(folder))
    return folder


@pytest.mark.parametrize(
    ("name", "seed", "meant"),
    [
        ("procedural", None, Recipe(seed=0)),
        ("procedural", 7, Recipe(seed=7)),
        ("procedural:seed=7", None, Recipe(seed=7)),
        ("procedural:seed=7", 7, Recipe(seed=7)),
        ("procedural:generator=1", None, Recipe(seed=0, generator=1)),
        ("procedural:copies=5,hidden=0.4", None, Recipe(hidden=0.4, copies=5)),
        ("procedural:hidden=.4, copies=5,seed=3", None, Recipe(seed=3, hidden=0.4, copies=5)),
    ],
)
def test_names_of_splits(name: str, seed: int | None, meant: Recipe) -> None:
    assert parse_name(name, seed) == ("procedural", meant)


def test_an_official_split_is_named_by_its_name_alone() -> None:
    assert parse_name("valid_unseen")[0] == "valid_unseen"


def test_a_recipe_has_one_name_whatever_the_order_and_a_folder_of_its_own(cache: Path) -> None:
    split = load_procedural(parse_name("procedural:copies=5,hidden=0.40,seed=3")[1], 6)
    assert split.name == "procedural:seed=3,hidden=0.4,copies=5"
    plain = load_procedural(3, 6)
    assert plain.name == "procedural:seed=3"
    first = load_procedural(parse_name("procedural:generator=1,seed=3")[1], 6)
    assert first.name == "procedural:generator=1,seed=3"
    assert len({each.fingerprint for each in (split, plain, first)}) == 3
    assert not {task.id for task in split.tasks} & {task.id for task in plain.tasks}
    assert len(list((cache / "alfworld").iterdir())) == 3


@pytest.mark.parametrize(
    ("name", "seed", "message"),
    [
        ("valid_unsen", None, "did you mean 'valid_unseen'"),
        ("procedural:7", None, "setting of the procedural split '7'"),
        ("procedural:", None, "write it like procedural:seed=7"),
        ("procedural:seed", None, "write it like procedural:seed=7"),
        ("procedural:seed=x", None, "must be a whole number from 0"),
        ("procedural:hiden=0.4", None, "did you mean 'hidden'"),
        ("procedural:hidden=1.2", None, "must be a number from 0 to 1"),
        ("procedural:hidden=nan", None, "must be a number from 0 to 1"),
        ("procedural:copies=10", None, "must be a whole number from 1 to 9"),
        ("procedural:copies=0", None, "must be a whole number from 1 to 9"),
        ("procedural:generator=3", None, "must be a whole number from 1 to 2"),
        ("procedural:generator=1,copies=5", None, "generator 1 has no setting 'copies'"),
        ("procedural:seed=7,seed=7", None, "given twice"),
        ("procedural:seed=7", 8, "give one of the two"),
        ("train:seed=7", None, "takes a seed"),
        ("train", 7, "takes a seed"),
    ],
)
def test_names_of_no_split(name: str, seed: int | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_name(name, seed)


def test_the_procedural_split_is_sorted_cached_and_fingerprinted(cache: Path) -> None:
    split = load_procedural(7, 20)
    assert split.name == "procedural:seed=7"
    assert [task.id for task in split.tasks] == sorted(task.id for task in split.tasks)
    task = split.tasks[4]
    assert task.data.path.is_relative_to(cache)
    content = task.data.path.read_bytes()
    assert task.fingerprint == hashlib.sha256(content).hexdigest()
    assert task.data.steps == len(json.loads(content)["walkthrough"])
    written = task.data.path.stat().st_mtime_ns
    assert load_procedural(7, 20) == split
    assert task.data.path.stat().st_mtime_ns == written


def test_a_few_procedural_tasks_are_of_all_types_and_the_same_from_a_larger_split() -> None:
    split = load_procedural(7, 60)
    ten = select(split, 10)
    # The official mix times 10/134 is 1.8 put, 2.3 clean, 1.7 heat, 1.6 cool, 1.3 examine and 1.3 put-two.
    counted = Counter(task.type for task in ten.tasks)
    assert counted == {"put": 2, "clean": 2, "heat": 2, "cool": 2, "examine": 1, "puttwo": 1}
    assert [task.id for task in ten.tasks] == sorted(task.id for task in ten.tasks)
    assert ten.tasks == load_procedural(7, 10).tasks
    assert select(split, None) is split


def test_more_tasks_than_there_are_is_an_error() -> None:
    with pytest.raises(UsageError, match="cannot take 11 tasks; procedural:seed=7 has 10"):
        select(load_procedural(7, 10), 11)


@pytest.mark.parametrize(
    ("tasks", "kind", "games"),
    [(None, None, 134), (10, None, 134), (500, None, 500), (17, "puttwo", 134), (18, "puttwo", 268)],
)
def test_enough_games_are_made_for_the_tasks_wanted(tasks: int | None, kind: str | None, games: int) -> None:
    assert games_needed(tasks, kind) == games


@pytest.fixture
def split() -> Split:
    return load_procedural(7, 20)


def test_tasks_are_found_by_id_by_part_of_it_and_by_type(split: Split) -> None:
    task = split.tasks[3]
    assert only(split, [task.id]).tasks == (task,)
    assert only(split, [task.id.split("/")[1]]).tasks == (task,)
    assert only(split, [split.tasks[5].id, task.id]).tasks == (task, split.tasks[5])
    assert {task.type for task in only(split, task_type="heat").tasks} == {"heat"}


def test_unknown_tasks_and_types_are_refused_with_the_nearest(split: Split) -> None:
    task = split.tasks[3]
    with pytest.raises(UsageError, match=f"did you mean '{task.id}'"):
        only(split, [task.id + "0"])
    with pytest.raises(UsageError, match="did you mean 'examine'"):
        only(split, task_type="exmine")


def test_a_part_of_an_id_that_fits_several_tasks_is_refused() -> None:
    tasks = tuple(Task(f"pick-Pen/trial_{number}", "put", "", "") for number in (1, 2))
    with pytest.raises(UsageError, match="fits 2 tasks"):
        only(Split("two", tasks), ["pick-Pen"])
