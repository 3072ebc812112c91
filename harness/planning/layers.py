"""Layers of settings: how sources are merged, and what an arm takes from its run.

Sources come in layers: each file is one, and so are `key=value` pairs that follow one another, the last of them with
the flags of the command line. Within a layer an arm's own setting is the more special one and holds. A later layer wins
over an earlier one, also where it speaks of all arms and the earlier one of a single arm: no flag is lost to a profile.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.harness.planning.sources import SettingSource

PRESETS: Mapping[str, Mapping[str, Any]] = {"react": {"reflector": "none"}, "reflexion": {}}
"""The arms that can be named without being written out, with what they are whatever the run says."""

REFLECTORS: Mapping[str, str] = {"reflexion": "reflexion"}
"""What an arm of this name makes of a failed trial where nothing is said; all others: `none`."""

ROLES = ("actor", "evaluation", "reflection")
SHARED = ("agent", "reflector", "evaluator", "step_evaluator", "memory", "controls", *ROLES)
"""What can be set for the run, and for one arm."""

DEFAULT_ENVIRONMENT = "alfworld"
"""Where a run plays unless it says so."""

NEAR = 0.8
"""From this likeness on (`difflib`'s ratio) a new arm's name may be a slip of the pen."""

Settings = dict[str, Any]


@dataclass
class Layer:
    """Sources that stand beside one another: what they say of the run, and of arms, in the order of the sources."""

    run: Settings
    arms: list[SettingSource]


def for_environment(sources: Sequence[SettingSource], flags: Mapping[str, Any]) -> list[SettingSource]:
    """Return the sources, each with what it says under `environments` of the run's environment in its place.

    Args:
        sources: later ones win.
        flags: nested settings from the command line; they and the last source that names an environment decide which.

    Raises:
        UsageError: `environments` is no mapping from names to settings.
    """
    spoken = [each.settings.get("environment") for each in sources] + [flags.get("environment")]
    named = [each.get("name") for each in spoken if isinstance(each, Mapping)]
    name = next(filter(None, reversed(named)), DEFAULT_ENVIRONMENT)
    return [replace(each, settings=_within(each.settings, str(name))) for each in sources]


def _within(settings: Settings, name: str) -> Settings:
    special = settings.get("environments", {})
    if not isinstance(special, Mapping) or not all(isinstance(each, Mapping) for each in special.values()):
        raise UsageError("environments: a mapping from environments to settings that count in them alone")
    return merge(
        {key: value for key, value in settings.items() if key != "environments"}, special.get(name, {})
    )


def layered(sources: Iterable[SettingSource], flags: Mapping[str, Any]) -> Settings:
    """Return the settings of all layers in one mapping; `arms` maps each name to what is special about it.

    Args:
        sources: later ones win.
        flags: nested settings from the command line.

    Raises:
        UsageError: an arm that is spoken of does not exist, or has no name; or trials and samples are set side by side.
    """
    layers: list[Layer] = []
    beside = False
    for source in [*sources, SettingSource(dict(flags), pair=True)]:
        if not (beside and source.pair):
            layers.append(Layer({}, []))
        beside = source.pair
        said = spelled_out(source.settings)
        if "arms" in said:
            layers[-1].arms.append(SettingSource({"arms": said.pop("arms")}, source.pair, source.keys))
        layers[-1].run = merge(layers[-1].run, said)
    run: Settings = {}
    defined: Settings = {}
    chosen: list[str] | None = None
    for layer in layers:
        run = _less_repeats(merge(run, layer.run), layer.run)
        defined = {name: _without(special, layer.run) for name, special in defined.items()}
        for source in layer.arms:
            defined, chosen = _with_arms(source, defined, chosen)
    # Samples are independent of one another, and an arm that reflects makes none.
    chosen = chosen or (["react"] if run.get("samples") else list(PRESETS))
    return {**run, "arms": {name: defined.get(name, {}) for name in chosen}}


def _less_repeats(run: Settings, layer: Mapping[str, Any]) -> Settings:
    """Return settings in which the last layer that speaks of trials or samples holds: samples are instead of trials.

    Raises:
        UsageError: it speaks of both.
    """
    trials, samples = layer.get("trials"), layer.get("samples")
    if trials is not None and samples is not None:
        raise UsageError(
            f"trials: {trials} and samples: {samples} exclude one another: samples are taken instead of trials; leave "
            "out one of them"
        )
    return {key: value for key, value in run.items() if key != "samples"} if trials is not None else run


def settled(arms: Mapping[str, Any], run: Mapping[str, Any]) -> Settings:
    """Return every arm with what it takes from its run, so that what an arm plays with stands in one place.

    Args:
        arms: what is special about each.
        run: settings of the run.
    """
    found = {}
    for name, special in arms.items():
        arm = {**PRESETS.get(name, {}), **{key: value for key, value in special.items() if value is not None}}
        if run.get("agent") is not None:
            arm.setdefault("agent", run["agent"])
        arm.setdefault("reflector", run.get("reflector") or REFLECTORS.get(name, "none"))
        for role in ROLES:
            arm[role] = merge(run.get(role) or {}, arm[role]) if _is_mapping(arm.get(role)) else arm.get(role)
            arm[role] = arm[role] or run.get(role) or {}
        if _is_mapping(arm.get("memory")):
            arm["memory"] = merge(_memory_for(arm["memory"], run.get("memory") or {}), arm["memory"])
        found[name] = arm
    return found


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> Settings:
    """Return `over` on top of `base`, mapping by mapping; anything that is no mapping replaces."""
    out = dict(base)
    for key, value in over.items():
        below = out.get(key)
        out[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return out


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def spelled_out(settings: Mapping[str, Any]) -> Settings:
    """Spell out `memory: strategy` as `memory: {kind: strategy}`."""
    kind = settings.get("memory")
    return {**settings, "memory": {"kind": kind}} if isinstance(kind, str) else dict(settings)


def _memory_for(arm: Mapping[str, Any], run: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an arm's memory takes from the run's: another kind has other options, and only its size is alike."""
    if arm.get("kind") in (None, run.get("kind", "sliding")):
        return run
    return {key: value for key, value in run.items() if key == "size"}


def _without(special: Mapping[str, Any], later: Mapping[str, Any]) -> Settings:
    """Return what an earlier layer said of an arm, less what a later one says of all arms."""
    kept = dict(special)
    # The actor's settings are the run's `model`, unless it says otherwise.
    said = merge({"actor": later.get("model") or {}}, {key: later[key] for key in SHARED if key in later})
    for key, value in said.items():
        own = kept.get(key)
        if not isinstance(value, Mapping) or key in ("agent", "reflector", "evaluator"):
            kept.pop(key, None)
        elif isinstance(own, Mapping):
            if key == "memory":
                own = _memory_for(value, own)
            kept[key] = {name: each for name, each in own.items() if name not in value}
    return kept


def _with_arms(
    source: SettingSource, defined: Settings, chosen: list[str] | None
) -> tuple[Settings, list[str]]:
    """Arms after one more source has spoken of them: what is special about each, and which are run."""
    said = source.settings["arms"]
    exist = chosen or list(PRESETS)
    if source.pair and source.keys > 1:
        (name, special), *_ = said.items()
        if name not in exist and (source.keys > 2 or special is None):
            error = unknown("arm", name, exist)
            raise UsageError(f"{error} (a new arm is written as a whole: -c 'arms.{name}={{reflector: …}}')")
        _check_arm(name, special, {*defined, *exist})
        return merge(defined, {name: _special(special)}), [*exist, *({name} - set(exist))]
    names = _names(said)
    for name, special in names.items():
        _check_arm(name, special, {*defined, *exist} if special is None else {*defined, *PRESETS})
        if special is None and name not in {*defined, *PRESETS}:
            raise unknown("arm", name, {*defined, *PRESETS})
    defined = merge(
        defined, {name: _special(special) for name, special in names.items() if special is not None}
    )
    # A mapping adds to the arms that another mapping named; a list says which are run.
    before = chosen if chosen is not None and isinstance(said, Mapping) else []
    return defined, list(dict.fromkeys([*before, *names]))


def _special(settings: Mapping[str, Any] | None) -> Settings:
    return spelled_out(settings or {})


def _names(said: Any) -> Mapping[str, Any]:
    """Arms as a mapping from names to what is special about each, None for those that are only named."""
    if isinstance(said, str):
        said = [name.strip() for name in said.split(",") if name.strip()]
    if isinstance(said, Sequence):
        said = {name if isinstance(name, str) else repr(name): None for name in said}
    if not isinstance(said, Mapping) or not said:
        raise UsageError("arms: a list of names, or a mapping from names to settings, with at least one arm")
    return said


def _check_arm(name: Any, special: Any, known: set[str]) -> None:
    if not isinstance(name, str) or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise UsageError(f"arms: {name!r} is no arm name; letters, digits, '-', '_' and '.' are")
    if not isinstance(special or {}, Mapping):
        raise UsageError(f"arms.{name}: a mapping of settings is wanted, not {str(special)[:100]!r}")
    if name in known or special is None or {"agent", "reflector"} & special.keys():
        return
    near = difflib.get_close_matches(name, known, n=1, cutoff=NEAR)
    if near and not name.startswith(near[0]):
        raise UsageError(
            f"arms.{name}: did you mean {near[0]!r}? If it is to be an arm of its own, give it an agent or a reflector"
        )
