"""The named sets of ALFWorld tasks: the procedural twin and the official data.

Official counts: 3,553 training, 140 seen and 134 unseen validation games (Shridhar et al., 2021, table 1, and the
data's own README).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reflex_bench.envs.alfworld.generator import GAME_FILE, TRAJECTORY_FILE, VERSION, cached
from reflex_bench.envs.alfworld.goals import CYCLE, MIX, SHORT_NAMES
from reflex_bench.envs.alfworld.layouts import package_version
from reflex_bench.envs.base import Split, Task
from reflex_bench.envs.sampling import Sampling, check_count, first, stratified
from reflex_bench.harness.errors import UsageError, unknown

PROCEDURAL = "procedural"
OFFICIAL_COUNTS = {"valid_unseen": 134, "valid_seen": 140, "train": 3553}
DEFAULT_SEED = 0
DEFAULT_COUNT = CYCLE
DATA_FOLDER = "json_2.1.1"  # of every version of the official data

# Bounded, so that a grammar without a closing quotation mark is searched in linear time.
_SENTENCE = re.compile(r'Your task is to: ((?:[^"\\]|\\.){0,1000})"')
_NAMES_SHOWN = 3


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


def cache_folder() -> Path:
    """Where generated games are kept: `$REFLEX_BENCH_CACHE`, else `reflex-bench` in the user's cache folder."""
    if own := os.environ.get("REFLEX_BENCH_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "reflex-bench"


def data_folder(data: Path | None = None) -> Path:
    """Where the official data is looked for: the folder given, else `$ALFWORLD_DATA`, else `~/.cache/alfworld`."""
    return (data or Path(os.environ.get("ALFWORLD_DATA") or "~/.cache/alfworld")).expanduser()


def parse_name(name: str, seed: int | None = None) -> tuple[str, int]:
    """A split's name and its seed (which only `procedural` has).

    Args:
        name: `procedural`, `procedural:seed=7`, `valid_unseen`, `valid_seen` or `train`.
        seed: given apart from the name.

    Raises:
        UsageError: no such split, or two different seeds.
    """
    base, colon, setting = name.partition(":")
    if base not in {PROCEDURAL, *OFFICIAL_COUNTS}:
        raise unknown("ALFWorld split", base, [PROCEDURAL, *OFFICIAL_COUNTS])
    if base != PROCEDURAL:
        if colon or seed is not None:
            raise UsageError(f"the split {base!r} is fixed; only {PROCEDURAL!r} takes a seed")
        return base, 0
    if not colon:
        return base, DEFAULT_SEED if seed is None else seed
    match = re.fullmatch(r"seed=(\d+)", setting)
    if match is None:
        raise UsageError(f"cannot read the split {name!r}; write it like procedural:seed=7")
    named = int(match[1])
    if seed is not None and seed != named:
        raise UsageError(f"the split is {name!r} but the seed is {seed}; give one of the two")
    return base, named


def load_procedural(seed: int, count: int = DEFAULT_COUNT) -> Split:
    """The first `count` games of a seed, generated once and kept in the cache."""
    name = f"procedural-v{VERSION}-alfworld{package_version()}-seed{seed}-{count}"
    folder = cache_folder() / "alfworld" / name
    tasks = [
        Task(
            id=entry.id,
            type=entry.type,
            text=entry.text,
            fingerprint=entry.sha256,
            data=GameFile(folder / entry.id / GAME_FILE, entry.steps, entry.number),
        )
        for entry in cached(seed, count, folder)
    ]
    return Split(f"{PROCEDURAL}:seed={seed}", tuple(sorted(tasks, key=lambda task: task.id)))


def games_needed(tasks: int | None, task_type: str | None) -> int:
    """How many games to generate so that `tasks` of them have the type wanted; at least the default number."""
    share = MIX.get(task_type, CYCLE) if task_type else CYCLE
    return max(DEFAULT_COUNT, -(-(tasks or 0) // share) * CYCLE if share < CYCLE else tasks or 0)


def load_official(name: str, data: Path | None = None) -> Split:
    """One split of the official data, without the games that the text engine cannot play.

    Args:
        name: `valid_unseen`, `valid_seen` or `train`.
        data: the folder that holds `json_2.1.1`, or that folder itself; None: `data_folder()`.

    Raises:
        UsageError: nothing there to play.
    """
    root = data_folder(data)
    folder = next((base / name for base in (root / DATA_FOLDER, root) if (base / name).is_dir()), None)
    if folder is None:
        raise UsageError(
            f"no ALFWorld split {name!r} in {root}; run `reflex data fetch alfworld`, or give the folder with --data"
        )
    tasks: list[Task] = []
    skipped: dict[str, list[str]] = defaultdict(list)
    for trial in _trials(folder):
        found = _read_trial(trial, trial.relative_to(folder).as_posix())
        if isinstance(found, Task):
            tasks.append(found)
        else:
            skipped[found].append(trial.relative_to(folder).as_posix())
    if not tasks:
        raise UsageError(f"no playable game in {folder}; run `reflex data fetch alfworld`")
    return Split(
        name, tuple(sorted(tasks, key=lambda task: task.id)), tuple(_notes(name, len(tasks), skipped))
    )


def select(split: Split, count: int | None, seed: int = 0, sampling: Sampling = "stratified") -> Split:
    """Return the tasks that stand for a split.

    Args:
        split: as loaded, or filtered.
        count: how many; None for all.
        seed: of the draw from official data. Procedural games are exchangeable and are taken in their own order.
        sampling: how they are chosen; `legacy` takes the first by id of official data and the first by number of the
            twin.

    Raises:
        UsageError: there are not so many.
    """
    if count is None or count == len(split.tasks):
        return split
    if sampling == "first":
        return first(split, count)
    procedural = all(task.data.number is not None for task in split.tasks)
    by_number = (lambda task: task.data.number) if procedural else None
    if sampling == "legacy":
        check_count(split, count)
        chosen = sorted(split.tasks, key=by_number or (lambda task: task.id))[:count]
        return replace(split, tasks=tuple(sorted(chosen, key=lambda task: task.id)))
    return stratified(split, count, lambda task: task.type, "type", seed, by_number)


def only(split: Split, task_ids: Sequence[str] = (), task_type: str | None = None) -> Split:
    """A split without the tasks that were not asked for.

    Args:
        split: as loaded.
        task_ids: whole ids, or either part of one where that is enough; empty for all.
        task_type: `put`, `clean`, …; None for all.

    Raises:
        UsageError: no such task or type, or a part of an id that fits several.
    """
    tasks = split.tasks
    if task_type is not None:
        if task_type not in MIX:
            raise unknown("ALFWorld task type", task_type, MIX)
        tasks = tuple(task for task in tasks if task.type == task_type)
    if task_ids:
        wanted = {_find(split.name, tasks, given).id for given in task_ids}
        tasks = tuple(task for task in tasks if task.id in wanted)
    if not tasks:
        raise UsageError(f"{split.name} has no task of type {task_type!r}")
    return Split(split.name, tasks, split.notes)


def _find(name: str, tasks: Iterable[Task], given: str) -> Task:
    fitting = [task for task in tasks if given in (task.id, *task.id.split("/"))]
    if not fitting:
        raise unknown(f"task of {name}", given, (task.id for task in tasks))
    if len(fitting) > 1:
        raise UsageError(
            f"{given!r} fits {len(fitting)} tasks of {name}; give a whole id, e.g. {fitting[0].id}"
        )
    return fitting[0]


def _trials(folder: Path) -> Iterator[Path]:
    """Every folder of a game, in the order of ids; `os.walk` differs between machines."""
    for path, folders, files in os.walk(folder):
        folders.sort()
        if GAME_FILE in files or TRAJECTORY_FILE in files:
            yield Path(path)


def _read_trial(trial: Path, task_id: str) -> Task | str:
    """The task of a folder, or why there is none; the rules of AlfredTWEnv.collect_game_files."""
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
    return Task(task_id, kind, text, hashlib.sha256(content).hexdigest(), GameFile(path, steps))


def _notes(name: str, found: int, skipped: dict[str, list[str]]) -> Iterator[str]:
    expected = OFFICIAL_COUNTS[name]
    if found != expected:
        yield f"{name} has {found} playable games here; the published split has {expected}"
    for reason, ids in sorted(skipped.items()):
        shown = ", ".join(ids[:_NAMES_SHOWN]) + (", …" if len(ids) > _NAMES_SHOWN else "")
        yield f"skipped {len(ids)} game{'s' if len(ids) > 1 else ''} {reason}: {shown}"
