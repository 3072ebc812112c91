"""Controls that look at a call before it goes out: registered, well-formed, allowed, affordable."""

from __future__ import annotations

import re
from typing import Any

from reflex_bench.envs.tools.controls.base import Call, Control, Desk, Outcome, refusal
from reflex_bench.envs.tools.controls.options import Budget, CostTiers
from reflex_bench.envs.tools.controls.schema import first_fault

ADDRESS = re.compile(r"(?:/[a-z][a-z0-9_-]*|/\{[a-z_]+\})+")
"""The form of the addresses that may be called."""


class Whitelist(Control):
    """Only registered tools, of the caller's roles, at addresses of the known form."""

    name = "whitelist"

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """See `Control`."""
        tool = call.tool
        if tool is None:
            return None  # the executor refuses it by itself
        if not ADDRESS.fullmatch(tool.endpoint):
            return refusal(self.name, "INVALID_ENDPOINT", f"{tool.endpoint!r:.100} is no registered address")
        if desk.role not in tool.roles:
            allowed = ", ".join(tool.roles)
            return refusal(
                self.name, "NOT_PERMITTED", f"{tool.id} is for {allowed}; this account is {desk.role}"
            )
        return None


class Schema(Control):
    """Arguments are checked before the call."""

    name = "schema"

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """See `Control`."""
        if call.tool is None:
            return None
        fault = first_fault(call.arguments, desk.parameters(call.tool))
        return refusal(self.name, *fault) if fault else None


class Rules(Control):
    """Business rules are checked before a write."""

    name = "rules"

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """See `Control`."""
        if call.tool is None or call.tool.effect == "read":
            return None
        found = desk.check(desk.world, call.tool, call.arguments, desk.clock.seconds, desk.role)
        return refusal(self.name, *found) if found else None


class Tiers(Control):
    """An expensive tool so many times a trial, and after asking."""

    name = "cost_tiers"

    def __init__(self, numbers: CostTiers) -> None:
        self._numbers, self._used, self._asked = numbers, 0, set[str]()

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """See `Control`. Asking is making the same call once more: the refusal says so."""
        if call.tool is None or call.tool.cost_level != "high":
            return None
        if self._used >= self._numbers.high:
            message = f"tools of level high may be called {self._numbers.high} times, and were"
            return refusal(self.name, "COST_TIER", message)
        if self._numbers.consent and call.tool.id not in self._asked:
            self._asked.add(call.tool.id)
            message = f"{call.tool.id} is expensive; make the call again if it is really needed"
            return refusal(self.name, "CONSENT_NEEDED", message)
        self._used += 1
        return None


class Limits(Control):
    """A trial may take so much; at its end what is known so far is offered."""

    name = "budget"

    def __init__(self, numbers: Budget) -> None:
        self._numbers = numbers
        self._known: list[str] = []
        self._began: int | None = None

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """See `Control`."""
        if self._began is None:
            self._began = desk.clock.milliseconds
        passed = (desk.clock.milliseconds - self._began) / 1000
        taken: dict[str, tuple[float, Any]] = {
            "price": (desk.price, self._numbers.price),
            "seconds": (passed, self._numbers.seconds),
            "actions": (desk.done, self._numbers.actions),
        }
        over = next((name for name, (used, most) in taken.items() if most is not None and used >= most), None)
        if over is None:
            return None
        known = "; ".join(self._known[-3:]) or "nothing yet"
        message = f"the {over} of this request are used up; known so far: {known}"
        return refusal(self.name, "BUDGET_EXHAUSTED", message)

    def after(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """See `Control`. Remembers what was found."""
        if not outcome.failed:
            self._known.append(f"{call.id}: {outcome.text[:80]}")
        return outcome
