"""Inventory of the ALFWorld games on this machine, for `reflex data list` and `reflex doctor`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reflex_bench.envs.alfworld.generator import GAME_FILE, INDEX_FILE
from reflex_bench.envs.alfworld.official.data import (
    FETCH,
    OFFICIAL_COUNTS,
    data_folder,
    read_games,
    split_in,
    what_is_wrong,
)
from reflex_bench.envs.cache import cache_folder


@dataclass(frozen=True, slots=True)
class Holding:
    """What there is of one split.

    Attributes:
        playable: how many games can be played.
        text: one line about it.
    """

    playable: int
    text: str


def inventory(data: Path | None = None) -> Iterator[Holding]:
    """Yield what there is of each official split, then of the generated ones in the cache.

    Args:
        data: folder of the official data; None: `$ALFWORLD_DATA` or `~/.cache/alfworld`.
    """
    root = data_folder(data)
    folders = {name: split_in(root, name) for name in OFFICIAL_COUNTS}
    if any(folders.values()):
        yield from (_official(name, folder, root) for name, folder in folders.items())
    else:
        yield Holding(0, f"official games: not here; {what_is_wrong(root)}")
    yield from _generated(cache_folder() / "alfworld")


def _official(name: str, folder: Path | None, root: Path) -> Holding:
    if folder is None:
        return Holding(0, f"{name}: not in {root}; {FETCH} there")
    found = read_games(folder)
    playable, expected = len(found.tasks), OFFICIAL_COUNTS[name]
    count = f"{playable:,}" if playable == expected else f"{playable:,} of {expected:,}"
    skipped = "".join(f"; {len(ids)} more {reason}" for reason, ids in found.skipped.items())
    return Holding(playable, f"{name}: {count} playable games, {_size(folder)} in {folder}{skipped}")


def _generated(root: Path) -> Iterator[Holding]:
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        try:
            index = json.loads((folder / INDEX_FILE).read_bytes())
            seed, expected = index["seed"], int(index["count"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        games = sum(GAME_FILE in files for _, _, files in os.walk(folder))
        count = f"{games:,}" if games == expected else f"{games:,} of {expected:,}"
        yield Holding(games, f"procedural:seed={seed}: {count} games, {_size(folder)} in {folder}")


def _size(folder: Path) -> str:
    """Return the size of what lies below a folder. A link counts as itself, so one that leads nowhere does no harm."""
    paths = (os.path.join(path, name) for path, _, names in os.walk(folder) for name in names)
    return f"{sum(os.lstat(path).st_size for path in paths) / 1e6:,.1f} MB"
