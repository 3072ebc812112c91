"""Novels, films, paintings, albums and operas of the invented world."""

from __future__ import annotations

from reflex_bench.envs.hotpotqa.world.dice import Dice
from reflex_bench.envs.hotpotqa.world.names import Names
from reflex_bench.envs.hotpotqa.world.people import LAST_YEAR, Cast, Person
from reflex_bench.envs.hotpotqa.world.world import World, table


def add_works(world: World, names: Names, dice: Dice, cast: Cast, count: int) -> None:
    """Adds the works, novels first because films and operas are made from them.

    Args:
        world: has its places, people and organisations already.
        names: gives out names.
        dice: decides.
        cast: the people.
        count: questions that the world is made for.
    """
    for number in range(max(16, count // 9)):
        _novel(world, names, dice, cast, _maker(dice, cast, "novelist", number))
    for number in range(max(16, count // 9)):
        _film(world, names, dice, cast, _maker(dice, cast, "film director", number))
    for number in range(max(12, count // 12)):
        _painting(world, names, dice, _maker(dice, cast, "painter", number))
    for number in range(max(10, count // 14)):
        _album(world, names, dice, cast, _maker(dice, cast, "singer", number))
    for number in range(max(10, count // 16)):
        _opera(world, names, dice, cast, _maker(dice, cast, "composer", number))


def _maker(dice: Dice, cast: Cast, occupation: str, number: int) -> Person:
    """In the first round everybody makes a work, later anybody."""
    people = cast.by_occupation[occupation]
    return people[number] if number < len(people) * 2 // 3 else dice.pick(people)


def _year(dice: Dice, maker: Person, earliest: int = 0) -> int:
    first = max(earliest, maker.born + 24)
    return dice.between(first, max(first, min(maker.last, maker.born + 66, LAST_YEAR - 3)))


def _work(
    world: World, names: Names, dice: Dice, kind: str, maker: Person, year: int, title: str | None = None
) -> str:
    if not title:
        near = [town for town in world.kind("town") if world.entities[town].country == maker.country]
        title = names.work(kind, world.entities[dice.pick(near)].name, dice)
    work = world.add(kind, title, maker.country)
    world.tell(work, "creator", maker.id)
    world.tell(work, "year", year)
    return work


def _house(world: World, dice: Dice, trade: str, year: int) -> str | None:
    companies = [fact.subject for fact in world.saying("trade", trade)]
    return dice.pick_where(companies, lambda company: world.number(company, "founded") <= year)


def _novel(world: World, names: Names, dice: Dice, cast: Cast, maker: Person) -> None:
    year = _year(dice, maker)
    novel = _work(world, names, dice, "novel", maker, year)
    world.tell(novel, "publisher", _house(world, dice, "publishing house", year))
    world.tell(novel, "setting", dice.pick(world.kind("town")))
    world.tell(novel, "length", dice.between(140, 790))
    world.tell(novel, "genre", dice.pick(table("world")["genres"]))
    if dice.chance(40):
        friend = dice.pick_where(cast.people, lambda person: person.id != maker.id and person.active(year))
        world.tell(novel, "dedicatee", friend.id if friend else None)


def _source(world: World, dice: Dice, kind: str, year: int) -> str | None:
    """A novel that came out before, and that no other work of this kind is based on."""
    return dice.pick_where(
        world.kind("novel"),
        lambda novel: (
            world.number(novel, "year") < year
            and not any(world.entities[fact.subject].kind == kind for fact in world.saying("based_on", novel))
        ),
    )


def _film(world: World, names: Names, dice: Dice, cast: Cast, maker: Person) -> None:
    year = _year(dice, maker, 1914)
    novel = _source(world, dice, "film", year) if dice.chance(50) else None
    title = world.entities[novel].name if novel and dice.chance(55) else None
    if title and not names.claim(f"film: {title}"):
        title = None
    film = _work(world, names, dice, "film", maker, year, title)
    world.tell(film, "based_on", novel)
    world.tell(film, "studio", _house(world, dice, "film studio", year))
    world.tell(film, "runtime", dice.between(68, 171))
    actors = cast.by_occupation["actor"]
    cast_list: list[str] = []
    for _ in range(dice.between(2, 3)):
        actor = dice.pick_where(actors, lambda actor: actor.active(year, 19) and actor.id not in cast_list)
        if actor:
            cast_list.append(actor.id)
            world.tell(film, "star", actor.id)
    if dice.chance(60):
        composer = dice.pick_where(cast.by_occupation["composer"], lambda composer: composer.active(year))
        world.tell(film, "score", composer.id if composer else None)


def _painting(world: World, names: Names, dice: Dice, maker: Person) -> None:
    year = _year(dice, maker)
    scene = None
    kind = dice.pick(["lake", "town", "river", "none"])
    if kind != "none":
        near = [place for place in world.kind(kind) if world.entities[place].country == maker.country]
        scene = dice.pick(near or world.kind(kind))
    title = None
    if scene and dice.chance(35):
        views = [
            "{} at Dusk",
            "View of {}",
            "{} in Flood",
            "Morning near {}",
            "{} under Snow",
            "Bathers near {}",
        ]
        title = dice.pick(views).format(
            f"the {world.entities[scene].name}" if kind == "river" else world.entities[scene].name
        )
        title = title[0].upper() + title[1:]
        title = title if names.claim(f"painting: {title}") else None
    painting = _work(world, names, dice, "painting", maker, year, title)
    world.tell(painting, "depicts", scene)
    world.tell(painting, "medium", dice.pick(table("world")["media"]))
    world.tell(painting, "museum", dice.pick(world.kind("museum")))
    world.tell(painting, "height", dice.between(31, 214))
    world.tell(painting, "width", dice.between(28, 340))


def _album(world: World, names: Names, dice: Dice, cast: Cast, maker: Person) -> None:
    year = _year(dice, maker, 1952)
    album = _work(world, names, dice, "album", maker, year)
    world.tell(album, "label", _house(world, dice, "record label", year))
    world.tell(album, "recorded_in", dice.pick(world.kind("town")))
    world.tell(album, "songs", dice.between(7, 16))
    producer = dice.pick_where(
        cast.of("composer", "singer", "conductor"), lambda other: other.id != maker.id and other.active(year)
    )
    world.tell(album, "producer", producer.id if producer else None)


def _opera(world: World, names: Names, dice: Dice, cast: Cast, maker: Person) -> None:
    year = _year(dice, maker)
    novel = _source(world, dice, "opera", year) if dice.chance(45) else None
    title = world.entities[novel].name if novel and dice.chance(50) else None
    if title and not names.claim(f"opera: {title}"):
        title = None
    opera = _work(world, names, dice, "opera", maker, year, title)
    world.tell(opera, "based_on", novel)
    world.tell(opera, "acts", dice.pick(["one", "two", "three", "four", "five"]))
    world.tell(opera, "premiere", dice.pick(world.kind("town")))
    poet = dice.pick_where(cast.of("novelist", "historian"), lambda poet: poet.active(year))
    world.tell(opera, "librettist", poet.id if poet else None)
    conductor = dice.pick_where(cast.by_occupation["conductor"], lambda other: other.active(year))
    if dice.chance(60):
        world.tell(opera, "first_conductor", conductor.id if conductor else None)
