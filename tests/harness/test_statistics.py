"""Every statistic against scipy, brute force, or figures worked out by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reflex_bench.harness.reporting.statistics.intervals import (
    error_bounds,
    holm,
    paired_bootstrap,
    pass_at_k,
    pass_hat_k,
    ratio_bootstrap,
    wilson,
    wilson_of_means,
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


def test_wilsons_interval_for_means_is_wilsons_where_every_task_has_one_trial() -> None:
    values = [1.0] * 84 + [0.0] * 50
    # One degree of freedom fewer than tasks would shrink the sample, but not below the number of tasks.
    assert wilson_of_means(values, 1) == pytest.approx(wilson(84, 134))


def test_an_interval_for_means_is_never_of_width_zero() -> None:
    assert wilson_of_means([1.0] * 20, 5) == pytest.approx(wilson(20, 20))
    assert wilson_of_means([0.0] * 20, 5) == pytest.approx(wilson(0, 20))
    # All alike between the ends: at most five samples a task, 100 together, less (z/t)² = (1.960 / 2.093)².
    low, high = wilson_of_means([0.4] * 20, 5)
    n = 100 * (1.959964 / 2.093024) ** 2
    centre, half = (0.4 + 1.920729 / n) / (1 + 3.841459 / n), 1.959964 / (1 + 3.841459 / n)
    half *= math.sqrt(0.24 / n + 3.841459 / (4 * n * n))
    assert (low, high) == pytest.approx((centre - half, centre + half), abs=1e-6)
    assert wilson_of_means([], 1) == (0.0, 1.0)
    assert wilson_of_means([0.5], 5) == pytest.approx(tuple(wilson_of_means([0.5], 1)))


def test_tasks_that_differ_give_a_wider_interval_for_means_than_tasks_that_are_alike() -> None:
    apart, alike = [0.0, 1.0] * 30, [0.4, 0.6] * 30
    wide, narrow = wilson_of_means(apart, 5), wilson_of_means(alike, 5)
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


@pytest.mark.parametrize(("tasks", "samples", "k"), [(15, 5, 1), (40, 5, 3), (40, 5, 5), (134, 4, 1)])
def test_the_interval_for_means_holds_the_true_value_in_19_runs_of_20(
    tasks: int, samples: int, k: int
) -> None:
    rng = np.random.default_rng(3)
    # Chances of a task are uniform, so the mean of 1 - (1 - p)^k is 1 - 1 / (k + 1).
    true, held = 1 - 1 / (k + 1), 0
    for _ in range(1000):
        wins = rng.binomial(samples, rng.random(tasks))
        values = [pass_at_k(samples, int(won), k) or 0.0 for won in wins]
        held += wilson_of_means(values, samples / k).low <= true <= wilson_of_means(values, samples / k).high
    assert held / 1000 > 0.935


def test_a_ratio_of_sums_is_drawn_anew_as_a_whole() -> None:
    # X of 24 draws are of the first kind, Bin(24, 1/2), with the quantiles 7 and 17: P(X <= 6) = 1.1 % and
    # P(X <= 7) = 3.2 %.
    interval = ratio_bootstrap([1.0] * 12 + [0.0] * 12, [1.0] * 12 + [3.0] * 12)
    assert interval == pytest.approx((7 / (7 + 3 * 17), 17 / (17 + 3 * 7)))
    # In pairs of one kind, Bin(12, 1/2): 3 and 9 (P(X <= 2) = 1.9 %, P(X <= 3) = 7.3 %).
    clusters = [number // 2 for number in range(24)]
    clustered = ratio_bootstrap([1.0] * 12 + [0.0] * 12, [1.0] * 12 + [3.0] * 12, clusters=clusters)
    assert clustered == pytest.approx((3 / (3 + 3 * 9), 9 / (9 + 3 * 3)))
    assert ratio_bootstrap([3.0], [4.0]) == (0.75, 0.75)
    with pytest.raises(ValueError, match="cluster labels"):
        ratio_bootstrap([1.0, 2.0], [1.0, 1.0], clusters=["a"])
