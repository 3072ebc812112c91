"""Encyclopedia of the invented world: one page an entity, each sentence with the facts that it states."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.world.names import an
from reflex_bench.envs.hotpotqa.world.world import YEAR_OF, Entity, Fact, Value, World, table

WORKS = ("novel", "film", "painting", "album", "opera")
YEARS = ("founded", "year", "term_start", "term_end", "married", "award_year", "chartered")
MAX_LIST_LENGTH = 4
# A page with fewer sentences gets a filler in any case.
SHORT = 3
PRONOUNS = {
    "female": {
        "he": "she",
        "his": "her",
        "him": "her",
        "man": "woman",
        "child": "daughter",
        "consort": "husband",
    },
    "male": {"he": "he", "his": "his", "him": "him", "man": "man", "child": "son", "consort": "wife"},
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence and the facts that it states."""

    text: str
    facts: frozenset[Fact]


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes:
        entity: what it is about.
        sentences: in order; every one after the first begins with a space, as in the official data.
    """

    entity: Entity
    sentences: tuple[Sentence, ...]

    @property
    def texts(self) -> list[str]:
        """The sentences as the official schema has them."""
        return [sentence.text for sentence in self.sentences]


def write_pages(world: World, rng: SeededRandom) -> dict[str, Page]:
    """Return the page of every entity, by the entity's id."""
    return {identity: _Writer(world, rng, identity).page() for identity in world.entities}


def date_text(date: datetime.date) -> str:
    """Return a date as the pages write it: 4 March 1871."""
    month = table("world")["months"][date.month - 1]
    return f"{date.day} {month} {date.year}"


def value_text(world: World, relation: str, value: Value) -> str:
    """Return a value as the pages write it.

    An entity's name, a date, a year, a number with commas, or the phrase itself.
    """
    if isinstance(value, datetime.date):
        return date_text(value)
    if isinstance(value, int):
        return str(value) if relation in YEARS or relation.endswith("_year") else f"{value:,}"
    return world.entities[value].name if value in world.entities else value


def mention(entity: Entity, *, explicit: bool = False, name: str = "") -> str:
    """Return an entity as running text names it.

    Whoever has namesakes is always named with occupation or kind, so that a reader can tell which page is meant.

    Args:
        entity: what to name.
        explicit: say the kind of a work or the occupation of a person even where there are no namesakes.
        name: an alias to use instead of the name.
    """
    explicit = explicit or entity.title != entity.name
    if entity.kind in WORKS:
        quoted = f'"{name or entity.name}"'
        return f"the {entity.kind} {quoted}" if explicit else quoted
    if entity.kind == "person":
        return f"the {entity.qualifier} {name or entity.name}" if explicit else name or entity.name
    # "the University of Myrsted", but "Myrsted University".
    article = entity.article and (not name or " of " in name)
    return f"the {name or entity.name}" if article else name or entity.name


def capital(text: str) -> str:
    """Return the text with its first letter large."""
    return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class _Slot:
    """What stands between a pair of braces."""

    path: tuple[str, ...]
    article: bool
    several: bool
    absent: bool
    bare: bool


@cache
def _slots(template: str) -> tuple[tuple[str, _Slot], ...]:
    result = []
    for inside in re.findall(r"\{([^}]*)\}", template):
        path = inside.removeprefix("a ").lstrip("!=").removesuffix("+").split(".")
        article, several = inside.startswith("a "), inside.endswith("+")
        slot = _Slot(tuple(path), article, several, absent=inside[0] == "!", bare=inside[0] == "=")
        result.append((inside, slot))
    return tuple(result)


