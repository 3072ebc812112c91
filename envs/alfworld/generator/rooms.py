"""Furnishes the package's 120 layouts: every piece of furniture gets a place, and its place never changes.

The layout files give places to only part of a room's furniture; stove burners, coffee machines, beds and the like are
known by type alone. Those are added here at invented places, the same ones in every game of the room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.alfworld.generator.layouts import (
    BATHROOM,
    BEDROOM,
    KITCHEN,
    LIVING_ROOM,
    layout,
    tables,
)

MIN_RECEPTACLES = 10

# How many pieces stand in a room that is only known to have some: (fewest, most, height in centimetres).
_PIECES: dict[str, tuple[int, int, int]] = {
    "ArmChair": (1, 2, 0),
    "Bed": (1, 1, 0),
    "Cabinet": (2, 4, 50),
    "CoffeeMachine": (1, 1, 90),
    "CoffeeTable": (1, 1, 0),
    "CounterTop": (1, 1, 95),
    "Desk": (1, 1, 0),
    "Drawer": (2, 4, 45),
    "Dresser": (1, 1, 0),
    "GarbageCan": (1, 1, 0),
    "HandTowelHolder": (1, 2, 150),
    "LaundryHamper": (1, 1, 0),
    "Ottoman": (1, 1, 0),
    "Safe": (1, 1, 20),
    "Shelf": (2, 3, 100),
    "SideTable": (1, 2, 0),
    "SinkBasin": (1, 1, 90),
    "Sofa": (1, 1, 0),
    "StoveBurner": (4, 4, 92),
    "Toaster": (1, 1, 90),
    "Toilet": (1, 1, 0),
    "ToiletPaperHanger": (1, 1, 80),
    "TowelHolder": (1, 2, 140),
    "TVStand": (1, 1, 0),
}
# What fills up a room that would stay below `MIN_RECEPTACLES`, in this order, round and round.
_FILLERS = {
    KITCHEN: ("Cabinet", "Drawer"),
    LIVING_ROOM: ("SideTable", "Drawer", "Shelf", "Drawer", "Cabinet"),
    BEDROOM: ("SideTable", "Drawer", "Drawer", "Shelf", "Shelf"),
    BATHROOM: ("Cabinet", "Drawer", "Shelf", "Cabinet"),
}
_BASINS = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}


@dataclass(frozen=True, slots=True)
class Receptacle:
    """A piece of furniture that holds things.

    Attributes:
        id: `Type|x|y|z` in metres; `Sink|x|y|z|SinkBasin` for basins.
        type: e.g. `StoveBurner`.
        location: where an agent stands before it, `loc|x|z|turn|horizon`; several pieces may share one.
        openable: it has a door or is drawn out; all others are always open.
    """

    id: str
    type: str
    location: str
    openable: bool


@dataclass(frozen=True, slots=True)
class Room:
    """A furnished room.

    Attributes:
        number: of the floor plan.
        kind: `Kitchen`, `LivingRoom`, `Bedroom` or `Bathroom`.
        receptacles: sorted by id.
        types: everything seen in the room, by type.
        start: a location where nothing stands.
    """

    number: int
    kind: str
    receptacles: tuple[Receptacle, ...]
    types: frozenset[str]
    start: str

    def of_type(self, *types: str) -> list[Receptacle]:
        return [piece for piece in self.receptacles if piece.type in types]


@cache
def furnish(number: int) -> Room:
    """Return the room of one floor plan, always the same."""
    plan = layout(number)
    rng = SeededRandom("room", number)
    openable = tables().openable
    pieces = [
        Receptacle(fixture.id, fixture.type, location(*fixture.stand), fixture.type in openable)
        for fixture in plan.fixtures
    ]
    places = Places(rng, {piece.location for piece in pieces})
    standing = {piece.type for piece in pieces}
    for kind in sorted(set(_PIECES) & plan.types - standing):
        fewest, most, _ = _PIECES[kind]
        pieces += places.build(kind, rng.between(fewest, most))
    fillers = _FILLERS[plan.kind]
    for turn in range(MIN_RECEPTACLES):
        if len(pieces) >= MIN_RECEPTACLES:
            break
        pieces += places.build(fillers[turn % len(fillers)], 1)
    pieces.sort(key=lambda piece: piece.id)
    return Room(number, plan.kind, tuple(pieces), plan.types, places.stand())


def location(x: int, z: int, turn: int, horizon: int) -> str:
    """Return the id of a standing point: quarter metres, quarter turns, degrees below the horizon."""
    return f"loc|{x}|{z}|{turn}|{horizon}"


def coordinates(x: int, y: int, z: int) -> str:
    """Return a place in centimetres as AI2-THOR writes it in metres: sign, two digits, two decimals."""
    return "|".join(
        f"{'-' if value < 0 else '+'}{abs(value) // 100:02d}.{abs(value) % 100:02d}" for value in (x, y, z)
    )


def centimetres(piece: Receptacle) -> tuple[int, ...]:
    """Return where a receptacle stands, by its id: x, y and z in centimetres."""
    return tuple(round(float(part) * 100) for part in piece.id.split("|")[1:4])


def free_id(kind: str, spot: Sequence[int], rng: SeededRandom, taken: Collection[str]) -> str:
    """Return the id of a thing near a spot (x, y, z in centimetres) that no other thing has."""
    x, y, z = spot
    while True:
        jitter = [rng.between(-25, 25) for _ in "xz"]
        name = f"{kind}|{coordinates(x + jitter[0], y + rng.below(12), z + jitter[1])}"
        if name not in taken:
            return name


class Places:
    """Invents places that nothing else occupies.

    Args:
        rng: where the choices come from.
        taken: standing points that are in use.
    """

    def __init__(self, rng: SeededRandom, taken: set[str]) -> None:
        self._rng = rng
        self._taken = taken
        self._spots: set[str] = set()

    def stand(self) -> str:
        """Return a standing point that is nobody else's."""
        while True:
            point = location(
                self._rng.between(-12, 12),
                self._rng.between(-12, 12),
                self._rng.below(4),
                self._rng.pick((0, 30, 45, 60)),
            )
            if point not in self._taken:
                self._taken.add(point)
                return point

    def spot(self, height: int) -> str:
        """Return coordinates at about the given height (centimetres), used by nothing else made here."""
        while True:
            spot = coordinates(
                self._rng.between(-300, 300), height + self._rng.below(10), self._rng.between(-300, 300)
            )
            if spot not in self._spots:
                self._spots.add(spot)
                return spot

    def build(self, kind: str, count: int) -> Iterator[Receptacle]:
        """New pieces of one type. As in the real rooms, two stove burners share a standing point."""
        stand = ""
        for number in range(count):
            if kind != "StoveBurner" or number % 2 == 0:
                stand = self.stand()
            spot = self.spot(_PIECES[kind][2])
            name = f"{_BASINS[kind]}|{spot}|{kind}" if kind in _BASINS else f"{kind}|{spot}"
            yield Receptacle(name, kind, stand, kind in tables().openable)


def count_types(room: Room) -> Counter[str]:
    """Return how many receptacles of each type stand in a room."""
    return Counter(piece.type for piece in room.receptacles)
