"""Origin of each value of a configuration."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflex_bench.harness.planning.config import Config
from reflex_bench.harness.planning.layers import PRESETS, ROLES, SHARED, spelled_out
from reflex_bench.harness.planning.roles import role_of
from reflex_bench.harness.planning.sources import SettingSource
from reflex_bench.models.openai.secrets import variables_in
from reflex_bench.models.options import ModelOptions

BUILT_IN = "built-in default"

_PASSWORD = re.compile(r"(?<=://)[^/@\s\"]*@")


@dataclass(frozen=True, slots=True)
class Value:
    """One setting of a run.

    Attributes:
        key: dotted, as `-c` takes it.
        value: as JSON.
        origin: the source that decides it.
    """

    key: str
    value: str
    origin: str


Said = tuple[str, Mapping[str, Any]]
"""A source's name, and its settings."""


def values_of(config: Config, sources: Sequence[SettingSource]) -> Iterator[Value]:
    """Yield every setting of a configuration with its origin; what a role or an arm takes from its run is left to that.

    Args:
        config: as resolved from the sources.
        sources: all that gave settings, flags as pairs included; later ones win.
    """
    layers = _layers(sources)
    yield Value("arms", json.dumps(list(config.arms)), _origin(("arms",), layers))
    for path, value in _leaves(config.model_dump()):
        if value is None and path[0] in ("arms", *ROLES):
            continue
        shown = _PASSWORD.sub("…@", json.dumps(value, ensure_ascii=False))
        origin = _origin_in_arm(path[1], path[2:], layers) if path[0] == "arms" else _origin(path, layers)
        yield Value(".".join(path), shown, origin)


def _layers(sources: Sequence[SettingSource]) -> list[list[Said]]:
    """Return the sources in the layers in which `reflex_bench.harness.planning.layers` lays them on one another."""
    layers: list[list[Said]] = []
    beside = False
    for source in sources:
        if not (beside and source.pair):
            layers.append([])
        beside = source.pair
        layers[-1].append((source.origin, spelled_out(source.settings)))
    return layers


def _leaves(
    settings: Mapping[str, Any], before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in settings.items():
        path = (*before, str(key))
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, path)
        else:
            yield path, value


def _origin(path: Sequence[str], layers: Sequence[Sequence[Said]]) -> str:
    """Return the last source that speaks of a setting of the run."""
    speaking = [origin for layer in layers for origin, settings in layer if _speaks(settings, path)]
    return speaking[-1] if speaking else BUILT_IN


def _origin_in_arm(name: str, path: Sequence[str], layers: Sequence[Sequence[Said]]) -> str:
    """Return the source that decides a setting of an arm.

    The last layer that speaks of it, and in that the arm's own word.
    """
    shared = path[0] in SHARED and path[0] not in PRESETS.get(name, {})
    for layer in reversed(layers):
        own = [origin for origin, settings in layer if _speaks(_of_arm(settings, name), path)]
        of_all = [origin for origin, settings in layer if shared and _speaks(settings, path)]
        if own or of_all:
            return (own or of_all)[-1]
    return BUILT_IN


def _of_arm(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    arms = settings.get("arms")
    own = arms.get(name) if isinstance(arms, Mapping) else None
    return spelled_out(own) if isinstance(own, Mapping) else {}


def _speaks(settings: Mapping[str, Any], path: Sequence[str]) -> bool:
    """Return whether settings decide the value at a path, alone or with what it is part of."""
    place: Any = settings
    for key in path:
        if not isinstance(place, Mapping):
            return True
        if key not in place:
            return False
        place = place[key]
    return True


def variables_of(config: Config) -> dict[str, bool]:
    """Return the environment variables that a run reads to reach its models, and whether each is set."""
    roles = [config.model] + [
        role_of(config.endpoint.extra_body, config.model, over)
        for arm in config.arms.values()
        for over in (arm.actor, arm.evaluation, arm.reflection)
    ]
    providers = ModelOptions(providers=config.providers).all_providers()
    names: list[str] = []
    for role in roles:
        provider = providers.get(role.model.partition("/")[0])
        if provider is not None:
            names += [provider.key] if provider.key else []
            # An address that is given takes the place of the provider's own.
            names += [] if config.endpoint.base_url else provider.variables
        names += variables_in(role.extra_body)
    names += [*variables_in(config.endpoint.headers), *variables_in(config.endpoint.query)]
    return {name: bool(os.environ.get(name)) for name in dict.fromkeys(names)}
