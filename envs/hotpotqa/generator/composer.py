"""Chooses the questions of the twin: drafts them form by form and keeps those that prove themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.generator.forms import Draft, bridge, compared, shared
from reflex_bench.envs.hotpotqa.generator.support import Gold, find_gold, leads_to, says
from reflex_bench.envs.hotpotqa.world.pages import Page
from reflex_bench.envs.hotpotqa.world.world import Fact, Value, World, table

# Shares of the official development set: 1,487 of 7,405 questions are comparisons, 458 of these answer yes or no.
COMPARISONS = 0.2
YES_OR_NO = 1 / 3
UNLIMITED = 10**9


@dataclass
class Composer:
    """Drafts questions form by form and keeps those that prove themselves."""

    world: World
    pages: dict[str, Page]
    redirects: dict[str, tuple[str, ...]]
    rng: SeededRandom
    count: int
    posed: set[frozenset[Fact]] = field(default_factory=set)
    answers: Counter[Value] = field(default_factory=Counter)
    by_form: Counter[tuple[str, Value]] = field(default_factory=Counter)

    def bridges(self) -> list[tuple[Draft, Gold]]:
        """Bridge questions, one of every form in turn, until there are enough."""
        wanted = self.count - self._comparison_count()
        forms: list[tuple[str, Callable[[str], Draft | None]]] = []
        for kind, paths in table("questions")["bridges"].items():
            forms += [(kind, partial(bridge, self.world, self.rng, path)) for path in paths]
        for *row, wordings in table("questions")["shared"]:
            forms.append((row[0], partial(shared, self.world, self.rng, row, wordings)))
        kept: list[tuple[Draft, Gold]] = []
        # Later rounds only matter where a world is small for its questions: they allow an answer to come more often.
        for allowance in range(1, 50):
            streams = [
                self._stream(form, self.rng.shuffled(self.world.kind(kind)), allowance)
                for kind, form in self.rng.shuffled(forms)
            ]
            kept += _in_turn(streams, wanted - len(kept))
            if len(kept) == wanted:
                return kept
        raise AssertionError(f"only {len(kept)} of {wanted} bridge questions found")

    def comparisons(self) -> list[tuple[Draft, Gold]]:
        """Return comparisons; the first named is right as often as the second, and yes as often as no."""
        wanted = self._comparison_count()
        same = round(wanted * YES_OR_NO)
        choices = self.rng.shuffled(table("questions")["choices"])
        sames = self.rng.shuffled(table("questions")["sames"])
        return self._compare(self._choice, choices, wanted - same) + self._compare(self._same, sames, same)

    def _compare(
        self, draw: Callable[[Sequence[Any], int], Draft | None], rows: Sequence[Sequence[Any]], wanted: int
    ) -> list[tuple[Draft, Gold]]:
        kept: list[tuple[Draft, Gold]] = []
        for turn in range(100 * wanted + 1000):
            if len(kept) == wanted:
                return kept
            # A question that offers its two answers gives nothing more away if one of them comes often.
            found = self._keep(draw(rows[turn % len(rows)], len(kept)), UNLIMITED)
            kept += [found] if found else []
        raise AssertionError(f"only {len(kept)} of {wanted} comparisons found")

    def _comparison_count(self) -> int:
        return round(self.count * COMPARISONS)

    def _stream(
        self, form: Callable[[str], Draft | None], starts: Iterable[str], allowance: int
    ) -> Iterator[tuple[Draft, Gold]]:
        for start in starts:
            kept = self._keep(form(start), allowance)
            if kept:
                yield kept

    def _choice(self, row: Sequence[Any], number: int) -> Draft | None:
        """Return which of two; the right one stands first for even numbers, and of two kinds each is right in turn."""
        kinds, relation, least, greatest = row
        smaller = self.rng.chance(0.5)
        winner_kind, loser_kind = (kinds[0], kinds[-1]) if number // 2 % 2 else (kinds[-1], kinds[0])
        winner = self.rng.pick_where(
            self.world.kind(winner_kind), lambda one: bool(self.world.about(one, relation))
        )
        if not winner:
            return None
        country = self.world.entities[winner].country
        mine: Any = self.world.about(winner, relation)[0].value

        def beaten(other: str) -> bool:
            theirs: list[Any] = [fact.value for fact in self.world.about(other, relation)]
            return bool(theirs) and (mine < theirs[0] if smaller else mine > theirs[0])

        rivals = self.rng.sample(self.world.kind(loser_kind), 60)
        loser = self.rng.pick_where(
            rivals, lambda other: beaten(other) and self.world.entities[other].country == country
        ) or self.rng.pick_where(rivals, beaten)
        if not loser:
            return None
        pair = (winner, loser) if number % 2 == 0 else (loser, winner)
        if smaller:
            return compared(self.world, self.rng, relation, pair, "least", least)
        return compared(self.world, self.rng, relation, pair, "greatest", greatest)

    def _same(self, row: Sequence[Any], number: int) -> Draft | None:
        """Return a question whether two things share a value; the answer is yes for even numbers.

        A pair that differs is of one country, so that names tell nothing.
        """
        kind, relation, wordings = row
        one = self.rng.pick(self.world.kind(kind))
        if not self.world.about(one, relation):
            return None
        value = self.world.about(one, relation)[0].value
        if number % 2 == 0:
            others = [fact.subject for fact in self.world.saying(relation, value)]
        else:
            others = [
                other
                for other in self.rng.sample(self.world.kind(kind), 60)
                if all(fact.value != value for fact in self.world.about(other, relation))
            ]
        others = [other for other in others if other != one and self.world.entities[other].kind == kind]
        country = self.world.entities[one].country
        two = self.rng.pick_where(others, lambda other: self.world.entities[other].country == country)
        return compared(self.world, self.rng, relation, (one, two), "same", wordings) if two else None

    def _keep(self, draft: Draft | None, allowance: int) -> tuple[Draft, Gold] | None:
        """Return the draft with its support, if it is fit to be asked and its answer has not come too often."""
        if not draft or frozenset(draft.facts) in self.posed:
            return None
        most = allowance * max(3, self.count // 160)
        in_form = allowance * max(1, self.count // 3000)
        if self.answers[draft.value] >= most or self.by_form[draft.form, draft.value] >= in_form:
            return None
        gold = find_gold(self.pages, draft.first, draft.seconds, draft.facts)
        if not gold or not self._fit(draft, gold):
            return None
        self.posed.add(frozenset(draft.facts))
        self.answers[draft.value] += 1
        self.by_form[draft.form, draft.value] += 1
        return draft, gold

    def _fit(self, draft: Draft, gold: Gold) -> bool:
        """Return whether the pages lead to the answer and nothing gives it away before."""
        if draft.type == "comparison":
            return True
        read = {
            page: "".join(self.pages[page].texts[at] for at in _numbers(gold, page)) for page in gold.pages
        }
        first, second = gold.pages
        if not leads_to(read[first] + draft.question, self.world.entities[second], self.redirects[second]):
            return False
        asked = set(_words(draft.question))
        given = draft.answer.casefold() in draft.question.casefold()
        if given or any(word in asked for word in _words(draft.answer)):
            return False
        if "&" in draft.form:
            return says(read[first], draft.answer)
        return says(read[second], draft.answer) and not says("".join(self.pages[first].texts), draft.answer)


def _in_turn(streams: list[Iterator[tuple[Draft, Gold]]], wanted: int) -> list[tuple[Draft, Gold]]:
    """Return one from each stream in turn, until there are enough or none is left."""
    kept: list[tuple[Draft, Gold]] = []
    while streams and len(kept) < wanted:
        for stream in list(streams):
            found = next(stream, None)
            if found is None:
                streams.remove(stream)
            else:
                kept.append(found)
            if len(kept) == wanted:
                break
    return kept


def _numbers(gold: Gold, page: str) -> list[int]:
    return [at for identity, at in gold.sentences if identity == page]


def _words(text: str) -> list[str]:
    """Return names and numbers: the words that could give an answer away."""
    words = (
        "".join(letter for letter in word if letter.isalnum() or letter in ",-'") for word in text.split()
    )
    return [word.strip(",'") for word in words if word[:1].isupper() or word[:1].isdigit()]
