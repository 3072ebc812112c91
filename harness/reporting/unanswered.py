"""Arms that never acted: what they measured is no result, and why that is so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.planning.roles import MAX_TOKENS_CEILING
from reflex_bench.harness.storage.run_data import Run

if TYPE_CHECKING:
    import pandas as pd


def never_acted(run: Run) -> Iterator[str]:
    """One line for every arm without a single action: what happened, the likely cause, and the key to change."""
    for arm in run.arms:
        if why := why_idle(run, arm):
            yield f"{arm} never acted, and what it scored is no result: {why}"


def why_idle(run: Run, arm: str) -> str:
    """Return why an arm never acted; "" where it did, or has not played."""
    rows = run.rows(arm)
    played = rows[rows["outcome"] != "error"]
    return _why(played, run.settings(arm), run.id) if len(played) else ""


def _why(played: pd.DataFrame, settings: Mapping[str, Any], name: str) -> str:
    steps, unparsed = played["steps"].sum(), played["unparsed"].sum()
    if not steps and (played["outcome"] == "context_limit").all():
        return (
            "no prompt fits into the model's context; give the server a longer one, "
            "or show less (memory.size, --max-steps)."
        )
    if not steps or unparsed < steps:
        return ""
    if played["cut_off"].sum() >= steps:
        ceiling = settings.get("max_tokens_ceiling") or f"{MAX_TOKENS_CEILING:,}"
        return (
            f"all {steps:.0f} replies were cut off before an action, with up to {ceiling} tokens each. Let it think "
            "less (model.reasoning_effort=low, or endpoint.extra_body with what its server takes), or raise "
            "model.max_tokens_ceiling."
        )
    return (
        f"none of its {steps:.0f} replies could be read as an action. Is it a chat model behind a template that fits "
        f"(else --api completions), and is model.max_tokens enough? `reflex show {name}` prints what it wrote."
    )
