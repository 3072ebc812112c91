"""A business with one of everything, written out by hand, for tests of its tools and rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.business.state import NEVER, Image, Row
from reflex_bench.envs.tools.business.world import Answer, World
from reflex_bench.envs.tools.registry import Registry

HOUR, DAY = 3600, 24 * 3600
START = "2026-04-07T08:00:00+00:00"
"""A Tuesday, eight o'clock in the morning in Greenwich."""

ROWS: Mapping[str, tuple[Row, ...]] = {
    "customers": (
        ("CUS-0001", "Mara Quill", "mara@mail.example"),
        ("CUS-0002", "Ivo Tarn", "ivo@mail.example"),
    ),
    "orders": (
        (
            "ORD-1001",
            "CUS-0001",
            "delivered",
            -10 * DAY,
            -1 * DAY,
            29900,
            "EUR",
            "Mill Lane 1",
            "Mill Lane 1",
        ),
        ("ORD-1002", "CUS-0001", "shipped", -3 * DAY, 1 * DAY, 5000, "EUR", "Mill Lane 1", "Mill Lane 1"),
        ("ORD-1003", "CUS-0002", "open", -1 * DAY, 5 * DAY, 1200, "EUR", "Oak Road 7", "Oak Road 7"),
    ),
    "order_lines": (
        ("ORD-1001", 1, "lamp", 2, 10000),
        ("ORD-1001", 2, "shade", 1, 9900),
        ("ORD-1002", 1, "cable", 1, 5000),
        ("ORD-1003", 1, "bulb", 3, 400),
    ),
    "shipments": (
        ("SHP-1001", "ORD-1001", "delivered", -1 * DAY, -1 * DAY, 120, -20 * HOUR, -20 * HOUR, ""),
        ("SHP-1002", "ORD-1002", "in_transit", 30 * HOUR, 6 * HOUR, -300, -2 * HOUR, NEVER, ""),
        ("SHP-1003", "ORD-1003", "packed", 4 * DAY, 4 * DAY, 0, -1 * HOUR, NEVER, ""),
    ),
    "payments": (
        ("PAY-1001", "ORD-1001", 29900, "captured", -10 * DAY),
        ("PAY-1002", "ORD-1002", 5000, "captured", -3 * DAY),
        ("PAY-1003", "ORD-1003", 1200, "authorised", -1 * DAY),
    ),
    "materials": (("MAT-0001", "copper wire", "raw", "PL-02"), ("MAT-0002", "lamp", "finished", "")),
    "places": (("PL-01", "yard", "raw"), ("PL-02", "line", "raw"), ("PL-03", "shop", "finished")),
    "stock": (("MAT-0001", "PL-01", 100), ("MAT-0002", "PL-03", 5)),
    "work_orders": (
        ("WO-0001", "welding", 2 * DAY, "open", ""),
        ("WO-0002", "welding", 40 * DAY, "open", ""),
    ),
    "workers": (
        ("WRK-0001", "Ann Sorrel", 0),
        ("WRK-0002", "Bo Linden", 0),
        ("WRK-0003", "Cy Hazel", 1),
        ("WRK-0004", "Di Rowan", 0),
    ),
    "certificates": (
        ("WRK-0001", "welding", 30 * DAY),
        ("WRK-0002", "welding", -5 * DAY),
        ("WRK-0003", "welding", 90 * DAY),
        ("WRK-0004", "painting", 90 * DAY),
    ),
    "employees": (
        ("EMP-0001", "Eli Marsh", "sales", 0, "EMP-0002"),
        ("EMP-0002", "Fay Reed", "sales", 100000, "EMP-0003"),
        ("EMP-0003", "Gus Heath", "board", 1000000, ""),
    ),
    "expense_reports": (("EXP-0001", "EMP-0001", "draft", 0, ""),),
    "expense_lines": (
        ("LIN-0001", "EXP-0001", "train", 20000, ""),
        ("LIN-0002", "EXP-0001", "meal", 130000, ""),
        ("LIN-0003", "EXP-0001", "meal", 100000, ""),
    ),
    "policies": (
        ("REF-1", "Refund, window: a refund is requested within 72 hours of the delivery."),
        ("REF-2", "Refund, number: an order is refunded once."),
        ("TRV-1", "Travel: trains are booked in the second class."),
    ),
}
"""What is there at the beginning."""

REGISTRY = Registry.load()


def world(**changed: tuple[Row, ...]) -> World:
    """The world, with other rows in some tables."""
    return World.open(Image(START, "service", {**ROWS, **changed}))


def role_for(tool: str) -> str:
    """A role that may call a tool."""
    return REGISTRY.tools[tool].roles[0]


def call(there: World, tool: str, /, *, at: int = 0, **arguments: Any) -> Answer:
    """Call a tool with the rights that it takes. `role`, `number`, `key`, `held`, `lenient` are of the call."""
    how = {name: arguments.pop(name) for name in ("key", "held", "lenient") if name in arguments}
    role, number = arguments.pop("role", role_for(tool)), arguments.pop("number", 1)
    return there.call(REGISTRY.tools[tool], arguments, at=at, role=role, call=number, **how)


def done(there: World, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool, and return the body of its success."""
    answer = call(there, tool, **arguments)
    assert answer.status == 200, answer
    return answer.body
