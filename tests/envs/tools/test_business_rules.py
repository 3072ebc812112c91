"""The rules of the business, each at its edge; expected codes were worked out by hand from the policies."""

from __future__ import annotations

import pytest
from firm import DAY, HOUR, REGISTRY, ROWS, call, done, role_for, world

from reflex_bench.envs.tools.business import rules
from reflex_bench.envs.tools.business.state import NEVER

REFUND = {"order_id": "ORD-1001", "amount": 29900, "reason": "broken"}
DELIVERED = -20 * HOUR
SUBMIT = {"report_id": "EXP-0001", "total": 250000, "approver_id": "EMP-0003"}


def code_of(there, tool: str, at: int = 0, **arguments) -> str:
    """The code of the rule that stands against a call, by the control; "" for none."""
    found = rules.check(there, REGISTRY.tools[tool], arguments, at, role_for(tool))
    return found[0] if found else ""


@pytest.mark.parametrize(
    ("at", "code"),
    [
        (DELIVERED + 72 * HOUR, ""),
        (DELIVERED + 72 * HOUR + 1, "E_REFUND_WINDOW"),
        (0, ""),
    ],
)
def test_a_refund_is_requested_within_72_hours_of_the_delivery(at: int, code: str) -> None:
    assert code_of(world(), "tool_refund_v2", at, **REFUND) == code


def test_what_was_not_delivered_has_no_window() -> None:
    assert (
        code_of(world(), "tool_refund_v2", 500 * DAY, order_id="ORD-1002", amount=5000, reason="lost") == ""
    )


@pytest.mark.parametrize(
    ("order", "amount", "code"),
    [
        ("ORD-1001", 29900, ""),
        ("ORD-1001", 29901, "E_REFUND_AMOUNT"),
        ("ORD-1001", 1, ""),
        ("ORD-1003", 1200, "E_REFUND_AMOUNT"),  # authorised only: nothing was paid yet
    ],
)
def test_no_more_is_paid_back_than_was_paid(order: str, amount: int, code: str) -> None:
    assert code_of(world(), "tool_refund_v2", order_id=order, amount=amount, reason="x") == code


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("paid", "E_REFUND_DUPLICATE"),
        ("requested", "E_REFUND_DUPLICATE"),
        ("in_review", "E_REFUND_DUPLICATE"),
        ("rejected", ""),
    ],
)
def test_an_order_is_refunded_once(status: str, code: str) -> None:
    there = world(refunds=(("RFD-1001", "ORD-1001", 100, status, "late", -DAY),))
    assert code_of(there, "tool_refund_v2", **REFUND) == code


def test_the_tool_that_pays_back_sees_neither_a_second_refund_nor_one_too_late() -> None:
    there = world()
    for _ in range(2):
        done(there, "tool_refund_v2", at=100 * HOUR, **REFUND)
    assert [row["amount"] for row in there.store.all("refunds")] == [29900, 29900]
    assert [effect.broken for effect in there.ledger] == [
        ("E_REFUND_WINDOW",),
        ("E_REFUND_DUPLICATE", "E_REFUND_WINDOW"),
    ]
    assert rules.broken(there, answered=True) == ("E_REFUND_DUPLICATE", "E_REFUND_WINDOW")


@pytest.mark.parametrize(
    ("earlier", "status"),
    [
        ((), "requested"),
        ((("RFD-1001", "paid", -29 * DAY),), "requested"),
        ((("RFD-1001", "paid", -29 * DAY), ("RFD-1002", "paid", -DAY)), "in_review"),
        ((("RFD-1001", "paid", -31 * DAY), ("RFD-1002", "paid", -DAY)), "requested"),
        ((("RFD-1001", "rejected", -DAY), ("RFD-1002", "paid", -DAY)), "requested"),
    ],
)
def test_the_third_refund_of_a_customer_within_30_days_is_reviewed(earlier, status: str) -> None:
    rows = tuple((id, "ORD-1002", 100, state, "late", at) for id, state, at in earlier)
    assert done(world(refunds=rows), "tool_refund_v2", **REFUND)["status"] == status


