"""Goal of a game, reduced once to the facts that play can make true.

A goal in a game file is a formula with quantifiers over every object of the household. What never changes (types, what
can be heated, …) and what can never come true is settled when the game is read; what remains is a small tree of facts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import NamedTuple

from reflex_bench.envs.alfworld.engine.loading.facts import Facts, Row
from reflex_bench.envs.alfworld.engine.loading.pddl import Expression, UnknownGame, UnwinnableGame, typed
from reflex_bench.envs.alfworld.engine.state import State


class Fact(NamedTuple):
    """A predicate that play can change, about one or two things by number; the agent is left out."""

    predicate: str
    thing: int = -1
    other: int = -1


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts."""

    parts: tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of the parts."""

    parts: tuple[Goal, ...]


Goal = Fact | And | Or

_TRUE, _FALSE = And(()), Or(())


def holds(goal: Goal, state: State) -> bool:
    """Return whether a goal holds in a state."""
    if isinstance(goal, And):
        return all(holds(part, state) for part in goal.parts)
    if isinstance(goal, Or):
        return any(holds(part, state) for part in goal.parts)
    predicate, thing, other = goal
    if predicate == "inreceptacle":
        return thing in state.inside[other]
    if predicate == "holds":
        return thing == state.held
    if predicate == "atlocation":
        return thing == state.place
    if predicate == "objectatlocation":
        return thing in state.lying[other]
    if predicate == "holdsany":
        return state.held is not None
    happened: set[int] = getattr(state, _FIELDS[predicate])
    return thing in happened


_FIELDS = {
    "opened": "opened",
    "isclean": "clean",
    "ishot": "hot",
    "iscool": "cool",
    "istoggled": "toggled",
    "issliced": "sliced",
}


def facts_of(goal: Goal) -> Iterator[Fact]:
    """Yield every fact that a goal mentions."""
    if isinstance(goal, Fact):
        yield goal
    else:
        for part in goal.parts:
            yield from facts_of(part)


class Grounder:
    """Reduces a goal's formula to facts.

    Args:
        facts: the problem.
        possible: for each predicate, everything that is or can become true.
        certain: for each predicate, everything that is and stays true. Where a predicate cannot change the two are one.
    """

    def __init__(
        self, facts: Facts, possible: Mapping[str, Set[Row]], certain: Mapping[str, Set[Row]]
    ) -> None:
        self._types = facts.types
        self._numbers = facts.numbers
        self._possible = possible
        self._certain = certain
        self._index: dict[tuple[str, int], dict[Row, list[str]]] = {}

    def ground(self, formula: Expression) -> Goal:
        """Return the goal, as far as play decides it.

        Raises:
            UnwinnableGame: nothing can meet the goal.
            UnknownGame: the goal is met whatever happens, or has a form that this engine does not know.
        """
        goal = self._reduce(formula, {})
        if goal == _FALSE:
            raise UnwinnableGame("a goal that nothing can meet")
        if goal == _TRUE:
            raise UnknownGame("a goal that play cannot change")
        return goal

    def _reduce(self, formula: Expression, bound: Mapping[str, str]) -> Goal:
        if not isinstance(formula, list) or not formula or not isinstance(formula[0], str):
            raise UnknownGame(f"a goal with an unreadable part: {str(formula)[:60]}")
        head, *rest = formula
        if head == "and":
            return _every(self._reduce(part, bound) for part in rest)
        if head == "or":
            return _some(self._reduce(part, bound) for part in rest)
        if head == "not" and len(rest) == 1:
            return self._negation(self._reduce(rest[0], bound))
        if head in ("exists", "forall") and len(rest) == 2 and isinstance(rest[0], list):
            variables = dict(typed(rest[0]))
            if variables.keys() & bound.keys():
                raise UnknownGame("a goal that uses the name of a variable twice")
            return (self._exists if head == "exists" else self._forall)(variables, rest[1], bound)
        row = tuple(bound.get(str(word), str(word)) for word in rest)
        if head == "=" and len(row) == 2:
            return _TRUE if row[0] == row[1] else _FALSE
        return self._fact(str(head), row)

    def _negation(self, goal: Goal) -> Goal:
        if goal == _TRUE:
            return _FALSE
        if goal == _FALSE:
            return _TRUE
        raise UnknownGame("a goal that forbids what play can change")

    def _fact(self, predicate: str, row: Row) -> Goal:
        if predicate not in self._possible or any(word not in self._types for word in row):
            raise UnknownGame(f"a goal about something unknown: ({predicate} {' '.join(row)})")
        if row not in self._possible[predicate]:
            return _FALSE
        if row in self._certain[predicate]:
            return _TRUE
        # The agent has no number and there is only one.
        numbers = [self._numbers[word] for word in row if self._types[word] != "agent"]
        return Fact(predicate, *numbers)

    def _forall(self, variables: Mapping[str, str], body: Expression, bound: Mapping[str, str]) -> Goal:
        if not variables:
            return self._reduce(body, bound)
        (name, kind), *rest = variables.items()
        return _every(
            self._forall(dict(rest), body, {**bound, name: word})
            for word in self._types
            if self._is_a(word, kind)
        )

    def _exists(self, variables: Mapping[str, str], body: Expression, bound: Mapping[str, str]) -> Goal:
        if not variables:
            return self._reduce(body, bound)
        choices = {name: self._candidates(name, kind, body, bound) for name, kind in variables.items()}
        name = min(choices, key=lambda name: len(choices[name]))
        rest = {other: kind for other, kind in variables.items() if other != name}
        return _some(self._exists(rest, body, {**bound, name: word}) for word in choices[name])

    def _candidates(self, name: str, kind: str, body: Expression, bound: Mapping[str, str]) -> list[str]:
        """Return the values that a variable can take, by the most selective fact that the body demands of it."""
        found: list[str] | None = None
        for predicate, *words in _demanded(body):
            if predicate not in self._possible:
                raise UnknownGame(f"a goal about something unknown: ({predicate} {' '.join(words)})")
            row = [bound.get(word, word) for word in words]
            if row.count(name) != 1 or any(word.startswith("?") and word != name for word in row):
                continue
            place = row.index(name)
            others = tuple(row[:place] + row[place + 1 :])
            fitting = self._lookup(predicate, place).get(others, [])
            if found is None or len(fitting) < len(found):
                found = fitting
        return [word for word in (self._types if found is None else found) if self._is_a(word, kind)]

    def _lookup(self, predicate: str, place: int) -> Mapping[Row, list[str]]:
        if (predicate, place) not in self._index:
            index: dict[Row, list[str]] = defaultdict(list)
            for row in sorted(self._possible[predicate]):
                index[row[:place] + row[place + 1 :]].append(row[place])
            self._index[predicate, place] = index
        return self._index[predicate, place]

    def _is_a(self, word: str, kind: str) -> bool:
        # In PDDL everything is an `object`, also what has a type of its own.
        return kind == "object" or self._types[word] == kind


def _demanded(body: Expression) -> Iterator[list[str]]:
    """Yield the facts that must hold whichever way the body is met."""
    if not isinstance(body, list) or not body:
        return
    head = body[0]
    if head == "and":
        for part in body[1:]:
            yield from _demanded(part)
    elif head == "exists":
        yield from _demanded(body[-1])
    elif head not in ("or", "not", "forall", "="):
        yield [str(word) for word in body]


def _every(parts: Iterator[Goal]) -> Goal:
    kept: list[Goal] = []
    for part in parts:
        if part == _FALSE:
            return _FALSE
        kept.extend(part.parts if isinstance(part, And) else [part])
    return kept[0] if len(kept) == 1 else And(tuple(kept))


def _some(parts: Iterator[Goal]) -> Goal:
    kept: list[Goal] = []
    for part in parts:
        if part == _TRUE:
            return _TRUE
        kept.extend(part.parts if isinstance(part, Or) else [part])
    return kept[0] if len(kept) == 1 else Or(tuple(kept))
