"""Reflection of the simulated reader on a failed question: plain sentences, from the transcript alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from reflex_bench.models.simulated import questions_notes as notes
from reflex_bench.models.simulated.questions_asked import Asked, read_question
from reflex_bench.models.simulated.questions_forms import UNKNOWN, Finding, work_out
from reflex_bench.models.simulated.questions_trail import Hints, Trail
from reflex_bench.models.simulated.questions_view import View
from reflex_bench.models.simulated.questions_words import fold

_LONG_QUERY = 7
"""A search of more words than this is for no title."""
_SENTENCE = re.compile(r"(?:The|Of|It|He|She|They|Because) .* (?:is|was|are|were) .+|(?:Yes|No),? .+")
_GAVE_UP = frozenset((UNKNOWN, "i do not know", "i don't know", "not found", ""))
_MAX_OFFERED = 3


@dataclass(frozen=True)
class _Case:
    """A failed attempt, and what a careful reader would have made of the same pages."""

    asked: Asked
    view: View
    status: str
    finding: Finding

    @property
    def steps(self) -> int:
        return len(self.view.turns)

    @property
    def given(self) -> str:
        return self.view.answer or ""

    @property
    def verdict(self) -> str:
        """What became of the answer, as far as anybody said."""
        if self.view.told_wrong:
            return f'the answer "{self.given}" was wrong'
        return f'I handed in "{self.given}" and was not told whether it is right'


def write(view: View, status: str, earlier: Sequence[str], rng: Random) -> str:
    """Return a reflection of two to four sentences on a failed attempt.

    Args:
        view: the attempt.
        status: how it ended, as the prompt says it.
        earlier: the reflections on still earlier attempts.
        rng: decides the wording.
    """
    asked = read_question(view.question)
    known = notes.read_notes(" ".join([*earlier, *(thought for thought, _, _ in view.turns)])).hints
    case = _Case(asked, view, status, work_out(asked, view, Hints(known.facts, known.titles)))
    what, then = next(said for diagnose in _DIAGNOSES if (said := diagnose(case)))
    again = rng.choice(("Next time I should", "In the next attempt I should"))
    text = " ".join([f"{what[:1].upper()}{what[1:]}.", *_knowledge(case), f"{again} {then}."])
    if not any(what.lower() in old.lower() for old in earlier):
        return text
    return f"It went wrong in the same way once more: {what}. I had noted what to do and did not do it. {again} {then}."


def _no_answer(case: _Case) -> tuple[str, str] | None:
    if case.view.answer is not None:
        return None
    ended = (
        "I did the same thing over and over"
        if "same a" in case.status
        else f"all {case.steps} steps were used up"
    )
    deadline = f"hand in an answer by step {max(case.steps - 1, 2)}"
    long = next((query for query in case.view.misses if len(query.split()) > _LONG_QUERY), None)
    if long:
        return (
            f"{ended}, the first of them on searching for the whole question, which is no title{_offered(case, long)}",
            f"search for one name alone, beginning with Search[{_start(case)}], and {deadline}",
        )
    missed = case.view.misses[-1:]
    lost = (
        f", among them one on Search[{missed[0]}], which is no title{_offered(case, missed[0])}"
        if missed
        else ""
    )
    return f"{ended} before I had an answer{lost}", f"{_next_step(case)}, and {deadline}"


def _gave_up(case: _Case) -> tuple[str, str] | None:
    if fold(case.given) not in _GAVE_UP:
        return None
    return (
        f"I gave up after {case.steps} steps although there was more to read",
        f"keep searching: {_next_step(case)}",
    )


def _too_long(case: _Case) -> tuple[str, str] | None:
    if not _SENTENCE.fullmatch(case.given):
        return None
    kind = "yes or no" if case.asked.form == "same" else f"the {case.asked.kind}"
    told = ", and it was wrong" if case.view.told_wrong else ""
    return (
        f'my answer "{case.given}" was too long, a whole sentence{told}',
        f"put nothing but {kind} into Finish",
    )


def _wrong_way(case: _Case) -> tuple[str, str] | None:
    answers = case.finding.answers
    if case.asked.form not in ("choice", "same") or not answers or fold(answers[0]) == fold(case.given):
        return None
    wanted = "earlier or smaller" if case.asked.least else "later or greater"
    because = f", because the {wanted} one is asked for" if case.asked.form == "choice" else ""
    return (
        f"{case.verdict}, although I had read {case.finding.why}",
        f"compare them the other way round{because}, and use Finish with {answers[0]}",
    )


def _namesake(case: _Case) -> tuple[str, str] | None:
    move = case.finding.move
    pages = case.view.named(move.about) if move and not move.word else []
    if move is None or not pages or fold(move.argument) == fold(pages[0].title):
        return None
    return (
        f"{case.verdict}: the page {pages[0].title}, which I opened, is about a namesake",
        f'open "{move.argument}" instead',
    )


def _half_read(case: _Case) -> tuple[str, str] | None:
    move = case.finding.move
    if move is None or move.word:
        return None
    read_so_far = " and ".join(page.title for page in case.view.pages.values())
    source = f"from the page {read_so_far} alone" if read_so_far else "without having opened a page"
    return (
        f"{case.verdict}; I answered {source}, and the page {move.argument} was never opened",
        f"{_next_step(case)} before I answer",
    )


def _not_looked_up(case: _Case) -> tuple[str, str] | None:
    move = case.finding.move
    if move is None or not move.word:
        return None
    return (
        f"{case.verdict}; the beginning of the page {move.about} does not tell the "
        f"{move.relation.name if move.relation else 'rest'}, and I did not look further down",
        f'open "{move.about}" and use Lookup[{move.word}] there',
    )


def _overlooked(case: _Case) -> tuple[str, str] | None:
    answers = case.finding.answers
    if case.asked.form != "chain" or not answers or fold(answers[0]) == fold(case.given):
        return None
    return (
        f"{case.verdict}; I did not read far enough, for {case.finding.why}",
        f"read further down and use Lookup before Finish, because the page does tell the {case.asked.path[-1].name}",
    )


def _wrong_date(case: _Case) -> tuple[str, str] | None:
    answers = case.finding.answers
    if case.asked.form != "chain" or case.asked.kind == "name" or not answers or answers[0] == case.given:
        return None
    return (
        f"{case.verdict}, and it is only the first date or number that I met",
        f"look closely at what a number says: the {case.asked.path[-1].name} is asked for, not the first number",
    )


def _refuted(case: _Case) -> tuple[str, str] | None:
    others = [answer for answer in case.finding.answers if fold(answer) != fold(case.given)][:_MAX_OFFERED]
    rest = f"; the pages also name {_list(others)}" if others else ""
    if not case.view.told_wrong:
        return f"{case.verdict}{rest}", f"open {_quoted(_titles(case))} once more before I answer"
    if case.asked.form in ("choice", "same"):
        return case.verdict, "use Finish with the other answer"
    return f"{case.verdict}{rest}", f"not give {case.given} again, and Search for the page of what is asked"


_DIAGNOSES: tuple[Callable[[_Case], tuple[str, str] | None], ...] = (
    _no_answer,
    _gave_up,
    _too_long,
    _wrong_way,
    _namesake,
    _half_read,
    _not_looked_up,
    _wrong_date,
    _overlooked,
    _refuted,
)


def _start(case: _Case) -> str:
    return case.asked.subjects[0].name if case.asked.subjects else case.view.question.rstrip("?")


def _titles(case: _Case) -> list[str]:
    return [page.title for page in case.view.pages.values()][-2:] or [_start(case)]


def _next_step(case: _Case) -> str:
    """Return what a careful reader would do next, to be done first in the next attempt."""
    move = case.finding.move
    if move is None:
        return f"open {_quoted(_titles(case))} at once"
    wanted = f" and read the {move.relation.name} there" if move.relation and move.relation.cues else ""
    if move.word:
        return f'open "{move.about}" and use Lookup[{move.word}] there'
    return f"begin with Search[{move.argument}]{wanted}"


def _knowledge(case: _Case) -> list[str]:
    """Return what is worth keeping.

    The relations that are known, and under which titles pages were found in the end.
    """
    sentences = []
    trails: Sequence[Trail] = case.finding.trails if case.asked.form == "chain" else ()
    known = [pair for trail in trails for pair in trail.known if pair[0] is not case.asked.path[-1]]
    if known:
        told = " and ".join(f'the {relation.name} is "{thing.name}"' for relation, thing in known)
        sentences.append(f"I know that {told}.")
    titles = [page.title for page in case.view.pages.values() if page.title.endswith(")")]
    if titles:
        sentences.append(f"I can open {_quoted(titles)} at once, without asking for the bare name.")
    return sentences


def _offered(case: _Case, query: str) -> str:
    titles = case.view.missed.get(fold(query), ())[:_MAX_OFFERED]
    return f" (offered were {_list(titles)})" if titles else ""


def _quoted(titles: Sequence[str]) -> str:
    return _list([f'"{title}"' for title in titles])


def _list(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
