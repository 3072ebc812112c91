"""The policies of the business, in clauses; a task may add some that hold for a place or a person."""

from __future__ import annotations

from collections.abc import Mapping

CLAUSES: Mapping[str, str] = {
    "REF-1": "Refund, damaged or wrong goods: the whole total of the order is refunded, as it was paid.",
    "REF-2": (
        "Refund, window: a refund is requested within 72 hours of the delivery. After that the "
        "service desk does not "
        "refund; the request is handed over to the lead of payments."
    ),
    "REF-3": (
        "Refund, review: the third refund of a customer within 30 days is put in review "
        "(in_review). It is paid by hand "
        "once it was looked at, and it must not be requested again."
    ),
    "REF-4": (
        "Refund, once: there is one refund an order. If no answer to a request came, look at the "
        "refunds of the order "
        "before anything is requested again."
    ),
    "ADR-1": (
        "Address, invoice: the invoice address of an order may be changed at any time for the "
        "customer who placed it."
    ),
    "ADR-2": (
        "Address, delivery: the delivery address of an order is not changed any more once its "
        "shipment is in transit or "
        "delivered. The customer is told so."
    ),
    "ADR-3": (
        "Address, whose: an order is changed only for the customer who placed it, with the e-mail "
        "known to us."
    ),
    "STK-1": (
        "Stock, transfer: what is moved is reserved first, at a place where enough of it is free "
        "(quantity less reserved)."
    ),
    "STK-2": (
        "Stock, kinds: a place takes either raw or finished goods. What it does not take is not moved there."
    ),
    "PRD-1": (
        "Work order, certificate: work is given only to somebody who is not busy and whose "
        "certificate for the skill is "
        "valid on the day the work is due."
    ),
    "PRD-2": (
        "Work order, nobody: where no worker fits, the work order is handed over to the shift lead, "
        "and nobody gets it."
    ),
    "EXP-1": (
        "Expense, meal: a meal of more than 1,000.00 needs the list of all guests before the report "
        "is handed in."
    ),
    "EXP-2": "Expense, total: the total of a report is the sum of its lines, in cents.",
    "EXP-3": (
        "Expense, approver: a report goes to the manager of the employee; if the manager's limit "
        "is below the total, to "
        "the manager's manager. Nobody approves a report of his or her own."
    ),
    "ACC-1": (
        "Reconcile, settle: a payment is settled with its order if its amount is the order's "
        "total and the shipment is in "
        "transit or delivered."
    ),
    "ACC-3": (
        "Reconcile, not shipped: a payment whose shipment has not left is not settled yet; nothing is "
        "done about it."
    ),
    "ACC-4": (
        "Reconcile, wrong entry: a settlement with the wrong order is undone, and the payment is "
        "settled with its own."
    ),
    "MSG-1": (
        "Data of customers: name, address and orders of a customer are told to nobody but that customer."
    ),
}
"""`ACC-2`, whom a difference of amounts is told to, and `STK-3`, where raw material goes whose place takes finished
goods, differ from task to task."""
