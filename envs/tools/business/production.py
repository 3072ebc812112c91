"""Work orders, and who may do them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.business.asking import Ask, Function, Refused, rule


def work_order(ask: Ask) -> dict[str, Any]:
    """Look a work order up."""
    row = ask.found("work_orders", "work order", work_order_id=ask["work_order_id"])
    told = {"work_order_id": row["work_order_id"], "skill": row["skill"], "due": ask.day(row["due"])}
    told["status"] = row["status"]
    return {**told, "worker_id": row["worker_id"]} if row["worker_id"] else told


def workers(ask: Ask) -> dict[str, Any]:
    """List who has ever had a certificate for a skill, whether it still holds or not."""
    holders = ask.store.all("certificates", skill=ask["skill"])
    found = []
    for id in sorted({row["worker_id"] for row in holders}):
        row = ask.found("workers", "worker", worker_id=id)
        found.append(
            {
                "worker_id": id,
                "name": row["name"],
                "busy": bool(row["busy"]) or ask.store.one("work_orders", worker_id=id) is not None,
                "certificates": [
                    {"skill": each["skill"], "valid_until": ask.day(each["valid_until"])}
                    for each in ask.store.all("certificates", worker_id=id)
                ],
            }
        )
    return {"workers": found}


def dispatch(ask: Ask) -> dict[str, Any]:
    """Give a work order to a worker whose certificate holds on the day when it is due."""
    order = ask.found("work_orders", "work order", work_order_id=ask["work_order_id"])
    worker = ask.found("workers", "worker", worker_id=ask["worker_id"])
    id = worker["worker_id"]
    if order["worker_id"]:
        raise rule("DUPLICATE", f"{order['work_order_id']} is given to {order['worker_id']} already")
    held = ask.store.one("certificates", worker_id=id, skill=order["skill"])
    if held is None:
        raise rule("ERR_CERT_MISMATCH", f"{id} has no certificate for {order['skill']}")
    if held["valid_until"] < order["due"]:
        until = ask.day(held["valid_until"])
        due = ask.day(order["due"])
        message = f"the certificate of {id} for {order['skill']} holds until {until}; the work is due {due}"
        raise rule("ERR_CERT_MISMATCH", message)
    if worker["busy"] or ask.store.one("work_orders", worker_id=id) is not None:
        raise rule("E_WORKER_BUSY", f"{id} is busy")
    ask.store.update("work_orders", (order["work_order_id"],), status="dispatched", worker_id=id)
    return {"work_order_id": order["work_order_id"], "worker_id": id}


def undispatch(ask: Ask) -> dict[str, Any]:
    """Take a work order back."""
    order = ask.found("work_orders", "work order", work_order_id=ask["work_order_id"])
    if not order["worker_id"]:
        raise Refused(409, "CONFLICT", f"{order['work_order_id']} is given to nobody")
    ask.store.update("work_orders", (order["work_order_id"],), status="open", worker_id="")
    return {"work_order_id": order["work_order_id"], "worker_id": order["worker_id"]}


TOOLS: Mapping[str, Function] = {
    "tool_work_orders_v1": work_order,
    "tool_workers_v1": workers,
    "tool_dispatch_v2": dispatch,
    "tool_undispatch_v1": undispatch,
}
