"""Reads `.env`: keys and addresses of endpoints, kept beside the work."""

from __future__ import annotations

import os
from pathlib import Path

from reflex_bench.core.errors import UsageError

ENV_FILE = ".env"


def read_env_file(folder: Path) -> None:
    """Set the environment variables of a folder's `.env`, as python-dotenv reads it. One that is set already wins.

    Raises:
        UsageError: the file cannot be read.
    """
    path = folder / ENV_FILE
    if not path.is_file():
        return
    from dotenv import dotenv_values

    try:
        values = dotenv_values(path, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise UsageError(f"{ENV_FILE} in this folder cannot be read: {reason}") from None
    for name, value in values.items():
        if value is not None and "\0" not in value:
            os.environ.setdefault(name, value)
