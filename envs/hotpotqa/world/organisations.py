"""Companies, orchestras, clubs and museums of the invented world, and who held which office."""

from __future__ import annotations

from collections.abc import Sequence

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.world.names import Names
from reflex_bench.envs.hotpotqa.world.people import Cast, Person
from reflex_bench.envs.hotpotqa.world.world import World, table


def add_organisations(world: World, names: Names, rng: SeededRandom, cast: Cast, count: int) -> None:
    """Adds everything that was founded by somebody, then fills the offices.

    Args:
        world: has its places and people already.
        names: gives out names.
        rng: decides.
        cast: the people.
        count: questions that the world is made for.
    """
    trades = list(table("world")["trades"])
    for number in range(max(18, count // 12)):
        # The arts need their houses: two companies in three are publishers, studios or labels.
        _company(world, names, rng, cast, trades[number % 3] if number % 6 < 4 else rng.pick(trades[3:]))
    for _ in range(max(5, count // 36)):
        _orchestra(world, names, rng, cast)
    for _ in range(max(6, count // 30)):
        _club(world, names, rng, cast)
    for _ in range(max(5, count // 36)):
        _museum(world, names, rng, cast)
    _offices(world, rng, cast)


def _founder(
    cast: Cast, rng: SeededRandom, year: int, country: str, occupations: Sequence[str]
) -> Person | None:
    people = cast.of(*occupations)
    near = rng.pick_where(people, lambda person: person.active(year, 25) and person.country == country)
    return near or rng.pick_where(people, lambda person: person.active(year, 25))


def _found(
    world: World,
    rng: SeededRandom,
    cast: Cast,
    identity: str,
    town: str,
    years: tuple[int, int],
    founders: Sequence[str],
) -> None:
    year = rng.between(*years)
    world.tell(identity, "seat", town)
    world.tell(identity, "founded", year)
    founder = _founder(cast, rng, year, world.entities[identity].country, founders)
    world.tell(identity, "founder", founder.id if founder else None)


def _company(world: World, names: Names, rng: SeededRandom, cast: Cast, trade: str) -> None:
    first, last, patterns = table("world")["trades"][trade]
    name, town = None, ""
    while not name:
        town = rng.pick(world.kind("town"))
        country = world.entities[town].country
        year = rng.between(first, last)
        founder = _founder(cast, rng, year, country, ["industrialist"]) or rng.pick(cast.people)
        surname2 = rng.pick(cast.by_country[founder.country]).surname
        name = names.choose(
            patterns.split("|"),
            rng,
            surname=founder.surname,
            surname2=surname2,
            town=world.entities[town].name,
        )
        if name and founder.surname == surname2 and "&" in name:
            name = None
    article = name.endswith(("Company", "Works", "Glassworks", "Shipyard", "Brewery"))
    company = world.add("company", name, country, article=article)
    world.tell(company, "trade", trade)
    world.tell(company, "seat", town)
    world.tell(company, "founded", year)
    world.tell(company, "founder", founder.id if founder.active(year) else None)
    world.tell(company, "employees", rng.between(3, 92) * 10)


def _named_after_town(world: World, names: Names, rng: SeededRandom, patterns: list[str]) -> tuple[str, str]:
    """Return a town, and a new name by one of `patterns` in which it may stand."""
    while True:
        town = rng.pick(world.kind("town"))
        if name := names.choose(patterns, rng, place=world.entities[town].name):
            return town, name


def _orchestra(world: World, names: Names, rng: SeededRandom, cast: Cast) -> None:
    patterns = ["{place} Philharmonic", "{place} Symphony Orchestra", "{place} Chamber Orchestra"]
    town, name = _named_after_town(world, names, rng, patterns)
    orchestra = world.add("orchestra", name, world.entities[town].country, article=True)
    _found(world, rng, cast, orchestra, town, (1846, 1932), ["composer", "conductor", "industrialist"])
    world.tell(orchestra, "players", rng.between(24, 98))
    world.tell(orchestra, "hall", f"{rng.pick(table('world')['titles']['noun'])} Hall")


def _club(world: World, names: Names, rng: SeededRandom, cast: Cast) -> None:
    clubs = table("world")["clubs"]
    name = None
    while not name:
        pursuit = rng.pick(list(clubs))
        town = rng.pick(world.kind("town"))
        land = world.entities[world.text(town, "region")].name
        name = names.choose(clubs[pursuit].split("|"), rng, town=world.entities[town].name, land=land)
    article = name.endswith(("Club", "Society"))
    club = world.add("club", name, world.entities[town].country, article=article)
    world.tell(club, "pursuit", pursuit)
    founders = ["general", "explorer", "industrialist", "politician", "botanist", "historian", "chemist"]
    _found(world, rng, cast, club, town, (1838, 1928), founders)
    year = world.number(club, "founded")
    world.tell(club, "membership", rng.between(90, 2_400))
    for _ in range(rng.between(3, 5)):
        member = rng.pick_where(
            cast.by_country[world.entities[club].country],
            lambda person: person.last > year + 5 and not world.about(person.id, "club"),
        )
        world.tell(member.id, "club", club) if member else None


def _museum(world: World, names: Names, rng: SeededRandom, cast: Cast) -> None:
    patterns = ["{place} Museum of Art", "{place} Picture Gallery", "{adjective} House Museum"]
    town, name = _named_after_town(world, names, rng, patterns)
    museum = world.add("museum", name, world.entities[town].country, article=True)
    _found(
        world, rng, cast, museum, town, (1832, 1938), ["industrialist", "painter", "politician", "historian"]
    )
    world.tell(museum, "objects", rng.between(9, 410) * 100)


def _offices(world: World, rng: SeededRandom, cast: Cast) -> None:
    """Fill the offices; every person holds one at most, so that "the successor of" means one person."""
    busy: set[str] = set()
    for orchestra in world.kind("orchestra"):
        _terms(world, rng, busy, orchestra, "conductor", cast.of("conductor", "composer"), 4)
    scholars = cast.of("historian", "chemist", "botanist", "astronomer")
    for university in rng.shuffled(world.kind("university")):
        _terms(world, rng, busy, university, "rector", scholars, 2)
    for museum in world.kind("museum"):
        _terms(world, rng, busy, museum, "director", cast.of("painter", "historian"), 3)
    politicians = cast.of("politician", "industrialist")
    for town in rng.shuffled(world.kind("town")):
        _terms(world, rng, busy, town, "mayor", politicians, 2)


def _terms(
    world: World,
    rng: SeededRandom,
    busy: set[str],
    place: str,
    office: str,
    candidates: Sequence[Person],
    most: int,
) -> None:
    """Fill an office by one person after the other, without a gap: where one leaves, the next takes over."""
    country = world.entities[place].country
    able = [person for person in candidates if person.id not in busy and person.country == country]
    others = [person for person in candidates if person.id not in busy and person.country != country]
    pool = rng.sample(able, most) + (rng.sample(others, 1) if office in ("conductor", "rector") else [])
    founded = world.number(place, "founded") if world.about(place, "founded") else 0
    start, previous = 0, None
    for person in sorted(pool, key=lambda person: (person.born, person.id)):
        begin = start or max(founded, person.born + rng.between(29, 42))
        end = begin + rng.between(4, 16)
        if not (person.active(begin, 27) and end <= min(person.last, person.born + 76)):
            continue
        world.tell(place, office, person.id)
        world.tell(person.id, "term_start", begin)
        world.tell(person.id, "term_end", end)
        world.tell(previous, "successor", person.id) if previous else None
        busy.add(person.id)
        start, previous = end, person.id
