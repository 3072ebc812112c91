"""Prints how hard generated ALFWorld games are beside official ones, as a Markdown table.

Only things that lie in a receptacle count, for only those can be seen and taken. A target is such an object of the kind
that the task names (the kind is taken from the game's folder). The measures, each over all the games of a column:

- all targets behind doors: share of games in which every receptacle that holds a target is closed at the start.
- targets behind doors: share of all targets, over all games, that lie only in closed receptacles.
- target in the goal's type: of games other than examine, the share in which a target already lies in a receptacle of
  the type that the task names.
- in two receptacles: share of games in which some object is in two receptacles or more at once.
- inside a vessel: share of games with an object inside another (a fact of an object with itself does not count).
- more than 3 of a kind: share of games with more than three objects of one kind.
- targets a game: mean number of targets.
- blind search: mean number of commands until a target is seen by one who goes to the receptacles in random order, each
  once, and opens those that are closed. Each visit counts one command, each opening another, and the last visit counts.
  This is the expectation over all orders, not a sample: a receptacle without a target comes before all `h` receptacles
  with one in 1 of h + 1 orders. A target that is in the hand at once counts where it lies.
- shortest plan: commands of the recorded walkthrough, which in official games is as short as can be.
- objects: mean number of objects that lie in a receptacle, by kind of room; receptacles: mean number a game.
- goal in ...: share of games other than examine whose goal is a receptacle of this type.
- floor lamp: share of examine games whose lamp is a floor lamp.
- places never seen: share of the official (kind of object, type of receptacle) placings, counted by object, that do
  not come in the column's games. Columns of few games lack rare ones.

A column of official data is one split; `--step 6` takes every sixth game by id.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from reflex_bench.envs.alfworld.engine.loading.facts import Facts
from reflex_bench.envs.alfworld.generator import Recipe, generate
from reflex_bench.envs.alfworld.generator.goals import SHORT_NAMES
from reflex_bench.envs.alfworld.official.data import load_official
from reflex_bench.envs.alfworld.splits import PROCEDURAL, parse_name

ROOMS = {0: "kitchen", 2: "living room", 3: "bedroom", 4: "bathroom"}


@dataclass(frozen=True)
class Measured:
    """What the measures need of a game.

    Attributes:
        kind: `put`, `clean`, …
        goal: type of receptacle (for examine, of lamp) that the task names, in lower case.
        room: kind of room.
        copies: how many of each kind of object lie in receptacles.
        places: for each object in some receptacle, its kind and the types of its receptacles.
        targets: for each target, the receptacles that it is in.
        types: for each receptacle, its type.
        closed: receptacles that are closed at the start.
        nested: whether something is inside a vessel.
        plan: commands of the walkthrough.
    """

    kind: str
    goal: str
    room: str
    copies: Counter[str]
    places: tuple[tuple[str, tuple[str, ...]], ...]
    targets: tuple[frozenset[str], ...]
    types: dict[str, str]
    closed: frozenset[str]
    nested: bool
    plan: int


def measured(task_id: str, game: dict[str, Any]) -> Measured:
    """Read a game.

    Args:
        task_id: whose first part names the task, e.g. `pick_and_place_simple-Mug-None-Desk-308/…`.
        game: content of its `game.tw-pddl`.
    """
    task, target, _, goal, room = task_id.split("/")[0].split("-")
    facts = Facts(game["pddl_problem"])
    kinds = {thing: kind.removesuffix("type") for thing, kind in facts.rows("objecttype")}
    types = {piece: kind.removesuffix("type") for piece, kind in facts.rows("receptacletype")}
    places: dict[str, set[str]] = defaultdict(set)
    for thing, piece in facts.rows("inreceptacle"):
        if thing in kinds:
            places[thing].add(piece)
    openable = {piece for (piece,) in facts.rows("openable")}
    opened = {piece for (piece,) in facts.rows("opened")}
    return Measured(
        kind=SHORT_NAMES[task],
        goal=goal.lower(),
        room=ROOMS[int(room) // 100],
        copies=Counter(kinds[thing] for thing in places),
        places=tuple((kinds[thing], tuple(types[p] for p in pieces)) for thing, pieces in places.items()),
        targets=tuple(
            frozenset(pieces) for thing, pieces in places.items() if kinds[thing] == target.lower()
        ),
        types=types,
        closed=frozenset(openable - opened),
        nested=any(one != other for one, other in facts.rows("inreceptacleobject")),
        plan=len(game.get("walkthrough") or ()),
    )


def search(game: Measured) -> float:
    """Return the expected number of commands until a target is seen; see the module's text."""
    holding = frozenset().union(*game.targets)
    cost = {piece: 1 + (piece in game.closed) for piece in game.types}
    before = sum(cost[piece] for piece in cost.keys() - holding) / (len(holding) + 1)
    return before + mean(cost[piece] for piece in holding)


