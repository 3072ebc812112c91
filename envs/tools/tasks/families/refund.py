"""Refunds: a window of 72 hours that only the policies tell of, a review, and what must not be asked for twice."""

from __future__ import annotations

from reflex_bench.envs.tools.tasks.drafts import Draft, Family, hand_over, new, respond, rows, step
from reflex_bench.envs.tools.tasks.scene import HOUR, Order, Person, Scene
from reflex_bench.envs.tools.tasks.wording import from_customer

DAMAGED = (
    "everything in {order} arrived broken. Please refund the order and tell me the amount.",
    "I opened the parcel of {order}, and nothing in it can be used. I would like my money back; "
    "how much will it be?",
    "{order} came with the wrong goods. Please pay me back, and tell me how much I get.",
    "please refund {order}, it arrived damaged. Which amount will I receive?",
)
WHY = (
    "the refund for {third} has not come, the ones before it took two days. What is its number, "
    "where does it stand, and "
    "which clause says so? If it helps, send it again.",
    "this is my third refund this month, for {third}, and nothing has arrived. Please give me its "
    "number, its status and "
    "the rule that it hangs on.",
    "why has the refund for {third} not come? Two others did. I want its number, its status and the clause.",
)
WHY_AND_THIS = (
    "the refund for {third} has not come: tell me its number and its status. And refund {order} "
    "as well, which arrived "
    "broken yesterday.",
    "two things. Where does my refund for {third} stand, and what is its number? And {order} "
    "arrived damaged, please pay "
    "that back, too.",
    "please refund {order}, it came broken. While you are at it: what became of the refund for "
    "{third}? I need its number "
    "and its status.",
)


def _delivered(scene: Scene, customer: Person, hours_ago: int) -> Order:
    days = hours_ago // 24 + scene.rng.between(3, 6)
    return scene.order(customer, days_ago=days, status="delivered", delivered=-hours_ago * HOUR)


def in_time(scene: Scene) -> Draft:
    """It was delivered less than 72 hours ago: the whole total is refunded."""
    scene.bystanders()
    customer = scene.customer()
    order = _delivered(scene, customer, scene.rng.between(8, 60))
    scene.order(customer, days_ago=1)
    return Draft(
        message=from_customer(scene.rng, customer.name, DAMAGED, order=order.id),
        plan=(
            step("tool_orders_v3", order_id=order.id),
            step("tool_shipment_v2", order_id=order.id),
            step("tool_policies_v1", query="refund window damaged"),
            step("tool_refunds_v2", order_id=order.id),
            step(
                "tool_refund_v2",
                "tool_refunds_v2",
                order_id=order.id,
                amount=order.total,
                reason="arrived damaged",
            ),
            respond("The whole total is refunded.", amount=order.total),
        ),
        facts={"amount": order.total},
        required=rows(new("refunds", order_id=order.id, amount=order.total, status="requested")),
    )


def too_late(scene: Scene) -> Draft:
    """It was delivered more than 72 hours ago: the lead of payments decides."""
    scene.bystanders()
    order = _delivered(scene, scene.customer(), scene.rng.between(80, 220))
    return Draft(
        message=from_customer(scene.rng, order.customer.name, DAMAGED, order=order.id),
        plan=(
            step("tool_orders_v3", order_id=order.id),
            step("tool_shipment_v2", order_id=order.id),
            step("tool_policies_v1", query="refund window damaged"),
            hand_over(
                f"{order.id} was delivered more than 72 hours ago; by REF-2 the lead of payments decides."
            ),
        ),
        should_hand_over=True,
    )


def _three(scene: Scene, customer: Person) -> tuple[Order, str]:
    """Three refunds of the last month; the newest is in review. Returns its order and its id."""
    for days in (24, 17):
        earlier = _delivered(scene, customer, (days + 1) * 24)
        scene.refund(earlier, amount=earlier.total, status="paid", days_ago=days)
    third = _delivered(scene, customer, 11 * 24)
    return third, scene.refund(third, amount=third.total, status="in_review", days_ago=9)


def why_not(scene: Scene) -> Draft:
    """The third refund within 30 days is in review; nothing is to be done about it."""
    scene.bystanders(2)
    customer = scene.customer()
    third, refund = _three(scene, customer)
    facts = {"refund_id": refund, "status": "in_review", "clause": "REF-3"}
    return Draft(
        message=from_customer(scene.rng, customer.name, WHY, third=third.id),
        plan=(
            step("tool_refunds_v2", order_id=third.id),
            step("tool_policies_v1", query="refund review third"),
            respond("It is in review and is paid by hand.", **facts),
        ),
        facts=facts,
    )


def why_not_and_this(scene: Scene) -> Draft:
    """One refund is in review, and another one has to be requested."""
    scene.bystanders(2)
    customer = scene.customer()
    third, refund = _three(scene, customer)
    order = _delivered(scene, customer, scene.rng.between(14, 40))
    facts = {"refund_id": refund, "status": "in_review"}
    return Draft(
        message=from_customer(scene.rng, customer.name, WHY_AND_THIS, third=third.id, order=order.id),
        plan=(
            step("tool_refunds_v2", order_id=third.id),
            step("tool_policies_v1", query="refund review third window"),
            step("tool_orders_v3", order_id=order.id),
            step("tool_shipment_v2", order_id=order.id),
            step("tool_refunds_v2", order_id=order.id),
            step(
                "tool_refund_v2",
                "tool_refunds_v2",
                order_id=order.id,
                amount=order.total,
                reason="arrived broken",
            ),
            respond("The one is in review, the other is requested.", **facts),
        ),
        facts=facts,
        required=rows(new("refunds", order_id=order.id, amount=order.total, status="in_review")),
    )


REFUND = Family(name="refund", role="service", variants=(in_time, why_not_and_this, too_late, why_not))
