"""One level of a comparison: intervals at the edge, clusters, power, costs within k, and runs of samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from comparing import LEARNS, REACT, flowing, only, run_of, text_of
from synthetic_runs import chains, trial, write_run

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.compare import compare
from reflex_bench.harness.storage.run_data import Run, read_run


def in_rooms(room: Callable[[int], int]) -> dict[str, Any]:
    """Return a split of 100 tasks; `room` gives the number of each task's room."""
    clusters = {f"t{n:03d}": f"room {room(n)}" for n in range(100)}
    split = {"name": "made-up", "fingerprint": "ab" * 32, "tasks": 100}
    return split | {"clusters": clusters, "cluster_name": "room"}


def test_costs_are_of_the_trials_that_are_compared(tmp_path: Path) -> None:
    """A run of one trial beside one of four: at k = 1 both did the same."""
    single, four = (
        read_run(
            write_run(tmp_path / name, chains("react", [1, None], k), arms={"react": own}, tasks=2, trials=k)
        )
        for name, k, own in (("a", 1, {"settings_hash": "a"}), ("b", 4, {"settings_hash": "b"}))
    )
    comparison = compare(single, four)
    (level,) = only(comparison).levels
    assert (level.took_a.trials, level.took_b.trials) == (2, 2)
    text = flowing(text_of(comparison))
    assert "Within 1 trial B:react solves neither more nor fewer than A:react" in text
    assert "both arms may use 1 trial a task; within that B:react used 1.00× the tokens" in text
    assert "What it took within 1 trial" in text
    assert "At equal cost" not in text
    assert only(comparison).equal_cost is None


