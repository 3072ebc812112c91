"""People of the invented world: births, studies, teachers, marriages, deaths."""

from __future__ import annotations

import datetime
from collections import defaultdict
from dataclasses import dataclass, field, replace

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.world.names import Names, variant
from reflex_bench.envs.hotpotqa.world.places import style_of
from reflex_bench.envs.hotpotqa.world.world import World, table

# Nothing in the world happens after this year; whoever was born late may still be alive.
LAST_YEAR = 1998
PEN_NAMED = ("novelist", "singer", "actor")


@dataclass(frozen=True, slots=True)
class Person:
    """What the making of the world needs to know of a person again and again.

    Attributes:
        id: the entity's id.
        given: first name.
        surname: last name.
        sex: `female` or `male`.
        occupation: one of the table's.
        country: the id of the country of birth.
        born: year.
        last: the last full year of life, at most `LAST_YEAR`.
    """

    id: str
    given: str
    surname: str
    sex: str
    occupation: str
    country: str
    born: int
    last: int

    def active(self, year: int, youngest: int = 23, oldest: int = 74) -> bool:
        """Alive in that year, and of an age for work."""
        return self.born + youngest <= year <= min(self.last, self.born + oldest)


@dataclass
class Cast:
    """All people, by occupation and by country."""

    people: list[Person] = field(default_factory=list)
    by_occupation: dict[str, list[Person]] = field(default_factory=lambda: defaultdict(list))
    by_country: dict[str, list[Person]] = field(default_factory=lambda: defaultdict(list))
    by_field: dict[str, list[Person]] = field(default_factory=lambda: defaultdict(list))
    towns: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    universities: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, person: Person) -> None:
        """Files a person."""
        self.people.append(person)
        self.by_occupation[person.occupation].append(person)
        self.by_country[person.country].append(person)
        self.by_field[table("world")["occupations"][person.occupation][4]].append(person)

    def of(self, *occupations: str) -> list[Person]:
        """Everyone with one of these occupations."""
        return [person for occupation in occupations for person in self.by_occupation[occupation]]


