"""Kinds of task: their six names, their mix and the choice of a goal that fits a room."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.alfworld.generator.layouts import BATHROOM, BEDROOM, KITCHEN, LIVING_ROOM, tables
from reflex_bench.envs.alfworld.generator.rooms import Room, count_types

PUT, CLEAN, HEAT, COOL, EXAMINE, PUT_TWO = "put", "clean", "heat", "cool", "examine", "puttwo"

OFFICIAL_NAMES = {
    PUT: "pick_and_place_simple",
    CLEAN: "pick_clean_then_place_in_recep",
    HEAT: "pick_heat_then_place_in_recep",
    COOL: "pick_cool_then_place_in_recep",
    EXAMINE: "look_at_obj_in_light",
    PUT_TWO: "pick_two_obj_and_place",
}
SHORT_NAMES = {official: short for short, official in OFFICIAL_NAMES.items()}

# The official unseen validation split: 134 games (Shridhar et al., 2021, table 1).
MIX = {PUT: 24, CLEAN: 31, HEAT: 23, COOL: 21, EXAMINE: 18, PUT_TWO: 17}
CYCLE = sum(MIX.values())

# gen/constants.py, GOALS_VALID
ROOM_KINDS = {
    PUT: (KITCHEN, LIVING_ROOM, BEDROOM, BATHROOM),
    CLEAN: (KITCHEN, BATHROOM),
    HEAT: (KITCHEN,),
    COOL: (KITCHEN,),
    EXAMINE: (LIVING_ROOM, BEDROOM),
    PUT_TWO: (KITCHEN, LIVING_ROOM, BEDROOM, BATHROOM),
}
APPLIANCES = {CLEAN: "SinkBasin", HEAT: "Microwave", COOL: "Fridge"}
_ABILITIES = {CLEAN: "Cleanable", HEAT: "Heatable", COOL: "Coolable"}
# Where a lamp may stand, best first.
LAMP_TABLES = ("Desk", "SideTable", "Dresser", "CoffeeTable", "DiningTable", "TVStand", "CounterTop", "Shelf")
LAMPS = ("DeskLamp", "FloorLamp")


@dataclass(frozen=True, slots=True)
class Goal:
    """What a game asks for.

    Attributes:
        type: `put`, `clean`, `heat`, `cool`, `examine` or `puttwo`.
        target: the type of object that it is about.
        parent: the type of receptacle that the object belongs in; empty for `examine`.
        toggle: the type of lamp; empty for all others.
        sentence: the task in words, without the full stop.
    """

    type: str
    target: str
    parent: str
    toggle: str
    sentence: str

    @property
    def pddl(self) -> str:
        """The package's goal, filled in; `#` stands for the hyphen, and the last bracket closes the problem."""
        text = tables().goals[OFFICIAL_NAMES[self.type]]["pddl"]
        assert isinstance(text, str)
        return text.format(obj=self.target, recep=self.parent, toggle=self.toggle).strip()

    @property
    def shunned(self) -> frozenset[str]:
        """Receptacle types in which no target may lie at the start: there the task would be done, or half done."""
        return frozenset({self.parent, APPLIANCES.get(self.type, "")} - {""})


def scheduled_type(number: int) -> str:
    """Return the type of the game with this number, counted from 0.

    Every run of games from the first follows the official mix as closely as whole games allow, and every 134 exactly.
    """
    return _SCHEDULE[number % CYCLE]


def choose_goal(room: Room, kind: str, rng: SeededRandom) -> Goal | None:
    """Return a goal of the given type that the room allows; None where it allows none."""
    if kind == EXAMINE:
        return _choose_examine(room, rng)
    ability = _ABILITIES.get(kind)
    targets = objects_of(room) & (tables().able[ability] if ability else objects_of(room))
    choices: list[tuple[str, list[str]]] = []
    for parent in sorted(count_types(room)):
        if parent == APPLIANCES.get(kind):
            continue
        shunned = {parent, APPLIANCES.get(kind, "")}
        fitting = sorted(
            thing for thing in targets & tables().holds[parent] if set(homes(room, thing)) - shunned
        )
        if fitting:
            choices.append((parent, fitting))
    if not choices:
        return None
    parent, fitting = rng.pick(choices)
    return _worded(kind, rng.pick(fitting), parent, "", rng)


def objects_of(room: Room) -> frozenset[str]:
    """Return the types of object seen in the room that some receptacle in it may hold."""
    return frozenset(thing for thing in room.types if homes(room, thing))


def homes(room: Room, thing: str) -> list[str]:
    """Return the types of receptacle in the room that may hold an object type."""
    return [kind for kind in sorted(count_types(room)) if thing in tables().holds[kind]]


def lamps_of(room: Room) -> list[str]:
    """Return the kinds of lamp seen in the room, where there is something to stand them on."""
    return [lamp for lamp in LAMPS if lamp in room.types] if room.of_type(*LAMP_TABLES) else []


def _choose_examine(room: Room, rng: SeededRandom) -> Goal | None:
    lamps = lamps_of(room)
    targets = sorted(objects_of(room))
    if not lamps or not targets:
        return None
    return _worded(EXAMINE, rng.pick(targets), "", rng.pick(lamps), rng)


def _worded(kind: str, target: str, parent: str, toggle: str, rng: SeededRandom) -> Goal:
    templates = tables().goals[OFFICIAL_NAMES[kind]]["templates"]
    assert isinstance(templates, list)
    sentence = rng.pick(templates).format(obj=target.lower(), recep=parent.lower(), toggle=toggle.lower())
    return Goal(kind, target, parent, toggle, sentence)


def _schedule() -> Iterable[str]:
    given = dict.fromkeys(MIX, 0)
    for number in range(1, CYCLE + 1):
        most_behind = max(MIX, key=lambda kind: MIX[kind] * number - CYCLE * given[kind])
        given[most_behind] += 1
        yield most_behind


_SCHEDULE = tuple(_schedule())
