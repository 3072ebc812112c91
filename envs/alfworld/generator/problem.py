"""Writes a game as the PDDL problem that the official engine reads, and knows the names that it will show.

The form is that of gen/game_states/planned_game_state.py; the naming that of the engine's Demangler
(agents/utils/misc.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from reflex_bench.envs.alfworld.generator.first.contents import Thing
from reflex_bench.envs.alfworld.generator.goals import Goal
from reflex_bench.envs.alfworld.generator.layouts import tables
from reflex_bench.envs.alfworld.generator.rooms import Room

_AGENT = "agent1"
# What PDDL does not allow in a name (fix_pddl_str_chars); the hyphen first, since `#` becomes one.
_ESCAPES = (("-", "_minus_"), ("#", "-"), ("|", "_bar_"), ("+", "_plus_"), (".", "_dot_"), (",", "_comma_"))


def mangle(text: str) -> str:
    """Rewrites ids for PDDL; `#` stands for the hyphen of PDDL itself."""
    for plain, escaped in _ESCAPES:
        text = text.replace(plain, escaped)
    return text


def shown_names(ids: Iterable[str]) -> Mapping[str, str]:
    """Return each id's name in the game, e.g. `sinkbasin 1`.

    The engine sorts the mangled ids, in lower case, and numbers each type downwards: the first gets the highest.
    """
    stems = {name: _stem(name) for name in ids}
    left = Counter(stems.values())
    names: dict[str, str] = {}
    for name in sorted(stems, key=lambda name: mangle(name).lower()):
        names[name] = f"{stems[name]} {left[stems[name]]}"
        left[stems[name]] -= 1
    return names


def problem_text(room: Room, things: tuple[Thing, ...], goal: Goal) -> str:
    """Return the PDDL problem of one game."""
    lines = [
        f"(define (problem plan_{room.number})",
        "    (:domain alfred)",
        "    (:objects",
        *_indented(_declarations(room, things)),
        "    )",
        "    (:init",
        "        (= (total#cost) 0)",
        *_indented(_room_facts(room)),
        *_indented(_thing_facts(things)),
        *_indented(_fitting_facts(room, things)),
        "    )",
        f"    {goal.pddl}",
    ]
    return mangle("\n".join(lines)) + "\n"


def _stem(name: str) -> str:
    stem = name.split("|", 1)[0].lower()
    return stem + "basin" if "basin" in name.lower() else stem


def _indented(lines: Iterable[str]) -> Iterable[str]:
    return (f"        {line}" for line in lines)


def _declarations(room: Room, things: tuple[Thing, ...]) -> Iterable[str]:
    yield f"{_AGENT} # agent"
    yield from (f"{kind}Type # otype" for kind in tables().object_types)
    yield from (f"{kind}Type # rtype" for kind in tables().receptacle_types)
    yield from (f"{thing.id} # object" for thing in things)
    yield from (f"{piece.id} # receptacle" for piece in room.receptacles)
    places = {piece.location for piece in room.receptacles} | {room.start}
    yield from (f"{place} # location" for place in sorted(places))


def _room_facts(room: Room) -> Iterable[str]:
    yield f"(atLocation {_AGENT} {room.start})"
    for piece in room.receptacles:
        yield f"(receptacleType {piece.id} {piece.type}Type)"
        yield f"(receptacleAtLocation {piece.id} {piece.location})"
        if piece.openable:
            yield f"(openable {piece.id})"


def _thing_facts(things: tuple[Thing, ...]) -> Iterable[str]:
    movable = tables().movable
    able = [(f"{ability[0].lower()}{ability[1:]}", kinds) for ability, kinds in tables().able.items()]
    for thing in things:
        yield f"(objectType {thing.id} {thing.type}Type)"
        if not thing.fixed:
            yield f"(pickupable {thing.id})"
        if thing.type in movable:
            yield f"(isReceptacleObject {thing.id})"
        yield from (f"({ability} {thing.id})" for ability, kinds in able if thing.type in kinds)
        yield f"(inReceptacle {thing.id} {thing.place.id})"
        yield f"(wasInReceptacle {thing.id} {thing.place.id})"
        yield f"(objectAtLocation {thing.id} {thing.place.location})"


def _fitting_facts(room: Room, things: tuple[Thing, ...]) -> Iterable[str]:
    present = {thing.type for thing in things}
    for kind in sorted({piece.type for piece in room.receptacles}):
        for thing in sorted(present & tables().holds[kind]):
            yield f"(canContain {kind}Type {thing}Type)"
