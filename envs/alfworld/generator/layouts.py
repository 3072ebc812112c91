"""Tables of the `alfworld` package: rooms, furniture, objects and goals.

The package ships the layouts of 120 rooms and the tables with which its own games were made (Shridhar et al., 2021;
Shridhar et al., 2020 for ALFRED), but no games. Its files are read here without importing the package, whose import
makes a folder in the user's home.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld.official.package import package_folder

KITCHEN, LIVING_ROOM, BEDROOM, BATHROOM = "Kitchen", "LivingRoom", "Bedroom", "Bathroom"
FIRST_ROOM = {KITCHEN: 1, LIVING_ROOM: 201, BEDROOM: 301, BATHROOM: 401}  # gen/constants.py, SCENE_TYPE
ROOMS_PER_KIND = 30


@dataclass(frozen=True, slots=True)
class Fixture:
    """A receptacle of a layout file.

    Attributes:
        id: as AI2-THOR writes it, e.g. `Cabinet|+00.65|+00.48|+00.24`.
        type: e.g. `Cabinet`, `SinkBasin`.
        stand: where an agent stands before it: x and z in quarter metres, quarter turns, degrees below the horizon.
    """

    id: str
    type: str
    stand: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """One room as the package describes it.

    Attributes:
        number: of the floor plan, e.g. 10.
        kind: `Kitchen`, `LivingRoom`, `Bedroom` or `Bathroom`.
        fixtures: the receptacles whose place is known.
        types: everything seen in the room, furniture and objects alike, by type only.
    """

    number: int
    kind: str
    fixtures: tuple[Fixture, ...]
    types: frozenset[str]


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of `gen/constants.py` and `gen/goal_library.py`, and the game logic, as shipped.

    Attributes:
        holds: receptacle type to the object types that it may contain (`VAL_RECEPTACLE_OBJECTS`, without slices).
        able: `Heatable`, `Coolable`, `Cleanable`, `Toggleable`, `Sliceable` to object types.
        openable: receptacle types that open and close.
        movable: object types that are receptacles themselves.
        object_types: every object type that a problem must declare.
        receptacle_types: every receptacle type that a problem must declare.
        goals: task type to its PDDL goal and its sentences (keys `pddl`, `templates`).
        domain: the PDDL domain.
        grammar: the text grammar, with `UNKNOWN GOAL` where the task belongs.
    """

    holds: Mapping[str, frozenset[str]]
    able: Mapping[str, frozenset[str]]
    openable: frozenset[str]
    movable: frozenset[str]
    object_types: tuple[str, ...]
    receptacle_types: tuple[str, ...]
    goals: Mapping[str, Mapping[str, str | list[str]]]
    domain: str
    grammar: str


@cache
def tables() -> Tables:
    """Return the package's tables, read once."""
    folder = package_folder()
    constants = _module(folder / "gen" / "constants.py", "reflex_bench_alfworld_constants")
    goals = _module(folder / "gen" / "goal_library.py", "reflex_bench_alfworld_goals")
    movable = frozenset(constants.MOVABLE_RECEPTACLES)
    fixed = frozenset(constants.RECEPTACLES) - movable
    return Tables(
        holds={
            kind: frozenset(thing for thing in things if not thing.endswith("Sliced"))
            for kind, things in constants.VAL_RECEPTACLE_OBJECTS.items()
            if kind in fixed
        },
        able={
            name: frozenset(thing for thing in things if not thing.endswith("Sliced"))
            for name, things in constants.VAL_ACTION_OBJECTS.items()
        },
        openable=frozenset(constants.OPENABLE_CLASS_SET) & fixed,
        movable=movable,
        object_types=tuple(sorted(frozenset(constants.OBJECTS_SET) - fixed)),
        receptacle_types=tuple(sorted(fixed)),
        goals=goals.gdict,
        domain=(folder / "data" / "alfred.pddl").read_text(encoding="utf-8"),
        grammar=(folder / "data" / "alfred.twl2").read_text(encoding="utf-8"),
    )


@cache
def layout(number: int) -> Layout:
    """Return one of the 120 rooms: kitchens 1-30, living rooms 201-230, bedrooms 301-330, bathrooms 401-430."""
    folder = package_folder() / "gen" / "layouts"
    places = json.loads((folder / f"FloorPlan{number}-openable.json").read_text(encoding="utf-8"))
    seen = json.loads((folder / f"FloorPlan{number}-objects.json").read_text(encoding="utf-8"))
    kind = next(kind for kind in reversed(FIRST_ROOM) if number >= FIRST_ROOM[kind])
    fixtures = tuple(
        Fixture(name, _fixture_type(name), (round(x * 4), round(z * 4), round(turn / 90) % 4, round(horizon)))
        for name, (x, z, turn, horizon) in sorted(places.items())
    )
    return Layout(number, kind, fixtures, frozenset(seen))


def room_numbers(kind: str) -> range:
    """Return the floor plans of one kind of room."""
    return range(FIRST_ROOM[kind], FIRST_ROOM[kind] + ROOMS_PER_KIND)


def _fixture_type(name: str) -> str:
    parts = name.split("|")
    return parts[-1] if parts[-1].endswith("Basin") else parts[0]


def _module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"the alfworld package in {path.parent.parent} has no {path.name}; reinstall it")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
