"""Prices of model calls in US dollars; None wherever the price is not known, never 0 in its stead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reflex_bench.models.base import Usage

PriceOf = Callable[[Usage], "float | None"]


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in US dollars per million tokens.

    Attributes:
        input: of a prompt token.
        output: of a generated token.
        cached: of a prompt token that the server had in its prefix cache; None: as `input`.
    """

    input: float
    output: float
    cached: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """Return US dollars for one call; None where the server did not report its tokens."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
        cached_price = self.input if self.cached is None else self.cached
        dollars = (usage.prompt_tokens - cached) * self.input + cached * cached_price
        return (dollars + usage.completion_tokens * self.output) / 1_000_000


def price_list(name: str, base_url: str) -> PriceOf | None:
    """Return the published price of a model at an endpoint, from the `genai-prices` package where that is installed.

    The package's bundled data are used as they are; nothing is fetched.

    Args:
        name: the model's name as the endpoint knows it.
        base_url: decides the provider: the same model costs different amounts at different ones.

    Returns:
        A function from usage to US dollars, or None where the package, the provider or the model's price is
        missing.
    """
    try:
        import genai_prices
    except ImportError:
        return None

    def cost(usage: Usage) -> float | None:
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        tokens = genai_prices.Usage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            cache_read_tokens=min(usage.cached_tokens or 0, usage.prompt_tokens),
        )
        try:
            found = genai_prices.calc_price(tokens, name, provider_api_url=base_url)
        except (LookupError, ValueError):
            return None
        # The package adds up the prices it has: one that it lacks would count as 0.
        if found.model_price.input_mtok is None or found.model_price.output_mtok is None:
            return None
        return float(found.total_price)

    return cost if cost(Usage(1, 1, 0)) is not None else None