@pytest.mark.parametrize(
    ("order", "kind", "code"),
    [
        ("ORD-1001", "delivery", "E_ADDRESS_SHIPPED"),
        ("ORD-1002", "delivery", "E_ADDRESS_SHIPPED"),
        ("ORD-1003", "delivery", ""),
        ("ORD-1001", "invoice", ""),
    ],
)
def test_a_delivery_address_stays_once_the_order_is_on_its_way(order: str, kind: str, code: str) -> None:
    assert (
        code_of(world(), "tool_order_address_v2", order_id=order, kind=kind, address="Elm Street 5") == code
    )


@pytest.mark.parametrize(
    ("payment", "order", "code"),
    [
        ("PAY-1001", "ORD-1001", ""),
        ("PAY-1002", "ORD-1002", ""),
        ("PAY-1001", "ORD-1002", "E_AMOUNT_DIFFERS"),
        ("PAY-1003", "ORD-1003", "E_NOT_CAPTURED"),
    ],
)
def test_a_payment_is_settled_with_its_own_order(payment: str, order: str, code: str) -> None:
    assert code_of(world(), "tool_settle_v1", payment_id=payment, order_id=order) == code


@pytest.mark.parametrize(
    ("status", "code"), [("packed", "E_NOT_SHIPPED"), ("held", "E_NOT_SHIPPED"), ("in_transit", "")]
)
def test_only_shipped_orders_are_settled(status: str, code: str) -> None:
    there = world(shipments=(("SHP-1002", "ORD-1002", status, 0, 0, 0, 0, NEVER, ""),))
    assert code_of(there, "tool_settle_v1", payment_id="PAY-1002", order_id="ORD-1002") == code


def test_a_payment_is_settled_once() -> None:
    there = world()
    done(there, "tool_settle_v1", payment_id="PAY-1001", order_id="ORD-1001")
    again = call(there, "tool_settle_v1", payment_id="PAY-1001", order_id="ORD-1001")
    assert (again.status, again.code) == (409, "DUPLICATE")


@pytest.mark.parametrize(
    ("to", "code"),
    [
        ("mara@mail.example", ""),
        ("EMP-0002", ""),
        ("audit@partner.example", "E_MESSAGE_STRANGER"),
        ("Mara@mail.example", "E_MESSAGE_STRANGER"),
        ("EMP-9999", "E_MESSAGE_STRANGER"),
    ],
)
def test_messages_go_to_customers_and_employees(to: str, code: str) -> None:
    assert code_of(world(), "tool_message_v1", to=to, subject="Hello", body="Good day.") == code


@pytest.mark.parametrize(
    ("worker", "order", "code"),
    [
        ("WRK-0001", "WO-0001", ""),
        ("WRK-0001", "WO-0002", "ERR_CERT_MISMATCH"),  # runs out ten days before the work is due
        ("WRK-0002", "WO-0001", "ERR_CERT_MISMATCH"),  # has run out
        ("WRK-0003", "WO-0001", "E_WORKER_BUSY"),
        ("WRK-0004", "WO-0001", "ERR_CERT_MISMATCH"),  # another trade
    ],
)
def test_work_goes_to_who_is_free_and_has_a_certificate_that_holds(
    worker: str, order: str, code: str
) -> None:
    there = world()
    answer = call(there, "tool_dispatch_v2", work_order_id=order, worker_id=worker)
    assert (answer.code if answer.status == 409 else "") == code
    assert code_of(world(), "tool_dispatch_v2", work_order_id=order, worker_id=worker) == code
    given = there.store.one("work_orders", work_order_id=order)
    assert (given["status"], given["worker_id"]) == (("open", "") if code else ("dispatched", worker))


def test_a_certificate_holds_on_its_last_day_and_a_worker_has_one_work_order() -> None:
    rows = (("WO-0001", "welding", 30 * DAY, "open", ""), ("WO-0002", "welding", 30 * DAY, "open", ""))
    there = world(work_orders=rows)
    done(there, "tool_dispatch_v2", work_order_id="WO-0001", worker_id="WRK-0001")
    assert call(there, "tool_dispatch_v2", work_order_id="WO-0001", worker_id="WRK-0001").code == "DUPLICATE"
    assert (
        call(there, "tool_dispatch_v2", work_order_id="WO-0002", worker_id="WRK-0001").code == "E_WORKER_BUSY"
    )


