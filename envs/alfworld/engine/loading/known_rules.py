"""Rules that the native engine plays by, for comparison with those that a game file brings along.

Source: alfworld/data/alfred.pddl of package 0.4.2 and the domains in the files of data 2.1.1 to 2.1.3, which differ in
what cleans and in `help`. `rules` plays by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from reflex_bench.envs.alfworld.engine.loading.formulas import Formula, Variables, conjuncts, effects, normal
from reflex_bench.envs.alfworld.engine.loading.pddl import nest, typed

TYPES = frozenset({"agent", "location", "receptacle", "object", "rtype", "otype"})
OPTIONAL = frozenset({"help"})
"""Actions that a file may lack: `help` came with data 2.1.2 (alfworld's scripts/patch_tw-pddl.py)."""
CLEANERS: tuple[tuple[str, ...], ...] = (("sinkbasintype", "sinktype"), ("sinkbasintype",))
"""The types of receptacle that clean: in the files of the official data, and in the domain of the package."""


@dataclass(frozen=True, slots=True)
class Rule:
    """An action.

    Attributes:
        parameters: what it takes.
        conditions: what must hold, all of it.
        effects: what it changes; costs are left out, since nothing in play depends on them.
    """

    parameters: Variables
    conditions: frozenset[Formula]
    effects: frozenset[Formula]


# Conditions that several actions share: who is where, and what can be reached there.
_AT = "(atlocation ?a ?l) (receptacleatlocation ?r ?l)"
_ACCESSIBLE = "(or (not (openable ?r)) (opened ?r))"
# name: (what it takes, its condition, its effect). The variables are called as the grammar calls them.
_RULES: dict[str, tuple[str, str, str]] = {
    "look": ("?a - agent ?l - location", "(atlocation ?a ?l)", "(checked ?l)"),
    "inventory": ("?a - agent", "()", "(checked ?a)"),
    "examineReceptacle": (
        "?a - agent ?r - receptacle",
        f"(exists (?l - location) (and {_AT}))",
        "(checked ?r)",
    ),
    # The files also name what lies in sight, but of a type `location,` that nothing has: it can never be examined.
    "examineObject": ("?a - agent ?o - object", "(holds ?a ?o)", "(checked ?o)"),
    "GotoLocation": (
        "?a - agent ?lstart - location ?lend - location ?r - receptacle",
        "(and (atlocation ?a ?lstart) (receptacleatlocation ?r ?lend))",
        "(and (not (atlocation ?a ?lstart)) (atlocation ?a ?lend))",
    ),
    "OpenObject": (
        "?a - agent ?l - location ?r - receptacle",
        f"(and {_AT} (openable ?r) (not (opened ?r)))",
        "(and (opened ?r) (checked ?r))",
    ),
    "CloseObject": (
        "?a - agent ?l - location ?r - receptacle",
        f"(and {_AT} (openable ?r) (opened ?r))",
        "(not (opened ?r))",
    ),
    "PickupObject": (
        "?a - agent ?l - location ?o - object ?r - receptacle",
        f"(and {_AT} {_ACCESSIBLE} (pickupable ?o) (inreceptacle ?o ?r) (not (holdsany ?a)))",
        "(and (holds ?a ?o) (holdsany ?a) (not (inreceptacle ?o ?r)) (not (objectatlocation ?o ?l)))",
    ),
    "PutObject": (
        "?a - agent ?l - location ?o - object ?r - receptacle ?ot - otype ?rt - rtype",
        f"(and {_AT} {_ACCESSIBLE} (holds ?a ?o) (objecttype ?o ?ot) (receptacletype ?r ?rt) (cancontain ?rt ?ot))",
        "(and (inreceptacle ?o ?r) (objectatlocation ?o ?l) (not (holds ?a ?o)) (not (holdsany ?a)))",
    ),
    "CleanObject": (
        "?a - agent ?l - location ?r - receptacle ?o - object",
        f"(and {_AT} (cleanable ?o) (holds ?a ?o) CLEANS)",
        "(isclean ?o)",
    ),
    "HeatObject": (
        "?a - agent ?l - location ?r - receptacle ?o - object",
        f"(and {_AT} (heatable ?o) (holds ?a ?o) (receptacletype ?r microwavetype))",
        "(and (ishot ?o) (not (iscool ?o)))",
    ),
    "CoolObject": (
        "?a - agent ?l - location ?r - receptacle ?o - object",
        f"(and {_AT} (coolable ?o) (holds ?a ?o) (receptacletype ?r fridgetype))",
        "(and (iscool ?o) (not (ishot ?o)))",
    ),
    "ToggleObject": (
        "?a - agent ?l - location ?o - object ?r - receptacle",
        f"(and {_AT} (toggleable ?o) (inreceptacle ?o ?r))",
        "(and (istoggled ?o) (when (ison ?o) (not (ison ?o))) (when (not (ison ?o)) (ison ?o)))",
    ),
    "SliceObject": (
        "?a - agent ?l - location ?co - object ?ko - object",
        "(and (atlocation ?a ?l) (objectatlocation ?co ?l) (sliceable ?co) (holds ?a ?ko)"
        " (or (objecttype ?ko knifetype) (objecttype ?ko butterknifetype)))",
        "(issliced ?co)",
    ),
    "help": ("?a - agent", "()", "(checked ?a)"),
}


@lru_cache(maxsize=1)
def known_rules() -> dict[str, tuple[Rule, ...]]:
    """Return the known forms of each action, by its name as ALFWorld spells it; `CLEANERS` has those of CleanObject."""
    return {name: tuple(_forms(*parts)) for name, parts in _RULES.items()}


def _forms(parameters: str, condition: str, effect: str) -> list[Rule]:
    listed = tuple(typed(parameters.split()))
    forms = []
    for kinds in CLEANERS if "CLEANS" in condition else ((),):
        cleans = f"(or {' '.join(f'(receptacletype ?r {kind})' for kind in kinds)})"
        demanded = normal(nest(condition.replace("CLEANS", cleans)), {})
        forms.append(Rule(listed, conjuncts(demanded), effects(nest(effect), {})))
    return forms
