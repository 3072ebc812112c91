"""Liveness of the process that writes a run: a killed one leaves `running` in `run.json`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

KILLED = "killed"
"""Status of a run that says `running`, and that nobody writes."""


def status_of(path: Path, info: Mapping[str, Any]) -> str:
    """Return `running`, `complete`, `interrupted`, `stopped`, or `killed`.

    Args:
        path: the run directory.
        info: its `run.json`.
    """
    told = str(info.get("status", "complete"))
    return KILLED if told == "running" and not is_written(path) else told


def is_written(path: Path) -> bool:
    """Return whether a process holds the lock of a run; true where that cannot be found out."""
    file = path / ".lock"
    if not file.exists():
        return False
    lock = FileLock(file, timeout=0)
    try:
        lock.acquire()
    except (Timeout, OSError):
        return True
    lock.release()
    return False
