"""Puts objects into a room: the goal's own, things easily mistaken for them, and everything else that belongs there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.alfworld.generator.goals import LAMP_TABLES, PUT_TWO, Goal, homes, lamps_of, objects_of
from reflex_bench.envs.alfworld.generator.layouts import BATHROOM, BEDROOM, KITCHEN, LIVING_ROOM, tables
from reflex_bench.envs.alfworld.generator.rooms import Receptacle, Room, centimetres, free_id

MIN_OBJECTS, MAX_OBJECTS = 20, 60

# About how many objects a furnished room has.
_FULLNESS = {KITCHEN: (34, 56), LIVING_ROOM: (20, 34), BEDROOM: (22, 38), BATHROOM: (20, 30)}

# Receptacle type: (how many things it holds at the start, how likely things are there). No rule of the game.
_SPACE: dict[str, tuple[int, int]] = {
    "ArmChair": (2, 3),
    "BathtubBasin": (3, 3),
    "Bed": (4, 5),
    "Cabinet": (3, 1),
    "Cart": (5, 4),
    "CoffeeMachine": (1, 2),
    "CoffeeTable": (7, 6),
    "CounterTop": (12, 8),
    "Desk": (8, 6),
    "DiningTable": (12, 8),
    "Drawer": (3, 1),
    "Dresser": (8, 6),
    "Fridge": (8, 4),
    "GarbageCan": (4, 2),
    "HandTowelHolder": (1, 9),
    "LaundryHamper": (2, 2),
    "Microwave": (2, 1),
    "Ottoman": (2, 2),
    "Safe": (3, 2),
    "Shelf": (4, 3),
    "SideTable": (6, 5),
    "SinkBasin": (4, 3),
    "Sofa": (4, 4),
    "StoveBurner": (1, 2),
    "TVStand": (4, 4),
    "Toaster": (0, 0),
    "Toilet": (3, 3),
    "ToiletPaperHanger": (1, 5),
    "TowelHolder": (1, 9),
}
_MAX_COPIES = 3  # gen/constants.py, MAX_NUM_OF_OBJ_INSTANCES
_FEW_COPIES = {
    "BaseballBat": 1,
    "BasketBall": 1,
    "Box": 2,
    "Kettle": 2,
    "Laptop": 2,
    "Plunger": 1,
    "Towel": 2,
}
# Seen in a room and part of it: nobody can pick them up.
_FIXED = {"Television": ("TVStand", "Dresser", *LAMP_TABLES), "HousePlant": LAMP_TABLES}
# Nothing may hold it in the package's tables, yet it lies on counters: it can be taken and never be put back.
_LOOSE = {"PaperTowelRoll": ("CounterTop", "DiningTable", "Cart", "SideTable")}
_HIDDEN_SHARE = 0.5  # of the objects sought, where a closed receptacle may hold them

LOOK_ALIKES: dict[str, tuple[str, ...]] = {
    "AlarmClock": ("Watch", "CellPhone"),
    "Apple": ("Tomato", "Potato"),
    "BaseballBat": ("TennisRacket",),
    "BasketBall": ("Pillow",),
    "Book": ("Newspaper", "Laptop"),
    "Bowl": ("Plate", "Pot", "Cup"),
    "Box": ("TissueBox", "Book"),
    "Bread": ("Potato", "Lettuce"),
    "ButterKnife": ("Knife", "Fork"),
    "CD": ("CreditCard", "Book"),
    "Candle": ("SoapBar", "Vase"),
    "CellPhone": ("RemoteControl", "AlarmClock"),
    "Cloth": ("HandTowel", "DishSponge"),
    "CreditCard": ("CD", "KeyChain"),
    "Cup": ("Mug", "Bowl"),
    "DishSponge": ("SoapBar", "Cloth"),
    "Egg": ("Potato", "Tomato"),
    "Fork": ("Spoon", "ButterKnife"),
    "Glassbottle": ("WineBottle", "Cup"),
    "HandTowel": ("Cloth", "Towel"),
    "Kettle": ("Pot", "Pan"),
    "KeyChain": ("CreditCard", "Watch"),
    "Knife": ("ButterKnife", "Spatula"),
    "Ladle": ("Spoon", "Spatula"),
    "Laptop": ("Book", "Newspaper"),
    "Lettuce": ("Apple", "Bread"),
    "Mug": ("Cup", "Bowl"),
    "Newspaper": ("Book", "Laptop"),
    "Pan": ("Pot", "Plate"),
    "Pen": ("Pencil",),
    "Pencil": ("Pen",),
    "PepperShaker": ("SaltShaker",),
    "Pillow": ("Laptop", "Box"),
    "Plate": ("Bowl", "Pan"),
    "Pot": ("Pan", "Kettle"),
    "Potato": ("Egg", "Tomato"),
    "RemoteControl": ("CellPhone",),
    "SaltShaker": ("PepperShaker",),
    "SoapBar": ("SoapBottle", "Candle"),
    "SoapBottle": ("SprayBottle", "SoapBar"),
    "Spatula": ("Ladle", "Spoon"),
    "Spoon": ("Fork", "Ladle"),
    "SprayBottle": ("SoapBottle",),
    "Statue": ("Vase", "Candle"),
    "TennisRacket": ("BaseballBat",),
    "TissueBox": ("Box", "ToiletPaper"),
    "ToiletPaper": ("TissueBox", "HandTowel"),
    "Tomato": ("Apple", "Potato"),
    "Vase": ("Statue", "Glassbottle"),
    "Watch": ("KeyChain", "AlarmClock"),
    "WateringCan": ("Vase",),
    "WineBottle": ("Glassbottle",),
}


@dataclass(frozen=True, slots=True)
class Thing:
    """An object at its place at the start.

    Attributes:
        id: `Type|x|y|z` in metres.
        type: e.g. `ButterKnife`.
        place: the receptacle that it lies in.
        fixed: it cannot be picked up.
    """

    id: str
    type: str
    place: Receptacle
    fixed: bool = False


def fill(room: Room, goal: Goal, rng: SeededRandom) -> tuple[Thing, ...] | None:
    """Return the objects of one game, sorted by id; None where the goal's own do not fit in."""
    filler = _Filler(room, rng)
    for lamp in lamps_of(room):
        filler.set_up(lamp, LAMP_TABLES)
    wanted = rng.between(2, 3) if goal.type == PUT_TWO else rng.between(1, 2)
    for _ in range(wanted):
        if not filler.hide(goal.target, goal.shunned):
            return None
    for kind in _distractors(room, goal.target, rng):
        filler.lay(kind)
    for kind, tops in sorted(_FIXED.items()):
        if kind in room.types:
            filler.set_up(kind, tops)
    for kind, tops in sorted(_LOOSE.items()):
        if kind in room.types:
            filler.set_up(kind, tops, fixed=False)
    filler.furnish(objects_of(room) - {goal.target}, rng.between(*_FULLNESS[room.kind]))
    enough = MIN_OBJECTS <= len(filler.things) <= MAX_OBJECTS
    return tuple(sorted(filler.things, key=lambda thing: thing.id)) if enough else None


