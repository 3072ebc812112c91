"""Checks of the machine: one finding each."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reflex_bench.core import parts
from reflex_bench.core.errors import ReflexError, RunStopped, UsageError
from reflex_bench.envs.alfworld.official.package import missing_engine
from reflex_bench.envs.cache import VARIABLE, cache_folder, is_writable
from reflex_bench.harness.planning.config import Config
from reflex_bench.harness.planning.endpoints import options_of
from reflex_bench.harness.planning.roles import role_of
from reflex_bench.harness.storage.manifest import OF_THE_OFFICIAL_ENGINE, PACKAGES, package_version
from reflex_bench.models.base import Model
from reflex_bench.models.registry import open_model


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        mark: `ok`, `warn` (works, but not everything), `fail` (does not work), `?` (not told).
        what: the thing checked.
        said: one line.
    """

    mark: Literal["ok", "warn", "fail", "?"]
    what: str
    said: str


def examine(config: Config, data: Path | None = None, probed: bool = False) -> Iterator[Finding]:
    """Yield what every check finds; the model comes first where it is probed.

    Args:
        config: says which model is asked whether it can answer, and how it is reached.
        data: folder of the official ALFWorld data; None: the usual one.
        probed: make calls to see what the endpoint can do.

    Raises:
        UsageError: the model is to be probed and cannot be asked.
        ModelError: the endpoint fails.
    """
    if probed:
        yield from _probed(config)
    good = sys.version_info >= (3, 10)
    yield Finding("ok" if good else "fail", "python", f"{platform.python_version()} on {platform.platform()}")
    for name in PACKAGES:
        found = package_version(name)
        if found or name not in OF_THE_OFFICIAL_ENGINE:
            yield Finding("ok" if found else "fail", name, found or f"not installed; `pip install {name}`")
    yield from _parts()
    yield _engine()
    yield from _data(data)
    if not probed:
        yield _key()
        yield from _model(config)
    yield from _cache()
    yield _disk()


def _parts() -> Iterator[Finding]:
    """Yield the parts of other packages, and whether they load."""
    for kind, name in parts.others():
        try:
            yield Finding("ok", "part", f"{parts.find(kind, name).title} loads")
        except UsageError as error:
            yield Finding("fail", "part", str(error))


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
    from reflex_bench.envs.alfworld.official.inventory import inventory

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


def _model(config: Config) -> Iterator[Finding]:
    try:
        with closing(_opened(config)) as model:
            yield from _checked(model)
    except ReflexError as error:
        yield Finding("fail", "model", str(error))


def _opened(config: Config) -> Model:
    return open_model(config.model.model, options_of(config, [config.model]))


def _checked(model: Model) -> Iterator[Finding]:
    for warning in model.check():
        yield Finding("warn", "model", warning)
    connections = getattr(model, "connections", None)
    at_once = f"; {connections} at a time, unless --max-connections says otherwise" if connections else ""
    yield Finding("ok", "model", f"{model.name} can answer{at_once}")


def _probed(config: Config) -> Iterator[Finding]:
    from reflex_bench.models.openai.model import OpenAIModel
    from reflex_bench.models.openai.probe import probe

    marks: Mapping[str, Literal["ok", "warn", "?"]] = {"yes": "ok", "no": "warn", "not told": "?"}
    role = role_of(config.endpoint.extra_body, config.model, config.actor)
    with closing(_opened(config)) as model:
        # Said after the first call: a list of models, or none, does not show that a call succeeds.
        waiting = list(_checked(model))
        if not isinstance(model, OpenAIModel):
            yield from waiting
            return
        try:
            for ability in probe(model, role.further_fields()):
                yield from waiting
                waiting = []
                said = f"{ability.can}: {ability.said}" if ability.said else ability.can
                yield Finding(marks[ability.can], ability.what, said)
        except RunStopped as stopped:
            # No call can succeed: what was asked for is wrong, as where `check` finds that out.
            raise UsageError(str(stopped)) from None


def _cache() -> Iterator[Finding]:
    """Whether the cache can be written to."""
    try:
        folder = cache_folder()
    except UsageError as error:
        yield Finding("fail", "cache", str(error))
        return
    if is_writable(folder):
        yield Finding("ok", "cache", f"{folder}; {VARIABLE} moves it, `reflex data clean` clears it")
    else:
        yield Finding("fail", "cache", f"{folder} cannot be written to; set {VARIABLE} to a folder that can")


def _disk() -> Finding:
    place = Path(os.environ.get("REFLEX_BENCH_RESULTS", "."))
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free / 1e9
    return Finding("ok" if free > 1 else "warn", "disk", f"{free:.1f} GB free for results")
