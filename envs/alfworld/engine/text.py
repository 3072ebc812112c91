"""Texts of the game, in the words of its own grammar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reflex_bench.envs.alfworld.engine.household import Action, Household
from reflex_bench.envs.alfworld.engine.state import State

NOTHING_HAPPENS = "Nothing happens."


def intro(game: Household, state: State) -> str:
    """Return the opening text: what one sees, and the task."""
    seen = look(game, state, [place for place in range(len(game.locations)) if game.standing[place]])
    return game.wording.phrases["intro"][0].format(look=seen, task=game.task)


def feedback(game: Household, state: State, action: Action) -> str:
    """Return what the game says after an action.

    Args:
        game: the household.
        state: the state after the action.
        action: what was done.
    """
    phrases, (verb, thing, receptacle) = game.wording.phrases, action
    if verb == "go":
        place = game.locations[state.place]
        seen = examine(game, state, receptacle)
        return phrases["GotoLocation.feedback"][0].format(
            r=game.receptacles[receptacle], place=place, seen=seen
        )
    if verb == "open":
        seen = examine(game, state, receptacle)
        return phrases["OpenObject.feedback"][0].format(r=game.receptacles[receptacle], seen=seen)
    if verb == "examine":
        return examine(game, state, receptacle)
    if verb == "inspect":
        return inspect(game, state, thing)
    if verb == "look":
        return look(game, state, [state.place])
    if verb == "inventory":
        return _inventory(game, state)
    if verb == "help":
        return game.wording.help or NOTHING_HAPPENS
    if verb == "slice":
        return phrases["sliceObject.feedback"][0].format(
            o=game.objects[thing], knife=game.objects[action.other]
        )
    # The rest say one sentence about the object, the receptacle, or both. The first alternative of `use` is the one for
    # something that has been switched, ever: the game says "turn on" each time.
    o = game.objects[thing]
    return phrases[_RULES[verb]][0].format(o=o, r=game.receptacles[receptacle])


_RULES = {
    "close": "CloseObject.feedback",
    "take": "PickupObject.feedback",
    "put": "PutObject.feedback",
    "clean": "cleanObject.feedback",
    "heat": "heatObject.feedback",
    "cool": "coolObject.feedback",
    "use": "toggleObject.feedback",
}


def examine(game: Household, state: State, receptacle: int) -> str:
    """Return a receptacle: open with its contents, closed, or a surface with what is on it."""
    is_open, is_closed, surface = game.wording.phrases["examineReceptacle.feedback"]
    name = game.receptacles[receptacle]
    if receptacle not in game.openable:
        return surface.format(r=name, contents=_things(game, state.inside[receptacle]))
    if receptacle in state.opened:
        return is_open.format(r=name, contents=_things(game, state.inside[receptacle]))
    return is_closed.format(r=name)


def inspect(game: Household, state: State, thing: int) -> str:
    """Return the words for an object in the hand.

    What it is for hides what happened to it, and heat, cold and cleaning hide the rest.
    """
    phrases, name = game.wording.phrases["examineObject.feedback"], game.objects[thing]
    clean, hot, cool = thing in state.clean, thing in state.hot, thing in state.cool
    sliced = thing in state.sliced
    # The order is the grammar's; its alternative 12, a lamp that was switched off, can never be said.
    for index, applies in enumerate(
        (
            thing in game.vessels,
            clean and hot and sliced,
            clean and cool and sliced,
            clean and sliced,
            hot and sliced,
            cool and sliced,
            clean and hot,
            clean and cool,
            hot,
            clean,
            cool,
            thing in game.toggleable and thing in state.toggled,
            False,
            thing in game.sliceable and sliced,
        )
    ):
        if applies:
            return phrases[index].format(
                o=name, contents=_things(game, game.nested[thing]) if index == 0 else ""
            )
    return phrases[-1].format(o=name)


def look(game: Household, state: State, places: Sequence[int]) -> str:
    """Return what one sees without touching anything.

    Args:
        game: the household.
        state: its state.
        places: the locations whose receptacles are listed by someone who stands at none of them. The opening lists all;
            the command `look` only those at its own place, which then are none.
    """
    phrases = game.wording.phrases
    facing, middle = phrases["look.feedback"]
    here = game.standing[state.place]
    if here:
        names = [game.receptacles[receptacle] for receptacle in here]
        return facing.format(
            facing=phrases["look-variations"][0].format(receptacles=_listed(game, names)),
            astray=_astray(game, state),
        )
    receptacles = sorted(receptacle for place in places for receptacle in game.standing[place])
    listing, none = phrases["list_appliances"]
    overview = phrases["overview(r)"][0]
    names = [overview.format(a="a", r=game.receptacles[receptacle]) for receptacle in receptacles]
    return middle.format(receptacles=listing.format(receptacles=_listed(game, names)) if names else none)


def _astray(game: Household, state: State) -> str:
    """Return what is here and no longer in a receptacle from here out of which it was taken.

    Once for each such receptacle.
    """
    listing, none = game.wording.phrases["list_objects_on_the_floor"]
    overview = game.wording.phrases["overview(o)"][0]
    names = [
        overview.format(a="a", o=game.objects[thing])
        for thing in state.lying[state.place]
        for receptacle in game.standing[state.place]
        if (thing, receptacle) in state.left
    ]
    return listing.format(astray=_listed(game, names)) if names else none


def _inventory(game: Household, state: State) -> str:
    carrying, nothing = game.wording.phrases["inventory.feedback"]
    return nothing if state.held is None else carrying.format(held=_things(game, (state.held,)))


def _things(game: Household, things: Iterable[int]) -> str:
    return _listed(game, [f"a {game.objects[thing]}" for thing in things])


def _listed(game: Household, items: Sequence[str]) -> str:
    phrases = game.wording.phrases
    if not items:
        return phrases["list_empty"][0]
    if len(items) == 1:
        return items[0]
    return phrases["list_separator"][0].join(items[:-1]) + phrases["list_last_separator"][0] + items[-1]
