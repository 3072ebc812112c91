"""The invented world is consistent, and its pages read as if a person had written them."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from dataclasses import replace

import pytest

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.generator.forms import bridge, compared, shared
from reflex_bench.envs.hotpotqa.generator.twin import Twin, compose
from reflex_bench.envs.hotpotqa.world.names import an, roman, variant
from reflex_bench.envs.hotpotqa.world.pages import date_text, mention, write_pages
from reflex_bench.envs.hotpotqa.world.world import World

WORKS = ("novel", "film", "painting", "album", "opera")
MAKERS = ("creator", "star", "score", "producer", "leader", "member", "commander", "librettist", "dedicatee")


@pytest.fixture(scope="module", params=[(7, 500), (8, 60)], ids=["seed7-500", "seed8-60"])
def twin(request: pytest.FixtureRequest) -> Twin:
    return compose(*request.param)


def life(world: World, person: str) -> tuple[int, int]:
    died = world.about(person, "death_year")
    return world.number(person, "birth_year"), int(str(died[0].value)) if died else 1998


def test_nobody_does_anything_before_growing_up_or_after_dying(twin: Twin) -> None:
    world = twin.world
    deeds = [(fact, "year") for fact in world.facts if fact.relation in MAKERS]
    deeds += [(fact, "founded") for fact in world.facts if fact.relation == "founder"]
    assert len(deeds) > 100
    for fact, relation in deeds:
        born, died = life(world, str(fact.value))
        assert born + 19 <= world.number(fact.subject, relation) <= died, fact


def test_studies_lessons_marriages_offices_and_awards_fall_into_the_lives_of_both_sides(twin: Twin) -> None:
    world = twin.world
    for person in world.kind("person"):
        born, died = life(world, person)
        assert 40 < died - born < 100
        for fact in world.about(person, "university"):
            assert world.number(str(fact.value), "founded") <= born + 18
        for fact in world.about(person, "teacher"):
            teacher_born, teacher_died = life(world, str(fact.value))
            assert teacher_born + 14 <= born
            assert teacher_died >= born + 20
        for fact in world.about(person, "spouse"):
            other_born, other_died = life(world, str(fact.value))
            assert max(born, other_born) + 20 <= world.number(person, "married") <= min(died, other_died)
            assert world.text(str(fact.value), "spouse") == person
        for fact in world.about(person, "award"):
            year = world.number(person, "award_year")
            assert world.number(str(fact.value), "founded") <= year <= died
            assert year >= born + 25
        for fact in world.about(person, "successor"):
            assert world.number(person, "term_end") == world.number(str(fact.value), "term_start")
        if world.about(person, "term_start"):
            assert born + 27 <= world.number(person, "term_start") < world.number(person, "term_end") <= died


def test_works_follow_what_they_are_made_from_and_the_houses_that_bring_them_out(twin: Twin) -> None:
    world = twin.world
    for kind in WORKS:
        for work in world.kind(kind):
            year = world.number(work, "year")
            for relation in ("publisher", "studio", "label"):
                for fact in world.about(work, relation):
                    assert world.number(str(fact.value), "founded") <= year
            for fact in world.about(work, "based_on"):
                assert world.number(str(fact.value), "year") < year


def test_places_fit_into_one_another(twin: Twin) -> None:
    world = twin.world
    for town in world.kind("town"):
        region = world.text(town, "region")
        assert world.entities[region].country == world.entities[town].country
        for fact in world.about(town, "river"):
            assert world.entities[str(fact.value)].country == world.entities[town].country
    for region in world.kind("region"):
        assert world.text(world.text(region, "capital"), "region") == region


def test_there_are_namesakes_near_namesakes_aliases_and_shared_titles() -> None:
    twin = compose(7, 500)
    people = [entity for entity in twin.world.entities.values() if entity.kind == "person"]
    assert sum(entity.title.endswith(f"({entity.qualifier})") for entity in people) >= 10
    assert sum(bool(entity.aliases) for entity in people) >= 8
    names = {entity.name for entity in people}
    near = [
        name
        for name in names
        if any(
            name[:at] + vowel + name[at + 1 :] in names - {name}
            for at in range(len(name))
            for vowel in "aeio"
        )
    ]
    assert len(near) >= 20
    works = [entity for entity in twin.world.entities.values() if entity.kind in WORKS]
    assert sum(entity.title.endswith(f"({entity.kind})") for entity in works) >= 20


def test_pages_read_as_if_a_person_had_written_them(twin: Twin) -> None:
    for page in twin.pages.values():
        assert page.texts[0][0] != " "
        for number, sentence in enumerate(page.texts):
            assert sentence.startswith(" ") == (number > 0)
            assert re.fullmatch(r" ?\S(.*\S)?\.", sentence), sentence
            assert sentence.strip()[0].isupper() or sentence.strip()[0] == '"', sentence
            assert not re.search(r"[{}^=@|]|\bNone\b|  |\bthe [Tt]he\b|\b[Aa]n? an?\b| ,|\.\.", sentence), (
                sentence
            )
            assert (
                not re.search(r"\b[Aa] [aeiouAEIO][a-z]", sentence.replace("a one", ""))
                or " a uni" in sentence
            ), sentence
            assert not re.search(r"\b[Aa]n [bcdfghjklmnpqrstvwxyzBCDFGHJKLMNPQRSTVWXYZ2-79]", sentence), (
                sentence
            )
        assert len(page.texts) >= 2
        assert any(len(sentence.facts) for sentence in page.sentences)


def test_no_page_tells_the_same_twice(twin: Twin) -> None:
    for identity, page in twin.pages.items():
        told = Counter(
            fact for sentence in page.sentences for fact in sentence.facts if fact.subject == identity
        )
        assert max(told.values()) == 1, page.entity.title


def test_questions_read_as_if_a_person_had_asked_them(twin: Twin) -> None:
    for asked in twin.asked:
        question = asked.record["question"]
        assert re.fullmatch(r'["A-ZÄÖ].*[^ ]\?', question), question
        assert not re.search(r"[{}^=@|]|\bNone\b|  |\bthe [Tt]he\b| ,| \?", question.replace('"', "")), (
            question
        )


def small_world() -> tuple[World, dict[str, str]]:
    world = World()
    country = world.add("country", "Oressa")
    world.tell(country, "demonym", "Oressan")
    ids = {}
    for person, born, town in (("Ilsa Varden", 1871, "Tolm"), ("Ilse Varden", 1869, "Vess")):
        ids[town] = world.add("town", town, country)
        ids[person] = world.add("person", person, country)
        for relation, value in {
            "sex": "female",
            "occupation": "film director",
            "father": "miller",
            "birthplace": ids[town],
        }.items():
            world.tell(ids[person], relation, value)
        world.tell(ids[person], "born", datetime.date(born, 3, 4))
    ids["film"] = world.add("film", "The Salt Ferry", country)
    world.tell(ids["film"], "creator", ids["Ilsa Varden"])
    world.tell(ids["film"], "star", ids["Ilsa Varden"])
    world.tell(ids["film"], "star", ids["Ilse Varden"])
    for identity, entity in world.entities.items():
        world.entities[identity] = replace(entity, title=entity.name)
    return world, ids


def test_a_bridge_asks_for_the_end_of_its_path() -> None:
    world, ids = small_world()
    draft = bridge(world, SeededRandom("t"), "creator.birthplace", ids["film"])
    assert draft is not None
    assert (draft.answer, draft.first, draft.seconds) == (
        "Tolm",
        ids["film"],
        (ids["Ilsa Varden"], ids["Tolm"]),
    )
    assert re.search(r'the film "?The Salt Ferry"?', draft.question)
    assert bridge(world, SeededRandom("t"), "star.birthplace", ids["film"]) is None, (
        "two stars, two birthplaces"
    )


def test_of_several_the_one_that_fits_is_asked_for() -> None:
    world, ids = small_world()
    wording = ["Which actor in {x} was born in {z}?"]
    found = {
        (draft.question.replace('"', ""), draft.answer)
        for turn in range(20)
        if (draft := shared(world, SeededRandom(turn), ["film", "star", "birthplace"], wording, ids["film"]))
    }
    assert found == {
        ("Which actor in the film The Salt Ferry was born in Tolm?", "Ilsa Varden"),
        ("Which actor in the film The Salt Ferry was born in Vess?", "Ilse Varden"),
    }


@pytest.mark.parametrize(
    ("operation", "relation", "answer"),
    [
        ("least", "born", "Ilse Varden"),
        ("greatest", "born", "Ilsa Varden"),
        ("same", "birthplace", "no"),
        ("same", "occupation", "yes"),
    ],
)
def test_comparisons_are_answered_by_the_facts(operation: str, relation: str, answer: str) -> None:
    world, ids = small_world()
    pair = (ids["Ilsa Varden"], ids["Ilse Varden"])
    draft = compared(world, SeededRandom("t"), relation, pair, operation, ["{a} or {b}?"])  # type: ignore[arg-type]
    assert draft is not None
    assert (draft.question, draft.answer) == ("Ilsa Varden or Ilse Varden?", answer)


def test_sentences_know_what_they_state() -> None:
    world, ids = small_world()
    page = write_pages(world, SeededRandom("t"))[ids["Ilsa Varden"]]
    stating = [s.text for s in page.sentences if any(fact.relation == "birthplace" for fact in s.facts)]
    assert len(stating) == 1
    assert re.search(r"Tolm.*miller|miller.*Tolm", stating[0])
    (born,) = [s.text for s in page.sentences if any(fact.relation == "birth_year" for fact in s.facts)]
    assert "born 4 March 1871" in born


@pytest.mark.parametrize(
    ("phrase", "spoken"),
    [
        ("painter", "a painter"), ("explorer", "an explorer"), ("Oressan painter", "an Oressan painter"),
        ("university", "a university"), ("1871", "an 1871"), ("1931 film", "a 1931 film"), ("historian", "a historian"),
        ("11,400", "an 11,400"), ("1,180", "a 1,180"), ("8", "an 8"), ("80,000", "an 80,000"), ("18", "an 18"),
    ],
)  # fmt: skip
def test_the_article_goes_by_the_sound(phrase: str, spoken: str) -> None:
    assert an(phrase) == spoken


def test_dates_variants_and_second_parts_are_written_as_usual() -> None:
    assert date_text(datetime.date(1871, 3, 4)) == "4 March 1871"
    assert [roman(number) for number in (1, 2, 3, 8, 13, 48)] == ["II", "III", "IV", "IX", "XIV", "XLIX"]
    assert {variant("Ilsa", SeededRandom(turn)) for turn in range(40)} == {"Ilse", "Ilsi", "Ilso"}
    assert {variant("Varden", SeededRandom(turn)) for turn in range(40)} == {"Vardan", "Vardin", "Vardon"}


def test_namesakes_are_named_with_what_tells_them_apart() -> None:
    world, ids = small_world()
    alone = world.entities[ids["Ilsa Varden"]]
    shared_name = replace(alone, qualifier="painter", title="Ilsa Varden (painter)")
    assert mention(alone) == "Ilsa Varden"
    assert mention(shared_name) == "the painter Ilsa Varden"
    assert mention(world.entities[ids["film"]], explicit=True) == 'the film "The Salt Ferry"'
