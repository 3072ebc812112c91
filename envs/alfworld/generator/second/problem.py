"""Writes a game of generator 2 as the PDDL problem that the official engine reads, in the form of official problems."""

from __future__ import annotations

from collections.abc import Iterable

from reflex_bench.envs.alfworld.generator.goals import LAMPS, Goal
from reflex_bench.envs.alfworld.generator.layouts import tables
from reflex_bench.envs.alfworld.generator.problem import mangle
from reflex_bench.envs.alfworld.generator.rooms import Room
from reflex_bench.envs.alfworld.generator.second.contents import FIXED, Thing

_AGENT = "agent1"


def problem_text(room: Room, things: tuple[Thing, ...], goal: Goal) -> str:
    """Return the PDDL problem of one game."""
    facts = [*_room_facts(room), *_thing_facts(things), *_fitting_facts(room, things)]
    lines = [
        f"(define (problem plan_{room.number})",
        "    (:domain alfred)",
        "    (:objects",
        *(f"        {line}" for line in _declarations(room, things)),
        "    )",
        "    (:init",
        *(f"        ({fact})" for fact in facts),
        "    )",
        f"    {goal.pddl}",
    ]
    return mangle("\n".join(lines)) + "\n"


def _declarations(room: Room, things: tuple[Thing, ...]) -> Iterable[str]:
    yield f"{_AGENT} # agent"
    yield from (f"{kind}Type # otype" for kind in tables().object_types)
    yield from (f"{kind}Type # rtype" for kind in tables().receptacle_types)
    yield from (f"{thing.id} # object" for thing in things)
    yield from (f"{piece.id} # receptacle" for piece in room.receptacles)
    places = (
        {piece.location for piece in room.receptacles} | {thing.location for thing in things} | {room.start}
    )
    yield from (f"{place} # location" for place in sorted(places))


def _room_facts(room: Room) -> Iterable[str]:
    yield f"atLocation {_AGENT} {room.start}"
    for piece in room.receptacles:
        yield f"receptacleType {piece.id} {piece.type}Type"
        yield f"receptacleAtLocation {piece.id} {piece.location}"
        if piece.openable:
            yield f"openable {piece.id}"


def _thing_facts(things: tuple[Thing, ...]) -> Iterable[str]:
    # In official games nothing but these lamps is toggled.
    able = {**tables().able, "Toggleable": frozenset(LAMPS)}
    for thing in things:
        yield f"objectType {thing.id} {thing.type}Type"
        if thing.type not in FIXED:
            yield f"pickupable {thing.id}"
        if thing.type in tables().movable:
            yield f"isReceptacleObject {thing.id}"
        yield from (
            f"{name[0].lower()}{name[1:]} {thing.id}" for name, kinds in able.items() if thing.type in kinds
        )
        yield from (f"inReceptacle {thing.id} {piece.id}" for piece in thing.places)
        if thing.vessel:
            yield f"inReceptacleObject {thing.id} {thing.vessel}"
        yield f"objectAtLocation {thing.id} {thing.location}"


def _fitting_facts(room: Room, things: tuple[Thing, ...]) -> Iterable[str]:
    present = {thing.type for thing in things}
    for kind in sorted({piece.type for piece in room.receptacles}):
        for thing in sorted(present & tables().holds[kind]):
            yield f"canContain {kind}Type {thing}Type"
