"""Finds where runs lie, and the runs that a person names."""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

from reflex_bench.cli.options import RESULTS, RESULTS_DEFAULT, option
from reflex_bench.core.errors import UsageError, unknown

_TYPED_AGAIN = re.compile(r"[\w.+=@][\w.+=@,:%-]*")
"""Names of runs that are no option, and that no shell takes for something else."""

Results = Annotated[
    Path | None,
    option(None, *RESULTS, default=RESULTS_DEFAULT),
]


def called_as() -> str:
    """Return the command as the person calls it: what a hint tells them to type.

    `scripts/reflex` names itself in `REFLEX_BENCH_CALLED_AS`. A script that the search path leads to goes by its bare
    name; any other by its path.
    """
    script = Path(sys.argv[0])
    if called := os.environ.get("REFLEX_BENCH_CALLED_AS"):
        return shlex.quote(called)
    if script.suffix == ".py" or not script.name:
        return "reflex"
    found = shutil.which(script.name)
    if found and Path(found).resolve() == script.resolve():
        return script.name
    return shlex.quote(sys.argv[0])


def as_called(text: str) -> str:
    """Return a message in which every command, written as "`reflex …`", is named as the person calls it."""
    return text.replace("`reflex ", f"`{called_as()} ")


def results_root(given: Path | None) -> Path:
    """Return the directory of runs: what was given, else `REFLEX_BENCH_RESULTS`, else `./results`."""
    return given or Path(os.environ.get("REFLEX_BENCH_RESULTS", "results"))


def named(run: Path) -> str:
    """Return how to name a run in a command that is typed next: by its name where runs lie, elsewhere by its path."""
    return shlex.quote(run.name if run.parent.resolve() == results_root(None).resolve() else str(run))


def runs(given: Path | None) -> list[Path]:
    """Return every run directory there is, oldest first."""
    found = results_root(given).glob("*/run.json")
    return sorted(
        (path.parent for path in found), key=lambda path: ((path / "run.json").stat().st_ctime, path.name)
    )


def run_path(name: str, given: Path | None) -> Path:
    """Return the directory of a run that a person named: a path, a name in the results directory, or `latest`.

    Raises:
        UsageError: there is none; the nearest name is suggested.
    """
    if (Path(name) / "run.json").exists():
        return Path(name)
    known = {path.name: path for path in runs(given)}
    if name == "latest" and known:
        return list(known.values())[-1]
    if name in known:
        return known[name]
    if not known:
        raise UsageError(
            f"no run {name!r}: there is none in {results_root(given)}; `{called_as()} bench alfworld` makes one"
        )
    raise unknown("run", name, known)


def run_paths(names: Sequence[str] | None, given: Path | None) -> list[Path]:
    """Return the directories of the runs that a person named; `x-*` stands for all whose name fits, by name.

    Args:
        names: as for `run_path`; none for the latest.
        given: where runs lie.

    Raises:
        UsageError: there is no such run.
    """
    found: list[Path] = []
    for name in names or ["latest"]:
        fitting: list[Path] = []
        if any(mark in name for mark in "*?["):
            fitting = sorted(path for path in runs(given) if fnmatch.fnmatchcase(path.name, name))
        found += fitting or [run_path(name, given)]
    return found


def new_run(given: Path | None, run_id: str | None, environment: str) -> Path:
    """Return the directory for a new run, which does not exist yet.

    Raises:
        UsageError: the name is taken, or no single file name.
    """
    root = results_root(given)
    if run_id is not None:
        if Path(run_id).name != run_id or run_id in ("", ".", "..", "latest"):
            raise UsageError(f"--run-id {run_id!r}: a plain name is wanted; --results says where it lies")
        if not _TYPED_AGAIN.fullmatch(run_id):
            raise UsageError(
                f"--run-id {run_id!r}: such a name cannot be typed again as it stands; letters, digits and . _ - + = @ "
                "are wanted, and no - in front"
            )
        return root / run_id
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{environment}"
    path, number = root / stem, 2
    while path.exists():
        path, number = root / f"{stem}-{number}", number + 1
    return path
