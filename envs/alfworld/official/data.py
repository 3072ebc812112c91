"""Official ALFWorld data: where it lies, what of it can be played, and what is wrong where there is none.

Official counts: 3,553 training, 140 seen and 134 unseen validation games (Shridhar et al., 2021, table 1, and the
data's own README).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld.generator import GAME_FILE, TRAJECTORY_FILE
from reflex_bench.envs.alfworld.generator.goals import SHORT_NAMES
from reflex_bench.envs.base import Split, Task

OFFICIAL_COUNTS = {"valid_unseen": 134, "valid_seen": 140, "train": 3553}
DATA_FOLDER = "json_2.1.1"
"""The folder of the splits, in every version of the official data."""
FETCH = "`reflex data fetch alfworld` downloads the games"

# Bounded, so that a grammar without a closing quotation mark is searched in linear time.
_SENTENCE = re.compile(r'Your task is to: ((?:[^"\\]|\\.){0,1000})"')
_ROOM = re.compile(r"-(\d{1,9})$")
_NAMES_SHOWN = 3
_LEVELS_SEARCHED = 2
"""How far below a folder the games are looked for, to say what is wrong with it: `<split>/<task>/<trial>` has two."""


@dataclass(frozen=True, slots=True)
class GameFile:
    """What the environment needs to open a task.

    Attributes:
        path: the `game.tw-pddl`.
        steps: length of the recorded walkthrough, an upper bound on the steps needed; None where there is none.
        number: of a procedural game, from 0; None for official ones.
    """

    path: Path
    steps: int | None = None
    number: int | None = None


def room_of(task_id: str) -> str | None:
    """Return the floor plan's number, with which the first part of an id ends; None where it has none.

    The 134 games of `valid_unseen` come from 4 of them.
    """
    found = _ROOM.search(task_id.partition("/")[0])
    return found[1] if found else None


def data_folder(data: Path | None = None) -> Path:
    """Return where the official data is looked for.

    The folder given, else `$ALFWORLD_DATA`, else `~/.cache/alfworld`.
    """
    return (data or Path(os.environ.get("ALFWORLD_DATA") or "~/.cache/alfworld")).expanduser()


def find_split(name: str, data: Path | None = None) -> Path:
    """Return the folder of one split of the official data.

    Args:
        name: `valid_unseen`, `valid_seen` or `train`.
        data: the folder that holds `json_2.1.1`, or that folder itself; None: `data_folder()`.

    Raises:
        UsageError: it is not there; the message says what is wrong with `data` and what would be right.
    """
    root = data_folder(data)
    folder = split_in(root, name)
    if folder is None:
        raise UsageError(f"no ALFWorld split {name!r}: {what_is_wrong(root)}")
    return folder


@dataclass(frozen=True, slots=True)
class Found:
    """What a folder of official games holds.

    Attributes:
        tasks: the games that can be played, sorted by id.
        skipped: the ids of the others, by the reason why they cannot.
    """

    tasks: tuple[Task, ...]
    skipped: Mapping[str, tuple[str, ...]]


def read_games(folder: Path) -> Found:
    """Return the games of a split's folder."""
    tasks: list[Task] = []
    skipped: dict[str, list[str]] = {}
    for trial in _trials(folder):
        task_id = trial.relative_to(folder).as_posix()
        found = _read_trial(trial, task_id)
        if isinstance(found, Task):
            tasks.append(found)
        else:
            skipped.setdefault(found, []).append(task_id)
    tasks.sort(key=lambda task: task.id)
    return Found(tuple(tasks), {reason: tuple(ids) for reason, ids in sorted(skipped.items())})


def load_official(name: str, data: Path | None = None) -> Split:
    """Return one split of the official data, without the games that the text engine cannot play.

    Args:
        name: `valid_unseen`, `valid_seen` or `train`.
        data: the folder that holds `json_2.1.1`, or that folder itself; None: `data_folder()`.

    Raises:
        UsageError: nothing there to play.
    """
    folder = find_split(name, data)
    found = read_games(folder)
    if not found.tasks:
        why = "; ".join(f"{len(ids)} {reason}" for reason, ids in found.skipped.items())
        raise UsageError(
            f"no playable game in {folder} ({why or f'no {GAME_FILE} anywhere in it'}); {FETCH} to a folder"
        )
    return Split(name, found.tasks, tuple(_notes(name, found)))


