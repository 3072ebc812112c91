"""Finds why a command has no effect: the first precondition of the game's rules that does not hold.

The rules are those of `reflex_bench.envs.alfworld.engine.rules`, which are the domain's own
(alfworld/data/alfred.pddl). Their preconditions are looked at in such an order that no reason tells what the agent
could not have seen: whether it is at the place comes before whether the place is open, and that before what is in it.
Nothing is said of a thing that is not in sight but that it is not in reach, whether there is such a thing or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import NamedTuple, cast

from reflex_bench.envs.alfworld.engine.household import Household
from reflex_bench.envs.alfworld.engine.state import State
from reflex_bench.envs.alfworld.engine.text import NOTHING_HAPPENS

LAMPS = frozenset(("desklamp", "floorlamp"))
"""The types that the domain's tables call toggleable (`VAL_ACTION_OBJECTS` in alfworld/gen/constants.py)."""
SLICEABLE = frozenset(("apple", "bread", "egg", "lettuce", "potato", "tomato"))
"""The types that they call sliceable."""
TREATMENTS = {"clean": "cleaned", "heat": "heated", "cool": "cooled"}


def without_hint(observation: str) -> str:
    """Return an answer as the game itself gave it."""
    return NOTHING_HAPPENS if observation.startswith(f"{NOTHING_HAPPENS} ") else observation


class Reason(NamedTuple):
    """Why a command has no effect.

    Attributes:
        name: `no_such_place`, `unreachable`, `already_there`, `not_there`, `closed`, `cannot_open`, `already_open`,
            `cannot_close`, `already_closed`, `hands_full`, `already_held`, `not_held`, `not_in_place`, `not_in_reach`,
            `cannot_take`, `cannot_hold`, `wrong_place`, `cannot_treat`, `cannot_use`, `no_knife` or `cannot_slice`.
        sentence: as it is told.
    """

    name: str
    sentence: str


def why_without_effect(game: Household, state: State, command: str) -> Reason | None:
    """Return the reason why a command that is not admissible has no effect.

    Args:
        game: the household.
        state: in which the command was given; it has changed nothing.
        command: in the game's own words.

    Returns:
        None where the command has none of the forms that the game knows, or nothing stands in its way.
    """
    for verb, template in game.wording.commands.items():
        form = re.escape(template).replace(r"\{0\}", "(?P<thing>.+)").replace(r"\{1\}", "(?P<place>.+)")
        match = re.fullmatch(form, command.strip())
        if match and verb in _CHECKS:
            found = match.groupdict()
            asked = _Asked(game, state, verb, found.get("thing") or "", found.get("place") or "")
            return next(_CHECKS[verb](asked), None)
    return None


class _Asked:
    """A command that was taken apart: names as they were given, and what they stand for (-1: nothing)."""

    def __init__(self, game: Household, state: State, verb: str, thing: str, place: str) -> None:
        self.game, self.state, self.verb = game, state, verb
        self.thing_name, self.place_name = thing, place
        self.thing, self.place = _number(game.objects, thing), _number(game.receptacles, place)
        self.here = game.standing[state.place]

    @property
    def thing_type(self) -> str:
        return self.thing_name.rpartition(" ")[0] or self.thing_name

    def exists(self) -> Iterator[Reason]:
        if self.place >= 0:
            return
        numbered = any(name.rpartition(" ")[0] == self.place_name for name in self.game.receptacles)
        more = "; write its number, too" if numbered else ""
        yield Reason("no_such_place", f"There is no place called {self.place_name}{more}.")

    def at_place(self) -> Iterator[Reason]:
        yield from self.exists()
        if self.place not in self.here:
            yield Reason("not_there", f"You are not at the {self.place_name}.")

    def at_open_place(self) -> Iterator[Reason]:
        yield from self.at_place()
        if self.place in self.game.openable and self.place not in self.state.opened:
            yield Reason("closed", f"The {self.place_name} is closed.")

    def holds(self, thing: int, name: str) -> Iterator[Reason]:
        if thing < 0 or self.state.held != thing:
            yield Reason("not_held", f"You do not hold {name}.")


def _number(names: tuple[str, ...], name: str) -> int:
    return names.index(name) if name in names else -1


def _go(asked: _Asked) -> Iterator[Reason]:
    yield from asked.exists()
    if asked.place in asked.here:
        yield Reason("already_there", f"You are already at the {asked.place_name}.")
    if not any(asked.place in standing for standing in asked.game.standing):
        yield Reason("unreachable", f"The {asked.place_name} cannot be reached.")


def _open(asked: _Asked) -> Iterator[Reason]:
    yield from asked.at_place()
    if asked.place not in asked.game.openable:
        yield Reason("cannot_open", f"The {asked.place_name} cannot be opened.")
    if asked.place in asked.state.opened:
        yield Reason("already_open", f"The {asked.place_name} is already open.")


def _close(asked: _Asked) -> Iterator[Reason]:
    yield from asked.at_place()
    if asked.place not in asked.game.openable:
        yield Reason("cannot_close", f"The {asked.place_name} cannot be closed.")
    if asked.place not in asked.state.opened:
        yield Reason("already_closed", f"The {asked.place_name} is already closed.")


