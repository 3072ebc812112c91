"""Metrics that an environment declares.

An environment declares `Metric`s; the harness alone computes with them. Every table, comparison, picture and footnote
takes a metric through the same path, whichever environment it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Aggregate = Literal["mean", "ratio"]
Trials = Literal["last", "wins"]
Better = Literal["higher", "lower"]
Format = Literal["percent", "count", "ratio"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One number that an environment measures in a trial, and how it is summed up and shown.

    Attributes:
        key: name of its column in CSV, and of its picture; letters, digits and underscores.
        label: what it is called in tables.
        definition: one sentence without a full stop, for the notes beneath tables.
        value: where a trial's record has the number: `result.f1` is what `Episode.result` calls `f1`; other names are
            keys of the record itself (`steps`).
        per: where the record has the number that `value` is divided by; "" for nothing.
        aggregate: `mean` of the trials' numbers, or `ratio`, the sum of all `value` over the sum of all `per`.
        trials: of which trials: the `last` of each task (of independent samples, all), or the `wins`.
        missing: what a trial without the number counts; None leaves it out.
        binary: every number is 0 or 1, so that the mean over the tasks is a rate.
        better: whether `higher` or `lower` is better.
        format: `percent` (0.5 as 50.0%), `count` (to three or four digits) or `ratio` (to two decimals).
        summary: whether it stands in the main table; where not, in that of the metrics alone.
    """

    key: str
    label: str
    definition: str
    value: str
    per: str = ""
    aggregate: Aggregate = "mean"
    trials: Trials = "last"
    missing: float | None = None
    binary: bool = False
    better: Better = "higher"
    format: Format = "percent"
    summary: bool = True


REWARD = Metric(
    key="reward",
    label="reward",
    definition="the reward that the environment gave for the trial",
    value="result.reward",
    format="ratio",
)
"""What is shown of an environment that declares no metrics and whose results have a `reward`."""