@dataclass
class _Writer:
    """Writes one page, remembering what it has said."""

    world: World
    rng: SeededRandom
    identity: str
    said: set[Fact] = field(default_factory=set)
    since_surname: int = 0

    def page(self) -> Page:
        """Return the whole page."""
        entity = self.world.entities[self.identity]
        plan = table("pages")[entity.kind]
        fillers = plan.get("filler", [])
        chatty = self.rng.chance(0.6)
        loose = plan.get("loose", []) + (fillers if chatty else [])
        beats = [plan["lede"], *plan["fixed"], *self.rng.shuffled(loose), *plan.get("last", [])]
        sentences: list[Sentence] = []
        self._write(beats, sentences)
        if len(sentences) < SHORT and not chatty:
            self._write(fillers, sentences)
        return Page(entity, tuple(sentences))

    def _write(self, beats: Sequence[Sequence[str]], sentences: list[Sentence]) -> None:
        for beat in beats:
            sentence = self._sentence(beat, " " if sentences else "")
            if sentence:
                sentences.append(sentence)

    def _sentence(self, beat: Sequence[str], space: str) -> Sentence | None:
        for template in self.rng.shuffled(beat):
            filled = self._fill(template)
            if filled:
                text, facts = filled
                self.said |= facts
                return Sentence(space + capital(text), frozenset(facts))
        return None

    def _fill(self, template: str) -> tuple[str, set[Fact]] | None:
        told: set[Fact] = set()
        texts: dict[str, str] = {}
        for inside, slot in _slots(template):
            spoken = self._spoken(inside)
            if spoken is not None:
                texts[inside] = spoken
                continue
            values, facts = self._values(slot)
            if slot.absent:
                if values:
                    return None
                texts[inside] = ""
                continue
            if len(values) < 2 if slot.several else len(values) != 1:
                return None
            if facts & self.said:
                return None
            told |= facts
            listed = _enumerate(values)
            texts[inside] = an(listed) if slot.article else listed
        named = "surname" in texts or texts.get("Who") not in (None, "He", "She")
        self.since_surname = 0 if named else self.since_surname + 1
        return re.sub(r"\{([^}]*)\}", lambda match: texts[match.group(1)], template), told

    def _values(self, slot: _Slot) -> tuple[list[str], set[Fact]]:
        """Return the texts at the end of a path and the facts that lead there.

        A path may fork at its last step only.
        """
        at, facts = self.identity, set()
        for segment in slot.path[:-1]:
            steps = self.world.walk(at, segment)
            if len(steps) != 1:
                return [], set()
            facts.add(steps[0][0])
            at = str(steps[0][1])
        steps = self.world.walk(at, slot.path[-1])[:MAX_LIST_LENGTH]
        for fact, _ in steps:
            facts |= {fact} | self._years(fact)
        relation = slot.path[-1].lstrip("^").partition(":")[0]
        style = "bare" if slot.bare else "list" if slot.several else "single"
        return [self._text(relation, value, style) for _, value in steps], facts

    def _years(self, fact: Fact) -> set[Fact]:
        year = YEAR_OF.get(fact.relation)
        return (
            set(self.world.about(fact.subject, year))
            if year and isinstance(fact.value, datetime.date)
            else set()
        )

    def _text(self, relation: str, value: Value, style: str) -> str:
        entity = self.world.entities.get(value) if isinstance(value, str) else None
        if not entity:
            return value_text(self.world, relation, value)
        if style == "bare":
            return f'"{entity.name}"' if entity.kind in WORKS else entity.name
        name = (
            self.rng.pick(entity.aliases)
            if entity.kind != "river" and entity.aliases and self.rng.chance(0.25)
            else ""
        )
        # The page of a work has to say what kind of thing another work is; elsewhere it is a matter of taste.
        page = self.world.entities[self.identity].kind
        if entity.kind in WORKS:
            explicit = page in WORKS or (style == "single" and self.rng.chance(0.45))
        else:
            explicit = page in ("person", "town", "club") and style == "single" and self.rng.chance(0.15)
        return mention(entity, explicit=explicit, name=name)

    def _spoken(self, word: str) -> str | None:
        """Return names and pronouns of the page's own subject."""
        entity = self.world.entities[self.identity]
        if word == "name":
            return entity.name
        if word in ("Name", "the_name"):
            return f"the {entity.name}" if entity.article else entity.name
        if entity.kind != "person":
            return None
        words = PRONOUNS[self.world.text(self.identity, "sex")]
        if word == "surname":
            return entity.name.split(" ")[-1]
        if word == "Who":
            pronoun = self.since_surname < 2 or self.rng.chance(0.35)
            return capital(words["he"]) if pronoun else entity.name.split(" ")[-1]
        if word == "age":
            return self._age()
        spoken = words.get(word.lower())
        return capital(spoken) if spoken and word[0].isupper() else spoken

    def _age(self) -> str:
        dates: Any = [self.world.about(self.identity, relation)[0].value for relation in ("born", "died")]
        born, died = dates
        return str(died.year - born.year - ((died.month, died.day) < (born.month, born.day)))


def _enumerate(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}" if values else ""
