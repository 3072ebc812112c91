"""The two distributions against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import bdtr

from reflex_bench.harness.reporting.statistics.distributions import binomial_cdf, binomial_chances, t_quantile
from reflex_bench.harness.reporting.statistics.paired import smallest_significant


@given(st.integers(0, 20_000), st.floats(0, 1), st.floats(0, 1))
def test_the_binomial_distribution_is_scipys(n: int, share: float, p: float) -> None:
    k = round(share * n)
    assert float(binomial_cdf(k, n, p)) == pytest.approx(stats.binom.cdf(k, n, p), rel=1e-9, abs=1e-12)


def test_a_whole_array_at_once_with_counts_out_of_range() -> None:
    n = np.repeat(np.arange(60), 62)
    k = np.tile(np.arange(-1, 61), 60)
    for p in (0.0, 1e-9, 0.3, 0.5, 0.999, 1.0):
        assert binomial_cdf(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), abs=1e-13)


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (20, 1e-6), (134, 0.187), (7405, 0.999)])
def test_the_chances_of_every_count_are_scipys(n: int, p: float) -> None:
    assert binomial_chances(n, p) == pytest.approx(
        stats.binom.pmf(np.arange(n + 1), n, p), rel=1e-9, abs=1e-13
    )


@given(st.integers(1, 10_000), st.floats(0.6, 0.9999))
def test_the_quantiles_of_t_are_scipys(freedom: int, chance: float) -> None:
    assert t_quantile(chance, freedom) == pytest.approx(stats.t.ppf(chance, freedom), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_what_the_exact_test_rejects_is_what_the_distribution_says(level: float) -> None:
    for pairs in range(400):
        rejected = [count for count in range(pairs // 2 + 1) if 2 * bdtr(count, pairs, 0.5) <= 1 - level]
        wanted = pairs - 2 * rejected[-1] if rejected else None
        assert smallest_significant(pairs, level) == wanted
