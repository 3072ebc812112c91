"""Distractors: eight paragraphs on namesakes, relations and things of the same kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.world.world import World

# Words that make two names alike without making them easy to confuse.
COMMON = frozenset(
    ["the", "and", "near", "from", "lake", "river", "letters", "elegy", "club", "festival", "expedition"]
)
COMMON |= {
    "university",
    "academy",
    "polytechnic",
    "museum",
    "battle",
    "philharmonic",
    "orchestra",
    "symphony",
    "chamber",
}


class Misleading:
    """Finds pages that look as if they might answer a question.

    Args:
        world: whose pages they are.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_word: dict[str, list[str]] = defaultdict(list)
        self._by_place: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._linked: dict[str, list[str]] = defaultdict(list)
        for identity, entity in world.entities.items():
            for word in _words(entity.name):
                self._by_word[word].append(identity)
            self._by_place[entity.kind, entity.country].append(identity)
        for fact in world.facts:
            if fact.value in world.entities and fact.relation != "country":
                self._linked[fact.subject].append(str(fact.value))
                self._linked[str(fact.value)].append(fact.subject)

    def pages(self, gold: Sequence[str], rng: SeededRandom, count: int = 8) -> list[str]:
        """Return the ids of `count` pages other than `gold`.

        About a third are namesakes, a third deal with the same things, and the rest are of the same kind and country.
        """
        chosen: list[str] = []
        sources = [
            self._namesakes(gold),
            self._siblings(gold),
            self._neighbours(gold),
            self._compatriots(gold),
        ]
        for source, most in zip(sources, (3, 3, 1, count), strict=True):
            fresh = [page for page in dict.fromkeys(source) if page not in chosen and page not in gold]
            chosen += rng.sample(fresh, min(most, count - len(chosen)))
        while len(chosen) < count:
            page = rng.pick(list(self._world.entities))
            if page not in chosen and page not in gold:
                chosen.append(page)
        return chosen

    def _namesakes(self, gold: Sequence[str]) -> list[str]:
        words = [word for page in gold for word in _words(self._world.entities[page].name)]
        return [page for word in words for page in self._by_word[word][:40]]

    def _siblings(self, gold: Sequence[str]) -> list[str]:
        """Things of a gold page's kind that share a neighbour with it."""
        return [
            other
            for page in gold
            for neighbour in self._linked[page][:12]
            for other in self._linked[neighbour][:40]
            if self._world.entities[other].kind == self._world.entities[page].kind
        ]

    def _neighbours(self, gold: Sequence[str]) -> list[str]:
        return [other for page in gold for other in self._linked[page][:40]]

    def _compatriots(self, gold: Sequence[str]) -> list[str]:
        entities = self._world.entities
        return [
            other
            for page in gold
            for other in self._by_place[entities[page].kind, entities[page].country][:60]
        ]


def _words(name: str) -> list[str]:
    return [word for word in name.lower().replace("'s", "").split() if word not in COMMON and len(word) > 2]
