"""Invented world behind the procedural twin of HotPotQA: entities and the facts that hold between them.

Everything that pages say and questions ask is a `Fact`, so that a question's logical form can be evaluated against the
whole world and shown to have one answer.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

Value: TypeAlias = str | int | datetime.date

# Telling the first relation also tells the year of its date under the second name.
YEAR_OF = {"born": "birth_year", "died": "death_year", "fought": "year"}


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement.

    Attributes:
        subject: an entity's id.
        relation: e.g. `birthplace`.
        value: an entity's id, a word or phrase, a number, or a date.
    """

    subject: str
    relation: str
    value: Value


@dataclass(frozen=True, slots=True)
class Entity:
    """Something with a page of its own.

    Attributes:
        id: `@` and the kind and a number; no other value in the world begins with `@`.
        kind: `person`, `town`, `novel`, …
        name: what texts call it; several entities may share it.
        country: the id of its country (of a country: its own).
        article: its name takes "the" in running text.
        aliases: other names, each unique in the world; they become redirects.
        qualifier: what tells it from its namesakes: the occupation of a person, else the kind.
        title: of its page; the name, and the qualifier in parentheses where the name is shared.
    """

    id: str
    kind: str
    name: str
    country: str
    article: bool = False
    aliases: tuple[str, ...] = ()
    qualifier: str = ""
    title: str = ""


@dataclass
class World:
    """Entities and facts, in the order in which they were made, with indexes."""

    entities: dict[str, Entity] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    _by_subject: dict[tuple[str, str], list[Fact]] = field(default_factory=lambda: defaultdict(list))
    _by_value: dict[tuple[str, Value], list[Fact]] = field(default_factory=lambda: defaultdict(list))
    _by_kind: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(
        self, kind: str, name: str, country: str = "", *, article: bool = False, aliases: Iterable[str] = ()
    ) -> str:
        """Adds an entity and the facts `kind`, `name` and (except for a country itself) `country`; returns its id."""
        identity = f"@{kind.replace(' ', '_')}{len(self._by_kind[kind])}"
        entity = Entity(identity, kind, name, country or identity, article, tuple(aliases), kind)
        self.entities[identity] = entity
        self._by_kind[kind].append(identity)
        self.tell(identity, "kind", kind)
        self.tell(identity, "name", name)
        if country:
            self.tell(identity, "country", country)
        return identity

    def tell(self, subject: str, relation: str, value: Value | None) -> None:
        """Adds a fact (and its year, where it is a date that has one); None adds nothing."""
        if value is None:
            return
        fact = Fact(subject, relation, value)
        self.facts.append(fact)
        self._by_subject[subject, relation].append(fact)
        self._by_value[relation, value].append(fact)
        if relation in YEAR_OF and isinstance(value, datetime.date):
            self.tell(subject, YEAR_OF[relation], value.year)

    def about(self, subject: str, relation: str) -> list[Fact]:
        """Return the facts of one relation of one entity."""
        return self._by_subject.get((subject, relation), [])

    def saying(self, relation: str, value: Value) -> list[Fact]:
        """Return the facts in which `value` stands in `relation`."""
        return self._by_value.get((relation, value), [])

    def kind(self, kind: str) -> list[str]:
        """Return the ids of all entities of one kind."""
        return self._by_kind.get(kind, [])

    def text(self, subject: str, relation: str) -> str:
        """Return the value of a relation that has exactly one, an id or a phrase."""
        return str(self.about(subject, relation)[0].value)

    def number(self, subject: str, relation: str) -> int:
        """Return the value of a relation that has exactly one, a number."""
        value = self.about(subject, relation)[0].value
        assert isinstance(value, int)
        return value

    def walk(self, start: str, segment: str) -> list[tuple[Fact, Value]]:
        """Return the facts one step away from an entity, each with the value at its far end.

        Args:
            start: an entity's id.
            segment: `relation`, or `^relation` for the facts whose value is `start`; with `:kind`, what is of that
                kind only.
        """
        relation, _, kind = segment.partition(":")
        found: list[tuple[Fact, Value]]
        if relation.startswith("^"):
            found = [(fact, fact.subject) for fact in self.saying(relation[1:], start)]
        else:
            found = [(fact, fact.value) for fact in self.about(start, relation)]
        return [step for step in found if not kind or self.is_a(step[1], kind)]

    def is_a(self, value: Value, kind: str) -> bool:
        """Return whether the value is an entity of that kind."""
        return isinstance(value, str) and value in self.entities and self.entities[value].kind == kind


@cache
def table(name: str) -> Any:
    """Return a data table of this package, read once: `world`, `pages` or `questions`."""
    import yaml

    # The C loader reads the same document; it only takes a tenth of the time.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with (Path(__file__).parent / f"{name}.yaml").open(encoding="utf-8") as source:
        return yaml.load(source, Loader=loader)  # noqa: S506 - both loaders are the safe ones
