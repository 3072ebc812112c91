"""Novels, films, paintings, albums and operas of the invented world."""

from __future__ import annotations

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.world.names import Names
from reflex_bench.envs.hotpotqa.world.people import LAST_YEAR, Cast, Person
from reflex_bench.envs.hotpotqa.world.world import World, table


def add_works(world: World, names: Names, rng: SeededRandom, cast: Cast, count: int) -> None:
    """Adds the works, novels first because films and operas are made from them.

    Args:
        world: has its places, people and organisations already.
        names: gives out names.
        rng: decides.
        cast: the people.
        count: questions that the world is made for.
    """
    for number in range(max(16, count // 9)):
        _novel(world, names, rng, cast, _maker(rng, cast, "novelist", number))
    for number in range(max(16, count // 9)):
        _film(world, names, rng, cast, _maker(rng, cast, "film director", number))
    for number in range(max(12, count // 12)):
        _painting(world, names, rng, _maker(rng, cast, "painter", number))
    for number in range(max(10, count // 14)):
        _album(world, names, rng, cast, _maker(rng, cast, "singer", number))
    for number in range(max(10, count // 16)):
        _opera(world, names, rng, cast, _maker(rng, cast, "composer", number))


def _maker(rng: SeededRandom, cast: Cast, occupation: str, number: int) -> Person:
    """In the first round everybody makes a work, later anybody."""
    people = cast.by_occupation[occupation]
    return people[number] if number < len(people) * 2 // 3 else rng.pick(people)


def _year(rng: SeededRandom, maker: Person, earliest: int = 0) -> int:
    first = max(earliest, maker.born + 24)
    return rng.between(first, max(first, min(maker.last, maker.born + 66, LAST_YEAR - 3)))


def _work(
    world: World,
    names: Names,
    rng: SeededRandom,
    kind: str,
    maker: Person,
    year: int,
    title: str | None = None,
) -> str:
    if not title:
        near = [town for town in world.kind("town") if world.entities[town].country == maker.country]
        title = names.work(kind, world.entities[rng.pick(near)].name, rng)
    work = world.add(kind, title, maker.country)
    world.tell(work, "creator", maker.id)
    world.tell(work, "year", year)
    return work


def _house(world: World, rng: SeededRandom, trade: str, year: int) -> str | None:
    companies = [fact.subject for fact in world.saying("trade", trade)]
    return rng.pick_where(companies, lambda company: world.number(company, "founded") <= year)


def _novel(world: World, names: Names, rng: SeededRandom, cast: Cast, maker: Person) -> None:
    year = _year(rng, maker)
    novel = _work(world, names, rng, "novel", maker, year)
    world.tell(novel, "publisher", _house(world, rng, "publishing house", year))
    world.tell(novel, "setting", rng.pick(world.kind("town")))
    world.tell(novel, "length", rng.between(140, 790))
    world.tell(novel, "genre", rng.pick(table("world")["genres"]))
    if rng.chance(0.4):
        friend = rng.pick_where(cast.people, lambda person: person.id != maker.id and person.active(year))
        world.tell(novel, "dedicatee", friend.id if friend else None)


def _source(world: World, rng: SeededRandom, kind: str, year: int) -> str | None:
    """Return a novel that came out before, and that no other work of this kind is based on."""
    return rng.pick_where(
        world.kind("novel"),
        lambda novel: (
            world.number(novel, "year") < year
            and not any(world.entities[fact.subject].kind == kind for fact in world.saying("based_on", novel))
        ),
    )


def _title_of(world: World, names: Names, novel: str, kind: str) -> str | None:
    """Return the title of a novel for a work of another kind; None where one of that kind has it already."""
    title = world.entities[novel].name
    return title if names.claim(f"{kind}: {title}") else None


def _film(world: World, names: Names, rng: SeededRandom, cast: Cast, maker: Person) -> None:
    year = _year(rng, maker, 1914)
    novel = _source(world, rng, "film", year) if rng.chance(0.5) else None
    title = _title_of(world, names, novel, "film") if novel and rng.chance(0.55) else None
    film = _work(world, names, rng, "film", maker, year, title)
    world.tell(film, "based_on", novel)
    world.tell(film, "studio", _house(world, rng, "film studio", year))
    world.tell(film, "runtime", rng.between(68, 171))
    actors = cast.by_occupation["actor"]
    cast_list: list[str] = []
    for _ in range(rng.between(2, 3)):
        actor = rng.pick_where(actors, lambda actor: actor.active(year, 19) and actor.id not in cast_list)
        if actor:
            cast_list.append(actor.id)
            world.tell(film, "star", actor.id)
    if rng.chance(0.6):
        composer = rng.pick_where(cast.by_occupation["composer"], lambda composer: composer.active(year))
        world.tell(film, "score", composer.id if composer else None)


def _painting(world: World, names: Names, rng: SeededRandom, maker: Person) -> None:
    year = _year(rng, maker)
    scene = None
    kind = rng.pick(["lake", "town", "river", "none"])
    if kind != "none":
        near = [place for place in world.kind(kind) if world.entities[place].country == maker.country]
        scene = rng.pick(near or world.kind(kind))
    title = None
    if scene and rng.chance(0.35):
        views = [
            "{} at Dusk",
            "View of {}",
            "{} in Flood",
            "Morning near {}",
            "{} under Snow",
            "Bathers near {}",
        ]
        title = rng.pick(views).format(
            f"the {world.entities[scene].name}" if kind == "river" else world.entities[scene].name
        )
        title = title[0].upper() + title[1:]
        title = title if names.claim(f"painting: {title}") else None
    painting = _work(world, names, rng, "painting", maker, year, title)
    world.tell(painting, "depicts", scene)
    world.tell(painting, "medium", rng.pick(table("world")["media"]))
    world.tell(painting, "museum", rng.pick(world.kind("museum")))
    world.tell(painting, "height", rng.between(31, 214))
    world.tell(painting, "width", rng.between(28, 340))


def _album(world: World, names: Names, rng: SeededRandom, cast: Cast, maker: Person) -> None:
    year = _year(rng, maker, 1952)
    album = _work(world, names, rng, "album", maker, year)
    world.tell(album, "label", _house(world, rng, "record label", year))
    world.tell(album, "recorded_in", rng.pick(world.kind("town")))
    world.tell(album, "songs", rng.between(7, 16))
    producer = rng.pick_where(
        cast.of("composer", "singer", "conductor"), lambda other: other.id != maker.id and other.active(year)
    )
    world.tell(album, "producer", producer.id if producer else None)


def _opera(world: World, names: Names, rng: SeededRandom, cast: Cast, maker: Person) -> None:
    year = _year(rng, maker)
    novel = _source(world, rng, "opera", year) if rng.chance(0.45) else None
    title = _title_of(world, names, novel, "opera") if novel and rng.chance(0.5) else None
    opera = _work(world, names, rng, "opera", maker, year, title)
    world.tell(opera, "based_on", novel)
    world.tell(opera, "acts", rng.pick(["one", "two", "three", "four", "five"]))
    world.tell(opera, "premiere", rng.pick(world.kind("town")))
    poet = rng.pick_where(cast.of("novelist", "historian"), lambda poet: poet.active(year))
    world.tell(opera, "librettist", poet.id if poet else None)
    conductor = rng.pick_where(cast.by_occupation["conductor"], lambda other: other.active(year))
    if rng.chance(0.6):
        world.tell(opera, "first_conductor", conductor.id if conductor else None)
