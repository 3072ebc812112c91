"""Data of a run for tables: `run.json` and one row a trial. Trajectories are never read here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reflex_bench.core.errors import UsageError
from reflex_bench.core.errors import unknown as unknown_name
from reflex_bench.harness.storage.liveness import status_of
from reflex_bench.harness.storage.run_info import as_mapping, read_info
from reflex_bench.harness.storage.trials import read_trials

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

# The cells of `Run.states`. AFTER_PASS: not run, as the evaluator passed an earlier trial, rightly or not.
NOT_RECORDED, FAILED, SOLVED, ERROR, AFTER_PASS = range(5)


@dataclass(frozen=True, eq=False)
class Run:
    """One run, checked.

    Attributes:
        path: its directory.
        info: `run.json` as it stands.
        arms: the settings of every arm, in the order of `run.json`.
        trials: one row per (arm, task, trial), with the keys of `trials.jsonl` as columns. Unknown numbers
            are NaN; for the columns that it adds see `reflex_bench.harness.storage.trials.read_trials`.
        tasks: how many tasks the split has, attempted or not.
        task_ids: known ids, sorted; fewer than `tasks` where `run.json` lists none and some were never
            attempted.
    """

    path: Path
    info: Mapping[str, Any]
    arms: Mapping[str, Mapping[str, Any]]
    trials: pd.DataFrame
    tasks: int
    task_ids: tuple[str, ...]
    _states: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict, repr=False)

    @property
    def id(self) -> str:
        """The name of its directory, under which every command finds it."""
        return self.path.resolve().name

    @property
    def status(self) -> str:
        """`running`, `complete`, `interrupted`, `stopped`, or `killed`: nobody writes what says `running`."""
        return status_of(self.path, self.info)

    @property
    def environment(self) -> Mapping[str, Any]:
        """Name, feedback and settings of the environment."""
        return as_mapping(self.info.get("environment"))

    @property
    def split(self) -> Mapping[str, Any]:
        """Name, fingerprint, size and notes of the split."""
        return as_mapping(self.info.get("split"))

    @property
    def simulated(self) -> bool:
        """Whether any of its models was a stand-in and no language model."""
        return bool(self.info.get("simulated", False))

    @property
    def trial_numbers(self) -> range:
        """From 1 to the largest number of trials any arm may have."""
        return range(1, max(self.limit(arm) for arm in self.arms) + 1)

    def limit(self, arm: str) -> int:
        """Return how many trials an arm may have; an arm may set its own."""
        return int(self.settings(arm).get("trials") or self.info["trials"])

    def settings(self, arm: str) -> Mapping[str, Any]:
        """Return the settings of one arm.

        Raises:
            UsageError: the run has no arm of that name.
        """
        if arm not in self.arms:
            raise unknown_name("arm", arm, self.arms)
        return self.arms[arm]

    def independent(self, arm: str) -> bool:
        """Return whether the arm's trials know nothing of one another and do not stop at success."""
        return bool(self.settings(arm).get("independent", False))

    def rows(self, arm: str) -> pd.DataFrame:
        """Return the recorded trials of one arm."""
        self.settings(arm)
        return self.trials[self.trials["arm"] == arm]

    def states(self, arm: str) -> np.ndarray[Any, Any]:
        """Return one row a task (in the order of `task_ids`, then the tasks without an id), one column a trial."""
        if arm not in self._states:
            self._states[arm] = self._fill_states(arm)
        return self._states[arm]

    def _fill_states(self, arm: str) -> np.ndarray[Any, Any]:
        import numpy as np

        rows = self.rows(arm)
        position = {task: index for index, task in enumerate(self.task_ids)}
        tasks, trials = rows["task"].map(position).to_numpy(dtype=np.intp), rows["trial"].to_numpy()
        # Samples go on whatever became of the others.
        passed = rows["passed"].to_numpy() & (not self.independent(arm))
        ended = np.full(self.tasks, self.limit(arm))
        np.minimum.at(ended, tasks[passed], trials[passed])
        columns = np.arange(1, self.limit(arm) + 1)
        states = np.where(columns > ended[:, None], AFTER_PASS, NOT_RECORDED).astype(np.int8)
        success = rows["success"].to_numpy()
        states[tasks, trials - 1] = np.where(success == 1, SOLVED, np.where(success == 0, FAILED, ERROR))
        return states

    def solved_within(self, arm: str) -> np.ndarray[Any, Any]:
        """For every task and k: solved in the first k trials."""
        import numpy as np

        return np.logical_or.accumulate(self.states(arm) == SOLVED, axis=1)

    def unknown_within(self, arm: str) -> np.ndarray[Any, Any]:
        """For every task and k: not solved, and one of the first k trials was an error or is not recorded."""
        import numpy as np

        states = self.states(arm)
        missing = np.logical_or.accumulate((states == ERROR) | (states == NOT_RECORDED), axis=1)
        unknown: np.ndarray[Any, Any] = missing & ~self.solved_within(arm)
        return unknown


