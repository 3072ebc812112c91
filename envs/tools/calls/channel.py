"""A call on its way to a tool and back: the one place where faults strike and time passes.

`Channel` is the transport within this process. Another one (a server on the loopback address) has the same `send`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from reflex_bench.envs.tools.business.world import Answer, World
from reflex_bench.envs.tools.calls import shapes
from reflex_bench.envs.tools.calls.clock import Clock
from reflex_bench.envs.tools.calls.draws import between, canonical
from reflex_bench.envs.tools.calls.faults import Forecast
from reflex_bench.envs.tools.registry import Tool

LATENCY: Mapping[str, tuple[int, int]] = {"low": (80, 400), "medium": (200, 900), "high": (600, 2500)}
"""Milliseconds that a call takes, by the tool's cost level; the numbers are ours."""
QUICK = frozenset({"unauthorised", "rate_limit"})
"""Faults that are answered at the door, in the shortest time."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent.

    Attributes:
        tool: which tool.
        id: by which it was called; newer than the tool's own where it was renewed.
        arguments: as they are sent.
        role: whose rights.
        call: number of the call in the task, over all its trials.
        key: makes a repeat harmless, where the tool takes one.
        held: check and answer, and leave nothing written.
        lenient: the tool takes values of other types and marks them.
    """

    tool: Tool
    id: str
    arguments: Mapping[str, Any]
    role: str
    call: int
    key: str | None = None
    held: bool = False
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """What came back.

    Attributes:
        status: of HTTP; None where no answer came.
        text: the body as it came.
        milliseconds: that passed.
        fault: the kind that struck; never shown to an agent.
        answer: what the tool itself said, None where the call did not reach it; never shown to an agent.
    """

    status: int | None
    text: str
    milliseconds: int
    fault: str = ""
    answer: Answer | None = None


class Transport(Protocol):
    """What takes a request to a tool."""

    def send(self, request: Request) -> Response:
        """Make one call; its time has passed on the clock when this returns."""
        ...


@dataclass
class Channel:
    """Calls within this process.

    Attributes:
        task: the id; faults are drawn from it.
        world: what the tools work on.
        forecast: which faults strike.
        clock: the time of the world.
        pristine: makes the task's world as it was at first, for answers out of a cache.
    """

    task: str
    world: World
    forecast: Forecast
    clock: Clock
    pristine: Callable[[], World]
    _calls: Counter[tuple[str, str]] = field(default_factory=Counter)

    def send(self, request: Request) -> Response:
        """See `Transport`."""
        tool = request.tool
        refused, arguments = self._drifted(request)
        what = canonical(arguments)
        self._calls[tool.id, what] += 1
        number = self._calls[tool.id, what]
        key = (self.forecast.seed, self.task, tool.id, what, number)
        fault = "drift" if refused else self.forecast.fault(self.task, tool, arguments, number)
        low, high = LATENCY[tool.cost_level]
        passed = low if fault in QUICK else between(low, high, "latency", *key)
        answer: Answer | None = None
        if refused:
            status, body = refused
        elif fault in ("timeout_lost", "timeout_done"):
            passed = int(tool.timeout * 1000)
            answer = self._asked(request, arguments) if fault == "timeout_done" else None
            status, body = None, ""
        elif fault in ("not_found_once", "server_error", "rate_limit", "unauthorised", "ghost", "html"):
            status, body = shapes.failure(fault, *key)
        else:
            answer = self._asked(request, arguments)
            status, body = self._shaped(request, arguments, answer, fault, key)
            fault = fault if answer.status < 300 else ""
        self.clock.advance(passed)
        text = body if isinstance(body, str) else shapes.dumped(body)
        return Response(status, text, passed, fault, answer)

    def _asked(self, request: Request, arguments: Mapping[str, Any]) -> Answer:
        return self.world.call(
            request.tool,
            arguments,
            at=self.clock.seconds,
            role=request.role,
            call=request.call,
            key=request.key,
            held=request.held,
            lenient=request.lenient,
        )

    def _drifted(self, request: Request) -> tuple[tuple[int, Any] | None, Mapping[str, Any]]:
        """The refusal of what is out of date, and the arguments by the names that the tool itself knows."""
        drift, arguments = self.forecast.drift(self.task, request.tool), request.arguments
        if drift is None:
            return None, arguments
        if drift.retired:
            if request.id == drift.new:
                return None, arguments
            message = f"{drift.old} was retired; use {drift.new}"
            return (410, {"code": "VERSION_MISMATCH", "message": message}), arguments
        if drift.old in arguments:
            message = f"{drift.old} is not known any more; this field is called {drift.new}"
            body = {
                "code": "INVALID_PARAMETER",
                "field": drift.old,
                "renamed_to": drift.new,
                "message": message,
            }
            return (422, body), arguments
        return None, {drift.old if name == drift.new else name: each for name, each in arguments.items()}

    def _shaped(
        self,
        request: Request,
        arguments: Mapping[str, Any],
        answer: Answer,
        fault: str,
        key: tuple[object, ...],
    ) -> tuple[int, Any]:
        if answer.status >= 300:
            return answer.status, dict(answer.body)
        body, tool = shapes.success(answer.body), request.tool
        if fault == "no_field":
            body = shapes.without_field(body, tool.returns, self.forecast.seed, tool.id)
        elif fault == "wrong_type":
            body = shapes.with_wrong_type(body, self.forecast.seed, tool.id)
        elif fault == "conflict":
            body = shapes.with_conflict(body, self.forecast.disputed(tool), self.forecast.seed, tool.id)
        elif fault == "long":
            body = shapes.lengthened(body, *key)
        elif fault == "injection":
            body = shapes.injected(body, *key)
        elif fault == "stale":
            old = self.pristine().call(tool, arguments, at=0, role=request.role, call=request.call)
            if old.status < 300:
                body = shapes.success(old.body)
            body = shapes.cached(body, *key)
        return answer.status, body