def _distractors(room: Room, target: str, rng: SeededRandom) -> list[str]:
    """Return one to three objects of the types most easily taken for the target, those seen in the room first."""
    alike = [kind for kind in LOOK_ALIKES.get(target, ()) if homes(room, kind)]
    alike.sort(key=lambda kind: kind not in room.types)
    return [kind for kind in alike[:2] for _ in range(rng.between(1, 2))][:3]


class _Filler:
    """Objects laid out so far, and the room that is left."""

    def __init__(self, room: Room, rng: SeededRandom) -> None:
        self.things: list[Thing] = []
        self._room = room
        self._rng = rng
        self._load: Counter[str] = Counter()
        self._ids: set[str] = set()

    def set_up(self, kind: str, tops: tuple[str, ...], fixed: bool = True) -> None:
        """Place one object on the first of these kinds of furniture that stands in the room."""
        for top in tops:
            pieces = self._room.of_type(top)
            if pieces:
                self._add(kind, self._rng.pick(pieces), fixed)
                return

    def hide(self, kind: str, shunned: frozenset[str]) -> bool:
        """Place an object that is sought, as often behind a door as in the open; False where no place is left."""
        places = [piece for piece in self._places(kind) if piece.type not in shunned]
        closed = [piece for piece in places if piece.openable]
        if closed and self._rng.chance(_HIDDEN_SHARE):
            self._add(kind, self._rng.pick(closed))
            return True
        return self._lay_in([piece for piece in places if not piece.openable] or closed, kind)

    def lay(self, kind: str) -> bool:
        """Place any other object where such things lie; False where no place is left."""
        return self._lay_in(self._places(kind), kind)

    def furnish(self, kinds: frozenset[str], aim: int) -> None:
        """Place one of each kind, then further copies, until about `aim` objects are there."""
        order = _shuffled_from_back(sorted(kinds), self._rng)
        for _ in range(_MAX_COPIES):
            for kind in order:
                if len(self.things) >= aim:
                    return
                present = sum(thing.type == kind for thing in self.things)
                if present < _FEW_COPIES.get(kind, _MAX_COPIES):
                    self.lay(kind)

    def _lay_in(self, places: list[Receptacle], kind: str) -> bool:
        if not places:
            return False
        self._add(kind, self._rng.weighted(places, [_SPACE[piece.type][1] for piece in places]))
        return True

    def _places(self, kind: str) -> list[Receptacle]:
        holds = tables().holds
        return [
            piece
            for piece in self._room.receptacles
            if kind in holds[piece.type] and self._load[piece.id] < _SPACE[piece.type][0]
        ]

    def _add(self, kind: str, piece: Receptacle, fixed: bool = False) -> None:
        self._load[piece.id] += 1
        name = free_id(kind, centimetres(piece), self._rng, self._ids)
        self._ids.add(name)
        self.things.append(Thing(name, kind, piece, fixed))


def _shuffled_from_back(items: list[str], rng: SeededRandom) -> list[str]:
    """Shuffle in place and return the items (Fisher and Yates).

    `SeededRandom.shuffled` begins at the front. Games of a seed are known by the order of this one.
    """
    for last in range(len(items) - 1, 0, -1):
        other = rng.below(last + 1)
        items[last], items[other] = items[other], items[last]
    return items