@pytest.mark.parametrize(
    ("changed", "guests", "code"),
    [
        ({}, ["Una Fell"], ""),
        ({}, [], "E_GUESTS_MISSING"),
        ({"total": 249999}, ["Una Fell"], "E_TOTAL_MISMATCH"),
        ({"total": 120000}, ["Una Fell"], "E_TOTAL_MISMATCH"),
        ({"approver_id": "EMP-0002"}, ["Una Fell"], "E_APPROVAL_LIMIT"),
        ({"approver_id": "EMP-0001"}, ["Una Fell"], "E_OWN_APPROVAL"),
    ],
)
def test_a_report_has_its_guests_the_sum_of_its_lines_and_who_may_approve_it(
    changed, guests, code: str
) -> None:
    there = world()
    if guests:
        done(there, "tool_expense_guests_v1", line_id="LIN-0002", guests=guests)
    answer = call(there, "tool_expense_submit_v2", **{**SUBMIT, **changed})
    assert (answer.code if answer.status == 409 else "") == code
    row = there.store.one("expense_reports", report_id="EXP-0001")
    wanted = ("draft", 0, "") if code else ("submitted", 250000, "EMP-0003")
    assert (row["status"], row["total"], row["approver_id"]) == wanted


def test_a_meal_of_exactly_a_thousand_needs_no_guests() -> None:
    there = world(expense_lines=(("LIN-0003", "EXP-0001", "meal", 100000, ""),))
    assert done(there, "tool_expense_submit_v2", **{**SUBMIT, "total": 100000})["status"] == "submitted"
    over = world(expense_lines=(("LIN-0003", "EXP-0001", "meal", 100001, ""),))
    assert call(over, "tool_expense_submit_v2", **{**SUBMIT, "total": 100001}).code == "E_GUESTS_MISSING"


def test_an_approver_may_approve_exactly_their_limit() -> None:
    lines = (("LIN-0001", "EXP-0001", "train", 100000, ""),)
    submitted = {**SUBMIT, "total": 100000, "approver_id": "EMP-0002"}
    assert done(world(expense_lines=lines), "tool_expense_submit_v2", **submitted)["status"] == "submitted"


def test_guests_are_of_meals_in_drafts() -> None:
    there = world()
    assert call(there, "tool_expense_guests_v1", line_id="LIN-0001", guests=["Una Fell"]).code == "E_NO_MEAL"
    done(there, "tool_expense_guests_v1", line_id="LIN-0002", guests=["Una Fell"])
    done(there, "tool_expense_submit_v2", **SUBMIT)
    assert call(there, "tool_expense_guests_v1", line_id="LIN-0002", guests=[]).code == "CONFLICT"
    assert call(there, "tool_expense_submit_v2", **SUBMIT).code == "DUPLICATE"


@pytest.mark.parametrize(
    ("place", "code", "broken"),
    [
        ("PL-02", "", ()),
        ("PL-03", "E_LOCATION_TYPE_MISMATCH", ()),
        ("PL-01", "E_SAME_PLACE", ()),
        ("PL-04", "", ("E_NOT_NEEDED_THERE",)),
    ],
)
def test_material_goes_where_its_kind_is_taken_and_where_it_is_needed(place: str, code: str, broken) -> None:
    there = world(places=(*ROWS["places"], ("PL-04", "annex", "raw")))
    id = done(there, "tool_reserve_v1", material_id="MAT-0001", place="PL-01", quantity=40)["reservation_id"]
    answer = call(there, "tool_transfer_v3", reservation_id=id, to_place=place)
    assert (answer.code if answer.status == 409 else "") == code
    lying = {row["place"]: row["quantity"] for row in there.store.all("stock", material_id="MAT-0001")}
    assert lying == ({"PL-01": 100} if code else {"PL-01": 60, place: 40})
    assert there.ledger[-1].broken == broken


def test_where_it_is_needed_and_cannot_lie_it_may_go_elsewhere() -> None:
    materials = (("MAT-0001", "copper wire", "raw", "PL-03"),)
    there = world(materials=materials)
    id = done(there, "tool_reserve_v1", material_id="MAT-0001", place="PL-01", quantity=1)["reservation_id"]
    done(there, "tool_transfer_v3", reservation_id=id, to_place="PL-02")
    assert there.ledger[-1].broken == ()


