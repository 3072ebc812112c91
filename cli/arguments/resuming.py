"""What `reflex resume` may change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from reflex_bench.cli.options import LIMITS, MODEL, OUTPUT, option

AS_BEGUN = "as the run began"


@dataclass(frozen=True, slots=True)
class ResumeChanges:
    """What a run may be resumed with that is other than when it began."""

    base_url: Annotated[
        str | None, option(MODEL, "Another address of the endpoint.", "--base-url", default=AS_BEGUN)
    ] = None
    max_connections: Annotated[
        int | None, option(LIMITS, "Model calls at a time.", "--max-connections", default=AS_BEGUN)
    ] = None
    max_workers: Annotated[
        int | None, option(LIMITS, "Tasks in work at a time.", "--max-workers", default=AS_BEGUN)
    ] = None
    cost_limit: Annotated[
        float | None,
        option(LIMITS, "Stop when the run has cost so many US dollars.", "--cost-limit", default=AS_BEGUN),
    ] = None
    token_limit: Annotated[
        int | None,
        option(LIMITS, "Stop when the run has used so many tokens.", "--token-limit", default=AS_BEGUN),
    ] = None
    time_limit: Annotated[
        str | None, option(LIMITS, "Stop after this time, e.g. 90m or 8h.", "--time-limit", default=AS_BEGUN)
    ] = None
    config: Annotated[
        list[str] | None,
        option(
            OUTPUT,
            "key=value, of what does not bear on how a trial is played, e.g. endpoint.timeout=5m; may be repeated.",
            *("--config", "-c"),
            metavar="<str>",
            default=AS_BEGUN,
        ),
    ] = None
