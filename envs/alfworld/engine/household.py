"""Household: what a game is made of and what never changes in it. `state.State` is what play changes.

Objects, receptacles and locations are numbers, given in the order of their ids in the game file. That is the order of
every list the game prints, so a sorted tuple of numbers is a list ready to be said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from reflex_bench.envs.alfworld.engine.goal import Goal
from reflex_bench.envs.alfworld.engine.loading.wording import Wording
from reflex_bench.envs.alfworld.engine.state import State

NOWHERE = -1


class Action(NamedTuple):
    """What a command does.

    Attributes:
        verb: `look`, `inventory`, `help`, `examine` (a receptacle), `inspect` (an object), `go`, `open`, `close`,
            `take`, `put`, `clean`, `heat`, `cool`, `use` or `slice`.
        thing: the object concerned, or -1.
        other: the receptacle concerned (to slice, the knife), or -1.
    """

    verb: str
    thing: int = -1
    other: int = -1


@dataclass(frozen=True, slots=True)
class Household:
    """What never changes in a game.

    Attributes:
        wording: the texts of the game file's grammar.
        task: the sentence that ends the opening text.
        objects, receptacles, locations: the names that the game shows, by number.
        spot: for each receptacle, the location from which it is reached, or NOWHERE.
        standing: for each location, the receptacles reached from there, sorted.
        openable: receptacles that open and close.
        sinks, microwaves, fridges: receptacles of the three types that clean, heat and cool.
        accepts: for each receptacle, the objects that may be put into it.
        pickupable, cleanable, heatable, coolable, toggleable, sliceable, knives: objects by what can be done with them.
        vessels: objects that themselves hold things; `nested` lists what, for each object. Play never changes it.
        always: for each location, the commands that are admissible there whatever the rest of the state.
        goal: when the game is won.
        start: the state in which it begins; copied, never changed.
    """

    wording: Wording
    task: str
    objects: tuple[str, ...]
    receptacles: tuple[str, ...]
    locations: tuple[str, ...]
    spot: tuple[int, ...]
    standing: tuple[tuple[int, ...], ...]
    openable: frozenset[int]
    sinks: frozenset[int]
    microwaves: frozenset[int]
    fridges: frozenset[int]
    accepts: tuple[frozenset[int], ...]
    pickupable: frozenset[int]
    cleanable: frozenset[int]
    heatable: frozenset[int]
    coolable: frozenset[int]
    toggleable: frozenset[int]
    sliceable: frozenset[int]
    knives: frozenset[int]
    vessels: frozenset[int]
    nested: tuple[tuple[int, ...], ...]
    always: tuple[dict[str, Action], ...]
    goal: Goal
    start: State
