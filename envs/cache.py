"""Cache folder for things that can be made again."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from reflex_bench.core.errors import UsageError

VARIABLE = "REFLEX_BENCH_CACHE"


def cache_folder() -> Path:
    """Return `$REFLEX_BENCH_CACHE`, else `reflex-bench` in the XDG cache folder; not created here.

    Where the home folder cannot be written to, a folder of the user's own in that for temporary files.

    Raises:
        UsageError: that folder belongs to somebody else.
    """
    if own := os.environ.get(VARIABLE):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    usual = (Path(base) if base else Path.home() / ".cache") / "reflex-bench"
    return usual if is_writable(usual) else _temporary()


@dataclass(frozen=True, slots=True)
class Holding:
    """One thing in the cache.

    Attributes:
        path: a file or a folder.
        megabytes: its size.
        can_be_made_again: exactly as it is.
    """

    path: Path
    megabytes: float
    can_be_made_again: bool


RECORDED = ("wikipedia.jsonl",)
"""Files in which answers of others are kept, who may answer otherwise today."""


def holdings() -> list[Holding]:
    """Return what the cache folder holds: every entry of its folders, and its own files."""
    folder = cache_folder()
    entries = [each for each in _entries(folder) if each.name != ".lock"]
    inner = [each for entry in entries for each in (_entries(entry) if entry.name in FOLDERS else [entry])]
    return [
        Holding(path=each, megabytes=_size(each) / 1e6, can_be_made_again=each.name not in RECORDED)
        for each in inner
    ]


FOLDERS = ("alfworld", "hotpotqa")
"""Folders of the cache that hold one thing an entry."""


def remove(holding: Holding) -> None:
    """Delete a thing of the cache.

    Raises:
        UsageError: it cannot be deleted.
    """
    try:
        if holding.path.is_dir() and not holding.path.is_symlink():
            shutil.rmtree(holding.path)
        else:
            holding.path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot delete {holding.path}: {error.strerror or error}") from None


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files)


def is_writable(folder: Path) -> bool:
    """Return whether a folder can be written to, or made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _temporary() -> Path:
    """Return a folder below that for temporary files, which nobody else can write to."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"reflex-bench-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or (hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()):
        raise UsageError(
            f"{folder} belongs to somebody else; set {VARIABLE} to a folder that can be written to"
        )
    return folder
