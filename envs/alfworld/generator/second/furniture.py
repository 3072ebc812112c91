"""Furnishes the package's 120 layouts as official rooms are: what the layouts leave out, and lids that do not open."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.alfworld.generator.goals import APPLIANCES
from reflex_bench.envs.alfworld.generator.layouts import layout
from reflex_bench.envs.alfworld.generator.rooms import Places, Receptacle, Room
from reflex_bench.envs.alfworld.generator.second.counts import Pieces, counts

_NONE = Pieces((1,), 0)


@cache
def furnish(number: int) -> Room:
    """Return the room of one floor plan, always the same.

    Args:
        number: of the floor plan.
    """
    plan = layout(number)
    rng = SeededRandom("furniture", number)
    kinds = counts().furniture[plan.kind]
    standing = [(fixture.id, fixture.type, fixture.stand) for fixture in plan.fixtures]
    pieces = [
        Receptacle(name, kind, "loc|" + "|".join(map(str, stand)), False) for name, kind, stand in standing
    ]
    places = Places(rng, {piece.location for piece in pieces})
    # Two pieces may share a standing point, but in official games nothing stands where one cleans, heats or cools.
    pieces = [
        replace(piece, location=places.stand()) if piece.type in APPLIANCES.values() else piece
        for piece in pieces
    ]
    for kind in sorted(plan.types & kinds.keys()):
        more = kinds[kind].more
        pieces += places.build(kind, rng.weighted(range(len(more)), more))
    pieces = [
        replace(piece, openable=rng.chance(kinds.get(piece.type, _NONE).opens / 100)) for piece in pieces
    ]
    pieces.sort(key=lambda piece: piece.id)
    return Room(number, plan.kind, tuple(pieces), plan.types, places.stand())
