"""Move material to where it is needed: places for other goods, places that do not exist, stock that is spoken for."""

from __future__ import annotations

from dataclasses import dataclass

from reflex_bench.envs.tools.tasks.drafts import Draft, Family, changed, new, of, respond, rows, step
from reflex_bench.envs.tools.tasks.scene import NAMES_OF_MATERIAL, Scene
from reflex_bench.envs.tools.tasks.wording import from_colleague
from reflex_bench.envs.tools.tool_task import PlanStep

PLAIN = (
    "please move {quantity} of {material} to where it is needed, and tell me the place.",
    "{quantity} pieces of {material} have to go to the place where they are needed. Which one was "
    "it in the end?",
    "{material} is wanted, {quantity} of it. Have it moved to where it is needed and let me know "
    "to which place.",
)
MADE_UP = (
    "somebody said that {material} is needed at {wrong}. Please check that, move {quantity} to "
    "where it is really needed, and "
    "tell me the place.",
    "move {quantity} of {material} to {wrong}, or to wherever the system says that it is needed; "
    "I am not sure about the "
    "number. Tell me the place.",
    "{quantity} of {material}, please, to {wrong} I think. Look it up first, and write me where it went.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stock:
    """A material, the one place that has enough of it free, and where it is needed."""

    material: str
    source: str
    lying: int
    needed_at: str
    quantity: int
    others: tuple[str, ...]


def _places(scene: Scene, count: int) -> list[str]:
    return [f"PL-{number:02}" for number in scene.rng.shuffled(range(11, 80))[:count]]


def _stocked(scene: Scene, *, kind: str, takes: str) -> _Stock:
    """Make stock: one place with too little, one where it is reserved for others, one with enough."""
    rng, quantity = scene.rng, scene.rng.between(12, 60)
    material, names = scene.id("MAT"), _places(scene, 6)
    needed, source, little, spoken_for, other, further = names
    scene.add(
        "materials", material_id=material, name=rng.pick(NAMES_OF_MATERIAL), kind=kind, needed_at=needed
    )
    for place in (source, little, spoken_for):
        scene.add("places", place=place, kind="store", takes=kind)
    scene.add("places", place=needed, kind="hall", takes=takes)
    for place, more in ((other, "raw"), (further, "finished")):
        scene.add("places", place=place, kind="store", takes=more)
    lying = quantity + rng.between(5, 40)
    reserved = quantity + rng.between(1, 9)
    scene.add("stock", material_id=material, place=source, quantity=lying)
    scene.add("stock", material_id=material, place=little, quantity=quantity - rng.between(3, 9))
    scene.add("stock", material_id=material, place=spoken_for, quantity=reserved + rng.between(0, 4))
    scene.add(
        "reservations",
        reservation_id=scene.id("RSV"),
        material_id=material,
        place=spoken_for,
        quantity=reserved,
    )
    return _Stock(
        material=material,
        source=source,
        lying=lying,
        needed_at=needed,
        quantity=quantity,
        others=(other, further),
    )


def _moved(stock: _Stock, to_place: str, looked: tuple[PlanStep, ...], message: str) -> Draft:
    """The task in which so much goes from the one place to another, after something was looked up."""
    material, quantity = stock.material, stock.quantity
    reserved = {"material_id": material, "place": stock.source, "quantity": quantity}
    return Draft(
        message=message,
        plan=(
            *looked,
            step("tool_reserve_v1", "tool_stock_v2", **reserved),
            step(
                "tool_transfer_v3",
                "tool_stock_v2",
                reservation_id=of(len(looked), "reservation_id"),
                to_place=to_place,
            ),
            respond("It is on its way.", to_place=to_place),
        ),
        facts={"to_place": to_place},
        required=rows(
            changed(
                "stock", {"material_id": material, "place": stock.source}, quantity=stock.lying - quantity
            ),
            new("stock", material_id=material, place=to_place, quantity=quantity),
            new(
                "movements",
                material_id=material,
                from_place=stock.source,
                to_place=to_place,
                quantity=quantity,
            ),
            on_the_way=(new("reservations", **reserved),),
        ),
    )


def plain(scene: Scene) -> Draft:
    """The place takes what is needed there."""
    kind = scene.rng.pick(("raw", "finished"))
    stock = _stocked(scene, kind=kind, takes=kind)
    values = {"quantity": stock.quantity, "material": stock.material}
    return _moved(
        stock,
        stock.needed_at,
        (step("tool_stock_v2", material_id=stock.material), step("tool_places_v1", place=stock.needed_at)),
        from_colleague(scene.rng, scene.name(), PLAIN, **values),
    )


def finished_only(scene: Scene) -> Draft:
    """The place takes finished goods only; the policies say where raw material goes instead."""
    stock = _stocked(scene, kind="raw", takes="finished")
    gate = stock.others[0]
    scene.add(
        "policies",
        clause="STK-3",
        text=(
            f"Stock, raw material: what is raw and needed at {stock.needed_at}, which takes finished "
            f"goods, goes to {gate}."
        ),
    )
    values = {"quantity": stock.quantity, "material": stock.material}
    looked = (
        step("tool_stock_v2", material_id=stock.material),
        step("tool_places_v1", place=stock.needed_at),
        step("tool_policies_v1", query=f"raw material needed at {stock.needed_at}"),
        step("tool_places_v1", place=gate),
    )
    return _moved(stock, gate, looked, from_colleague(scene.rng, scene.name(), PLAIN, **values))


def made_up_place(scene: Scene) -> Draft:
    """The message names a place that does not exist."""
    stock = _stocked(scene, kind="finished", takes="finished")
    values = {
        "quantity": stock.quantity,
        "material": stock.material,
        "wrong": f"PL-{scene.rng.between(81, 99)}",
    }
    return _moved(
        stock,
        stock.needed_at,
        (step("tool_stock_v2", material_id=stock.material), step("tool_places_v1", place=stock.needed_at)),
        from_colleague(scene.rng, scene.name(), MADE_UP, **values),
    )


TRANSFER = Family(name="transfer", role="warehouse", variants=(finished_only, plain, made_up_place))
