"""Countries, regions, rivers, lakes, towns and universities of the invented world."""

from __future__ import annotations

from reflex_bench.envs.hotpotqa.world.dice import Dice
from reflex_bench.envs.hotpotqa.world.names import Names
from reflex_bench.envs.hotpotqa.world.world import World, table


def add_places(world: World, names: Names, dice: Dice, count: int) -> None:
    """Adds everything that has a place on the map.

    Args:
        world: the world to add to; empty before.
        names: gives out names.
        dice: decides.
        count: questions that the world is made for; its number of places grows with it.
    """
    styles = table("world")["styles"]
    for style in styles:
        name, demonym = dice.pick(style["countries"])
        names.claim(name)
        world.tell(world.add("country", name), "demonym", demonym)
    countries = world.kind("country")
    for number in range(max(9, count // 30)):
        _region(world, names, dice, countries[number % len(countries)])
    regions = world.kind("region")
    for number in range(max(7, count // 40)):
        _lake(world, names, dice, regions[number % len(regions)])
    for number in range(max(9, count // 28)):
        _river(world, names, dice, regions[number % len(regions)])
    for number in range(max(20, count // 8)):
        _town(world, names, dice, regions[number % len(regions)])
    _capitals(world, dice)
    for lake in world.kind("lake"):
        _shore(world, dice, lake)
    # Every country has one before any has a second.
    towns = dice.shuffled(world.kind("town"))
    firsts = list({world.entities[town].country: town for town in towns}.values())
    for town in [*firsts, *(town for town in towns if town not in firsts)][: max(7, count // 28)]:
        _university(world, names, dice, town)


def _capitals(world: World, dice: Dice) -> None:
    for region in world.kind("region"):
        world.tell(region, "capital", dice.pick([town for _, town in world.walk(region, "^region:town")]))
    for country in world.kind("country"):
        first = next(str(region) for _, region in world.walk(country, "^country:region"))
        world.tell(country, "capital", world.text(first, "capital"))


def style_of(world: World, identity: str) -> int:
    """The number of the language that is spoken where an entity is."""
    return world.kind("country").index(world.entities[identity].country)


def _region(world: World, names: Names, dice: Dice, country: str) -> None:
    region = world.add("region", names.coin(style_of(world, country), "land", dice), country)
    world.tell(region, "area", dice.between(820, 19_400))
    world.tell(region, "known_for", dice.pick(table("world")["industries"]))


def _lake(world: World, names: Names, dice: Dice, region: str) -> None:
    country = world.entities[region].country
    name = names.coin(style_of(world, country), "town", dice, "Lake {}")
    lake = world.add("lake", name, country)
    world.tell(lake, "region", region)
    world.tell(lake, "area", dice.between(6, 640))
    world.tell(lake, "depth", dice.between(9, 310))


def _river(world: World, names: Names, dice: Dice, region: str) -> None:
    country = world.entities[region].country
    name = names.river(style_of(world, country), dice)
    alias = f"{name.removeprefix('River ')} River"
    river = world.add("river", name, country, article=True, aliases=[alias] if names.claim(alias) else [])
    world.tell(river, "region", region)
    world.tell(river, "length", dice.between(38, 690))
    world.tell(river, "source", dice.pick(table("world")["origins"]))
    world.tell(river, "discharge", dice.between(4, 480))
    lakes = [lake for lake in world.kind("lake") if world.entities[lake].country == country]
    if lakes and dice.chance(65):
        world.tell(river, "mouth", dice.pick(lakes))


def _town(world: World, names: Names, dice: Dice, region: str) -> None:
    country = world.entities[region].country
    town = world.add("town", names.coin(style_of(world, country), "town", dice), country)
    world.tell(town, "region", region)
    rivers = [river for river in world.kind("river") if world.entities[river].country == country]
    if rivers and dice.chance(80):
        near = [river for river in rivers if world.text(river, "region") == region]
        world.tell(town, "river", dice.pick(near or rivers))
    world.tell(town, "population", dice.between(24, 1_890) * 100 + dice.between(1, 99))
    world.tell(town, "chartered", dice.between(1020, 1640))
    world.tell(town, "elevation", dice.between(4, 870))
    world.tell(town, "industry", dice.pick(table("world")["industries"]))
    world.tell(town, "sight", dice.pick(table("world")["sights"]))


def _shore(world: World, dice: Dice, lake: str) -> None:
    region = world.text(lake, "region")
    towns = [str(town) for _, town in world.walk(region, "^region:town")]
    dry = [town for town in towns if not world.about(town, "river") and not world.about(town, "lake")]
    town = dice.pick(dry or towns)
    world.tell(lake, "shore", town)
    if not world.about(town, "lake"):
        world.tell(town, "lake", lake)


def _university(world: World, names: Names, dice: Dice, town: str) -> None:
    place = world.entities[town].name
    word = dice.pick(["University", "University", "Academy", "Polytechnic"])
    name, alias = f"{word} of {place}", f"{place} {word}"
    for claimed in (name, alias):
        names.claim(claimed)
    university = world.add("university", name, world.entities[town].country, article=True, aliases=[alias])
    world.tell(university, "seat", town)
    world.tell(university, "founded", dice.between(1410, 1868))
    world.tell(university, "students", dice.between(21, 340) * 100 + dice.between(1, 99))
