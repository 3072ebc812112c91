"""Budget of a run in dollars and tokens. When it is used up, the run stops, and can be resumed with more."""

from __future__ import annotations

from collections.abc import Mapping

from reflex_bench.core.errors import RunStopped
from reflex_bench.harness.planning.config import LimitsConfig
from reflex_bench.harness.storage.journal import Taken
from reflex_bench.models.base import Model


class Budget:
    """The limits in dollars and tokens, over all processes of a run.

    Calls that are under way when a limit is reached are paid for and kept: a run goes beyond its limit by as many calls
    as may be in flight.

    Args:
        limits: `cost` and `tokens` count.
        taken: what the calls of the run took so far; kept up to date by the journal.
        models: of the run.
    """

    def __init__(self, limits: LimitsConfig, taken: Taken, models: Mapping[str, Model]) -> None:
        self._limits, self._taken, self._models = limits, taken, models

    def check(self) -> None:
        """Makes sure that another call may be made.

        Raises:
            RunStopped: none may.
        """
        limit, tokens = self._limits.cost, self._limits.tokens
        if limit is not None and (cost := self._cost()) >= limit:
            raise RunStopped(
                f"the cost limit of ${limit:,.2f} is reached (${cost:,.4f} spent); --cost-limit raises it"
            )
        if tokens is not None and self._taken.tokens >= tokens:
            raise RunStopped(
                f"the token limit of {tokens:,} is reached ({self._taken.tokens:,} used); --token-limit raises it"
            )

    def _cost(self) -> float:
        """Return US dollars; what calls of unknown cost took is priced as the dearest model of the run would."""
        if not self._taken.uncosted.prompt_tokens:
            return self._taken.cost
        dearest = max(model.cost(self._taken.uncosted) or 0.0 for model in self._models.values())
        return self._taken.cost + dearest
