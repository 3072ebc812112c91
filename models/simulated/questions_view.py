"""View of an attempt at a question from its text alone, for the simulated reader.

Everything is rebuilt from the conversation at every call, in one pass over its turns. The wording of the three
observation profiles differs; what is recognised here is what they have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from reflex_bench.models.simulated.questions_words import fold, sentences, without_parenthesis

_QUESTION = re.compile(r"^Question: ", re.MULTILINE)
_ACTION = re.compile(r"\b(Search|Lookup|Finish)\[(.*)\]\s*$", re.MULTILINE)
_THOUGHT = re.compile(r"^(?:> )?Thought(?: \d+)?: (.*)", re.MULTILINE)
_MISSED = "Could not find "
_SIMILAR = re.compile(r"Similar: \[(.*)\]")
_OTHER_PAGE = re.compile(r"\(Page: ([^()]*(?:\([^()]*\))?)\) ")
WHOLE_PAGE = " (whole page shown)"
_RESULT = re.compile(r"\(Result (\d+) ?/ ?(\d+)\) ")
_REFUSED = re.compile(r"no action was found|not an action|invalid action", re.IGNORECASE)
_WRONG = re.compile(r"\b(?:wrong|incorrect|reward = 0)\b", re.IGNORECASE)


@dataclass
class Page:
    """A page as far as it has been read.

    Attributes:
        title: under which it was opened.
        text: its sentences, in the order in which they were seen.
        lookups: words that were looked up on it -> results seen and results there are.
    """

    title: str
    text: list[str] = field(default_factory=list)
    lookups: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass
class View:
    """What the transcript of one attempt says.

    Attributes:
        question: its text.
        turns: (thought, verb, argument), any of them possibly "".
        pages: every page that was opened, by its folded title, in order.
        queries: folded query -> the page that it led to.
        missed: folded query that led nowhere -> the titles that were offered.
        misses: those queries as they were written.
        stand_ins: folded query that led nowhere -> the page that was then opened from among the titles offered.
        open: the page that is open now.
        answer: what was handed in last; None while nothing was.
        told_wrong: whether the environment called it wrong.
    """

    question: str
    turns: list[tuple[str, str, str]] = field(default_factory=list)
    pages: dict[str, Page] = field(default_factory=dict)
    queries: dict[str, Page] = field(default_factory=dict)
    missed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    misses: list[str] = field(default_factory=list)
    stand_ins: dict[str, Page] = field(default_factory=dict)
    open: Page | None = None
    answer: str | None = None
    told_wrong: bool = False

    @property
    def first_thought(self) -> str:
        """What the reader set out to do, "" if it never said."""
        return next((thought for thought, _, _ in self.turns if thought), "")

    def named(self, name: str) -> list[Page]:
        """Return the pages opened so far that a name may stand for."""
        wanted = fold(name)
        exact = self.queries.get(wanted) or self.pages.get(wanted)
        if exact:
            return [exact]
        alike = [page for title, page in self.pages.items() if without_parenthesis(title) == wanted]
        return alike or [page for query, page in self.stand_ins.items() if query == wanted]

    def add(self, said: str, seen: str) -> None:
        """Takes in one turn and its answer."""
        thought, action = _THOUGHT.search(said), _ACTION.search(said)
        verb, argument = ("", "")
        if action and not _REFUSED.match(seen):
            verb, argument = action[1], action[2].strip()
        self.turns.append((thought[1] if thought else "", verb, argument))
        if verb == "Search":
            self._search(argument, seen)
        elif verb == "Lookup" and self.open is not None:
            self._lookup(self.open, argument, seen)
        elif verb == "Finish":
            self.answer, self.told_wrong = argument, _WRONG.search(seen) is not None

    def show(self, title: str, text: str) -> Page:
        """Takes in a page."""
        page = self.pages.setdefault(fold(title), Page(title))
        page.text.extend(sentence for sentence in sentences(text) if sentence not in page.text)
        return page

    def _search(self, query: str, seen: str) -> None:
        if seen.startswith(_MISSED):
            similar = _SIMILAR.search(seen)
            self.open = None
            self.misses.append(query)
            self.missed[fold(query)] = _titles(similar[1]) if similar else ()
            return
        other, seen = _OTHER_PAGE.match(seen), seen.removesuffix(WHOLE_PAGE)
        self.open = self.show(other[1] if other else query, seen[other.end() :] if other else seen)
        self.queries[fold(query)] = self.open
        for wanted in self.misses:
            if query in self.missed[fold(wanted)]:
                self.stand_ins.setdefault(fold(wanted), self.open)

    def _lookup(self, page: Page, words: str, seen: str) -> None:
        result = _RESULT.match(seen)
        number, total = (int(result[1]), int(result[2])) if result else (0, 0)
        page.lookups[words.lower()] = (number, total)
        if result:
            page.text.extend(
                sentence for sentence in sentences(seen[result.end() :]) if sentence not in page.text
            )


def is_question(text: str) -> bool:
    """Return whether an episode begins like one about a question."""
    return _QUESTION.search(text) is not None


def read_view(opening: str, turns: Iterable[tuple[str, str]]) -> View:
    """Return the view of an attempt.

    Args:
        opening: the first observation: the question, and above it perhaps paragraphs, each as `Title: text`.
        turns: what the reader said, and the answer.
    """
    begin = [match.span() for match in _QUESTION.finditer(opening)][-1]
    above, question = opening[: begin[0]], opening[begin[1] :]
    view = View(question.strip())
    for paragraph in above.split("\n\n"):
        title, colon, text = paragraph.strip().partition(": ")
        if colon:
            view.show(title, text)
    for said, seen in turns:
        view.add(said, seen)
    return view


def _titles(listed: str) -> tuple[str, ...]:
    """Return titles out of `a; b; c`, or out of a list as Python writes it."""
    if listed[:1] in ("'", '"'):
        return tuple(one or two for one, two in re.findall(r"'([^']*)'(?:, |$)|\"([^\"]*)\"(?:, |$)", listed))
    return tuple(title for title in listed.split("; ") if title)


def unread(view: View, titles: Sequence[str]) -> list[str]:
    """Return those of the titles whose page has not been opened."""
    return [title for title in titles if fold(title) not in view.pages and fold(title) not in view.queries]
