"""Paired statistics against scipy, published figures, brute force and simulation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from reflex_bench.harness.reporting.statistics.paired import (
    detectable_difference,
    detectable_difference_given,
    mcnemar_exact,
    mcnemar_power,
    power_given,
    sign_flip_test,
    smallest_significant,
    tango,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [
        # Published pairs: HotPotQA at trials 5 and 1, ALFWorld at trials 1, 2 and 6 (counted from 0).
        (18, 1, 7.6e-5),
        (4, 6, 0.754),
        (13, 4, 0.049),
        (18, 4, 0.0043),
        (23, 1, 3.0e-6),
        (0, 0, 1.0),
        (5, 5, 1.0),
        # Worked by hand: all six on one side, 2 / 2^6.
        (6, 0, 0.03125),
    ],
)
def test_mcnemar_gives_the_known_p_values(only_a: int, only_b: int, p: float) -> None:
    assert mcnemar_exact(only_a, only_b) == pytest.approx(p, rel=0.02)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_a_sum_of_binomials_in_whole_numbers(only_a: int, only_b: int) -> None:
    n = only_a + only_b
    tail = sum(Fraction(math.comb(n, i), 2**n) for i in range(min(only_a, only_b) + 1))
    assert mcnemar_exact(only_a, only_b) == pytest.approx(float(min(Fraction(1), 2 * tail)), rel=1e-9)
    assert mcnemar_exact(only_a, only_b) == mcnemar_exact(only_b, only_a)


def test_mcnemar_equals_scipys_binomial_test_on_many_pairs() -> None:
    assert mcnemar_exact(5100, 4900) == pytest.approx(stats.binomtest(5100, 10_000).pvalue, rel=1e-6)


@given(st.integers(0, 300))
def test_smallest_significant_difference_is_where_the_p_value_crosses_five_per_cent(discordant: int) -> None:
    least = smallest_significant(discordant)
    p_by_difference = {
        discordant - 2 * low: mcnemar_exact(low, discordant - low) for low in range(discordant // 2 + 1)
    }
    significant = [difference for difference, p in p_by_difference.items() if p <= 0.05]
    assert least == (min(significant) if significant else None)
    assert (least is None) == (discordant < 6)


@pytest.mark.parametrize(
    ("only_a", "only_b", "n"), [(0, 0, 20), (0, 8, 8), (1, 3, 44), (12, 2, 50), (6, 25, 134), (30, 33, 500)]
)
def test_tangos_interval_is_where_the_score_with_the_likeliest_chance_reaches_the_quantile(
    only_a: int, only_b: int, n: int
) -> None:
    """The nuisance chance is found here by maximising the likelihood, and the ends by a root finder."""

    def likeliest(difference: float) -> float:
        low, high = max(0.0, -difference), (1 - difference) / 2

        def minus_log(chance: float) -> float:
            cells = (
                (only_a, chance),
                (only_b, chance + difference),
                (n - only_a - only_b, 1 - 2 * chance - difference),
            )
            return -sum(count * math.log(max(cell, 1e-300)) for count, cell in cells if count)

        found = optimize.minimize_scalar(
            minus_log, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        )
        return float(found.x)

    def score(difference: float) -> float:
        variance = n * (2 * likeliest(difference) + difference * (1 - difference))
        return (only_b - only_a - n * difference) / math.sqrt(max(variance, 1e-300))

    seen = (only_b - only_a) / n
    interval = tango(only_a, only_b, n)
    for end, quantile, outside in ((interval.low, 1.959964, -1.0), (interval.high, -1.959964, 1.0)):
        if abs(end - outside) < 1e-9:
            assert abs(score(outside * 0.999999)) <= 1.96 + 1e-3 or abs(seen - outside) < 1e-9
        else:
            assert score(end) == pytest.approx(quantile, abs=2e-3)


def test_tangos_interval_on_cases_worked_by_hand() -> None:
    # Nothing differs: n·d / sqrt(n·d·(1 - d)) = z, so d = z² / (n + z²) = 3.8415 / 23.8415.
    assert tango(0, 0, 20) == pytest.approx((-0.161125, 0.161125), abs=1e-5)
    # All of eight one way: q = (1 - d)/2, so 8·(1 - d) = z·sqrt(8·(1 - d²)), and d = (8 - z²) / (8 + z²).
    low, high = tango(0, 8, 8)
    assert high == 1.0
    assert low == pytest.approx((8 - 3.841459) / (8 + 3.841459), abs=1e-6)
    assert tango(8, 0, 8) == pytest.approx((-1.0, -low))


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))))
def test_tangos_interval_holds_the_difference_seen_has_a_width_and_changes_sign_with_the_arms(
    counts: tuple[int, int, int],
) -> None:
    only_a, only_b, n = counts[0], min(counts[1], counts[2] - counts[0]), counts[2]
    seen = (only_b - only_a) / n
    interval, turned = tango(only_a, only_b, n), tango(only_b, only_a, n)
    assert -1 <= interval.low <= seen + 1e-9
    assert seen - 1e-9 <= interval.high <= 1
    assert interval.high - interval.low > 0.001
    assert (turned.low, turned.high) == pytest.approx((-interval.high, -interval.low), abs=1e-8)


def test_impossible_counts_of_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="no four counts of 5 pairs"):
        tango(3, 3, 5)


SETTINGS = [
    *itertools.product((8, 20, 50, 134, 500), (0.1, 0.25, 0.5), (0.6,)),
    (12, 0.58, 0.9),
    (134, 31 / 134, 0.5),
    (30, 0.9, 0.4),
    (80, 0.05, 1.0),
    (8, 1.0, 0.5),
]


def simulated_power(n: int, disagreement: float, difference: float, draws: int = 40_000) -> float:
    """How often scipy's exact binomial test of the discordant pairs is significant."""
    rng = np.random.default_rng(n)
    chances = [(disagreement + difference) / 2, (disagreement - difference) / 2, max(0.0, 1 - disagreement)]
    drawn, times = np.unique(rng.multinomial(n, chances, size=draws)[:, :2], axis=0, return_counts=True)
    rejects = [bool(b + a) and stats.binomtest(int(b), int(a + b)).pvalue <= 0.05 for b, a in drawn]
    return float(np.array(rejects) @ times / draws)


