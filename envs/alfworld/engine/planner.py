"""Finds a shortest plan: the fewest commands that win a game from where it stands.

A goal is a choice of ways to meet it (this apple or that one, into this drawer or that one). Each way is a handful of
facts about few things, so a search over the errands that can bring one of them about is small. Walking and opening are
parts of an errand, since nothing else ever needs them; closing, looking and examining bring nothing about. Therefore a
shortest sequence of errands is a shortest sequence of commands.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count, product
from typing import TYPE_CHECKING

from reflex_bench.envs.alfworld.engine.goal import And, Fact, Goal, holds
from reflex_bench.envs.alfworld.engine.household import NOWHERE, Action, Household
from reflex_bench.envs.alfworld.engine.rules import apply, command
from reflex_bench.envs.alfworld.engine.state import State

if TYPE_CHECKING:
    from reflex_bench.envs.alfworld.engine.game import Game

Way = frozenset[Fact]
Plan = tuple[Action, ...]

_TREATMENTS = {"isclean": "clean", "ishot": "heat", "iscool": "cool"}
# Facts about a location, a receptacle, or nothing in particular.
_NO_OBJECT = {"atlocation", "opened", "holdsany"}
_IMPOSSIBLE = 10**6


def shortest_plan(game: Game) -> list[str] | None:
    """Return the commands of a shortest win from the game's state: `[]` where it is won, None if it cannot be.

    No shorter list of commands wins: the length is exact, not a bound. The game itself is not changed.
    """
    household, start = game.household, game.state
    ways = sorted((_heuristic(household, start, way), sorted(way)) for way in set(_ways(household.goal)))
    best: Plan | None = None
    for bound, way in ways:
        limit = _IMPOSSIBLE if best is None else len(best)
        if bound >= limit:
            break
        found = _search(household, start, frozenset(way), limit)
        best = best if found is None else found
    return None if best is None else [command(household, action) for action in best]


def _ways(goal: Goal) -> Iterator[Way]:
    if isinstance(goal, Fact):
        yield frozenset([goal])
    elif isinstance(goal, And):
        for choice in product(*(list(_ways(part)) for part in goal.parts)):
            yield frozenset().union(*choice)
    else:
        for part in goal.parts:
            yield from _ways(part)


def _search(game: Household, start: State, way: Way, limit: int) -> Plan | None:
    """Return a shortest plan for one way (A*), if there is one of fewer than `limit` commands."""
    order = count()
    queue: list[tuple[int, int, Plan, State]] = [(_heuristic(game, start, way), next(order), (), start)]
    seen: dict[object, int] = {}
    while queue:
        _, _, plan, state = heapq.heappop(queue)
        if all(holds(fact, state) for fact in way):
            return plan
        key = _key(state, way)
        if seen.get(key, limit) <= len(plan):
            continue
        seen[key] = len(plan)
        for errand in _successors(game, state, way):
            after = state.copy()
            for action in errand:
                apply(game, after, action)
            longer = plan + errand
            promised = len(longer) + _heuristic(game, after, way)
            if promised < limit:
                heapq.heappush(queue, (promised, next(order), longer, after))
    return None


def _key(state: State, way: Way) -> object:
    things = {fact.thing for fact in way if fact.predicate not in _NO_OBJECT}
    inside = tuple((r, thing) for r, kept in enumerate(state.inside) for thing in kept if thing in things)
    lying = tuple(
        (place, thing) for place, kept in enumerate(state.lying) for thing in kept if thing in things
    )
    done = tuple(holds(fact, state) for fact in sorted(way))
    return state.place, state.held, frozenset(state.opened), inside, lying, done


def _successors(game: Household, state: State, way: Way) -> Iterator[Plan]:
    """Yield everything worth doing next: one action that matters, with the walking and opening that it takes."""
    open_facts = [fact for fact in way if not holds(fact, state)]
    for fact in open_facts:
        yield from _in_place(game, state, fact)
    if state.held is None:
        yield from _takes(game, state, way, open_facts)
        return
    for fact in open_facts:
        if fact.thing == state.held and fact.predicate in _TREATMENTS:
            for r in sorted(_appliances(game, fact.predicate)):
                yield _at(game, state, r, Action(_TREATMENTS[fact.predicate], state.held, r))
    for r, accepted in enumerate(game.accepts):
        if state.held in accepted and game.spot[r] != NOWHERE:
            yield _within(game, state, r, Action("put", state.held, r))


def _in_place(game: Household, state: State, fact: Fact) -> Iterator[Plan]:
    """Yield what brings about a fact where its thing is: to switch it on, go there, open it, slice it."""
    if fact.predicate == "istoggled":
        for r in _holding(game, state, fact.thing):
            yield _at(game, state, r, Action("use", fact.thing, r))
    elif fact.predicate == "atlocation":
        yield from (_at(game, state, r) for r in game.standing[fact.thing])
    elif fact.predicate == "opened":
        yield _at(game, state, fact.thing, Action("open", -1, fact.thing))
    elif fact.predicate == "issliced" and state.held is not None and state.held in game.knives:
        for place, things in enumerate(state.lying):
            if fact.thing in things and (game.standing[place] or place == state.place):
                yield (*_walk(game, state, place), Action("slice", fact.thing, state.held))


def _takes(game: Household, state: State, way: Way, open_facts: list[Fact]) -> Iterator[Plan]:
    """Yield what an empty hand may take.

    All that the way names, anything at all if it asks for that, a knife to slice.
    """
    wanted = {fact.thing for fact in way if fact.predicate not in {"istoggled", *_NO_OBJECT}}
    if any(fact.predicate == "holdsany" for fact in open_facts):
        wanted |= game.pickupable
    if any(fact.predicate == "issliced" for fact in open_facts):
        wanted |= game.knives
    for thing in sorted(wanted & game.pickupable):
        for r in _holding(game, state, thing):
            yield _within(game, state, r, Action("take", thing, r))


def _walk(game: Household, state: State, place: int) -> Plan:
    return () if place == state.place else (Action("go", -1, game.standing[place][0]),)


def _at(game: Household, state: State, receptacle: int, *actions: Action) -> Plan:
    go = () if game.spot[receptacle] == state.place else (Action("go", -1, receptacle),)
    return (*go, *actions)


def _within(game: Household, state: State, receptacle: int, action: Action) -> Plan:
    if receptacle in game.openable and receptacle not in state.opened:
        return _at(game, state, receptacle, Action("open", -1, receptacle), action)
    return _at(game, state, receptacle, action)


def _holding(game: Household, state: State, thing: int) -> list[int]:
    return [r for r, things in enumerate(state.inside) if thing in things and game.spot[r] != NOWHERE]


def _appliances(game: Household, predicate: str) -> set[int]:
    kinds = {"isclean": game.sinks, "ishot": game.microwaves, "iscool": game.fridges}
    return {r for r in kinds[predicate] if game.spot[r] != NOWHERE}


def _heuristic(game: Household, state: State, way: Way) -> int:
    """Return commands that a way still takes at least.

    For each thing, the actions that no other thing's errands can save (`core`), and all of its errands as if it were
    the only thing (`alone`). All the cores are needed, and for one thing the rest as well.
    """
    unmet: dict[object, list[Fact]] = defaultdict(list)
    for fact in way:
        if not holds(fact, state):
            unmet[fact.predicate if fact.predicate in _NO_OBJECT else fact.thing].append(fact)
    cores, rest = 0, 0
    for facts in unmet.values():
        core, alone = _bound_for_one(game, state, facts)
        cores += core
        rest = max(rest, alone - core)
    return cores + rest


def _bound_for_one(game: Household, state: State, facts: list[Fact]) -> tuple[int, int]:
    predicates = {fact.predicate for fact in facts}
    if "atlocation" in predicates:
        return 0, 1
    thing = facts[0].thing
    treatments = sorted(predicates & _TREATMENTS.keys())
    targets = [fact.other for fact in facts if fact.predicate == "inreceptacle"]
    core = len(predicates & {"istoggled", "issliced", "opened"})
    if not (treatments or targets or "holds" in predicates):
        spots = [game.spot[r] for r in _holding(game, state, thing)] if "istoggled" in predicates else []
        return core, core + (bool(spots) and state.place not in spots)
    # Where the thing can be in the hand, and after how many commands at least.
    if state.held == thing:
        reached = {state.place: core}
    else:
        reached = {}
        for r in _holding(game, state, thing):
            cost = core + len(_within(game, state, r, Action("take", thing, r)))
            reached[game.spot[r]] = min(cost, reached.get(game.spot[r], cost))
        core += 1
    # One treatment with the way to it; of the others only the actions, since their best order is not known.
    for predicate in treatments[:1]:
        spots = [game.spot[r] for r in _appliances(game, predicate)]
        reached = {spot: len(treatments) + _nearest(reached, spot) for spot in spots}
    core += len(treatments)
    for r in targets[:1]:
        shut = r in game.openable and r not in state.opened
        reached = {game.spot[r]: 1 + shut + _nearest(reached, game.spot[r])}
        core += 1
    return core, min(reached.values(), default=_IMPOSSIBLE)


def _nearest(reached: Mapping[int, int], spot: int) -> int:
    return min((cost + (place != spot) for place, cost in reached.items()), default=_IMPOSSIBLE)
