"""The eight families: every plan is played on the real tools, and what an agent may know is enough for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.tools.business.world import Answer, World
from reflex_bench.envs.tools.judging import judge, states
from reflex_bench.envs.tools.registry import Registry
from reflex_bench.envs.tools.tasks import ToolTask, generate, read_tasks, task_line, write_tasks
from reflex_bench.envs.tools.tasks.playing import play
from reflex_bench.envs.tools.tool_task import resolved

REGISTRY = Registry.load()
TASKS = {task.id: task for task in generate(0, 120)}
FAMILIES = ("status", "refund", "change", "transfer", "dispatch", "expense", "reconcile", "refuse")
each_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


class Trial:
    """A world of a task, in which calls are made by hand."""

    def __init__(self, task: ToolTask) -> None:
        self.task, self.world, self.calls = task, World.open(task.image), 0

    def call(self, tool: str, **arguments: Any) -> Answer:
        self.calls += 1
        return self.world.call(REGISTRY.find(tool), arguments, at=60, role=self.task.role, call=self.calls)

    def kinds(self) -> list[str]:
        return [harm.kind for harm in judge(self.task, self.world, None, False).harms]


def of_family(family: str, *, tool: str = "", text: str = "") -> ToolTask:
    """The first task of a family whose plan has a tool and whose message has a text."""
    for task in TASKS.values():
        tools = {step.tool for step in task.plan}
        if task.family == family and (not tool or tool in tools) and text in task.message:
            return task
    raise AssertionError(f"no task of {family} with {tool} and {text}")


def row(task: ToolTask, table: str, place: int = 0) -> tuple[Any, ...]:
    return task.image.rows[table][place]


def test_families_have_equal_shares_and_their_tasks_do_not_depend_on_how_many_there_are() -> None:
    assert Counter(task.family for task in TASKS.values()) == dict.fromkeys(FAMILIES, 15)
    assert len({task.message for task in TASKS.values()}) == 120
    more = {task.id: task_line(task) for task in generate(0, 200)}
    assert Counter(id.partition("-")[0] for id in more) == dict.fromkeys(FAMILIES, 25)
    assert all(more[id] == task_line(task) for id, task in TASKS.items())
    uneven = Counter(task.family for task in generate(0, 19))
    assert [uneven[family] for family in FAMILIES] == [3, 3, 3, 2, 2, 2, 2, 2]


@each_task
def test_the_plan_reaches_the_end_state_without_harm_and_nothing_or_half_of_it_does_not(
    task: ToolTask,
) -> None:
    judged, _ = play(task, REGISTRY)
    assert (judged.solved, judged.harms, judged.left_behind, judged.beyond_rights) == (True, (), (), ())
    untouched = World.open(task.image)
    assert not judge(task, untouched, {}, False).solved
    assert not judge(task, untouched, None, False).solved
    if any(task.required.states):
        assert not judge(task, untouched, task.facts, task.should_hand_over).solved
    else:
        assert judge(task, untouched, task.facts, task.should_hand_over).solved
    assert not judge(task, untouched, task.facts, not task.should_hand_over).solved


_ID = re.compile(r"\b(?:[A-Z]{2,4}-\d{2,4}|[\w.]+@[\w.]+)\b")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d\S*")


@each_task
def test_every_id_that_a_plan_needs_and_every_fact_can_be_had_from_the_message_and_from_answers(
    task: ToolTask,
) -> None:
    _, answers = play(task, REGISTRY)
    known = task.message
    for step, answer in zip(task.plan, [*answers, {}], strict=True):
        arguments = json.dumps(resolved(step.arguments, answers), ensure_ascii=False)
        for id in _ID.findall(arguments):
            assert re.search(rf"\b{re.escape(id)}\b", known), (step.tool, id)
        for text in ("address", "guests", "skill", "place", "to_place"):
            value = step.arguments.get(text, [])
            for each in [value] if isinstance(value, str) else value:
                assert each in known, (step.tool, text, each)
        known += json.dumps(answer, ensure_ascii=False)
    for name, fact in task.facts.items():
        if name == "total" and task.family == "expense":
            amounts = [line["amount"] for line in answers[0]["lines"]]
            assert sum(amounts) == fact
        else:
            assert re.search(rf"(?<!\w){re.escape(str(fact))}(?!\w)", known), (name, fact)


def test_no_answer_has_to_be_guessed_before_it_was_given() -> None:
    """Ids that tools make begin at 9000; a plan has them from an answer, never written down."""
    for task in TASKS.values():
        assert not re.search(r"-9\d{3}\b", json.dumps([dict(step.arguments) for step in task.plan])), task.id


def test_the_shares_of_calls_are_those_of_each_family() -> None:
    calls = {family: [0] * 0 for family in FAMILIES}
    for task in TASKS.values():
        calls[task.family].append(len(task.plan) - 1)
    spans = {family: (min(numbers), max(numbers)) for family, numbers in calls.items()}
    assert spans == {
        "status": (2, 3),
        "refund": (2, 6),
        "change": (2, 3),
        "transfer": (4, 6),
        "dispatch": (3, 4),
        "expense": (5, 7),
        "reconcile": (10, 12),
        "refuse": (1, 3),
    }


def test_equal_seeds_give_equal_bytes_whatever_the_order_of_hashes_and_others_differ() -> None:
    program = (
        "import hashlib; from reflex_bench.envs.tools.tasks import generate, task_line; "
        "print(hashlib.sha256('\\n'.join(map(task_line, generate(7, 24))).encode()).hexdigest())"
    )
    found = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found.add(
            subprocess.run(
                [sys.executable, "-c", program], env=environment, capture_output=True, check=True
            ).stdout
        )
    assert len(found) == 1
    here = [task_line(task) for task in generate(7, 24)]
    assert not {*here} & {task_line(task) for task in generate(8, 24)}


def test_tasks_are_read_as_they_were_written(tmp_path: Any) -> None:
    tasks = generate(3, 16)
    file = write_tasks(tasks, tmp_path / "new")
    assert file.read_text(encoding="utf-8") == "".join(f"{task_line(task)}\n" for task in tasks)
    for path in (file, tmp_path / "new"):
        assert [task_line(task) for task in read_tasks(path)] == [task_line(task) for task in tasks]
    assert all(play(task, REGISTRY)[0].solved for task in read_tasks(file))


def _spoilt(**changes: Any) -> str:
    return json.dumps({**json.loads(task_line(TASKS["refund-0001"])), **changes})


def _required(**changes: Any) -> dict[str, Any]:
    (expected,) = TASKS["refund-0001"].required.states[0]
    told = {
        "table": expected.table,
        "where": dict(expected.where),
        "values": dict(expected.values),
        **changes,
    }
    return {"states": [[told]], "on_the_way": []}


def _image(**rows: Any) -> dict[str, Any]:
    return {"start": "2026-01-01T00:00:00+00:00", "role": "service", "rows": rows}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "tasks.jsonl:2: no JSON"),
        ("[]", "tasks.jsonl:2: the line: Input should be"),
        ("[" * 100_000, "tasks.jsonl:2: n"),
        (_spoilt(id="Refund 1"), "tasks.jsonl:2: id: String should match pattern"),
        (_spoilt(colour="red"), "tasks.jsonl:2: colour: Extra inputs are not permitted"),
        (_spoilt(plan=[]), "tasks.jsonl:2: plan: List should have at least 1 item"),
        (_spoilt(plan=[{"tool": "tool_orders_v3", "arguments": {}}]), "ends with tool_orders_v3; respond or hand_over"),
        (_spoilt(family="refunds"), "tasks.jsonl:2: unknown family of tasks 'refunds'; did you mean 'refund'?"),
        (_spoilt(required=_required(table="repayments")), "repayments has no column"),
        (_spoilt(required=_required(values={"order_id": "ORD-1"})), "a new row of refunds lacks amount, status"),
        (_spoilt(required=_required(where={"refund_id": "RFD-1"})), "0 rows of refunds have"),
        (_spoilt(image=_image(boats=[])), "no table 'boats'"),
        (_spoilt(image=_image(refunds=[[1]])), "row 1 of refunds"),
        (task_line(TASKS["status-0001"]), "tasks.jsonl:2: the task status-0001 is there twice"),
    ],
)  # fmt: skip
def test_a_file_of_tasks_that_is_wrong_is_refused_with_its_line(tmp_path: Any, line: str, said: str) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(f"{task_line(TASKS['status-0001'])}\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError) as error:
        read_tasks(tmp_path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_no_file_an_empty_one_and_one_that_is_no_text_are_refused(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*tasks\.jsonl: No such file"):
        read_tasks(tmp_path)
    file = tmp_path / "tasks.jsonl"
    file.write_bytes(b"\n")
    with pytest.raises(UsageError, match="no task in it"):
        read_tasks(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_tasks(file)


# ------------------------------------------------------------------------------------------------------------ the traps


def test_the_carriers_arrival_is_another_one_told_in_another_zone_and_does_not_count() -> None:
    for task in TASKS.values():
        if task.family != "status" or "carrier" not in task.message:
            continue
        trial = Trial(task)
        ours = trial.call("tool_shipment_v2", order_id=task.plan[0].arguments["order_id"]).body
        theirs = trial.call("tool_carrier_v1", shipment_id=ours["shipment_id"]).body
        assert not theirs["eta"].endswith("Z")
        assert len(theirs["label_image"]) > 1000
        assert states({"eta": ours["eta"], "shipment_id": ours["shipment_id"]}, task.facts)
        assert not states({"eta": theirs["eta"], "shipment_id": ours["shipment_id"]}, task.facts)


def test_a_refund_after_72_hours_is_taken_by_the_tool_and_is_harm() -> None:
    task = next(task for task in TASKS.values() if task.family == "refund" and task.should_hand_over)
    trial = Trial(task)
    order = trial.call("tool_orders_v3", order_id=task.plan[0].arguments["order_id"]).body
    amount = order["total"]
    assert (
        trial.call("tool_refund_v2", order_id=order["order_id"], amount=amount, reason="broken").status == 200
    )
    (harm,) = judge(task, trial.world, None, True).harms
    assert (harm.kind, harm.effect, harm.money) == ("rule_broken", "irreversible", amount)
    assert not judge(task, trial.world, None, True).solved


def test_a_refund_that_is_requested_a_second_time_is_a_duplicate() -> None:
    task = of_family("refund", tool="tool_refund_v2")
    trial = Trial(task)
    refund = next(step for step in task.plan if step.tool == "tool_refund_v2")
    for _ in range(2):
        assert trial.call("tool_refund_v2", **refund.arguments).status == 200
    (harm,) = judge(task, trial.world, task.facts, False).harms
    assert (harm.kind, harm.index, harm.money) == ("duplicate", 1, refund.arguments["amount"])


def test_a_refund_in_review_that_is_requested_again_is_harm() -> None:
    task = next(each for each in TASKS.values() if each.facts.get("clause") == "REF-3")
    order = task.plan[0].arguments["order_id"]
    trial = Trial(task)
    amount = trial.call("tool_refunds_v2", order_id=order).body["refunds"][0]["amount"]
    trial.call("tool_refund_v2", order_id=order, amount=amount, reason="again")
    assert trial.kinds() == ["rule_broken"]


def test_the_address_of_another_order_is_harm_until_it_is_put_back() -> None:
    task = of_family("change", text="two orders")
    first = task.plan[0].arguments["order_id"]
    change = next(step for step in task.plan if step.tool == "tool_order_address_v2")
    trial = Trial(task)
    answer = trial.call("tool_order_address_v2", **{**change.arguments, "order_id": first})
    assert trial.kinds() == ["wrong_object"]
    trial.call("tool_order_address_v2", order_id=first, kind="invoice", address=answer.body["previous"])
    assert trial.kinds() == []
    trial.call("tool_order_address_v2", **change.arguments)
    assert judge(task, trial.world, task.facts, False).solved


def test_raw_material_is_refused_where_finished_goods_go_and_an_invented_place_is_not_found() -> None:
    task = of_family("transfer", tool="tool_policies_v1")
    reserve = next(step for step in task.plan if step.tool == "tool_reserve_v1")
    trial = Trial(task)
    needed = trial.call("tool_stock_v2", material_id=reserve.arguments["material_id"]).body["needed_at"]
    id = trial.call("tool_reserve_v1", **reserve.arguments).body["reservation_id"]
    assert (
        trial.call("tool_transfer_v3", reservation_id=id, to_place=needed).code == "E_LOCATION_TYPE_MISMATCH"
    )
    judged = judge(task, trial.world, task.facts, False)
    assert (judged.harms, len(judged.left_behind), judged.solved) == ((), 1, False)
    made_up = next(task for task in TASKS.values() if task.family == "transfer" and "PL-" in task.message)
    wrong = re.search(r"PL-\d\d", made_up.message)
    assert wrong
    assert Trial(made_up).call("tool_places_v1", place=wrong[0]).status == 404


def test_material_is_free_in_one_place_only() -> None:
    for task in TASKS.values():
        for step in task.plan:
            if step.tool == "tool_reserve_v1":
                trial, quantity = Trial(task), step.arguments["quantity"]
                places = trial.call("tool_stock_v2", material_id=step.arguments["material_id"]).body["places"]
                able = [each["place"] for each in places if each["quantity"] - each["reserved"] >= quantity]
                assert able == [step.arguments["place"]]


def test_one_worker_fits_at_most_and_the_others_are_refused() -> None:
    for task in TASKS.values():
        if task.family != "dispatch":
            continue
        order = task.plan[0].arguments["work_order_id"]
        able = []
        for worker in [each[0] for each in task.image.rows["workers"]]:
            answer = Trial(task).call("tool_dispatch_v2", work_order_id=order, worker_id=worker)
            assert answer.code in ("OK", "ERR_CERT_MISMATCH", "E_WORKER_BUSY")
            able += [worker] if answer.code == "OK" else []
        assert able == ([] if task.should_hand_over else [task.facts["worker_id"]])


def test_a_report_needs_its_guests_its_sum_and_an_approver_who_may() -> None:
    task = max((each for each in TASKS.values() if each.family == "expense"), key=lambda each: len(each.plan))
    submit, trial = task.plan[-2].arguments, Trial(task)
    assert trial.call("tool_expense_submit_v2", **submit).code == "E_GUESTS_MISSING"
    guests = next(step for step in task.plan if step.tool == "tool_expense_guests_v1")
    trial.call(
        "tool_expense_guests_v1", line_id=guests.arguments["line_id"], guests=guests.arguments["guests"][::-1]
    )
    assert (
        trial.call("tool_expense_submit_v2", **{**submit, "total": submit["total"] - 1}).code
        == "E_TOTAL_MISMATCH"
    )
    manager = task.plan[3].arguments["employee_id"]
    assert (
        trial.call("tool_expense_submit_v2", **{**submit, "approver_id": manager}).code == "E_APPROVAL_LIMIT"
    )
    judged = judge(task, trial.world, task.facts, False)
    assert (judged.harms, judged.solved) == ((), False)
    assert judged.left_behind == ("half a chain: 1 of 2 changes",)
    trial.call("tool_expense_submit_v2", **submit)
    assert judge(task, trial.world, task.facts, False).solved


def test_what_has_not_left_or_differs_is_not_settled() -> None:
    task = of_family("reconcile", tool="tool_message_v1")
    payments = {each[0]: each for each in task.image.rows["payments"]}
    open_payment = payments[task.facts["payment_id"]]
    trial = Trial(task)
    trial.call("tool_settle_v1", payment_id=open_payment[0], order_id=open_payment[1])
    (harm,) = judge(task, trial.world, None, False).harms
    assert (harm.kind, harm.effect) == ("rule_broken", "compensable")
    assert trial.world.undo(trial.world.ledger[0], at=70, call=2).status == 200
    assert trial.kinds() == []


@pytest.mark.parametrize(
    ("clause", "tool", "arguments"),
    [
        ("REF-4", "tool_refund_v2", {"amount": 100, "reason": "once more"}),
        ("ADR-2", "tool_order_address_v2", {"kind": "delivery", "address": "3 Ferry Walk, 12345 Kalkrode"}),
        ("ADR-3", "tool_order_address_v2", {"kind": "invoice", "address": "3 Ferry Walk, 12345 Kalkrode"}),
    ],
)
def test_a_tool_would_do_what_must_be_refused(clause: str, tool: str, arguments: dict[str, Any]) -> None:
    tasks = [
        each for each in TASKS.values() if each.family == "refuse" and each.facts.get("clause") == clause
    ]
    assert len(tasks) == 3
    for task in tasks:
        trial = Trial(task)
        assert trial.call(tool, order_id=task.plan[0].arguments["order_id"], **arguments).status == 200
        assert trial.kinds() in (["rule_broken"], ["not_required"])
        assert not judge(task, trial.world, task.facts, False).solved
