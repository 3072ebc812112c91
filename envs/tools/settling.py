"""What happens when a trial is over: what is held is released or dropped, and what failed is undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reflex_bench.envs.tools.business.ledger import Effect
from reflex_bench.envs.tools.business.world import World
from reflex_bench.envs.tools.calls.draws import draw
from reflex_bench.envs.tools.controls.base import Desk
from reflex_bench.envs.tools.controls.options import Barrier
from reflex_bench.envs.tools.controls.pipeline import Pipeline

APPROVERS = {"approver": 1, "two_approvers": 2}
"""How many simulated people must agree."""


@dataclass(frozen=True, slots=True)
class Settling:
    """The end of a trial.

    Attributes:
        pipeline: of the trial.
        trial: its number, from 1.
        right: whether the state of a world, everything held in it released, is right and harmless.
    """

    pipeline: Pipeline
    trial: int
    right: Callable[[World], bool]

    def settle(self, passed: bool) -> None:
        """Do what the controls say; without barrier and `compensate` everything stays as it is.

        Args:
            passed: whether the evaluator passed the trial.
        """
        desk, numbers = self.pipeline.desk, self.pipeline.numbers.get("barrier")
        held = [effect for effect in desk.world.ledger[desk.fresh :] if effect.mode == "held"]
        if isinstance(numbers, Barrier):
            self._judge(held, numbers, passed)
        elif self.pipeline.has("compensate") and not passed:
            undo(desk, "compensate")

    def _judge(self, held: list[Effect], numbers: Barrier, passed: bool) -> None:
        desk = self.pipeline.desk
        would_be = self.right(released(desk.world, desk.fresh, desk.clock.seconds))
        if self._released(numbers, passed, would_be, bool(held)):
            for effect in held:
                answer = desk.world.release(effect, at=desk.clock.seconds)
                desk.counts["barrier_released"] += 1
                desk.counts["barrier_failed"] += answer.status >= 300
            return
        desk.counts["barrier_dropped"] += len(held)
        desk.counts["barrier_right_not_released"] += bool(held) and would_be
        for effect in held:
            desk.world.drop(effect)
        undo(desk, "barrier")

    def _released(self, numbers: Barrier, passed: bool, would_be: bool, any_held: bool) -> bool:
        if numbers.release in ("evaluator", "never"):
            return passed and numbers.release == "evaluator"
        if not any_held:
            return passed
        desk, agree = self.pipeline.desk, True
        for person in range(APPROVERS[numbers.release]):
            desk.minutes += numbers.minutes
            desk.clock.advance(numbers.minutes * 60_000)
            errs = draw(desk.task, "approver", self.trial, person) >= numbers.right
            agree = agree and (would_be is not errs)
        return agree


def released(world: World, fresh: int, at: int) -> World:
    """Return a copy of a world in which everything is done that is held in the trial."""
    copy = world.copy()
    for effect in list(copy.ledger[fresh:]):
        if effect.mode == "held":
            copy.release(effect, at=at)
    return copy


def undo(desk: Desk, control: str) -> None:
    """Undo what a trial did and can be undone, the newest first; count what cannot."""
    for effect in reversed(desk.world.ledger[desk.fresh :]):
        # What took something back is no effect of its own: taking it back would do the first again.
        if effect.mode not in ("real", "released") or effect.undoes is not None:
            continue
        if effect.effect != "compensable":
            desk.counts[f"{control}_cannot"] += 1
            continue
        answer = desk.world.undo(effect, at=desk.clock.seconds, call=effect.call)
        desk.counts[f"{control}_undone"] += answer.status < 300
