"""Controls of how a call goes out: with a key, again, or not at all while its tool is down."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from reflex_bench.envs.tools.business.world import Answer
from reflex_bench.envs.tools.calls.draws import canonical, draw
from reflex_bench.envs.tools.calls.shapes import SUCCESS_CODES, dumped
from reflex_bench.envs.tools.controls.base import Call, Control, Desk, Outcome, refusal
from reflex_bench.envs.tools.controls.options import Barrier, Breaker, Retry

NOT_JSON, MISMATCH, MISSING = "L2_NOT_JSON", "L3_CODE_MISMATCH", "L4_MISSING_FIELD"
NEVER_AGAIN = frozenset({"RESOURCE_NOT_FOUND"})
"""Types of errors after which no call is repeated, whatever the registry says."""


class Idempotency(Control):
    """The same key for the same call of a task, so that a repeat does nothing twice."""

    name = "idempotency"

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """See `Control`."""
        tool = call.tool
        if tool is not None and tool.effect != "read" and tool.idempotent_with_key:
            call.key = f"k-{int(draw(desk.task, tool.id, canonical(call.arguments)) * 16**12):012x}"
            desk.counts["idempotency_keys"] += 1
        return None


class Held(Control):
    """An irreversible call is checked and answered, and held until somebody releases it."""

    name = "barrier"
    prospective = False

    def __init__(self, numbers: Barrier) -> None:
        self.numbers = numbers

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """See `Control`."""
        if call.tool is not None and call.tool.effect == "irreversible":
            call.held = True
            desk.spoke(self.name, call)
        return None


class Ghost(Control):
    """An answer is a success only on four layers: status, JSON, its own code, the fields of the registry."""

    name = "ghost"
    prospective = False

    def look(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """See `Control`. What is no success is told with its layer."""
        if outcome.status is None or outcome.status >= 300 or call.tool is None:
            return outcome
        layer, why = layer_of(outcome.text, call.tool.returns)
        if not layer:
            return outcome
        response = outcome.response
        answered: Answer | None = response.answer if response else None
        # A success without one of its fields was done all the same.
        desk.spoke(self.name, call, right=answered is None or answered.status >= 300 or layer == MISSING)
        outcome.layer = layer
        done = " It may have been done all the same." if layer == MISSING else ""
        outcome.remarks.append(f"[{layer}: {why}; this is no success.{done}]")
        return outcome


def layer_of(text: str, returns: Any) -> tuple[str, str]:
    """Return the layer at which an answer of 2xx is no success, and why; two empty texts where it is one."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON, "the body is no JSON"
    if not isinstance(body, dict):
        return NOT_JSON, "the body is no JSON object"
    code = body.get("code", "OK")
    if isinstance(code, bool) or code not in SUCCESS_CODES:
        return MISMATCH, f"the code inside is {code!r:.40}"
    gone = next((name for name in returns.get("required", ()) if name not in body), "")
    return (MISSING, f"{gone} is missing") if gone else ("", "")


class Again(Control):
    """A call is made again by the classes of the registry alone: never an irreversible one without a key."""

    name = "retry"
    prospective = False

    def __init__(self, numbers: Retry) -> None:
        self._numbers = numbers

    def again(self, call: Call, outcome: Outcome, desk: Desk) -> int | None:
        """See `Control`. The pause doubles, and is no shorter than a rate limit asks for."""
        tool, kind = call.tool, outcome.error_type
        most: int = min(self._numbers.most, tool.retries.count) if tool else 0
        if tool is None or outcome.tries > most:
            return None
        if kind not in tool.retries.classes or kind in NEVER_AGAIN:
            return None
        if tool.effect == "irreversible" and call.key is None:
            return None
        wait = outcome.body.get("retry_after", 0) if isinstance(outcome.body, dict) else 0
        desk.spoke(self.name, call)
        pause: int = self._numbers.pause * 2 ** (outcome.tries - 1)
        return 1000 * max(pause, int(wait) if isinstance(wait, int | float) else 0)


class Suspends(Control):
    """A tool that does not answer is suspended for a time; one that answers with ghosts gives way to its fallback."""

    name = "breaker"
    prospective = False

    def __init__(self, numbers: Breaker) -> None:
        self._numbers = numbers
        self._timeouts: dict[str, list[int]] = defaultdict(list)
        self._ghosts: dict[str, int] = defaultdict(int)
        self.until: dict[str, int] = {}

    def suspended(self, tool: str, desk: Desk) -> bool:
        """Return whether a tool is suspended now; when its time is over, one call may try."""
        return desk.clock.seconds < self.until.get(tool, 0)

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """See `Control`."""
        if call.tool is None:
            return None
        tool, fallback = call.tool.id, call.tool.fallback
        if self._ghosts[tool] >= self._numbers.ghosts and fallback and self._fits(call, desk, fallback):
            desk.spoke(self.name, call)
            call.tool, call.id = desk.registry.tools[fallback], fallback
            return None
        if not self.suspended(tool, desk):
            return None
        instead = f"; {fallback} serves the same purpose" if fallback else ""
        left = self.until[tool] - desk.clock.seconds
        return refusal(self.name, "SUSPENDED", f"{tool} is suspended for {left} s more{instead}")

    def _fits(self, call: Call, desk: Desk, fallback: str) -> bool:
        """Whether a fallback takes the same arguments, and does no more than the tool itself."""
        other = desk.registry.tools.get(fallback)
        assert call.tool is not None
        if other is None or other.effect != call.tool.effect:
            return False
        return set(call.arguments) <= set(other.parameters.get("properties", {}))

    def look(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """See `Control`."""
        if call.tool is None:
            return outcome
        tool, now, numbers = call.tool.id, desk.clock.seconds, self._numbers
        self._ghosts[tool] = self._ghosts[tool] + 1 if outcome.layer else 0
        if outcome.status is not None:
            if tool in self.until:
                # It was half open, and answered.
                self.until.pop(tool)
                self._timeouts[tool].clear()
            return outcome
        recent = [at for at in self._timeouts[tool] if now - at <= numbers.within] + [now]
        self._timeouts[tool] = recent
        if len(recent) >= numbers.timeouts or tool in self.until:
            self.until[tool] = now + numbers.pause
            desk.counts["breaker_opened"] += 1
        return outcome


class LastKnown(Control):
    """While a tool is suspended, its last known answer is given, marked with its age."""

    name = "stale"
    prospective = False

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[int, str, Any]] = {}

    def instead(self, call: Call, desk: Desk) -> Outcome | None:
        """Return the last known answer to a call; None where there is none, or it is a write."""
        if call.tool is None or call.tool.effect != "read":
            return None
        known = self._known.get((call.tool.id, canonical(call.arguments)))
        if known is None:
            return None
        at, _, body = known
        desk.spoke(self.name, call)
        aged = {**body, "last_known": True, "age_seconds": desk.clock.seconds - at}
        return Outcome(200, dumped(aged), aged)

    def after(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """See `Control`. Remembers successes."""
        if (
            call.tool is not None
            and not outcome.failed
            and outcome.response
            and isinstance(outcome.body, dict)
        ):
            key = (call.tool.id, canonical(call.arguments))
            self._known[key] = (desk.clock.seconds, outcome.text, outcome.body)
        return outcome


class Lenient(Control):
    """The tools themselves take values of other types, and mark them."""

    name = "lenient"
    prospective = False