def test_tasks_that_form_clusters_get_a_second_interval(tmp_path: Path) -> None:
    # Ten clusters of ten tasks, all of a cluster alike: only ten independent results.
    react: list[int | None] = [None] * 100
    learns: list[int | None] = [1 if n // 10 < 4 else None for n in range(100)]
    split = in_rooms(lambda n: n // 10)
    comparison = compare(run_of(tmp_path, "run", {"react": react, "reflexion": learns}, split=split))
    pair = only(comparison)
    last = pair.levels[-1]
    assert pair.clusters == 10
    assert last.clustered is not None
    # Binomial quantiles: 10 draws at .4 give 1 to 7, 100 draws give 31 to 50 (to within a draw).
    assert last.clustered == pytest.approx((0.1, 0.7), abs=0.001)
    assert last.interval == pytest.approx((0.305, 0.495), abs=0.011)
    assert "The tasks form 10 clusters (by room). Drawn by cluster instead of task by task" in flowing(
        text_of(comparison)
    )
    csv = text_of(comparison, "csv").splitlines()
    shown = dict(zip(csv[0].split(","), csv[-1].split(","), strict=False))
    assert (shown["clusters"], float(shown["low_by_cluster"])) == ("10", pytest.approx(0.1, abs=0.001))


def test_without_clusters_there_is_no_second_interval(tmp_path: Path) -> None:
    pair = only(compare(run_of(tmp_path, "run", {"react": REACT, "reflexion": LEARNS})))
    assert pair.levels[-1].clustered is None


def test_under_ten_clusters_there_is_a_warning_and_no_interval_by_cluster(tmp_path: Path) -> None:
    split = in_rooms(lambda n: n % 4)
    comparison = compare(run_of(tmp_path, "run", {"react": REACT, "reflexion": LEARNS}, split=split))
    assert only(comparison).clusters == 4
    assert only(comparison).levels[-1].clustered is None
    text = flowing(text_of(comparison))
    assert "The tasks form 4 clusters (by room): too few to draw by cluster" in text
    assert "Drawn by cluster" not in text


def test_openings_that_earlier_versions_took_for_clusters_are_not_used(tmp_path: Path) -> None:
    split = {
        "name": "made-up",
        "fingerprint": "ab" * 32,
        "tasks": 100,
        "clusters": {"t000": "x", "t001": "x"},
    }
    comparison = compare(run_of(tmp_path, "run", {"react": REACT, "reflexion": LEARNS}, split=split))
    assert only(comparison).clusters == 0
    assert "cluster" not in text_of(comparison)


@pytest.mark.parametrize(
    ("react", "learns", "interval"),
    [
        ([1] * 5 + [None] * 15, [1] * 5 + [None] * 15, "+0.0 [-16.1, +16.1]"),
        ([None] * 8, [1] * 8, "+100.0 [+35.1, +100.0]"),
    ],
)
def test_an_interval_at_the_edge_has_a_width(
    tmp_path: Path, react: list[int | None], learns: list[int | None], interval: str
) -> None:
    """No pair of twenty differs: z² / (n + z²). All of eight one way: (8 - z²) / (8 + z²)."""
    comparison = compare(run_of(tmp_path, "run", {"react": react, "reflexion": learns}))
    assert interval in flowing(text_of(comparison))
    assert "Tango's score interval" in flowing(text_of(comparison))


def test_interval_and_test_may_disagree_and_then_that_is_said(tmp_path: Path) -> None:
    # 5 to 0 of 20: p = 2/2^5 = .0625, while the score interval ends above zero.
    solved = {"react": [None] * 20, "reflexion": [1] * 5 + [None] * 15}
    text = flowing(text_of(compare(run_of(tmp_path, "run", solved))))
    assert "The interval leaves zero out while p is over 5%" in text


def test_the_sentences_on_power_are_of_the_exact_test(tmp_path: Path) -> None:
    # 103 alike, 6 one way and 25 the other: 31 of 134 discordant.
    react: list[int | None] = [1] * 97 + [1] * 6 + [None] * 31
    learns: list[int | None] = [1] * 97 + [None] * 6 + [1] * 25 + [None] * 6
    text = flowing(text_of(compare(run_of(tmp_path, "run", {"react": react, "reflexion": learns}))))
    assert "31 of them discordant, an observed difference under 9.7 points cannot be told from chance" in text
    assert (
        "a true difference of 12.0 points is found in four runs of five (11.9 where exactly 31 disagree"
        in text
    )


def test_where_no_difference_is_found_often_enough_the_sentence_says_so(tmp_path: Path) -> None:
    solved = {"react": [1] + [None] * 19, "reflexion": [None] + [1] * 6 + [None] * 13}
    text = flowing(text_of(compare(run_of(tmp_path, "run", solved))))
    # Seven of twenty: even all on one side is significant only if at least six disagree, P(Bin(20, .35) ≥ 6) = .755.
    assert "no true difference is found in four runs of five: one of 35.0 points in 75.5%" in text


def left_out(path: Path, changed: dict[str, str]) -> Run:
    arms = {"react": {"settings_hash": "same"}}
    models = {"openai/synthetic-model": {"kind": "openai", "changed_parameters": changed}}
    return read_run(write_run(path, chains("react", [1, None], 3), arms=arms, tasks=2, models=models))


def test_a_parameter_that_one_endpoint_refused_is_a_difference(tmp_path: Path) -> None:
    one, two = left_out(tmp_path / "a", {}), left_out(tmp_path / "b", {"temperature": "left out"})
    comparison = compare(one, two)
    assert only(comparison).settings == (
        ("temperature", "0.7", "left out (not 0.7)"),
        ("changed_parameters", "–", "temperature left out"),
    )
    for format in ("terminal", "markdown", "latex", "html", "csv"):
        assert "left out (not 0.7)" in flowing(text_of(comparison, format))
    with pytest.raises(UsageError, match="same settings"):
        compare(one, left_out(tmp_path / "c", {}))


def samples(path: Path, won: dict[str, list[bool]], **settings: Any) -> Run:
    rows = [
        trial("react", task, number, "success" if ok else "failure")
        for task, taken in won.items()
        for number, ok in enumerate(taken, 1)
    ]
    arms = {"react": {"independent": True} | settings}
    return read_run(write_run(path, rows, arms=arms, tasks=len(won), trials=4))


def test_runs_of_samples_are_compared_by_their_unbiased_estimates(tmp_path: Path) -> None:
    won = {f"t{n}": [n % 4 > i for i in range(4)] for n in range(12)}
    better = {task: [*taken[:3], True] for task, taken in won.items()}
    one = samples(tmp_path / "a", won, settings_hash="a")
    comparison = compare(one, samples(tmp_path / "b", better, settings_hash="b"))
    levels = only(comparison).levels
    # 0, 1, 2 and 3 of four: a mean of 1.5/4; and one more each.
    assert (levels[0].solved_a / 12, levels[0].solved_b / 12) == (0.375, 0.625)
    # 1 - C(4-c, 2)/C(4, 2): 0, 1/2, 5/6, 1 against 1/2, 5/6, 1, 1.
    assert levels[1].solved_a / 12 == pytest.approx((0 + 1 / 2 + 5 / 6 + 1) / 4)
    assert levels[1].solved_b / 12 == pytest.approx((1 / 2 + 5 / 6 + 1 + 1) / 4)
    assert (levels[0].only_a, levels[0].only_b) == (0, 12)
    # All twelve signs alike: 2 of 4,096 sets of signs.
    assert levels[0].p == pytest.approx(2 / 4096, abs=0.0006)
    text = flowing(text_of(comparison))
    assert "Unbiased pass@k, paired by task over 12 tasks" in text
    assert "sign-flip test p" in text
    assert "McNemar" not in text


def test_a_run_of_samples_and_one_of_trials_share_one_attempt_only(tmp_path: Path) -> None:
    one = samples(tmp_path / "a", {"t000": [True] * 4, "t001": [False] * 4})
    other = read_run(write_run(tmp_path / "b", chains("react", [3, 1], 3), arms={"react": {}}, tasks=2))
    pair = only(compare(one, other, force=True))
    assert [level.k for level in pair.levels] == [1]
    assert any("only one attempt (k = 1) means the same" in warning for warning in pair.warnings)
