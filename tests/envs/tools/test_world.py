"""A world: what tools read and write, what is held, released, undone, and what nothing may do to it."""

from __future__ import annotations

import json

import pytest
from firm import DAY, HOUR, REGISTRY, ROWS, START, call, done, role_for, world
from hypothesis import given
from hypothesis import strategies as any_of

from reflex_bench.envs.tools.business.state import NEVER, TABLES, Image
from reflex_bench.envs.tools.business.world import FUNCTIONS, World
from reflex_bench.envs.tools.controls.schema import first_fault

REFUND = {"order_id": "ORD-1001", "amount": 29900, "reason": "broken"}
MESSAGE = {"to": "mara@mail.example", "subject": "Hello", "body": "Good day."}
READS = [
    ("tool_orders_v3", {"order_id": "ORD-1001"}),
    ("tool_order_archive_v1", {"order_id": "ORD-1001"}),
    ("tool_order_search_v2", {"email": "mara@mail.example"}),
    ("tool_customers_v1", {"customer_id": "CUS-0002"}),
    ("tool_shipment_v2", {"order_id": "ORD-1001"}),
    ("tool_carrier_v1", {"order_id": "ORD-1002"}),
    ("tool_payments_v2", {"order_id": "ORD-1001"}),
    ("tool_refunds_v2", {"order_id": "ORD-1001"}),
    ("tool_stock_v2", {"material_id": "MAT-0001"}),
    ("tool_stock_count_v1", {"material_id": "MAT-0002"}),
    ("tool_places_v1", {"place": "PL-03"}),
    ("tool_work_orders_v1", {"work_order_id": "WO-0001"}),
    ("tool_workers_v1", {"skill": "welding"}),
    ("tool_expense_report_v2", {"report_id": "EXP-0001"}),
    ("tool_employees_v1", {"department": "sales"}),
    ("tool_policies_v1", {"query": "refunds"}),
]
WRITES = [
    ((), "tool_order_address_v2", {"order_id": "ORD-1003", "kind": "delivery", "address": "Elm Street 5"}),
    ((), "tool_shipment_hold_v1", {"shipment_id": "SHP-1002"}),
    (
        (("tool_shipment_hold_v1", {"shipment_id": "SHP-1002"}),),
        "tool_shipment_resume_v1",
        {"shipment_id": "SHP-1002"},
    ),
    ((), "tool_settle_v1", {"payment_id": "PAY-1001", "order_id": "ORD-1001"}),
    (
        (("tool_settle_v1", {"payment_id": "PAY-1001", "order_id": "ORD-1001"}),),
        "tool_unsettle_v1",
        {"entry_id": "STL-9000"},
    ),
    ((), "tool_reserve_v1", {"material_id": "MAT-0001", "place": "PL-01", "quantity": 3}),
    (
        (("tool_reserve_v1", {"material_id": "MAT-0001", "place": "PL-01", "quantity": 3}),),
        "tool_release_v1",
        {"reservation_id": "RSV-9000"},
    ),
    ((), "tool_dispatch_v2", {"work_order_id": "WO-0001", "worker_id": "WRK-0001"}),
    (
        (("tool_dispatch_v2", {"work_order_id": "WO-0001", "worker_id": "WRK-0001"}),),
        "tool_undispatch_v1",
        {"work_order_id": "WO-0001"},
    ),
    ((), "tool_expense_guests_v1", {"line_id": "LIN-0002", "guests": ["Una Fell", "Øyvind"]}),
]


@pytest.mark.parametrize(("tool", "arguments"), READS)
def test_a_read_answers_in_the_form_of_its_schema_and_writes_nothing(tool: str, arguments) -> None:
    there = world()
    before = there.rows()
    assert first_fault(done(there, tool, **arguments), REGISTRY.tools[tool].returns) is None
    assert (there.rows(), there.ledger) == (before, [])


def test_every_tool_is_read_or_written_here_and_has_a_function() -> None:
    irreversible = {"tool_refund_v2", "tool_transfer_v3", "tool_expense_submit_v2", "tool_message_v1"}
    assert {id for id, _ in READS} | {id for _, id, _ in WRITES} | irreversible == set(REGISTRY.tools)
    assert set(REGISTRY.tools) <= set(FUNCTIONS)


