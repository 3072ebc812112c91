"""One procedural game of generator 1: a household and a task, made from a seed, in the official form.

Each is won by its own plan in the native engine before it leaves this module, and the plan is as short as can be.
A game is a furnished room (`rooms`), a goal that fits it (`goals`), objects laid out round that goal (`contents`) and
the files in which the official tools expect it (`problem`). Game number `n` of a seed is the same whatever the count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.engine.planner import shortest_plan
from reflex_bench.envs.alfworld.generator.first.contents import Thing, fill
from reflex_bench.envs.alfworld.generator.first.plans import plan
from reflex_bench.envs.alfworld.generator.goals import (
    OFFICIAL_NAMES,
    ROOM_KINDS,
    Goal,
    choose_goal,
    scheduled_type,
)
from reflex_bench.envs.alfworld.generator.layouts import room_numbers, tables
from reflex_bench.envs.alfworld.generator.problem import problem_text
from reflex_bench.envs.alfworld.generator.rooms import Room, furnish

VERSION = 1
"""Of this generator. Its games never change; `generator.recipe` names the version that is used by default."""
_PATIENCE = 200  # rooms tried before a game is given up as a bug


@dataclass(frozen=True, slots=True)
class GeneratedGame:
    """One game, ready to be written.

    Attributes:
        id: `<task type>-<object>-None-<receptacle or lamp>-<room>/trial_S<seed>_<number>`, as the official folders.
        type: `put`, `clean`, `heat`, `cool`, `examine` or `puttwo`.
        text: the task, one sentence.
        game: the bytes of `game.tw-pddl`.
        trajectory: the bytes of `traj_data.json`.
        walkthrough: commands that win it, as few as can.
    """

    id: str
    type: str
    text: str
    game: bytes
    trajectory: bytes
    walkthrough: tuple[str, ...]


def generate_one(seed: int, number: int) -> GeneratedGame:
    """Game `number` (from 0) of a seed."""
    rng = SeededRandom("alfworld", VERSION, seed, number)
    kind = scheduled_type(number)
    for _ in range(_PATIENCE):
        room = furnish(rng.pick(room_numbers(rng.pick(ROOM_KINDS[kind]))))
        goal = choose_goal(room, kind, rng)
        things = fill(room, goal, rng) if goal is not None else None
        if goal is not None and things is not None:
            return _written(seed, number, room, things, goal)
    raise RuntimeError(f"no game {number} for seed {seed}: {_PATIENCE} rooms did not fit")


def _written(seed: int, number: int, room: Room, things: tuple[Thing, ...], goal: Goal) -> GeneratedGame:
    trial = f"trial_S{seed}_{number:05d}"
    game: dict[str, Any] = {
        "pddl_domain": tables().domain,
        "grammar": tables().grammar.replace("UNKNOWN GOAL", goal.sentence),
        "pddl_problem": problem_text(room, things, goal),
        "solvable": True,
    }
    walkthrough = _proven(game, plan(room, things, goal))
    game["walkthrough"] = list(walkthrough)
    return GeneratedGame(
        id=f"{OFFICIAL_NAMES[goal.type]}-{goal.target}-None-{goal.parent or goal.toggle}-{room.number}/{trial}",
        type=goal.type,
        text=f"{goal.sentence}.",
        game=json_bytes(game),
        trajectory=json_bytes(
            trajectory(room, goal, trial, {"version": VERSION, "seed": seed, "number": number})
        ),
        walkthrough=walkthrough,
    )


def _proven(game: dict[str, Any], planned: tuple[str, ...]) -> tuple[str, ...]:
    """Return a shortest plan: the one that the game was built around, or the search's where that found a shorter one.

    Raises:
        RuntimeError: the plan does not win the game; the generator has a fault.
    """
    opened = Game.from_json(game)
    won = False
    opened.reset()
    for command in planned:
        won = opened.step(command).won
    shortest = shortest_plan(Game.from_json(game))
    if not won or shortest is None:
        raise RuntimeError(f"a generated game is not won by its own plan: {planned}")
    return planned if len(planned) == len(shortest) else tuple(shortest)


def trajectory(room: Room, goal: Goal, trial: str, origin: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the official tools look up about a game; there is no recorded demonstration.

    Args:
        room: that it is played in.
        goal: what it asks for.
        trial: its folder's name.
        origin: what it was made from; `number` is that of the game.
    """
    return {
        "task_id": trial,
        "task_type": OFFICIAL_NAMES[goal.type],
        "pddl_params": {
            "object_target": goal.target,
            "parent_target": goal.parent,
            "toggle_target": goal.toggle,
            "mrecep_target": "",
            "object_sliced": False,
        },
        "scene": {
            "floor_plan": f"FloorPlan{room.number}",
            "scene_num": room.number,
            "random_seed": origin["number"],
            "object_poses": [],
            "object_toggles": [],
        },
        "turk_annotations": {"anns": [{"task_desc": f"{goal.sentence}.", "high_descs": []}]},
        "plan": {"high_pddl": [], "low_actions": []},
        "generator": {"name": "reflex-bench", **origin},
    }


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """Return a file's content, the same on every machine."""
    return (json.dumps(value, ensure_ascii=True, indent=1) + "\n").encode("ascii")
