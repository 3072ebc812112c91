"""The department of logistics."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.business.asking import Ask, Function, Refused, rule
from reflex_bench.envs.tools.business.state import NEVER

LABEL_BYTES = 1536
"""Of the picture of a label; 2,048 characters in base64."""


def shipment(ask: Ask) -> dict[str, Any]:
    """Look the shipment of an order up in the company's own tracking."""
    row = _of(ask)
    return _told(ask, row, ask.moment(row["eta"]))


def carrier(ask: Ask) -> dict[str, Any]:
    """Ask the carrier, whose expectation is older and told in another time zone."""
    row = _of(ask)
    told = _told(ask, row, ask.moment(row["carrier_eta"], row["carrier_zone"]))
    return {**told, "label_image": label(row["shipment_id"])}


def _of(ask: Ask) -> dict[str, Any]:
    given = {name: ask.arguments[name] for name in ("shipment_id", "order_id") if name in ask.arguments}
    if not given:
        raise Refused(422, "MISSING_REQUIRED_FIELD", "give shipment_id or order_id")
    return ask.found("shipments", "shipment for", **given)


def _told(ask: Ask, row: Mapping[str, Any], eta: str) -> dict[str, Any]:
    told = {
        "shipment_id": row["shipment_id"],
        "order_id": row["order_id"],
        "status": row["status"],
        "eta": eta,
        "scanned_at": ask.moment(row["scanned_at"]),
    }
    return told if row["delivered_at"] == NEVER else {**told, "delivered_at": ask.moment(row["delivered_at"])}


def label(shipment_id: str) -> str:
    """Return the picture of a label in base64: the same bytes for a shipment everywhere."""
    parts = (hashlib.sha256(f"{shipment_id} {n}".encode()).digest() for n in range(LABEL_BYTES // 32))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)[8:]).decode("ascii")


def hold(ask: Ask) -> dict[str, Any]:
    """Hold a shipment back."""
    row = ask.found("shipments", "shipment", shipment_id=ask["shipment_id"])
    if row["status"] == "held":
        raise rule("DUPLICATE", f"{row['shipment_id']} is held already")
    if row["status"] not in ("packed", "in_transit"):
        raise rule("E_DELIVERED", f"{row['shipment_id']} is {row['status']} and can no longer be held")
    ask.store.update("shipments", (row["shipment_id"],), status="held", before_hold=row["status"])
    return {"shipment_id": row["shipment_id"], "status": "held"}


def resume(ask: Ask) -> dict[str, Any]:
    """Send a held shipment on."""
    row = ask.found("shipments", "shipment", shipment_id=ask["shipment_id"])
    if row["status"] != "held":
        raise Refused(409, "CONFLICT", f"{row['shipment_id']} is not held but {row['status']}")
    status = row["before_hold"] or "packed"
    ask.store.update("shipments", (row["shipment_id"],), status=status, before_hold="")
    return {"shipment_id": row["shipment_id"], "status": status}


TOOLS: Mapping[str, Function] = {
    "tool_shipment_v2": shipment,
    "tool_carrier_v1": carrier,
    "tool_shipment_hold_v1": hold,
    "tool_shipment_resume_v1": resume,
}
