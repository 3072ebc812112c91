"""The native engine against recorded answers of the official one, and what is asked of it besides."""

import doctest
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import alfworld_transcripts as transcripts
import pytest

from reflex_bench.envs.alfworld.engine import game as engine
from reflex_bench.envs.alfworld.engine.game import Game, Games, Outcome, UnknownGame
from reflex_bench.envs.alfworld.official.releases import RELEASES, rewrite


def recorded(name):
    return json.loads((transcripts.DATA / f"{name}.json").read_text(encoding="utf-8"))


def play(game, name):
    """The native engine's answers to a scenario, in the form of the records."""
    steps = [game.reset(), *(game.step(command) for command in transcripts.commands(name))]
    return [
        [command, step.observation, step.won, list(step.admissible)]
        for command, step in zip(["", *transcripts.commands(name)], steps, strict=True)
    ]


@pytest.mark.parametrize("name", transcripts.SCENARIOS)
def test_every_answer_is_that_of_the_official_engine(name):
    assert play(Game.from_json(transcripts.game(name)), name) == recorded(name)


def test_the_records_cover_every_verb_and_every_way_to_win_and_to_lose_it_again():
    rows = [row for name in transcripts.SCENARIOS for row in recorded(name)]
    done = {
        command.split()[0]
        for command, observation, *_ in rows
        if command.strip() and observation != "Nothing happens."
    }
    verbs = {"look", "inventory", "help", "examine", "go", "open", "close", "take", "move", "put", "use"}
    assert done == verbs | {"clean", "heat", "cool", "slice"}
    for name in ("two", "light", "light_first", "treatments", "vase"):
        assert any(won for _, _, won, _ in recorded(name)), name
    won = [won for _, _, won, _ in recorded("light")]
    assert any(before and not after for before, after in pairwise(won))


def test_a_command_that_is_not_admissible_is_not_valid_and_changes_nothing():
    game = Game.from_json(transcripts.game("refusals"))
    before = game.reset()
    assert game.step("open fridge 1") == Outcome("Nothing happens.", False, before.admissible, valid=False)
    assert game.step(" go to fridge 1\n").valid


def test_a_reset_game_starts_as_a_fresh_one():
    game = Game.from_json(transcripts.game("two"))
    first = play(game, "two")
    assert play(game, "two") == first


def test_a_copy_goes_its_own_way():
    game = Game.from_json(transcripts.game("light"))
    game.step("go to coffeemachine 1")
    twin = game.copy()
    twin.step("take mug 1 from coffeemachine 1")
    assert twin.step("inventory").observation == "You are carrying: a mug 1."
    assert game.step("inventory").observation == "You are not carrying anything."
    assert "take mug 1 from coffeemachine 1" in game.admissible


def test_a_pickled_game_continues_where_it_was():
    game = Game.from_json(transcripts.game("light"))
    for command in transcripts.commands("light")[:12]:
        game.step(command)
    twin = pickle.loads(pickle.dumps(game))  # noqa: S301 (our own bytes)
    rest = transcripts.commands("light")[12:]
    assert [twin.step(command) for command in rest] == [game.step(command) for command in rest]


@pytest.mark.official
def test_games_may_be_played_in_threads():
    names = list(transcripts.SCENARIOS) * 8
    with ThreadPoolExecutor(8) as threads:
        played = list(threads.map(lambda name: play(Game.from_json(transcripts.game(name)), name), names))
    assert played == [recorded(name) for name in names]


def test_several_games_play_side_by_side():
    games = Games(Game.from_json(transcripts.game(name)) for name in ("vase", "light"))
    assert [step.observation.splitlines()[-1] for step in games.reset()] == [
        "Your task is to: put all apples in coffeemachine.",
        "Your task is to: look at mug under the desklamp.",
    ]
    steps = games.step(["go to sinkbasin 1", "inventory"])
    assert [step.observation for step in steps] == [
        "You arrive at sinkbasin 1. On the sinkbasin 1, you see a spoon 1.",
        "You are not carrying anything.",
    ]
    with pytest.raises(ValueError):
        games.step(["look"])


def test_the_example_in_the_documentation_is_true(tmp_path):
    path = tmp_path / "game.tw-pddl"
    path.write_text(json.dumps(transcripts.game("refusals")), encoding="utf-8")
    found = doctest.DocTestFinder(recurse=False).find(engine, globs={"path": path})
    runner = doctest.DocTestRunner(verbose=False)
    (example,) = [test for test in found if test.examples]
    assert runner.run(example) == doctest.TestResults(failed=0, attempted=len(example.examples))


