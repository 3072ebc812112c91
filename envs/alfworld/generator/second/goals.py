"""Chooses what a game of generator 2 asks for: a kind of room, a goal and a floor plan that has what it takes."""

from __future__ import annotations

from functools import cache

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.alfworld.generator.goals import APPLIANCES, EXAMINE, OFFICIAL_NAMES, Goal
from reflex_bench.envs.alfworld.generator.layouts import room_numbers, tables
from reflex_bench.envs.alfworld.generator.rooms import Room
from reflex_bench.envs.alfworld.generator.second.counts import Weights, counts
from reflex_bench.envs.alfworld.generator.second.furniture import furnish

_UNSEEN = frozenset({10, 219, 308, 424})
_UNSEEN_SHARE = 0.33
"""How often the floor plan is one of the four of valid_unseen, which are smaller than most, where one of them fits: so
often as in the mean of the three official sets."""

_SMALLER_OF_TWO = 0.4
"""How often two floor plans are drawn and the one with fewer pieces taken. The goals asked for are mostly possible in
the larger rooms; without this the mean is 26 receptacles, above all three official sets (22.1 to 24.4)."""


def choose(kind: str, rng: SeededRandom) -> tuple[Room, Goal] | None:
    """Return a room and a goal of the given type, as often as official games have them.

    Args:
        kind: `put`, `clean`, …
        rng: where the choices come from.

    Returns:
        None where the goal drawn fits no room.
    """
    rooms = counts().goals[kind]
    room_kind = drawn({name: wishes.share for name, wishes in rooms.items()}, rng)
    wishes = rooms[room_kind]
    into = drawn(wishes.into, rng)
    fitting = {
        thing: weight
        for thing, weight in wishes.sought.items()
        if kind == EXAMINE or thing in tables().holds[into]
    }
    if not fitting:
        return None
    target = drawn(fitting, rng)
    numbers = _rooms_with(room_kind, into, target, APPLIANCES.get(kind, ""))
    if not numbers:
        return None
    unseen = [number for number in numbers if number in _UNSEEN]
    pool = unseen if unseen and rng.chance(_UNSEEN_SHARE) else numbers
    rooms_drawn = [furnish(rng.pick(pool)) for _ in range(2 if rng.chance(_SMALLER_OF_TWO) else 1)]
    room = min(rooms_drawn, key=lambda room: len(room.receptacles))
    parent, toggle = ("", into) if kind == EXAMINE else (into, "")
    return room, Goal(kind, target, parent, toggle, _sentence(kind, target, parent, toggle, rng))


def drawn(weights: Weights, rng: SeededRandom) -> str:
    """Return one of the names, by weight."""
    names = list(weights)
    return rng.weighted(names, [weights[name] for name in names])


@cache
def _rooms_with(kind: str, *types: str) -> tuple[int, ...]:
    return tuple(number for number in room_numbers(kind) if {*types} - {""} <= _present(number))


def _present(number: int) -> set[str]:
    room = furnish(number)
    return {piece.type for piece in room.receptacles} | (room.types & counts().objects[room.kind].keys())


def _sentence(kind: str, target: str, parent: str, toggle: str, rng: SeededRandom) -> str:
    templates = tables().goals[OFFICIAL_NAMES[kind]]["templates"]
    assert isinstance(templates, list)
    sentence = rng.pick(templates).format(obj=target.lower(), recep=parent.lower(), toggle=toggle.lower())
    assert isinstance(sentence, str)
    return sentence
