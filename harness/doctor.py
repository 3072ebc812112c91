"""Checks of the machine: one finding each."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reflex_bench.envs.alfworld.package import missing_engine
from reflex_bench.harness.errors import ReflexError
from reflex_bench.harness.manifest import OF_THE_OFFICIAL_ENGINE, PACKAGES, package_version


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        mark: `ok`, `warn` (works, but not everything), `fail` (does not work).
        what: the thing checked.
        said: one line.
    """

    mark: Literal["ok", "warn", "fail"]
    what: str
    said: str


def examine(model: str, base_url: str | None, data: Path | None = None) -> Iterator[Finding]:
    """Runs every check, cheap ones first.

    Args:
        model: asked whether it can answer.
        base_url: its endpoint; None as for `reflex bench`.
        data: folder of the official ALFWorld data; None: the usual one.
    """
    good = sys.version_info >= (3, 10)
    yield Finding("ok" if good else "fail", "python", f"{platform.python_version()} on {platform.platform()}")
    for name in PACKAGES:
        found = package_version(name)
        if found or name not in OF_THE_OFFICIAL_ENGINE:
            yield Finding("ok" if found else "fail", name, found or f"not installed; `pip install {name}`")
    yield _engine()
    yield from _data(data)
    yield _key()
    yield from _model(model, base_url)
    yield _disk()


def _engine() -> Finding:
    if missing := missing_engine():
        return Finding("warn", "engine", f"{missing}; the native engine plays without it")
    try:
        import fast_downward

        fast_downward.load_lib()
    except Exception as error:  # a compiled library can fail in any way
        return Finding(
            "fail", "engine", f"the official ALFWorld engine does not load: {type(error).__name__}: {error}"
        )
    return Finding("ok", "engine", "the official ALFWorld engine loads")


def _data(data: Path | None) -> Iterator[Finding]:
    from reflex_bench.envs.alfworld.inventory import inventory

    for holding in inventory(data):
        yield Finding("ok" if holding.playable else "warn", "data", holding.text)


def _key() -> Finding:
    if os.environ.get("OPENAI_API_KEY"):
        return Finding("ok", "key", "OPENAI_API_KEY is set")
    return Finding(
        "warn",
        "key",
        "OPENAI_API_KEY is not set; needed for hosted models, not for `simulated` or local servers",
    )


def _model(model: str, base_url: str | None) -> Iterator[Finding]:
    from reflex_bench.models.registry import ModelOptions, open_model

    try:
        opened = open_model(model, ModelOptions(base_url=base_url))
        warnings = opened.check()
        connections = getattr(opened, "connections", None)
        opened.close()
    except ReflexError as error:
        yield Finding("fail", "model", str(error))
        return
    for warning in warnings:
        yield Finding("warn", "model", warning)
    at_once = f"; {connections} at a time, unless --max-connections says otherwise" if connections else ""
    yield Finding("ok", "model", f"{model} can answer{at_once}")


def _disk() -> Finding:
    place = Path(os.environ.get("REFLEX_BENCH_RESULTS", "."))
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free / 1e9
    return Finding("ok" if free > 1 else "warn", "disk", f"{free:.1f} GB free for results")
