"""What `--data` names is played, or refused."""

from __future__ import annotations

import json

import pytest
from reading import rows


@pytest.fixture(scope="module")
def games(reflex, tmp_path_factory):
    folder = tmp_path_factory.mktemp("given") / "gen"
    done = reflex("data", "generate", "alfworld", "--seed", 7, "--tasks", 6, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


def ids_in(folder):
    return sorted(path.parent.relative_to(folder).as_posix() for path in folder.rglob("game.tw-pddl"))


def test_the_games_that_data_generate_wrote_are_the_ones_that_are_played(reflex, games, tmp_path):
    done = reflex(
        *("bench", "alfworld", "--data", "gen", "--trials", 1, "--arms", "react", "-q", "--run-id", "r"),
        *("--results", tmp_path),
        cwd=games.parent,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(row["task"] for row in rows(tmp_path / "r" / "trials.jsonl")) == ids_in(games)
    split = json.loads((tmp_path / "r" / "run.json").read_text())["split"]
    assert (split["name"], split["tasks"]) == ("procedural:seed=7", 6)
    # From another folder, too.
    assert reflex("resume", tmp_path / "r", "-q", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("split", [(), ("--split", "procedural"), ("--split", "procedural:seed=7")])
def test_a_split_that_says_the_same_is_taken(reflex, games, split):
    done = reflex("bench", "alfworld", "--data", games, *split, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "procedural:seed=7: 6 tasks" in done.stdout


def test_official_games_are_played_without_a_split_where_there_is_one_alone(reflex, games, tmp_path):
    place = tmp_path / "json_2.1.1"
    place.mkdir()
    (place / "valid_seen").symlink_to(games)
    done = reflex("bench", "alfworld", "--data", tmp_path, "--dry-run")
    assert "split        valid_seen: 6 tasks" in done.stdout, done.stderr
    (place / "valid_unseen").symlink_to(games)
    done = reflex("bench", "alfworld", "--data", tmp_path, "--dry-run")
    assert done.returncode == 2
    assert "holds valid_unseen, valid_seen; say which with --split" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("alfworld", "--data", "/nonexistent"), "/nonexistent does not exist"),
        (("alfworld", "--data", "gen", "--split", "valid_unseen"), "holds the games procedural:seed=7, not"),
        (("alfworld", "--data", "gen", "--split", "procedural:seed=8"), "not procedural:seed=8"),
        (("alfworld", "--data", "gen", "-c", "environment.seed=8"), "not procedural:seed=8"),
        (("alfworld", "--data", "."), "is a level too high; give --data"),
        (("alfworld", "--data", "gen", "--tasks", 7), "6"),
        (("hotpotqa", "--data", "q.json", "--split", "procedural"), "exclude one another"),
        (("hotpotqa", "--data", "q.json", "-c", "environment.seed=8"), "exclude one another"),
        (("hotpotqa", "--data", "gen"), "gen is a folder; give a file"),
        (("hotpotqa", "--offline"), "--offline goes with --corpus wikipedia"),
    ],
)
def test_data_that_cannot_be_played_is_refused_in_one_line(reflex, games, words, told):
    done = reflex("bench", *words, "--dry-run", cwd=games.parent)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_game_that_was_changed_after_it_was_written_is_refused(reflex, tmp_path):
    folder = tmp_path / "gen"
    assert reflex("data", "generate", "alfworld", "--tasks", 1, "--out", folder).returncode == 0
    game = next(folder.rglob("game.tw-pddl"))
    game.write_bytes(game.read_bytes() + b" ")
    done = reflex("bench", "alfworld", "--data", folder, "--dry-run")
    assert done.returncode == 2
    assert "incomplete or changed" in done.stderr


def test_data_clean_shows_the_cache_and_its_size_and_clears_it(reflex, tmp_path):
    cache = {"REFLEX_BENCH_CACHE": str(tmp_path / "cache")}
    assert reflex("bench", "alfworld", "--dry-run", **cache).returncode == 0
    snapshot = tmp_path / "cache" / "hotpotqa" / "wikipedia.jsonl"
    snapshot.parent.mkdir(exist_ok=True)
    snapshot.write_text("{}\n")
    (games,) = (tmp_path / "cache" / "alfworld").iterdir()
    size = sum(path.stat().st_size for path in games.rglob("*") if path.is_file())
    shown = reflex("data", "clean", **cache).stdout
    assert f"{size / 1e6:9.1f} MB  alfworld/{games.name}" in shown
    assert games.exists()
    cleared = reflex("data", "clean", "--yes", **cache)
    assert cleared.returncode == 0, cleared.stderr
    assert f"{size / 1e6:.1f} MB deleted" in cleared.stdout
    assert not games.exists()
    assert snapshot.exists()
    assert reflex("data", "clean", "--yes", "--all", **cache).returncode == 0
    assert not snapshot.exists()
