"""Every question has one answer, can be answered by search and lookup, and cannot be answered without."""

from __future__ import annotations

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Callable

import pytest

from reflex_bench.envs.hotpotqa.generator.query import Atom, Query
from reflex_bench.envs.hotpotqa.generator.twin import Asked, Twin, compose
from reflex_bench.envs.hotpotqa.world.world import Fact, Value

MONTHS = ["January", "February", "March", "April", "May", "June", "July"]
MONTHS += ["August", "September", "October", "November", "December"]


@pytest.fixture(params=[(7, 500), (8, 60)], ids=["seed7-500", "seed8-60"])
def twin(request: pytest.FixtureRequest) -> Twin:
    return compose(*request.param)


def unify(binding: dict[str, Value], term: Value, value: Value) -> dict[str, Value] | None:
    if not (isinstance(term, str) and term.startswith("?")):
        return binding if term == value else None
    if term in binding:
        return binding if binding[term] == value else None
    return {**binding, term: value}


def every_binding(facts: dict[str, list[Fact]], query: Query) -> list[dict[str, Value]]:
    """Brute force: for every atom every fact of its relation is tried, without the world's own indexes."""
    bindings: list[dict[str, Value]] = [{}]
    for atom in query.atoms:
        extended = []
        for binding in bindings:
            for fact in facts[atom.relation]:
                half = unify(binding, atom.subject, fact.subject)
                whole = None if half is None else unify(half, atom.value, fact.value)
                if whole is not None:
                    extended.append(whole)
        bindings = extended
    return bindings


def as_written(twin: Twin, value: Value) -> set[str]:
    """How an answer may be written."""
    if isinstance(value, datetime.date):
        return {f"{value.day} {MONTHS[value.month - 1]} {value.year}"}
    if isinstance(value, int):
        return {str(value), f"{value:,}"}
    return {twin.world.entities[value].name if value in twin.world.entities else value}


def test_every_question_has_exactly_one_answer_in_the_whole_world(twin: Twin) -> None:
    facts: dict[str, list[Fact]] = defaultdict(list)
    for fact in twin.world.facts:
        facts[fact.relation].append(fact)
    for asked in twin.asked:
        draft = asked.draft
        found = [every_binding(facts, query) for query in draft.queries]
        values = [
            {binding[query.answer] for binding in bindings}
            for query, bindings in zip(draft.queries, found, strict=True)
        ]
        assert [len(answers) for answers in values] == [1] * len(draft.queries), draft.question
        answers = [answers.pop() for answers in values]
        if draft.operation == "only":
            assert asked.record["answer"] in as_written(twin, answers[0]), draft.question
        elif draft.operation == "same":
            assert asked.record["answer"] == ("yes" if answers[0] == answers[1] else "no"), draft.question
        else:
            wanted = (min if draft.operation == "least" else max)(answers)
            winners = [
                bindings[0]["?x"] for bindings, answer in zip(found, answers, strict=True) if answer == wanted
            ]
            assert [twin.world.entities[str(winner)].name for winner in winners] == [asked.record["answer"]]


def test_brute_force_finds_all_answers_of_an_ambiguous_question() -> None:
    facts = {
        "name": [
            Fact("@a", "name", "Ilsa Varden"),
            Fact("@b", "name", "Ilsa Varden"),
            Fact("@c", "name", "Ilse Varden"),
        ],
        "birthplace": [
            Fact("@a", "birthplace", "@t"),
            Fact("@b", "birthplace", "@u"),
            Fact("@c", "birthplace", "@v"),
        ],
    }
    query = Query((Atom("?x", "name", "Ilsa Varden"), Atom("?x", "birthplace", "?1")), "?1")
    assert [binding["?1"] for binding in every_binding(facts, query)] == ["@t", "@u"]


class Library:
    """What a search opens: the exact title, a redirect, or the only title that has a parenthesis more."""

    def __init__(self, twin: Twin) -> None:
        self.by_name: dict[str, set[str]] = defaultdict(set)
        self.texts: dict[str, list[str]] = {}
        exact: dict[str, str] = {}
        for identity, page in twin.pages.items():
            title = page.entity.title
            self.texts[title] = page.texts
            self.by_name[bare(title)].add(title)
            for name in (title, *twin.redirects[identity]):
                assert exact.setdefault(name.casefold(), title) == title, f"{name} means two pages"
        self.exact = exact

    def open(self, name: str) -> set[str]:
        """One title; several where the name is ambiguous; none."""
        found = self.exact.get(name.casefold())
        return {found} if found else self.by_name.get(name, set())

    def named_in(self, text: str) -> set[str]:
        """Every page that can be opened by some words of the text; of namesakes those whose parenthesis is said."""
        words = re.findall(r"[\w'&]+|[-.,?]", text)
        found: set[str] = set()
        for start in range(len(words)):
            for end in range(start + 1, min(start + 9, len(words)) + 1):
                titles = self.open(" ".join(words[start:end]))
                found |= {title for title in titles if len(titles) == 1 or self.is_said(title, text)}
        return found

    @staticmethod
    def is_said(title: str, text: str) -> bool:
        return re.search(r"(\w+)\)$", title) is not None and title[:-1].split(" ")[-1].lstrip("(") in text


def test_titles_and_redirects_are_unique(twin: Twin) -> None:
    library = Library(twin)
    assert len(library.texts) == len(twin.pages)
    assert sum(len(redirects) for redirects in twin.redirects.values()) > 30