def split_in(root: Path, name: str) -> Path | None:
    """Return the folder of a split of the official data; None where `root` does not have it."""
    return next((base / name for base in (root / DATA_FOLDER, root) if (base / name).is_dir()), None)


def what_is_wrong(root: Path) -> str:
    """Return why no split is found in a folder, and what to do, in one line."""
    if not os.path.lexists(root):
        return f"{root} does not exist; {FETCH} there, or give their folder with --data"
    if not root.exists():
        return f"{root} is a link to something that does not exist; give the games' folder with --data"
    if not root.is_dir():
        if zipfile.is_zipfile(root):
            return f"{root} is a zip archive; unpack it, and give the folder with --data"
        return f"{root} is a file; give the folder that holds {DATA_FOLDER} with --data"
    if here := [name for name in OFFICIAL_COUNTS if split_in(root, name)]:
        return f"{root} has only {' and '.join(here)}; {FETCH} there"
    below = list(_folders_below(root))
    if (right := next((path for path in below if _holds_splits(path)), None)) is not None:
        return f"{root} is a level too high; give --data {right}"
    if not any((path / GAME_FILE).exists() for path in (root, *below)):
        return f"{root} holds no games; {FETCH} there, or give their folder with --data"
    above = root.absolute().parents
    if (right := next((path for path in above if _holds_splits(path)), None)) is not None:
        return f"{root} is a level too low; give --data {right}"
    return f"{root} has games, but no folder {' or '.join(OFFICIAL_COUNTS)} that holds them"


def _holds_splits(folder: Path) -> bool:
    return any(split_in(folder, name) for name in OFFICIAL_COUNTS)


def _folders_below(root: Path) -> Iterator[Path]:
    """Yield the folders in a folder, and those in them, and so on, down to the level that a game has in a split."""
    level = [root]
    for _ in range(_LEVELS_SEARCHED):
        level = [path for folder in level for path in _folders(folder)]
        yield from level


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _trials(folder: Path) -> Iterator[Path]:
    """Yield every folder of a game, in the order of ids; `os.walk` differs between machines."""
    for path, folders, files in os.walk(folder):
        folders.sort()
        if GAME_FILE in files or TRAJECTORY_FILE in files:
            yield Path(path)


def _read_trial(trial: Path, task_id: str) -> Task | str:
    """Return the task of a folder, or why there is none; the rules of AlfredTWEnv.collect_game_files."""
    if "movable" in task_id or "Sliced" in task_id:
        return "with movable receptacles or slices, which the text engine does not play"
    kind = SHORT_NAMES.get(task_id.split("-", 1)[0])
    if kind is None:
        return "of an unknown task type"
    path = trial / GAME_FILE
    if not path.is_file():
        return f"without {GAME_FILE}"
    try:
        content = path.read_bytes()
        game = json.loads(content)
        sentence = _SENTENCE.search(game["grammar"])
        steps = len(game["walkthrough"]) if game.get("walkthrough") else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return f"with an unreadable {GAME_FILE}"
    if not game.get("solvable"):
        return "not known to be solvable"
    text = " ".join(sentence[1].split()) if sentence else ""
    fingerprint = hashlib.sha256(content).hexdigest()
    return Task(task_id, kind, text, fingerprint, GameFile(path, steps), room_of(task_id))


def _notes(name: str, found: Found) -> Iterator[str]:
    expected = OFFICIAL_COUNTS[name]
    if len(found.tasks) != expected:
        yield f"{name} has {len(found.tasks)} playable games here; the published split has {expected}"
    for reason, ids in found.skipped.items():
        shown = ", ".join(ids[:_NAMES_SHOWN]) + (", …" if len(ids) > _NAMES_SHOWN else "")
        yield f"skipped {len(ids)} game{'s' if len(ids) > 1 else ''} {reason}: {shown}"
