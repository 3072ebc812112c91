"""Folders of generated games survive killed writers, damage and mistakes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld.generator import GAME_FILE, INDEX_FILE, cached, read_recipe, write


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    entries = write(3, 7, tmp_path / "games")
    assert read_recipe(3, 7, tmp_path / "games") == entries
    assert [entry.number for entry in entries] == list(range(7))
    first = (tmp_path / "games" / entries[0].id / GAME_FILE).read_bytes()
    assert hashlib.sha256(first).hexdigest() == entries[0].sha256
    assert {path.name for path in (tmp_path / "games" / entries[0].id).iterdir()} == {
        GAME_FILE,
        "traj_data.json",
    }


def test_other_settings_are_another_folder(tmp_path: Path) -> None:
    write(3, 7, tmp_path / "games")
    assert read_recipe(3, 8, tmp_path / "games") is None
    assert read_recipe(4, 7, tmp_path / "games") is None
    with pytest.raises(UsageError, match="holds 7 games of seed 3"):
        write(4, 7, tmp_path / "games")


def test_games_are_never_written_among_other_things(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        write(3, 7, tmp_path)
    with pytest.raises(UsageError, match="is a file"):
        write(3, 7, tmp_path / "notes.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_damaged_or_missing_game_is_made_again(tmp_path: Path) -> None:
    entries = cached(3, 7, tmp_path)
    game = tmp_path / entries[2].id / GAME_FILE
    whole = game.read_bytes()
    game.write_bytes(whole[:-1])
    assert read_recipe(3, 7, tmp_path) is None
    assert cached(3, 7, tmp_path) == entries
    assert game.read_bytes() == whole
    game.unlink()
    assert cached(3, 7, tmp_path) == entries
    assert game.read_bytes() == whole


def test_a_damaged_index_is_made_again(tmp_path: Path) -> None:
    entries = cached(3, 7, tmp_path)
    (tmp_path / INDEX_FILE).write_text('{"complete": tr')
    assert read_recipe(3, 7, tmp_path) is None
    assert cached(3, 7, tmp_path) == entries


def test_a_killed_writer_leaves_nothing_that_looks_complete(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    program = (
        "import sys; from pathlib import Path; from reflex_bench.envs.alfworld.generator import write\n"
        "write(3, 3000, Path(sys.argv[1]))"
    )
    writer = subprocess.Popen([sys.executable, "-c", program, str(folder)])
    deadline = time.monotonic() + 60
    while not list(folder.glob(f"*/*/{GAME_FILE}")) and time.monotonic() < deadline:
        time.sleep(0.01)
    writer.kill()
    writer.wait()
    assert list(folder.glob(f"*/*/{GAME_FILE}"))
    assert read_recipe(3, 3000, folder) is None
    for game in folder.glob(f"*/*/{GAME_FILE}"):
        assert game.read_bytes().endswith(b"}\n")  # whole, or not there