def gold_titles(asked: Asked) -> list[str]:
    return list(dict.fromkeys(title for title, _ in asked.record["supporting_facts"]))


def test_search_leads_from_the_question_to_both_gold_pages(twin: Twin) -> None:
    library = Library(twin)
    for asked in twin.asked:
        first, second = gold_titles(asked)
        question = asked.record["question"]
        assert first in library.named_in(question), question
        read = "".join(
            library.texts[title][at] for title, at in asked.record["supporting_facts"] if title == first
        )
        known = question if asked.draft.type == "comparison" else f"{read} {question}"
        assert second in library.named_in(known), question


def test_the_answer_stands_word_for_word_in_a_gold_sentence_or_is_a_gold_title(twin: Twin) -> None:
    library = Library(twin)
    for asked in twin.asked:
        answer = asked.record["answer"]
        if asked.draft.operation == "same":
            assert answer in ("yes", "no")
        elif asked.draft.type == "comparison":
            assert answer in {bare(title) for title in gold_titles(asked)}
        else:
            read = [library.texts[title][at] for title, at in asked.record["supporting_facts"]]
            assert any(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", sentence) for sentence in read)


def test_a_bridge_cannot_be_answered_from_its_first_page(twin: Twin) -> None:
    library = Library(twin)
    for asked in twin.asked:
        if asked.draft.type == "comparison":
            continue
        first, _ = gold_titles(asked)
        text = "".join(library.texts[first])
        if "&" in asked.draft.form:
            # Only one of several candidates on this page is right.
            start = next(identity for identity, page in twin.pages.items() if page.entity.title == first)
            segment = asked.draft.form.split("&")[0].split(".", 1)[1]
            candidates = [twin.world.entities[str(value)] for _, value in twin.world.walk(start, segment)]
            listed = [one for one in candidates if any(name in text for name in (one.name, *one.aliases))]
            assert len(listed) >= 2, asked.record["question"]
        else:
            assert not re.search(rf"(?<!\w){re.escape(asked.record['answer'])}(?!\w)", text)


def test_no_name_or_number_of_the_answer_of_a_bridge_is_in_its_question(twin: Twin) -> None:
    for asked in twin.asked:
        if asked.draft.type == "bridge":
            answer, question = asked.record["answer"], asked.record["question"]
            assert answer.casefold() not in question.casefold()
            telling = set(re.findall(r"\b[A-ZÄÖ0-9][\w']*", answer)) - {"The", "An", "A"}
            assert telling
            assert not telling & set(re.findall(r"[\w']+", question)), question


def shape(asked: Asked) -> str:
    """The wording without names and numbers: what a guesser can recognise a kind of question by."""
    return " ".join(re.findall(r"\b[a-z]+\b", re.sub(r'"[^"]*"', "", asked.record["question"])))


@pytest.mark.parametrize("seed", [7, 9])
@pytest.mark.parametrize(
    "seen_as",
    [lambda asked: asked.draft.form, shape, lambda asked: asked.draft.form.split(".")[-1], lambda asked: ""],
    ids=["form", "wording", "relation", "nothing"],
)
def test_guessing_the_usual_answer_to_such_a_question_is_right_in_less_than_five_percent(
    seen_as: Callable[[Asked], str], seed: int
) -> None:
    bridges = [asked for asked in compose(seed, 500).asked if asked.draft.type == "bridge"]
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for asked in bridges:
        answers[seen_as(asked)][asked.record["answer"]] += 1
    right = 0
    for asked in bridges:
        others = answers[seen_as(asked)].copy()
        others[asked.record["answer"]] -= 1
        guess, seen = others.most_common(1)[0]
        right += seen > 0 and guess == asked.record["answer"]
    assert right / len(bridges) < 0.05


def test_no_answer_of_a_bridge_comes_often() -> None:
    answers = Counter(asked.draft.value for asked in compose(7, 500).asked if asked.draft.type == "bridge")
    assert max(answers.values()) <= 3


@pytest.mark.parametrize(("seed", "count"), [(7, 500), (9, 500), (8, 60)])
def test_yes_and_no_and_first_and_second_are_right_equally_often(seed: int, count: int) -> None:
    asked = compose(seed, count).asked
    same = Counter(one.record["answer"] for one in asked if one.draft.operation == "same")
    assert abs(same["yes"] - same["no"]) <= 1
    first = [named_first(one) for one in asked if one.draft.operation in ("least", "greatest")]
    assert abs(2 * sum(first) - len(first)) <= 1


def bare(title: str) -> str:
    return re.sub(r" \([^)]*\)$", "", title)


def named_first(asked: Asked) -> bool:
    answer = asked.record["answer"]
    (other,) = {bare(title) for title in gold_titles(asked)} - {answer}
    return bool(asked.record["question"].index(answer) < asked.record["question"].index(other))


def test_of_two_kinds_the_one_that_is_usually_older_is_the_answer_no_more_often_than_the_other() -> None:
    usual = []
    for twin in (compose(7, 500), compose(9, 500), compose(7, 1000)):
        for asked in twin.asked:
            if "/" in asked.draft.form and asked.draft.operation in ("least", "greatest"):
                older = next(
                    title
                    for identity, title in (
                        (i, twin.world.entities[i].name) for i in (asked.draft.first, *asked.draft.seconds)
                    )
                    if twin.world.entities[identity].kind in ("novel", "film", "club")
                )
                usual.append((older == asked.record["answer"]) == (asked.draft.operation == "least"))
    assert len(usual) > 30
    assert 0.3 < sum(usual) / len(usual) < 0.7
