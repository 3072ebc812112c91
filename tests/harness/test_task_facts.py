"""Types and clusters of a run's tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synthetic_runs import chains, trial, write_run

from reflex_bench.envs.base import Split, Task
from reflex_bench.envs.hotpotqa.questions import task as question_task
from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.measures import by_type
from reflex_bench.harness.reporting.task_facts import clusters_of
from reflex_bench.harness.storage.manifest import of_tasks
from reflex_bench.harness.storage.run_data import Run, read_run


def one_arm(path: Path, rows: list[dict[str, Any]], tasks: int = 2, **info: Any) -> Run:
    return read_run(write_run(path / "run", rows, **{"arms": {"react": {}}, "tasks": tasks, **info}))


def test_types_are_the_splits_even_where_no_trial_was_recorded(tmp_path: Path) -> None:
    ids = ["a", "b", "c", "d"]
    types = {"a": "put", "b": "put", "c": "heat", "d": "examine"}
    split = {"name": "made-up", "fingerprint": "ab", "tasks": 4, "task_ids": ids, "types": types}
    run = one_arm(tmp_path, [trial("react", "a", 1, "success")], tasks=4, split=split, status="stopped")
    frame = by_type(run).set_index("type")
    assert frame["tasks"].to_dict() == {"examine": 1, "heat": 1, "put": 2}
    assert frame.loc["put", ["solved", "unknown"]].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("rooms", "says"),
    [
        (4, "The 40 tasks are in 4 clusters (by room). Tasks that share a room are not independent, and intervals by "
            "task may be too narrow; 4 clusters are too few to allow for that."),
        (20, "The 40 tasks are in 20 clusters (by room). Tasks that share a room are not independent, and intervals by "
             "task may be too narrow."),
        (40, "The 40 tasks are in as many clusters (by room): none shares it with another."),
    ],
)  # fmt: skip
def test_tables_say_how_many_clusters_the_tasks_form(tmp_path: Path, rooms: int, says: str) -> None:
    clusters = {f"t{n:03d}": str(n % rooms) for n in range(40)}
    split = {
        "name": "made-up",
        "fingerprint": "ab",
        "tasks": 40,
        "clusters": clusters,
        "cluster_name": "room",
    }
    assert says in notes(one_arm(tmp_path, chains("react", [1] * 40, 1), tasks=40, trials=1, split=split))


def test_a_cluster_is_no_part_of_a_fingerprint() -> None:
    plain = Task("a", "put", "put it there", "ab" * 32)
    assert plain.cluster is None
    roomed = Task("a", "put", "put it there", "ab" * 32, cluster="10")
    assert Split("x", (plain,)).fingerprint == Split("x", (roomed,)).fingerprint


def test_a_run_records_the_type_and_the_cluster_of_every_task() -> None:
    tasks = [
        Task("a", "put", "", "", cluster="10"),
        Task("b", "heat", "", "", cluster="10"),
        Task("c", "put", "", ""),
    ]
    assert of_tasks(tasks, "room") == {
        "types": {"a": "put", "b": "heat", "c": "put"},
        "cluster_name": "room",
        "clusters": {"a": "10", "b": "10"},
    }
    # An environment of another package that knows no clusters.
    assert of_tasks(tasks[2:], "") == {"types": {"c": "put"}}


def test_a_task_in_no_cluster_is_one_of_its_own(tmp_path: Path) -> None:
    split = {"name": "x", "fingerprint": "ab", "tasks": 3, "clusters": {"t000": "10"}, "cluster_name": "room"}
    run = one_arm(tmp_path, chains("react", [1] * 3, 1), tasks=3, trials=1, split=split)
    assert len(set(clusters_of(run, run.task_ids) or ())) == 3


def test_the_twins_share_rooms_and_pairs_of_gold_pages() -> None:
    record = {
        "_id": "q",
        "question": "Who?",
        "answer": "She",
        "type": "bridge",
        "supporting_facts": [["Mere", 0], ["Alder", 1], ["Mere", 2]],
    }
    assert question_task(record).cluster == "Alder | Mere"
    assert question_task({**record, "supporting_facts": []}).cluster is None
    # As it was before tasks had clusters.
    before = "26bf0f6b3513d44a819f05a1f37d956b07f9d8011a19b6776139e12c67b21081"
    assert question_task(record).fingerprint == before
