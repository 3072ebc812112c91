"""Puts objects into a room of generator 2, as many of each kind and where official games have them.

Official games have oddities, and these have them too: things in two receptacles at once, things inside vessels, things
that no receptacle holds and nobody reaches, and lamps, windows or chairs that belong to the room.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.alfworld.generator.goals import APPLIANCES, CLEAN, EXAMINE, PUT, PUT_TWO, Goal
from reflex_bench.envs.alfworld.generator.recipe import Recipe
from reflex_bench.envs.alfworld.generator.rooms import Places, Receptacle, Room, centimetres, free_id
from reflex_bench.envs.alfworld.generator.second.counts import NOWHERE, Contents, Weights, counts
from reflex_bench.envs.alfworld.generator.second.goals import drawn

FIXED = frozenset(
    {
        *("Bathtub", "Blinds", "Chair", "Curtains", "DeskLamp", "FloorLamp", "Footstool", "HousePlant"),
        *("LaundryHamperLid", "LightSwitch", "Mirror", "Painting", "Poster", "ShowerDoor", "ShowerGlass"),
        *("Sink", "StoveKnob", "Television", "Window"),
    }
)
"""What nobody can pick up, in official games."""
_SOUGHT = (30, 29, 23, 18)
"""Percent of official games with 1, 2, 3, 4 objects of the kind sought; for kinds that too few games are about."""

_ALL_SHUT = 0.6
"""Of the games in which every target would be behind a door, how many are kept: official sets have fewer (2.9 to
4.9 %) than doors drawn independently give."""
_DRAWS = 50
"""Places drawn for an object sought before one behind a door is taken in any case."""


@dataclass(slots=True)
class Thing:
    """An object at its place at the start.

    Attributes:
        id: `Type|x|y|z` in metres.
        type: e.g. `ButterKnife`.
        places: the receptacles that it lies in; mostly one.
        location: where the agent stands to be near it.
        vessel: id of the object that it is inside of; empty for none.
    """

    id: str
    type: str
    places: tuple[Receptacle, ...]
    location: str
    vessel: str = field(default="")


def fill(room: Room, goal: Goal, recipe: Recipe, rng: SeededRandom) -> tuple[Thing, ...] | None:
    """Return the objects of one game, sorted by id; None where the goal is out of reach.

    Args:
        room: furnished.
        goal: what the game is about.
        recipe: how hard it is to be.
        rng: where the choices come from.
    """
    filler = _Filler(room, rng)
    table = counts().objects[room.kind]
    for kind in sorted(room.types & table.keys()):
        if kind == goal.target:
            filler.hide(kind, table[kind], goal, recipe)
        else:
            filler.lay(kind, table[kind])
    reached = [thing.places for thing in filler.things if thing.type == goal.target and thing.places]
    shut = all(piece.openable for pieces in reached for piece in pieces)
    if recipe.hidden is None and shut and not rng.chance(_ALL_SHUT):
        return None
    if len(reached) < (2 if goal.type == PUT_TWO else 1):
        return None
    if goal.type == EXAMINE and not any(
        thing.type == goal.toggle and thing.places for thing in filler.things
    ):
        return None
    filler.nest()
    return tuple(sorted(filler.things, key=lambda thing: thing.id))


class _Filler:
    """Objects laid out so far."""

    def __init__(self, room: Room, rng: SeededRandom) -> None:
        self.things: list[Thing] = []
        self._room = room
        self._rng = rng
        self._by_type: dict[str, list[Receptacle]] = defaultdict(list)
        for piece in room.receptacles:
            self._by_type[piece.type].append(piece)
        self._places = Places(rng, {piece.location for piece in room.receptacles} | {room.start})
        self._ids: set[str] = set()

    def lay(self, kind: str, contents: Contents) -> None:
        """Place any kind that the game is not about."""
        weights = self._possible(contents.lie)
        for _ in range(self._number(contents.copies)):
            self._add(kind, self._pieces(drawn(weights, self._rng)))

    def hide(self, kind: str, contents: Contents, goal: Goal, recipe: Recipe) -> None:
        """Hide the kind that the game is about; none where the task would be done, or half done, with it."""
        weights = self._possible(contents.lie)
        if goal.type == CLEAN:
            weights = {place: n for place, n in weights.items() if place != APPLIANCES[CLEAN]}
        if goal.type in (PUT, PUT_TWO):
            weights = {place: n for place, n in weights.items() if goal.parent not in place.split("+")}
        sought = contents.sought or _SOUGHT
        if goal.type == PUT_TWO:
            sought = (0, *sought[1:])
        count = self._number(sought) if recipe.copies is None else recipe.copies
        if recipe.copies is not None and goal.type == PUT_TWO:
            count = max(2, count)
        for _ in range(count if weights else 0):
            pieces = self._chosen(weights, recipe.hidden, goal.type)
            self._add(kind, pieces)

    def _chosen(self, weights: Weights, hidden: float | None, kind: str) -> tuple[Receptacle, ...]:
        if hidden is None:
            odds = counts().goals[kind][self._room.kind].behind / 100
            for _ in range(_DRAWS):
                pieces = self._pieces(drawn(weights, self._rng))
                if not pieces or not all(piece.openable for piece in pieces) or self._rng.chance(odds):
                    return pieces
            return pieces
        behind = self._rng.chance(hidden)
        fitting = {
            place: n
            for place, n in weights.items()
            if place != NOWHERE and "+" not in place and self._doors(place, behind)
        }
        if not fitting:
            return self._pieces(drawn(weights, self._rng))
        return (self._rng.pick(self._doors(drawn(fitting, self._rng), behind)),)

    def _doors(self, kind: str, behind: bool) -> list[Receptacle]:
        return [piece for piece in self._by_type[kind] if piece.openable == behind]

    def nest(self) -> None:
        """Puts things into the vessels beside them."""
        together: dict[str, list[Thing]] = defaultdict(list)
        for thing in self.things:
            for piece in thing.places[:1]:
                together[piece.id].append(thing)
        vessels = counts().vessels
        for things in together.values():
            for vessel in things:
                inner = vessels.get(vessel.type, {})
                for thing in things:
                    rate = inner.get(thing.type, 0)
                    free = thing is not vessel and not thing.vessel and vessel.vessel != thing.id
                    if rate and free and self._rng.chance(rate / 1000):
                        thing.vessel = vessel.id

    def _number(self, weights: tuple[int, ...]) -> int:
        """Return how many: 1 for the first weight, 2 for the second, and so on."""
        return 1 + self._rng.weighted(range(len(weights)), weights)

    def _possible(self, lie: Weights) -> Weights:
        """Of the places of a kind, those that the room has."""
        possible = {}
        for place, weight in lie.items():
            types = [] if place == NOWHERE else place.split("+")
            if all(len(self._by_type[kind]) >= types.count(kind) for kind in types):
                possible[place] = weight
        return possible or {NOWHERE: 1}

    def _pieces(self, place: str) -> tuple[Receptacle, ...]:
        pieces: list[Receptacle] = []
        for kind in [] if place == NOWHERE else place.split("+"):
            pieces.append(self._rng.pick([piece for piece in self._by_type[kind] if piece not in pieces]))
        return tuple(pieces)

    def _add(self, kind: str, pieces: tuple[Receptacle, ...]) -> None:
        if pieces:
            location, spot = pieces[0].location, centimetres(pieces[0])
        else:
            location = self._places.stand()
            spot = tuple(self._rng.between(*bounds) for bounds in ((-300, 300), (0, 200), (-300, 300)))
        name = free_id(kind, spot, self._rng, self._ids)
        self._ids.add(name)
        self.things.append(Thing(name, kind, pieces, location))
