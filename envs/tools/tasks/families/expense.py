"""Hand a report in: guests of a meal, a total that is the sum, an approver whose limit is high enough."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from reflex_bench.envs.tools.tasks.drafts import Draft, Family, changed, respond, rows, step
from reflex_bench.envs.tools.tasks.scene import Person, Scene
from reflex_bench.envs.tools.tasks.wording import from_colleague

HAND_IN = (
    "please hand in my report {report}, and tell me the total and the number of the approver.",
    "{report} is complete from my side. Could you hand it in? I need its total and who approves it.",
    "would you submit {report} for me? Tell me what it comes to and to whom it went.",
)
WITH_GUESTS = (
    "please hand in {report}. With me at the dinner were {guests}. I need the total and the "
    "number of the approver.",
    "{report} has to go in today. The dinner was with {guests}. Tell me its total and who approves it.",
    "my report {report} can be submitted; the guests of the dinner were {guests}. What does it "
    "come to, and to whom did it go?",
)
SMALL = (("train", 40, 220), ("hotel", 90, 390), ("taxi", 12, 60), ("parking", 5, 40))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """A report that is not handed in yet.

    Attributes:
        id: of the report; `line` of the dinner in it.
        total: cents.
        employee: whose it is; `manager` and `head` are those above.
        high: whether the total is above the manager's limit.
    """

    id: str
    line: str
    total: int
    employee: Person
    manager: Person
    head: Person
    high: bool

    @property
    def approver(self) -> Person:
        return self.head if self.high else self.manager


def _report(scene: Scene, *, guests: bool, high: bool) -> _Report:
    """Make a report.

    Args:
        scene: in which it is.
        guests: whether a meal needs its guests.
        high: whether the total is above the manager's limit.
    """
    rng, report = scene.rng, scene.id("EXP")
    amounts = {kind: rng.between(low, most) * 100 + rng.between(0, 99) for kind, low, most in SMALL}
    dinner = (rng.between(1010, 1900) if guests else rng.between(60, 950)) * 100 + rng.between(0, 99)
    total = sum(amounts.values()) + dinner
    department = rng.pick(("sales", "planning", "purchasing"))
    head = scene.employee(department, 20 * 100_000)
    limit = total - rng.between(1, 90) * 100 if high else total + 50_000
    manager = scene.employee(department, limit, head.id)
    employee = scene.employee(department, 0, manager.id)
    scene.employee(department, 5 * 100_000, head.id)
    for kind, amount in amounts.items():
        scene.expense_line(report, kind, amount)
    line = scene.expense_line(report, "meal", dinner)
    scene.add(
        "expense_reports", report_id=report, employee_id=employee.id, status="draft", total=0, approver_id=""
    )
    return _Report(
        id=report, line=line, total=total, employee=employee, manager=manager, head=head, high=high
    )


def _handed_in(scene: Scene, *, guests: bool, high: bool) -> Draft:
    """The task to hand a report in; see `_report`."""
    report = _report(scene, guests=guests, high=high)
    names = [scene.name() for _ in range(scene.rng.between(2, 4))]
    end: dict[str, Any] = {"total": report.total, "approver_id": report.approver.id}
    steps = [
        step("tool_expense_report_v2", report_id=report.id),
        step("tool_policies_v1", query="expense meal total approver"),
        step("tool_employees_v1", employee_id=report.employee.id),
        step("tool_employees_v1", employee_id=report.manager.id),
    ]
    states = [changed("expense_reports", {"report_id": report.id}, status="submitted", **end)]
    if high:
        steps.append(step("tool_employees_v1", employee_id=report.head.id))
    if guests:
        steps.append(step("tool_expense_guests_v1", line_id=report.line, guests=names))
        told = json.dumps(names, ensure_ascii=False)
        states.append(changed("expense_lines", {"line_id": report.line}, guests=told))
    steps.append(step("tool_expense_submit_v2", "tool_expense_report_v2", report_id=report.id, **end))
    texts = WITH_GUESTS if guests else HAND_IN
    values = {"report": report.id, "guests": f"{', '.join(names[:-1])} and {names[-1]}"}
    return Draft(
        message=from_colleague(scene.rng, report.employee.name, texts, **values),
        plan=(*steps, respond("The report is handed in.", **end)),
        facts=end,
        required=rows(*states),
    )


def plain(scene: Scene) -> Draft:
    """Nothing needs guests, and the manager may approve it."""
    return _handed_in(scene, guests=False, high=False)


def dinner(scene: Scene) -> Draft:
    """A meal needs its guests."""
    return _handed_in(scene, guests=True, high=False)


def high(scene: Scene) -> Draft:
    """The manager's limit is too low."""
    return _handed_in(scene, guests=False, high=True)


def dinner_and_high(scene: Scene) -> Draft:
    """A meal needs its guests, and the manager's limit is too low."""
    return _handed_in(scene, guests=True, high=True)


EXPENSE = Family(name="expense", role="assistant", variants=(dinner, high, dinner_and_high, plain))
