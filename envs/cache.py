"""Where things that can be made again are kept between runs."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from reflex_bench.core.errors import UsageError

VARIABLE = "REFLEX_BENCH_CACHE"


def cache_folder() -> Path:
    """`$REFLEX_BENCH_CACHE`, else `reflex-bench` in the XDG cache folder; not created here.

    Where the home folder cannot be written to, a folder of the user's own in that for temporary files.

    Raises:
        UsageError: that folder belongs to somebody else.
    """
    if own := os.environ.get(VARIABLE):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    usual = (Path(base) if base else Path.home() / ".cache") / "reflex-bench"
    return usual if _writable(usual) else _temporary()


def _writable(folder: Path) -> bool:
    """Whether a folder can be written to, or made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _temporary() -> Path:
    """A folder below that for temporary files, which nobody else can write to."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"reflex-bench-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or (hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()):
        raise UsageError(
            f"{folder} belongs to somebody else; set {VARIABLE} to a folder that can be written to"
        )
    return folder
