"""Metrics of HotPotQA answers."""

from __future__ import annotations

from reflex_bench.envs.metrics import Metric

EM = Metric(
    key="em",
    label="EM",
    definition="whether the normalised answer is the normalised gold answer; no answer counts 0",
    value="result.em",
    missing=0.0,
    binary=True,
)
F1 = Metric(
    key="f1",
    label="F1",
    definition="the harmonic mean of precision and recall over the words of the normalised answer; no answer counts 0",
    value="result.f1",
    missing=0.0,
)
GOLD_PAGES = Metric(
    key="gold_pages",
    label="Gold pages",
    definition="the share of the pages with the supporting facts that were opened",
    value="result.gold_pages_reached",
    per="result.gold_pages",
    aggregate="ratio",
    summary=False,
)
METRICS = (EM, F1, GOLD_PAGES)
"""EM and F1 are those of the official evaluation script (Yang et al., 2018, arXiv:1809.09600); see `scoring`."""
