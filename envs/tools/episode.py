"""One trial at one task: the executor, a machine of named states, and how a trial ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reflex_bench.envs.base import ABSENT, HANDED_OVER, StepResult
from reflex_bench.envs.tools.business import rules as business
from reflex_bench.envs.tools.business.world import Answer, World
from reflex_bench.envs.tools.calls.record import CallRecord, request_hash
from reflex_bench.envs.tools.calls.shapes import dumped
from reflex_bench.envs.tools.controls.base import Call, Desk, Outcome, refusal
from reflex_bench.envs.tools.controls.options import Numbers
from reflex_bench.envs.tools.controls.pipeline import Pipeline
from reflex_bench.envs.tools.judging import judge
from reflex_bench.envs.tools.life import Life
from reflex_bench.envs.tools.outcomes import Trial, summary
from reflex_bench.envs.tools.parsing import split_command
from reflex_bench.envs.tools.registry import NoSuchTool, Tool
from reflex_bench.envs.tools.settling import Settling, released

RESPOND, HAND_OVER, CANCEL = "respond", "hand_over", "cancel"
STATES = ("reasoning", "validating", "executing", "observing", "ended")
"""Of the executor: the agent thinks, a call is checked, it is under way, its answer is read, the trial is over."""
CLOSED = "The request is closed."
PASSED_ON = "The request was handed over to a person."
NO_ANSWER = "No answer within {seconds:g} seconds."
REFUSED = "Refused: "
UNREADABLE = 'A call is the id of a tool and its arguments as a JSON object, e.g. tool_id {"name": "value"}.'


@dataclass
class ToolEpisode:
    """A trial.

    Attributes:
        life: the world that it is played in.
        numbers: of the controls that are on.
        text: of the request, for its hash.
        facts: that the agent stated; None until it answered.
        truth, fault: what the last call really brought, and what struck it; for gold, never for an agent.
        rules_broken: of the business, when the agent had ended.
        state: of the executor.
        records: of its calls.
    """

    life: Life
    numbers: Mapping[str, Numbers]
    facts: Mapping[str, Any] | None = None
    state: str = "reasoning"
    message: str = ""
    handed_over: bool = False
    records: list[CallRecord] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    made_up: list[str] = field(default_factory=list)
    ghosts_taken: int = 0
    settled: bool = False
    truth: Answer | None = None
    fault: str = ""
    rules_broken: str | None = None
    on_close: Callable[[], None] | None = None
    pipeline: Pipeline = field(init=False)
    began: int = field(init=False)

    def __post_init__(self) -> None:
        life = self.life
        desk = Desk(
            task=life.task.id,
            text=life.task.message,
            role=life.task.role,
            registry=life.registry,
            world=life.world,
            clock=life.clock,
            check=business.check,
            fresh=len(life.world.ledger),
        )
        self.began = life.clock.milliseconds
        self.pipeline = Pipeline(self.numbers, desk, life.transport, self._harms, first=life.calls)

    @property
    def desk(self) -> Desk:
        """What the controls look at."""
        return self.pipeline.desk

    def reset(self) -> str:
        """Return the request."""
        task = self.life.task
        return f"You work with the rights of: {task.role}\nRequest: {task.message}"

    def step(self, command: str) -> StepResult:
        """Execute a call of a tool, `respond`, `hand_over` or `cancel`; an ended trial says so again."""
        if self.state == "ended":
            return StepResult(CLOSED, won=False, done=True)
        self.commands.append(command)
        call = split_command(command)
        if call is None:
            return StepResult(f"{REFUSED}{UNREADABLE}", valid=False, reason="unparsed")
        name, arguments = call
        if name == RESPOND:
            return self._respond(arguments)
        if name == HAND_OVER:
            return self._hand_over(arguments)
        if name == CANCEL:
            return self._cancel(arguments)
        return self._call(name, arguments)

    def _respond(self, arguments: Mapping[str, Any]) -> StepResult:
        if why := self.pipeline.refuse_end(RESPOND):
            return StepResult(f"{REFUSED}{why}", valid=False, reason="refused")
        facts = arguments.get("facts")
        if not isinstance(arguments.get("message"), str) or not isinstance(facts or {}, Mapping):
            wanted = 'respond takes {"message": "…", "facts": {"name": "value"}}'
            return StepResult(f"{REFUSED}{wanted}", valid=False, reason="unparsed")
        self.message, self.facts = self.pipeline.reply(arguments["message"]), dict(facts or {})
        self.state = "ended"
        return StepResult(CLOSED, won=self.would_be_right(), done=True)

    def _hand_over(self, arguments: Mapping[str, Any]) -> StepResult:
        self.message, self.handed_over = str(arguments.get("reason", ""))[:1000], True
        self.state = "ended"
        return StepResult(PASSED_ON, won=self.would_be_right(), done=True, reason=HANDED_OVER)

    def _cancel(self, arguments: Mapping[str, Any]) -> StepResult:
        """Undo what the agent's call of a number did, or the newest effect that can be undone."""
        desk, number = self.desk, arguments.get("call")
        able = [
            effect
            for effect in desk.world.ledger[desk.fresh :]
            if effect.mode in ("real", "held") and effect.undoes is None
        ]
        if isinstance(number, int) and not isinstance(number, bool):
            able = [effect for effect in able if effect.call == self.life.calls + number]
        effect = able[-1] if able else None
        if effect is None:
            return StepResult(f"{REFUSED}there is nothing to cancel", valid=False, reason=ABSENT)
        if effect.mode == "held":
            desk.world.drop(effect)
            return StepResult('HTTP 200 {"code": "OK", "canceled": true}')
        if effect.effect != "compensable":
            return StepResult(f"{REFUSED}{effect.tool} cannot be undone", valid=False, reason="refused")
        answer = desk.world.undo(effect, at=desk.clock.seconds, call=self.life.calls + len(self.records))
        return StepResult(f"HTTP {answer.status} {dumped(answer.body)}")

    def _call(self, id: str, arguments: dict[str, Any]) -> StepResult:
        self.state = "validating"
        call = Call(
            number=len(self.records) + 1, id=id, tool=None, arguments=arguments, given=dict(arguments)
        )
        start, price = self.desk.clock.milliseconds, self.desk.price
        found = self._tool(id)
        if isinstance(found, Tool):
            call.tool = found
            outcome = self.pipeline.run(call)
        else:
            outcome = found
            self.made_up.append(id[:80])
        self.desk.done += outcome.tries > 0
        self.truth = outcome.response.answer if outcome.response else None
        self.fault = outcome.response.fault if outcome.response else ""
        self._record(call, outcome, start, self.desk.price - price)
        self.state = "reasoning"
        refused = bool(outcome.refused_by)
        return StepResult(self._seen(outcome, call), valid=not refused, reason=outcome.error_type)

    def _tool(self, id: str) -> Tool | Outcome:
        renewed = self.life.forecast.renewed(self.life.task.id, id)
        if renewed is not None:
            return renewed
        try:
            return self.life.registry.find(id)
        except NoSuchTool as error:
            return refusal("registry", error.code, " ".join(str(error).split()))

    def _seen(self, outcome: Outcome, call: Call) -> str:
        if outcome.refused_by:
            text = f"{REFUSED}{outcome.text}"
        elif outcome.status is None:
            text = NO_ANSWER.format(seconds=call.tool.timeout if call.tool else 0)
        else:
            text = f"HTTP {outcome.status} {outcome.text}"
        return "\n".join([text, *outcome.remarks])

    def _record(self, call: Call, outcome: Outcome, start: int, price: float) -> None:
        tool, response = call.tool, outcome.response
        if response is not None and response.fault in ("ghost", "html", "no_field") and not outcome.layer:
            self.ghosts_taken += 1
        state = "observing" if outcome.status is not None else "executing"
        state = "validating" if outcome.refused_by else state
        mode = {True: "held", False: "real"}[call.held] if tool and tool.effect != "read" and response else ""
        self.records.append(
            CallRecord(
                step=len(self.commands),
                call=self.life.calls + call.number,
                request=request_hash(self.life.task.message),
                tool=call.id,
                version=tool.version if tool else "",
                arguments=call.arguments,
                key=call.key,
                effect=tool.effect if tool else "",
                mode=mode,
                endpoint=tool.endpoint if tool else "",
                status=outcome.status,
                error_type=outcome.error_type,
                layer=outcome.layer,
                state=state,
                why=outcome.error_type or "answered",
                bytes=len(response.text.encode("utf-8", "replace")) if response else 0,
                cut=outcome.cut,
                start=round(start / 1000, 3),
                seconds=round((self.desk.clock.milliseconds - start) / 1000, 3),
                price=round(price, 6),
                tries=outcome.tries,
                controls=tuple(call.spoke),
                refused_by=outcome.refused_by,
            )
        )

    def _harms(self, world: World) -> int:
        return len(judge(self.life.task, world, None, False).harms)

    def _right(self, world: World) -> bool:
        judged = judge(self.life.task, world, self.facts, self.handed_over)
        return bool(judged.solved)

    def would_be_right(self) -> bool:
        """Return whether the task is solved, everything that is held being released."""
        desk = self.desk
        return self._right(released(desk.world, desk.fresh, desk.clock.seconds))

    def settle(self, passed: bool) -> None:
        """End the trial for good: see `settling`. Safe to call twice; the first call counts."""
        if self.settled:
            return
        self.broken()
        self.settled, self.state = True, "ended"
        harmless = lambda world: self._right(world) and not self._harms(world)  # noqa: E731
        Settling(self.pipeline, self.life.trials + 1, harmless).settle(passed)
        self.life.trials += 1
        self.life.calls += len(self.records)
        for record in self.records:
            made = (
                each for each in self.desk.world.ledger if each.call == record.call and each.undoes is None
            )
            record.mode = next((each.mode for each in made), "")

    def broken(self) -> str:
        """Return the codes of the rules that are broken, as they were when the agent had ended."""
        if self.rules_broken is None:
            # What is held is judged as if it were done: whether it will be is what the verdict decides.
            world = released(self.desk.world, self.desk.fresh, self.desk.clock.seconds)
            found = business.broken(world, self.facts is not None or self.handed_over)
            self.rules_broken = ", ".join(found)
        return self.rules_broken

    @property
    def solved(self) -> bool:
        """Whether the task is solved, as the world is now. Only an agent that ended the trial has solved it."""
        return (self.facts is not None or self.handed_over) and self._right(self.desk.world)

    def result(self) -> Mapping[str, Any]:
        """Return what was measured; before `settle`, as the world is then."""
        trial = Trial(
            task=self.life.task,
            desk=self.desk,
            records=self.records,
            facts=self.facts,
            handed_over=self.handed_over,
            solved=self.solved,
            rules_broken=self.broken(),
            made_up=self.made_up,
            ghosts_taken=self.ghosts_taken,
            began=self.began,
        )
        return summary(trial)

    def close(self) -> None:
        """Nothing is held open; whoever opened it may want to know."""
        if self.on_close is not None:
            self.on_close()
