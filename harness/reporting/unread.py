"""Runs in which the harness could not read what the model wrote: their numbers say little about the agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reflex_bench.agents.conversation import NO_TOOL_CALL
from reflex_bench.harness.storage.run_data import Run

MANY = 0.3
"""Share of replies that could not be read, beyond which an arm's numbers are about form and not about skill."""

_FULL, _EMPTY = 0.95, 1.0
"""Completion tokens a call: this share of the limit is cut off, and this many are nothing."""


def unread(run: Run, arms: Iterable[str] | None = None) -> Iterator[str]:
    """One sentence on every arm of whose replies many were not read, or of whose actions none was executed.

    Args:
        run: what was recorded.
        arms: only these; None for all.
    """
    found: dict[str, list[str]] = {}
    for arm in run.arms if arms is None else arms:
        rows = run.rows(arm)
        replies, unparsed = rows["steps"].sum(), rows["unparsed"].sum(skipna=False)
        refused = unparsed + rows["invalid_actions"].sum(skipna=False)
        if not replies or not (unparsed > MANY * replies or refused == replies):
            continue
        share = f"{100 * unparsed / replies:.0f}% of {replies:,.0f} replies could not be read"
        nothing = "no action was executed" if refused == replies else ""
        said = " and ".join(part for part in (share if unparsed else "", nothing) if part)
        found.setdefault(f"{said}. Likely cause: {_cause(run, arm, bool(unparsed))}.", []).append(arm)
    for said, alike in found.items():
        yield f"{', '.join(alike)}: the numbers say little about the agent: {said}"


def uncalled(run: Run) -> Iterator[str]:
    """One sentence on every arm that was to call tools and never did: it measured something else."""
    for arm in run.arms:
        rows, name = run.rows(arm), f"repair.{NO_TOOL_CALL}"
        written = rows[name].sum() if name in rows else 0
        if written and written >= rows["steps"].sum():
            yield (
                f"{arm}: no reply was a tool call, although actions=tools; actions were read out of the text. Does the "
                "server hand tools to the model (llama.cpp: --jinja; vLLM: --enable-auto-tool-choice)?"
            )


def _cause(run: Run, arm: str, is_form: bool) -> str:
    """Why so little was executed: for the form of the replies, or for what their commands say."""
    settings, rows = run.settings(arm), run.rows(arm)
    calls, tokens = rows["calls"].sum(), rows["completion_tokens"].sum(skipna=False)
    limit = settings.get("max_tokens")
    if run.simulated and settings.get("model") == "simulated":
        return "the stand-in does not know the conversations of this environment"
    if calls and tokens <= _EMPTY * calls:
        return "the replies are empty"
    if not is_form:
        return (
            "the model does not go by what it is shown, for its commands were read, and none fits what is there; "
            f"read `reflex show {run.id}`"
        )
    if settings.get("actions") == "tools":
        return "the model makes no native tool calls, or its server does not pass them on; try --actions text"
    if calls and limit and tokens >= _FULL * limit * calls:
        return f"the replies are cut off at {limit} tokens; try -c model.max_tokens={2 * limit}"
    if settings.get("parse") == "strict":
        return "only the exact form is read; try --parse repair"
    if settings.get("api") == "completions":
        return f"the model does not keep to the form of the prompt; try --api chat, and read `reflex show {run.id}`"
    return (
        f"the model does not keep to the form of the prompt; read `reflex show {run.id}`, and try --api completions "
        "if it is a base model"
    )
