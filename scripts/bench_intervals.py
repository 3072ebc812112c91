"""How often the intervals of the tables hold the true value: `scripts/bench intervals [paired] [clusters] [means]`.

Three simulations, each with a fixed seed:

* `paired`: the difference of two paired rates, by Newcombe's hybrid score, Tango's score and the percentile bootstrap.
* `clusters`: the same difference where tasks come in clusters, by the pairs cluster bootstrap.
* `means`: the mean of proportions, as pass@k of independent samples is, by the percentile bootstrap and by Wilson.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import numpy as np

from reflex_bench.harness.reporting.statistics.intervals import (
    Interval,
    paired_bootstrap,
    pass_at_k,
    wilson,
    wilson_of_means,
)
from reflex_bench.harness.reporting.statistics.paired import tango

Counts = tuple[int, int, int, int]
"""Tasks that both, only the first, only the second and neither solve."""

SIZES = (8, 20, 50, 134, 500)
DISCORDANCES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6)
SHARES = (0.5, 0.75, 1.0)
"""Of the discordant pairs, how many the second arm solves."""
AGREED = (0.5, 0.9)
"""Of the pairs on which the arms agree, how many both solve."""


def newcombe(both: int, only_a: int, only_b: int, n: int, level: float = 0.95) -> Interval:
    """Return the hybrid score interval of the difference of two paired rates.

    Args:
        both: tasks that both solve.
        only_a, only_b: tasks that one of the two solves.
        n: all tasks.
        level: confidence, between 0 and 1.

    Squares the distances of the two Wilson intervals, with the correlation phi of the pairs between them.
    Source: Newcombe (1998), Statistics in Medicine 17:2635-2650, method 10 (phi with its continuity correction).
    """
    neither = n - both - only_a - only_b
    first, second = both + only_a, both + only_b
    a, b = wilson(first, n, level), wilson(second, n, level)
    rate_a, rate_b = first / n, second / n
    phi = _phi(both, only_a, only_b, neither)
    difference = rate_b - rate_a
    below = _hypotenuse(rate_b - b.low, a.high - rate_a, phi)
    above = _hypotenuse(b.high - rate_b, rate_a - a.low, phi)
    return Interval(max(-1.0, difference - below), min(1.0, difference + above))


def _phi(both: int, only_a: int, only_b: int, neither: int) -> float:
    margins = (both + only_a) * (both + only_b) * (only_a + neither) * (only_b + neither)
    if not margins:
        return 0.0
    product = both * neither - only_a * only_b
    n = both + only_a + only_b + neither
    corrected = max(product - n / 2, 0.0) if product > 0 else product
    return corrected / math.sqrt(margins)


def _hypotenuse(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))


@cache
def _newcombe(counts: Counts) -> Interval:
    both, only_a, only_b, neither = counts
    return newcombe(both, only_a, only_b, both + only_a + only_b + neither)


@cache
def _tango(only_a: int, only_b: int, n: int) -> Interval:
    return tango(only_a, only_b, n)


@cache
def _bootstrap(only_a: int, only_b: int, n: int) -> Interval:
    differences = [-1] * only_a + [1] * only_b + [0] * (n - only_a - only_b)
    return paired_bootstrap(differences, resamples=1000)


METHODS: dict[str, Callable[[Counts], Interval]] = {
    "Newcombe": _newcombe,
    "Tango": lambda counts: _tango(counts[1], counts[2], sum(counts)),
    "bootstrap": lambda counts: _bootstrap(counts[1], counts[2], sum(counts)),
}


def paired(draws: int) -> None:
    """Print coverage and width for every size and discordance, then the summary by method."""
    rng = np.random.default_rng(20)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in METHODS}
    print(
        "The difference of two paired rates: coverage of 95 % intervals, least and mean over the settings of a line"
    )
    print(
        f"{'n':>4} {'discordance':>11} " + " ".join(f"{name + ' least mean':>21} width" for name in METHODS)
    )
    for n, discordance in itertools.product(SIZES, DISCORDANCES):
        cells = []
        for name, method in METHODS.items():
            settings = [
                _covered(rng, method, n, discordance, share, agreed, draws)
                for share, agreed in itertools.product(SHARES if discordance else (0.5,), AGREED)
            ]
            found[name] += settings
            least, mean = min(one[0] for one in settings), np.mean([one[0] for one in settings])
            width = np.mean([one[1] for one in settings])
            cells.append(f"{100 * least:15.1f} {100 * mean:5.1f} {100 * width:5.1f}")
        print(f"{n:>4} {discordance:>11.2f} " + " ".join(cells))
    print("\nOver all settings")
    for name, settings in found.items():
        coverage = np.array([one[0] for one in settings])
        print(
            f"{name:>10}: least {100 * coverage.min():.1f}, mean {100 * coverage.mean():.1f}, "
            f"below 94 in {(coverage < 0.94).sum()} and below 90 in {(coverage < 0.9).sum()} of {len(coverage)} "
            f"settings, mean width {100 * np.mean([one[1] for one in settings]):.1f} points, "
            f"of width zero in {100 * np.mean([one[2] for one in settings]):.1f} % of the draws"
        )


def _covered(
    rng: np.random.Generator,
    method: Callable[[Counts], Interval],
    n: int,
    discordance: float,
    share: float,
    agreed: float,
    draws: int,
) -> tuple[float, float, float]:
    """Coverage, mean width and share of intervals without width in one setting."""
    only_b, only_a = discordance * share, discordance * (1 - share)
    both = (1 - discordance) * agreed
    drawn = rng.multinomial(n, [both, only_a, only_b, max(0.0, 1 - both - discordance)], size=draws)
    counts, times = np.unique(drawn, axis=0, return_counts=True)
    intervals = np.array([method((int(a), int(b), int(c), int(d))) for a, b, c, d in counts])
    true, weights = only_b - only_a, times / draws
    width = intervals[:, 1] - intervals[:, 0]
    holds = (intervals[:, 0] <= true + 1e-9) & (true - 1e-9 <= intervals[:, 1])
    return float(holds @ weights), float(width @ weights), float((width < 1e-9) @ weights)


def clusters(draws: int) -> None:
    """Print the coverage of the cluster bootstrap by number of clusters; a cluster's tasks share a random effect."""
    rng = np.random.default_rng(21)
    print(
        "Tasks in clusters: coverage of the 95 % cluster bootstrap, and of the interval that ignores clusters (Tango)"
    )
    print(f"{'clusters':>8} {'tasks':>6} {'by cluster':>11} {'by task':>8}")
    for number, size in itertools.product((2, 4, 6, 8, 10, 15, 20, 40), (8, 30)):
        by_cluster = by_task = 0
        labels = np.repeat(np.arange(number), size)
        for _ in range(draws):
            # Each room moves both arms' discordance: a beta-distributed chance that the second arm alone solves a task.
            chance = rng.beta(0.6, 1.4, size=number)[labels]
            signs = np.where(rng.random(number * size) < chance, 1, -1)
            differences = np.where(rng.random(number * size) < 0.4, signs, 0)
            interval = paired_bootstrap(differences.tolist(), clusters=labels.tolist(), resamples=1000)
            only_a, only_b = int((differences < 0).sum()), int((differences > 0).sum())
            plain = _tango(only_a, only_b, number * size)
            true = 0.4 * (2 * 0.3 - 1)
            by_cluster += interval.low <= true <= interval.high
            by_task += plain.low <= true <= plain.high
        print(
            f"{number:>8} {number * size:>6} {100 * by_cluster / draws:>11.1f} {100 * by_task / draws:>8.1f}"
        )


