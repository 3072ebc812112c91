"""Recognises the rules that a game file brings along, by what they mean.

An action of a game file is the known one if it takes the same things, demands the same conditions and has the same
effects, whatever the order, layout and comments, and whatever its variables are called. A condition that differs is
for the game to decide (`Doubt`): where it holds always or never, it may make no difference there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, permutations, product
from typing import Protocol

from reflex_bench.envs.alfworld.engine.loading.formulas import (
    FALSE,
    TRUE,
    Formula,
    Knowledge,
    Variables,
    conjuncts,
    effects,
    join_formulas,
    normal,
    predicates,
    renamed,
    shown,
    simplified,
)
from reflex_bench.envs.alfworld.engine.loading.known_rules import CLEANERS, OPTIONAL, TYPES, Rule, known_rules
from reflex_bench.envs.alfworld.engine.loading.pddl import Expression, UnknownGame, clean, nest, typed

_SECTIONS = {":requirements", ":types", ":predicates", ":functions", ":action"}
_PARTS = {":parameters", ":precondition", ":effect"}


class GameFacts(Protocol):
    """The facts of a game, of which conditions that differ are decided."""

    def given(self, parameters: Variables, conditions: frozenset[Formula]) -> Knowledge:
        """Return what is known wherever some conditions hold of an action's parameters."""
        ...


@dataclass(frozen=True, slots=True)
class Doubt:
    """An action of a file whose conditions are not the known ones, unless the facts of a game say that they are.

    Attributes:
        action: as it is spelt.
        known: as it is known here; None for an action that is not, which then must never be possible.
        found: as it stands in the file, with the known action's names of variables.
        own: by variable of the known action, the file's name for it.
    """

    action: str
    known: Rule | None
    found: Rule
    own: Mapping[str, str]

    def settle(self, game: GameFacts) -> None:
        """Make sure that it makes no difference in a game.

        Raises:
            UnknownGame: it does, or may; the action and the conditions are named.
        """
        ours = self.known.conditions if self.known else frozenset()
        theirs = self.found.conditions
        common = ours & theirs
        knowledge = game.given(self.found.parameters, common)
        if simplified(join_formulas("and", common), knowledge) == FALSE:
            return
        more = {part: simplified(part, knowledge) for part in theirs - common}
        less = {part: simplified(part, knowledge) for part in ours - common}
        if self.known is None:
            if FALSE in more.values():
                return
            raise UnknownGame(f"a domain with an action that is not known here: {self.action}")
        if FALSE in more.values() and FALSE in less.values():
            return
        gained = [part for part, left in more.items() if left not in (TRUE, *less.values())]
        lost = [part for part, left in less.items() if left not in (TRUE, *more.values())]
        if gained or lost:
            raise UnknownGame(_differing(self.action, "condition", gained, lost, self.own))


@dataclass(frozen=True, slots=True)
class Domain:
    """The rules of a game file, where they are the known ones.

    Attributes:
        has_help: whether there is the action `help`.
        cleaners: the types of receptacle that clean.
        names: by variable of the file, the name by which it is known here; without those that are called the same.
        doubts: what each game has to decide; none in the official files.
    """

    has_help: bool
    cleaners: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    doubts: tuple[Doubt, ...]


@lru_cache(maxsize=16)
def read_domain(text: str) -> Domain:
    """Return the rules of a game file.

    Args:
        text: the PDDL domain. Comments, case, layout, order and the names of variables do not matter.

    Raises:
        UnknownGame: they are not the known ones; what differs is named.
    """
    expression = nest(clean(text))
    if not isinstance(expression, list) or expression[:2] != ["define", ["domain", "alfred"]]:
        raise UnknownGame("a domain that is not ALFWorld's")
    actions: dict[str, list[Expression]] = {}
    declared: dict[str, int] = {"=": 2}
    kinds: dict[str, str] = {}
    for part in expression[2:]:
        if not isinstance(part, list) or not part or part[0] not in _SECTIONS:
            raise UnknownGame(f"a domain with an unknown section: {str(part)[:60]}")
        if part[0] == ":types":
            kinds |= dict(typed(part[1:]))
        elif part[0] == ":predicates":
            declared |= {
                str(each[0]): len(list(typed(each[1:]))) for each in part[1:] if isinstance(each, list)
            }
        elif part[0] == ":action":
            name = str(part[1]) if len(part) > 1 else ""
            if name in actions:
                raise UnknownGame(f"a domain that defines the action {name} twice")
            actions[name] = part[2:]
    _check_types(kinds)
    reader = _Reader(text, declared)
    try:
        return reader.read(actions)
    except UnknownGame as refusal:
        raise UnknownGame(reader.spelt(str(refusal))) from None


def _check_types(kinds: Mapping[str, str]) -> None:
    missing = sorted(TYPES - kinds.keys())
    if missing:
        raise UnknownGame(f"a domain with other types than ALFWorld's: {missing[0]} is missing")
    for name, above in sorted(kinds.items()):
        # Everything is an `object` in PDDL, so to say it changes nothing.
        if above != "object":
            raise UnknownGame(f"a domain with other types than ALFWorld's: every {name} is a {above}")


