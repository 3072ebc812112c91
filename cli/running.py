"""Carries out runs: from a configuration or a run directory to the table at the end."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from reflex_bench.cli.arguments.places import as_called, called_as, new_run
from reflex_bench.core.errors import Interrupted, RunStopped

if TYPE_CHECKING:
    from reflex_bench.harness.planning.plan import Plan
    from reflex_bench.harness.running.progress import Ended
    from reflex_bench.harness.storage.store import Store


def preview(config: Any, seeds: int) -> int:
    """Prints what a run would do and take, and makes nothing."""
    from reflex_bench.cli.live import print_plan
    from reflex_bench.harness.planning.plan import make_plan
    from reflex_bench.harness.planning.resolving import with_whole_paths

    with closing(make_plan(with_whole_paths(config), preview=True)) as plan:
        print_plan(plan, seeds)
    return 0


def start(config: Any, results: Path | None, run_id: str | None, quiet: bool) -> int:
    """Plans a run, makes its directory, and carries it out."""
    from reflex_bench.harness.planning.plan import make_plan
    from reflex_bench.harness.planning.resolving import with_whole_paths
    from reflex_bench.harness.running.memory_io import carry, unpack
    from reflex_bench.harness.storage.manifest import describe
    from reflex_bench.harness.storage.store import Store

    plan = make_plan(with_whole_paths(config))
    try:
        warnings = check_models(plan)
        path = new_run(results, run_id, plan.environment.name)
        carried = carry(plan)
        with resumable(path):
            store = Store.create(path, describe(plan, path.name, ["reflex", *sys.argv[1:]]))
            unpack(carried, path)
            return carry_out(plan, store, quiet, warnings)
    finally:
        plan.close()


def repeat(config: Any, seeds: int, results: Path | None, run_id: str | None, quiet: bool) -> int:
    """Runs the whole with one seed after the other, and prints mean and spread; every run gets a copy of them."""
    from reflex_bench.cli.read import print_seeds

    first = new_run(results, run_id, str(config.environment["name"]))
    paths = [first.with_name(f"{first.name}-seed{config.seed + n}") for n in range(seeds)]
    codes = [
        start(config.model_copy(update={"seed": config.seed + n}), results, path.name, quiet)
        for n, path in enumerate(paths)
    ]
    if max(codes) < 2:
        print_seeds(paths, quiet)
    return max(codes)


def check_models(plan: Plan) -> list[str]:
    """Asks every model whether it can answer, before anything is paid for; returns its warnings."""
    return [warning for model in plan.models.values() for warning in model.check()]


def carry_out(
    plan: Plan, store: Store, quiet: bool, warnings: list[str], changes: Mapping[str, Any] | None = None
) -> int:
    """Runs what is owed, shows how it goes, and prints the table.

    Args:
        plan: what to do.
        store: where it is written.
        quiet: show no progress.
        warnings: of the models.
        changes: settings that are others than when the run began.
    """
    from reflex_bench.cli.read import print_tables
    from reflex_bench.harness.storage.manifest import other_versions

    versions = other_versions(store.manifest) if store.unfinished() else {}
    if versions:
        told = ", ".join(f"{name} {new} instead of {old}" for name, (old, new) in versions.items())
        warnings = [*warnings, f"the run goes on with other versions than before: {told}"]
    for warning in warnings:
        print(f"reflex: {as_called(warning)}", file=sys.stderr)
    try:
        new = {name: version for name, (_, version) in versions.items()}
        ended = _play(plan, store, quiet, changes or {}, new)
        # Who interrupts once more does not wait for the tables; they can be made at any time.
        with undisturbed() if ended.status != "interrupted" else nullcontext():
            print_tables(store.path, quiet)
    finally:
        store.close()
    return _code(ended, store.path)


def _play(
    plan: Plan, store: Store, quiet: bool, changes: Mapping[str, Any], versions: Mapping[str, str]
) -> Ended:
    """Run what is owed, and write into `run.json` how it ended. Ends the process where calls were left under way."""
    from reflex_bench.cli.live import Live
    from reflex_bench.harness.running.runner import Runner
    from reflex_bench.harness.storage.manifest import learned, now, resumed

    with Live(plan, store, quiet) as live:
        runner = Runner(plan, store, live)
        again = {"resumed": resumed(store.manifest, changes, versions)} if changes or versions else {}
        store.set_status("running", config=plan.config.model_dump(), **again)
        ended = runner.run()
    if ended.abandoned:
        store.set_status("interrupted", ended=now(), reason=ended.reason)
        leave_now(store.path)
    with undisturbed():
        more = learned(plan, store.manifest, map(asdict, ended.overlaps), store.engines, store.taken)
        store.set_status(ended.status, ended=now(), reason=ended.reason, **more)
        store.close()
    return ended


def _code(ended: Ended, path: Path) -> int:
    """Return the exit code of a run that completed, and say on stderr what is wrong with it.

    Raises:
        KeyboardInterrupt: it was interrupted.
        RunStopped: it could not go on.
    """
    from reflex_bench.harness.reporting.unanswered import never_acted
    from reflex_bench.harness.storage.run_data import read_run

    if ended.status == "interrupted":
        raise KeyboardInterrupt
    if ended.status != "complete":
        raise RunStopped(ended.reason)
    idle = list(never_acted(read_run(path)))
    for line in idle:
        print(f"reflex: {as_called(line)}", file=sys.stderr)
    if ended.errors:
        what = "1 trial" if ended.errors == 1 else f"{ended.errors} trials"
        print(
            f"reflex: {what} ended in an error; try again with: {called_as()} resume {shlex.quote(str(path))}",
            file=sys.stderr,
        )
    return 1 if ended.errors or idle else 0


def leave_now(run: Path) -> NoReturn:
    """Ends the process without waiting for threads, connections or worker processes: nothing of the run is lost."""
    print(f"reflex: left with calls under way; {go_on_with(run)}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(130)


def go_on_with(run: Path) -> str:
    """Return how to resume a run, as the command was called."""
    return f"go on with: {called_as()} resume {shlex.quote(str(run))}"


@contextmanager
def resumable(path: Path) -> Iterator[None]:
    """Whatever ends a run before its time, says how to go on."""
    go_on = go_on_with(path)
    try:
        yield
    except RunStopped as stop:
        raise RunStopped(f"{stop}; {go_on}") from None
    except KeyboardInterrupt:
        begun = (path / "run.json").exists()
        raise Interrupted(f"interrupted; {go_on}" if begun else "interrupted") from None


_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a run; Windows has no SIGHUP."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """No signal breaks off what a run ends with: it takes a moment, and half of it would help nobody."""
    before = {each: signal.signal(each, signal.SIG_IGN) for each in _ENDING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
