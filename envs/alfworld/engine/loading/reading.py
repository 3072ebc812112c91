"""Reads a game file (`game.tw-pddl`) into a `Household`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from reflex_bench.envs.alfworld.engine.goal import Grounder
from reflex_bench.envs.alfworld.engine.household import NOWHERE, Household
from reflex_bench.envs.alfworld.engine.loading.domain import Domain, read_domain
from reflex_bench.envs.alfworld.engine.loading.facts import Facts
from reflex_bench.envs.alfworld.engine.loading.pddl import UnknownGame
from reflex_bench.envs.alfworld.engine.loading.reachability import Foresight, reachable
from reflex_bench.envs.alfworld.engine.loading.wording import Wording, read_wording
from reflex_bench.envs.alfworld.engine.rules import everywhere
from reflex_bench.envs.alfworld.engine.state import State


def read_household(game: Mapping[str, Any]) -> Household:
    """Return the household of a game file.

    Args:
        game: the file's content: `pddl_domain`, `grammar`, `pddl_problem`.

    Raises:
        UnknownGame: the file is none, or its rules, wording or problem are not of a known form.
    """
    try:
        rules, grammar, problem = (str(game[key]) for key in ("pddl_domain", "grammar", "pddl_problem"))
    except (KeyError, TypeError) as error:
        raise UnknownGame("no game file: pddl_domain, grammar or pddl_problem is missing") from error
    domain = read_domain(rules)
    wording, task = read_wording(grammar, domain.has_help, domain.names)
    return _household(domain, Facts(problem), wording, task)


def _household(domain: Domain, facts: Facts, wording: Wording, task: str) -> Household:
    objects, receptacles, locations = (
        tuple(facts.names[name] for name in ids)
        for ids in (facts.objects, facts.receptacles, facts.locations)
    )
    if len({*objects, *receptacles}) < len(objects) + len(receptacles):
        raise UnknownGame("a problem in which two things have one name")
    spots = facts.pairs("receptacleatlocation")
    spot = dict(spots)
    if len(spot) < len(spots):
        raise UnknownGame("a problem with a receptacle in two places")
    standing = _grouped(((place, receptacle) for receptacle, place in spots), len(locations))
    accepts = _accepts(facts)
    possible, certain = reachable(facts, accepts, domain.cleaners)
    for doubt in domain.doubts:
        doubt.settle(Foresight(facts, possible, certain))
    return Household(
        wording=wording,
        task=task,
        objects=objects,
        receptacles=receptacles,
        locations=locations,
        spot=tuple(spot.get(receptacle, NOWHERE) for receptacle in range(len(receptacles))),
        standing=standing,
        sinks=facts.of_type("receptacletype", *domain.cleaners),
        microwaves=facts.of_type("receptacletype", "microwavetype"),
        fridges=facts.of_type("receptacletype", "fridgetype"),
        accepts=accepts,
        knives=facts.of_type("objecttype", "knifetype", "butterknifetype"),
        vessels=facts.having("isreceptacleobject"),
        nested=_grouped(((o, i) for i, o in facts.pairs("inreceptacleobject") if i != o), len(objects)),
        always=everywhere(wording.commands, receptacles, standing, domain.has_help),
        goal=Grounder(facts, possible, certain).ground(facts.goal),
        start=_start(facts),
        **{name: facts.having(name) for name in _ABILITIES},
    )


_ABILITIES = ("openable", "pickupable", "cleanable", "heatable", "coolable", "toggleable", "sliceable")


def _accepts(facts: Facts) -> tuple[frozenset[int], ...]:
    """For each receptacle, the objects that may be put into it, by their types."""
    of_type: dict[str, set[int]] = defaultdict(set)
    for name, kind in facts.rows("objecttype"):
        of_type[kind].add(facts.numbers[name])
    accepted: dict[str, set[int]] = defaultdict(set)
    for holder, kind in facts.rows("cancontain"):
        # PutObject takes an rtype; the official files declare SinkType as an otype.
        if facts.types[holder] == "rtype":
            accepted[holder] |= of_type[kind]
    accepts: list[set[int]] = [set() for _ in facts.receptacles]
    for name, kind in facts.rows("receptacletype"):
        accepts[facts.numbers[name]] |= accepted[kind]
    return tuple(map(frozenset, accepts))


def _start(facts: Facts) -> State:
    agents = [name for name, kind in facts.types.items() if kind == "agent"]
    places = [facts.numbers[place] for _, place in facts.rows("atlocation")]
    held = [facts.numbers[name] for _, name in facts.rows("holds")]
    if len(agents) != 1 or len(places) != 1 or len(held) > 1 or len(held) != len(facts.rows("holdsany")):
        raise UnknownGame("a problem without exactly one agent, in one place, holding one thing or nothing")
    return State(
        place=places[0],
        held=held[0] if held else None,
        inside=list(_grouped(((r, o) for o, r in facts.pairs("inreceptacle")), len(facts.receptacles))),
        lying=list(
            _grouped(((place, o) for o, place in facts.pairs("objectatlocation")), len(facts.locations))
        ),
        left=set(),
        opened=set(facts.having("opened")),
        clean=set(facts.having("isclean")),
        hot=set(facts.having("ishot")),
        cool=set(facts.having("iscool")),
        toggled=set(facts.having("istoggled")),
        sliced=set(facts.having("issliced")),
    )


def _grouped(pairs: Iterable[tuple[int, int]], count: int) -> tuple[tuple[int, ...], ...]:
    """For each number below `count`, the sorted seconds of the pairs that it is first of."""
    groups: list[list[int]] = [[] for _ in range(count)]
    for first, second in sorted(pairs):
        groups[first].append(second)
    return tuple(map(tuple, groups))
