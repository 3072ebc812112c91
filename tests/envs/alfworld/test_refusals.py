"""A command that is not admissible is one of three things, in both engines and both grammars."""

import json

import alfworld_transcripts as transcripts
import pytest

from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.engine.refusals import Vocabulary
from reflex_bench.envs.alfworld.environment import create
from reflex_bench.envs.alfworld.official.data import GameFile, room_of
from reflex_bench.envs.base import INVALID_REASONS, Task


@pytest.fixture
def game():
    return Game.from_json(transcripts.game("light"))


def refusal(game, command):
    assert not game.step(command).valid, command
    return Vocabulary(game.household).why_refused(command)


def elsewhere(game):
    """Something that is in no hand and not where one stands at the beginning."""
    return next(iter(sorted(game.household.objects)))


def test_a_command_of_no_form_was_not_understood(game):
    for command in ("dance", "go", "go to", "take", "open", "look around", "put it down", ""):
        assert refusal(game, command) == "unparsed", command


def test_a_name_that_the_game_does_not_have_was_invented(game):
    for command in ("go to fridge 99", "open sky 1", "examine unicorn 1", "use sun 1"):
        assert refusal(game, command) == "absent", command
    one = elsewhere(game)
    assert refusal(game, f"take {one} from heaven 1") == "absent"
    assert refusal(game, f"take {one} 7 from {game.household.receptacles[0]}") == "absent"


def test_what_is_there_may_have_no_effect_now(game):
    place = game.household.receptacles[0]
    assert game.step(f"go to {place}").valid
    assert refusal(game, f"go to {place}") == "no_effect"
    for thing in game.household.objects:
        command = game.household.wording.commands["put"].format(thing, place)
        # Nothing is in the hand yet.
        assert refusal(game, command) == "no_effect"
    assert refusal(game, f"clean {elsewhere(game)} with {place}") == "no_effect"


def test_every_reason_is_one_that_readers_know(game):
    assert {refusal(game, command) for command in ("dance", "go to fridge 99", "close bed 1")} <= {
        *INVALID_REASONS
    }


@pytest.mark.parametrize("engine", ["native", pytest.param("official", marks=pytest.mark.official)])
def test_both_engines_give_the_reason_with_the_answer(engine, tmp_path):
    path = tmp_path / "game.tw-pddl"
    path.write_text(json.dumps(transcripts.game("light")), encoding="utf-8")
    place = Game.load(path).household.receptacles[0]
    environment = create({"engine": engine})
    try:
        episode = environment.start(Task("a", "examine", "", "", GameFile(path)))
        episode.reset()
        commands = ("dance", "go to fridge 99", f"go to {place}", f"go to {place}")
        found = [episode.step(command) for command in commands]
        episode.close()
    finally:
        environment.close()
    assert [step.valid for step in found] == [False, False, True, False]
    assert [step.reason for step in found] == ["unparsed", "absent", "", "no_effect"]


def test_an_id_names_its_room():
    assert room_of("pick_and_place_simple-Watch-None-Safe-219/trial_T20190907_074643_810052") == "219"
    assert room_of("look_at_obj_in_light-Bowl-None-DeskLamp-308/trial_S0_00001") == "308"
    assert room_of("env_12") is None
