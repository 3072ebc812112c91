"""Where is it, and will it come in time? Two systems disagree, and one of them tells the time of another zone."""

from __future__ import annotations

from reflex_bench.envs.tools.tasks.drafts import Draft, Family, respond, step
from reflex_bench.envs.tools.tasks.scene import Scene
from reflex_bench.envs.tools.tasks.wording import from_customer

BY_ID = (
    "where is my order {order}? When will it arrive, and by when was it promised?",
    "I am waiting for {order}. Please tell me when it comes and which day you had promised.",
    "order {order} is still not here. I need the expected arrival and the promised day, so that I "
    "know whether it is in time.",
    "will {order} come in time? I would like to hear the expected arrival, to the minute, and the "
    "day that was promised.",
)
BY_MAIL = (
    "I ordered something on {day} with the address {email}, and I have lost the number. When will "
    "it arrive, and by when "
    "was it promised?",
    "my e-mail is {email}. What about the order that I placed on {day}: expected arrival and "
    "promised day, please.",
    "could you look up the order of {day} for {email}? I do not know its number. I need the "
    "expected arrival and the "
    "promised day.",
)
TWO_SAYINGS = (
    "the carrier tells me that {order} comes on {carrier}, your page says something else. Which "
    "arrival is right, and what "
    "is the number of the shipment?",
    "for {order} I have two dates, one of them {carrier} from the carrier. Tell me the arrival "
    "that counts and the number of "
    "the shipment.",
    "your carrier announces {order} for {carrier}. Is that so? I need the true arrival and the "
    "shipment's number.",
)


def by_id(scene: Scene) -> Draft:
    """The customer knows the order's id."""
    scene.bystanders()
    order = scene.order(scene.customer(), days_ago=scene.rng.between(2, 6))
    facts = {"eta": scene.when(order.eta), "promised_by": scene.day(order.promised_by)}
    return Draft(
        message=from_customer(scene.rng, order.customer.name, BY_ID, order=order.id),
        plan=(
            step("tool_orders_v3", order_id=order.id),
            step("tool_shipment_v2", order_id=order.id),
            respond("It is on its way.", **facts),
        ),
        facts=facts,
    )


def by_mail(scene: Scene) -> Draft:
    """The customer knows the day only, and has other orders."""
    scene.bystanders()
    customer = scene.customer()
    scene.order(customer, days_ago=21, status="delivered", delivered=-16 * 86_400)
    order = scene.order(customer, days_ago=scene.rng.between(3, 6))
    scene.order(customer, days_ago=1, status="packed")
    facts = {"eta": scene.when(order.eta), "promised_by": scene.day(order.promised_by)}
    day = scene.day(order.placed_at)
    return Draft(
        message=from_customer(scene.rng, customer.name, BY_MAIL, email=customer.email, day=day),
        plan=(
            step("tool_order_search_v2", email=customer.email),
            step("tool_orders_v3", order_id=order.id),
            step("tool_shipment_v2", order_id=order.id),
            respond("It is on its way.", **facts),
        ),
        facts=facts,
    )


def two_sayings(scene: Scene) -> Draft:
    """The carrier tells another moment; the company's own tracking is the system of record."""
    scene.bystanders()
    order = scene.order(scene.customer(), days_ago=scene.rng.between(2, 6))
    facts = {"eta": scene.when(order.eta), "shipment_id": order.shipment}
    carrier = scene.day(order.eta - 2 * 86_400)
    return Draft(
        message=from_customer(scene.rng, order.customer.name, TWO_SAYINGS, order=order.id, carrier=carrier),
        plan=(
            step("tool_shipment_v2", order_id=order.id),
            step("tool_carrier_v1", shipment_id=order.shipment),
            respond("Our own tracking counts.", **facts),
        ),
        facts=facts,
    )


STATUS = Family(name="status", role="service", variants=(by_id, by_mail, two_sayings))
