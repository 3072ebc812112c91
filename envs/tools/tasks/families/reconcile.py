"""Settle yesterday's differences across orders, payments and shipments: long, and half of it is no use."""

from __future__ import annotations

from collections.abc import Sequence

from reflex_bench.envs.tools.tasks.drafts import Draft, Family, changed, new, of, respond, rows, step
from reflex_bench.envs.tools.tasks.scene import HOUR, Order, Person, Scene
from reflex_bench.envs.tools.tasks.wording import from_colleague
from reflex_bench.envs.tools.tool_task import Expected, PlanStep

OPEN = (
    "these are left from yesterday: {orders}. Please settle what can be settled by the rules, and "
    "tell me the number of the "
    "payment that stays open.",
    "yesterday's list: {orders}. Go through orders, payments and shipments, do what the rules "
    "say, and give me the "
    "payment_id of the one that stays open.",
    "please reconcile {orders} as the rules have it. Which payment stays open? I need its number.",
)
WRONG_ENTRY = (
    " One more thing: the night run settled {payment} with {wrong}, and it belongs to {right}. Please "
    "put that right."
)


def _orders(scene: Scene) -> tuple[Order, Order, Order, Person]:
    """Make one order that fits, one whose payment is too small or large, one that has not left, and a colleague."""
    clerk = scene.employee("claims", 0)
    scene.add(
        "policies",
        clause="ACC-2",
        text=(
            f"Reconcile, amounts: if payment and total differ, nothing is settled; {clerk.id} in "
            "claims gets a message."
        ),
    )
    rng = scene.rng
    right = scene.order(scene.customer(), days_ago=rng.between(4, 7))
    less = rng.pick((-1, 1)) * rng.between(3, 9) * 100
    differs = scene.order(scene.customer(), days_ago=rng.between(4, 7))
    odd = scene.order(scene.customer(), days_ago=rng.between(4, 7), paid=differs.total + less)
    waits = scene.order(scene.customer(), days_ago=rng.between(2, 3), status="packed")
    return right, odd, waits, clerk


def _looked_up(orders: list[Order], short: Sequence[Order] = ()) -> list[PlanStep]:
    """The rules, and what each order needs: its total, its payment, its shipment.

    Args:
        orders: in the order of the message.
        short: of which the total does not matter, because they are not settled.
    """
    steps = [step("tool_policies_v1", query="reconcile settle wrong entry")]
    for order in orders:
        if order not in short:
            steps.append(step("tool_orders_v3", order_id=order.id))
        steps.append(step("tool_payments_v2", order_id=order.id))
        steps.append(step("tool_shipment_v2", order_id=order.id))
    return steps


def _settle(order: Order) -> tuple[PlanStep, Expected]:
    pair = {"payment_id": order.payment, "order_id": order.id}
    return step("tool_settle_v1", "tool_payments_v2", **pair), new("settlements", **pair)


def _listed(scene: Scene, orders: list[Order]) -> tuple[list[Order], str]:
    mixed = scene.rng.shuffled(orders)
    return mixed, ", ".join(order.id for order in mixed)


def differing(scene: Scene) -> Draft:
    """One is settled, one is told to claims, one waits."""
    right, odd, waits, clerk = _orders(scene)
    orders, told = _listed(scene, [right, odd, waits])
    settle, settled = _settle(right)
    note = step(
        "tool_message_v1",
        to=clerk.id,
        subject=f"Difference in {odd.id}",
        body=f"The payment {odd.payment} is not the total of {odd.id}.",
    )
    return Draft(
        message=from_colleague(scene.rng, scene.name(), OPEN, orders=told).replace(
            "stays open", "waits for its shipment"
        ),
        plan=(*_looked_up(orders, [waits]), settle, note, respond("Done.", payment_id=waits.payment)),
        facts={"payment_id": waits.payment},
        required=rows(settled, new("outbox", recipient=clerk.id)),
    )


def half_done(scene: Scene) -> Draft:
    """One is settled with another's order: that entry is undone and made anew."""
    right, _, waits, _ = _orders(scene)
    other = scene.order(scene.customer(), days_ago=scene.rng.between(4, 7))
    wrong = scene.order(scene.customer(), days_ago=scene.rng.between(8, 9))
    entry = scene.id("STL")
    scene.add(
        "settlements", entry_id=entry, payment_id=other.payment, order_id=wrong.id, settled_at=-9 * HOUR
    )
    orders, told = _listed(scene, [right, waits, other])
    settle, settled = _settle(right)
    again, _ = _settle(other)
    looked = _looked_up(orders, [waits])
    paid = next(
        number for number, each in enumerate(looked) if each == step("tool_payments_v2", order_id=other.id)
    )
    undo = step("tool_unsettle_v1", "tool_payments_v2", entry_id=of(paid, "payments.0.entry_id"))
    extra = WRONG_ENTRY.format(payment=other.payment, wrong=wrong.id, right=other.id)
    return Draft(
        message=from_colleague(scene.rng, scene.name(), [f"{text}{extra}" for text in OPEN], orders=told),
        plan=(*looked, settle, undo, again, respond("Done.", payment_id=waits.payment)),
        facts={"payment_id": waits.payment},
        required=rows(settled, changed("settlements", {"payment_id": other.payment}, order_id=other.id)),
    )


def already(scene: Scene) -> Draft:
    """One was settled by the night run already; it must not be settled twice."""
    right, _, waits, _ = _orders(scene)
    done = scene.order(scene.customer(), days_ago=scene.rng.between(4, 7))
    scene.add(
        "settlements",
        entry_id=scene.id("STL"),
        payment_id=done.payment,
        order_id=done.id,
        settled_at=-9 * HOUR,
    )
    orders, told = _listed(scene, [right, waits, done])
    settle, settled = _settle(right)
    return Draft(
        message=from_colleague(scene.rng, scene.name(), OPEN, orders=told),
        plan=(*_looked_up(orders, [waits]), settle, respond("Done.", payment_id=waits.payment)),
        facts={"payment_id": waits.payment},
        required=rows(settled),
    )


RECONCILE = Family(name="reconcile", role="accounting", variants=(differing, half_done, already))
