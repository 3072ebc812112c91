"""Where things that can be made again are kept between runs."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """`$REFLEX_BENCH_CACHE`, else `reflex-bench` in the XDG cache folder; not created here."""
    own = os.environ.get("REFLEX_BENCH_CACHE")
    if own:
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "reflex-bench"
