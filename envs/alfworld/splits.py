"""Named sets of ALFWorld tasks, and the choice of tasks from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.envs.alfworld.generator import (
    GAME_FILE,
    INDEX_FILE,
    Entry,
    Recipe,
    cached,
    read_folder,
    recipe_of,
)
from reflex_bench.envs.alfworld.generator.goals import CYCLE, MIX
from reflex_bench.envs.alfworld.generator.recipe import read_recipe
from reflex_bench.envs.alfworld.official.data import (
    OFFICIAL_COUNTS,
    GameFile,
    data_folder,
    room_of,
    split_in,
    what_is_wrong,
)
from reflex_bench.envs.alfworld.official.package import package_version
from reflex_bench.envs.base import Split, Task
from reflex_bench.envs.cache import cache_folder
from reflex_bench.envs.sampling import Sampling, check_count, check_generated, first, stratified

PROCEDURAL = "procedural"
DEFAULT_COUNT = CYCLE


def parse_name(name: str, seed: int | None = None, generator: int | None = None) -> tuple[str, Recipe]:
    """Return a split's name and what its games are made from (which only `procedural` has).

    Args:
        name: `procedural`, `procedural:seed=7,hidden=0.4`, `valid_unseen`, `valid_seen` or `train`.
        seed: given apart from the name.
        generator: of the procedural split, given apart from the name.

    Raises:
        UsageError: no such split or setting, a setting out of range, or two different seeds or generators.
    """
    base, colon, settings = name.partition(":")
    if base not in {PROCEDURAL, *OFFICIAL_COUNTS}:
        raise unknown("ALFWorld split", base, [PROCEDURAL, *OFFICIAL_COUNTS])
    if base != PROCEDURAL:
        if colon or seed is not None:
            raise UsageError(f"the split {base!r} is fixed; only {PROCEDURAL!r} takes a seed")
        return base, Recipe()
    if colon and not settings:
        raise UsageError(f"cannot read the split {name!r}; write it like procedural:seed=7")
    return base, read_recipe(settings, seed, generator)


def parse_name_in(
    data: Path, name: str | None, seed: int | None = None, generator: int | None = None
) -> tuple[str, Recipe]:
    """Return the split that is played of a folder, and what its games are made from; see `parse_name`.

    Args:
        data: a folder of `reflex data generate alfworld`, or of official data.
        name: the split that was asked for; None takes the only one that the folder has.
        seed: asked for apart from the name.
        generator: asked for apart from the name.

    Raises:
        UsageError: the folder has not what was asked for, or several splits and none was asked for.
    """
    folder = data_folder(data)
    recipe = recipe_of(folder)
    if recipe is None:
        return _parse_official_in(folder, name, seed, generator)
    held = f"{folder} holds the games {PROCEDURAL}:{recipe.settings}"
    base, asked = parse_name(name or PROCEDURAL, seed, generator)
    if base != PROCEDURAL:
        raise UsageError(f"{held}, not {base}; leave out --split, or give the folder of {base} with --data")
    settled = seed is not None or name not in (None, PROCEDURAL)
    # A generator alone is what a resumed run is given.
    differs = asked != recipe if settled else generator not in (None, recipe.generator)
    if differs:
        raise UsageError(f"{held}, not {PROCEDURAL}:{asked.settings}; leave out one of the two")
    return PROCEDURAL, recipe


def _parse_official_in(
    folder: Path, name: str | None, seed: int | None, generator: int | None
) -> tuple[str, Recipe]:
    held = [each for each in OFFICIAL_COUNTS if split_in(folder, each)]
    if name is None and len(held) > 1:
        raise UsageError(f"{folder} holds {', '.join(held)}; say which with --split")
    if name is None and not held:
        below = sorted(folder.glob(f"*/{INDEX_FILE}"))[:1]
        if below:
            raise UsageError(f"{folder} is a level too high; give --data {below[0].parent}")
        raise UsageError(f"nothing to play in --data: {what_is_wrong(folder)}")
    base, recipe = parse_name(name or held[0], seed, generator)
    if base == PROCEDURAL:
        has = f"it holds {', '.join(held)}" if held else what_is_wrong(folder)
        raise UsageError(
            f"--data {folder} has no games of the split {name!r} ({has}); leave out --data to have them generated"
        )
    return base, recipe


def load_generated(folder: Path, recipe: Recipe) -> Split:
    """Return the games of a folder that `reflex data generate alfworld` wrote.

    Raises:
        UsageError: a game is missing or changed.
    """
    return _split_of(read_folder(folder), folder, recipe)


def load_procedural(recipe: Recipe | int, count: int = DEFAULT_COUNT) -> Split:
    """Return the first `count` games of a recipe, generated once and kept in the cache.

    Args:
        recipe: what they are made from; a whole number is the seed of the present generator.
        count: how many.
    """
    recipe = Recipe(recipe) if isinstance(recipe, int) else recipe
    hard = "".join(
        f"-{name}{value:g}" for name in ("hidden", "copies") if (value := getattr(recipe, name)) is not None
    )
    name = f"procedural-v{recipe.generator}-alfworld{package_version()}-seed{recipe.seed}{hard}-{count}"
    folder = cache_folder() / "alfworld" / name
    return _split_of(cached(recipe, count, folder), folder, recipe)


def _split_of(entries: Iterable[Entry], folder: Path, recipe: Recipe) -> Split:
    tasks = [
        Task(
            id=entry.id,
            type=entry.type,
            text=entry.text,
            fingerprint=entry.sha256,
            data=GameFile(folder / entry.id / GAME_FILE, entry.steps, entry.number),
            cluster=room_of(entry.id),
        )
        for entry in entries
    ]
    return Split(f"{PROCEDURAL}:{recipe.settings}", tuple(sorted(tasks, key=lambda task: task.id)))


def games_needed(tasks: int | None, task_type: str | None) -> int:
    """Return how many games to generate so that `tasks` of them have the type wanted; at least the default number.

    Raises:
        UsageError: more than are generated for one run.
    """
    share = previewed(task_type)
    needed = max(DEFAULT_COUNT, -(-(tasks or 0) // share) * CYCLE if share < CYCLE else tasks or 0)
    check_generated(needed, "games", tasks)
    return needed


def previewed(task_type: str | None) -> int:
    """Return how many games of a type (None: of all) there are among the least that are generated."""
    return MIX.get(task_type, CYCLE) if task_type else CYCLE


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
    """Return a split without the tasks that were not asked for.

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
