"""Supporting facts: which two pages and which of their sentences answer a question, and how a reader gets there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reflex_bench.envs.hotpotqa.world.pages import WORKS, Page
from reflex_bench.envs.hotpotqa.world.world import Entity, Fact, World


@dataclass(frozen=True, slots=True)
class Gold:
    """The support of a question.

    Attributes:
        pages: ids of the page that the question leads to and of the page that this one leads to.
        sentences: (id of the page, number of the sentence from 0), in the order of reading.
    """

    pages: tuple[str, str]
    sentences: tuple[tuple[str, int], ...]


def find_gold(
    pages: Mapping[str, Page], first: str, seconds: Sequence[str], facts: Sequence[Fact]
) -> Gold | None:
    """Return the two pages that state all of `facts` together, or None where one page is enough or two are not.

    Args:
        pages: by id.
        first: the page that has to be one of the two.
        seconds: pages that may be the other, best first.
        facts: everything that a reader has to find.
    """
    here = [(first, at) for fact in facts if (at := _stating(pages[first], fact)) is not None]
    missing = [fact for fact in facts if _stating(pages[first], fact) is None]
    if not here or not missing:
        return None
    for second in seconds:
        there = [(second, at) for fact in missing if (at := _stating(pages[second], fact)) is not None]
        if second != first and len(there) == len(missing):
            return Gold((first, second), tuple(dict.fromkeys([*here, *there])))
    return None


def says(text: str, phrase: str) -> bool:
    """Return whether the phrase stands in the text, not merely as a part of longer words."""
    return phrase in text and re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


def leads_to(text: str, entity: Entity, redirects: Sequence[str]) -> bool:
    """Whoever reads the text knows what to search for to open the entity's page.

    That is: the text has the title or a redirect; or, where the title has a parenthesis, the name and what the
    parenthesis says.
    """
    if any(says(text, name) for name in (entity.title, *redirects)):
        return True
    return says(text, entity.name) and entity.qualifier.split(" ")[-1] in text


def redirects(world: World) -> dict[str, tuple[str, ...]]:
    """By entity: its aliases, and for a work "The …" the title without its article, where that is free."""
    names = {entity.name for entity in world.entities.values()} | {
        alias for entity in world.entities.values() for alias in entity.aliases
    }
    result = {}
    for identity, entity in world.entities.items():
        short = entity.name.removeprefix("The ")
        extra = (
            [short] if entity.kind in WORKS and entity.title.startswith("The ") and short not in names else []
        )
        unshared = entity.title == entity.name
        result[identity] = (*entity.aliases, *(extra if unshared else []))
    return result


def _stating(page: Page, fact: Fact) -> int | None:
    return next((at for at, sentence in enumerate(page.sentences) if fact in sentence.facts), None)
