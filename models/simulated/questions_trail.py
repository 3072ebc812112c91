"""Follows a question from page to page: what the simulated reader knows, and what it has to open next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reflex_bench.models.simulated.questions_relations import Relation, values
from reflex_bench.models.simulated.questions_view import Page, View, unread
from reflex_bench.models.simulated.questions_words import Mention, content, fold, found, without_parenthesis

_MAX_LOOKUPS = 3
_BEGINNING = 2
"""Sentences that somebody reads who goes by how a page begins."""


@dataclass(frozen=True)
class Habits:
    """How carefully somebody reads; the defaults are those of a careful reader.

    Attributes:
        looks_up: reads all that a search shows, and looks for words below it.
        first_date: takes the first date or number on a page for the one that is wanted.
        any_namesake: takes the first page of a name for the right one.
    """

    looks_up: bool = True
    first_date: bool = False
    any_namesake: bool = False


@dataclass(frozen=True)
class Hints:
    """What is known from elsewhere.

    Attributes:
        facts: relation -> its value for this question.
        titles: pages that are worth opening.
        words: worth looking up.
        wrong: answers that were wrong, folded.
    """

    facts: Mapping[str, str] = field(default_factory=dict)
    titles: Sequence[str] = ()
    words: Sequence[str] = ()
    wrong: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Move:
    """What to do next to learn more.

    Attributes:
        verb: `Search` or `Lookup`.
        argument: of the verb.
        about: whose page it is about.
        relation: what is wanted from it.
        word: what is to be looked up there, "" where the page has not been opened.
    """

    verb: str
    argument: str
    about: str
    relation: Relation | None = None
    word: str = ""


@dataclass
class Trail:
    """How far a chain of relations has been followed.

    Attributes:
        known: (relation, value) from the subject onwards.
        at: what the next relation is wanted of.
        move: what to do next; None at the end and where nothing is left to try.
        ends: the values of the last relation, once it is reached.
        refuted: those of them that are known to be wrong.
    """

    known: list[tuple[Relation, Mention]] = field(default_factory=list)
    at: Mention = field(default_factory=lambda: Mention(""))
    move: Move | None = None
    ends: list[str] = field(default_factory=list)
    refuted: list[str] = field(default_factory=list)


def follow(
    view: View, start: Mention, path: Sequence[Relation], hints: Hints, habits: Habits = Habits()
) -> Trail:
    """Follows a chain of relations as far as the pages that were read allow."""
    trail = Trail(at=start)
    for number, relation in enumerate(path):
        last = number == len(path) - 1
        told = hints.facts.get(relation.name)
        if told and not last:
            trail.at = Mention(told, relation.sorts)
            trail.known.append((relation, trail.at))
            continue
        said = told_by(view, trail.at, relation, hints, habits)
        if last:
            trail.refuted = [thing.name for thing in said if fold(thing.name) in hints.wrong]
            said = [thing for thing in said if fold(thing.name) not in hints.wrong]
        if not said:
            trail.move = seek(view, trail.at, relation, hints, habits)
            return trail
        if last:
            trail.ends = [thing.name for thing in said]
        trail.at = Mention(said[0].name, f"{said[0].sort} {relation.sorts}")
        trail.known.append((relation, trail.at))
    return trail


def told_by(view: View, thing: Mention, relation: Relation, hints: Hints, habits: Habits) -> list[Mention]:
    """Return what the page of a thing, as far as it was read, says of a relation."""
    page = page_of(view, thing, habits)
    if page is None:
        return []
    if habits.first_date and relation.kind != "name":
        kinds = ("date", "year") if "date" in relation.kind else (relation.kind,)
        firsts = [match for sentence in page.text for kind in kinds for match in found(kind, sentence)[:1]]
        return firsts[:1]
    return values(relation, page.text if habits.looks_up else page.text[:_BEGINNING], page.title)


def page_of(view: View, thing: Mention, habits: Habits) -> Page | None:
    """Return the page of a thing among those that were opened. A page of another sort is that of a namesake."""
    pages = view.named(thing.name)
    if habits.any_namesake or not thing.sort.strip():
        return pages[0] if pages else None
    return next((page for page in pages if _fit(page.title, thing.sort) >= 0), None)


def _fit(title: str, sort: str) -> int:
    """Return 1 where the parenthesis of a title agrees with the sort, 0 where there is nothing to tell, else -1."""
    inside = set(fold(title.partition(" (")[2]).replace(")", "").split())
    return 0 if not inside or not sort.strip() else 1 if inside & set(sort.split()) else -1


def seek(view: View, thing: Mention, relation: Relation | None, hints: Hints, habits: Habits) -> Move | None:
    """Return what to do to learn a relation of a thing.

    Open its page or look further down on it; None if all was tried.
    """
    page = page_of(view, thing, habits)
    if page is None:
        title = title_of(view, thing, hints, habits)
        return Move("Search", title, thing.name, relation) if title else None
    if relation is None or not habits.looks_up:
        return None
    for word in [*hints.words, *relation.words][: _MAX_LOOKUPS + len(hints.words)]:
        number, total = page.lookups.get(word.lower(), (0, 1))
        if number < total:
            if view.open is not page:
                return Move("Search", page.title, thing.name, relation, word)
            return Move("Lookup", word, thing.name, relation, word)
    return None


def title_of(view: View, thing: Mention, hints: Hints, habits: Habits) -> str:
    """Under which title to search for a thing next; "" where nothing promising is left."""
    name = fold(thing.name)
    for title in unread(view, hints.titles):
        alike = without_parenthesis(fold(title)) == name and fold(title) not in view.missed
        if alike and _fit(title, thing.sort) >= 0:
            return title
    if name not in view.missed and name not in view.queries:
        return thing.name
    offered = [title for title in unread(view, view.missed.get(name, ())) if fold(title) not in view.missed]
    namesakes = [title for title in offered if without_parenthesis(fold(title)) == name]
    if namesakes:
        best = max(namesakes, key=lambda title: _fit(title, thing.sort))
        return namesakes[0] if habits.any_namesake else best
    wanted = content(thing.name)
    shared = {title: 2 * len(content(title) & wanted) for title in offered}
    near = [title for title in offered if shared[title] >= max(len(wanted), len(content(title)), 1)]
    return max(near, key=lambda title: shared[title] / len(content(title) | wanted), default="")


def listed(page: Page) -> list[Mention]:
    """Return the names that a page lists beside one another, then all others below its first sentence."""
    inside = [found("name", sentence) for sentence in page.text[1:]]
    return [thing for things in sorted(inside, key=lambda things: len(things) < 2) for thing in things]


def common(one: Page, two: Page) -> list[str]:
    """Return the names that two pages list both."""
    theirs = {fold(thing.name) for thing in listed(two)}
    own = {fold(one.title), fold(two.title)}
    return list(dict.fromkeys(t.name for t in listed(one) if fold(t.name) in theirs - own))
