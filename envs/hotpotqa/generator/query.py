"""Logical form of a question: facts with variables that all hold, starting from the names that are said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reflex_bench.envs.hotpotqa.world.pages import WORKS
from reflex_bench.envs.hotpotqa.world.world import Entity, Fact, Value, World

# What a name says of itself; no page has to be read for it.
GIVEN = ("name", "kind", "occupation")


@dataclass(frozen=True, slots=True)
class Atom:
    """A fact with variables: terms that begin with "?"."""

    subject: str
    relation: str
    value: Value


@dataclass(frozen=True, slots=True)
class Query:
    """All of `atoms` hold.

    Attributes:
        atoms: in an order in which every atom after the first has a term in common with an earlier one, or names an
            entity anew.
        answer: the variable that is asked for.
    """

    atoms: tuple[Atom, ...]
    answer: str


def named(variable: str, entity: Entity) -> tuple[Atom, ...]:
    """Return what a question says about an entity when it names it.

    The name, and the kind or occupation that it adds.
    """
    atoms = [Atom(variable, "name", entity.name)]
    if entity.kind in WORKS:
        atoms.append(Atom(variable, "kind", entity.kind))
    elif entity.kind == "person" and entity.title != entity.name:
        atoms.append(Atom(variable, "occupation", entity.qualifier))
    return tuple(atoms)


def steps(start: str, path: tuple[str, ...]) -> tuple[Atom, ...]:
    """Return the atoms along a path from a variable; its stations are `?1`, `?2`, …"""
    atoms: list[Atom] = []
    at = start
    for number, segment in enumerate(path, 1):
        relation, _, kind = segment.partition(":")
        end = f"?{number}"
        inverse = relation.startswith("^")
        atoms.append(Atom(end, relation[1:], at) if inverse else Atom(at, relation, end))
        if kind:
            atoms.append(Atom(end, "kind", kind))
        at = end
    return tuple(atoms)


def solve(world: World, query: Query) -> list[dict[str, Value]]:
    """Return every binding of the variables under which all atoms are facts."""
    return list(_solve(world, query.atoms, {}))


def facts_of(query: Query, binding: Mapping[str, Value]) -> list[Fact]:
    """Return the facts that a reader has to find: the bound atoms, except what names say of themselves."""
    return [
        Fact(
            str(binding.get(atom.subject, atom.subject)),
            atom.relation,
            binding.get(str(atom.value), atom.value),
        )
        for atom in query.atoms
        if atom.relation not in GIVEN
    ]


def _solve(world: World, atoms: tuple[Atom, ...], binding: dict[str, Value]) -> Iterator[dict[str, Value]]:
    if not atoms:
        yield binding
        return
    atom = atoms[0]
    subject = binding.get(atom.subject)
    value = binding.get(str(atom.value), atom.value)
    found = (
        world.about(str(subject), atom.relation)
        if subject is not None
        else world.saying(atom.relation, value)
    )
    for fact in found:
        if not _is_variable(value) and fact.value != value:
            continue
        extended = {**binding, atom.subject: fact.subject}
        if _is_variable(atom.value):
            extended[str(atom.value)] = fact.value
        yield from _solve(world, atoms[1:], extended)


def _is_variable(value: Value) -> bool:
    return isinstance(value, str) and value.startswith("?")
