"""Changes a game into something that the generator would not write and the engines must still agree on."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

Fact = tuple[str, ...]


class Draft:
    """The initial state of a problem, to be changed.

    Args:
        text: the facts, in PDDL.
        rng: of the changes.
    """

    def __init__(self, text: str, rng: random.Random) -> None:
        self.rng = rng
        self.facts: list[Fact] = [
            tuple(fact.split()) for fact in re.findall(r"\(([^()=]+)\)", text) if " " in fact
        ]

    def having(self, predicate: str) -> list[Fact]:
        return [fact for fact in self.facts if fact[0] == predicate]

    def some(self, predicate: str, most: int) -> list[Fact]:
        facts = self.having(predicate)
        return self.rng.sample(facts, min(len(facts), self.rng.randint(1, most)))

    def objects(self, most: int) -> list[str]:
        return [fact[1] for fact in self.some("objectType", most)]

    def receptacles(self, most: int) -> list[str]:
        return [fact[1] for fact in self.some("receptacleType", most)]

    def mark(self, predicate: str, names: list[str]) -> None:
        self.facts += [(predicate, name) for name in names if (predicate, name) not in self.facts]

    def drop(self, facts: list[Fact]) -> None:
        self.facts = [fact for fact in self.facts if fact not in facts]


def _share_a_place(draft: Draft) -> None:
    place = draft.rng.choice(draft.having("receptacleAtLocation"))[2]
    for fact in draft.some("receptacleAtLocation", 5):
        draft.facts[draft.facts.index(fact)] = (*fact[:2], place)


def _in_two_receptacles(draft: Draft) -> None:
    for _, thing, _ in draft.some("inReceptacle", 4):
        draft.facts.append(("inReceptacle", thing, draft.receptacles(1)[0]))


def _counted_elsewhere(draft: Draft) -> None:
    for fact in draft.some("objectAtLocation", 4):
        place = draft.rng.choice(draft.having("receptacleAtLocation"))[2]
        draft.facts.append((*fact[:2], place))
        if draft.rng.random() < 0.5:
            draft.drop([fact])


def _nested(draft: Draft) -> None:
    things = draft.objects(6)
    draft.mark("isReceptacleObject", things)
    draft.facts += [
        ("inReceptacleObject", draft.rng.choice(things), outer) for outer in things for _ in range(2)
    ]


def _far_away(draft: Draft) -> None:
    """Receptacles that nothing leads to, and a start in front of one that something does."""
    draft.drop(draft.some("receptacleAtLocation", 2))
    place = draft.rng.choice(draft.having("receptacleAtLocation"))[2]
    draft.facts = [(*fact[:2], place) if fact[0] == "atLocation" else fact for fact in draft.facts]


def _in_the_hand(draft: Draft) -> None:
    agent = draft.having("atLocation")[0][1]
    thing = draft.rng.choice(draft.having("inReceptacle"))[1]
    draft.drop(
        [fact for fact in draft.facts if fact[0] in ("inReceptacle", "objectAtLocation") and fact[1] == thing]
    )
    draft.facts += [("holds", agent, thing), ("holdsAny", agent)]


def _heaps(draft: Draft) -> None:
    """Nearly everything in one place."""
    where = draft.rng.choice(draft.having("receptacleAtLocation"))
    for fact in draft.some("inReceptacle", 40):
        draft.facts[draft.facts.index(fact)] = (*fact[:2], where[1])


def _marked(*predicates: str) -> Callable[[Draft], None]:
    def change(draft: Draft) -> None:
        for predicate in predicates:
            draft.mark(predicate, draft.objects(6))

    return change


def _dropped(*predicates: str) -> Callable[[Draft], None]:
    def change(draft: Draft) -> None:
        for predicate in predicates:
            draft.drop(draft.some(predicate, 8))

    return change


CHANGES: dict[str, Callable[[Draft], None]] = {
    "receptacles share a place": _share_a_place,
    "things in two receptacles": _in_two_receptacles,
    "things counted elsewhere": _counted_elsewhere,
    "vessels with contents": _nested,
    "out of reach": _far_away,
    "something in the hand": _in_the_hand,
    "heaps": _heaps,
    "some do not open": _dropped("openable"),
    "some stand open": lambda draft: draft.mark("opened", draft.receptacles(6)),
    "more opens": lambda draft: draft.mark("openable", draft.receptacles(6)),
    "already treated": _marked("isClean", "isHot", "isCool", "isSliced", "isToggled", "isOn"),
    "more can be done": _marked("cleanable", "heatable", "coolable", "sliceable", "toggleable"),
    "less can be done": _dropped("pickupable", "cleanable", "heatable", "coolable", "sliceable"),
    "less fits": lambda draft: draft.drop(draft.some("canContain", 60)),
    "other marks": _marked("moveable", "isReceptacleObjectFull"),
}
GOALS = (
    *("pick_and_place_simple", "pick_clean_then_place_in_recep", "pick_heat_then_place_in_recep"),
    *(
        "pick_cool_then_place_in_recep",
        "pick_two_obj_and_place",
        "look_at_obj_in_light",
        "pick_and_place_simple_slice",
    ),
    *(
        "pick_clean_then_place_in_recep_slice",
        "pick_heat_then_place_in_recep_slice",
        "pick_two_obj_and_place_slice",
    ),
    *("place_all_obj_type_into_recep", "pick_three_obj_and_place", "pick_and_place_with_movable_recep"),
)


def disturb(
    game: dict[str, Any], rng: random.Random, new_goal: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """One to four changes to a game.

    Args:
        game: the content of a game file.
        rng: of the choices.
        new_goal: whether to give it another goal as well, any of the official library.

    Returns:
        The changed game and what was done to it. It may be one that cannot be won, or even loaded.
    """
    objects, rest = game["pddl_problem"].split("(:init", 1)
    init, goal = rest.split("(:goal", 1)
    draft = Draft(init, rng)
    done = rng.sample(sorted(CHANGES), rng.randint(1, 4))
    for name in done:
        CHANGES[name](draft)
    goal = f"(:goal{goal}"
    if new_goal:
        name = rng.choice(GOALS)
        goal, done = _goal(draft, name), [*done, f"goal {name}"]
    facts = "\n".join(f"({' '.join(fact)})" for fact in draft.facts)
    return {**game, "pddl_problem": f"{objects}(:init\n{facts}\n)\n{goal}"}, tuple(done)


def _goal(draft: Draft, name: str) -> str:
    from alfworld.gen.goal_library import gdict

    things = sorted({fact[2] for fact in draft.having("objectType")})
    holders = {fact[2] for fact in draft.having("receptacleType")}
    fitting = [fact for fact in draft.having("canContain") if fact[1] in holders and fact[2] in things]
    lamps = [fact[2] for fact in draft.having("objectType") if ("toggleable", fact[1]) in draft.facts]
    _, holder, held = draft.rng.choice(fitting or [("", *draft.rng.sample(things, 2))])
    words = {
        "obj": held.removesuffix("Type"),
        "recep": holder.removesuffix("Type"),
        "mrecep": draft.rng.choice(things).removesuffix("Type"),
        "toggle": draft.rng.choice(lamps or things).removesuffix("Type"),
    }
    return str(gdict[name]["pddl"]).format(**words).replace("#", "-")
