"""Forms of questions, each with its own way to an answer, for the simulated reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reflex_bench.models.simulated.questions_asked import Asked
from reflex_bench.models.simulated.questions_relations import Relation, values
from reflex_bench.models.simulated.questions_trail import (
    Habits,
    Hints,
    Move,
    Trail,
    common,
    follow,
    listed,
    page_of,
    seek,
)
from reflex_bench.models.simulated.questions_view import Page, View
from reflex_bench.models.simulated.questions_words import (
    SMALL,
    Mention,
    content,
    fold,
    found,
    moment,
    without_parenthesis,
)

_HEAD = re.compile(r"\b(?:[Ww]hat|[Ww]hich|same|this)(?: \w+)? ([a-z]+)\b")
"""The noun that a question asks about, or the last word before it."""
_ALIKE = re.compile(r"\bin common\b|\b(?:profession|occupation|nationality)\b")
_NOUN = re.compile(r"\b[a-z]{4,}\b")
_LIST = Relation("list", (), (), words=("include",))
_CAREFUL, _NOTHING = Habits(), Hints()
_MAX_CANDIDATES = 4
_ENOUGH = 6
"""Turns after which a hunch has to do where no form of question shows the way; the instruction says they are few."""
UNKNOWN = "unknown"
"""What is handed in where nothing is known."""


@dataclass(frozen=True)
class Finding:
    """What the pages say so far.

    Attributes:
        answers: best first; empty while there is none.
        move: what to do to learn more, None where nothing is left to try.
        trails: the chains that were followed; two for a comparison.
        why: in words, what the answer rests on.
    """

    answers: Sequence[str] = ()
    move: Move | None = None
    trails: tuple[Trail, ...] = ()
    why: str = ""


def work_out(asked: Asked, view: View, hints: Hints = _NOTHING, habits: Habits = _CAREFUL) -> Finding:
    """Return the answer, or the next thing to do for it."""
    if asked.form == "chain":
        trail = follow(view, asked.subjects[0], asked.path, hints, habits)
        if trail.ends or trail.move:
            return Finding(trail.ends, trail.move, (trail,), _told(trail))
        return replace(_open(asked, view, hints, habits), trails=(trail,))
    if asked.form in ("choice", "same") and asked.path:
        return _compare(asked, view, hints, habits)
    if len(view.turns) >= _ENOUGH and (hunches := _ranked(asked, view, hints)):
        return Finding(hunches, why="nothing else that I read comes nearer")
    if len(asked.subjects) > 1:
        return _both(asked, view, hints, habits)
    return _open(asked, view, hints, habits)


def _told(trail: Trail) -> str:
    return "; ".join(f'the {relation.name} is "{thing.name}"' for relation, thing in trail.known)


def _compare(asked: Asked, view: View, hints: Hints, habits: Habits) -> Finding:
    apart = Hints(titles=hints.titles, words=hints.words)
    one, two = (follow(view, thing, asked.path[:1], apart, habits) for thing in asked.subjects)
    move = (None if one.ends else one.move) or (None if two.ends else two.move)
    if not (one.ends and two.ends):
        return Finding((), move, (one, two))
    why = f"{one.known[0][1].name} for {asked.subjects[0].name} and {two.known[0][1].name} for {asked.subjects[1].name}"
    if asked.form == "same":
        alike = fold(one.ends[0]) == fold(two.ends[0])
        return Finding(("yes", "no") if alike else ("no", "yes"), None, (one, two), why)
    left, right = moment(one.ends[0]), moment(two.ends[0])
    if left is None or right is None:
        return Finding((), None, (one, two))
    names = [thing.name for thing in asked.subjects]
    ahead = (left < right) == asked.least
    return Finding(names if ahead else names[::-1], None, (one, two), why)


def _both(asked: Asked, view: View, hints: Hints, habits: Habits) -> Finding:
    """Return two names and what they have to do with each other.

    What both pages list, or whose own page names the other.
    """
    pages: list[Page] = []
    for thing in asked.subjects[:2]:
        page = page_of(view, thing, habits)
        move = None if page else seek(view, thing, None, hints, habits)
        if page:
            move = move or _look_for_list(thing, page, view, habits)
            pages.append(page)
        if move:
            return Finding(move=move)
    if asked.form == "same" and pages:
        return _shared_property(asked, pages)
    if asked.form == "choice" and len(pages) > 1:
        return _likelier(asked, pages)
    if len(pages) < 2:
        return _open(asked, view, hints, habits)
    shared = _calling(*pages) if _ALIKE.search(asked.text) else common(*pages)
    shared = [name for name in shared if fold(name) not in hints.wrong]
    if shared:
        return Finding(shared, None, why=f"both pages name {shared[0]}")
    return _try_each(asked, view, pages, hints, habits)


def _calling(one: Page, two: Page) -> list[str]:
    """Return what two pages both call what they are about, e.g. `novelist`."""
    first, second = (_NOUN.findall(" ".join(page.text[:2]).partition(" a")[2]) for page in (one, two))
    return [word for word in dict.fromkeys(first) if word in second and word not in SMALL]


def _likelier(asked: Asked, pages: Sequence[Page]) -> Finding:
    """Of two, the one whose page has more of the question's words."""
    wanted = content(asked.text)
    shared = [len(content(" ".join(page.text)) & wanted) for page in pages]
    names = [thing.name for thing in asked.subjects[:2]]
    return Finding(names if shared[0] >= shared[1] else names[::-1], why="what the two pages say")


