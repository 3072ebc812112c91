"""Countries, regions, rivers, lakes, towns and universities of the invented world."""

from __future__ import annotations

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.world.names import Names
from reflex_bench.envs.hotpotqa.world.world import World, table


def add_places(world: World, names: Names, rng: SeededRandom, count: int) -> None:
    """Adds everything that has a place on the map.

    Args:
        world: the world to add to; empty before.
        names: gives out names.
        rng: decides.
        count: questions that the world is made for; its number of places grows with it.
    """
    styles = table("world")["styles"]
    for style in styles:
        name, demonym = rng.pick(style["countries"])
        names.claim(name)
        world.tell(world.add("country", name), "demonym", demonym)
    countries = world.kind("country")
    for number in range(max(9, count // 30)):
        _region(world, names, rng, countries[number % len(countries)])
    regions = world.kind("region")
    for number in range(max(7, count // 40)):
        _lake(world, names, rng, regions[number % len(regions)])
    for number in range(max(9, count // 28)):
        _river(world, names, rng, regions[number % len(regions)])
    for number in range(max(20, count // 8)):
        _town(world, names, rng, regions[number % len(regions)])
    _capitals(world, rng)
    for lake in world.kind("lake"):
        _shore(world, rng, lake)
    # Every country has one before any has a second.
    towns = rng.shuffled(world.kind("town"))
    firsts = list({world.entities[town].country: town for town in towns}.values())
    for town in [*firsts, *(town for town in towns if town not in firsts)][: max(7, count // 28)]:
        _university(world, names, rng, town)


def _capitals(world: World, rng: SeededRandom) -> None:
    for region in world.kind("region"):
        world.tell(region, "capital", rng.pick([town for _, town in world.walk(region, "^region:town")]))
    for country in world.kind("country"):
        first = next(str(region) for _, region in world.walk(country, "^country:region"))
        world.tell(country, "capital", world.text(first, "capital"))


def style_of(world: World, identity: str) -> int:
    """Return the number of the language that is spoken where an entity is."""
    return world.kind("country").index(world.entities[identity].country)


def _region(world: World, names: Names, rng: SeededRandom, country: str) -> None:
    region = world.add("region", names.coin(style_of(world, country), "land", rng), country)
    world.tell(region, "area", rng.between(820, 19_400))
    world.tell(region, "known_for", rng.pick(table("world")["industries"]))


def _lake(world: World, names: Names, rng: SeededRandom, region: str) -> None:
    country = world.entities[region].country
    name = names.coin(style_of(world, country), "town", rng, "Lake {}")
    lake = world.add("lake", name, country)
    world.tell(lake, "region", region)
    world.tell(lake, "area", rng.between(6, 640))
    world.tell(lake, "depth", rng.between(9, 310))


def _river(world: World, names: Names, rng: SeededRandom, region: str) -> None:
    country = world.entities[region].country
    name = names.river(style_of(world, country), rng)
    alias = f"{name.removeprefix('River ')} River"
    river = world.add("river", name, country, article=True, aliases=[alias] if names.claim(alias) else [])
    world.tell(river, "region", region)
    world.tell(river, "length", rng.between(38, 690))
    world.tell(river, "source", rng.pick(table("world")["origins"]))
    world.tell(river, "discharge", rng.between(4, 480))
    lakes = [lake for lake in world.kind("lake") if world.entities[lake].country == country]
    if lakes and rng.chance(0.65):
        world.tell(river, "mouth", rng.pick(lakes))


def _town(world: World, names: Names, rng: SeededRandom, region: str) -> None:
    country = world.entities[region].country
    town = world.add("town", names.coin(style_of(world, country), "town", rng), country)
    world.tell(town, "region", region)
    rivers = [river for river in world.kind("river") if world.entities[river].country == country]
    if rivers and rng.chance(0.8):
        near = [river for river in rivers if world.text(river, "region") == region]
        world.tell(town, "river", rng.pick(near or rivers))
    world.tell(town, "population", rng.between(24, 1_890) * 100 + rng.between(1, 99))
    world.tell(town, "chartered", rng.between(1020, 1640))
    world.tell(town, "elevation", rng.between(4, 870))
    world.tell(town, "industry", rng.pick(table("world")["industries"]))
    world.tell(town, "sight", rng.pick(table("world")["sights"]))


def _shore(world: World, rng: SeededRandom, lake: str) -> None:
    region = world.text(lake, "region")
    towns = [str(town) for _, town in world.walk(region, "^region:town")]
    dry = [town for town in towns if not world.about(town, "river") and not world.about(town, "lake")]
    town = rng.pick(dry or towns)
    world.tell(lake, "shore", town)
    if not world.about(town, "lake"):
        world.tell(town, "lake", lake)


def _university(world: World, names: Names, rng: SeededRandom, town: str) -> None:
    place = world.entities[town].name
    word = rng.pick(["University", "University", "Academy", "Polytechnic"])
    name, alias = f"{word} of {place}", f"{place} {word}"
    for claimed in (name, alias):
        names.claim(claimed)
    university = world.add("university", name, world.entities[town].country, article=True, aliases=[alias])
    world.tell(university, "seat", town)
    world.tell(university, "founded", rng.between(1410, 1868))
    world.tell(university, "students", rng.between(21, 340) * 100 + rng.between(1, 99))
