"""What `run.json` says of a run's tasks beside their ids: their types, and which of them share something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reflex_bench.harness.storage.run_data import Run

MIN_CLUSTERS = 10
"""With fewer, no interval is drawn by cluster: `scripts/bench intervals clusters` finds a coverage of 80 % with 4."""


def task_types(run: Run) -> dict[str, str]:
    """Return the type of every task that has one: of the split's own list, or (older runs, imports) of its trials."""
    recorded = run.split.get("types")
    types = dict(zip(run.trials["task"], run.trials["task_type"], strict=True))
    if isinstance(recorded, Mapping):
        types |= recorded
    return {str(task): str(kind) for task, kind in types.items() if kind and kind == kind}


def clusters_of(run: Run, tasks: Sequence[str]) -> list[str] | None:
    """Return the cluster of every task; one that the environment put into none is a cluster of its own.

    None where the run names no clusters. Versions before `cluster_name` recorded which tasks open alike; that is not
    what makes results depend on one another, and is not used.
    """
    labels = run.split.get("clusters")
    if not isinstance(labels, Mapping) or not run.split.get("cluster_name"):
        return None
    return [f"in {labels[task]}" if labels.get(task) is not None else f"alone {task}" for task in tasks]


def cluster_name(run: Run) -> str:
    """Return what the tasks of a cluster share, in the singular: `room`."""
    return str(run.split.get("cluster_name") or "cluster")
