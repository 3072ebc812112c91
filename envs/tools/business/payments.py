"""The department of payments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.business.asking import Ask, Function, Refused, rule

REVIEWED_FROM = 3
"""From the how-manieth refund of a customer within `REVIEW_SPAN` on a refund is reviewed before it is paid."""
REVIEW_SPAN = 30 * 24 * 3600
"""Seconds."""


def payments(ask: Ask) -> dict[str, Any]:
    """List the payments for an order."""
    order = ask.found("orders", "order", order_id=ask["order_id"])
    found = []
    for row in ask.store.all("payments", order_id=order["order_id"]):
        settled = ask.store.one("settlements", payment_id=row["payment_id"])
        told = {
            "payment_id": row["payment_id"],
            "amount": row["amount"],
            "status": row["status"],
            "paid_at": ask.moment(row["paid_at"]),
        }
        found.append({**told, "entry_id": settled["entry_id"]} if settled else told)
    return {"payments": found}


def refunds(ask: Ask) -> dict[str, Any]:
    """List the refunds of an order, the oldest first."""
    order = ask.found("orders", "order", order_id=ask["order_id"])
    rows = ask.store.all("refunds", order_id=order["order_id"])
    return {
        "refunds": [
            {
                "refund_id": row["refund_id"],
                "amount": row["amount"],
                "status": row["status"],
                "requested_at": ask.moment(row["requested_at"]),
            }
            for row in sorted(rows, key=lambda each: (each["requested_at"], each["refund_id"]))
        ]
    }


def refund(ask: Ask) -> dict[str, Any]:
    """Pay money back. That it is the second time, too late or too much is not seen here."""
    order = ask.found("orders", "order", order_id=ask["order_id"])
    earlier = [
        row
        for each in ask.store.all("orders", customer_id=order["customer_id"])
        for row in ask.store.all("refunds", order_id=each["order_id"])
        if row["requested_at"] > ask.at - REVIEW_SPAN and row["status"] != "rejected"
    ]
    status = "in_review" if len(earlier) + 1 >= REVIEWED_FROM else "requested"
    id = ask.new("RFD")
    ask.store.insert("refunds", id, order["order_id"], ask["amount"], status, ask["reason"], ask.at)
    return {"refund_id": id, "order_id": order["order_id"], "amount": ask["amount"], "status": status}


def recall(ask: Ask) -> dict[str, Any]:
    """Call a refund back that is not paid yet."""
    row = ask.found("refunds", "refund", refund_id=ask["refund_id"])
    if row["status"] not in ("requested", "in_review"):
        raise Refused(409, "CONFLICT", f"{row['refund_id']} is {row['status']}")
    ask.store.delete("refunds", (row["refund_id"],))
    return {name: row[name] for name in ("refund_id", "order_id", "amount", "reason")}


def settle(ask: Ask) -> dict[str, Any]:
    """Settle a payment with an order."""
    payment = ask.found("payments", "payment", payment_id=ask["payment_id"])
    order = ask.found("orders", "order", order_id=ask["order_id"])
    settled = ask.store.one("settlements", payment_id=payment["payment_id"])
    if settled is not None:
        raise rule("DUPLICATE", f"{payment['payment_id']} is settled already, by {settled['entry_id']}")
    if payment["status"] != "captured":
        raise rule(
            "E_NOT_CAPTURED",
            f"{payment['payment_id']} is {payment['status']}; only captured ones are settled",
        )
    id = ask.new("STL")
    ask.store.insert("settlements", id, payment["payment_id"], order["order_id"], ask.at)
    return {"entry_id": id, "payment_id": payment["payment_id"], "order_id": order["order_id"]}


def unsettle(ask: Ask) -> dict[str, Any]:
    """Take a settlement back."""
    row = ask.found("settlements", "settlement", entry_id=ask["entry_id"])
    ask.store.delete("settlements", (row["entry_id"],))
    return {name: row[name] for name in ("entry_id", "payment_id", "order_id")}


TOOLS: Mapping[str, Function] = {
    "tool_payments_v2": payments,
    "tool_refunds_v2": refunds,
    "tool_refund_v2": refund,
    "tool_refund_recall_v1": recall,
    "tool_settle_v1": settle,
    "tool_unsettle_v1": unsettle,
}
