"""Look an order up, then change an address of it: two requests in one message, and more than one order about."""

from __future__ import annotations

from reflex_bench.envs.tools.tasks.drafts import Draft, Family, changed, respond, rows, step
from reflex_bench.envs.tools.tasks.scene import Scene
from reflex_bench.envs.tools.tasks.wording import from_customer

BY_ID = (
    "please tell me the total of {order}, and then put the invoice address of it to: {address}.",
    "what did {order} come to? I need the total. Afterwards please change its invoice address to {address}.",
    "look up {order} for me, I need its total. The invoice has to go to another address: {address}.",
    "two things about {order}: its total, and a new invoice address, which is {address}.",
)
BY_DAY = (
    "I placed an order on {day} with {email}. How much was it in total? And please have the "
    "invoice addressed to {address}.",
    "the order of {day} under {email}: tell me its total, and change the invoice address to {address}.",
    "my e-mail is {email}. For what I ordered on {day} I need the total, and the invoice goes to "
    "{address} instead.",
)
TWO_ORDERS = (
    "by when was {first} promised? And for {order}, not for that one, the invoice address is now {address}.",
    "I have two orders. For {first} I only want to know the promised day. For {order} please "
    "change the invoice address to "
    "{address}.",
    "please change the invoice address of {order} to {address}. And tell me which day was "
    "promised for {first}.",
)
DELIVERY = (
    "we are moving. If {order} has not left yet, deliver it to {address}, and tell me the number "
    "of the shipment.",
    "please send {order} to {address} instead, if that is still possible, and let me know the "
    "shipment's number.",
    "{order} should be delivered to {address}. Can you change that? I need the number of the shipment, too.",
)


def by_id(scene: Scene) -> Draft:
    """The customer names the order."""
    scene.bystanders()
    customer = scene.customer()
    order = scene.order(customer, days_ago=scene.rng.between(2, 5))
    scene.order(customer, days_ago=scene.rng.between(6, 9))
    address = scene.address()
    return Draft(
        message=from_customer(scene.rng, customer.name, BY_ID, order=order.id, address=address),
        plan=(
            step("tool_orders_v3", order_id=order.id),
            step("tool_order_address_v2", order_id=order.id, kind="invoice", address=address),
            respond("The invoice address was changed.", total=order.total),
        ),
        facts={"total": order.total},
        required=rows(changed("orders", {"order_id": order.id}, invoice_address=address)),
    )


def by_day(scene: Scene) -> Draft:
    """The customer knows the day only, and has other orders."""
    scene.bystanders()
    customer = scene.customer()
    scene.order(customer, days_ago=9)
    order = scene.order(customer, days_ago=scene.rng.between(4, 6))
    scene.order(customer, days_ago=1, status="packed")
    address, day = scene.address(), scene.day(order.placed_at)
    return Draft(
        message=from_customer(
            scene.rng, customer.name, BY_DAY, email=customer.email, day=day, address=address
        ),
        plan=(
            step("tool_order_search_v2", email=customer.email),
            step("tool_orders_v3", order_id=order.id),
            step("tool_order_address_v2", order_id=order.id, kind="invoice", address=address),
            respond("The invoice address was changed.", total=order.total),
        ),
        facts={"total": order.total},
        required=rows(changed("orders", {"order_id": order.id}, invoice_address=address)),
    )


def two_orders(scene: Scene) -> Draft:
    """One order is asked about, another one is changed."""
    scene.bystanders(2)
    customer = scene.customer()
    first = scene.order(customer, days_ago=scene.rng.between(5, 7))
    order = scene.order(customer, days_ago=scene.rng.between(2, 4))
    address, promised = scene.address(), scene.day(first.promised_by)
    values = {"first": first.id, "order": order.id, "address": address}
    return Draft(
        message=from_customer(scene.rng, customer.name, TWO_ORDERS, **values),
        plan=(
            step("tool_orders_v3", order_id=first.id),
            step("tool_orders_v3", order_id=order.id),
            step("tool_order_address_v2", order_id=order.id, kind="invoice", address=address),
            respond("The invoice address was changed.", promised_by=promised),
        ),
        facts={"promised_by": promised},
        required=rows(changed("orders", {"order_id": order.id}, invoice_address=address)),
    )


def delivery(scene: Scene) -> Draft:
    """The delivery address may still be changed, since the shipment has not left."""
    scene.bystanders()
    customer = scene.customer()
    scene.order(customer, days_ago=scene.rng.between(4, 7))
    order = scene.order(customer, days_ago=1, status="packed")
    address = scene.address()
    return Draft(
        message=from_customer(scene.rng, customer.name, DELIVERY, order=order.id, address=address),
        plan=(
            step("tool_shipment_v2", order_id=order.id),
            step("tool_policies_v1", query="delivery address of an order"),
            step("tool_order_address_v2", order_id=order.id, kind="delivery", address=address),
            respond("It goes to the new address.", shipment_id=order.shipment),
        ),
        facts={"shipment_id": order.shipment},
        required=rows(changed("orders", {"order_id": order.id}, delivery_address=address)),
    )


CHANGE = Family(name="change", role="service", variants=(by_id, by_day, two_orders, delivery))
