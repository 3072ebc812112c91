"""The binomial distribution and Student's t, of which a few values are needed: a library for them would be 140 MB.

Both follow from the regularised incomplete beta function; the tests compare them with SciPy.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 10_000
"""At most so many of the continued fraction; about the square root of the larger argument are needed."""
_TINY = 1e-300
_PRECISE = 1e-16

_log_gamma = np.vectorize(math.lgamma, otypes=[float])


def binomial_cdf(k: Any, n: Any, p: float) -> NDArray[np.float64]:
    """Return P(X ≤ k) for X ~ Bin(n, p), element by element.

    Args:
        k: successes, whole numbers; below 0 the chance is 0, from n on it is 1.
        n: trials, whole numbers.
        p: chance of a success, from 0 to 1.

    Source: DLMF 8.17.5.
    """
    successes, trials = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float))
    chances = np.where(successes < 0, 0.0, 1.0)
    inside = (successes >= 0) & (successes < trials)
    chances[inside] = incomplete_beta(trials[inside] - successes[inside], successes[inside] + 1, 1 - p)
    return chances


def binomial_chances(n: int, p: float) -> NDArray[np.float64]:
    """Return P(X = k) for X ~ Bin(n, p) and k = 0, 1, … n; `p` lies between 0 and 1, both excluded."""
    k = np.arange(n + 1)
    ways = math.lgamma(n + 1) - _log_gamma(k + 1) - _log_gamma(n - k + 1)
    return _exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))


@lru_cache(maxsize=256)
def t_quantile(chance: float, freedom: float) -> float:
    """Return the value below which Student's t lies with a chance of more than one half.

    Args:
        chance: from 0.5 to below 1.
        freedom: degrees of freedom, more than 0.
    """
    if not 0.5 <= chance < 1 or freedom <= 0:
        raise ValueError(f"chance = {chance}, degrees of freedom = {freedom}")
    tail = 2 * (1 - chance)
    low, high = 0.0, 1.0
    while _two_tails(high, freedom) > tail:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _two_tails(middle, freedom) > tail else (low, middle)
    return high


def _two_tails(value: float, freedom: float) -> float:
    """P(|T| > value); DLMF 8.17 and Abramowitz and Stegun (1964), 26.7.1."""
    share = freedom / (freedom + value * value)
    return float(incomplete_beta(np.array([freedom / 2]), np.array([0.5]), share)[0])


def incomplete_beta(a: NDArray[np.float64], b: NDArray[np.float64], x: float) -> NDArray[np.float64]:
    """Return the regularised incomplete beta function I_x(a, b) of positive a and b.

    The continued fraction of DLMF 8.17.22, evaluated by Lentz's method as modified by Thompson and Barnett (1986),
    J. Comput. Phys. 64:490-509; on the side where it converges fast (DLMF 8.17.4).
    """
    if x <= 0 or x >= 1:
        return np.full(a.shape, 0.0 if x <= 0 else 1.0)
    turned = x > (a + 1) / (a + b + 2)
    first, second = np.where(turned, b, a), np.where(turned, a, b)
    at = np.where(turned, 1 - x, x)
    factor = _exp(
        _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b) + first * np.log(at) + second * np.log1p(-at)
    )
    found = factor / first * _fraction(first, second, at)
    return np.where(turned, 1 - found, found)


def _fraction(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The continued fraction 1/(1 + d1/(1 + d2/(1 + …)))."""
    c = np.ones_like(x)
    d = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    found = d.copy()
    for m in range(1, _ROUNDS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / _not_zero(1 + step * d)
            c = _not_zero(1 + step / c)
            change = c * d
            found *= change
        if not x.size or np.abs(change - 1).max() < 4 * _PRECISE:
            return found
    raise ArithmeticError("the incomplete beta function did not converge")


def _exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.exp(values)
    return found


def _not_zero(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.abs(values) < _TINY, _TINY, values)
