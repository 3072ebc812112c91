"""Progress of a run, and how it ended."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from reflex_bench.harness.checks.contamination import Overlap
from reflex_bench.models.base import Reply

if TYPE_CHECKING:
    from reflex_bench.harness.planning.plan import Plan
    from reflex_bench.harness.storage.store import Store


class Progress(Protocol):
    """Is told what happens, from several threads."""

    def calling(self) -> None:
        """Take note that a model is asked."""
        ...

    def called(self, role: str, reply: Reply | None) -> None:
        """Take note that a model answered in this role; None where it failed."""
        ...

    def stopping(self, calls: int) -> None:
        """Take note that somebody ended the run: so many calls are under way, and are waited for."""
        ...

    def trial(self, row: dict[str, Any]) -> None:
        """Take note that a trial was written."""
        ...

    def chain(self, arm: str) -> None:
        """Take note that a chain is done."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Attributes:
        status: `complete`, `stopped` (no call could or may be made any more) or `interrupted`.
        reason: one line, for a run that did not complete.
        errors: trials of this process that ended in errors.
        abandoned: whether it left at once, with calls under way.
        overlaps: tasks that were attempted in this process and stand in the prompts' examples.
    """

    status: str
    reason: str
    errors: int
    overlaps: tuple[Overlap, ...]
    abandoned: bool = False


class Tally:
    """Counts what happens. Implements `Progress`, but for `stopping`.

    Args:
        plan: what is being run.
        store: where it is written; what an earlier process did counts as done.

    Attributes:
        done, solved: tasks, by arm.
        steps: turns of actors, in this process, as are the following.
        calls: that were answered or failed.
        in_flight: calls under way.
        errors: trials that ended in an error.
        tokens, cost: None where a server did not say.
    """

    def __init__(self, plan: Plan, store: Store) -> None:
        self.arms = [arm.name for arm in plan.arms]
        self.tasks = len(plan.split.tasks)
        self.done = {arm: sum(1 for name, _ in store.done if name == arm) for arm in self.arms}
        self.solved = {arm: store.solved(arm) for arm in self.arms}
        self.steps = self.calls = self.in_flight = self.errors = 0
        self.tokens: int | None = 0
        self.cost: float | None = 0.0
        self.faults: Mapping[str, int] = plan.endpoint.faults
        self._most_steps = plan.trials * plan.limits.max_steps
        self._owed = self.tasks * len(self.arms) - sum(self.done.values())
        self._started = time.monotonic()
        self._answered: deque[float] = deque()
        self._written: Counter[tuple[str, str]] = Counter()  # steps of the trials of a chain that are written
        self._attempts: set[str] = set()
        self._steps_of_attempts = self._steps_of_ended = self._ended = 0
        self._trials, self._independent = plan.trials, plan.independent
        self._guard = threading.Lock()

    def calling(self) -> None:
        """See `Progress`."""
        with self._guard:
            self.in_flight += 1

    def called(self, role: str, reply: Reply | None) -> None:
        """See `Progress`."""
        with self._guard:
            self.in_flight -= 1
            self.calls += 1
            self._answered.append(time.monotonic())
            if reply is None:
                return
            self.steps += role == "actor"
            self.tokens = _plus(self.tokens, reply.usage.prompt_tokens, reply.usage.completion_tokens)
            self.cost = _plus(self.cost, reply.cost)

    def trial(self, row: dict[str, Any]) -> None:
        """See `Progress`."""
        chain, steps = (row["arm"], row["task"]), row.get("steps") or 0
        with self._guard:
            self.solved[row["arm"]] += bool(row["success"])
            self.errors += row["outcome"] == "error"
            self._written[chain] += steps
            if row["attempt"] not in self._attempts:
                self._attempts.add(row["attempt"])
                self._steps_of_attempts += steps
            passed = row["passed"] and not self._independent
            if passed or row["trial"] == self._trials:
                self._ended += 1
                self._steps_of_ended += self._written[chain]

    def chain(self, arm: str) -> None:
        """See `Progress`."""
        with self._guard:
            self.done[arm] += 1

    @property
    def seconds(self) -> float:
        """Since this process began with the run."""
        return time.monotonic() - self._started

    def calls_a_minute(self) -> float:
        """Calls that came back in the last minute, or since the beginning where that is less."""
        now = time.monotonic()
        with self._guard:
            while self._answered and self._answered[0] < now - 60:
                self._answered.popleft()
            return len(self._answered) * 60 / max(1.0, min(60.0, now - self._started))

    def left(self) -> tuple[bool, float | None]:
        """Return seconds that the run will take yet (None: unknown), and whether that is a bound or an estimate.

        It follows from the steps done so far, of finished trials and of those under way, and from how many steps the
        chains took that have ended. While none has, every chain is taken to use all its trials and steps: a bound.
        """
        with self._guard:
            under_way = max(0, self.steps - self._steps_of_attempts)
            steps = self._written.total() + under_way
            each = self._steps_of_ended / self._ended if self._ended else float(self._most_steps)
            if not steps:
                return False, None
            owed = max(float(self._owed - self._ended > 0), self._owed * each - steps)
            return not self._ended, owed * (time.monotonic() - self._started) / steps


def _plus(*numbers: Any) -> Any:
    """Return the sum; None where any number is unknown."""
    return None if None in numbers else sum(numbers)
