"""Reads a PDDL problem: what there is, what is true at first, and what counts as winning."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Set

from reflex_bench.envs.alfworld.engine.loading.known_rules import TYPES
from reflex_bench.envs.alfworld.engine.loading.pddl import UnknownGame, clean, nest, typed

Row = tuple[str, ...]

# The predicates that the domain declares, with the types of their arguments.
PREDICATES: dict[str, tuple[str, ...]] = {
    "atlocation": ("agent", "location"),
    "receptacleatlocation": ("receptacle", "location"),
    "objectatlocation": ("object", "location"),
    "inreceptacle": ("object", "receptacle"),
    "inreceptacleobject": ("object", "object"),
    "wasinreceptacle": ("object", "receptacle"),
    "receptacletype": ("receptacle", "rtype"),
    "objecttype": ("object", "otype"),
    "cancontain": ("rtype", "otype"),
    "holds": ("agent", "object"),
    "holdsany": ("agent",),
    "openable": ("receptacle",),
    "opened": ("receptacle",),
    "full": ("receptacle",),
    **dict.fromkeys(
        [
            *("isreceptacleobject", "isreceptacleobjectfull", "pickupable", "moveable"),
            *("cleanable", "heatable", "coolable", "toggleable", "sliceable"),
            *("isclean", "ishot", "iscool", "ison", "istoggled", "issliced"),
        ],
        ("object",),
    ),
}
# The official files declare SinkType among the types of objects, and name it as a type of receptacle.
_ALSO = {"receptacletype": ("receptacle", "otype"), "cancontain": ("otype", "otype")}
_PROBLEM = re.compile(
    r"\s*\(\s*define\s*\(\s*problem\s[^()]*\)\s*\(\s*:domain\s+alfred\s*\)"
    r"\s*\(\s*:objects\s(?P<objects>[^()]*)\)\s*\(\s*:init\s(?P<init>.*)\)\s*\(\s*:goal\s(?P<goal>.*?)\)"
    r"\s*(?:\(\s*:metric\s[^()]*\([^()]*\)\s*\)\s*)?\)\s*",
    re.DOTALL,
)
_FACT = re.compile(r"\(\s*([^\s()=]+)\s+([^\s()]+)(?:\s+([^\s()]+))?\s*\)")
_FLAT = re.compile(r"(?:\s*\([^()]*\))*\s*")
_COST = re.compile(r"\(\s*=\s*\([^()]*\)\s*\d+\s*\)")


class Facts:
    """The facts of a problem, by the ids in the file, in lower case as the planner reads them.

    Args:
        text: the PDDL problem.

    Attributes:
        types: everything that is declared, with its type.
        facts: by predicate, the arguments of which it is true at first.
        goal: what counts as winning.
        names: the name that the game shows, for everything that some fact mentions.
        objects, receptacles, locations: what some fact mentions of these types, sorted; `numbers` tells their places.

    Raises:
        UnknownGame: the text is not a problem of the known form.
    """

    def __init__(self, text: str) -> None:
        match = _PROBLEM.fullmatch(clean(text))
        if match is None:
            raise UnknownGame("a problem that is not made of objects, init and goal")
        declared = list(typed(match["objects"].split()))
        self.types = dict(declared)
        if len(self.types) < len(declared):
            raise UnknownGame("a problem that declares something twice")
        strange = next(((name, kind) for name, kind in declared if kind not in TYPES), None)
        if strange is not None:
            raise UnknownGame(f"a problem that declares {strange[0]} of the unknown type {strange[1]}")
        self.facts = self._read_facts(match["init"])
        self.goal = nest(match["goal"])
        mentioned = {name for rows in self.facts.values() for row in rows for name in row}
        if any("_bar_" in name for name in self.types.keys() - mentioned) and "forall" in match["goal"]:
            raise UnknownGame("a goal about everything, in a problem with things that no fact mentions")
        self.names = shown_names(mentioned)
        self.objects, self.receptacles, self.locations = (
            sorted(name for name in mentioned if self.types[name] == kind)
            for kind in ("object", "receptacle", "location")
        )
        self.numbers = {
            name: number
            for names in (self.objects, self.receptacles, self.locations)
            for number, name in enumerate(names)
        }

    def _read_facts(self, init: str) -> dict[str, set[Row]]:
        facts: dict[str, set[Row]] = defaultdict(set)
        init = _COST.sub("", init)
        found = _FACT.findall(init)
        if _FLAT.fullmatch(init) is None or init.count("(") != len(found):
            raise UnknownGame("a problem with an initial state that is not a list of facts")
        for predicate, first, second in found:
            facts[predicate].add((first, second) if second else (first,))
        for predicate, rows in facts.items():
            kinds = PREDICATES.get(predicate)
            for row in rows:
                own = tuple([self.types.get(name) for name in row])
                if own != kinds and own != _ALSO.get(predicate):
                    raise UnknownGame(f"a problem with an unknown fact: ({predicate} {' '.join(row)})")
        return facts

    def rows(self, predicate: str) -> Set[Row]:
        """Return the arguments of which a predicate is true at first."""
        return self.facts.get(predicate, frozenset())

    def having(self, predicate: str) -> frozenset[int]:
        """Return the numbers of everything of which a predicate of one argument is true."""
        return frozenset(self.numbers[name] for (name,) in self.rows(predicate))

    def of_type(self, predicate: str, *kinds: str) -> frozenset[int]:
        """Return the numbers of what is of one of these types by `predicate`, `objecttype` or `receptacletype`."""
        return frozenset(self.numbers[name] for name, kind in self.rows(predicate) if kind in kinds)

    def pairs(self, predicate: str) -> list[tuple[int, int]]:
        """Return a predicate of two arguments as numbers, sorted."""
        return sorted((self.numbers[one], self.numbers[two]) for one, two in self.rows(predicate))


def shown_names(ids: set[str]) -> dict[str, str]:
    """Return the names that the game shows: the first id of a type, in sorted order, gets the highest number.

    Source: Demangler in alfworld/agents/utils/misc.py.

    Args:
        ids: everything that some fact of the initial state mentions, as written in the file but in lower case.
    """
    stems = {}
    for name in ids:
        stem, bar, _ = name.partition("_bar_")
        stems[name] = stem + ("basin" if bar and "basin" in name else "")
    left = Counter(stem for name, stem in stems.items() if "_bar_" in name)
    names: dict[str, str] = {}
    for name in sorted(ids):
        stem = stems[name]
        if re.search(r"_minus_|_plus_|_dot_|_comma_|\|", stem):
            raise UnknownGame(f"a thing whose name cannot be shown: {name}")
        if "_bar_" in name:
            names[name] = f"{stem} {left[stem]}"
            left[stem] -= 1
        else:
            names[name] = f"{stem} "
    return names
