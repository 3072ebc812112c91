"""Formulas of a PDDL domain in a normal form, in which equal ones are equal whatever their order or variables.

A formula is a nested tuple whose first element is its head:

- `(predicate, argument, …)`: a fact about variables (`?x`) and things;
- `("not", fact)`; negations stand before facts and nowhere else;
- `("and", part, …)` and `("or", part, …)`: at least two parts, sorted, none twice, none of the same head.
  `("and",)` is always true, `("or",)` never;
- `("exists", ((variable, type), …), body)` and `("forall", …)`: variables are named by depth and place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Protocol

from reflex_bench.envs.alfworld.engine.loading.pddl import Expression, UnknownGame, typed

Formula = tuple[object, ...]
Variables = tuple[tuple[str, str], ...]

TRUE: Formula = ("and",)
FALSE: Formula = ("or",)
MAX_VARIABLES = 4
"""Of one quantifier: all their orders are tried. The known domain has two."""

_OTHER = {"and": "or", "or": "and", "exists": "forall", "forall": "exists"}


def normal(expression: Expression, names: Mapping[str, str]) -> Formula:
    """Return the normal form of a condition.

    Args:
        expression: the condition as nested lists; an empty list always holds.
        names: new names for free variables.

    Raises:
        UnknownGame: a part of it is no condition of PDDL's.
    """
    return _normal(expression, names, False, 0)


def join_formulas(head: str, parts: Iterable[Formula]) -> Formula:
    """Return the conjunction (`and`) or disjunction (`or`) of formulas in normal form."""
    neutral, decisive = (TRUE, FALSE) if head == "and" else (FALSE, TRUE)
    kept: set[Formula] = set()
    for part in parts:
        if part == decisive:
            return decisive
        kept.update(_parts(part, head))
    kept.discard(neutral)
    if len(kept) == 1:
        return next(iter(kept))
    return (head, *sorted(kept, key=repr))


def effects(expression: Expression, names: Mapping[str, str]) -> frozenset[Formula]:
    """Return what an action changes: facts, `("not", fact)`, and `("when", condition, change)`. Costs are left out.

    Args:
        expression: the effect as nested lists.
        names: new names for its variables.

    Raises:
        UnknownGame: a part of it is none of these.
    """
    if not isinstance(expression, list) or not expression:
        raise UnknownGame("an effect that changes nothing")
    head, *rest = expression
    if head == "and":
        return frozenset().union(*(effects(part, names) for part in rest))
    if head == "when" and len(rest) == 2:
        condition = normal(rest[0], names)
        return frozenset(("when", condition, change) for change in effects(rest[1], names))
    if head == "increase" and len(rest) == 2 and rest[0] == ["total-cost"] and str(rest[1]).isdigit():
        return frozenset()
    fact = normal(expression, names)
    if fact[0] in ("and", "or", "exists", "forall", "increase"):
        raise UnknownGame(f"an effect of unknown form: {shown(fact)[:60]}")
    return frozenset([fact])


def renamed(formula: Formula, names: Mapping[str, str]) -> Formula:
    """Return a formula, or a change, with other names of variables, to be shown."""
    return tuple(
        renamed(part, names) if isinstance(part, tuple) else names.get(str(part), str(part))
        for part in formula
    )


def predicates(formula: Formula) -> set[tuple[str, int]]:
    """Return the predicates in a formula or a change, each with the number of its arguments."""
    head, *rest = formula
    if head in ("and", "or", "not", "when", "exists", "forall"):
        parts = rest[1:] if head in ("exists", "forall") else rest
        return {found for part in parts for found in predicates(_formula(part))}
    return {(str(head), len(rest))}


def conjuncts(formula: Formula) -> frozenset[Formula]:
    """Return the formulas that must all hold for this one to hold."""
    return frozenset(_parts(formula, "and"))


class Knowledge(Protocol):
    """What is known of the facts that a formula is about."""

    def is_empty(self, kind: str) -> bool:
        """Return whether nothing has this type."""
        ...

    def holds(self, fact: Formula, bound: Mapping[str, str]) -> bool | None:
        """Return whether a fact always holds (True), never (False), or neither is known (None).

        Args:
            fact: a predicate and its arguments.
            bound: the types of the variables that quantifiers bind.
        """
        ...


def simplified(formula: Formula, known: Knowledge) -> Formula:
    """Return a formula in normal form without what is known of its facts."""
    return _simplified(formula, known, {})


def shown(formula: Formula) -> str:
    """Return a formula as PDDL."""
    if formula in (TRUE, FALSE):
        return "()" if formula == TRUE else "(or)"
    head, *rest = formula
    if head in ("exists", "forall"):
        variables: Variables = rest[0]  # type: ignore[assignment]
        listed = " ".join(f"{name} - {kind}" for name, kind in variables)
        return f"({head} ({listed}) {shown(_formula(rest[1]))})"
    return f"({' '.join(shown(part) if isinstance(part, tuple) else str(part) for part in formula)})"


def _parts(formula: Formula, head: str) -> tuple[Formula, ...]:
    return tuple(map(_formula, formula[1:])) if formula[0] == head else (formula,)


def _normal(expression: Expression, names: Mapping[str, str], negated: bool, depth: int) -> Formula:
    if not isinstance(expression, list):
        raise UnknownGame(f"a condition that is a mere word: {expression[:60]}")
    if not expression:
        return FALSE if negated else TRUE
    head, *rest = expression
    if head == "not" and len(rest) == 1:
        return _normal(rest[0], names, not negated, depth)
    if head == "imply" and len(rest) == 2:
        return _normal(["or", ["not", rest[0]], rest[1]], names, negated, depth)
    if head in ("and", "or"):
        meant = _OTHER[head] if negated else head
        return join_formulas(meant, (_normal(part, names, negated, depth) for part in rest))
    if head in ("exists", "forall") and len(rest) == 2 and isinstance(rest[0], list):
        variables = tuple(typed(rest[0]))
        return _quantified(_OTHER[head] if negated else head, variables, rest[1], names, negated, depth)
    if not all(isinstance(word, str) for word in expression):
        raise UnknownGame(f"a condition with a part of unknown form: {str(expression)[:60]}")
    words = [names.get(str(word), str(word)) for word in rest]
    fact = (str(head), *(sorted(words) if head == "=" else words))
    return ("not", fact) if negated else fact


def _quantified(
    head: str,
    variables: Variables,
    body: Expression,
    names: Mapping[str, str],
    negated: bool,
    depth: int,
) -> Formula:
    if len(variables) > MAX_VARIABLES or len(dict(variables)) < len(variables):
        raise UnknownGame(f"a condition that binds {len(variables)} variables at once, or one of them twice")
    forms: list[Formula] = []
    for order in permutations(variables):
        own = {name: f"?{depth}.{place}" for place, (name, _) in enumerate(order)}
        within = _normal(body, {**names, **own}, negated, depth + 1)
        forms.append((head, tuple((own[name], kind) for name, kind in order), within))
    return min(forms, key=repr) if variables else _normal(body, names, negated, depth)


def _simplified(formula: Formula, known: Knowledge, bound: Mapping[str, str]) -> Formula:
    head = formula[0]
    if head in ("and", "or"):
        return join_formulas(str(head), (_simplified(_formula(part), known, bound) for part in formula[1:]))
    if head in ("exists", "forall"):
        variables: Variables = formula[1]  # type: ignore[assignment]
        if any(known.is_empty(kind) for _, kind in variables):
            return FALSE if head == "exists" else TRUE
        body = _simplified(_formula(formula[2]), known, {**bound, **dict(variables)})
        return body if body in (TRUE, FALSE) else (head, variables, body)
    negated = head == "not"
    holds = known.holds(_formula(formula[1]) if negated else formula, bound)
    return formula if holds is None else TRUE if holds != negated else FALSE


def _formula(part: object) -> Formula:
    assert isinstance(part, tuple)
    return part
