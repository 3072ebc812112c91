"""The native engine beside the official one, step by step: slow, since the official one is."""

import json
import random
from concurrent.futures import ThreadPoolExecutor

import alfworld_transcripts as transcripts
import pytest

from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.engine.planner import shortest_plan
from reflex_bench.envs.alfworld.episode import AlfworldEpisode, Opened
from reflex_bench.envs.alfworld.generator import generate_one
from reflex_bench.envs.alfworld.official.releases import RELEASES, rewrite
from reflex_bench.envs.alfworld.official.workers import WorkerPool
from reflex_bench.envs.alfworld.parsing.grammar import Grammar
from reflex_bench.envs.alfworld.verify import compare, replay

pytestmark = pytest.mark.official

STEPS = 30


@pytest.fixture(scope="module")
def pool():
    pool = WorkerPool(2)
    yield pool
    pool.close()


def chooser(game, seed):
    """Half of the commands towards the goal, half at random, some of these spoilt."""
    rng = random.Random(seed)

    def choose(step, answer):
        if step > STEPS:
            return None
        plan = shortest_plan(game) if rng.random() < 0.5 else None
        command = plan[0] if plan else rng.choice(answer.admissible)
        return rng.choice([command] * 9 + [command.upper(), f" {command} ", command[1:], ""])

    return choose


def differences(pool, folder, content, seed):
    path = folder / f"{seed}.tw-pddl"
    path.write_text(json.dumps(content), encoding="utf-8")
    native, official = Game.load(path), pool.open(path)
    try:
        return compare(native, official, chooser(native, seed))
    finally:
        official.close()


def test_both_engines_play_the_same_games(pool, tmp_path):
    # One of each task type, in turn in the form of each release.
    types, contents = set(), []
    for number in range(60):
        generated = generate_one(11, number)
        if generated.type not in types:
            types.add(generated.type)
            contents.append(rewrite(json.loads(generated.game), RELEASES[len(contents) % len(RELEASES)]))
    assert len(contents) == 6
    with ThreadPoolExecutor(2) as threads:
        jobs = [
            threads.submit(differences, pool, tmp_path, content, seed)
            for seed, content in enumerate(contents)
        ]
        replays = [job.result() for job in jobs]
    assert [str(found.difference) for found in replays] == ["None"] * 6
    assert sum(found.steps for found in replays) == 6 * STEPS
    assert any(found.won for found in replays)


def test_costs_are_ignored_and_a_grammar_of_known_structure_is_said_in_its_own_words(pool, tmp_path):
    game = transcripts.game("refusals")
    for old, new in (
        ("You arrive at {r.name}.", "From {lend.name} you reach {r.name}:\\n"),
        ("move {o} to {r}", "leave {r} with {o} in it"),
        ("On the {r.name}, you see", "  There are, on the {r.name},"),
        ('", and "', '" & finally "'),
        ("{o.indefinite} {o.name}", "one {o.name}"),
        ("This is a normal {o.name}.", "{o.name}!"),
    ):
        assert old in game["grammar"]
        game["grammar"] = game["grammar"].replace(old, new)
    game["pddl_problem"] = game["pddl_problem"].replace(
        "(= (total-cost) 0)",
        "(= (total-cost) 0) (= (distance loc_bar_0_bar_0_bar_0_bar_0 loc_bar_1_bar_0_bar_0_bar_30) 4)",
    )
    game["pddl_problem"] = (
        game["pddl_problem"].rstrip().removesuffix(")") + "(:metric minimize (total-cost)))"
    )
    found = differences(pool, tmp_path, game, 1)
    assert (found.steps, found.difference) == (STEPS, None)


def test_a_difference_is_found_and_named(pool, tmp_path):
    game = transcripts.game("two")
    other = {**game, "grammar": game["grammar"].replace("You close the", "You shut the")}
    path = tmp_path / "game.tw-pddl"
    path.write_text(json.dumps(game), encoding="utf-8")
    commands = ["go to fridge 1", "open fridge 1", "close fridge 1", "look"]
    official = pool.open(path)
    found = compare(Game.from_json(other), official, lambda step, _: commands[step - 1])
    official.close()
    assert found.steps == 3
    assert str(found.difference) == (
        "observation differs at step 3 ('close fridge 1'): "
        "'You shut the fridge 1.', officially 'You close the fridge 1.'"
    )


def test_a_recorded_trial_is_replayed_on_the_official_engine(pool, tmp_path):
    path = tmp_path / "game.tw-pddl"
    path.write_text(json.dumps(transcripts.game("light")), encoding="utf-8")

    grammar = Grammar(puts=False)

    def officially():
        game = pool.open(path)
        return AlfworldEpisode(path, None, lambda _: Opened(game, grammar, "official", free=game.close))

    episode = AlfworldEpisode(path, None, lambda path: Opened(Game.load(path), grammar, "native"))
    opening = episode.reset()
    commands = ["look", "go to bed 99", *shortest_plan(Game.load(path))]
    turns = [(command, episode.step(command).observation) for command in commands]
    found = replay(officially(), opening, turns, won=True)
    assert (found.steps, found.won, found.difference) == (5, True, None)
    hinting = AlfworldEpisode(path, None, lambda path: Opened(Game.load(path), grammar, "native"), hints=True)
    hinting.reset()
    hinted = [(command, hinting.step(command).observation) for command in commands]
    assert hinted[1][1] == "Nothing happens. There is no place called bed 99."
    assert replay(officially(), opening, hinted, won=True) == found
    false = replay(officially(), opening, turns[:2], won=True)
    assert str(false.difference) == "won differs at step 2 ('go to bed 99'): 'True', officially 'False'"
    turns[1] = ("go to bed 99", "You arrive at bed 99.")
    false = replay(officially(), opening, turns, won=True)
    assert (false.steps, false.difference.official) == (2, "Nothing happens.")
