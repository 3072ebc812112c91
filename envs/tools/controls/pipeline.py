"""The controls of a trial in their order, and the executor that sends a call through them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reflex_bench.envs.tools.business.world import World
from reflex_bench.envs.tools.calls.channel import Request, Transport
from reflex_bench.envs.tools.controls import answers, checks, delivery
from reflex_bench.envs.tools.controls.adapters import Adapters
from reflex_bench.envs.tools.controls.base import Call, Control, Desk, Outcome
from reflex_bench.envs.tools.controls.options import Numbers
from reflex_bench.envs.tools.registry import Tool

MAX_TRIES = 12
"""Of one call, whatever the registry allows."""

MADE: Mapping[str, Callable[[Any], Control]] = {
    "whitelist": lambda numbers: checks.Whitelist(),
    "adapters": lambda numbers: Adapters(),
    "schema": lambda numbers: checks.Schema(),
    "rules": lambda numbers: checks.Rules(),
    "cost_tiers": checks.Tiers,
    "budget": checks.Limits,
    "breaker": delivery.Suspends,
    "stale": lambda numbers: delivery.LastKnown(),
    "idempotency": lambda numbers: delivery.Idempotency(),
    "barrier": delivery.Held,
    "lenient": lambda numbers: delivery.Lenient(),
    "retry": delivery.Again,
    "ghost": lambda numbers: delivery.Ghost(),
    "clean": lambda numbers: answers.Clean(),
    "conflicts": lambda numbers: answers.Conflicts(),
    "cut": answers.Short,
    "state_note": answers.Note,
    "escape": answers.Exit,
}
"""What makes each control; `compensate` acts when a trial is over alone (`settling`)."""

Harms = Callable[[World], int]
"""How many effects of a world harm."""


@dataclass
class Pipeline:
    """Sends calls through the controls of a trial.

    Attributes:
        numbers: of the controls that are on, in their order.
        desk: the trial.
        transport: takes calls to the tools.
        harms: counts the harmful effects of a world.
        first: number of calls of the task before this trial.
    """

    numbers: Mapping[str, Numbers]
    desk: Desk
    transport: Transport
    harms: Harms
    first: int = 0
    controls: list[Control] = field(init=False)

    def __post_init__(self) -> None:
        self.controls = [MADE[name](each) for name, each in self.numbers.items() if name in MADE]

    def has(self, name: str) -> bool:
        """Return whether a control is on."""
        return name in self.numbers

    def run(self, call: Call) -> Outcome:
        """Send a call through all controls, and return what the agent sees of it."""
        outcome = self._refused(call) or self._sent(call)
        for control in self.controls:
            outcome = control.after(call, outcome, self.desk)
        return outcome

    def _refused(self, call: Call) -> Outcome | None:
        """What a control says in the tool's place; None where all let the call pass."""
        for control in self.controls:
            before = dict(call.arguments)
            outcome = control.before(call, self.desk)
            if outcome is not None:
                known = self._last_known(call) if outcome.refused_by == "breaker" else None
                right = self._would_harm_or_fail(call, call.arguments) if control.prospective else None
                self.desk.spoke(control.name, call, right)
                return known or outcome
            if control.prospective and call.arguments != before:
                right = self._would_harm_or_fail(call, before) and not self._would_harm_or_fail(
                    call, call.arguments
                )
                self.desk.spoke(control.name, call, right)
        return None

    def _last_known(self, call: Call) -> Outcome | None:
        stale = next((each for each in self.controls if isinstance(each, delivery.LastKnown)), None)
        return stale.instead(call, self.desk) if stale else None

    def _would_harm_or_fail(self, call: Call, arguments: Mapping[str, Any]) -> bool:
        """Whether a call would be refused by the tool itself or do harm, by a copy of the world."""
        if call.tool is None:
            return True
        copy = self.desk.world.copy()
        before = self.harms(copy)
        answer = copy.call(
            call.tool,
            arguments,
            at=self.desk.clock.seconds,
            role=self.desk.role,
            call=self.first + call.number,
            key=call.key,
        )
        return answer.status >= 300 or self.harms(copy) > before

    def _sent(self, call: Call) -> Outcome:
        """The call as often as a control wants it, and its last answer."""
        assert call.tool is not None
        request = Request(
            tool=call.tool,
            id=call.id,
            arguments=call.arguments,
            role=self.desk.role,
            call=self.first + call.number,
            key=call.key,
            held=call.held,
            lenient=self.has("lenient"),
        )
        tries = 0
        while True:
            tries += 1
            response = self.transport.send(request)
            self.desk.price += call.tool.price
            outcome = Outcome(
                response.status, response.text, _parsed(response.text), response=response, tries=tries
            )
            self._note_renamed(call.tool, outcome)
            for control in self.controls:
                outcome = control.look(call, outcome, self.desk)
            pause = self._pause(call, outcome)
            if pause is None or tries == MAX_TRIES:
                return outcome
            self.desk.clock.advance(pause)

    def _note_renamed(self, tool: Tool, outcome: Outcome) -> None:
        """A contract that is out of date is brought up to date by the tool's own refusal."""
        if isinstance(outcome.body, dict) and isinstance(new := outcome.body.get("renamed_to"), str):
            self.desk.renamed[tool.id] = (str(outcome.body.get("field")), new)

    def _pause(self, call: Call, outcome: Outcome) -> int | None:
        assert call.tool is not None
        breaker = next((each for each in self.controls if isinstance(each, delivery.Suspends)), None)
        if not outcome.failed or (breaker and breaker.suspended(call.tool.id, self.desk)):
            return None
        pauses = (control.again(call, outcome, self.desk) for control in self.controls)
        return next((pause for pause in pauses if pause is not None), None)

    def reply(self, message: str) -> str:
        """Return an answer to a customer as it is sent."""
        for control in self.controls:
            message = control.reply(message, self.desk)
        return message

    def refuse_end(self, name: str) -> str:
        """Return why a trial may not be ended so now; "" where it may."""
        return next((why for each in self.controls if (why := each.refuse_end(name, self.desk))), "")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
