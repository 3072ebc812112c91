"""Material, the places where it lies, and its way from one to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.business.asking import Ask, Function, Refused, rule
from reflex_bench.envs.tools.business.store import Store


def stock(ask: Ask) -> dict[str, Any]:
    """List the places where a material lies, and where it is needed."""
    material = ask.found("materials", "material", material_id=ask["material_id"])
    id = material["material_id"]
    places = []
    for row in ask.store.all("stock", material_id=id):
        place = ask.found("places", "place", place=row["place"])
        places.append(
            {
                "place": row["place"],
                "kind": place["kind"],
                "quantity": row["quantity"],
                "reserved": reserved(ask.store, id, row["place"]),
            }
        )
    told = {"material_id": id, "name": material["name"], "kind": material["kind"], "places": places}
    return {**told, "needed_at": material["needed_at"]} if material["needed_at"] else told


def reserved(store: Store, material_id: str, place: str) -> int:
    """Return how much of a material is reserved at a place."""
    return sum(row["quantity"] for row in store.all("reservations", material_id=material_id, place=place))


def place(ask: Ask) -> dict[str, Any]:
    """Look a place up."""
    return ask.found("places", "place", place=ask["place"])


def reserve(ask: Ask) -> dict[str, Any]:
    """Reserve material where it lies."""
    material = ask.found("materials", "material", material_id=ask["material_id"])
    where = ask.found("places", "place", place=ask["place"])
    row = ask.store.one("stock", material_id=material["material_id"], place=where["place"])
    free = (row["quantity"] if row else 0) - reserved(ask.store, material["material_id"], where["place"])
    if ask["quantity"] > free:
        raise rule(
            "E_STOCK",
            f"{free} of {material['material_id']} are free at {where['place']}, not {ask['quantity']}",
        )
    id = ask.new("RSV")
    ask.store.insert("reservations", id, material["material_id"], where["place"], ask["quantity"])
    return _told(ask.found("reservations", "reservation", reservation_id=id))


def release(ask: Ask) -> dict[str, Any]:
    """Release a reservation."""
    row = ask.found("reservations", "reservation", reservation_id=ask["reservation_id"])
    ask.store.delete("reservations", (row["reservation_id"],))
    return _told(row)


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("reservation_id", "material_id", "place", "quantity")}


def transfer(ask: Ask) -> dict[str, Any]:
    """Move what is reserved; the reservation is used up."""
    row = ask.found("reservations", "reservation", reservation_id=ask["reservation_id"])
    to = ask.found("places", "place", place=ask["to_place"])
    material = ask.found("materials", "material", material_id=row["material_id"])
    if to["takes"] != material["kind"]:
        message = (
            f"{to['place']} takes {to['takes']} goods only; {material['material_id']} is {material['kind']}"
        )
        raise rule("E_LOCATION_TYPE_MISMATCH", message)
    if to["place"] == row["place"]:
        raise rule("E_SAME_PLACE", f"{material['material_id']} lies at {to['place']} already")
    ask.store.delete("reservations", (row["reservation_id"],))
    _put(ask.store, material["material_id"], row["place"], -row["quantity"])
    _put(ask.store, material["material_id"], to["place"], row["quantity"])
    id = ask.new("MOV")
    moved = (material["material_id"], row["place"], to["place"], row["quantity"])
    ask.store.insert("movements", id, *moved, ask.at)
    named = dict(zip(("material_id", "from_place", "to_place", "quantity"), moved, strict=True))
    return {"movement_id": id, **named}


def _put(store: Store, material_id: str, place: str, quantity: int) -> None:
    """Add to what lies at a place; a place where nothing is left has no row."""
    row = store.one("stock", material_id=material_id, place=place)
    total = (row["quantity"] if row else 0) + quantity
    if row is None:
        store.insert("stock", material_id, place, total)
    elif total:
        store.update("stock", (material_id, place), quantity=total)
    else:
        store.delete("stock", (material_id, place))


def bring_back(ask: Ask) -> dict[str, Any]:
    """Bring moved material back to where it was, and reserve it there again."""
    row = ask.found("movements", "movement", movement_id=ask["movement_id"])
    lying = ask.store.one("stock", material_id=row["material_id"], place=row["to_place"])
    if lying is None or lying["quantity"] < row["quantity"]:
        raise Refused(409, "CONFLICT", f"what {row['movement_id']} moved is no longer at {row['to_place']}")
    _put(ask.store, row["material_id"], row["to_place"], -row["quantity"])
    _put(ask.store, row["material_id"], row["from_place"], row["quantity"])
    ask.store.delete("movements", (row["movement_id"],))
    id = ask.new("RSV")
    ask.store.insert("reservations", id, row["material_id"], row["from_place"], row["quantity"])
    return {"movement_id": row["movement_id"], "reservation_id": id, "to_place": row["to_place"]}


TOOLS: Mapping[str, Function] = {
    "tool_stock_v2": stock,
    "tool_stock_count_v1": stock,
    "tool_places_v1": place,
    "tool_reserve_v1": reserve,
    "tool_release_v1": release,
    "tool_transfer_v3": transfer,
    "tool_transfer_return_v1": bring_back,
}
