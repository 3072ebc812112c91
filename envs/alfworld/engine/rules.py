"""Rules of the household: what can be done, and what it changes.

Each rule is an action of the domain (alfworld/data/alfred.pddl), kept as it is there, odd ones included:

- To go where one already stands would change nothing, and Fast Downward drops what changes nothing: it cannot be done.
  Two receptacles reached from one location are both at hand there, and one cannot go from one to the other.
- Besides receptacles, only what is in the hand can be examined. (The rule for what lies in sight names a type
  `location,`, with a comma, that nothing has.)
- The microwave heats, and the fridge cools, open or closed, and nothing has to be put into it.
- A lamp can be used in a closed drawer. Using it twice leaves it switched: nothing is ever switched off.
- To slice something one has to be where it lies, be it in a closed fridge.
- Something can be in two receptacles. Taken from one, it stays in the other.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping

from reflex_bench.envs.alfworld.engine.household import Action, Household
from reflex_bench.envs.alfworld.engine.state import State


def available(game: Household, state: State) -> dict[str, Action]:
    """Return every admissible command and what it does."""
    options = game.always[state.place].copy()
    held = state.held

    def offer(verb: str, thing: int = -1, other: int = -1) -> None:
        action = Action(verb, thing, other)
        options[command(game, action)] = action

    for receptacle in game.standing[state.place]:
        within_reach = True
        if receptacle in game.openable:
            within_reach = receptacle in state.opened
            offer("close" if within_reach else "open", other=receptacle)
        for thing in state.inside[receptacle]:
            if within_reach and held is None and thing in game.pickupable:
                offer("take", thing, receptacle)
            if thing in game.toggleable:
                offer("use", thing, receptacle)
        if held is not None and within_reach and held in game.accepts[receptacle]:
            offer("put", held, receptacle)
    if held is not None:
        for verb, other in _uses_of(game, state, held):
            offer(verb, held, other)
        if held in game.knives:
            for thing in state.lying[state.place]:
                if thing in game.sliceable:
                    offer("slice", thing, held)
    return options


def _uses_of(game: Household, state: State, held: int) -> Iterator[tuple[str, int]]:
    """Yield what can be done to the thing in the hand, beside putting it down: the verb, and the appliance for it."""
    yield "inspect", -1
    for receptacle in game.standing[state.place]:
        if receptacle in game.sinks and held in game.cleanable:
            yield "clean", receptacle
        if receptacle in game.microwaves and held in game.heatable:
            yield "heat", receptacle
        if receptacle in game.fridges and held in game.coolable:
            yield "cool", receptacle


def command(game: Household, action: Action) -> str:
    """Return the words for an action."""
    verb, thing, other = action
    # Where a number is -1 the template has no place for the name.
    names = game.objects if verb == "slice" else game.receptacles
    return game.wording.commands[verb].format(game.objects[thing], names[other])


def everywhere(
    commands: Mapping[str, str],
    receptacles: tuple[str, ...],
    standing: tuple[tuple[int, ...], ...],
    has_help: bool,
) -> tuple[dict[str, Action], ...]:
    """For each location, what can be done there whatever the rest of the state: go elsewhere, examine, look about."""
    idle = {commands["look"]: Action("look"), commands["inventory"]: Action("inventory")}
    if has_help:
        idle["help"] = Action("help")
    go = {
        r: (commands["go"].format("", receptacles[r]), Action("go", -1, r))
        for place in standing
        for r in place
    }
    look = {r: (commands["examine"].format("", receptacles[r]), Action("examine", -1, r)) for r in go}
    return tuple(
        {**idle, **dict(go[r] for r in go if r not in here), **dict(look[r] for r in here)}
        for here in standing
    )


def apply(game: Household, state: State, action: Action) -> None:
    """Does what was found to be admissible, changing the state."""
    verb, thing, other = action
    if verb == "go":
        state.place = game.spot[other]
    elif verb == "open":
        state.opened.add(other)
    elif verb == "close":
        state.opened.remove(other)
    elif verb == "take":
        state.held = thing
        state.inside[other] = _without(state.inside[other], thing)
        state.lying[state.place] = _without(state.lying[state.place], thing)
        state.left.add((thing, other))
    elif verb == "put":
        state.held = None
        state.inside[other] = _with(state.inside[other], thing)
        state.lying[state.place] = _with(state.lying[state.place], thing)
        state.left.discard((thing, other))
    elif verb == "clean":
        state.clean.add(thing)
    elif verb == "heat":
        state.hot.add(thing)
        state.cool.discard(thing)
    elif verb == "cool":
        state.cool.add(thing)
        state.hot.discard(thing)
    elif verb == "use":
        state.toggled.add(thing)
    elif verb == "slice":
        state.sliced.add(thing)


# The predicates that each action may change; the others leave the goal as it is.
CHANGES = {
    "go": {"atlocation"},
    "open": {"opened"},
    "close": {"opened"},
    "take": {"inreceptacle", "objectatlocation", "holds", "holdsany"},
    "put": {"inreceptacle", "objectatlocation", "holds", "holdsany"},
    "clean": {"isclean"},
    "heat": {"ishot", "iscool"},
    "cool": {"ishot", "iscool"},
    "use": {"istoggled"},
    "slice": {"issliced"},
}


def _without(things: tuple[int, ...], thing: int) -> tuple[int, ...]:
    return tuple(other for other in things if other != thing)


def _with(things: tuple[int, ...], thing: int) -> tuple[int, ...]:
    if thing in things:
        return things
    more = list(things)
    insort(more, thing)
    return tuple(more)
