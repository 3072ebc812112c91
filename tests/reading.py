"""Run directories, as the tests read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def record(run: Path) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """What a run found out, without what may differ between two equal ones: wall time."""
    trials = [
        {key: value for key, value in row.items() if key != "seconds"} for row in rows(run / "trials.jsonl")
    ]
    return trials, {path.name: path.read_bytes() for path in sorted((run / "trajectories").iterdir())}
