"""The statistics behind the tables. Every formula names its source; nothing here knows what a run is."""

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
    z = _two_sided_z(level)
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # At the ends the interval touches 0 and 1 exactly; rounding must not push it off.
    return Interval(
        0.0 if successes == 0 else max(0.0, centre - half),
        1.0 if successes == n else min(1.0, centre + half),
    )


def error_bounds(solved: int, unknown: int, n: int) -> Interval:
    """The lowest and the highest rate possible when `unknown` of `n` results are missing.

    All of them failed, or all of them succeeded: worst-case bounds, Manski (1989), J. Human Resources
    24:343-360.
    """
    if solved < 0 or unknown < 0 or solved + unknown > n:
        raise ValueError(f"{solved} solved and {unknown} unknown of {n}")
    return Interval(solved / n, (solved + unknown) / n) if n else Interval(0.0, 1.0)


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided exact McNemar test of paired successes.

    Args:
        only_a: pairs in which only the first succeeded.
        only_b: pairs in which only the second did.

    Under the null hypothesis each discordant pair is a fair coin: p = min(1, 2·P(X ≤ min(a, b))), X ~
    Bin(a+b, ½). Source: McNemar (1947), Psychometrika 12:153-157, in its exact binomial form.
    """
    if min(only_a, only_b) < 0:
        raise ValueError(f"discordant counts {only_a} and {only_b}")
    if only_a + only_b == 0:
        return 1.0
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))


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
            Cameron, Gelbach and Miller (2008), Rev. Econ. Stat. 90:414-427), as tasks that share a scene need.
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
        sums, sizes, weights, draws = _pooled_clusters(values, clusters)
    means = _resampled_means(
        sums, sizes, weights / weights.sum(), draws, np.random.default_rng(seed), resamples
    )
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _pooled_clusters(values: np.ndarray[Any, Any], clusters: Sequence[object]) -> tuple[Any, Any, Any, int]:
    """Distinct (sum, size) pairs of clusters, how often each occurs, and the number of clusters."""
    import numpy as np

    order = {label: index for index, label in enumerate(dict.fromkeys(clusters))}
    codes = np.array([order[label] for label in clusters])
    pairs = np.column_stack([np.bincount(codes, weights=values), np.bincount(codes)])
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


def smallest_significant(discordant: int, level: float = 0.95) -> int | None:
    """The smallest |only_a - only_b| that the exact McNemar test calls significant, given their sum.

    None where not even all discordant pairs on one side would do (fewer than six at 95 %).
    """
    from scipy.special import bdtr

    for smaller in range(discordant // 2, -1, -1):
        if 2.0 * float(bdtr(smaller, discordant, 0.5)) <= 1 - level:
            return discordant - 2 * smaller
    return None


def detectable_difference(
    n: int, disagreement: float, level: float = 0.95, power: float = 0.8
) -> float | None:
    """The smallest true difference of two paired rates that n tasks show with the given power.

    Args:
        n: tasks.
        disagreement: psi, the share of tasks that exactly one of the two solves.
        level: 1 - the size of the two-sided test.
        power: chance of a significant result when the difference is real.

    Returns:
        A difference of rates (0.08 = eight points); None where it would have to exceed the disagreement
        itself.

    Solves n = (z_a·sqrt(psi) + z_b·sqrt(psi - d²))² / d² for d.
    Source: Connor (1987), Biometrics 43:207-211, for McNemar's test.
    """
    if n < 1 or not 0 <= disagreement <= 1:
        raise ValueError(f"n = {n}, disagreement = {disagreement}")
    z_a, z_b = _two_sided_z(level), NormalDist().inv_cdf(power)
    inner = n + z_b * z_b - z_a * z_a
    if disagreement == 0 or inner < 0:
        return None
    root = math.sqrt(disagreement)
    difference = root * (math.sqrt(n) * z_a + z_b * math.sqrt(inner)) / (n + z_b * z_b)
    return difference if difference <= disagreement else None


def _two_sided_z(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, not {level}")
    return NormalDist().inv_cdf((1 + level) / 2)
