"""Two arms at one number of trials: who solved what, whether that is chance, and what it took to get there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.reporting.statistics.intervals import Interval, paired_bootstrap, pass_at_k
from reflex_bench.harness.reporting.statistics.paired import mcnemar_exact, sign_flip_test, tango
from reflex_bench.harness.reporting.statistics.samples import samples_by_task
from reflex_bench.harness.reporting.task_facts import MIN_CLUSTERS
from reflex_bench.harness.storage.run_data import Run

if TYPE_CHECKING:
    import numpy as np

_ABOUT_EQUAL = 1.05
"""Arms whose tokens differ by less than this ratio are not compared again at equal cost."""


@dataclass(frozen=True, slots=True)
class Took:
    """What an arm's trials up to some k took; NaN where unknown."""

    trials: int
    calls: float
    tokens: float
    cost: float


@dataclass(frozen=True, slots=True)
class Results:
    """One arm over the tasks of a comparison, one row a task and one column a k.

    Attributes:
        values: 1 solved within k and 0 not; of samples, the unbiased pass@k of the task. NaN where there is no result.
        low, high: the same with every unknown value at its worst and at its best.
        took: within k, for every k.
        sampled: whether the values are proportions.
    """

    values: np.ndarray[Any, Any]
    low: np.ndarray[Any, Any]
    high: np.ndarray[Any, Any]
    took: tuple[Took, ...]
    sampled: bool


@dataclass(frozen=True, slots=True)
class Level:
    """Both arms at one k, over the tasks for which both have a result.

    Attributes:
        k: trials.
        pairs: tasks compared.
        excluded: tasks left out, as one of the arms has an error or no record within k.
        solved_a, solved_b: of the pairs; of samples, the sum of the tasks' proportions.
        only_a, only_b: of the pairs, solved by one and not by the other; of samples, solved more often by one.
        p: two-sided exact McNemar; of samples, the sign-flip test.
        interval: 95 % interval of the difference by task: Tango's score interval; of samples, the paired bootstrap.
        clustered: the paired bootstrap with tasks drawn by cluster; None where the split names no clusters, or fewer
            than `MIN_CLUSTERS`, or no two tasks differ.
        bounds: of the difference over all tasks, whatever the excluded ones would have been.
        took_a, took_b: within k.
        sampled: whether an arm's trials are independent samples, so that means of proportions are compared.
    """

    k: int
    pairs: int
    excluded: int
    solved_a: float
    solved_b: float
    only_a: int
    only_b: int
    p: float
    interval: Interval
    clustered: Interval | None
    bounds: Interval
    took_a: Took
    took_b: Took
    sampled: bool = False

    @property
    def difference(self) -> float:
        """Rate of the second arm minus rate of the first."""
        return (self.solved_b - self.solved_a) / self.pairs if self.pairs else float("nan")

    @property
    def method(self) -> str:
        """How `interval` was made."""
        return "paired bootstrap over tasks" if self.sampled else "Tango's score interval for paired rates"

    @property
    def test(self) -> str:
        """How `p` was found."""
        return "sign-flip test" if self.sampled else "exact McNemar"


@dataclass(frozen=True, slots=True)
class EqualCost:
    """Both arms at the tokens of the cheaper one at the last k.

    Attributes:
        cheaper: 0 where the first arm took fewer tokens, 1 where the second did.
        k: trials that the other arm has for no more tokens; 0 where not even one.
        rate_cheaper, rate_other: solved by the cheaper arm within its trials and by the other within k.
        tokens: of the cheaper arm.
    """

    cheaper: int
    k: int
    rate_cheaper: float
    rate_other: float
    tokens: float


def results_of(run: Run, arm: str, places: Sequence[int], last: int, proportions: bool) -> Results:
    """Return an arm's results for k = 1 to `last`.

    Args:
        run, arm: whose.
        places: rows of `Run.states`, in the order of the comparison.
        last: the largest k.
        proportions: whether the other arm or this one is one of samples.
    """
    import numpy as np

    took = tuple(took_within(run, arm, k) for k in range(1, last + 1))
    if run.independent(arm):
        counts = [samples_by_task(run, arm)[place] for place in places]
        found = [[pass_at_k(n, won, k) for k in range(1, last + 1)] for n, won in counts]
        values = np.array([[math.nan if each is None else each for each in row] for row in found])
        missing = np.isnan(values)
    else:
        solved = run.solved_within(arm)[places][:, :last]
        missing = run.unknown_within(arm)[places][:, :last]
        values = np.where(missing, math.nan, solved.astype(float))
    low, high = np.where(missing, 0.0, values), np.where(missing, 1.0, values)
    return Results(values, low, high, took, proportions)


def took_within(run: Run, arm: str, k: int) -> Took:
    """Return what an arm's first k trials of every task took."""
    rows = run.rows(arm)
    rows = rows[rows["trial"] <= k]
    tokens = float((rows["prompt_tokens"] + rows["completion_tokens"]).sum(skipna=False))
    return Took(
        len(rows), float(rows["calls"].sum(skipna=False)), tokens, float(rows["cost"].sum(skipna=False))
    )


def level_of(k: int, a: Results, b: Results, clusters: Sequence[str] | None) -> Level:
    """Return the comparison at one k."""
    import numpy as np

    one, two = a.values[:, k - 1], b.values[:, k - 1]
    known = ~(np.isnan(one) | np.isnan(two))
    differences = two[known] - one[known]
    only_a, only_b = int((differences < 0).sum()), int((differences > 0).sum())
    pairs = len(differences)
    lowest = (b.low[:, k - 1] - a.high[:, k - 1]).mean()
    highest = (b.high[:, k - 1] - a.low[:, k - 1]).mean()
    labels = [label for label, kept in zip(clusters or (), known, strict=False) if kept]
    if a.sampled:
        interval, p = paired_bootstrap(differences), sign_flip_test(differences)
    else:
        interval = tango(only_a, only_b, pairs) if pairs else Interval(math.nan, math.nan)
        p = mcnemar_exact(only_a, only_b)
    enough = len(set(labels)) >= MIN_CLUSTERS and len(set(differences.tolist())) > 1
    return Level(
        k=k,
        pairs=pairs,
        excluded=len(known) - pairs,
        solved_a=float(one[known].sum()),
        solved_b=float(two[known].sum()),
        only_a=only_a,
        only_b=only_b,
        p=p,
        interval=interval,
        clustered=paired_bootstrap(differences, clusters=labels) if enough else None,
        bounds=Interval(float(lowest), float(highest)),
        took_a=a.took[k - 1],
        took_b=b.took[k - 1],
        sampled=a.sampled,
    )


def equal_cost(results: tuple[Results, Results], last: Level) -> EqualCost | None:
    """Return what the dearer arm solves for the tokens that the cheaper one took within the last k."""
    import numpy as np

    tokens = (last.took_a.tokens, last.took_b.tokens)
    if math.isnan(sum(tokens)) or not min(tokens) or max(tokens) < _ABOUT_EQUAL * min(tokens):
        return None
    cheaper = int(tokens[1] < tokens[0])
    dear, cheap = results[1 - cheaper], results[cheaper]
    within = [took.tokens <= min(tokens) for took in dear.took]
    k = sum(within)
    known = ~(np.isnan(cheap.values[:, -1]) | np.isnan(dear.values[:, max(0, k - 1)]))
    if not known.any():
        return None
    rate_other = float(dear.values[known, k - 1].mean()) if k else 0.0
    return EqualCost(cheaper, k, float(cheap.values[known, -1].mean()), rate_other, min(tokens))
