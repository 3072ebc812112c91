"""The simulation of the intervals' coverage, and the interval that is only in it."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest
from scipy import stats

SCRIPT = Path(__file__).parents[1] / "scripts" / "bench_intervals.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_intervals", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("both", "only_a", "only_b", "neither"),
    [(20, 12, 2, 16), (36, 12, 2, 0), (0, 0, 0, 20), (20, 0, 0, 0), (0, 0, 8, 0), (5, 3, 4, 8)],
)
def test_newcombes_interval_follows_his_worked_formula(
    bench: ModuleType, both: int, only_a: int, only_b: int, neither: int
) -> None:
    """Method 10 written out again: Wilson by scipy, phi from the table with n/2 taken off a positive product."""
    n = both + only_a + only_b + neither
    first, second = both + only_a, both + only_b
    ends = [
        stats.binomtest(x, n).proportion_ci(confidence_level=0.95, method="wilson") for x in (first, second)
    ]
    (l1, u1), (l2, u2) = ((end.low, end.high) for end in ends)
    p1, p2 = first / n, second / n
    product = both * neither - only_a * only_b
    product = max(product - n / 2, 0) if product > 0 else product
    margins = first * (n - first) * second * (n - second)
    phi = product / math.sqrt(margins) if margins else 0.0
    low = math.sqrt((p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2)
    high = math.sqrt((u2 - p2) ** 2 - 2 * phi * (u2 - p2) * (p1 - l1) + (p1 - l1) ** 2)
    expected = (max(-1, p2 - p1 - low), min(1, p2 - p1 + high))
    assert bench.newcombe(both, only_a, only_b, n) == pytest.approx(expected, abs=1e-9)


def test_newcombes_interval_on_a_case_worked_by_hand(bench: ModuleType) -> None:
    # 32 and 22 of 50: Wilson 50.14 to 75.86 and 31.16 to 57.69; phi = (320 - 24 - 25) / sqrt(32·18·22·28) = .455.
    assert bench.newcombe(20, 12, 2, 50) == pytest.approx((-0.3292, -0.0562), abs=1e-4)


def test_tangos_interval_holds_more_often_than_the_others_at_the_edge(
    bench: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "SIZES", (20,))
    monkeypatch.setattr(bench, "DISCORDANCES", (0.0, 0.1, 0.4))
    bench.main(["paired", "--draws", "4000"])
    summary = capsys.readouterr().out.partition("Over all settings")[2]
    least = {
        line.split(":")[0].strip(): float(line.split()[2].rstrip(","))
        for line in summary.strip().splitlines()
    }
    # Four standard errors of 4,000 draws at 95 % are 1.4 points.
    assert least["Tango"] > 93
    assert least["bootstrap"] < 85 < least["Newcombe"] < least["Tango"]