@pytest.mark.parametrize(("first", "tool", "arguments"), WRITES)
def test_a_compensable_write_fits_its_schema_and_its_undo_brings_the_rows_back(
    first, tool: str, arguments
) -> None:
    there = world()
    for earlier, given_ in first:
        done(there, earlier, **given_)
    before = there.rows()
    assert first_fault(done(there, tool, **arguments), REGISTRY.tools[tool].returns) is None
    assert there.rows() != before
    effect = there.ledger[-1]
    assert (effect.effect, effect.mode) == ("compensable", "real")
    assert there.undo(effect, at=5, call=2).status == 200
    assert there.rows() == before
    assert there.ledger[effect.index].mode == "undone"
    assert there.undo(effect, at=5, call=2).code == "CONFLICT"


def test_answers_are_what_the_tables_say() -> None:
    there = world()
    order = done(there, "tool_orders_v3", order_id="ORD-1001")
    assert order["placed_at"] == "2026-03-28T08:00:00Z"
    assert order["promised_by"] == "2026-04-06"
    assert [line["price"] * line["quantity"] for line in order["lines"]] == [20000, 9900]
    found = done(there, "tool_order_search_v2", customer_id="CUS-0001", placed_after="2026-03-28")
    assert [each["order_id"] for each in found["orders"]] == ["ORD-1002"]
    workers = done(there, "tool_workers_v1", skill="welding")["workers"]
    assert [(each["worker_id"], each["busy"]) for each in workers] == [
        ("WRK-0001", False),
        ("WRK-0002", False),
        ("WRK-0003", True),
    ]
    assert workers[1]["certificates"] == [{"skill": "welding", "valid_until": "2026-04-02"}]
    assert done(there, "tool_stock_v2", material_id="MAT-0001")["needed_at"] == "PL-02"
    assert "needed_at" not in done(there, "tool_stock_v2", material_id="MAT-0002")
    clauses = done(there, "tool_policies_v1", query="How often is an order REFUNDED?")["clauses"]
    assert [each["clause"] for each in clauses] == ["REF-2", "REF-1"]
    assert done(there, "tool_policies_v1", query="kittens")["clauses"] == []


def test_the_carrier_expects_another_moment_and_tells_it_in_another_zone() -> None:
    there = world()
    own = done(there, "tool_shipment_v2", order_id="ORD-1002")
    other = done(there, "tool_carrier_v1", order_id="ORD-1002")
    assert own["eta"] == "2026-04-08T14:00:00Z"
    assert other["eta"] == "2026-04-07T09:00:00-05:00"
    assert len(other["label_image"]) == 2048
    assert other["label_image"] == done(world(), "tool_carrier_v1", shipment_id="SHP-1002")["label_image"]
    assert "delivered_at" not in own
    assert done(there, "tool_shipment_v2", order_id="ORD-1001")["delivered_at"] == "2026-04-06T12:00:00Z"


def test_what_is_held_is_answered_like_the_real_thing_and_not_written() -> None:
    there = world()
    before = there.rows()
    answer = call(there, "tool_refund_v2", held=True, **REFUND)
    assert answer == call(world(), "tool_refund_v2", **REFUND)
    assert there.rows() == before
    assert [effect.mode for effect in there.ledger] == ["held"]
    released = there.release(there.ledger[0], at=HOUR)
    assert released.body == answer.body
    assert there.ledger[0].mode == "released"
    assert there.rows()["refunds"] == (("ORD-1001", 29900, "requested"),)
    assert there.release(there.ledger[0], at=HOUR).code == "CONFLICT"
    assert len(there.rows()["refunds"]) == 1


def test_a_held_call_meets_what_was_held_before_it() -> None:
    lines = (("LIN-0001", "EXP-0001", "train", 20000, ""),)
    there = world(expense_lines=lines)
    report = {"report_id": "EXP-0001", "total": 20000, "approver_id": "EMP-0002"}
    assert call(there, "tool_expense_submit_v2", held=True, **report).status == 200
    assert call(there, "tool_expense_submit_v2", held=True, **report).code == "DUPLICATE"
    call(there, "tool_refund_v2", held=True, **REFUND)
    call(there, "tool_refund_v2", held=True, **REFUND)
    assert there.ledger[-1].broken == ("E_REFUND_DUPLICATE",)


