"""Metrics of ALFWorld games."""

from __future__ import annotations

from reflex_bench.envs.metrics import Metric

PATH_EFFICIENCY = Metric(
    key="path_efficiency",
    label="Path efficiency",
    definition="the steps of a known plan over the steps taken; over 100% where the plan is not the shortest",
    value="result.plan_length",
    per="steps",
    trials="wins",
)
METRICS = (PATH_EFFICIENCY,)
"""The plan is an upper bound on the steps needed (`AlfworldEpisode.result`)."""
