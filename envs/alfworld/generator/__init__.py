"""Procedural twin of ALFWorld: any number of games from a seed, and folders of them.

A folder is taken as complete only when its index says so, and its games are checked when they are read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld.generator.first import game as first
from reflex_bench.envs.alfworld.generator.first.game import GeneratedGame
from reflex_bench.envs.alfworld.generator.recipe import VERSION, Recipe
from reflex_bench.envs.alfworld.official.package import package_version

__all__ = [
    "VERSION",
    "Entry",
    "GeneratedGame",
    "Recipe",
    "cached",
    "generate",
    "generate_one",
    "read_folder",
    "read_recipe",
    "recipe_of",
    "write",
]

GAME_FILE = "game.tw-pddl"
TRAJECTORY_FILE = "traj_data.json"
INDEX_FILE = "generated.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a folder's index.

    Attributes:
        id: the game's folder, relative.
        type: `put`, `clean`, …
        text: the task.
        number: of the game, from 0; any first few of the numbers follow the official mix of types.
        steps: length of the recorded walkthrough, an upper bound on the steps needed.
        sha256: of the game file.
    """

    id: str
    type: str
    text: str
    number: int
    steps: int
    sha256: str


def generate(recipe: Recipe | int, count: int) -> Iterator[GeneratedGame]:
    """Yield the first `count` games of a recipe, in the order of their numbers.

    Args:
        recipe: what the games are made from; a whole number is the seed of the present generator.
        count: how many.
    """
    for number in range(count):
        yield generate_one(recipe, number)


def generate_one(recipe: Recipe | int, number: int) -> GeneratedGame:
    """Game `number` (from 0) of a recipe."""
    recipe = _recipe(recipe)
    if recipe.generator == first.VERSION:
        return first.generate_one(recipe.seed, number)
    from reflex_bench.envs.alfworld.generator.second import game as second

    return second.generate_one(recipe, number)


def write(recipe: Recipe | int, count: int, folder: Path) -> tuple[Entry, ...]:
    """Writes games so that a killed writer, or two at once, leave nothing that looks whole and is not.

    Args:
        recipe: of the games; a whole number is the seed of the present generator.
        count: how many.
        folder: made if need be; each game goes to `folder/<id>/`.

    Raises:
        UsageError: the folder holds something else, or cannot be written.
    """
    _claim(folder, _settings(recipe, count))
    return _write_all(recipe, count, folder)


def cached(recipe: Recipe | int, count: int, folder: Path) -> tuple[Entry, ...]:
    """Return the games of a folder that belongs to the cache, written first where they are missing or damaged.

    Raises:
        UsageError: the folder cannot be written.
    """
    return read_recipe(recipe, count, folder) or _write_all(recipe, count, folder)


def read_recipe(recipe: Recipe | int, count: int, folder: Path) -> tuple[Entry, ...] | None:
    """Return the index of a folder that `write` completed with these settings, if its games are unchanged."""
    index = _index(folder)
    if index is None or not _same(index, _settings(recipe, count)):
        return None
    return _unchanged(index, folder)


def recipe_of(folder: Path) -> Recipe | None:
    """Return what the games of a folder that `write` made are made from; None where it is no such folder."""
    index = _index(folder) or {}
    seed, generator = index.get("seed"), index.get("generator")
    if "complete" not in index or not isinstance(seed, int) or not isinstance(generator, int):
        return None
    return Recipe(seed, generator, index.get("hidden"), index.get("copies"))


def read_folder(folder: Path) -> tuple[Entry, ...]:
    """Return the index of a folder that `write` completed, whatever its settings.

    Raises:
        UsageError: it is not complete, or a game is missing or changed.
    """
    entries = _unchanged(_index(folder) or {}, folder)
    if not entries:
        raise UsageError(
            f"{folder}: the generated games are incomplete or changed; write them again with `reflex data generate "
            "alfworld --out` and a new folder"
        )
    return entries


def _unchanged(index: dict[str, Any], folder: Path) -> tuple[Entry, ...] | None:
    """Return the games of an index; None where it is not complete, or a game is missing or changed."""
    if not index.get("complete"):
        return None
    try:
        entries = tuple(Entry(**line) for line in index["games"])
    except (KeyError, TypeError):
        return None
    for entry in entries:
        try:
            content = (folder / entry.id / GAME_FILE).read_bytes()
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest() != entry.sha256:
            return None
    return entries


def replace_file(path: Path, content: bytes) -> None:
    """Writes a whole file or nothing: readers see the old content or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _write_all(recipe: Recipe | int, count: int, folder: Path) -> tuple[Entry, ...]:
    settings = _settings(recipe, count)
    try:
        _write_index(folder, {**settings, "complete": False})
        entries = tuple(
            _write_game(folder, number, game) for number, game in enumerate(generate(recipe, count))
        )
        _write_index(folder, {**settings, "complete": True, "games": [asdict(entry) for entry in entries]})
    except OSError as error:
        raise UsageError(
            f"cannot write games to {folder}: {error.strerror or error}; REFLEX_BENCH_CACHE moves the cache"
        ) from error
    return entries


def _write_index(folder: Path, index: dict[str, Any]) -> None:
    replace_file(folder / INDEX_FILE, (json.dumps(index, indent=1) + "\n").encode())


def _settings(recipe: Recipe | int, count: int) -> dict[str, Any]:
    recipe = _recipe(recipe)
    settings = {
        "generator": recipe.generator,
        "alfworld": package_version(),
        "seed": recipe.seed,
        "count": count,
    }
    # Only where asked for, so that folders of generator 1 are still read.
    hard = {"hidden": recipe.hidden, "copies": recipe.copies} if recipe.generator != first.VERSION else {}
    return settings | hard


def _recipe(recipe: Recipe | int) -> Recipe:
    return Recipe(recipe) if isinstance(recipe, int) else recipe


def _same(index: dict[str, Any], settings: dict[str, Any]) -> bool:
    return all(index.get(key) == value for key, value in settings.items())


def _index(folder: Path) -> dict[str, Any] | None:
    try:
        content = json.loads((folder / INDEX_FILE).read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _claim(folder: Path, settings: dict[str, Any]) -> None:
    """Refuses a folder with anything else in it: the official tools read whatever games they find."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give a folder for the games")
    index = _index(folder)
    if index is None and folder.exists() and any(not item.name.startswith(".") for item in folder.iterdir()):
        raise UsageError(f"{folder} is not empty and no folder of generated games; give a new folder")
    if index is not None and not _same(index, settings):
        raise UsageError(
            f"{folder} holds {index.get('count')} games of seed {index.get('seed')}, generator "
            f"{index.get('generator')}; give a new folder"
        )


def _write_game(folder: Path, number: int, game: GeneratedGame) -> Entry:
    replace_file(folder / game.id / TRAJECTORY_FILE, game.trajectory)
    replace_file(folder / game.id / GAME_FILE, game.game)
    digest = hashlib.sha256(game.game).hexdigest()
    return Entry(game.id, game.type, game.text, number, len(game.walkthrough), digest)
