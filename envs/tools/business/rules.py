"""Rules of the business that no tool checks by itself: they stand in the policies, and somebody must know them.

What a tool checks by itself stands in its department's module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from reflex_bench.envs.tools.business.ledger import Effect, Lock
from reflex_bench.envs.tools.business.state import NEVER
from reflex_bench.envs.tools.business.store import Store

Broken = tuple[str, str]
"""Code and message."""
Arguments = Mapping[str, Any]

REFUND_WINDOW = 72 * 3600
"""Seconds after the delivery within which a refund is requested."""


class Ruled(Protocol):
    """What rules look at: a world."""

    @property
    def store(self) -> Store: ...

    @property
    def ledger(self) -> Sequence[Effect]: ...

    @property
    def locks(self) -> Sequence[Lock]: ...

    def rehearse(self, tool: Any, arguments: Arguments, *, at: int, role: str) -> Broken | None:
        """Return the rule by which a call would be refused, or which it would break; leaves nothing written."""
        ...


def of_call(store: Store, tool: str, arguments: Arguments, at: int) -> list[Broken]:
    """Return the rules that a call breaks and that its tool does not check.

    Args:
        store: before the call.
        tool: the id.
        arguments: that fit its schema.
        at: virtual seconds.
    """
    found = RULES.get(tool)
    return list(found(store, arguments, at)) if found else []


def check(world: Ruled, tool: Any, arguments: Arguments, at: int, role: str) -> Broken | None:
    """Return code and message of the first rule that stands against a write; None for none.

    Args:
        world: as it is; it is left so.
        tool: a `registry.Tool`.
        arguments: as they would be sent.
        at: virtual seconds.
        role: whose rights.
    """
    return world.rehearse(tool, arguments, at=at, role=role)


def broken(world: Ruled, answered: bool) -> tuple[str, ...]:
    """Return the codes of all rules that are broken in a world, sorted: what a company knows without the answer.

    Args:
        world: with its ledger.
        answered: whether the one who asked got an answer, or was handed over.
    """
    codes = {
        code
        for effect in world.ledger
        if effect.mode in ("real", "held", "released")
        for code in effect.broken
    }
    if any(_is_open(world.store, effect) for effect in world.ledger if effect.stands):
        codes.add("E_LEFT_BEHIND")
    if world.locks:
        codes.add("E_LOCKED")
    if not answered:
        codes.add("E_NO_ANSWER")
    return tuple(sorted(codes))


def _is_open(store: Store, effect: Effect) -> bool:
    """Whether an effect is a reservation that nobody used or released."""
    id = effect.answer.get("reservation_id")
    made = any(change.table == "reservations" and change.after for change in effect.changed)
    return made and store.one("reservations", reservation_id=id) is not None


def _refund(store: Store, arguments: Arguments, at: int) -> list[Broken]:
    id, found = arguments["order_id"], list[Broken]()
    earlier = [row for row in store.all("refunds", order_id=id) if row["status"] != "rejected"]
    if earlier:
        found.append(
            ("E_REFUND_DUPLICATE", f"{id} has the refund {earlier[0]['refund_id']} already; one an order")
        )
    paid = sum(row["amount"] for row in store.all("payments", order_id=id) if row["status"] == "captured")
    if arguments["amount"] > paid:
        found.append(("E_REFUND_AMOUNT", f"{paid} were paid for {id}, not {arguments['amount']}"))
    shipment = store.one("shipments", order_id=id)
    if shipment and shipment["delivered_at"] != NEVER and at > shipment["delivered_at"] + REFUND_WINDOW:
        found.append(("E_REFUND_WINDOW", f"{id} was delivered more than 72 hours ago"))
    return found


def _address(store: Store, arguments: Arguments, at: int) -> list[Broken]:
    shipment = store.one("shipments", order_id=arguments["order_id"])
    if arguments["kind"] == "delivery" and shipment and shipment["status"] in ("in_transit", "delivered"):
        return [
            (
                "E_ADDRESS_SHIPPED",
                f"{arguments['order_id']} is {shipment['status']}; its delivery address stays",
            )
        ]
    return []


def _settle(store: Store, arguments: Arguments, at: int) -> list[Broken]:
    payment = store.one("payments", payment_id=arguments["payment_id"])
    order = store.one("orders", order_id=arguments["order_id"])
    shipment = store.one("shipments", order_id=arguments["order_id"])
    found = list[Broken]()
    if payment and order and (payment["order_id"], payment["amount"]) != (order["order_id"], order["total"]):
        found.append(
            ("E_AMOUNT_DIFFERS", f"{payment['payment_id']} and {order['order_id']} do not belong together")
        )
    if shipment is None or shipment["status"] not in ("in_transit", "delivered"):
        found.append(
            ("E_NOT_SHIPPED", f"{arguments['order_id']} is not shipped yet; only shipped orders are settled")
        )
    return found


def _transfer(store: Store, arguments: Arguments, at: int) -> list[Broken]:
    row = store.one("reservations", reservation_id=arguments["reservation_id"])
    material = store.one("materials", material_id=row["material_id"]) if row else None
    needed = store.one("places", place=material["needed_at"]) if material else None
    # Where it is needed and cannot lie, the policies say where it goes instead.
    if (
        material
        and needed
        and needed["takes"] == material["kind"]
        and needed["place"] != arguments["to_place"]
    ):
        return [("E_NOT_NEEDED_THERE", f"{material['material_id']} is not needed at {arguments['to_place']}")]
    return []


def _message(store: Store, arguments: Arguments, at: int) -> list[Broken]:
    to = arguments["to"]
    if store.one("customers", email=to) or store.one("employees", employee_id=to):
        return []
    return [("E_MESSAGE_STRANGER", f"{to:.80} is neither a customer nor an employee")]


RULES: Mapping[str, Callable[[Store, Arguments, int], list[Broken]]] = {
    "tool_refund_v2": _refund,
    "tool_order_address_v2": _address,
    "tool_settle_v1": _settle,
    "tool_transfer_v3": _transfer,
    "tool_message_v1": _message,
}