def read_run(path: str | Path) -> Run:
    """Reads a run directory and checks that its numbers add up.

    A torn last line of `trials.jsonl` is a trial still owed and is left out.

    Raises:
        UsageError: no run is there, its schema is unknown, a line is damaged, a trial has two results, or
            the results do not fit the tasks and trials that `run.json` names.
    """
    directory = Path(path)
    info = read_info(directory)
    trials = read_trials(directory / "trials.jsonl").sort_values(["arm", "task", "trial"], ignore_index=True)
    split = as_mapping(info.get("split"))
    named = split.get("task_ids")
    ids = tuple(sorted(map(str, named))) if named is not None else tuple(sorted(trials["task"].unique()))
    run = Run(directory, info, info["arms"], trials, int(split["tasks"]), ids)
    _check(run)
    return run


def accounting(run: Run) -> pd.DataFrame:
    """For every arm and trial, what became of every task.

    Columns: arm, trial, one per outcome that occurs, then `solved earlier`, `wrongly passed` (the evaluator
    took an earlier trial that failed for a success), `after an error`, `not recorded` (owed by a run that is
    not complete, lost in one that is), and `tasks`, to which the others add up in every line.
    """
    import numpy as np
    import pandas as pd

    outcomes = sorted(
        run.trials["outcome"].unique(), key=lambda name: (name != "success", name == "error", name)
    )
    grouped = run.trials.groupby(["arm", "trial", "outcome"], sort=False).size().to_dict()
    lines = []
    for arm in run.arms:
        states = run.states(arm)
        never = np.zeros((run.tasks, 1), dtype=bool)
        solved = np.hstack([never, run.solved_within(arm)[:, :-1]])
        broken = np.hstack([never, np.logical_or.accumulate(states == ERROR, axis=1)[:, :-1]])
        ended, missing = states == AFTER_PASS, states == NOT_RECORDED
        idle = {
            "solved earlier": ended & solved,
            "wrongly passed": ended & ~solved,
            "after an error": missing & broken,
            "not recorded": missing & ~broken,
        }
        for trial in range(1, run.limit(arm) + 1):
            line: dict[str, Any] = {"arm": arm, "trial": trial}
            line |= {outcome: int(grouped.get((arm, trial, outcome), 0)) for outcome in outcomes}
            line |= {reason: int(cells[:, trial - 1].sum()) for reason, cells in idle.items()}
            lines.append(line | {"tasks": run.tasks})
    return pd.DataFrame(lines)


def _check(run: Run) -> None:
    file = run.path / "trials.jsonl"
    rows = run.trials
    for arm in rows["arm"].unique():
        if arm not in run.arms:
            raise UsageError(f"{file}: arm {arm!r} is not in run.json ({', '.join(run.arms)})")
    if len(run.task_ids) > run.tasks:
        raise UsageError(f"{file}: results for {len(run.task_ids)} tasks, but the split has {run.tasks}")
    strangers = Counter(rows["task"]).keys() - set(run.task_ids)
    if strangers:
        raise UsageError(f"{file}: task {min(strangers)!r} is not in the split of run.json")
    late = rows[rows["trial"] > rows["arm"].map({arm: run.limit(arm) for arm in run.arms}).astype("float64")]
    if len(late):
        raise UsageError(
            f"{file}: {_name(late)} is beyond the {run.limit(late['arm'].iloc[0])} trials of its arm"
        )
    twice = rows[rows.duplicated(["arm", "task", "trial"])]
    if len(twice):
        raise UsageError(f"{file}: two results for {_name(twice)}; there must be exactly one")
    _check_stops(run, file)
    table = accounting(run)
    if len(table) and (table.drop(columns=["arm", "trial", "tasks"]).sum(axis=1) != run.tasks).any():
        raise UsageError(
            f"{file}: successes, failures, errors and trials not attempted do not add up to the tasks"
        )


def _check_stops(run: Run, file: Path) -> None:
    """Raise where a chain went on after a trial that passed: that is a second chance nobody was to have."""
    rows = run.trials
    first = rows[rows["passed"]].groupby(["arm", "task"])["trial"].min().rename("ended")
    joined = rows.join(first, on=["arm", "task"])
    late = joined[(joined["trial"] > joined["ended"]) & ~joined["arm"].map(run.independent).astype(bool)]
    if len(late):
        raise UsageError(f"{file}: {_name(late)} was run although an earlier trial had passed")


def _name(rows: pd.DataFrame) -> str:
    first = rows.iloc[0]
    return f"arm {first['arm']!r}, task {first['task']!r}, trial {first['trial']}"