@pytest.mark.parametrize(("n", "disagreement", "share"), SETTINGS)
def test_the_power_of_the_exact_test_is_what_simulation_finds(
    n: int, disagreement: float, share: float
) -> None:
    """Twenty settings; with 40,000 draws four standard errors are a point."""
    difference = share * disagreement
    assert mcnemar_power(n, disagreement, difference) == pytest.approx(
        simulated_power(n, disagreement, difference), abs=0.01
    )


def test_there_are_twenty_settings() -> None:
    assert len(set(SETTINGS)) == 20


@pytest.mark.parametrize(("n", "disagreement"), [(134, 31 / 134), (500, 0.15), (100, 0.4), (40, 0.5)])
def test_the_detectable_difference_is_the_smallest_that_simulation_finds_in_four_runs_of_five(
    n: int, disagreement: float
) -> None:
    found = detectable_difference(n, disagreement)
    assert found is not None
    assert simulated_power(n, disagreement, found) == pytest.approx(0.8, abs=0.01)
    assert mcnemar_power(n, disagreement, found - 0.002) < 0.8 <= mcnemar_power(n, disagreement, found)


def test_power_on_cases_worked_by_hand() -> None:
    # Six discordant pairs are significant only if all are on one side: q⁶ + (1 - q)⁶.
    assert power_given(6, 0.9) == pytest.approx(0.9**6 + 0.1**6)
    assert power_given(5, 1.0) == 0.0
    # Eight: 0 or 1 on the smaller side has p = 2·9/256 = .07, so only 0 does: p = 2/256.
    assert power_given(8, 0.8) == pytest.approx(0.8**8 + 0.2**8)
    # Seven tasks that always disagree: seven discordant pairs for certain.
    assert mcnemar_power(7, 1.0, 0.8) == pytest.approx(power_given(7, 0.9))


def test_what_the_asymptotic_formula_promised_is_not_what_the_exact_test_has() -> None:
    # Connor's formula (1987) gives 11.5 points for 134 pairs of which 31 disagree, and 66 for eight that all do.
    assert mcnemar_power(134, 31 / 134, 0.115) == pytest.approx(0.76, abs=0.005)
    assert detectable_difference(134, 31 / 134) == pytest.approx(0.1204, abs=0.0005)
    # Given eight discordant pairs, q⁸ = .8 asks for q = .9725, so 94.5 points.
    assert detectable_difference_given(8, 8) == pytest.approx(2 * 0.8 ** (1 / 8) - 1, abs=1e-4)


def test_no_difference_can_be_detected_where_the_arms_hardly_disagree() -> None:
    assert detectable_difference(134, 0.02) is None
    assert detectable_difference(134, 0.0) is None
    assert detectable_difference(1, 0.5) is None
    assert detectable_difference_given(134, 5) is None


def test_the_sign_flip_test_counts_all_signs_of_a_small_case() -> None:
    differences = [0.2, 0.4, -0.1, 0.6, 0.0, 0.3]
    exact = [
        abs(sum(sign * abs(each) for sign, each in zip(signs, differences, strict=True))) >= 1.4 - 1e-9
        for signs in itertools.product((1, -1), repeat=6)
    ]
    assert sign_flip_test(differences) == pytest.approx(sum(exact) / 64, abs=0.01)
    assert sign_flip_test([0.0, 0.0]) == 1.0
    assert sign_flip_test([]) == 1.0
    # Ten equal ones: only two of 1,024 sets of signs are as far from 0.
    assert sign_flip_test([0.5] * 10) == pytest.approx(2 / 1024, abs=0.0015)


def test_the_sign_flip_test_of_zeros_and_ones_is_mcnemars() -> None:
    differences = [1.0] * 13 + [-1.0] * 4 + [0.0] * 117
    assert sign_flip_test(differences) == pytest.approx(mcnemar_exact(13, 4), abs=0.006)
