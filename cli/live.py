"""Progress display of a run: live on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

from reflex_bench.cli.encoding import is_dumb
from reflex_bench.harness.running.progress import Tally

if TYPE_CHECKING:
    from rich.console import RenderableType

    from reflex_bench.harness.planning.plan import Plan
    from reflex_bench.harness.storage.store import Store

LINE_EVERY = 60.0
"""Seconds between two lines where there is no terminal."""


class Live(Tally):
    """Counts what happens and shows it. Implements `reflex_bench.harness.running.progress.Progress`.

    Args:
        plan: what is being run.
        store: where it is written; what an earlier process did counts as done.
        quiet: show nothing but what answers an interruption.
    """

    def __init__(self, plan: Plan, store: Store, quiet: bool) -> None:
        super().__init__(plan, store)
        self._quiet, self._timeout = quiet, plan.endpoint.timeout
        self._terminal = sys.stderr.isatty() and not is_dumb() and not quiet
        size = f"{_counted(self.tasks, 'task')} · up to {_counted(plan.trials, 'trial')}"
        self._title = f"{plan.environment.name} · {plan.split.name} · {size}"
        if plan.simulated:
            self._title += " · simulated model"
        self._display: Any = None
        self._over = threading.Event()

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
            threading.Thread(target=self._tell, name="progress", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._display is not None:
            self._display.__exit__(kind, error, trace)
        elif not self._quiet:
            self._line()

    def stopping(self, calls: int) -> None:
        """See `Progress`."""
        under_way = "1 call that is" if calls == 1 else f"{calls} calls that are"
        what = f"{under_way} under way, at most {self._timeout:g} s" if calls else "what is in work"
        said = f"reflex: interrupted; waiting for {what}. Ctrl-C again leaves now (the run can be resumed)"
        if self._display is not None:
            self._display.console.print(said, markup=False, highlight=False)
        else:
            print(said, file=sys.stderr, flush=True)

    def _tell(self) -> None:
        while not self._over.wait(LINE_EVERY):
            self._line()

    def _line(self) -> None:
        arms = ", ".join(
            f"{arm} {self.done[arm]}/{self.tasks} ({self.solved[arm]} solved)" for arm in self.arms
        )
        print(f"reflex: {' · '.join([arms, *self._counts()])}", file=sys.stderr, flush=True)

    def _counts(self) -> tuple[str, str, str]:
        """Return what was done, what it took, and how long it went on and will go on."""
        faults = ", ".join(
            f"{self.faults[kind]} {name}" for kind, name in FAULTS.items() if self.faults.get(kind)
        )
        calls = f"{self.calls:,} calls ({self.calls_a_minute():.0f} a minute, {self.in_flight} under way)"
        done = f"{self.steps:,} steps, {calls}" + (f", {faults}" if faults else "")
        tokens = "tokens unknown" if self.tokens is None else f"{self.tokens:,} tokens"
        cost = "cost unknown" if self.cost is None else f"${self.cost:.2f}"
        errors = f", {_counted(self.errors, 'trial')} in error" if self.errors else ""
        return done, f"{tokens}, {cost}{errors}", f"{_span(self.seconds)} gone, {self._left()}"

    def _left(self) -> str:
        is_bound, seconds = self.left()
        if seconds is None:
            return "unknown left"
        return f"{'at most' if is_bound else 'about'} {_span(seconds)} left"

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for arm in self.arms:
            done, solved = self.done[arm], self.solved[arm]
            share = f"{100 * solved / done:.0f} % solved" if done else ""
            bar = ProgressBar(total=self.tasks, completed=done, width=30)
            table.add_row(Text(arm, style="bold"), bar, f"{done}/{self.tasks}", Text(share, style="green"))
        return Group(Text(self._title), table, *(Text(line, style="dim") for line in self._counts()))


FAULTS = {
    "timeout": "time-outs",
    "rate_limit": "times too many requests (429)",
    "server": "server errors",
    "connection": "lost connections",
    "malformed": "unreadable answers",
}
"""How attempts fail, and what that is called."""


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _span(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def print_plan(plan: Plan, seeds: int = 1) -> None:
    """Print what `--dry-run` shows.

    Args:
        plan: of one run; a preview (`make_plan`) does.
        seeds: how many such runs there will be.
    """
    from reflex_bench.harness.running.estimate import estimate, tasks_of

    likely, tasks, first = estimate(plan), tasks_of(plan), plan.config.seed
    cost = "unknown" if likely.cost is None else f"about ${seeds * likely.cost:.2f}"
    whole = tasks == len(plan.split.tasks)
    known = f"fingerprint {plan.split.fingerprint[:12]}" if whole else "generated when the run begins"
    print(f"environment  {plan.environment.name} (feedback: {plan.environment.feedback})")
    print(f"split        {plan.split.name}: {tasks:,} tasks, {known}")
    for note in plan.split.notes if whole else ():
        print(f"             {note}")
    for arm in plan.arms:
        kept = f", memory {arm.memory.kind} {arm.memory.size}" if arm.settings["memory"] != "none" else ""
        acts = f"{arm.settings['agent']} on {arm.actor.model}, temperature {arm.actor.temperature}"
        print(f"arm          {arm.name}: {acts}, reflector {arm.settings['reflector']}{kept}")
    print(f"trials       up to {plan.trials} of each task, {plan.limits.max_steps} steps each")
    if seeds > 1:
        told = f"{seeds} runs, of the seeds {first} to {first + seeds - 1}; what follows is for all of them"
        print(f"seeds        {told}")
    calls, trials, most = (seeds * each for each in (likely.calls, likely.trials, likely.most_calls))
    print(f"model calls  about {calls:,} in {trials:,} trials; at most {most:,}")
    prompt, completion = seeds * likely.prompt_tokens, seeds * likely.completion_tokens
    print(f"tokens       about {prompt:,} in prompts and {completion:,} in replies")
    print(f"cost         {cost}")
