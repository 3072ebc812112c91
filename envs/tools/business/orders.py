"""The department of orders."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reflex_bench.envs.tools.business.asking import Ask, Function, Refused


def order(ask: Ask) -> dict[str, Any]:
    """Look an order up."""
    row = ask.found("orders", "order", order_id=ask["order_id"])
    lines = ask.store.all("order_lines", order_id=row["order_id"])
    return {
        **row,
        "placed_at": ask.moment(row["placed_at"]),
        "promised_by": ask.day(row["promised_by"]),
        "lines": [{name: line[name] for name in ("article", "quantity", "price")} for line in lines],
    }


def customer(ask: Ask) -> dict[str, Any]:
    """Look a customer up, by id or e-mail."""
    given = {name: ask.arguments[name] for name in ("customer_id", "email") if name in ask.arguments}
    if not given:
        raise Refused(422, "MISSING_REQUIRED_FIELD", "give customer_id or email")
    return ask.found("customers", "customer", **given)


def search(ask: Ask) -> dict[str, Any]:
    """Find the orders of a customer, the oldest first."""
    orders = ask.store.all("orders", customer_id=customer(ask)["customer_id"])
    after = ask.arguments.get("placed_after", "")
    found = [
        {
            "order_id": row["order_id"],
            "status": row["status"],
            "placed_at": ask.moment(row["placed_at"]),
            "total": row["total"],
        }
        for row in sorted(orders, key=lambda each: (each["placed_at"], each["order_id"]))
        if ask.day(row["placed_at"]) > after
    ]
    if after:
        _checked(after)
    return {"orders": found}


def _checked(day: str) -> None:
    try:
        datetime.strptime(day, "%Y-%m-%d")
    except ValueError:
        raise Refused(422, "INVALID_PARAMETER", f"placed_after is no day: {day}") from None


def address(ask: Ask) -> dict[str, Any]:
    """Change one of the two addresses of an order."""
    row = ask.found("orders", "order", order_id=ask["order_id"])
    column = f"{ask['kind']}_address"
    ask.store.update("orders", (row["order_id"],), **{column: ask["address"]})
    return {
        "order_id": row["order_id"],
        "kind": ask["kind"],
        "address": ask["address"],
        "previous": row[column],
    }


TOOLS: Mapping[str, Function] = {
    "tool_orders_v3": order,
    "tool_order_archive_v1": order,
    "tool_order_search_v2": search,
    "tool_customers_v1": customer,
    "tool_order_address_v2": address,
}
