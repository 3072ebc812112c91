"""Delete relaxation: finds what play can make true, and what it can never change.

The planner of the official engine does the same before a game starts, and loads no game whose goal is out of reach.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import product
from math import prod

from reflex_bench.envs.alfworld.engine.loading.facts import PREDICATES, Facts, Row
from reflex_bench.envs.alfworld.engine.loading.formulas import Formula, Variables
from reflex_bench.envs.alfworld.engine.loading.known_rules import TYPES

# Changed by actions in ways that neither the texts nor the known goals depend on, so not followed here.
_NOT_FOLLOWED = {"ison", "checked"}
# Once true, always true.
_LASTING = ("isclean", "istoggled", "issliced")

Table = dict[str, set[Row]]


def reachable(
    facts: Facts, accepts: tuple[frozenset[int], ...], cleaners: Collection[str]
) -> tuple[Table, Table]:
    """For each predicate all that is or may become true, and all that is and stays true.

    What may become true is what could be reached if nothing ever ceased to be true.

    Args:
        facts: the problem.
        accepts: for each receptacle, the objects that may be put into it.
        cleaners: the types of receptacle that clean.
    """
    becoming = _delete_relaxation(facts, accepts, cleaners)
    possible = {
        name: {*facts.rows(name), *becoming.get(name, ())} for name in PREDICATES.keys() - _NOT_FOLLOWED
    }
    certain = {name: set() if name in becoming else rows for name, rows in possible.items()}
    certain |= {name: {*facts.rows(name)} for name in _LASTING}
    movable = {name for (name,) in facts.rows("pickupable")}
    for name in ("inreceptacle", "objectatlocation"):
        certain[name] = {row for row in facts.rows(name) if row[0] not in movable}
    return possible, certain


def _delete_relaxation(facts: Facts, accepts: tuple[frozenset[int], ...], cleaners: Collection[str]) -> Table:
    """Return what the actions can bring about."""
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
        "isclean": those("cleanable", handy, not kinds.isdisjoint(cleaners)),
        "ishot": those("heatable", handy, "microwavetype" in kinds),
        "iscool": those("coolable", handy, "fridgetype" in kinds),
        "istoggled": those("toggleable", near),
        "issliced": those("sliceable", at_hand, knife),
    }


class Foresight:
    """Decides conditions by what can come true in a game, and what cannot change in it.

    Args:
        facts: the problem.
        possible, certain: what `reachable` tells of it.
    """

    def __init__(self, facts: Facts, possible: Table, certain: Table) -> None:
        self._types = facts.types
        self._possible = possible
        self._certain = certain

    def given(self, parameters: Variables, conditions: Collection[Formula]) -> Given:
        """Return what is known wherever some conditions hold of an action's parameters."""
        values = {name: self.of_type(kind) for name, kind in parameters}
        for predicate, *words in conditions:
            if predicate not in self._possible:
                continue
            columns = [values.get(str(word), {str(word)}) for word in words]
            rows = [row for row in self._possible[str(predicate)] if _fits(row, columns)]
            for place, word in enumerate(words):
                if word in values:
                    values[str(word)] &= {row[place] for row in rows}
        return Given(self, values)

    def of_type(self, kind: str) -> set[str]:
        """Return everything that a variable of this type can stand for."""
        return {name for name, own in self._types.items() if kind in ("object", own)}

    def holds(self, fact: Formula, columns: list[set[str]]) -> bool | None:
        """Return whether a fact always holds (True), never (False), or neither is known, whatever its arguments."""
        predicate = str(fact[0])
        # The name of a type is a predicate, too: that something is of it.
        if predicate == "=" or predicate in _NOT_FOLLOWED or predicate in TYPES:
            return None
        rows = self._possible.get(predicate, set())
        if not any(_fits(row, columns) for row in rows):
            return False
        certain = self._certain[predicate]
        if prod(map(len, columns)) > len(certain):
            return None
        return True if all(row in certain for row in product(*columns)) else None


def _fits(row: Row, columns: list[set[str]]) -> bool:
    return len(row) == len(columns) and all(map(set.__contains__, columns, row))


class Given:
    """What is known of facts while an action's parameters stand for certain things only."""

    def __init__(self, foresight: Foresight, values: Mapping[str, set[str]]) -> None:
        self._foresight = foresight
        self._values = values

    def is_empty(self, kind: str) -> bool:
        return not self._foresight.of_type(kind)

    def holds(self, fact: Formula, bound: Mapping[str, str]) -> bool | None:
        """See `Foresight.holds`."""
        columns = [
            self._values[word]
            if word in self._values
            else self._foresight.of_type(bound[word])
            if word in bound
            else {word}
            for word in map(str, fact[1:])
        ]
        return self._foresight.holds(fact, columns)
