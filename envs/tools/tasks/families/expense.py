"""Hand a report in: guests of a meal, a total that is the sum, an approver whose limit is high enough."""

from __future__ import annotations

import json

from reflex_bench.envs.tools.tasks.drafts import Draft, Family, changed, respond, rows, step
from reflex_bench.envs.tools.tasks.scene import Scene
from reflex_bench.envs.tools.tasks.wording import from_colleague
from reflex_bench.envs.tools.tool_task import Expected, PlanStep

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


def _report(scene: Scene, *, guests: bool, high: bool) -> Draft:
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
    manager = scene.employee(
        department, total - rng.between(1, 90) * 100 if high else total + 50_000, head.id
    )
    employee = scene.employee(department, 0, manager.id)
    scene.employee(department, 5 * 100_000, head.id)
    approver = head if high else manager
    for kind, amount in amounts.items():
        scene.expense_line(report, kind, amount)
    line = scene.expense_line(report, "meal", dinner)
    scene.add(
        "expense_reports", report_id=report, employee_id=employee.id, status="draft", total=0, approver_id=""
    )
    names = [scene.name() for _ in range(rng.between(2, 4))]
    steps: list[PlanStep] = [
        step("tool_expense_report_v2", report_id=report),
        step("tool_policies_v1", query="expense meal total approver"),
        step("tool_employees_v1", employee_id=employee.id),
        step("tool_employees_v1", employee_id=manager.id),
    ]
    states: list[Expected] = [
        changed(
            "expense_reports", {"report_id": report}, status="submitted", total=total, approver_id=approver.id
        )
    ]
    if high:
        steps.append(step("tool_employees_v1", employee_id=head.id))
    if guests:
        steps.append(step("tool_expense_guests_v1", line_id=line, guests=names))
        states.append(
            changed("expense_lines", {"line_id": line}, guests=json.dumps(names, ensure_ascii=False))
        )
    told = f"{', '.join(names[:-1])} and {names[-1]}"
    return Draft(
        message=from_colleague(
            rng, employee.name, WITH_GUESTS if guests else HAND_IN, report=report, guests=told
        ),
        plan=(
            *steps,
            step(
                "tool_expense_submit_v2",
                "tool_expense_report_v2",
                report_id=report,
                total=total,
                approver_id=approver.id,
            ),
            respond("The report is handed in.", total=total, approver_id=approver.id),
        ),
        facts={"total": total, "approver_id": approver.id},
        required=rows(*states),
    )


def plain(scene: Scene) -> Draft:
    """Nothing needs guests, and the manager may approve it."""
    return _report(scene, guests=False, high=False)


def dinner(scene: Scene) -> Draft:
    """A meal needs its guests."""
    return _report(scene, guests=True, high=False)


def high(scene: Scene) -> Draft:
    """The manager's limit is too low."""
    return _report(scene, guests=False, high=True)


def dinner_and_high(scene: Scene) -> Draft:
    """A meal needs its guests, and the manager's limit is too low."""
    return _report(scene, guests=True, high=True)


EXPENSE = Family(name="expense", role="assistant", variants=(dinner, high, dinner_and_high, plain))
