"""What a person sees while a run goes on: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from reflex_bench.harness.plan import Plan
    from reflex_bench.harness.store import Store
    from reflex_bench.models.base import Reply

LINE_EVERY = 15.0
"""Seconds between two lines where there is no terminal."""


class Live:
    """Counts what happens and shows it. Implements `reflex_bench.harness.runner.Progress`.

    Args:
        plan: what is being run.
        store: where it is written; what an earlier process did counts as done.
        quiet: show nothing.
    """

    def __init__(self, plan: Plan, store: Store, quiet: bool) -> None:
        self._arms = [arm.name for arm in plan.arms]
        self._tasks = len(plan.split.tasks)
        self._done = {arm: sum(1 for name, _ in store.done if name == arm) for arm in self._arms}
        self._before = sum(self._done.values())
        self._solved = {arm: store.solved(arm) for arm in self._arms}
        self._errors = self._calls = 0
        self._tokens: int | None = 0
        self._cost: float | None = 0.0
        self._guard = threading.Lock()
        self._started = self._last_line = time.monotonic()
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() and not quiet
        size = f"{self._tasks} tasks · up to {plan.trials} trials"
        self._title = f"{plan.environment.name} · {plan.split.name} · {size}"
        if plan.simulated:
            self._title += " · simulated model"
        self._display: Any = None

    def __enter__(self) -> Live:
        if self._terminal:
            from rich.console import Console
            from rich.live import Live as RichLive

            console = Console(stderr=True)
            self._display = RichLive(
                get_renderable=self._render, console=console, refresh_per_second=4, transient=True
            )
            self._display.__enter__()
        elif not self._quiet:
            print(f"reflex: {self._title}", file=sys.stderr)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._display is not None:
            self._display.__exit__(kind, error, trace)
        elif not self._quiet:
            self._line()

    def called(self, reply: Reply) -> None:
        """See `Progress`."""
        with self._guard:
            self._calls += 1
            self._tokens = _plus(self._tokens, reply.usage.prompt_tokens, reply.usage.completion_tokens)
            self._cost = _plus(self._cost, reply.cost)

    def trial(self, row: dict[str, Any]) -> None:
        """See `Progress`."""
        with self._guard:
            self._solved[row["arm"]] += bool(row["success"])
            self._errors += row["outcome"] == "error"

    def chain(self, arm: str) -> None:
        """See `Progress`."""
        with self._guard:
            self._done[arm] += 1
            due = time.monotonic() - self._last_line > LINE_EVERY
            if due:
                self._last_line = time.monotonic()
        if due and self._display is None and not self._quiet:
            self._line()

    def _line(self) -> None:
        arms = ", ".join(
            f"{arm} {self._done[arm]}/{self._tasks} ({self._solved[arm]} solved)" for arm in self._arms
        )
        print(f"reflex: {arms}; {self._costs()}", file=sys.stderr)

    def _costs(self) -> str:
        tokens = "tokens unknown" if self._tokens is None else f"{self._tokens:,} tokens"
        cost = "cost unknown" if self._cost is None else f"${self._cost:.2f}"
        errors = f", {self._errors} errors" if self._errors else ""
        return f"{self._calls:,} calls, {tokens}, {cost}{errors}, {self._left()} left"

    def _left(self) -> str:
        done, every = sum(self._done.values()), self._tasks * len(self._arms)
        if done == self._before:
            return "unknown"
        seconds = (time.monotonic() - self._started) / (done - self._before) * (every - done)
        return f"{int(seconds // 3600)}:{int(seconds // 60 % 60):02d}:{int(seconds % 60):02d}"

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for arm in self._arms:
            done, solved = self._done[arm], self._solved[arm]
            share = f"{100 * solved / done:.0f} % solved" if done else ""
            bar = ProgressBar(total=self._tasks, completed=done, width=30)
            table.add_row(Text(arm, style="bold"), bar, f"{done}/{self._tasks}", Text(share, style="green"))
        return Group(Text(self._title), table, Text(self._costs(), style="dim"))


def _plus(*numbers: Any) -> Any:
    """The sum; None where any number is unknown."""
    return None if None in numbers else sum(numbers)


def print_plan(plan: Plan) -> None:
    """What `--dry-run` shows."""
    from reflex_bench.harness.estimate import estimate

    likely = estimate(plan)
    cost = "unknown" if likely.cost is None else f"about ${likely.cost:.2f}"
    print(f"environment  {plan.environment.name} (feedback: {plan.environment.feedback})")
    print(
        f"split        {plan.split.name}: {len(plan.split.tasks)} tasks, fingerprint {plan.split.fingerprint[:12]}"
    )
    for note in plan.split.notes:
        print(f"             {note}")
    for arm in plan.arms:
        kept = f", memory {arm.memory.kind} {arm.memory.size}" if arm.settings["memory"] != "none" else ""
        acts = f"{arm.settings['agent']} on {arm.actor.model}, temperature {arm.actor.temperature}"
        print(f"arm          {arm.name}: {acts}, reflector {arm.settings['reflector']}{kept}")
    print(f"trials       up to {plan.trials} of each task, {plan.limits.max_steps} steps each")
    print(f"model calls  about {likely.calls:,} in {likely.trials:,} trials; at most {likely.most_calls:,}")
    print(
        f"tokens       about {likely.prompt_tokens:,} in prompts and {likely.completion_tokens:,} in replies"
    )
    print(f"cost         {cost}")
