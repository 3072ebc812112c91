"""The named sets of tasks."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from reflex_bench.envs.alfworld.fetch import describe
from reflex_bench.envs.alfworld.generator import GAME_FILE, write
from reflex_bench.envs.alfworld.splits import (
    games_needed,
    load_official,
    load_procedural,
    only,
    parse_name,
    select,
)
from reflex_bench.envs.base import Split, Task
from reflex_bench.envs.sampling import Sampling
from reflex_bench.harness.errors import UsageError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("REFLEX_BENCH_CACHE", str(folder))
    return folder


@pytest.fixture
def official(tmp_path: Path) -> Path:
    """Data in the official layout: nine playable games and one each of everything that is skipped."""
    root = tmp_path / "data"
    split = root / "json_2.1.1" / "valid_unseen"
    entries = write(11, 12, split)
    (split / "generated.json").unlink()
    first, second, third = (split / entry.id for entry in entries[:3])
    for source, name in (
        (first, "pick_and_place_with_movable_recep-Pen-Mug-Desk-308/trial_T1"),
        (first, "pick_heat_then_place_in_recep-AppleSliced-None-Fridge-10/trial_T1"),
    ):
        shutil.copytree(source, split / name)
    game = json.loads((first / GAME_FILE).read_bytes())
    (first / GAME_FILE).write_text(json.dumps({**game, "solvable": False}))
    (second / GAME_FILE).unlink()
    (third / GAME_FILE).write_text('{"grammar": ')
    return root


@pytest.mark.parametrize(
    ("name", "seed", "meant"),
    [
        ("procedural", None, ("procedural", 0)),
        ("procedural", 7, ("procedural", 7)),
        ("procedural:seed=7", None, ("procedural", 7)),
        ("procedural:seed=7", 7, ("procedural", 7)),
        ("valid_unseen", None, ("valid_unseen", 0)),
    ],
)
def test_names_of_splits(name: str, seed: int | None, meant: tuple[str, int]) -> None:
    assert parse_name(name, seed) == meant


@pytest.mark.parametrize(
    ("name", "seed", "message"),
    [
        ("valid_unsen", None, "did you mean 'valid_unseen'"),
        ("procedural:7", None, "write it like procedural:seed=7"),
        ("procedural:seed=x", None, "write it like procedural:seed=7"),
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


def test_official_data_is_sorted_and_what_cannot_be_played_is_named(official: Path) -> None:
    split = load_official("valid_unseen", official)
    assert len(split.tasks) == 9
    assert [task.id for task in split.tasks] == sorted(task.id for task in split.tasks)
    assert split.notes[0] == "valid_unseen has 9 playable games here; the published split has 134"
    notes = "\n".join(split.notes)
    assert "skipped 2 games with movable receptacles or slices" in notes
    assert "pick_and_place_with_movable_recep-Pen-Mug-Desk-308/trial_T1" in notes
    assert "skipped 1 game not known to be solvable" in notes
    assert "skipped 1 game without game.tw-pddl" in notes
    assert "skipped 1 game with an unreadable game.tw-pddl" in notes
    assert load_official("valid_unseen", official / "json_2.1.1") == split


def test_official_tasks_say_what_the_game_file_says(official: Path) -> None:
    for task in load_official("valid_unseen", official).tasks:
        content = task.data.path.read_bytes()
        assert f'"Your task is to: {task.text}"' in json.loads(content)["grammar"]
        assert task.fingerprint == hashlib.sha256(content).hexdigest()
        assert task.id.startswith(
            {"put": "pick_and", "examine": "look", "puttwo": "pick_two"}.get(task.type, "pick_")
        )


@pytest.mark.parametrize("sampling", ["first", "legacy"])
def test_official_tasks_can_be_selected_from_the_front(official: Path, sampling: Sampling) -> None:
    split = load_official("valid_unseen", official)
    assert select(split, 4, 0, sampling).tasks == split.tasks[:4]


def test_missing_data_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reflex data fetch alfworld"):
        load_official("valid_seen", tmp_path)


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


def test_what_data_there_is_is_described(official: Path, cache: Path) -> None:
    load_procedural(7, 20)
    unseen, seen, train, generated = describe(official)
    size = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
    assert unseen.startswith("valid_unseen: 13 of 134 games, ")
    assert seen.startswith("valid_seen: not here (140 games)")
    assert train.startswith("train: not here (3,553 games)")
    assert generated.startswith(f"procedural:seed=7: 20 games, {size / 1e6:.1f} MB in {cache}")