def means(draws: int) -> None:
    """Print the coverage of intervals for the mean over tasks of an unbiased pass@k."""
    rng = np.random.default_rng(22)
    print("pass@k of independent samples, mean over tasks: coverage of 95 % intervals")
    print(
        f"{'tasks':>5} {'samples':>7} {'k':>2} {'chance of a task':>16} {'bootstrap':>9} {'Wilson':>7} "
        f"{'zero width':>10}"
    )
    shapes = {
        "beta(1,1)": (1, 1),
        "beta(.3,.3)": (0.3, 0.3),
        "beta(9,1)": (9, 1),
        "beta(50,50)": (50, 50),
        "0.02": None,
    }
    for tasks, samples, k in ((10, 5, 1), (10, 5, 3), (30, 5, 1), (30, 5, 5), (134, 5, 1), (134, 5, 3)):
        for name, shape in shapes.items():
            # The true value by drawing many tasks: the mean of 1 - (1 - p)^k.
            many = _chances(rng, shape, 200_000)
            true = float((1 - (1 - many) ** k).mean())
            held = {"bootstrap": 0, "Wilson": 0, "zero": 0}
            for _ in range(draws):
                wins = rng.binomial(samples, _chances(rng, shape, tasks))
                values = [pass_at_k(samples, int(won), k) or 0.0 for won in wins]
                drawn, score = paired_bootstrap(values, resamples=500), wilson_of_means(values, samples / k)
                held["bootstrap"] += drawn.low - 1e-9 <= true <= drawn.high + 1e-9
                held["Wilson"] += score.low <= true <= score.high
                held["zero"] += drawn.high - drawn.low < 1e-9
            shown = [100 * held[key] / draws for key in ("bootstrap", "Wilson", "zero")]
            print(
                f"{tasks:>5} {samples:>7} {k:>2} {name:>16} {shown[0]:>9.1f} {shown[1]:>7.1f} {shown[2]:>10.1f}"
            )


def _chances(rng: np.random.Generator, shape: tuple[float, float] | None, size: int) -> np.ndarray:
    return np.full(size, 0.02) if shape is None else rng.beta(*shape, size=size)


PARTS: dict[str, tuple[Callable[[int], None], int]] = {
    "paired": (paired, 20_000),
    "clusters": (clusters, 1_000),
    "means": (means, 1_000),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the simulations named, all of them where none is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="*", help=f"{', '.join(PARTS)} (all)")
    parser.add_argument("--draws", type=int, help="simulated runs a setting (20,000 paired, else 1,000)")
    given = parser.parse_args(arguments)
    chosen: Iterable[str] = given.part or PARTS
    for name in chosen:
        if name not in PARTS:
            parser.error(f"no part {name!r}; there are {', '.join(PARTS)}")
        run, draws = PARTS[name]
        run(given.draws or draws)
        print()


if __name__ == "__main__":
    main()
