"""The rules of a game are known by what they mean, not by how they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import alfworld_transcripts as transcripts
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflex_bench.envs.alfworld.engine.game import Game, UnknownGame
from reflex_bench.envs.alfworld.engine.loading.domain import read_domain
from reflex_bench.envs.alfworld.engine.loading.pddl import UnwinnableGame, clean, nest

DATA = Path(__file__).parents[4] / "shared" / "data" / "alfworld_official"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the official games are not at hand")

Tree = str | list["Tree"]


def domain(name: str = "sinks") -> list[Any]:
    """The domain of a scenario as nested lists; `sinks` has that of data 2.1.2, with the clause about sinks active."""
    tree = nest(clean(transcripts.game(name)["pddl_domain"]))
    assert isinstance(tree, list)
    return tree


def written(tree: Tree, gap: str = " ") -> str:
    return tree if isinstance(tree, str) else f"({gap.join(written(part, gap) for part in tree)})"


def actions(tree: list[Any]) -> Iterator[list[Any]]:
    return (part for part in tree if part[0] == ":action")


def listed(parts: list[Any]) -> bool:
    return bool(parts) and parts[0] in ("and", "or")


def shuffled(tree: Any, order: Any) -> Any:
    """The same formula with the parts of every `and` and `or` in another order."""
    if isinstance(tree, str):
        return tree
    parts = [shuffled(part, order) for part in tree]
    return [parts[0], *order(parts[1:])] if listed(parts) else parts


def renamed(tree: Any, names: dict[str, str]) -> Any:
    return names.get(tree, tree) if isinstance(tree, str) else [renamed(part, names) for part in tree]


@settings(max_examples=60)
@given(data=st.data())
def test_changes_of_the_text_that_mean_the_same_are_the_same_rules(data: st.DataObject) -> None:
    def order(parts: list[Any]) -> list[Any]:
        return list(data.draw(st.permutations(parts)))

    tree = domain()
    variables = sorted(set(re.findall(r"\?[\w-]+", written(tree))))
    fresh = data.draw(st.permutations([f"?v{number}" for number in range(len(variables))]))
    names = dict(zip(variables, fresh, strict=True)) if data.draw(st.booleans()) else {}
    parts = order([renamed(shuffled(part, order), names) for part in tree[2:]])
    gap = data.draw(st.sampled_from([" ", "\n", "\t ", " ; a note (on nothing\n"]))
    text = written([*tree[:2], *parts], gap)
    if data.draw(st.booleans()):
        text = text.upper()
    found, wanted = read_domain(text), read_domain(written(tree))
    assert (found.has_help, found.cleaners, found.doubts) == (True, wanted.cleaners, ())
    assert wanted.cleaners == ("sinkbasintype", "sinktype")


def conjunctions(tree: Any) -> Iterator[list[Any]]:
    """The outermost `and` of each condition and each effect, of those that have at least two parts."""
    for action in actions(tree):
        for part in action[2:]:
            if isinstance(part, list) and part and part[0] == "and" and len(part) > 2:
                yield part


def owner(tree: list[Any], part: list[Any]) -> str:
    return next(str(action[1]) for action in actions(tree) if any(each is part for each in action))


@settings(max_examples=80)
@given(data=st.data())
def test_one_condition_or_effect_less_is_refused_and_the_action_is_named(data: st.DataObject) -> None:
    tree = domain("refusals")
    part = data.draw(st.sampled_from(list(conjunctions(tree))))
    lost = data.draw(st.sampled_from([each for each in part[1:] if each[0] != "increase"]))
    action = owner(tree, part)
    part.remove(lost)
    if (action, lost) in (("closeobject", ["openable", "?r"]),):  # here nothing else is ever open
        Game.from_json({**transcripts.game("refusals"), "pddl_domain": written(tree)})
        return
    refuse(tree, action)


EXTRA = {
    "?o": [["isclean", "?o"], ["not", ["ishot", "?o"]], ["exists", ["?x", "-", "object"], ["isclean", "?o"]]],
    "?r": [["opened", "?r"], ["receptacletype", "?r", "shelftype"]],
    "?l": [["exists", ["?x", "-", "object"], ["objectatlocation", "?x", "?l"]]],
}


@settings(max_examples=80)
@given(data=st.data())
def test_one_condition_or_effect_more_is_refused_by_name_unless_it_makes_no_difference(
    data: st.DataObject,
) -> None:
    tree = domain("refusals")
    part = data.draw(st.sampled_from(list(conjunctions(tree))))
    action = next(each for each in actions(tree) if any(own is part for own in each))
    variable = data.draw(st.sampled_from([name for name in EXTRA if name in action[3]]))
    more = data.draw(st.sampled_from(EXTRA[variable]))
    if more in part:
        return
    effect = part is action[action.index(":effect") + 1]
    part.append(more)
    game = {**transcripts.game("refusals"), "pddl_domain": written(tree)}
    try:
        played = Game.from_json(game)
    except UnknownGame as refusal:
        said = str(refusal).lower()
    else:
        said = ""
    if said:
        assert str(action[1]) in said
        return
    # Some make no difference here: no lamp is ever hot, so `(not (ishot ?o))` is nothing new of what can be used.
    assert not effect
    plain = Game.from_json(transcripts.game("refusals"))
    assert played.reset() == plain.reset()
    for command in transcripts.commands("refusals"):
        assert played.step(command) == plain.step(command)


def refuse(tree: list[Any], action: str) -> None:
    game = transcripts.game("refusals")
    with pytest.raises(UnknownGame) as refusal:
        Game.from_json({**game, "pddl_domain": written(tree)})
    assert action in str(refusal.value).lower()


def with_condition(name: str, action: str, condition: str) -> dict[str, Any]:
    game = transcripts.game(name)
    before, after = game["pddl_domain"].split(f"(:action {action}", 1)
    after = after.replace("(and", f"(and {condition}", 1)
    return {**game, "pddl_domain": f"{before}(:action {action}{after}"}


@pytest.mark.parametrize(
    ("action", "condition"),
    [
        ("PickupObject", "(not (full ?r))"),  # nothing is full, and nothing ever fills
        ("PickupObject", "(not (holdsAnyReceptacleObject ?a))"),
        ("CleanObject", "(not (receptacleType ?r FridgeType))"),  # no fridge is a sink
        ("HeatObject", "(pickupable ?o)"),  # nothing else is ever in the hand
    ],
)
def test_a_condition_that_makes_no_difference_in_the_game_is_none(action: str, condition: str) -> None:
    game = with_condition("refusals", action, condition)
    played, plain = Game.from_json(game), Game.from_json(transcripts.game("refusals"))
    assert played.reset() == plain.reset()
    for command in ["", *transcripts.commands("refusals")]:
        assert played.step(command) == plain.step(command)


def test_the_same_condition_is_refused_where_it_makes_a_difference() -> None:
    game = with_condition("refusals", "PickupObject", "(not (full ?r))")
    shelf = "CounterTop_bar__plus_00_dot_40_bar__plus_00_dot_90"
    full = {**game, "pddl_problem": game["pddl_problem"].replace("(:init", f"(:init (full {shelf})")}
    Game.from_json(game)
    with pytest.raises(UnknownGame, match=r"PickupObject has one more condition, \(not \(full \?r\)\)"):
        Game.from_json(full)


def test_variables_may_have_other_names_in_domain_and_grammar_alike() -> None:
    game = transcripts.game("sinks")
    other = {
        **game,
        "pddl_domain": re.sub(r"\?r\b", "?where", re.sub(r"\?o\b", "?what", game["pddl_domain"])),
        "grammar": re.sub(r"\br(?=[.:}])", "where", re.sub(r"\bo(?=[.:}])", "what", game["grammar"])),
    }
    assert "{what} in" not in game["grammar"]
    assert "{what}" in other["grammar"]
    one, two = Game.from_json(game), Game.from_json(other)
    assert one.reset() == two.reset()
    for command in transcripts.commands("sinks"):
        assert one.step(command) == two.step(command)


@needs_data
@pytest.mark.parametrize(("form", "playable"), [("current", 67), ("release_2.1.1", 13)])
def test_every_official_game_that_can_be_won_is_played_natively(form: str, playable: int) -> None:
    played = 0
    for path in sorted((DATA / form).rglob("game.tw-pddl")):
        try:
            Game.load(path)
            played += 1
        except UnwinnableGame:  # three lamps that no way leads to
            assert not json.loads(path.read_bytes())["solvable"]
    assert played == playable
