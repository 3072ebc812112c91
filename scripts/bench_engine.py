"""Times the native and the official ALFWorld engine on the same games and commands, one after the other.

Each engine plays each game by itself: load, reset, then the same commands, all in one process. Times are of the
processor, since the official engine is so slow that other programs would get into its way. Medians over the games.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.generator import generate
from reflex_bench.envs.alfworld.official.engine import OfficialGame

REPEATS = 50  # plays of each game in the native engine, whose median counts


def commands_for(path: Path, count: int, rng: random.Random) -> list[str]:
    """Random commands: a verb first, then one of its commands, so that not most of them go somewhere."""
    game = Game.load(path)
    admissible, commands = game.reset().admissible, []
    for _ in range(count):
        verb = rng.choice(sorted({command.split()[0] for command in admissible}))
        commands.append(rng.choice([command for command in admissible if command.split()[0] == verb]))
        admissible = game.step(commands[-1]).admissible
    return commands


def time_native(path: Path, commands: list[str]) -> tuple[float, float, list[str]]:
    """Seconds to load and reset, seconds per step, and what was said."""
    loads, plays = [], []
    for _ in range(REPEATS):
        began = time.process_time()
        game = Game.load(path)
        said = [game.reset().observation]
        loads.append(time.process_time() - began)
        began = time.process_time()
        for command in commands:
            said.append(game.step(command).observation)
        plays.append((time.process_time() - began) / len(commands))
    return statistics.median(loads), statistics.median(plays), said


def time_official(path: Path, commands: list[str]) -> tuple[float, float, list[str]]:
    """The same for the official engine, once."""
    began = time.process_time()
    game = OfficialGame(path)
    said = [game.reset().observation]
    load = time.process_time() - began
    began = time.process_time()
    for command in commands:
        said.append(game.step(command).observation)
    play = (time.process_time() - began) / len(commands)
    game.close()
    return load, play, said


def main() -> int:
    """Returns 1 where the engines did not say the same, or a ratio is below what the project promises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=24)
    parser.add_argument("--steps", type=int, default=20, help="per game")
    parser.add_argument("--seed", type=int, default=3)
    arguments = parser.parse_args()
    native, official, same = [], [], True
    with tempfile.TemporaryDirectory() as folder:
        for number, generated in enumerate(generate(arguments.seed, arguments.games)):
            path = Path(folder) / f"{number}.tw-pddl"
            path.write_bytes(generated.game)
            commands = commands_for(path, arguments.steps, random.Random(number))
            *times, said = time_native(path, commands)
            *reference, said_officially = time_official(path, commands)
            native.append(times)
            official.append(reference)
            same = same and said == said_officially
    good = same
    for name, column, promised in (("load + reset", 0, 300), ("step", 1, 3000)):
        fast, slow = (statistics.median(row[column] for row in rows) for rows in (native, official))
        ratio = slow / fast
        print(
            f"{name:13} native {fast * 1e6:8.1f} us   official {slow * 1e3:7.1f} ms   {ratio:8,.0f} times faster",
            end="",
        )
        print(f" (promised {promised:,})")
        good = good and ratio >= promised
    print(
        f"medians over {arguments.games} games, {arguments.steps} commands each; same text: {'yes' if same else 'NO'}"
    )
    return not good


if __name__ == "__main__":
    raise SystemExit(main())
