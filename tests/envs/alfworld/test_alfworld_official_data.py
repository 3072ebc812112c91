"""The official data: what of it can be played, what is taken of it, and what is wrong with a folder that has none."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld.generator import GAME_FILE, write
from reflex_bench.envs.alfworld.official.data import load_official
from reflex_bench.envs.alfworld.official.inventory import inventory
from reflex_bench.envs.alfworld.splits import load_procedural, select
from reflex_bench.envs.sampling import Sampling

REAL = Path(__file__).parents[4] / "shared" / "data" / "alfworld_official"
real_games = pytest.mark.skipif(
    not REAL.is_dir(), reason="needs official games, which are no part of the project"
)


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


@real_games
def test_a_sample_of_real_games_has_each_type_in_proportion() -> None:
    split = load_official("valid_unseen", REAL / "current")
    sizes = Counter(task.type for task in split.tasks)
    taken = select(split, 20)
    for kind, count in Counter(task.type for task in taken.tasks).items():
        assert abs(count - 20 * sizes[kind] / len(split.tasks)) < 1
    # The first by id are all of one or two types, which is why they stand for nothing.
    assert len({task.type for task in select(split, 20, sampling="first").tasks}) <= 2
    assert (
        taken.notes[-1]
        == f"20 of {len(split.tasks)} tasks were taken, in proportion to type, drawn by seed 0"
    )


def refusal(data: Path, name: str = "valid_unseen") -> str:
    with pytest.raises(UsageError) as error:
        load_official(name, data)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_a_folder_a_level_too_high_or_too_low_is_told_the_right_one(official: Path) -> None:
    trial = next(official.rglob(GAME_FILE)).parent
    split = official / "json_2.1.1" / "valid_unseen"
    assert f"{official.parent} is a level too high; give --data {official}" in refusal(official.parent)
    for low in (split, trial.parent, trial):
        right = official / "json_2.1.1"
        assert f"{low} is a level too low; give --data {right}" in refusal(low)
        assert load_official("valid_unseen", right).tasks


def test_a_folder_with_another_split_says_which(official: Path) -> None:
    assert f"{official} has only valid_unseen; `reflex data fetch alfworld`" in refusal(official, "train")


def test_what_is_no_folder_of_games_is_called_what_it_is(tmp_path: Path) -> None:
    missing, link, archive, file, empty = (tmp_path / name for name in ("no", "link", "a.zip", "f", "empty"))
    link.symlink_to(missing)
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("json_2.1.1/valid_unseen/x", "")
    file.write_text("x")
    empty.mkdir()
    assert f"{missing} does not exist; `reflex data fetch alfworld`" in refusal(missing)
    assert f"{link} is a link to something that does not exist" in refusal(link)
    assert f"{archive} is a zip archive; unpack it" in refusal(archive)
    assert f"{file} is a file; give the folder that holds json_2.1.1" in refusal(file)
    assert f"{empty} holds no games; `reflex data fetch alfworld`" in refusal(empty)


def test_a_split_without_game_files_says_what_it_has_instead(tmp_path: Path) -> None:
    trial = tmp_path / "valid_unseen" / "pick_and_place_simple-Mug-None-Desk-308" / "trial_T1"
    trial.mkdir(parents=True)
    assert "(no game.tw-pddl anywhere in it)" in refusal(tmp_path)
    (trial / "traj_data.json").write_text("{}")
    assert "no playable game" in refusal(tmp_path)
    assert "(1 without game.tw-pddl)" in refusal(tmp_path)


def test_what_can_be_played_is_counted_and_the_rest_is_named(official: Path, cache: Path) -> None:
    load_procedural(7, 20)
    unseen, seen, train, generated = inventory(official)
    assert (unseen.playable, seen.playable, train.playable, generated.playable) == (9, 0, 0, 20)
    assert unseen.text.startswith("valid_unseen: 9 of 134 playable games, ")
    assert "; 2 more with movable receptacles or slices" in unseen.text
    assert (
        seen.text == f"valid_seen: not in {official}; `reflex data fetch alfworld` downloads the games there"
    )
    size = sum(path.stat().st_size for path in (cache / "alfworld").rglob("*") if path.is_file())
    assert generated.text.startswith(f"procedural:seed=7: 20 games, {size / 1e6:.1f} MB in {cache}")


def test_where_there_is_no_official_game_one_line_says_so(tmp_path: Path) -> None:
    (line,) = inventory(tmp_path / "none")
    assert line.playable == 0
    assert line.text.startswith(f"official games: not here; {tmp_path / 'none'} does not exist; ")


def test_a_dangling_link_in_a_folder_of_games_does_no_harm(official: Path) -> None:
    games = official / "json_2.1.1" / "valid_unseen"
    (games / "gone").symlink_to(official / "nowhere")
    (next(games.rglob(GAME_FILE)).parent / "also gone.json").symlink_to(official / "nowhere")
    broken = games / "pick_and_place_simple-Mug-None-Desk-308" / "trial_T1"
    broken.mkdir(parents=True)
    (broken / GAME_FILE).symlink_to(official / "nowhere")
    assert next(inventory(official)).playable == 9
    assert len(load_official("valid_unseen", official).tasks) == 9


@real_games
@pytest.mark.parametrize(("form", "games"), [("current", 67), ("release_2.1.1", 12)])
def test_the_real_games_at_hand_are_counted(form: str, games: int) -> None:
    assert next(inventory(REAL / form)).playable == games
