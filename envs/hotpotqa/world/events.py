"""Festivals, expeditions, battles and awards of the invented world; makes the whole world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.world.names import Names
from reflex_bench.envs.hotpotqa.world.organisations import add_organisations
from reflex_bench.envs.hotpotqa.world.people import Cast, Person, add_people, any_day
from reflex_bench.envs.hotpotqa.world.places import add_places
from reflex_bench.envs.hotpotqa.world.works import add_works
from reflex_bench.envs.hotpotqa.world.world import World, table

# Under this many questions the world no longer shrinks: a tiny one would have too few look-alikes to mislead anybody.
LEAST_COUNT = 80


def build_world(seed: int, count: int) -> World:
    """Return the world for `count` questions; the same for the same seed and count on any machine.

    Args:
        seed: any whole number.
        count: questions that will be asked; the number of pages grows with it (about 770 for 500 questions).
    """
    world, names = World(), Names()
    size = max(count, LEAST_COUNT)

    def rng(purpose: str) -> SeededRandom:
        return SeededRandom("hotpotqa world", seed, count, purpose)

    add_places(world, names, rng("places"), size)
    cast = add_people(world, names, rng("people"), size)
    add_organisations(world, names, rng("organisations"), cast, size)
    add_works(world, names, rng("works"), cast, size)
    add_events(world, names, rng("events"), cast, size)
    _entitle(world)
    return world


def add_events(world: World, names: Names, rng: SeededRandom, cast: Cast, count: int) -> None:
    """Adds what happened, and the awards.

    Args:
        world: has everything else already.
        names: gives out names.
        rng: decides.
        cast: the people.
        count: questions that the world is made for.
    """
    for _ in range(max(6, count // 32)):
        _festival(world, names, rng, cast)
    for _ in range(max(6, count // 30)):
        _expedition(world, names, rng, cast)
    for _ in range(max(8, count // 36)):
        _battle(world, names, rng, cast)
    for _ in range(max(8, count // 32)):
        _award(world, names, rng, cast)


def _festival(world: World, names: Names, rng: SeededRandom, cast: Cast) -> None:
    festivals = table("world")["festivals"]
    name = None
    while not name:
        focus = rng.pick(list(festivals))
        town = rng.pick(world.kind("town"))
        name = names.choose(festivals[focus].split("|"), rng, town=world.entities[town].name)
    festival = world.add("festival", name, world.entities[town].country, article=not name.endswith("Days"))
    year = rng.between(1922 if focus == "film" else 1884, 1972)
    arts = cast.of("composer", "conductor", "actor", "film director", "novelist", "singer")
    founder = rng.pick_where(arts, lambda person: person.active(year, 26))
    world.tell(festival, "focus", focus)
    world.tell(festival, "seat", town)
    world.tell(festival, "founded", year)
    world.tell(festival, "founder", founder.id if founder else None)
    world.tell(festival, "month", rng.pick(table("world")["months"]))
    world.tell(festival, "visitors", rng.between(12, 640) * 100)


def _expedition(world: World, names: Names, rng: SeededRandom, cast: Cast) -> None:
    leader = rng.pick(cast.by_occupation["explorer"])
    year = rng.between(leader.born + 25, min(leader.last, leader.born + 55))
    goal = rng.pick(world.kind(rng.pick(["lake", "river", "region"])))
    place = world.entities[goal].name
    name = next(
        name
        for name in (
            f"{leader.surname} Expedition",
            f"{place} Expedition",
            f"{place} Expedition of {year}",
            f"{leader.given} {leader.surname} Expedition",
            f"{leader.surname} Expedition of {year}",
            f"{leader.given} {leader.surname} Expedition to {place}",
        )
        if names.claim(name)
    )
    expedition = world.add("expedition", name, leader.country, article=True)
    world.tell(expedition, "leader", leader.id)
    world.tell(expedition, "year", year)
    world.tell(expedition, "goal", goal)
    world.tell(expedition, "months", rng.between(4, 31))
    world.tell(expedition, "ship", rng.pick(table("world")["ships"]))
    houses = _societies(world) + world.kind("company") + world.kind("university")
    sponsor = rng.pick_where(rng.sample(houses, 30), lambda house: world.number(house, "founded") <= year)
    world.tell(expedition, "sponsor", sponsor)
    party: set[str] = {leader.id}
    company = cast.of("explorer", "botanist", "astronomer", "chemist", "painter", "historian")
    for _ in range(rng.between(2, 3)):
        member = rng.pick_where(company, lambda person: person.active(year) and person.id not in party)
        if member:
            party.add(member.id)
            world.tell(expedition, "member", member.id)


def _battle(world: World, names: Names, rng: SeededRandom, cast: Cast) -> None:
    generals = cast.by_occupation["general"]
    winner = rng.pick(generals)
    loser = rng.pick_where(
        generals,
        lambda other: (
            other.country != winner.country
            and max(other.born, winner.born) + 28 < min(other.last, winner.last, other.born + 66)
        ),
    )
    if not loser:
        return
    year = rng.between(max(winner.born, loser.born) + 27, min(winner.last, loser.last, loser.born + 66))
    near = [
        town for town in world.kind("town") if world.entities[town].country in (winner.country, loser.country)
    ]
    town = rng.pick(near)
    name = f"Battle of {world.entities[town].name}"
    if not names.claim(name):
        return
    battle = world.add("battle", name, world.entities[town].country, article=True)
    world.tell(battle, "fought", any_day(year, rng))
    world.tell(battle, "near", town)
    for commander in rng.shuffled([winner.id, loser.id]):
        world.tell(battle, "commander", commander)
    world.tell(battle, "victor", winner.id)
    world.tell(battle, "defeated", loser.id)
    world.tell(battle, "war", rng.pick(table("world")["wars"]))
    world.tell(battle, "troops", rng.between(31, 460) * 100)


def _societies(world: World) -> list[str]:
    """Return the clubs that take an interest in the world outside."""
    learned = ("mountaineering club", "natural history society", "geographical society")
    return [club for club in world.kind("club") if world.text(club, "pursuit") in learned]


def _givers(world: World, honoured: str) -> list[str]:
    """Whoever, apart from a university, would give an award for that."""
    if honoured == "painting":
        return world.kind("museum") * 3
    if honoured in ("science", "exploration"):
        return _societies(world) * 2
    focus = {"literature": ["poetry"], "cinema": ["film"], "music": ["chamber music", "folk song", "opera"]}[
        honoured
    ]
    festivals = [festival for festival in world.kind("festival") if world.text(festival, "focus") in focus]
    return festivals * 3 + (world.kind("orchestra") if honoured == "music" else [])


def _award(world: World, names: Names, rng: SeededRandom, cast: Cast) -> None:
    honours = table("world")["awards"]
    honoured = rng.pick(list(honours))
    winners = cast.of(*honours[honoured])
    year = rng.between(1880, 1950)
    patron = rng.pick_where(winners, lambda person: person.born + 55 < year) if rng.chance(0.75) else None
    name = None
    if patron:
        patterns = ["{surname} Prize", "{surname} Medal", "{surname} Award"]
        name = names.choose(patterns, rng, surname=patron.surname)
    if not name:
        patron = None
        name = names.choose(table("world")["emblems"], rng) or names.coin(0, "surname", rng, "{} Medal")
    country = patron.country if patron else rng.pick(world.kind("country"))
    award = world.add("award", name, country, article=True)
    world.tell(award, "honours", honoured)
    world.tell(award, "founded", year)
    world.tell(award, "eponym", patron.id if patron else None)
    houses = world.kind("university") + _givers(world, honoured)
    giver = rng.pick_where(rng.sample(houses, 30), lambda house: world.number(house, "founded") <= year)
    world.tell(award, "giver", giver)
    for _ in range(rng.between(3, 5)):
        _decorate(world, rng, award, [person for person in winners if person is not patron])


def _decorate(world: World, rng: SeededRandom, award: str, winners: Sequence[Person]) -> None:
    """Gives the award to somebody who has none and was at work after its foundation."""
    founded = world.number(award, "founded")

    def years(person: Person) -> tuple[int, int]:
        return max(founded, person.born + 27), min(person.last, person.born + 72)

    def fits(person: Person) -> bool:
        first, last = years(person)
        return first <= last and not world.about(person.id, "award")

    winner = rng.pick_where(winners, fits)
    if winner:
        world.tell(winner.id, "award", award)
        world.tell(winner.id, "award_year", rng.between(*years(winner)))


def _entitle(world: World) -> None:
    """Set the titles: the name, with the qualifier in parentheses where several entities share it."""
    sharing: dict[str, int] = {}
    for entity in world.entities.values():
        sharing[entity.name] = sharing.get(entity.name, 0) + 1
    for identity, entity in world.entities.items():
        title = entity.name if sharing[entity.name] == 1 else f"{entity.name} ({entity.qualifier})"
        world.entities[identity] = replace(entity, title=title)
