"""The unbiased pass@k and pass^k of arms whose trials are independent samples, with intervals over the tasks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.statistics.intervals import (
    Interval,
    error_bounds,
    pass_at_k,
    pass_hat_k,
    wilson_of_means,
)
from reflex_bench.harness.storage.run_data import FAILED, SOLVED, Run

if TYPE_CHECKING:
    import pandas as pd

MAX_UNKNOWN = 0.05
"""Above this share of tasks without a result, a rate is printed as its two bounds and nothing between."""

METHOD = "the 95% Wilson interval over the tasks with their effective sample size"
"""Of the intervals here: `reflex_bench.harness.reporting.statistics.intervals.wilson_of_means`."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over tasks.

    Attributes:
        tasks: all of them.
        total: sum over the tasks that have a value.
        unknown: tasks that have none.
        interval: 95 %, from its lower end with every unknown value 0 to its upper end with every one 1.
    """

    tasks: int
    total: float
    unknown: int
    interval: Interval

    @property
    def rate(self) -> float:
        """The mean, an unknown value counting as 0; NaN where more than `MAX_UNKNOWN` of them are unknown."""
        known_enough = self.tasks and self.unknown <= MAX_UNKNOWN * self.tasks
        return self.total / self.tasks if known_enough else math.nan

    @property
    def bounds(self) -> Interval:
        """The mean with every unknown value 0, and 1."""
        if not self.tasks:
            return error_bounds(0, 0, 0)
        return Interval(self.total / self.tasks, (self.total + self.unknown) / self.tasks)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Both estimates at one k: that any of k samples solves a task, and that all of them do."""

    k: int
    any_of: Mean
    all_of: Mean


def is_sampled(run: Run) -> bool:
    """Whether every arm's trials are independent samples."""
    return all(map(run.independent, run.arms))


def samples_by_task(run: Run, arm: str) -> list[tuple[int, int]]:
    """Return (samples with a result, successes) of every task, in the order of `Run.states`.

    Raises:
        UsageError: the arm's trials depend on one another or stop at success; the estimators would be wrong there.
    """
    if not run.independent(arm):
        raise UsageError(
            f"arm {arm!r}: its trials see earlier ones or stop at success, where the unbiased pass@k and "
            "pass^k are not defined; the pass@k table says how many tasks were solved within k trials"
        )
    states = run.states(arm)
    known = ((states == SOLVED) | (states == FAILED)).sum(axis=1)
    return [(int(n), int(won)) for n, won in zip(known, (states == SOLVED).sum(axis=1), strict=True)]


def estimates(run: Run, arm: str, places: Sequence[int] | None = None) -> Iterator[Estimate]:
    """Yield the estimates of an arm for every k up to its number of samples.

    A task that has fewer than k samples with a result is unknown at that k: with uneven numbers there is an answer for
    every k that the tasks allow.

    Args:
        run, arm: whose.
        places: rows of `Run.states`; None for all tasks.

    Raises:
        UsageError: see `samples_by_task`.
    """
    counts = samples_by_task(run, arm)
    if places is not None:
        counts = [counts[place] for place in places]
    for k in range(1, run.limit(arm) + 1):
        yield Estimate(k, _mean(counts, k, pass_at_k), _mean(counts, k, pass_hat_k))


def _mean(
    counts: Sequence[tuple[int, int]], k: int, estimator: Callable[[int, int, int], float | None]
) -> Mean:
    found = [estimator(n, won, k) for n, won in counts]
    values = [value for value in found if value is not None]
    unknown = len(found) - len(values)
    known = [n for n, _ in counts if n >= k]
    independent = sum(known) / len(known) / k if known else 1.0
    low = wilson_of_means([*values, *[0.0] * unknown], independent).low
    high = wilson_of_means([*values, *[1.0] * unknown], independent).high
    return Mean(len(found), sum(values), unknown, Interval(low, high))


def independent_estimates(run: Run, arm: str) -> pd.DataFrame:
    """Return `estimates` as a data frame, one line for each k.

    Columns: k, then for `pass@k` and `pass^k` the estimate and its interval, and `unknown`, the tasks without so many
    samples.

    Raises:
        UsageError: see `samples_by_task`.
    """
    import pandas as pd

    lines = []
    for each in estimates(run, arm):
        line: dict[str, float] = {"k": each.k}
        for name, mean in (("pass@k", each.any_of), ("pass^k", each.all_of)):
            line |= {name: mean.rate, f"{name} low": mean.interval.low, f"{name} high": mean.interval.high}
        lines.append(line | {"unknown": each.any_of.unknown})
    return pd.DataFrame(lines)