def _look_for_list(thing: Mention, page: Page, view: View, habits: Habits) -> Move | None:
    """Look for the members, graduates, mayors … of something below what a search shows."""
    kind = thing.sort.rpartition(" ")[2]
    told = " ".join(page.text).lower()
    if not habits.looks_up or not kind or kind[:5] in told or page.lookups or view.open is not page:
        return None
    return Move("Lookup", kind, thing.name, None, kind)


def _shared_property(asked: Asked, pages: Sequence[Page]) -> Finding:
    """Return whether what is said of two things at the end of a yes-or-no question stands on both pages."""
    end = max(thing.end for thing in asked.subjects)
    wanted = content(asked.text[end:])
    both = all(wanted <= content(" ".join(page.text)) for page in pages) and len(pages) > 1
    return Finding(("yes", "no") if both else ("no", "yes"), None, why="what the two pages say")


def _try_each(asked: Asked, view: View, pages: Sequence[Page], hints: Hints, habits: Habits) -> Finding:
    """Return the page of one name after another, until one names the second subject."""
    names = [fold(thing.name) for thing in asked.subjects]
    candidates = [thing for thing in listed(pages[0]) if fold(thing.name) not in (*names, *hints.wrong)]
    titles = {fold(thing.name): thing for thing in candidates}
    for page in view.pages.values():
        title = without_parenthesis(page.title)
        if page not in pages and fold(title) in titles and names[1] in fold(" ".join(page.text)):
            return Finding((title,), None, why=f"the page {page.title} names both")
    move = seek(view, asked.subjects[1], _LIST, hints, habits) if view.open is pages[1] else None
    for thing in candidates[:_MAX_CANDIDATES]:
        move = move or seek(view, thing, None, hints, habits)
        # Where one of the names has no page the others are hardly worth a turn each.
        if move or not view.named(thing.name):
            break
    return Finding((), move) if move else _open(asked, view, hints, habits)


def _open(asked: Asked, view: View, hints: Hints, habits: Habits) -> Finding:
    """Answer any other question.

    Open what it names and the new names that its words lead to; then take what fits best.
    """
    starts = sorted(asked.subjects, key=lambda thing: -len(thing.name))[:2]
    for thing in starts or [Mention(asked.text.rstrip("?"))]:
        move = seek(view, thing, None, hints, habits)
        if move:
            return Finding(move=move)
    ranked = _ranked(asked, view, hints)
    if len(view.pages) <= len(starts):
        for name in [name for name in ranked if fold(name) not in view.pages][:2]:
            move = seek(view, Mention(name), None, hints, habits)
            if move:
                return Finding(move=move)
    return Finding(ranked, None, why="nothing else that I read comes nearer")


def _ranked(asked: Asked, view: View, hints: Hints) -> list[str]:
    """Return what the pages hold of the kind that is asked for.

    First what stands among most of the question's words.
    """
    wanted, known = content(asked.text), {fold(thing.name) for thing in asked.subjects} | hints.wrong
    scores: dict[str, float] = {}
    for number, page in enumerate(view.pages.values()):
        if asked.kind == "name":
            scores[without_parenthesis(page.title)] = _described(asked, page)
        for sentence in page.text:
            for thing in found(asked.kind, sentence):
                score = len((content(sentence) - content(thing.name)) & wanted) + 1.5 * number
                scores[thing.name] = max(score, scores.get(thing.name, 0))
        for relation in asked.path[-1:]:
            for thing in values(relation, page.text, page.title)[:1]:
                scores[thing.name] = scores.get(thing.name, 0) + 2 + number
    fits = {name: score + _fitness(asked, name) for name, score in scores.items() if fold(name) not in known}
    return sorted(fits, key=lambda name: -fits[name])


def _described(asked: Asked, page: Page) -> float:
    """Return how well a page's own subject answers the question.

    By its words, and by being called what is asked for.
    """
    head = _HEAD.search(asked.text)
    called = bool(head and page.text and head[1][:5] in page.text[0].lower())
    return 0.8 * len(content(" ".join(page.text)) & content(asked.text)) + 2.0 * called


def _fitness(asked: Asked, name: str) -> float:
    """Return how well a name fits the noun that a question asks about; one of its own words is hardly the answer."""
    head, words = _HEAD.search(asked.text), content(name)
    fits = 3.0 if head and head[1].lower()[:5] in name.lower() else 0.0
    if re.match(r"who\b", asked.text, re.IGNORECASE):
        fits += 1.0 if 2 <= len(name.split()) <= 3 else -1.0
    return fits - 3.0 * bool(words and words <= content(asked.text))


def guess(asked: Asked, view: View, hints: Hints = _NOTHING) -> str:
    """Return what to hand in without knowing: something of the right kind from the last page, else `UNKNOWN`."""
    if asked.form in ("choice", "same"):
        two = ["yes", "no"] if asked.form == "same" else [thing.name for thing in asked.subjects[:2]]
        return next((answer for answer in two if fold(answer) not in hints.wrong), two[0])
    known = {fold(thing.name) for thing in asked.subjects} | set(hints.wrong)
    kinds = {"date or year": ("date", "year"), "date": ("date", "year")}.get(asked.kind, (asked.kind,))
    for page in reversed(view.pages.values()):
        for kind in kinds:
            for sentence in page.text:
                for thing in found(kind, sentence):
                    if fold(thing.name) not in known | {fold(page.title).partition(" (")[0]}:
                        return thing.name
    return UNKNOWN
