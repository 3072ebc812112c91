"""Replaces files as a whole: after a kill there is the old content or the new one."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from reflex_bench.core.jsonl import as_line, unwritable


def write_json(path: Path, value: Any) -> None:
    """Replace a file with a value as JSON; a reader sees the old or the new one, whole."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """Replace a file with JSON lines, all at once."""
    replace_file(path, map(as_line, rows))


def sort_lines(path: Path, key: Callable[[dict[str, Any]], Any]) -> None:
    """Sort the lines of a JSONL file without holding them in memory."""
    places, start = [], 0
    with open(path, "rb") as file:
        for line in file:
            places.append((key(json.loads(line)), start, len(line)))
            start += len(line)
        if places == (places := sorted(places)):
            return

        def line_at(place: tuple[Any, int, int]) -> bytes:
            file.seek(place[1])
            return file.read(place[2])

        replace_file(path, map(line_at, places))


def write_text(path: Path, text: str) -> None:
    """Replace a file with a text; see `write_json`.

    Raises:
        RunStopped: the disk is full, or does not take it for another reason; the file is as it was.
    """
    replace_file(path, [text.encode("utf-8", "surrogatepass")])


def replace_file(path: Path, content: Iterable[bytes]) -> None:
    """Replace a file by way of a temporary one in the same folder; see `write_text`."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.writelines(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise unwritable(path, error) from None