def share(truths: Iterable[bool]) -> str:
    """Return a share in percent."""
    found = list(truths)
    return f"{100 * mean(found):.1f} %" if found else "–"


def average(numbers: Iterable[float]) -> str:
    """Return a mean with one decimal."""
    found = list(numbers)
    return f"{mean(found):.1f}" if found else "–"


def lines(games: Sequence[Measured]) -> Iterator[tuple[str, str]]:
    """Yield the measures of a set of games: name and figure."""
    hidden = [[pieces <= game.closed for pieces in game.targets] for game in games]
    bringing = [game for game in games if game.kind != "examine"]
    yield "games", str(len(games))
    yield "all targets behind doors", share(all(each) for each in hidden)
    yield "targets behind doors", share(door for each in hidden for door in each)
    yield (
        "target in the goal's type",
        share(
            any(game.types[p] == game.goal for pieces in game.targets for p in pieces) for game in bringing
        ),
    )
    yield "in two receptacles", share(any(len(at) > 1 for _, at in game.places) for game in games)
    yield "inside a vessel", share(game.nested for game in games)
    yield "more than 3 of a kind", share(max(game.copies.values()) > 3 for game in games)
    yield "targets a game", average(len(game.targets) for game in games)
    yield "blind search", average(search(game) for game in games)
    for kind in ("put", "clean", "heat", "cool", "examine", "puttwo"):
        yield f"blind search, {kind}", average(search(game) for game in games if game.kind == kind)
    plans = [game.plan for game in games]
    yield "shortest plan, mean (max)", f"{mean(plans):.1f} ({max(plans)})"
    for room in ROOMS.values():
        yield f"objects, {room}", average(game.copies.total() for game in games if game.room == room)
    yield "receptacles", average(len(game.types) for game in games)
    for goal in ("garbagecan", "countertop", "cabinet", "drawer"):
        yield f"goal in {goal}", share(game.goal == goal for game in bringing)
    yield "floor lamp", share(game.goal == "floorlamp" for game in games if game.kind == "examine")


def placings(games: Iterable[Measured]) -> Counter[tuple[str, str]]:
    """Count how often each kind of object lies in each type of receptacle."""
    return Counter((kind, place) for game in games for kind, at in game.places for place in at)


def table(columns: dict[str, Sequence[Measured]], official: Sequence[str]) -> str:
    """Return the table as Markdown; `official` names the columns whose placings the others are held against."""
    figures = {name: list(lines(games)) for name, games in columns.items()}
    known: Counter[tuple[str, str]] = Counter()
    for name in official:
        known += placings(columns[name])
    if known:
        for name, games in columns.items():
            own = placings(games)
            missing = sum(number for pair, number in known.items() if pair not in own)
            figures[name].append(("official placings never seen", f"{100 * missing / known.total():.1f} %"))
    rows = [["", *columns], ["---", *["---"] * len(columns)]]
    names = [name for name, _ in next(iter(figures.values()))]
    rows += [[name, *(column[row][1] for column in figures.values())] for row, name in enumerate(names)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def official_games(split: str, data: Path, step: int) -> list[Measured]:
    """Read the games of an official split, every `step`-th by id."""
    tasks = load_official(split, data).tasks[::step]
    return [measured(task.id, json.loads(task.data.path.read_bytes())) for task in tasks]


def generated_games(recipe: Recipe, count: int) -> list[Measured]:
    """Make games and measure them."""
    return [measured(game.id, json.loads(game.game)) for game in generate(recipe, count)]


def whole_numbers(text: str) -> list[int]:
    """Read `0,1,2`."""
    return [int(part) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add: Callable[..., Any] = parser.add_argument
    add("--data", type=Path, help="folder of official games, as for `reflex bench --data`")
    add("--split", default="valid_unseen", help="official splits, e.g. valid_unseen,valid_seen,train")
    add("--step", type=int, default=1, help="take every so many-th official game")
    add("--generator", type=whole_numbers, default=[2], help="1, 2 or 1,2")
    add("--seed", type=whole_numbers, default=[0], help="e.g. 0,1,2")
    add("--tasks", type=int, default=134, help="generated games a seed")
    add("--recipe", help="settings of a procedural split instead, e.g. seed=3,hidden=0.4")
    arguments = parser.parse_args()
    recipes = [Recipe(seed, version) for version in arguments.generator for seed in arguments.seed]
    if arguments.recipe:
        recipes = [parse_name(f"{PROCEDURAL}:{arguments.recipe}")[1]]
    columns: dict[str, Sequence[Measured]] = {
        f"generator {recipe.generator}, {recipe.settings.removeprefix('generator=1,')}": generated_games(
            recipe, arguments.tasks
        )
        for recipe in recipes
    }
    official = arguments.split.split(",") if arguments.data else []
    for split in official:
        columns[split] = official_games(split, arguments.data, arguments.step)
    print(table(columns, official))


if __name__ == "__main__":
    main()