def add_people(world: World, names: Names, rng: SeededRandom, count: int) -> Cast:
    """Adds the people, each with a whole life.

    Args:
        world: has its places already.
        names: gives out names.
        rng: decides.
        count: questions that the world is made for.
    """
    cast = Cast()
    for town in world.kind("town"):
        cast.towns[world.entities[town].country].append(town)
    for university in world.kind("university"):
        cast.universities[world.entities[university].country].append(university)
    occupations = table("world")["occupations"]
    total = max(84, count * 9 // 16)
    share = sum(row[0] for row in occupations.values())
    roster = [name for name, row in occupations.items() for _ in range(max(2, round(total * row[0] / share)))]
    for occupation in rng.shuffled(roster):
        cast.add(_person(world, names, rng, cast, occupation))
    for person in cast.people:
        _teacher(world, rng, cast, person)
        _spouse(world, rng, cast, person)
    return cast


def any_day(year: int, rng: SeededRandom) -> datetime.date:
    """Return a day of that year."""
    return datetime.date(year, 1, 1) + datetime.timedelta(days=rng.below(365))


def _person(world: World, names: Names, rng: SeededRandom, cast: Cast, occupation: str) -> Person:
    _, earliest, latest, _, _, subjects = table("world")["occupations"][occupation]
    model = rng.pick(cast.people) if cast.people and rng.chance(0.16) else None
    country = model.country if model else rng.pick(world.kind("country"))
    sex = model.sex if model else rng.pick(["female", "male"])
    given, surname = _name(world, names, rng, cast, occupation, country, sex, model)
    identity = world.add("person", f"{given} {surname}", country)
    entity = world.entities[identity]
    aliases = [alias] if (alias := _pen_name(world, names, rng, occupation, country, sex)) else []
    world.entities[identity] = replace(entity, qualifier=occupation, aliases=tuple(aliases))
    born = any_day(rng.between(earliest, latest), rng)
    death = any_day(born.year + rng.between(47, 92), rng)
    world.tell(identity, "occupation", occupation)
    world.tell(identity, "sex", sex)
    world.tell(identity, "born", born)
    world.tell(identity, "birthplace", rng.pick(cast.towns[country]))
    world.tell(identity, "father", rng.pick(table("world")["fathers"]))
    world.tell(identity, "interest", rng.pick(table("world")["interests"]))
    world.tell(identity, "alias", aliases[0] if aliases else None)
    if death.year <= LAST_YEAR:
        world.tell(identity, "died", death)
        abroad = rng.chance(0.15)
        towns = cast.towns[rng.pick(world.kind("country")) if abroad else country]
        world.tell(identity, "deathplace", rng.pick(towns))
    _studies(world, rng, cast, identity, subjects)
    return Person(
        identity, given, surname, sex, occupation, country, born.year, min(death.year - 1, LAST_YEAR)
    )


def _name(
    world: World,
    names: Names,
    rng: SeededRandom,
    cast: Cast,
    occupation: str,
    country: str,
    sex: str,
    model: Person | None,
) -> tuple[str, str]:
    """Return a name of the country.

    Where there is a model, one that is easily taken for the model's, or the very same.
    """
    if model:
        kind = rng.below(10)
        near = [
            (variant(model.given, rng), model.surname),
            (model.given, variant(model.surname, rng)),
            (model.given, model.surname),
        ][0 if kind < 4 else 1 if kind < 7 else 2]
        same_name = near == (model.given, model.surname)
        if same_name and occupation != model.occupation and names.claim(f"second {' '.join(near)}"):
            return near
        if not same_name and names.claim(" ".join(near)):
            return near
    style = style_of(world, country)
    givens = table("world")["styles"][style][sex]
    if len(cast.by_country[country]) % 3 == 0 and (
        relative := rng.pick_where(cast.by_country[country], bool)
    ):
        for given in rng.sample(givens, 4):
            if names.claim(f"{given} {relative.surname}"):
                return given, relative.surname
    given = rng.pick(givens)
    full = names.coin(style, "surname", rng, given + " {}")
    return given, full.removeprefix(given + " ")


def _pen_name(
    world: World, names: Names, rng: SeededRandom, occupation: str, country: str, sex: str
) -> str | None:
    if occupation not in PEN_NAMED or not rng.chance(0.18):
        return None
    style = style_of(world, country)
    return names.coin(style, "surname", rng, rng.pick(table("world")["styles"][style][sex]) + " {}")


def _studies(world: World, rng: SeededRandom, cast: Cast, identity: str, subjects: str) -> None:
    _, _, _, percent, _, _ = table("world")["occupations"][world.text(identity, "occupation")]
    if not rng.chance(percent / 100):
        return
    start = world.number(identity, "birth_year") + 18
    near = cast.universities[world.entities[identity].country]
    choices = near if near and rng.chance(0.7) else world.kind("university")
    university = rng.pick_where(choices, lambda place: world.number(place, "founded") <= start)
    if university:
        world.tell(identity, "university", university)
        world.tell(identity, "subject", rng.pick(subjects.split("|")))


def _teacher(world: World, rng: SeededRandom, cast: Cast, person: Person) -> None:
    craft = table("world")["occupations"][person.occupation][4]
    if craft in ("war", "trade", "state") or not rng.chance(0.48):
        return
    teacher = rng.pick_where(
        cast.by_field[craft],
        lambda other: (
            other.id != person.id
            and person.born - 40 <= other.born <= person.born - 14
            and other.last >= person.born + 22
        ),
    )
    if teacher:
        world.tell(person.id, "teacher", teacher.id)


def _spouse(world: World, rng: SeededRandom, cast: Cast, person: Person) -> None:
    if world.about(person.id, "spouse") or not rng.chance(0.36):
        return
    other = rng.pick_where(
        cast.by_country[person.country],
        lambda other: (
            other.sex != person.sex
            and abs(other.born - person.born) <= 11
            and other.surname != person.surname
            and not world.about(other.id, "spouse")
        ),
    )
    if not other:
        return
    later = max(person.born, other.born)
    year = rng.between(later + 22, min(later + 40, person.last, other.last))
    for one, two in ((person, other), (other, person)):
        world.tell(one.id, "spouse", two.id)
        world.tell(one.id, "married", year)
