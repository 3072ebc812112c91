"""A hand-written household, and what the official engine answers in it.

`python tests/alfworld_transcripts.py` plays every scenario in the official engine and writes its answers to
tests/data/alfworld; the tests then ask the native engine the same.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data" / "alfworld"

PUT = """(exists (?r - receptacle) (exists (?o - object) (and (objectType ?o {o}) (receptacleType ?r {r}){more}
 (inReceptacle ?o ?r))))"""
TWO = """(exists (?r - receptacle) (exists (?o1 - object) (and (objectType ?o1 {o}) (receptacleType ?r {r})
 (inReceptacle ?o1 ?r) (exists (?o2 - object) (and (not (= ?o1 ?o2)) (objectType ?o2 {o}) (receptacleType ?r {r})
 (inReceptacle ?o2 ?r))))))"""
LIGHT = """(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and (objectType ?ot DeskLampType)
 (toggleable ?ot) (isToggled ?ot) (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)))
 (exists (?o - object ?a - agent) (and (objectType ?o {o}) (holds ?a ?o))))"""
CLOTH = PUT.format(o="ClothType", r="ShelfType", more=" (cleanable ?o) (isClean ?o)")
WASHING = """go to trough 1 / take cloth 1 from trough 1 / look / clean cloth 1 with trough 1 / examine cloth 1
 move cloth 1 to trough 1 / put cloth 1 in/on trough 1 / clean cloth 1 with tub 1 / examine cloth 1
 move cloth 1 to tub 1 / put cloth 1 in/on tub 1 / go to shelf 1 / take soapbar 1 from shelf 1 / go to tub 1
 clean soapbar 1 with tub 1 / go to shelf 1 / move soapbar 1 to shelf 1 / put soapbar 1 in/on shelf 1
 take cloth 2 from shelf 1 / go to sinkbasin 1 / clean cloth 2 with sinkbasin 1 / go to shelf 1
 move cloth 2 to shelf 1 / put cloth 2 in/on shelf 1"""
ALL = """(exists (?r - receptacle) (forall (?o - object) (or (and (objectType ?o {o}) (receptacleType ?r {r})
 (inReceptacle ?o ?r)) (or (not (objectType ?o {o}))))))"""

# Played in washroom.pddl, all others in kitchen.pddl.
WASHROOM = ("sinks", "sinks_of_2_1_1", "basins")
# name: (release, task, goal, commands)
SCENARIOS: dict[str, tuple[str, str, str, str]] = {
    "refusals": (
        "0.4.2",
        "put a hot potato in sinkbasin",
        PUT.format(o="PotatoType", r="SinkBasinType", more=" (heatable ?o) (isHot ?o)"),
        # Each action with one of its conditions missing at a time: place, hand, lid, ability, fit.
        """look / inventory / help / examine countertop 1 / open fridge 1 / close fridge 1 / use desklamp 1
        take apple 1 from countertop 1 / move apple 1 to countertop 1 / go to shelf 1 / go to bed 1
        slice apple 1 with knife 1 / go to countertop 1 / go to countertop 1 / go to coffeemachine 1
        examine fridge 1 / open countertop 1 / examine apple 1 / move apple 1 to countertop 1
        clean apple 1 with sinkbasin 1 / take spoon 1 from countertop 1 / take apple 1 from coffeemachine 1
        slice apple 1 with knife 1 / take apple 1 from countertop 1 / take apple 2 from countertop 1
        take apple 1 from countertop 1 / examine apple 1 / examine apple 2 / slice apple 2 with knife 1
        heat apple 1 with microwave 1 / move apple 1 to sinkbasin 1 / go to microwave 1 / close microwave 1
        move apple 1 to microwave 1 / take potato 1 from microwave 1 / clean apple 1 with microwave 1
        heat potato 1 with microwave 1 / cool apple 1 with microwave 1 / heat apple 1 with microwave 1
        open microwave 1 / open microwave 1 / examine potato 1 / take potato 1 from microwave 1
        move apple 1 to microwave 1 / take potato 1 from microwave 1 / close microwave 1 / close microwave 1
        move potato 1 to microwave 1 / go to sinkbasin 1 / heat potato 1 with sinkbasin 1
        take spoon 1 from sinkbasin 1 / slice tomato 1 with potato 1 / cool potato 1 with fridge 1
        move potato 1 to fridge 1 / LOOK / Look / look. / lo
        examine / go to countertop / go to  countertop 1 / put potato 1 in/on sinkbasin 1""",
    ),
    "unfit": (
        "2.1.2",
        "put a hot potato in sinkbasin",
        PUT.format(o="PotatoType", r="SinkBasinType", more=" (heatable ?o) (isHot ?o)"),
        """go to fridge 1 / open fridge 1 / take tomato 1 from fridge 1 / use tomato 1 / go to sinkbasin 1
        clean tomato 1 with sinkbasin 1 / take spoon 1 from sinkbasin 1 / go to microwave 1
        heat tomato 1 with microwave 1 / open microwave 1 / move tomato 1 to microwave 1 / close microwave 1
        go to sinkbasin 1 / move tomato 1 to sinkbasin 1 / take spoon 1 from sinkbasin 1 / go to countertop 1
        take mug 1 from countertop 1 / use desklamp 2 / use mug 1 / go to fridge 1 / cool mug 1 with fridge 1
        move mug 1 to fridge 1 / go to countertop 1 / move mug 1 to coffeemachine 1
        take knife 1 from countertop 1 / slice egg 1 with knife 1 / slice apple 2 with egg 1 / go to microwave 1
        slice apple 2 with knife 1 / slice potato 1 with knife 1 / open microwave 1 / slice potato 1 with knife 1
        close microwave 1 / go to sinkbasin 1 / clean knife 1 with sinkbasin 1 / move knife 1 to sinkbasin 1""",
    ),
    "treatments": (
        "2.1.2",
        "put some apple on countertop",
        PUT.format(o="AppleType", r="CounterTopType", more=" (isSliced ?o) (isClean ?o)"),
        """help / go to countertop 1 / take knife 1 from countertop 1 / examine knife 1
        slice apple 3 with knife 1 / slice apple 3 with knife 1 / slice apple 2 with knife 1
        slice potato 1 with knife 1 / move knife 1 to countertop 1 / slice apple 2 with knife 1
        take apple 3 from countertop 1 / examine apple 3 / inventory / move apple 3 to countertop 1
        take apple 2 from countertop 1 / examine apple 2 / go to sinkbasin 1 / clean apple 2 with sinkbasin 1
        examine apple 2 / go to microwave 1 / heat apple 2 with microwave 1 / examine apple 2 / go to fridge 1
        cool apple 2 with fridge 1 / examine apple 2 / open fridge 1 / cool apple 2 with fridge 1
        move apple 2 to fridge 1 / examine fridge 1 / go to countertop 1 / take apple 1 from countertop 1
        take apple 3 from countertop 1 / move apple 1 to countertop 1 / take apple 3 from countertop 1
        go to microwave 1 / heat apple 3 with microwave 1 / examine apple 3 / go to fridge 1
        cool apple 3 with fridge 1 / examine apple 3 / move apple 3 to fridge 1 / close fridge 1 / open fridge 1
        take apple 2 from fridge 1 / go to countertop 1 / move apple 2 to countertop 1
        take apple 2 from countertop 1 / look / move apple 2 to coffeemachine 1 / look / examine coffeemachine 1
        take mug 1 from coffeemachine 1 / look / move mug 1 to countertop 1 / look
        take mug 1 from countertop 1 / look / move mug 1 to countertop 1 / take pot 1 from countertop 1
        examine pot 1 / go to cabinet 1 / move pot 1 to cabinet 1 / examine cabinet 1""",
    ),
    "hot_and_cold": (
        "0.4.2",
        "put a cool apple in sinkbasin",
        PUT.format(o="AppleType", r="SinkBasinType", more=" (coolable ?o) (isCool ?o)"),
        """go to countertop 1 / take knife 1 from countertop 1 / slice apple 2 with knife 1
        move knife 1 to countertop 1 / take apple 2 from countertop 1 / go to microwave 1
        heat apple 2 with microwave 1 / examine apple 2 / go to fridge 1 / cool apple 2 with fridge 1
        examine apple 2 / go to microwave 1 / heat apple 2 with microwave 1 / examine apple 2
        go to countertop 1 / move apple 2 to countertop 1 / take apple 1 from countertop 1 / go to fridge 1
        cool apple 1 with fridge 1 / examine apple 1 / go to microwave 1 / heat apple 1 with microwave 1
        examine apple 1 / go to sinkbasin 1 / move apple 1 to sinkbasin 1 / take apple 1 from sinkbasin 1
        go to fridge 1 / cool apple 1 with fridge 1 / examine apple 1 / go to sinkbasin 1
        move apple 1 to sinkbasin 1 / go to coffeemachine 1 / take mug 1 from coffeemachine 1
        move mug 1 to countertop 1 / examine countertop 1 / take mug 1 from countertop 1 / examine countertop 1
        go to cabinet 2 / move mug 1 to cabinet 1 / examine cabinet 1""",
    ),
    "two": (
        "2.1.1",
        "put two apple in fridge",
        TWO.format(o="AppleType", r="FridgeType"),
        """go to countertop 1 / take apple 2 from countertop 1 / go to sinkbasin 1 / clean apple 2 with sinkbasin 1
        examine apple 2 / go to microwave 1 / heat apple 2 with microwave 1 / examine apple 2 / go to fridge 1
        cool apple 2 with fridge 1 / examine apple 2 / open fridge 1 / put apple 2 in/on fridge 1
        move apple 2 to fridge 1 / go to countertop 1 / take apple 3 from countertop 1 / go to microwave 1
        heat apple 3 with microwave 1 / examine apple 3 / go to fridge 1 / cool apple 3 with fridge 1
        examine apple 3 / put apple 3 in/on fridge 1 / examine fridge 1 / close fridge 1 / open fridge 1
        take apple 2 from fridge 1 / put apple 2 in/on fridge 1 / take tomato 1 from fridge 1
        slice tomato 1 with knife 1 / go to sinkbasin 1 / look / put tomato 1 in/on sinkbasin 1 / look / help
        take tomato 1 from sinkbasin 1 / look""",
    ),
    "light": (
        "2.1.1",
        "look at mug under the desklamp",
        LIGHT.format(o="MugType"),
        """go to cabinet 2 / use desklamp 1 / open cabinet 2 / use desklamp 1 / use desklamp 1 / close cabinet 2
        examine cabinet 1 / open cabinet 1 / go to coffeemachine 1 / take mug 1 from coffeemachine 1
        examine mug 1 / use desklamp 2 / go to sinkbasin 1 / clean mug 1 with sinkbasin 1 / examine mug 1
        go to cabinet 1 / open cabinet 2 / put mug 1 in/on cabinet 2 / examine cabinet 2
        take mug 1 from cabinet 2 / put mug 1 in/on cabinet 1 / look / close cabinet 2 / go to countertop 1
        take desklamp 2 from countertop 1 / examine desklamp 2 / use desklamp 2
        put desklamp 2 in/on countertop 1 / use desklamp 2""",
    ),
    # Sinks clean by the rules of the data, and do not by those of the package.
    "sinks": ("2.1.2", "put a clean cloth in shelf", CLOTH, WASHING),
    "sinks_of_2_1_1": ("2.1.1", "put a clean cloth in shelf", CLOTH, WASHING),
    "basins": ("0.4.2", "put a clean cloth in shelf", CLOTH, WASHING),
    "light_first": (
        "0.4.2",
        "examine the apple with the desklamp",
        LIGHT.format(o="AppleType"),
        """go to countertop 1 / use desklamp 2 / take desklamp 2 from countertop 1 / examine desklamp 2
        move desklamp 2 to countertop 1 / take apple 3 from countertop 1 / go to cabinet 1 / use desklamp 1
        go to countertop 1 / move apple 3 to countertop 1 / take apple 2 from countertop 1""",
    ),
    "vase": (
        "0.4.2",
        "put all apples in coffeemachine",
        ALL.format(o="AppleType", r="CoffeeMachineType"),
        """go to coffeemachine 1 / take apple 3 from countertop 1 / move apple 3 to coffeemachine 1
        take apple 2 from countertop 1 / move apple 2 to coffeemachine 1 / take apple 1 from countertop 1
        move apple 1 to coffeemachine 1 / look / examine coffeemachine 1 / take vase 1 from countertop 1
        examine vase 1 / inventory / move vase 1 to countertop 1 / go to cabinet 1 / open cabinet 2
        move vase 1 to cabinet 2 / go to sinkbasin 1 / take spoon 1 from sinkbasin 1""",
    ),
}


def game(name: str) -> dict[str, Any]:
    """The content of a scenario's game file, with the domain and grammar of its release."""
    from reflex_bench.envs.alfworld.official.package import package_folder
    from reflex_bench.envs.alfworld.official.releases import rewrite

    release, task, goal, _ = SCENARIOS[name]
    upstream = package_folder() / "data"
    household = "washroom" if name in WASHROOM else "kitchen"
    content = {
        "pddl_domain": (upstream / "alfred.pddl").read_text(encoding="utf-8"),
        "grammar": (upstream / "alfred.twl2").read_text(encoding="utf-8").replace("UNKNOWN GOAL", task),
        "pddl_problem": (DATA / f"{household}.pddl").read_text(encoding="utf-8").replace("GOAL", goal),
    }
    return rewrite(content, release)


def commands(name: str) -> list[str]:
    """The commands of a scenario, and after them some that are nothing but white space or are framed by it."""
    return [
        *(command.strip() for command in re.split(r" / |\n", SCENARIOS[name][3])),
        "",
        " \n ",
        "\t look  ",
        "\nlook\n\n",
    ]


def main() -> None:
    """Records the official engine."""
    from reflex_bench.envs.alfworld.official.engine import OfficialGame

    for name in SCENARIOS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "game.tw-pddl"
            path.write_text(json.dumps(game(name)), encoding="utf-8")
            official = OfficialGame(path)
            answers = [
                ("", official.reset()),
                *((command, official.step(command)) for command in commands(name)),
            ]
            official.close()
        lines = [json.dumps([command, a.observation, a.won, a.admissible]) for command, a in answers]
        (DATA / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