def test_what_fails_when_it_is_released_is_dropped() -> None:
    there = world()
    id = done(there, "tool_reserve_v1", material_id="MAT-0001", place="PL-01", quantity=9)["reservation_id"]
    call(there, "tool_transfer_v3", held=True, reservation_id=id, to_place="PL-02")
    done(there, "tool_release_v1", reservation_id=id)
    before = there.rows()
    assert there.release(there.ledger[1], at=1).code == "RESOURCE_NOT_FOUND"
    assert there.ledger[1].mode == "dropped"
    assert there.rows() == before


def test_what_cannot_be_undone_is_not() -> None:
    there = world()
    done(there, "tool_message_v1", **MESSAGE)
    assert there.undo(there.ledger[0], at=1, call=1).code == "CONFLICT"
    assert there.ledger[0].mode == "real"


def test_a_call_that_takes_another_back_marks_it_as_undone() -> None:
    there = world()
    id = done(there, "tool_reserve_v1", material_id="MAT-0001", place="PL-01", quantity=9)["reservation_id"]
    done(there, "tool_release_v1", reservation_id=id)
    assert [(effect.mode, effect.undoes) for effect in there.ledger] == [("undone", None), ("real", 0)]
    done(there, "tool_order_address_v2", order_id="ORD-1003", kind="invoice", address="Elm Street 5")
    done(there, "tool_order_address_v2", order_id="ORD-1003", kind="delivery", address="Oak Road 7")
    assert there.ledger[-1].undoes is None  # the other address
    done(there, "tool_order_address_v2", order_id="ORD-1003", kind="invoice", address="Oak Road 7")
    assert (there.ledger[2].mode, there.ledger[-1].undoes) == ("undone", 2)


def test_what_is_done_once_more_after_it_was_taken_back_is_a_call_of_its_own() -> None:
    there = world()
    settle = {"payment_id": "PAY-1001", "order_id": "ORD-1001"}
    id = done(there, "tool_settle_v1", **settle)["entry_id"]
    done(there, "tool_unsettle_v1", entry_id=id)
    done(there, "tool_settle_v1", **settle)
    assert [(effect.mode, effect.undoes) for effect in there.ledger] == [
        ("undone", None),
        ("real", 0),
        ("real", None),
    ]


def test_the_same_key_does_the_same_call_once() -> None:
    there = world()
    first = call(there, "tool_refund_v2", key="k-1", **REFUND)
    assert call(there, "tool_refund_v2", key="k-1", **REFUND) == first
    assert len(there.ledger) == 1
    other = call(there, "tool_refund_v2", key="k-1", **{**REFUND, "amount": 5})
    assert (other.status, other.code) == (409, "CONFLICT")
    done(there, "tool_refund_v2", key="k-2", **REFUND)
    assert len(there.ledger) == 2


def test_a_key_is_free_again_when_its_call_was_refused_dropped_or_undone() -> None:
    there = world()
    dispatch = {"work_order_id": "WO-0001", "worker_id": "WRK-0001"}
    call(there, "tool_refund_v2", key="k-1", held=True, **REFUND)
    there.drop(there.ledger[0])
    done(there, "tool_refund_v2", key="k-1", **REFUND)
    assert [effect.mode for effect in there.ledger] == ["dropped", "real"]
    done(there, "tool_dispatch_v2", key="k-2", **dispatch)
    there.undo(there.ledger[-1], at=1, call=1)
    done(there, "tool_dispatch_v2", key="k-2", **dispatch)
    assert there.store.one("work_orders", work_order_id="WO-0001")["worker_id"] == "WRK-0001"


def test_copies_go_their_own_way() -> None:
    there = world()
    done(there, "tool_refund_v2", key="k-1", **REFUND)
    copy = there.copy()
    assert copy.rows() == there.rows()
    assert copy.ledger == there.ledger
    done(copy, "tool_message_v1", **MESSAGE)
    done(copy, "tool_refund_v2", key="k-1", **REFUND)
    for _ in range(8):
        call(copy, "tool_refund_v2", role="planner", **REFUND)
    assert (len(there.ledger), there.locks, there.beyond) == (1, (), ())
    assert there.rows()["outbox"] == ()
    assert len(copy.rows()["refunds"]) == 1
    assert len(copy.locks) == 1