def _take(asked: _Asked) -> Iterator[Reason]:
    yield from asked.at_open_place()
    held = asked.state.held
    if held is not None and held == asked.thing:
        yield Reason("already_held", f"You already hold {asked.thing_name}.")
    if held is not None:
        yield Reason("hands_full", f"You hold {asked.game.objects[held]}, and can carry only one thing.")
    if asked.thing not in asked.state.inside[asked.place]:
        yield Reason("not_in_place", f"There is no {asked.thing_name} in or on the {asked.place_name}.")
    if asked.thing not in asked.game.pickupable:
        yield Reason("cannot_take", f"The {asked.thing_name} cannot be taken.")


def _put(asked: _Asked) -> Iterator[Reason]:
    yield from asked.holds(asked.thing, asked.thing_name)
    yield from asked.at_open_place()
    if asked.thing not in asked.game.accepts[asked.place]:
        yield Reason("cannot_hold", f"The {asked.place_name} cannot hold {asked.thing_name}.")


def _treat(asked: _Asked) -> Iterator[Reason]:
    game, done = asked.game, TREATMENTS[asked.verb]
    stations = {"clean": game.sinks, "heat": game.microwaves, "cool": game.fridges}[asked.verb]
    treatable = {"clean": game.cleanable, "heat": game.heatable, "cool": game.coolable}[asked.verb]
    yield from asked.exists()
    if asked.place not in stations:
        yield Reason("wrong_place", f"Nothing can be {done} with the {asked.place_name}.")
    yield from asked.holds(asked.thing, asked.thing_name)
    yield from asked.at_place()
    if asked.thing not in treatable:
        yield Reason("cannot_treat", f"The {asked.thing_name} cannot be {done}.")


def _use(asked: _Asked) -> Iterator[Reason]:
    # Whether something else than a lamp is there must not show: it may lie in a closed drawer.
    if asked.thing_type not in LAMPS and asked.thing not in asked.game.toggleable:
        yield Reason("cannot_use", f"Nothing called {asked.thing_name} can be switched on.")
    if not any(asked.thing in asked.state.inside[place] for place in asked.here):
        yield Reason("not_in_reach", f"There is no {asked.thing_name} in reach.")
    if asked.thing not in asked.game.toggleable:
        yield Reason("cannot_use", f"The {asked.thing_name} cannot be switched on.")


def _examine(asked: _Asked) -> Iterator[Reason]:
    name = asked.place_name or asked.thing_name
    if name in asked.game.receptacles:
        asked.place, asked.place_name = _number(asked.game.receptacles, name), name
        yield from asked.at_place()
    else:
        # Only places, and what is in the hand, can be examined.
        yield from asked.holds(_number(asked.game.objects, name), name)


def _slice(asked: _Asked) -> Iterator[Reason]:
    knife = _number(asked.game.objects, asked.place_name)
    yield from asked.holds(knife, asked.place_name)
    if knife not in asked.game.knives:
        yield Reason("no_knife", f"The {asked.place_name} is no knife.")
    if asked.thing_type not in SLICEABLE and asked.thing not in asked.game.sliceable:
        yield Reason("cannot_slice", f"Nothing called {asked.thing_name} can be sliced.")
    if asked.thing not in asked.state.lying[asked.state.place]:
        yield Reason("not_in_reach", f"There is no {asked.thing_name} in reach.")
    if asked.thing not in asked.game.sliceable:
        yield Reason("cannot_slice", f"The {asked.thing_name} cannot be sliced.")


_CHECKS: dict[str, Callable[[_Asked], Iterator[Reason]]] = {
    "go": _go,
    "open": _open,
    "close": _close,
    "take": _take,
    "put": _put,
    "clean": _treat,
    "heat": _treat,
    "cool": _treat,
    "use": _use,
    "examine": _examine,
    "inspect": _examine,
    "slice": _slice,
}


def sample_hints() -> Iterator[str]:
    """Yield every sentence of this module, about a household of two places: what the prompt hash knows of hints."""
    none: frozenset[int] = frozenset()
    kinds = ("cleanable", "heatable", "coolable", "toggleable", "sliceable", "pickupable", "knives")
    stations = ("sinks", "microwaves", "fridges")
    game = SimpleNamespace(
        objects=("mug 1", "desklamp 1", "apple 1", "mug 2"),
        receptacles=("desk 1", "safe 1", "shelf 1"),
        standing=((0,), (1,)),
        openable={1},
        accepts=(none, none, none),
        **dict.fromkeys((*kinds, *stations), none),
    )
    things = (*game.objects, "nothing 1")
    for held in (None, 0):
        for place, opened in ((0, none), (1, none), (1, {1})):
            inside, lying = [(), (), ()], [(), ()]
            state = SimpleNamespace(place=place, held=held, opened=opened, inside=inside, lying=lying)
            for verb, check in _CHECKS.items():
                for thing in things:
                    for other in (*game.receptacles, "desk", "mug 2"):
                        # Each check goes on behind the first reason that holds: all sentences are asked for.
                        asked = _Asked(cast(Household, game), cast(State, state), verb, thing, other)
                        yield from (reason.sentence for reason in check(asked))
