"""Resolves YAML files, `key=value` pairs and flags to one configuration, checked as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.planning.config import Config
from reflex_bench.harness.planning.config_errors import explain
from reflex_bench.harness.planning.layers import for_environment, layered, settled
from reflex_bench.harness.planning.sources import SettingSource, read_source


def resolve(sources: Iterable[str], flags: Mapping[str, Any], project: SettingSource | None = None) -> Config:
    """Merges configuration sources into one checked configuration; see `resolve_sources`."""
    return resolve_sources(sources, flags, project)[0]


def resolve_sources(
    sources: Iterable[str], flags: Mapping[str, Any], project: SettingSource | None = None
) -> tuple[Config, list[SettingSource]]:
    """Merges configuration sources into one checked configuration, and returns with it what was merged, but the flags.

    Args:
        sources: each a YAML file (`x.yaml`, or the name of one that ships with the package) or a `key.sub=value` pair;
            later ones win (`reflex_bench.harness.planning.layers` says how, where arms are concerned).
        flags: nested values from the command line; they win over all sources.
        project: defaults of the working directory; all sources win over them. What they say of another environment
            than the one in the flags does not count.

    Raises:
        UsageError: a file is missing or no YAML, a key does not exist, or a value is not allowed.
    """
    known = Config.model_fields.keys()
    read = [read_source(source, {*known, "environments"}) for source in sources]
    if project is not None:
        try:
            _merged([project], {})
        except UsageError as error:
            raise UsageError(f"{project.origin}: {error}") from None
        read.insert(0, _of_run(project, flags))
    return _merged(read, flags), read


def _of_run(project: SettingSource, flags: Mapping[str, Any]) -> SettingSource:
    """Return what a folder gives by default, without options of an environment that the run does not have."""
    options = project.settings.get("environment")
    own = options.get("name") if isinstance(options, Mapping) else None
    asked = flags.get("environment", {}).get("name")
    if own is None or asked in (None, own):
        return project
    others = {key: value for key, value in project.settings.items() if key != "environment"}
    return replace(project, settings=others)


def _merged(sources: Sequence[SettingSource], flags: Mapping[str, Any]) -> Config:
    merged = layered(for_environment(sources, flags), flags)
    arms = merged.pop("arms")
    # A mistake in what all arms take from the run is told once, and not for every arm.
    checked(merged)
    return checked({**merged, "arms": settled(arms, merged)})


def checked(settings: Mapping[str, Any]) -> Config:
    """Return settings as a configuration.

    Raises:
        UsageError: a key does not exist, or a value is not allowed.
    """
    try:
        return Config.model_validate(settings)
    except ValidationError as error:
        raise UsageError(explain(error, Config)) from None


_FILES = {"data", "snapshot"}
"""Options of the environments that name a file or a folder; `corpus` may."""


def with_whole_paths(config: Config) -> Config:
    """Return the configuration with the files that its environment reads named by their whole paths.

    A run is then resumed from any folder.
    """
    options = dict(config.environment)
    for name in _FILES & options.keys():
        if isinstance(options[name], str):
            options[name] = str(Path(options[name]).expanduser().absolute())
    corpus = options.get("corpus")
    if isinstance(corpus, str) and corpus.startswith("file:"):
        options["corpus"] = f"file:{Path(corpus.removeprefix('file:')).expanduser().absolute()}"
    return config.model_copy(update={"environment": options})
