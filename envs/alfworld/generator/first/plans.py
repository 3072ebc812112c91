"""Plays a game from the generator's own knowledge: the proof that it can be won, and a bound on the steps needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations

from reflex_bench.envs.alfworld.generator.first.contents import Thing
from reflex_bench.envs.alfworld.generator.goals import APPLIANCES, EXAMINE, PUT_TWO, Goal
from reflex_bench.envs.alfworld.generator.problem import shown_names
from reflex_bench.envs.alfworld.generator.rooms import Receptacle, Room


def plan(room: Room, things: tuple[Thing, ...], goal: Goal) -> tuple[str, ...]:
    """Return the commands that win the game, starting from the first observation.

    Every choice of objects and receptacles is tried and the shortest plan kept. Its length is an upper bound on the
    number of steps needed; that nothing shorter exists is not proved.
    """
    names = shown_names([piece.id for piece in room.receptacles] + [thing.id for thing in things])
    targets = [thing for thing in things if thing.type == goal.target]
    if goal.type == EXAMINE:
        lamps = [thing for thing in things if thing.type == goal.toggle]
        return _shortest(_examine(room, names, target, lamp) for target in targets for lamp in lamps)
    parents = room.of_type(goal.parent)
    if goal.type == PUT_TWO:
        return _shortest(
            _bring(room, names, pair, parent) for pair in permutations(targets, 2) for parent in parents
        )
    if goal.type in APPLIANCES:
        return _shortest(
            _bring(room, names, (target,), parent, goal.type, appliance)
            for target in targets
            for parent in parents
            for appliance in room.of_type(APPLIANCES[goal.type])
        )
    return _shortest(_bring(room, names, (target,), parent) for target in targets for parent in parents)


def _shortest(plans: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return min(plans, key=len)


def _bring(
    room: Room,
    names: Mapping[str, str],
    targets: tuple[Thing, ...],
    parent: Receptacle,
    treatment: str = "",
    appliance: Receptacle | None = None,
) -> tuple[str, ...]:
    walk = _Walk(room.start, names)
    for target in targets:
        walk.fetch(target)
        if appliance is not None:
            walk.go(appliance)
            walk.commands.append(f"{treatment} {names[target.id]} with {names[appliance.id]}")
        walk.go(parent)
        walk.open(parent)
        walk.commands.append(f"move {names[target.id]} to {names[parent.id]}")
    return tuple(walk.commands)


def _examine(room: Room, names: Mapping[str, str], target: Thing, lamp: Thing) -> tuple[str, ...]:
    walk = _Walk(room.start, names)
    walk.fetch(target)
    walk.go(lamp.place)
    walk.commands.append(f"use {names[lamp.id]}")
    return tuple(walk.commands)


class _Walk:
    """Commands so far, and what they changed."""

    def __init__(self, start: str, names: Mapping[str, str]) -> None:
        self.commands: list[str] = []
        self._here = start
        self._names = names
        self._opened: set[str] = set()

    def go(self, piece: Receptacle) -> None:
        # To go where one stands is no legal command, and neighbours may share a standing point.
        if piece.location != self._here:
            self.commands.append(f"go to {self._names[piece.id]}")
            self._here = piece.location

    def open(self, piece: Receptacle) -> None:
        if piece.openable and piece.id not in self._opened:
            self.commands.append(f"open {self._names[piece.id]}")
            self._opened.add(piece.id)

    def fetch(self, thing: Thing) -> None:
        self.go(thing.place)
        self.open(thing.place)
        self.commands.append(f"take {self._names[thing.id]} from {self._names[thing.place.id]}")
