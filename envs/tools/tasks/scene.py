"""The making of an image: a small business at a moment, with more in it than a task needs.

Whoever and whatever is in it is invented. Addresses of mail end in `.example`, which is reserved for that (RFC 2606).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.tools.business.state import NEVER, TABLES, Image, Row, moment
from reflex_bench.envs.tools.tasks.policies import CLAUSES

HOUR, DAY = 3600, 86_400
FIRST = (
    "Ada",
    "Bruno",
    "Chiara",
    "Dario",
    "Elin",
    "Farid",
    "Greta",
    "Hanno",
    "Ines",
    "Jonas",
    "Kaja",
    "Luan",
    "Mira",
    "Nils",
)
LAST = (
    "Abendrot",
    "Bachmeyer",
    "Castelani",
    "Drossel",
    "Eckhorn",
    "Falkenried",
    "Grauwasser",
    "Hollbein",
    "Isenhart",
)
STREETS = (
    "Tinsmith Lane",
    "Harbour Rise",
    "Orchard Close",
    "Mill Row",
    "Juniper Street",
    "Quarry Hill",
    "Ferry Walk",
)
TOWNS = ("Westermoor", "Altenbruck", "Niederhall", "Port Esker", "Lindwater", "Kalkrode")
ARTICLES = (
    "desk lamp",
    "bookcase",
    "kettle",
    "office chair",
    "wall clock",
    "tea set",
    "door mat",
    "folding table",
)
SKILLS = ("welding", "milling", "painting", "assembly", "wiring")
NAMES_OF_MATERIAL = ("steel sheet", "oak board", "copper wire", "varnish", "hinge", "glass pane")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A customer or colleague."""

    id: str
    name: str
    email: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order with what belongs to it: cents, moments, ids."""

    id: str
    customer: Person
    total: int
    placed_at: int
    promised_by: int
    eta: int
    shipment: str
    payment: str


class Scene:
    """An image under way.

    Attributes:
        rng: the choices of this task.
        start: the moment at which it begins.
    """

    def __init__(self, rng: SeededRandom, role: str) -> None:
        self.rng = rng
        self.role = role
        month, day, hour = rng.between(2, 11), rng.between(8, 26), rng.between(7, 11)
        self.start = f"2026-{month:02}-{day:02}T{hour:02}:00:00+00:00"
        self._rows: dict[str, list[Row]] = {name: [] for name in TABLES}
        self._next: dict[str, int] = {}
        self._names = rng.shuffled([f"{first} {last}" for first in FIRST for last in LAST])
        for clause, text in CLAUSES.items():
            self.add("policies", clause=clause, text=text)

    def add(self, table: str, **values: Any) -> None:
        """Add a row, by the names of all its columns."""
        self._rows[table].append(tuple(values[name] for name in TABLES[table].names))

    def id(self, prefix: str) -> str:
        """Return an id that was not used yet; ids that tools make begin at 9000."""
        last = self._next.get(prefix, self.rng.between(1010, 3000))
        self._next[prefix] = last + self.rng.between(1, 37)
        return f"{prefix}-{self._next[prefix]}"

    def image(self) -> Image:
        """Return what was made, rows by their keys."""
        return Image(
            self.start, self.role, {name: tuple(sorted(rows)) for name, rows in self._rows.items() if rows}
        )

    def when(self, seconds: int) -> str:
        """Return a moment in ISO 8601, as the tools tell it."""
        return moment(self.start, seconds)

    def day(self, seconds: int) -> str:
        """Return the day of a moment."""
        return self.when(seconds)[:10]

    def address(self) -> str:
        """Return a postal address."""
        street, town = self.rng.pick(STREETS), self.rng.pick(TOWNS)
        return f"{self.rng.between(1, 90)} {street}, {self.rng.between(10000, 98999)} {town}"

    def name(self) -> str:
        """Return the name of a person, each once."""
        return self._names.pop()

    def customer(self) -> Person:
        """Add a customer."""
        name = self.name()
        person = Person(id=self.id("CUS"), name=name, email=f"{name.lower().replace(' ', '.')}@post.example")
        self.add("customers", customer_id=person.id, name=person.name, email=person.email)
        return person

    def order(
        self,
        customer: Person,
        *,
        days_ago: int,
        status: str = "in_transit",
        paid: int | None = None,
        delivered: int = NEVER,
    ) -> Order:
        """Add an order with lines, a shipment and a payment.

        Args:
            customer: who placed it.
            days_ago: when.
            status: of the shipment.
            paid: cents, where they are not the total.
            delivered: the moment, for one that is delivered.
        """
        rng, id = self.rng, self.id("ORD")
        placed = -days_ago * DAY - rng.between(0, 9) * HOUR
        ahead = rng.between(20, 90) * HOUR + rng.between(0, 3) * 900
        order = Order(
            id=id,
            customer=customer,
            total=self._lines(id),
            placed_at=placed,
            promised_by=placed + (days_ago + rng.between(2, 5)) * DAY,
            eta=delivered if status == "delivered" else ahead,
            shipment=self.id("SHP"),
            payment=self.id("PAY"),
        )
        self._placed(order, {"packed": "open", "delivered": "delivered"}.get(status, "shipped"))
        self._shipped(order, status, delivered)
        self._paid(order, order.total if paid is None else paid)
        return order

    def _lines(self, order: str) -> int:
        """Add lines to an order, and return their sum."""
        rng, total = self.rng, 0
        for line, article in enumerate(rng.shuffled(ARTICLES)[: rng.between(1, 3)], 1):
            quantity, price = rng.between(1, 3), rng.between(9, 180) * 100 + 90
            total += quantity * price
            self.add(
                "order_lines", order_id=order, line=line, article=article, quantity=quantity, price=price
            )
        return total

    def _placed(self, order: Order, status: str) -> None:
        home = self.address()
        self.add(
            "orders",
            order_id=order.id,
            customer_id=order.customer.id,
            status=status,
            placed_at=order.placed_at,
            promised_by=order.promised_by,
            total=order.total,
            currency="EUR",
            invoice_address=home,
            delivery_address=home,
        )

    def _paid(self, order: Order, amount: int) -> None:
        self.add(
            "payments",
            payment_id=order.payment,
            order_id=order.id,
            amount=amount,
            status="captured",
            paid_at=order.placed_at + HOUR,
        )

    def _shipped(self, order: Order, status: str, delivered: int) -> None:
        rng = self.rng
        # The carrier's own figure is older: it always differs from that of the system of record.
        stale = order.eta - rng.between(5, 30) * HOUR
        self.add(
            "shipments",
            shipment_id=order.shipment,
            order_id=order.id,
            status=status,
            eta=order.eta,
            carrier_eta=stale,
            carrier_zone=rng.pick((-300, 120, 330, 540)),
            scanned_at=min(delivered, -rng.between(1, 12) * HOUR),
            delivered_at=delivered,
            before_hold="packed" if status == "held" else "",
        )

    def bystanders(self, count: int = 3) -> list[Order]:
        """Add customers with an order each that the request is not about."""
        return [self.order(self.customer(), days_ago=self.rng.between(2, 9)) for _ in range(count)]

    def refund(self, order: Order, *, amount: int, status: str, days_ago: int) -> str:
        """Add a refund that was requested before, and return its id."""
        id = self.id("RFD")
        when = -days_ago * DAY - self.rng.between(1, 8) * HOUR
        reason = self.rng.pick(("arrived broken", "sent twice", "wrong article"))
        self.add(
            "refunds",
            refund_id=id,
            order_id=order.id,
            amount=amount,
            status=status,
            reason=reason,
            requested_at=when,
        )
        return id

    def employee(self, department: str, limit: int, manager: str = "") -> Person:
        """Add a colleague with the amount in cents that he or she may approve."""
        person = Person(id=self.id("EMP"), name=self.name())
        self.add(
            "employees",
            employee_id=person.id,
            name=person.name,
            department=department,
            approval_limit=limit,
            manager_id=manager,
        )
        return person

    def worker(self, certificates: dict[str, int], *, busy: bool = False) -> Person:
        """Add a worker.

        Args:
            certificates: skill, and the moment until which it is valid.
            busy: whether there is other work.
        """
        person = Person(id=self.id("WRK"), name=self.name())
        self.add("workers", worker_id=person.id, name=person.name, busy=int(busy))
        for skill, until in certificates.items():
            self.add("certificates", worker_id=person.id, skill=skill, valid_until=until)
        return person

    def expense_line(self, report: str, kind: str, amount: int, guests: tuple[str, ...] = ()) -> str:
        """Add a line to an expense report, and return its id."""
        id = self.id("LIN")
        told = json.dumps(list(guests)) if guests else ""
        self.add("expense_lines", line_id=id, report_id=report, kind=kind, amount=amount, guests=told)
        return id
