"""Plays games in the native and in the official ALFWorld engine side by side and compares everything they say.

The games are generated: all task types and room kinds, in turn in the form of each release of the data. Some are
disturbed first, into what the generator does not write but official data contain or could: things in two places,
vessels with something in them, lids that do not open, other goals, things already hot or clean, and so on.
The commands are random, goal-directed, and malformed, in changing shares.

`--data DIR` plays the games that lie in DIR instead, each for an equal share of the steps: official data, say.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from disturb import disturb

from reflex_bench.envs.alfworld.engine.game import Game, UnknownGame
from reflex_bench.envs.alfworld.engine.planner import shortest_plan
from reflex_bench.envs.alfworld.episode import Answer
from reflex_bench.envs.alfworld.generator import generate
from reflex_bench.envs.alfworld.generator.goals import OFFICIAL_NAMES
from reflex_bench.envs.alfworld.official.releases import RELEASES, rewrite
from reflex_bench.envs.alfworld.official.workers import WorkerPool
from reflex_bench.envs.alfworld.parsing.grammar import detect
from reflex_bench.envs.alfworld.verify import Replay, compare

OUR_NAMES = {name: kind for kind, name in OFFICIAL_NAMES.items()}
ROOM_KINDS = {"0": "kitchen", "2": "living room", "3": "bedroom", "4": "bathroom"}


@dataclass(frozen=True)
class Case:
    """One game to compare.

    Attributes:
        path: its file.
        release: whose form it has.
        kind: task type; `changed goal` where a disturbance replaced it.
        room: kind of room.
        disturbed: what was done to it.
        seed: of the commands.
    """

    path: Path
    release: str
    kind: str
    room: str
    disturbed: tuple[str, ...]
    seed: int


def make_cases(count: int, seed: int, folder: Path) -> list[Case]:
    """Writes `count` games and says what is in them."""
    cases = []
    for number, game in enumerate(generate(seed, count)):
        rng = random.Random(f"{seed} {number}")
        release = RELEASES[number % len(RELEASES)]
        content: dict[str, Any] = rewrite(json.loads(game.game), release)
        done: tuple[str, ...] = ()
        if number % 3 == 2 or number % 7 == 0:
            content, done = disturbed(content, rng)
        path = folder / f"{number:05}.tw-pddl"
        path.write_text(json.dumps(content), encoding="utf-8")
        kind = "changed goal" if any(name.startswith("goal") for name in done) else game.type
        cases.append(Case(path, release, kind, room_kind(game.id), done, seed + number))
    return cases


def find_cases(data: Path, seed: int) -> tuple[list[Case], list[str]]:
    """The games in a folder, and a line for each that the native engine does not play."""
    cases, left = [], []
    for number, path in enumerate(sorted(data.rglob("game.tw-pddl"))):
        name = "/".join(path.parts[-3:-1])
        content = json.loads(path.read_bytes())
        try:
            Game.from_json(content)
        except UnknownGame as reason:
            left.append(f"{name}: {reason}")
            continue
        kind = OUR_NAMES.get(name.split("-", 1)[0], "other")
        form = "put" if detect(content["grammar"]).puts else "move"
        cases.append(Case(path, form, kind, room_kind(name), (), seed + number))
    return cases, left


def disturbed(content: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A changed game and what was done to it; most changes that nobody can win are not for the engines to judge."""
    new_goal = rng.random() < 0.5
    for _ in range(50):
        other, done = disturb(content, rng, new_goal)
        try:
            Game.from_json(other)
        except UnknownGame:
            continue
        return other, done
    return content, ()