def test_the_state_does_not_depend_on_the_order_of_what_led_to_it() -> None:
    one, other = world(), world()
    calls = [
        ("tool_settle_v1", {"payment_id": "PAY-1001", "order_id": "ORD-1001"}),
        ("tool_settle_v1", {"payment_id": "PAY-1002", "order_id": "ORD-1002"}),
        ("tool_reserve_v1", {"material_id": "MAT-0001", "place": "PL-01", "quantity": 3}),
        ("tool_reserve_v1", {"material_id": "MAT-0002", "place": "PL-03", "quantity": 1}),
    ]
    for place, (tool, arguments) in enumerate(calls):
        done(one, tool, at=place, **arguments)
    done(other, "tool_message_v1", **MESSAGE)
    for place, (tool, arguments) in enumerate(reversed(calls)):
        done(other, tool, at=900 + place, **arguments)
    assert {**other.rows(), "outbox": ()} == one.rows()


def test_a_role_that_may_not_call_a_tool_is_refused_and_noted() -> None:
    there = world()
    answer = call(there, "tool_refund_v2", role="warehouse", number=7, **REFUND)
    assert (answer.status, answer.code) == (403, "FORBIDDEN")
    assert call(there, "tool_stock_v2", role="service", number=9, material_id=5).code == "FORBIDDEN"
    assert (there.beyond, there.ledger) == ((7, 9), [])


