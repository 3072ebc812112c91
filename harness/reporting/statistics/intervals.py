"""The statistics behind the tables. Every formula names its source; nothing here knows what a run is.

What pairs of results need is in `paired`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

# A bootstrap draws this many weight vectors at a time, so that its memory does not grow with the number of
# resamples.
_CELLS_PER_CHUNK = 4_000_000


class Interval(NamedTuple):
    """Two ends, lower first."""

    low: float
    high: float


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval for one rate.

    Args:
        successes: how many of `n`.
        n: how many were tried; with none tried nothing is known and the interval is (0, 1).
        level: confidence, between 0 and 1.

    Source: Wilson (1927), JASA 22:209-212; Brown, Cai and DasGupta (2001) recommend it for small n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return Interval(0.0, 1.0)
    return _score_interval(successes / n, n, level)


def _score_interval(rate: float, n: float, level: float) -> Interval:
    z = two_sided_z(level)
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # At the ends the interval touches 0 and 1 exactly; rounding must not push it off.
    return Interval(
        0.0 if rate == 0 else max(0.0, centre - half),
        1.0 if rate == 1 else min(1.0, centre + half),
    )


def wilson_of_means(values: Sequence[float], independent: float, level: float = 0.95) -> Interval:
    """Return Wilson's interval for a mean over tasks of numbers between 0 and 1, such as proportions.

    Args:
        values: one number a task.
        independent: results that a task stands for at most: 1 for one trial, n/k for pass@k of n independent samples.
        level: confidence, between 0 and 1.

    The number of tasks in Wilson's formula is replaced by the effective sample size m·(1 - m)/v, where m is the mean
    and v the variance of the mean as the tasks show it. It lies between the number of tasks, which is all that can be
    counted on where all tasks agree, and `independent` times that number; and a few tasks tell little of their
    variance, so it is reduced by (z/t)², t with one degree of freedom less than tasks.

    Source: Korn and Graubard (1998), Survey Methodology 24:193-201, for the effective sample size and (z/t)²; Wilson's
    interval with it: Franco, Little, Louis and Slud (2019), J. Survey Statistics and Methodology 7:334-364.
    """
    import numpy as np

    from reflex_bench.harness.reporting.statistics.distributions import t_quantile

    numbers = np.asarray(values, dtype=float)
    tasks = numbers.size
    if not tasks:
        return Interval(0.0, 1.0)
    mean, effective = float(numbers.mean()), float(tasks)
    if tasks > 1:
        variance = float(numbers.var(ddof=1)) / tasks
        most = tasks * max(1.0, independent)
        if 0 < mean < 1:
            effective = min(most, mean * (1 - mean) / variance) if variance else most
        reduced = effective * (two_sided_z(level) / t_quantile((1 + level) / 2, tasks - 1)) ** 2
        effective = max(float(tasks), reduced)
    return _score_interval(mean, effective, level)


def error_bounds(solved: int, unknown: int, n: int) -> Interval:
    """The lowest and the highest rate possible when `unknown` of `n` results are missing.

    All of them failed, or all of them succeeded: worst-case bounds, Manski (1989), J. Human Resources
    24:343-360.
    """
    if solved < 0 or unknown < 0 or solved + unknown > n:
        raise ValueError(f"{solved} solved and {unknown} unknown of {n}")
    return Interval(solved / n, (solved + unknown) / n) if n else Interval(0.0, 1.0)


def paired_bootstrap(
    differences: Sequence[float],
    *,
    clusters: Sequence[object] | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    level: float = 0.95,
) -> Interval:
    """Percentile interval of the mean paired difference, tasks drawn with replacement.

    Args:
        differences: one number a task, first minus second.
        clusters: a label for each task; tasks of one label are then drawn together (pairs cluster bootstrap,
            Cameron, Gelbach and Miller (2008), Rev. Econ. Stat. 90:414-427), as tasks that depend on one another need.
        seed: of the resampling; the same seed gives the same interval.
        resamples: how many.
        level: confidence, between 0 and 1.

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, ch. 13. Drawing n tasks with replacement is
    drawing multinomial weights over them; pooling equal tasks first changes nothing but the time it takes.
    """
    import numpy as np

    values = np.asarray(differences, dtype=float)
    if values.size == 0:
        return Interval(math.nan, math.nan)
    if clusters is None:
        units, weights = np.unique(values, return_counts=True)
        sums, sizes, draws = units, np.ones_like(units), values.size
    else:
        if len(clusters) != values.size:
            raise ValueError(f"{len(clusters)} cluster labels for {values.size} differences")
        sums, sizes, weights, draws = _pooled_clusters(values, np.ones_like(values), clusters)
    rng = np.random.default_rng(seed)
    return _middle(_resampled_means(sums, sizes, weights / weights.sum(), draws, rng, resamples), level)


def ratio_bootstrap(
    tops: Sequence[float],
    bottoms: Sequence[float],
    *,
    clusters: Sequence[object] | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    level: float = 0.95,
) -> Interval:
    """Percentile interval of the sum of `tops` over the sum of `bottoms`, tasks drawn with replacement.

    Args:
        tops: one number a task: for a mean over trials, the sum of its trials.
        bottoms: one number above 0 a task: for a mean over trials, how many they are.
        clusters: a label for each task; tasks of one label are then drawn together.
        seed: of the resampling; the same seed gives the same interval.
        resamples: how many.
        level: confidence, between 0 and 1.

    Source: as `paired_bootstrap`; a ratio of sums is drawn anew as a whole (Efron and Tibshirani, 1993, section 6.2).
    """
    import numpy as np

    if not len(tops) == len(bottoms) == len(clusters if clusters is not None else tops):
        raise ValueError(f"{len(tops)} and {len(bottoms)} numbers, or not as many cluster labels")
    if not len(tops):
        return Interval(math.nan, math.nan)
    labels = range(len(tops)) if clusters is None else clusters
    above, below = np.asarray(tops, dtype=float), np.asarray(bottoms, dtype=float)
    sums, sizes, weights, draws = _pooled_clusters(above, below, labels)
    rng = np.random.default_rng(seed)
    return _middle(_resampled_means(sums, sizes, weights / weights.sum(), draws, rng, resamples), level)


def _middle(means: np.ndarray[Any, Any], level: float) -> Interval:
    """The interval that holds so many of the resampled means, as many on either side being left out."""
    import numpy as np

    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _pooled_clusters(
    tops: np.ndarray[Any, Any], bottoms: np.ndarray[Any, Any], clusters: Sequence[object]
) -> tuple[Any, Any, Any, int]:
    """Distinct pairs of a cluster's two sums, how often each occurs, and the number of clusters."""
    import numpy as np

    order = {label: index for index, label in enumerate(dict.fromkeys(clusters))}
    codes = np.array([order[label] for label in clusters])
    pairs = np.column_stack([np.bincount(codes, weights=tops), np.bincount(codes, weights=bottoms)])
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    return distinct[:, 0], distinct[:, 1], counts, len(order)