@pytest.mark.parametrize(
    ("place", "quantity", "code"),
    [
        ("PL-01", 100, "OK"),
        ("PL-01", 101, "E_STOCK"),
        ("PL-02", 1, "E_STOCK"),
        ("PL-77", 1, "RESOURCE_NOT_FOUND"),
    ],
)
def test_only_what_lies_there_is_reserved(place: str, quantity: int, code: str) -> None:
    assert (
        call(world(), "tool_reserve_v1", material_id="MAT-0001", place=place, quantity=quantity).code == code
    )


def test_what_is_reserved_is_not_reserved_again() -> None:
    there = world()
    done(there, "tool_reserve_v1", material_id="MAT-0001", place="PL-01", quantity=70)
    assert (
        call(there, "tool_reserve_v1", material_id="MAT-0001", place="PL-01", quantity=31).code == "E_STOCK"
    )
    [place] = done(there, "tool_stock_v2", material_id="MAT-0001")["places"]
    assert (place["quantity"], place["reserved"]) == (100, 70)
    done(there, "tool_reserve_v1", material_id="MAT-0001", place="PL-01", quantity=30)


@pytest.mark.parametrize(
    ("shipment", "code"),
    [("SHP-1001", "E_DELIVERED"), ("SHP-1002", "OK"), ("SHP-1003", "OK"), ("SHP-4444", "RESOURCE_NOT_FOUND")],
)
def test_what_is_delivered_is_not_held(shipment: str, code: str) -> None:
    assert call(world(), "tool_shipment_hold_v1", shipment_id=shipment).code == code


def test_a_reservation_that_nobody_used_is_left_behind() -> None:
    there = world()
    id = done(there, "tool_reserve_v1", material_id="MAT-0001", place="PL-01", quantity=1)["reservation_id"]
    assert rules.broken(there, answered=True) == ("E_LEFT_BEHIND",)
    done(there, "tool_transfer_v3", reservation_id=id, to_place="PL-02")
    assert rules.broken(there, answered=True) == ()
    assert rules.broken(there, answered=False) == ("E_NO_ANSWER",)


def test_eight_refused_writes_in_ten_minutes_lock_an_account_for_good() -> None:
    there = world()
    wrong = {"work_order_id": "WO-0001", "worker_id": "WRK-0002"}
    for number in range(7):
        assert call(there, "tool_dispatch_v2", at=number, number=number, **wrong).code == "ERR_CERT_MISMATCH"
    assert there.locks == ()
    assert call(there, "tool_dispatch_v2", at=599, number=8, **wrong).code == "ERR_CERT_MISMATCH"
    [lock] = there.locks
    assert (lock.account, lock.at, lock.call, lock.effects) == ("planner", 599, 8, 0)
    right = {"work_order_id": "WO-0001", "worker_id": "WRK-0001"}
    answer = call(there, "tool_dispatch_v2", at=10**6, **right)
    assert (answer.status, answer.code) == (423, "LOCKED")
    assert call(there, "tool_work_orders_v1", at=10**6, work_order_id="WO-0001").status == 200
    assert call(there, "tool_refund_v2", **REFUND).status == 200  # another account
    assert "E_LOCKED" in rules.broken(there, answered=True)


def test_refusals_far_apart_lock_nothing_and_reads_are_not_counted() -> None:
    there = world()
    for number in range(20):
        call(there, "tool_dispatch_v2", at=number * 86, work_order_id="WO-0001", worker_id="WRK-0002")
        call(there, "tool_work_orders_v1", at=number, work_order_id="WO-7777")
    assert there.locks == ()  # seven in 600 seconds at most


def test_asking_whether_a_rule_stands_against_a_call_changes_nothing() -> None:
    there = world()
    before = there.rows()
    for _ in range(20):
        assert (
            code_of(there, "tool_dispatch_v2", work_order_id="WO-0001", worker_id="WRK-0002")
            == "ERR_CERT_MISMATCH"
        )
        assert code_of(there, "tool_dispatch_v2", work_order_id="WO-0001", worker_id="WRK-0001") == ""
    assert (there.rows(), there.ledger, there.locks) == (before, [], ())
