"""Shortest plans, against a search that knows nothing but the rules."""

import random

import alfworld_transcripts as transcripts
import pytest

from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.engine.planner import shortest_plan
from reflex_bench.envs.alfworld.generator import generate

# These change nothing, and nothing that a goal asks for needs a lid to be closed.
IDLE = {"look", "inventory", "help", "examine", "close"}


def position(game):
    state = game.state
    fields = (state.opened, state.clean, state.hot, state.cool, state.toggled, state.sliced)
    return state.place, state.held, tuple(state.inside), tuple(state.lying), *map(frozenset, fields)


def fewest_commands(game):
    """Breadth first over everything that can be done; None where no end of it wins."""
    if game.won:
        return 0
    seen, layer, depth = {position(game)}, [game], 0
    while layer:
        depth += 1
        following = []
        for before in layer:
            for command in before.admissible:
                if command.split()[0] in IDLE:
                    continue
                after = before.copy()
                if after.step(command).won:
                    return depth
                if position(after) not in seen:
                    seen.add(position(after))
                    following.append(after)
        layer = following
    return None


@pytest.mark.parametrize(
    ("name", "wander"), [("refusals", 0), ("refusals", 25), ("light", 0), ("light_first", 12), ("vase", 5)]
)
def test_no_plan_is_shorter(name, wander):
    game, rng = Game.from_json(transcripts.game(name)), random.Random(f"{name} {wander}")
    for _ in range(wander):
        game.step(rng.choice(game.admissible))
    plan = shortest_plan(game)
    assert plan is not None
    assert len(plan) == fewest_commands(game)


def test_plans_slice_and_know_that_one_hand_holds_one_thing():
    game = Game.from_json(transcripts.game("treatments"))
    # Go, take the apple, go, clean it, go back, put it down, take the knife, slice; never both in the hand.
    verbs = ["go", "take", "go", "clean", "go", "move", "take", "slice"]
    assert [command.split()[0] for command in shortest_plan(game)] == verbs
    for command in ("go to countertop 1", "take knife 1 from countertop 1", "slice apple 2 with knife 1"):
        game.step(command)
    plan = shortest_plan(game)
    assert [command.split()[0] for command in plan] == ["move", "take", "go", "clean", "go", "move"]
    assert [game.step(command).won for command in plan] == [False] * 5 + [True]


def test_a_game_that_can_no_longer_be_won_has_no_plan_and_a_won_one_an_empty_one():
    game = Game.from_json(transcripts.game("light"))
    for command in ("go to countertop 1", "take vase 1 from countertop 1"):
        game.step(command)
    assert shortest_plan(game) is None
    game.reset()
    for command in shortest_plan(game):
        game.step(command)
    assert game.won
    assert shortest_plan(game) == []


def test_every_generated_game_is_won_by_its_plan_and_not_before_its_end():
    for generated in generate(5, 24):
        game = Game.from_json(generated.game.decode())
        plan = shortest_plan(game)
        assert plan is not None
        assert len(plan) <= len(generated.walkthrough)
        for number, command in enumerate(plan, start=1):
            step = game.step(command)
            assert step.valid
            assert step.won == (number == len(plan))