def changed(name, key, old, new):
    game = transcripts.game(name)
    assert old in game[key]
    return {**game, key: game[key].replace(old, new)}


@pytest.mark.parametrize(
    ("key", "old", "new", "complaint"),
    [
        (
            "pddl_domain",
            "(not (holdsAny ?a))",
            "",
            "the action PutObject lacks the effect (not (holdsAny ?a))",
        ),
        (
            "pddl_domain",
            "?l - location, ?r",
            "?l - location ?r",
            "the action examineObject has one more condition, (or (exists (",
        ),
        ("pddl_domain", "(:action help", "(:action assist", "action that is not known here: assist"),
        ("pddl_domain", "(:action look", "(:action gaze", "a domain without the action look"),
        (
            "pddl_domain",
            "(?a - agent ?r - receptacle)",
            "(?a - agent)",
            "examineReceptacle takes other things",
        ),
        ("pddl_domain", "  rtype\n", "", "other types than ALFWorld's: rtype is missing"),
        ("pddl_domain", "  rtype\n", "  rtype - otype\n", "every agent is a otype"),
        ("pddl_domain", "(holdsAny ?a - agent)", "", "does not declare the predicate holdsAny"),
        ("pddl_domain", "(:predicates", "(:constants a - agent) (:predicates", "unknown section"),
        ("grammar", "isclean(o:object) & ishot(o:object) & iss", "ishot(o:object) & iss", "other conditions"),
        ("grammar", "{o.indefinite} {o.name}", "{o.definite} {o.name}", "unknown expression"),
        ("grammar", "o.indefinite + ' ' + o.name", "o.indefinite + '' + o.name", "unknown expression"),
        ("grammar", "open {r}", "open it", "does not name what it is about"),
        ("grammar", "heat {o} with {r}", "clean {o} with {r}", "read alike"),
        ("grammar", '"#look.feedback#";', '"#task#";', "no feedback of the known form"),
        ("grammar", "You open the", "You | open the", "may not be taken literally"),
        ("grammar", "action look {", "action look", "unknown part"),
        ("grammar", '"list_empty": [', '"list_empty": {', "cannot be read"),
        ("pddl_problem", "agent1 - agent", "agent1 agent2 - agent", "exactly one agent"),
        ("pddl_problem", "(= (total-cost) 0)", "(not (opened x))", "not a list of facts"),
        ("pddl_problem", "(= (total-cost) 0)", "(opened Mug)", "unknown fact: (opened mug)"),
        ("pddl_problem", "Mug - object", "Mug - cup", "declares mug of the unknown type cup"),
        ("pddl_problem", "Mug - object", "Mug Mug - object", "declares something twice"),
        ("pddl_problem", "MicrowaveType)\n", "ShelfType)\n", "a goal that nothing can meet"),
        ("pddl_problem", "(isHot ?o)", "(isOn ?o)", "a goal about something unknown"),
        ("pddl_problem", "(isHot ?o)", "(not (isHot ?o))", "a goal that forbids"),
        ("pddl_problem", "(:goal", "(:aim", "not made of objects, init and goal"),
    ],
)
def test_what_is_not_known_is_refused_and_never_guessed_at(key, old, new, complaint):
    game = changed("refusals", key, old, new)
    with pytest.raises(UnknownGame) as refusal:
        Game.from_json(game)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"pddl_domain": ""}'])
def test_what_is_no_game_file_is_refused(content, tmp_path):
    path = tmp_path / "game.tw-pddl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UnknownGame, match="no game file"):
        Game.load(path)


def test_comments_case_and_layout_of_a_domain_do_not_matter():
    game = transcripts.game("two")
    domain = "; mine\n" + game["pddl_domain"].upper().replace("\n", "\n\t ")
    assert play(Game.from_json({**game, "pddl_domain": domain}), "two") == recorded("two")


def test_only_a_game_of_the_packages_form_is_rewritten_into_another():
    game = transcripts.game("two")
    assert '"You put the {o.name} in/on the {r.name}."' in game["grammar"]
    assert "(:action help" not in game["pddl_domain"]
    for release in (*RELEASES, "2.0"):
        with pytest.raises(ValueError, match="only a game of the package's form"):
            rewrite(game, release)
