"""Generator 2: one game, drawn from what official games were counted to be.

A game is a goal and a floor plan that fits it (`goals`), the room as official ones are furnished (`furniture`), objects
where official games have them (`contents`), and the files in which the official tools expect it (`problem`). Each is
won by its own shortest plan in the native engine before it leaves this module.
"""

from __future__ import annotations

from typing import Any

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.engine.planner import shortest_plan
from reflex_bench.envs.alfworld.generator.first.game import GeneratedGame, json_bytes, trajectory
from reflex_bench.envs.alfworld.generator.goals import OFFICIAL_NAMES, Goal, scheduled_type
from reflex_bench.envs.alfworld.generator.layouts import tables
from reflex_bench.envs.alfworld.generator.recipe import Recipe
from reflex_bench.envs.alfworld.generator.rooms import Room
from reflex_bench.envs.alfworld.generator.second.contents import Thing, fill
from reflex_bench.envs.alfworld.generator.second.goals import choose
from reflex_bench.envs.alfworld.generator.second.problem import problem_text

_PATIENCE = 500
"""Goals and rooms tried before a game is given up as a bug."""
MAX_PLAN = 10
"""Commands; no official game takes more (longest recorded walkthrough of all 3,827)."""


def generate_one(recipe: Recipe, number: int) -> GeneratedGame:
    """Return game `number` (from 0) of a recipe; it is the same whatever the count.

    Raises:
        RuntimeError: no room fits, or a game is not won by its own plan; the generator has a fault.
    """
    rng = SeededRandom("alfworld", recipe.generator, recipe.settings, number)
    kind = scheduled_type(number)
    for _ in range(_PATIENCE):
        chosen = choose(kind, rng)
        things = fill(*chosen, recipe, rng) if chosen is not None else None
        game = _proven(*chosen, things) if chosen is not None and things is not None else None
        if chosen is not None and game is not None:
            return _written(recipe, number, *chosen, game)
    raise RuntimeError(f"no game {number} of {recipe.settings}: {_PATIENCE} rooms did not fit")


def _proven(room: Room, goal: Goal, things: tuple[Thing, ...]) -> dict[str, Any] | None:
    """Return the game file's content, with a shortest plan that wins.

    None where the plan is longer than official ones.
    """
    game: dict[str, Any] = {
        "pddl_domain": tables().domain,
        "grammar": tables().grammar.replace("UNKNOWN GOAL", goal.sentence),
        "pddl_problem": problem_text(room, things, goal),
        "solvable": True,
    }
    opened = Game.from_json(game)
    plan = shortest_plan(opened)
    if plan is None or opened.won:
        raise RuntimeError(f"a generated game cannot be won, or is won at once: {goal} in room {room.number}")
    won = False
    for command in plan:
        won = opened.step(command).won
    if not won:
        raise RuntimeError(f"a generated game is not won by its own plan: {plan}")
    game["walkthrough"] = plan
    return game if len(plan) <= MAX_PLAN else None


def _written(recipe: Recipe, number: int, room: Room, goal: Goal, game: dict[str, Any]) -> GeneratedGame:
    trial = f"trial_{recipe.mark}_{number:05d}"
    origin: dict[str, Any] = {"version": recipe.generator, "seed": recipe.seed, "number": number}
    if recipe.hidden is not None:
        origin["hidden"] = recipe.hidden
    if recipe.copies is not None:
        origin["copies"] = recipe.copies
    return GeneratedGame(
        id=f"{OFFICIAL_NAMES[goal.type]}-{goal.target}-None-{goal.parent or goal.toggle}-{room.number}/{trial}",
        type=goal.type,
        text=f"{goal.sentence}.",
        game=json_bytes(game),
        trajectory=json_bytes(trajectory(room, goal, trial, origin)),
        walkthrough=tuple(game["walkthrough"]),
    )
