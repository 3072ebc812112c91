"""Every statistic against scipy, brute force, or figures worked out by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reflex_bench.harness.statistics import (
    detectable_difference,
    error_bounds,
    holm,
    mcnemar_exact,
    paired_bootstrap,
    pass_at_k,
    pass_hat_k,
    smallest_significant,
    wilson,
)

counts = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(7, 10, 39.7, 89.2), (84, 134, 54.3, 70.4), (34, 100, 25.5, 43.7)],
)
def test_wilson_gives_the_intervals_of_known_results(successes: int, n: int, low: float, high: float) -> None:
    interval = wilson(successes, n)
    assert (round(100 * interval.low, 1), round(100 * interval.high, 1)) == (low, high)


@given(counts, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_wilson_equals_scipy(pair: tuple[int, int], level: float) -> None:
    successes, n = pair
    theirs = stats.binomtest(successes, n).proportion_ci(confidence_level=level, method="wilson")
    assert wilson(successes, n, level) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_touches_the_ends_and_knows_nothing_of_nothing() -> None:
    assert wilson(0, 10).low == 0.0
    assert wilson(10, 10).high == 1.0
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="11 successes of 10"):
        wilson(11, 10)
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson(1, 2, level=95)


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


def test_bootstrap_interval_agrees_with_scipys() -> None:
    differences = [1] * 18 + [-1] * 4 + [0] * 78
    theirs = stats.bootstrap(
        (differences,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert paired_bootstrap(differences) == pytest.approx((theirs.low, theirs.high), abs=0.011)


def test_bootstrap_of_values_that_are_all_different_agrees_with_the_normal_approximation() -> None:
    values = np.random.default_rng(5).normal(0.3, 1.0, 400)
    half = 1.96 * values.std() / math.sqrt(400)
    assert paired_bootstrap(values) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.01)


def test_bootstrap_by_cluster_equals_drawing_the_clusters_one_by_one() -> None:
    rng = np.random.default_rng(11)
    labels = [f"room {index % 7}" for index in range(60)]
    differences = np.array([(index % 7) / 7 + rng.normal(0, 0.1) for index in range(60)])
    groups = [np.flatnonzero(np.array(labels) == name) for name in sorted(set(labels))]
    means = []
    for _ in range(8000):
        drawn = np.concatenate([groups[index] for index in rng.integers(0, 7, 7)])
        means.append(differences[drawn].mean())
    expected = np.quantile(means, [0.025, 0.975])
    assert paired_bootstrap(differences, clusters=labels) == pytest.approx(tuple(expected), abs=0.02)


def test_clusters_of_equal_tasks_widen_the_interval() -> None:
    differences = [1, 1, 1, 1, 0, 0, 0, 0] * 5
    by_task = paired_bootstrap(differences)
    by_cluster = paired_bootstrap(differences, clusters=[index // 4 for index in range(40)])
    # Four equal tasks carry what one carries: the standard error doubles.
    assert (by_cluster.high - by_cluster.low) / (by_task.high - by_task.low) == pytest.approx(2, rel=0.15)


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=30), st.integers(0, 5))
def test_bootstrap_is_repeatable_and_stays_within_the_values(differences: list[int], seed: int) -> None:
    interval = paired_bootstrap(differences, seed=seed, resamples=200)
    assert interval == paired_bootstrap(differences, seed=seed, resamples=200)
    assert min(differences) <= interval.low <= interval.high <= max(differences)


def test_bootstrap_of_nothing_is_no_number_and_labels_must_fit() -> None:
    assert all(map(math.isnan, paired_bootstrap([])))
    with pytest.raises(ValueError, match="1 cluster labels for 2 differences"):
        paired_bootstrap([0, 1], clusters=["a"])


def test_holm_on_a_case_worked_by_hand() -> None:
    # Sorted .01 .02 .03 .04, times 4 3 2 1: .04 .06 .06 .04, and none below one before it.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx((0.06, 0.04, 0.06, 0.06))
    assert holm([0.9, 0.8]) == (1.0, 1.0)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_the_p_values_and_bonferronis(pvalues: list[float]) -> None:
    adjusted = holm(pvalues)
    for raw, after in zip(pvalues, adjusted, strict=True):
        assert raw <= after <= min(1.0, len(pvalues) * raw)
    assert [adjusted[i] for i in np.argsort(pvalues, kind="stable")] == sorted(adjusted)


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(1, 8))
def test_pass_at_k_and_pass_hat_k_equal_counting_every_choice_of_k_trials(
    pair: tuple[int, int], k: int
) -> None:
    successes, n = pair
    choices = list(itertools.combinations([True] * successes + [False] * (n - successes), k))
    if n < k:
        assert pass_at_k(n, successes, k) is None
        assert pass_hat_k(n, successes, k) is None
    else:
        assert pass_at_k(n, successes, k) == pytest.approx(sum(map(any, choices)) / len(choices))
        assert pass_hat_k(n, successes, k) == pytest.approx(sum(map(all, choices)) / len(choices))


def test_fewer_trials_than_k_are_undefined_even_if_all_succeeded() -> None:
    assert pass_at_k(2, 2, 3) is None
    assert pass_hat_k(2, 2, 3) is None


def test_one_success_and_nine_errors_may_be_anything_from_ten_per_cent() -> None:
    assert error_bounds(1, 9, 10) == (0.1, 1.0)
    assert error_bounds(5, 0, 10) == (0.5, 0.5)
    with pytest.raises(ValueError, match="2 solved and 9 unknown of 10"):
        error_bounds(2, 9, 10)


@given(st.integers(0, 300))
def test_smallest_significant_difference_is_where_the_p_value_crosses_five_per_cent(discordant: int) -> None:
    least = smallest_significant(discordant)
    p_by_difference = {
        discordant - 2 * low: mcnemar_exact(low, discordant - low) for low in range(discordant // 2 + 1)
    }
    significant = [difference for difference, p in p_by_difference.items() if p <= 0.05]
    assert least == (min(significant) if significant else None)
    assert (least is None) == (discordant < 6)


@pytest.mark.parametrize(("n", "disagreement"), [(134, 0.2), (500, 0.15), (100, 0.4)])
def test_detectable_difference_is_found_in_four_of_five_simulated_experiments(
    n: int, disagreement: float
) -> None:
    difference = detectable_difference(n, disagreement)
    assert difference is not None
    rng = np.random.default_rng(17)
    chances = [(disagreement + difference) / 2, (disagreement - difference) / 2, 1 - disagreement]
    only_b, only_a, _ = rng.multinomial(n, chances, size=20_000).T
    # McNemar's test in the form the formula is for, (b - c)² / (b + c) against chi-squared. The counts are whole
    # numbers, so its power moves in steps of a few points.
    power = ((only_b - only_a) ** 2 > stats.chi2.ppf(0.95, 1) * (only_a + only_b)).mean()
    assert power == pytest.approx(0.8, abs=0.035)


def test_no_difference_can_be_detected_where_the_arms_hardly_disagree() -> None:
    assert detectable_difference(134, 0.02) is None
    assert detectable_difference(134, 0.0) is None
    assert detectable_difference(1, 0.5) is None