def _resampled_means(
    sums: Any, sizes: Any, probabilities: Any, draws: int, rng: np.random.Generator, resamples: int
) -> np.ndarray[Any, Any]:
    import numpy as np

    chunk = max(1, _CELLS_PER_CHUNK // len(sums))
    parts = []
    for start in range(0, resamples, chunk):
        counts = rng.multinomial(draws, probabilities, size=min(chunk, resamples - start))
        parts.append((counts @ sums) / (counts @ sizes))
    return np.concatenate(parts)


def holm(pvalues: Sequence[float]) -> tuple[float, ...]:
    """P-values adjusted for several comparisons, in the order given.

    The i-th smallest of m is multiplied by m - i + 1, and none may be smaller than one before it.
    Source: Holm (1979), Scand. J. Statistics 6:65-70.
    """
    adjusted = [0.0] * len(pvalues)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        largest = max(largest, min(1.0, (len(pvalues) - rank) * pvalues[index]))
        adjusted[index] = largest
    return tuple(adjusted)


def pass_at_k(n: int, successes: int, k: int) -> float | None:
    """Unbiased estimate that at least one of k independent trials succeeds: 1 - C(n-c, k) / C(n, k).

    Args:
        n: independent trials of the task, all of which ran.
        successes: c, how many succeeded.
        k: how many trials one would have.

    Returns:
        None where n < k: not estimable, and above all not 1.

    Source: Chen et al. (2021), arXiv:2107.03374, equation 1.
    """
    if not 0 <= successes <= n or k < 1:
        raise ValueError(f"{successes} successes of {n}, k = {k}")
    return None if n < k else 1.0 - math.comb(n - successes, k) / math.comb(n, k)


def pass_hat_k(n: int, successes: int, k: int) -> float | None:
    """Unbiased estimate that all of k independent trials succeed (pass^k): C(c, k) / C(n, k); None where n <
    k.

    Source: Yao et al. (2024), tau-bench, arXiv:2406.12045, section 3.
    """
    if not 0 <= successes <= n or k < 1:
        raise ValueError(f"{successes} successes of {n}, k = {k}")
    return None if n < k else math.comb(successes, k) / math.comb(n, k)


def two_sided_z(level: float) -> float:
    """Return the normal quantile of a two-sided interval: 1.96 for 0.95."""
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, not {level}")
    return NormalDist().inv_cdf((1 + level) / 2)
