"""What happens to a trial once it is judged, in an environment where something does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from reflex_bench.agents.base import Outcome, Trajectory
from reflex_bench.agents.react import GIVE_UP
from reflex_bench.agents.reflexion import Trial
from reflex_bench.core.jsonl import read_lines
from reflex_bench.envs.base import HANDED_OVER, Environment
from reflex_bench.envs.declarations import Carries, Settlement, Settles
from reflex_bench.harness.storage.whole_files import write_lines


def commands_of(trajectory: Trajectory) -> tuple[str, ...]:
    """Return what an environment was told to execute in a trial."""
    return tuple(step.action for step in trajectory.steps if step.action not in (None, GIVE_UP))


def environment_after(environment: Environment, earlier: Sequence[Trajectory]) -> Environment:
    """Return the environment in which the trial after some others is played.

    Args:
        environment: of the arm.
        earlier: the trials of the task before it, in order.
    """
    if not earlier or not isinstance(environment, Carries) or not environment.carries:
        return environment
    return environment.after([commands_of(each) for each in earlier])


def settled(environment: Environment, trial: Trial) -> tuple[Trial, dict[str, Any]]:
    """Return a trial as it is when it is over for good, and what its row has beside it.

    Args:
        environment: in which it was played.
        trial: as it was judged.
    """
    if not isinstance(environment, Settles):
        return trial, {}
    played = trial.trajectory
    end = environment.settle(played.task, commands_of(played), trial.verdict.success)
    outcome = _outcome(played, end)
    more: dict[str, Any] = {"lines": {name: list(rows) for name, rows in end.lines.items()}}
    if outcome != played.outcome:
        # Who reads the trial again has to judge it as it was judged.
        more["ended"] = played.outcome
    return replace(trial, trajectory=replace(played, outcome=outcome, result=end.result)), more


def _outcome(played: Trajectory, end: Settlement) -> Outcome:
    if end.won:
        return "success"
    if played.outcome != "success":
        return played.outcome
    over = bool(played.steps) and played.steps[-1].reason == HANDED_OVER
    return cast(Outcome, HANDED_OVER if over else "failure")


def write_further(environment: Environment, run: Path) -> None:
    """Write the further records of all trials, `lines` of their rows, to a file each: `tool_calls.jsonl`.

    The trajectories stay the record. So a run that was killed and resumed has the same files as any other. An
    environment in which nothing is settled has none.
    """
    if not isinstance(environment, Settles):
        return
    files = sorted((run / "trajectories").glob("*.jsonl"))
    names = {name for file in files for row in read_lines(file) for name in row.get("lines", ())}
    for name in sorted(names):
        write_lines(run / f"{name}.jsonl", _further(files, name))


def _further(files: Sequence[Path], name: str) -> Iterator[dict[str, Any]]:
    for file in files:
        for row in read_lines(file):
            where = {key: row[key] for key in ("attempt", "arm", "task", "trial")}
            yield from ({**where, **each} for each in row.get("lines", {}).get(name, ()))