def room_kind(task_id: str) -> str:
    """The kind of room, by the number of the floor plan at the end of a task's name."""
    number = int(task_id.split("/")[0].rsplit("-", 1)[1])
    return ROOM_KINDS[str(number // 100)]


class Chooser:
    """Chooses the commands of one game.

    Args:
        game: the native game that the commands will be played in.
        steps: how many commands to give.
        seed: of the choices.
    """

    def __init__(self, game: Game, steps: int, seed: int) -> None:
        self._game = game
        self._steps = steps
        self._rng = random.Random(seed)
        # Some games are played mostly towards the goal, some mostly at random.
        self._direct = self._rng.choice([0.1, 0.5, 0.9])
        self.kinds: Counter[str] = Counter()

    def __call__(self, step: int, answer: Answer) -> str | None:
        if step > self._steps:
            return None
        rng = self._rng
        if rng.random() < self._direct and not answer.won:
            plan = shortest_plan(self._game)
            if plan:
                return self._count("towards the goal", plan[0])
        if rng.random() < 0.1:
            return self._count("malformed", malform(rng.choice(answer.admissible), rng))
        # Verbs are drawn first: most admissible commands go somewhere, and those are the least telling.
        verb = rng.choice(sorted({command.split()[0] for command in answer.admissible}))
        return self._count("random", rng.choice([c for c in answer.admissible if c.split()[0] == verb]))

    def _count(self, kind: str, command: str) -> str:
        self.kinds[kind] += 1
        return command


def malform(command: str, rng: random.Random) -> str:
    """Something close to an admissible command, mostly not admissible itself."""
    return rng.choice(
        [
            command.upper(),
            command.capitalize(),
            f"  {command}\n",
            f"\t{command} ",
            command.replace(" ", "  "),
            command + ".",
            command.replace("1", "2"),
            command[:-1],
            command.split()[0],
            command.replace("move", "put").replace(" to ", " in/on "),
            command.replace("put", "move").replace(" in/on ", " to "),
            "",
            "go to bed 9",
            "take 1 from 2",
        ]
    )


def play(case: Case, steps: int, pool: WorkerPool) -> tuple[Case, Replay, Counter[str]]:
    """Compares one game."""
    native = Game.load(case.path)
    official = pool.open(case.path)
    choose = Chooser(native, steps, case.seed)
    try:
        return case, compare(native, official, choose), choose.kinds
    finally:
        official.close()


def report(
    results: list[tuple[Case, Replay, Counter[str]]], seconds: float, arguments: argparse.Namespace
) -> str:
    """The figures as Markdown."""
    cases, replays, kinds = zip(*results, strict=True)
    differences = [
        (case, replay.difference) for case, replay in zip(cases, replays, strict=True) if replay.difference
    ]
    steps = sum(replay.steps for replay in replays)
    lines = [
        f"- games: {len(cases)}, of which {sum(replay.won for replay in replays)} were won on the way",
        f"- steps: {steps}, each with its observation, its admissible commands and whether the game is won",
        f"- **differences: {len(differences)}**",
        f"- task types: {tally(Counter(case.kind for case in cases))}",
        f"- rooms: {tally(Counter(case.room for case in cases))}",
        f"- form of the file: {tally(Counter(case.release for case in cases))}",
        f"- commands: {tally(sum(kinds, Counter()))}",
        f"- disturbed games: {sum(bool(case.disturbed) for case in cases)}; "
        f"{tally(Counter(name for case in cases for name in case.disturbed))}",
        f"- alfworld {version('alfworld')}, textworld {version('textworld')}; seed {arguments.seed}; {seconds:.0f} s",
    ]
    lines += [
        f"- {case.path.name} ({case.release}; {', '.join(case.disturbed)}): {found}"
        for case, found in differences
    ]
    return "\n".join(lines) + "\n"


def tally(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def main() -> int:
    """Returns 1 where the engines differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--steps", type=int, default=20_000, help="in all games together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="of the official engine, about 170 MB each"
    )
    parser.add_argument("--data", type=Path, help="play the games that lie in this folder, at any depth")
    parser.add_argument("--only", type=int, help="the number of one game")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="put the figures between the marks in this file"
    )
    arguments = parser.parse_args()
    began = time.monotonic()
    pool = WorkerPool(arguments.processes)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.processes) as threads:
        left: list[str] = []
        if arguments.data:
            cases, left = find_cases(arguments.data, arguments.seed)
        else:
            cases = make_cases(arguments.games, arguments.seed, Path(folder))
        if not cases:
            parser.error(f"no game to play in {arguments.data}" + "".join(f"\n{line}" for line in left))
        if arguments.only is not None:
            cases = [cases[arguments.only]]
        steps = -(-arguments.steps // len(cases))
        results = []
        for result in threads.map(lambda case: play(case, steps, pool), cases):
            results.append(result)
            if result[1].difference:
                print(f"{result[0].path.name} {result[0].disturbed}: {result[1].difference}", flush=True)
            if len(results) % 20 == 0:
                print(f"{len(results)} games, {time.monotonic() - began:.0f} s", flush=True)
        pool.close()
    text = report(results, time.monotonic() - began, arguments)
    text += "".join(f"- not played: {line}\n" for line in left)
    print(text)
    if arguments.write:
        before, _, rest = arguments.write.read_text(encoding="utf-8").partition("<!-- figures -->\n")
        after = rest.partition("<!-- end -->")[2]
        arguments.write.write_text(f"{before}<!-- figures -->\n{text}<!-- end -->{after}", encoding="utf-8")
    return any(replay.difference for _, replay, _ in results)


if __name__ == "__main__":
    raise SystemExit(main())