class _Reader:
    """Compares the actions of one domain with the known ones.

    Args:
        text: the domain as it stands in the file.
        declared: the number of arguments of each predicate.
    """

    def __init__(self, text: str, declared: Mapping[str, int]) -> None:
        self._declared = declared
        self._spellings: dict[str, str] = {}
        for word in re.findall(r"[^\s()]+", re.sub(r";[^\n]*", "", text)):
            self._spellings.setdefault(word.lower(), word)

    def spelt(self, message: str) -> str:
        """Return a message with the words of the domain as the file spells them."""
        return re.sub(r"[\w?-]+", lambda match: self._spellings.get(match[0], match[0]), message)

    def read(self, actions: Mapping[str, list[Expression]]) -> Domain:
        """Return what the actions come to; see `read_domain`."""
        known = {name.lower(): forms for name, forms in known_rules().items()}
        for name in known.keys() - OPTIONAL - actions.keys():
            raise UnknownGame(f"a domain without the action {name}")
        doubts: list[Doubt] = []
        cleaners: tuple[str, ...] = CLEANERS[0]
        names: dict[str, set[str]] = defaultdict(set)
        for name, parts in actions.items():
            listed, condition, effect = self._parts(name, parts)
            if name not in known:
                doubts.append(
                    Doubt(self.spelt(name), None, self._rule(name, listed, {}, condition, effect), {})
                )
                continue
            form, found, own = self._nearest(name, known[name], listed, condition, effect)
            doubts += self._compare(name, known[name][form], found, own)
            if len(known[name]) > 1:
                cleaners = CLEANERS[form]
            for ours, theirs in own.items():
                names[theirs].add(ours)
        return Domain("help" in actions, cleaners, _unambiguous(names), tuple(doubts))

    def _parts(self, name: str, parts: list[Expression]) -> tuple[Variables, Expression, Expression]:
        told: dict[str, Expression] = {":parameters": [], ":precondition": []}
        for key, value in zip(parts[::2], parts[1::2], strict=False):
            told[str(key)] = value
        listed = told[":parameters"]
        if told.keys() != _PARTS or len(parts) % 2 or not isinstance(listed, list):
            raise UnknownGame(f"the action {name} is not made of parameters, precondition and effect")
        return tuple(typed(listed)), told[":precondition"], told[":effect"]

    def _nearest(
        self, name: str, forms: tuple[Rule, ...], listed: Variables, condition: Expression, effect: Expression
    ) -> tuple[int, Rule, dict[str, str]]:
        """Return the known form that an action is most like, the action, and the names of the known variables."""
        known = forms[0].parameters
        if sorted(kind for _, kind in listed) != sorted(kind for _, kind in known) or len(dict(listed)) < len(
            listed
        ):
            taken = " ".join(f"{variable} - {kind}" for variable, kind in listed)
            raise UnknownGame(f"the action {name} takes other things than the known one: ({taken})")
        best: tuple[int, int, Rule, dict[str, str]] | None = None
        for own in _matches(known, listed):
            found = self._rule(name, known, {theirs: ours for ours, theirs in own.items()}, condition, effect)
            for number, form in enumerate(forms):
                off = len(found.conditions ^ form.conditions) + len(found.effects ^ form.effects)
                if best is None or off < best[0]:
                    best = off, number, found, own
        assert best is not None
        return best[1:]

    def _rule(
        self,
        name: str,
        listed: Variables,
        names: Mapping[str, str],
        condition: Expression,
        effect: Expression,
    ) -> Rule:
        try:
            demanded, changed = normal(condition, names), effects(effect, names)
        except UnknownGame as refusal:
            raise UnknownGame(f"the action {name} has {refusal}") from None
        for predicate, count in sorted(predicates(join_formulas("and", [demanded, *changed]))):
            if self._declared.get(predicate) != count:
                raise UnknownGame(
                    f"a domain that does not declare the predicate {predicate} of {count} things"
                )
        return Rule(listed, conjuncts(simplified(demanded, _Kinds())), changed)

    def _compare(self, name: str, known: Rule, found: Rule, own: Mapping[str, str]) -> list[Doubt]:
        if found.effects != known.effects:
            raise UnknownGame(
                _differing(name, "effect", found.effects - known.effects, known.effects - found.effects, own)
            )
        if found.conditions == known.conditions:
            return []
        return [Doubt(self.spelt(name), known, found, own)]


class _Kinds:
    """All that is known before a game is: nothing has another type than ALFWorld's (`Facts` makes sure of it)."""

    def is_empty(self, kind: str) -> bool:
        return kind not in TYPES

    def holds(self, fact: Formula, bound: Mapping[str, str]) -> None:
        return None


def _matches(known: Variables, listed: Variables) -> Iterator[dict[str, str]]:
    """Yield every way to take a file's variables for the known ones of the same types.

    The file's name for each known one.
    """
    kinds = sorted({kind for _, kind in known})
    ours = [[name for name, kind in known if kind == each] for each in kinds]
    theirs = [[name for name, kind in listed if kind == each] for each in kinds]
    for orders in product(*(permutations(names) for names in theirs)):
        yield dict(zip(chain(*ours), chain(*orders), strict=True))


def _unambiguous(names: Mapping[str, set[str]]) -> tuple[tuple[str, str], ...]:
    """Return the names of variables that are called otherwise here, and stand for the same in every action."""
    known = {ours for each in names.values() for ours in each}
    for theirs, each in names.items():
        if len(each) > 1 and theirs in known:
            raise UnknownGame(f"a domain in which {theirs} stands for {' and '.join(sorted(each))}")
    return tuple(
        sorted(
            (theirs.lstrip("?"), next(iter(each)).lstrip("?"))
            for theirs, each in names.items()
            if len(each) == 1 and each != {theirs}
        )
    )


def _differing(
    action: str, what: str, more: Collection[Formula], less: Collection[Formula], own: Mapping[str, str]
) -> str:
    """Says what an action has too much and too little."""
    differences = [f"has one more {what}, {shown(renamed(part, own))}" for part in sorted(more, key=repr)]
    differences += [f"lacks the {what} {shown(renamed(part, own))}" for part in sorted(less, key=repr)]
    return f"the action {action} {' and '.join(differences)}"
