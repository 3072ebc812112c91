"""Foresees what play can make true, and what it can never change.

The planner of the official engine does the same before a game starts, and loads no game whose goal is out of reach.
"""

from __future__ import annotations

from collections.abc import Collection

from reflex_bench.envs.alfworld.facts import PREDICATES, Facts, Row

# Changed by actions in ways that neither the texts nor the known goals depend on, so not followed here.
_NOT_FOLLOWED = {"ison"}
# Once true, always true.
_LASTING = ("isclean", "istoggled", "issliced")

Table = dict[str, set[Row]]


def prospects(facts: Facts, accepts: tuple[frozenset[int], ...]) -> tuple[Table, Table]:
    """For each predicate all that is or may become true, and all that is and stays true.

    What may become true is what could be reached if nothing ever ceased to be true.

    Args:
        facts: the problem.
        accepts: for each receptacle, the objects that may be put into it.
    """
    becoming = _becoming(facts, accepts)
    possible = {
        name: {*facts.rows(name), *becoming.get(name, ())} for name in PREDICATES.keys() - _NOT_FOLLOWED
    }
    certain = {name: set() if name in becoming else rows for name, rows in possible.items()}
    certain |= {name: {*facts.rows(name)} for name in _LASTING}
    movable = {name for (name,) in facts.rows("pickupable")}
    for name in ("inreceptacle", "objectatlocation"):
        certain[name] = {row for row in facts.rows(name) if row[0] not in movable}
    return possible, certain


def _becoming(facts: Facts, accepts: tuple[frozenset[int], ...]) -> Table:
    """What the actions can bring about."""
    agent = next((name for name, kind in facts.types.items() if kind == "agent"), "")
    spot: dict[str, str] = {row[0]: row[1] for row in facts.rows("receptacleatlocation")}
    movable = {name for (name,) in facts.rows("pickupable")}
    handy = {thing for thing, r in facts.rows("inreceptacle") if r in spot and thing in movable}
    handy |= {thing for _, thing in facts.rows("holds")}
    puts: set[Row] = {
        (facts.objects[number], r)
        for r in spot
        for number in accepts[facts.numbers[r]]
        if facts.objects[number] in handy
    }
    lying: set[Row] = {(thing, spot[r]) for thing, r in puts}
    near = {thing for thing, r in {*facts.rows("inreceptacle"), *puts} if r in spot}
    visited = {*spot.values(), *(place for _, place in facts.rows("atlocation"))}
    at_hand = {thing for thing, place in {*facts.rows("objectatlocation"), *lying} if place in visited}
    kinds = {kind for r, kind in facts.rows("receptacletype") if r in spot}
    knife = any(
        kind in ("knifetype", "butterknifetype") and o in handy for o, kind in facts.rows("objecttype")
    )

    def those(able: str, among: Collection[str], condition: bool = True) -> set[Row]:
        return {(name,) for (name,) in facts.rows(able) if condition and name in among}

    return {
        "inreceptacle": puts,
        "objectatlocation": lying,
        "atlocation": {(agent, place) for place in spot.values()},
        "holds": {(agent, thing) for thing in handy},
        "holdsany": {(agent,) for _ in handy},
        "opened": those("openable", spot),
        "isclean": those("cleanable", handy, "sinkbasintype" in kinds),
        "ishot": those("heatable", handy, "microwavetype" in kinds),
        "iscool": those("coolable", handy, "fridgetype" in kinds),
        "istoggled": those("toggleable", near),
        "issliced": those("sliceable", at_hand, knife),
    }
