"""Runs the chains of a plan in threads and writes what comes of them."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from reflex_bench.core.errors import RunStopped
from reflex_bench.envs.base import Task
from reflex_bench.harness.checks.contamination import Overlap, overlaps, recogniser
from reflex_bench.harness.parts.doors import checked_reply
from reflex_bench.harness.planning.arms import Arm, prompts_shown
from reflex_bench.harness.planning.plan import Plan
from reflex_bench.harness.running.budget import Budget
from reflex_bench.harness.running.chain import Chain, SingleFlight
from reflex_bench.harness.running.memory_io import begin, leave
from reflex_bench.harness.running.progress import Ended, Progress
from reflex_bench.harness.running.settling import write_further
from reflex_bench.harness.storage.refused import is_for_good
from reflex_bench.harness.storage.store import Store
from reflex_bench.models.base import Reply, Request
from reflex_bench.models.local_server import HOSTED

_log = logging.getLogger(__name__)


class Runner:
    """One process working on one run.

    Args:
        plan: what to do.
        store: where it is written; what is there already is not done again.
        progress: is told what happens.
    """

    def __init__(self, plan: Plan, store: Store, progress: Progress) -> None:
        self._plan, self._store, self._progress = plan, store, progress
        self._stopping = plan.stopping
        self._memories = {arm.name: begin(plan, arm, store.path) for arm in plan.arms}
        self._journal = store.begin()
        self._budget = Budget(plan.config.limits, self._journal.taken, plan.models)
        self._queue: queue.SimpleQueue[tuple[Arm, Task] | Chain | None] = queue.SimpleQueue()
        self._playing: Counter[str] = Counter()
        self._following: dict[str, list[Chain]] = defaultdict(list)
        self._broken: set[str] = set()
        self._owed = 0
        self._guard = threading.Lock()
        self._left: Counter[str] = Counter()
        self._shared: dict[str, SingleFlight] = {}
        self._reason = ""
        self._errors = self._errors_in_a_row = self._in_flight = 0
        self._abandoned = False
        self._tasks = {task.id: task for task in plan.split.tasks}
        self._shown = prompts_shown(plan.arms)
        self._overlaps: dict[Overlap, None] = {}
        workers = max_workers(plan)
        self._permits = threading.Semaphore(workers)
        # A chain that waits for a trial that it shares lets another play. Of those that play, each can be waited for by
        # one chain of every other arm. A single one never waits: what it needs is behind it.
        self._threads = workers * len(plan.arms) if workers > 1 else 1

    def run(self) -> Ended:
        """Runs every chain that is owed; returns when all are done or the run cannot go on."""
        for arm, task in self._what_is_owed():
            self._left[task.id] += 1
            self._owed += 1
            self._playing[arm.name] += 1
            self._queue.put((arm, task))
        count = min(self._threads, self._owed)
        threads = [threading.Thread(target=self._work, name=f"chain-{n}", daemon=True) for n in range(count)]
        interrupted = False
        try:
            for thread in threads:
                thread.start()
            self._wait_for(threads)
        except KeyboardInterrupt:
            # The calls that are under way are paid for: their replies are waited for and written down.
            interrupted = True
            self._stop("interrupted")
            self._wait_or_leave(threads)
        try:
            if self._abandoned:
                return Ended("interrupted", self._reason, self._errors, (), abandoned=True)
            if not self._reason:
                self._store.sort()
            leave(self._plan, self._store.path)
            write_further(self._plan.environment, self._store.path)
        except RunStopped as stop:
            self._reason = self._reason or str(stop)
        status = "interrupted" if interrupted else "stopped" if self._reason else "complete"
        return Ended(status, self._reason, self._errors, tuple(self._overlaps))

    def _wait_or_leave(self, threads: Sequence[threading.Thread]) -> None:
        try:
            self._progress.stopping(self._in_flight)
            for thread in threads:
                if thread.is_alive():  # and not one that had not yet been started
                    thread.join()
        except KeyboardInterrupt:
            # The threads end with the process; what they are about to write is owed, as after a kill.
            self._abandoned = True

    def _what_is_owed(self) -> Iterator[tuple[Arm, Task]]:
        """Task by task, not arm by arm: what arms share is soon let go; runs cut short have the same tasks in each."""
        done, arms = self._store.done, self._plan.arms
        owing = {
            arm.name for arm in arms for task in self._plan.split.tasks if (arm.name, task.id) not in done
        }
        for task in self._plan.split.tasks:
            for arm in arms:
                # What tasks learn from one another is made again from the beginning; recorded trials cost no call.
                again = arm.name in owing and self._memories[arm.name].cross_task
                if again or (arm.name, task.id) not in done:
                    yield arm, task

    def _wait_for(self, threads: Sequence[threading.Thread]) -> None:
        limit = self._plan.config.limits.time
        end = time.monotonic() + limit if limit else None
        for thread in threads:
            thread.join(None if end is None else max(0.0, end - time.monotonic()))
            if thread.is_alive():
                self._stop(f"the time limit of {limit:g} s is reached")
                end = None
                thread.join()

    def _chain(self, arm: Arm, task: Task) -> Chain:
        with self._guard:
            if task.id not in self._shared:
                self._shared[task.id] = SingleFlight(
                    self._store.resumed.pop(task.id, ()), self._idle, self._store.refused
                )
            shared = self._shared[task.id]
        return Chain(
            self._plan,
            arm,
            task,
            shared,
            self._journal,
            self._complete,
            self._write,
            self._stopping,
            self._memories[arm.name],
        )

    @contextmanager
    def _idle(self) -> Iterator[None]:
        self._permits.release()
        try:
            yield
        finally:
            self._permits.acquire()

    def _work(self) -> None:
        while self._owed and not self._stopping.is_set():
            next_one = self._queue.get()
            if next_one is None:
                return
            try:
                chain = next_one if isinstance(next_one, Chain) else self._chain(*next_one)
                with self._permits:
                    more = chain.step()
                    while more and not chain.memory.cross_task:
                        more = chain.step()
                self._round(chain, more)
                if not more:
                    self._chain_done(chain)
            except RunStopped as stop:
                self._stop(str(stop))
                return
            except Exception as fault:
                if self._abandoned:
                    return  # the files are closed
                # Nobody else would notice that a thread is gone, and what it had in work with it.
                _log.exception("a fault of the harness itself, not of a trial")
                self._stop(f"{type(fault).__name__}: {fault}")
                return

    def _round(self, chain: Chain, more: bool) -> None:
        """Ends a round of an arm with its last chain: what was learned is committed, and the next round begins.

        A round in which a trial ended in an error is not ended: later trials would be shown a memory that lacks it,
        and a resumed run another. The arm stays owed.
        """
        arm = chain.arm.name
        with self._guard:
            if more:
                self._following[arm].append(chain)
            self._broken |= {arm} if chain.failed and not chain.refused else set()
            self._playing[arm] -= 1
            if self._playing[arm]:
                return
            following = self._following.pop(arm, [])
            if arm in self._broken:
                self._owed -= len(following)
                following = []
                if not self._owed:
                    self._wake()
            self._playing[arm] = len(following)
        chain.memory.commit()
        for each in sorted(following, key=lambda each: each.task.id):
            self._queue.put(each)

    def _chain_done(self, chain: Chain) -> None:
        with self._guard:
            self._left[chain.task.id] -= 1
            self._owed -= 1
            if not self._owed:
                self._wake()
            if not self._left[chain.task.id]:
                del self._shared[chain.task.id]
        if (chain.arm.name, chain.task.id) not in self._store.done:
            self._progress.chain(chain.arm.name)

    def _complete(self, model: str, role: str, request: Request) -> Reply:
        self._budget.check()
        self._count(+1)
        self._progress.calling()
        reply = None
        try:
            asked = self._plan.models[model]
            reply = checked_reply(asked.complete(request), asked)
        finally:
            self._count(-1)
            self._progress.called(role, reply)
        return reply

    def _count(self, more: int) -> None:
        with self._guard:
            self._in_flight += more

    def _write(self, row: dict[str, Any], seconds: float) -> None:
        if not self._store.add(row, seconds):
            return
        self._note_learned()
        self._progress.trial(row)
        if row["outcome"] != "error":
            self._errors_in_a_row = 0
            if row["trial"] == 1:
                opened = (self._tasks[row["task"]], row["opening"])
                recognise = recogniser(self._plan.environment)
                for prompts, arms in self._shown:
                    found = overlaps(prompts, [opened], recognise)
                    self._overlaps |= dict.fromkeys(replace(each, arms=arms) for each in found)
            return
        with self._guard:
            self._errors += not is_for_good(row)
            self._errors_in_a_row += 1
            in_a_row = self._errors_in_a_row
        if in_a_row >= self._plan.config.limits.stop_after_errors:
            raise RunStopped(f"{in_a_row} trials in a row ended in errors; the last: {row['error']}")

    def _note_learned(self) -> None:
        """Keeps what models learned of their endpoints, so that a process that goes on after a kill knows it, too."""
        learning = [(name, model) for name, model in self._plan.models.items() if hasattr(model, "recall")]
        with self._guard:
            known = self._store.manifest.get("models") or {}
            if (told := known | {name: dict(model.settings()) for name, model in learning}) != known:
                self._store.set_status("running", models=told)

    def _stop(self, reason: str) -> None:
        with self._guard:
            self._reason = self._reason or reason
        self._stopping.set()
        self._wake()

    def _wake(self) -> None:
        for _ in range(self._threads):
            self._queue.put(None)


def max_workers(plan: Plan) -> int:
    """Return how many chains run at a time: as many as calls where a server does the work, else one.

    With no more chains than a server has slots, each chain finds its prompt in a slot's cache (`models.local_server`).
    Threads do not compute side by side; a stand-in that computes here is slower with more of them.
    """
    if plan.config.limits.max_workers:
        return plan.config.limits.max_workers
    served = [model for model in plan.models.values() if not model.simulated]
    asked = plan.config.limits.max_connections
    return max((asked or getattr(model, "connections", HOSTED) for model in served), default=1)