@pytest.mark.parametrize(
    ("arguments", "code", "field"),
    [
        ({"order_id": "ORD-1001", "reason": "x"}, "MISSING_REQUIRED_FIELD", "amount"),
        ({**REFUND, "amount": "29900"}, "TYPE_MISMATCH", "amount"),
        ({**REFUND, "amount": 0}, "INVALID_PARAMETER", "amount"),
        ({**REFUND, "amount": True}, "TYPE_MISMATCH", "amount"),
        ({**REFUND, "amount": 10**30}, "INVALID_PARAMETER", "amount"),
        ({**REFUND, "amount": float("inf")}, "TYPE_MISMATCH", "amount"),
        ({**REFUND, "order_id": "1001"}, "INVALID_PARAMETER", "order_id"),
        ({**REFUND, "reason": "\ud800"}, "INVALID_PARAMETER", "reason"),
        ({**REFUND, "reason": "x" * 10_000_000}, "INVALID_PARAMETER", "reason"),
        ({**REFUND, "note": 1}, "INVALID_PARAMETER", "note"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_their_field(arguments, code: str, field: str) -> None:
    there = world()
    answer = call(there, "tool_refund_v2", **arguments)
    assert (answer.status, answer.code, answer.body["field"]) == (422, code, field)
    assert there.ledger == []


def test_a_thousand_lists_in_one_another_are_refused() -> None:
    guests: list = []
    for _ in range(1000):
        guests = [guests]
    answer = call(world(), "tool_expense_guests_v1", line_id="LIN-0002", guests=guests)
    assert (answer.status, answer.code) == (422, "TYPE_MISMATCH")


def test_statements_of_sql_markup_and_control_characters_are_text() -> None:
    there = world()
    hostile = "'; DROP TABLE orders; -- <script>\x00\x1b[2J\u202e"
    before = there.rows()["orders"]
    done(there, "tool_order_address_v2", order_id="ORD-1003", kind="invoice", address=hostile)
    assert done(there, "tool_orders_v3", order_id="ORD-1003")["invoice_address"] == hostile
    done(there, "tool_policies_v1", query=hostile)
    assert call(there, "tool_workers_v1", skill=hostile).body == {"workers": []}
    assert call(there, "tool_customers_v1", email="a'--@b").code == "RESOURCE_NOT_FOUND"
    assert len(there.rows()["orders"]) == len(before) == 3


JSON = any_of.recursive(
    any_of.none() | any_of.booleans() | any_of.integers() | any_of.floats() | any_of.text(),
    lambda inner: any_of.lists(inner, max_size=3) | any_of.dictionaries(any_of.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    tool=any_of.sampled_from(sorted(REGISTRY.tools)),
    values=any_of.lists(JSON, min_size=5, max_size=5),
    lenient=any_of.booleans(),
)
def test_no_arguments_make_a_tool_fail(tool: str, values, lenient: bool) -> None:
    fields = REGISTRY.tools[tool].parameters["properties"]
    there = world()
    arguments = dict(zip(fields, values, strict=False))
    answer = there.call(
        REGISTRY.tools[tool], arguments, at=0, role=role_for(tool), call=1, lenient=lenient, key="k"
    )
    assert answer.status in (200, 403, 404, 409, 422, 423)
    json.dumps(answer.body)


def test_a_lenient_tool_takes_other_types_and_names_the_fields() -> None:
    there = world()
    sent = {"order_id": "ord-1001 ", "amount": "29900.00", "reason": "broken", "note": None}
    assert call(there, "tool_refund_v2", **sent).status == 422
    body = call(there, "tool_refund_v2", lenient=True, **sent).body
    assert (body["order_id"], body["amount"]) == ("ORD-1001", 29900)
    assert body["inconsistent_input"] == ["order_id", "amount", "note"]
    assert "inconsistent_input" not in call(there, "tool_refund_v2", lenient=True, **REFUND).body
    assert (
        call(there, "tool_refund_v2", lenient=True, **{**REFUND, "amount": "299.50"}).code == "TYPE_MISMATCH"
    )


def test_money_is_what_leaves_the_company() -> None:
    there = world()
    done(there, "tool_refund_v2", **REFUND)
    done(there, "tool_message_v1", **MESSAGE)
    assert [effect.money for effect in there.ledger] == [29900, 0]


def test_an_image_is_read_as_it_was_told() -> None:
    image = Image(START, "service", dict(ROWS))
    told = json.loads(json.dumps(image.told()))
    assert Image.read(told) == Image(START, "service", {name: ROWS[name] for name in TABLES if name in ROWS})
    assert World.open(Image.read(told)).rows() == world().rows()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"order": []}, "there is no table 'order'"),
        ({"places": [["PL-01", "yard"]]}, "row 1 of places has not the columns place, kind, takes"),
        (
            {"stock": [["MAT-0001", "PL-01", 1], ["MAT-0001", "PL-02", "2"]]},
            "row 2 of stock: quantity is '2'; a whole number",
        ),
        ({"stock": [["MAT-0001", "PL-01", True]]}, "row 1 of stock: quantity is True"),
        ({"places": [["PL-01", None, "raw"]]}, "row 1 of places: kind is None"),
        ({"places": [["PL-01", "\ud800", "raw"]]}, "row 1 of places: kind is"),
        (
            {"work_orders": [["WO-0001", "welding", 10**10, "open", ""]]},
            "row 1 of work_orders: due is 10000000000",
        ),
        (
            {"expense_lines": [["LIN-0001", "EXP-0001", "meal", 1, "Una"]]},
            "guests is 'Una'; a list as JSON is wanted",
        ),
        ({"stock": [["MAT-0001", "PL-01", 2**53]]}, "row 1 of stock: quantity is 9007199254740992"),
        (
            {"stock": [["MAT-0001", "PL-01", 1], ["MAT-0001", "PL-01", 2]]},
            "row 2 of stock: MAT-0001, PL-01 is there twice",
        ),
    ],
)
def test_an_image_that_cannot_be_is_refused_with_its_row(rows, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Image.read({"start": START, "role": "service", "rows": rows})


@pytest.mark.parametrize("start", ["2026-04-07T08:00:00", "2026-04-07", "9999-12-31T00:00:00Z", "soon", 5])
def test_a_beginning_is_a_moment_with_a_zone(start) -> None:
    with pytest.raises(ValueError, match="a moment of 2000 to 2100 with its zone is wanted"):
        Image.read({"start": start, "role": "service", "rows": {}})


def test_never_is_later_than_anything_a_task_can_reach() -> None:
    assert NEVER > 10_000 * DAY
