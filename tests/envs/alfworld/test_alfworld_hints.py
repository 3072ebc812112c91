"""Why a command had no effect: every reason is true, none is missing, and none tells what could not be seen."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.engine.hints import why_without_effect
from reflex_bench.envs.alfworld.environment import create
from reflex_bench.envs.alfworld.generator import generate_one

STEPS = 400
FORMS = {
    "go": "go to {1}",
    "open": "open {1}",
    "close": "close {1}",
    "take": "take {0} from {1}",
    "put": "move {0} to {1}",
    "clean": "clean {0} with {1}",
    "heat": "heat {0} with {1}",
    "cool": "cool {0} with {1}",
    "use": "use {0}",
    "examine": "examine {1}",
    "inspect": "examine {0}",
    "slice": "slice {0} with {2}",
}


def ways(game, rng):
    """A verb and names for a command: of things that there are, that there are not, and without their number."""
    objects, places = game.household.objects, game.household.receptacles
    near = [places[place] for place in game.household.standing[game.state.place]]
    seen = [objects[thing] for place in range(len(places)) for thing in game.state.inside[place]]
    held = [] if game.state.held is None else [objects[game.state.held]]
    thing = rng.choice([*seen, *held * 20, "mug 99", "statue", "floorlamp 9"])
    place = rng.choice([*places, *near * 20, "garage 1", places[0].split()[0], objects[0]])
    knife = rng.choice([*[name for name in objects if "knife" in name], *held * 3, "fork 99"])
    return rng.choice(list(FORMS)), thing, place, knife


def true_of(game, reason, verb, thing, place, knife):
    """Whether what a reason says is so, read from the state alone."""
    home, state = game.household, game.state
    one = home.objects.index(thing) if thing in home.objects else None
    where = home.receptacles.index(place) if place in home.receptacles else None
    held = None if state.held is None else home.objects[state.held]
    at_hand = where is not None and home.spot[where] == state.place
    open_here = at_hand and (where not in home.openable or where in state.opened)
    inside = state.inside[where] if where is not None else ()
    station = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}.get(verb)
    treatable = {"clean": home.cleanable, "heat": home.heatable, "cool": home.coolable}.get(verb, ())
    facts = {
        "no_such_place": where is None,
        "already_there": at_hand,
        "not_there": where is not None and not at_hand,
        "closed": where in home.openable and where not in state.opened,
        "cannot_open": where is not None and where not in home.openable,
        "already_open": where in state.opened,
        "cannot_close": where is not None and where not in home.openable,
        "already_closed": where in home.openable and where not in state.opened,
        "hands_full": held not in (None, thing) and f"You hold {held}," in reason.sentence,
        "already_held": held == thing,
        "not_held": reason.sentence.removeprefix("You do not hold ") != f"{held}.",
        "not_in_place": open_here and one not in inside,
        "not_in_reach": not any(one in state.inside[r] for r, s in enumerate(home.spot) if s == state.place),
        "cannot_take": one in inside and one not in home.pickupable,
        "cannot_hold": held == thing and open_here and one not in home.accepts[where],
        "wrong_place": where is not None and station is not None and not place.startswith(station),
        "cannot_treat": held == thing and one not in treatable,
        "cannot_use": verb == "use" and one not in home.toggleable,
        "no_knife": held == knife and "knife" not in knife,
        "cannot_slice": verb == "slice" and one not in home.sliceable,
    }
    return facts[reason.name]


def unseen(game):
    """The same game with everything taken away that the agent cannot see from where it stands."""
    twin = game.copy()
    home, state = twin.household, twin.state
    for place in range(len(home.receptacles)):
        shut = place in home.openable and place not in state.opened
        if home.spot[place] != state.place or shut:
            state.inside[place] = ()
    inside = {thing for place in home.standing[state.place] for thing in state.inside[place]}
    state.lying = [tuple(thing for thing in there if thing in inside) for there in state.lying]
    return twin


@pytest.mark.parametrize("number", range(6))
def test_every_reason_is_true_none_is_missing_and_what_has_an_effect_gets_none(number):
    rng, told = random.Random(number), Counter()
    game = Game.from_json(generate_one(5, number * 7).game)
    for _ in range(STEPS):
        verb, thing, place, knife = ways(game, rng)
        command = FORMS[verb].format(thing, place, knife)
        reason = why_without_effect(game.household, game.state, command)
        if command in game.admissible:
            assert reason is None, command
        else:
            assert reason is not None, command
            assert true_of(game, reason, verb, thing, place, knife), (command, reason)
            assert "\n" not in reason.sentence
            assert reason.sentence.endswith(".")
            told[reason.name] += 1
        hidden = unseen(game)
        if command not in game.admissible:
            assert why_without_effect(hidden.household, hidden.state, command) == reason, command
        game.step(command if rng.random() < 0.5 else rng.choice(game.admissible))
        assert all(
            why_without_effect(game.household, game.state, command) is None for command in game.admissible
        )
    assert len(told) >= 12
    assert {"not_there", "no_such_place", "not_held", "already_there"} <= told.keys()


def hints(*commands, feedback="hint"):
    environment = create({"feedback": feedback, "task_type": "heat"})
    episode = environment.start(environment.load(1).tasks[0])
    episode.reset()
    seen = [episode.step(command) for command in commands]
    episode.close()
    environment.close()
    return seen


def test_a_hint_is_one_more_sentence_and_the_command_stays_without_effect(monkeypatch, tmp_path):
    monkeypatch.setenv("REFLEX_BENCH_CACHE", str(tmp_path))
    commands = ("go to garage 1", "go to fridge 1", "go to fridge 1", "take mug 1 from fridge 1", "dance")
    commands += ("put apple 1 in/on fridge 1", "open microwave 1", "go to fridge", "open fridge 1")
    seen, plain = hints(*commands), hints(*commands, feedback="plain")
    assert [step.observation for step in seen[:-1]] == [
        "Nothing happens. There is no place called garage 1.",
        "You arrive at fridge 1. The fridge 1 is closed.",
        "Nothing happens. You are already at the fridge 1.",
        "Nothing happens. The fridge 1 is closed.",
        "Nothing happens.",
        "Nothing happens. You do not hold apple 1.",
        "Nothing happens. You are not at the microwave 1.",
        "Nothing happens. There is no place called fridge; write its number, too.",
    ]
    assert [step.valid for step in seen] == [step.valid for step in plain]
    assert {step.observation for step in plain if not step.valid} == {"Nothing happens."}
    assert [step.observation for step in seen if step.valid] == [
        step.observation for step in plain if step.valid
    ]


def test_a_setting_names_hints_and_rows_without_them_are_as_before():
    assert create({"feedback": "hint"}).settings()["feedback"] == "hint"
    assert "feedback" not in create({}).settings()


def test_the_official_engine_gives_no_hints_and_that_is_said_at_once():
    with pytest.raises(UsageError, match="engine=native alone"):
        create({"feedback": "hint", "engine": "official"})
