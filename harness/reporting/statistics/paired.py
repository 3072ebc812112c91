"""Statistics of paired successes: two arms that tried the same tasks. Every formula names its source.

The counts have the same names throughout: of `n` tasks, only the first arm solves `only_a`, only the second `only_b`;
the difference is the second arm's rate minus the first's, (only_b - only_a) / n.

Of the intervals that hold at the edge, the tables print Tango's: over 190 settings (8 to 500 tasks, discordance 0 to
0.6) its coverage never falls under 94 %, where Newcombe's hybrid score falls to 91 % and the percentile bootstrap to
11 % (`scripts/bench intervals paired`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.reporting.statistics.intervals import Interval, two_sided_z

if TYPE_CHECKING:
    import numpy as np

_CELLS_PER_CHUNK = 4_000_000
_TOLERANCE = 1e-10
"""Of the ends of Tango's interval."""
_NEGLIGIBLE = 1e-13
_STEP = 1e-5
"""Of the smallest difference that is searched for: a thousandth of a percentage point."""


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Return the two-sided p-value of the exact McNemar test.

    Under the null hypothesis each discordant pair is a fair coin: p = min(1, 2·P(X ≤ min(a, b))), X ~ Bin(a+b, ½).
    Source: McNemar (1947), Psychometrika 12:153-157, in its exact binomial form.
    """
    if min(only_a, only_b) < 0:
        raise ValueError(f"discordant counts {only_a} and {only_b}")
    if only_a + only_b == 0:
        return 1.0
    from reflex_bench.harness.reporting.statistics.distributions import binomial_cdf

    return min(1.0, 2.0 * float(binomial_cdf(min(only_a, only_b), only_a + only_b, 0.5)))


def smallest_significant(discordant: int, level: float = 0.95) -> int | None:
    """Return the smallest |only_a - only_b| that the exact McNemar test calls significant, given their sum.

    None where not even all discordant pairs on one side would do (fewer than six at 95 %).
    """
    largest = _critical(discordant, level)
    return None if largest < 0 else discordant - 2 * largest


def tango(only_a: int, only_b: int, n: int, level: float = 0.95) -> Interval:
    """Return the score interval of the difference of two paired rates.

    It holds the differences d for which |only_b - only_a - n·d| / sqrt(n·(2·q + d·(1 - d))) is at most the normal
    quantile, q being the most likely chance of `only_a` where the difference is d. Without a discordant pair it is
    ±z²/(n + z²), and never of width zero.

    Source: Tango (1998), Statistics in Medicine 17:891-908, equations 11 to 14.
    """
    _check(min(only_a, only_b, n - only_a - only_b), n)
    z = two_sided_z(level)
    seen = (only_b - only_a) / n

    def excess(difference: float) -> float:
        # The chance of the smaller cell solves 2n·q² + B·q + C = 0.
        linear = (2 * n - only_b + only_a) * difference - only_a - only_b
        constant = -only_a * difference * (1 - difference)
        root = math.sqrt(max(0.0, linear * linear - 8 * n * constant))
        chance = (root - linear) / (4 * n)
        variance = n * (2 * chance + difference * (1 - difference))
        return abs(only_b - only_a - n * difference) - z * math.sqrt(max(0.0, variance))

    return Interval(_end(excess, seen, -1.0), _end(excess, seen, 1.0))


def _end(excess: Any, inside: float, outside: float) -> float:
    """Where the score reaches the quantile between the difference seen and the end of the scale, by bisection."""
    if excess(outside) <= 0:
        return outside
    while abs(outside - inside) > _TOLERANCE:
        middle = (inside + outside) / 2
        if excess(middle) > 0:
            outside = middle
        else:
            inside = middle
    return inside


def sign_flip_test(differences: Sequence[float], *, seed: int = 0, draws: int = 10_000) -> float:
    """Return the two-sided p-value of the mean of paired differences that need not be 0 or 1.

    Under the null hypothesis each difference may as well have the other sign. The share of random signs under which
    the mean is at least as far from 0, the observed signs counted among them, so that it is never 0.

    Args:
        differences: one number a task.
        seed: of the signs; the same seed gives the same p.
        draws: how many sets of signs.

    Source: Fisher (1935), The Design of Experiments, section 21; Phipson and Smyth (2010), Stat. Appl. Genet. Mol.
    Biol. 9:39, for counting the observed one.
    """
    import numpy as np

    values = np.asarray(differences, dtype=float)
    values = np.abs(values[values != 0])
    if not values.size:
        return 1.0
    observed = abs(float(np.sum(np.asarray(differences, dtype=float))))
    rng, extreme = np.random.default_rng(seed), 0
    chunk = max(1, _CELLS_PER_CHUNK // values.size)
    for start in range(0, draws, chunk):
        signs = rng.integers(0, 2, size=(min(chunk, draws - start), values.size)) * 2 - 1
        extreme += int((np.abs(signs @ values) >= observed - 1e-9).sum())
    return (extreme + 1) / (draws + 1)


def _check(smallest: int, n: int) -> None:
    if smallest < 0 or n < 1:
        raise ValueError(f"no four counts of {n} pairs")


def power_given(discordant: int, share: float, level: float = 0.95) -> float:
    """Return the chance that the exact McNemar test is significant, given the number of discordant pairs.

    Args:
        discordant: pairs that exactly one of the arms solves.
        share: chance that it is the second arm.
        level: 1 - the size of the test.

    The test rejects where either count is at most the largest c with 2·P(Bin(discordant, ½) ≤ c) ≤ 1 - level.
    """
    from reflex_bench.harness.reporting.statistics.distributions import binomial_cdf

    largest = _critical(discordant, level)
    if largest < 0:
        return 0.0
    return float(binomial_cdf(largest, discordant, share) + binomial_cdf(largest, discordant, 1 - share))


def mcnemar_power(n: int, disagreement: float, difference: float, level: float = 0.95) -> float:
    """Return the chance that the exact McNemar test is significant, before the number of discordant pairs is known.

    Args:
        n: tasks.
        disagreement: chance that exactly one of the arms solves a task.
        difference: of the two true rates; at most the disagreement.
        level: 1 - the size of the test.

    The mean of `power_given` over Bin(n, disagreement) discordant pairs: the unconditional power of the exact
    conditional test, as in Duffy (1984), Biometrics 40:1005-1015.
    """
    import numpy as np

    from reflex_bench.harness.reporting.statistics.distributions import binomial_cdf, binomial_chances

    if n < 1 or not 0 <= disagreement <= 1 or abs(difference) > disagreement:
        raise ValueError(f"n = {n}, disagreement = {disagreement}, difference = {difference}")
    if not disagreement:
        return 0.0
    share = (disagreement + difference) / (2 * disagreement)
    chances = binomial_chances(n, disagreement) if disagreement < 1 else np.eye(1, n + 1, n)[0]
    largest = _critical_up_to(n, level)
    # What is left out adds up to less than the precision of the sum.
    matter = (largest >= 0) & (chances > _NEGLIGIBLE / (n + 1))
    pairs, largest, chances = np.arange(n + 1)[matter], largest[matter], chances[matter]
    powers = sum(binomial_cdf(largest, pairs, side) for side in (share, 1 - share))
    return float(powers @ chances)


def detectable_difference(
    n: int, disagreement: float, level: float = 0.95, power: float = 0.8
) -> float | None:
    """Return the smallest true difference of two paired rates that the exact McNemar test finds with a given power.

    Args:
        n: tasks.
        disagreement: the share of tasks that exactly one of the two solves.
        level: 1 - the size of the two-sided test.
        power: chance of a significant result when the difference is real (`mcnemar_power`).

    Returns:
        A difference of rates (0.08 = eight points), found by bisection to a thousandth of a point and rounded up; None
        where it would have to exceed the disagreement itself.
    """
    if n < 1 or not 0 <= disagreement <= 1:
        raise ValueError(f"n = {n}, disagreement = {disagreement}")
    if mcnemar_power(n, disagreement, disagreement, level) < power:
        return None
    low, high = 0.0, disagreement
    while high - low > _STEP:
        middle = (low + high) / 2
        if mcnemar_power(n, disagreement, middle, level) < power:
            low = middle
        else:
            high = middle
    return high


def detectable_difference_given(
    n: int, discordant: int, level: float = 0.95, power: float = 0.8
) -> float | None:
    """Return what `detectable_difference` does for exactly so many discordant pairs (`power_given`)."""
    if power_given(discordant, 1.0, level) < power:
        return None
    low, high = 0.5, 1.0
    while high - low > _STEP:
        middle = (low + high) / 2
        if power_given(discordant, middle, level) < power:
            low = middle
        else:
            high = middle
    return discordant / n * (2 * high - 1)


def _critical(discordant: int, level: float) -> int:
    """The largest smaller count that the test rejects; -1 where it rejects none."""
    return int(_critical_up_to(discordant, level)[discordant])


@lru_cache(maxsize=32)
def _critical_up_to(most: int, level: float) -> np.ndarray[Any, Any]:
    """`_critical` of 0, 1, … discordant pairs."""
    import numpy as np

    largest = np.full(most + 1, -1)
    # Exactly, in whole numbers: of the 2**pairs ways in which the pairs can fall, how many have at most `count` on the
    # smaller side, and how many exactly so many. The test rejects `count` where 2 * at_most / 2**pairs <= 1 - level.
    size = Fraction(1 - level)
    count, at_most, exactly = 0, 1, 1
    for pairs in range(most + 1):
        # One pair more raises what is rejected by at most one.
        if 2 * at_most * size.denominator <= size.numerator << pairs and 2 * count < pairs:
            exactly = exactly * (pairs - count) // (count + 1)
            at_most += exactly
            count += 1
        largest[pairs] = count - 1
        at_most = 2 * at_most - exactly
        exactly = exactly * (pairs + 1) // (pairs + 1 - count)
    return largest
