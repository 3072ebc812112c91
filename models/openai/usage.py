"""Reads usage and cost of a call, which servers tell under several names and types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from reflex_bench.models.base import CHARACTERS_PER_TOKEN, Usage

_PROMPT = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_eval_count", "inputTokens")
_COMPLETION = (
    *("completion_tokens", "output_tokens", "candidatesTokenCount", "eval_count", "generated_tokens"),
    "outputTokens",
)
_TOTAL = ("total_tokens", "totalTokenCount", "totalTokens")
_CACHED = (
    *(
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
    ),  # OpenAI, OpenRouter, vLLM
    "prompt_cache_hit_tokens",  # DeepSeek
    "cache_read_input_tokens",  # Anthropic, LiteLLM
    *(
        "cached_tokens",
        "cachedContentTokenCount",
        "num_cached_tokens",
        "cache_read_tokens",
    ),  # Moonshot, Google, others
)
_REASONING = (
    *(
        "completion_tokens_details.reasoning_tokens",
        "output_tokens_details.reasoning_tokens",
        "reasoning_tokens",
    ),
    *("thoughtsTokenCount", "thinking_tokens", "output_tokens_details.thinking_tokens"),
)
_COST = (
    "cost",
    "total_cost",
    "estimated_cost",
    "cost.total_cost",
)  # OpenRouter, others, DeepInfra, Perplexity


def read_usage(told: object, text: str = "", reasoning: str = "") -> Usage:
    """Return the tokens of one call; None for what is not told, or cannot be.

    - Reasoning that is counted only in the total (Gemini), or beside the completion (xAI), is added to the completion:
      it is generated, and paid for as such.
    - Input counts of Anthropic's own form leave out what came from its cache: that is added.
    - A prompt of no tokens is not possible: the whole is unknown then, as it is where a count is below 0.

    Args:
        told: the `usage` of an answer.
        text, reasoning: of the reply; where nothing says how many tokens were reasoning, their lengths tell it roughly.
    """
    usage = told if isinstance(told, dict) else {}
    prompt, completion, total = (_first(usage, names) for names in (_PROMPT, _COMPLETION, _TOTAL))
    cached, thought = _first(usage, _CACHED), _first(usage, _REASONING)
    if not prompt or _absurd(usage):
        return _with_estimate(Usage(), text, reasoning)
    written = _first(usage, ("cache_creation_input_tokens",)) or 0
    if "prompt_tokens" not in usage and "cache_read_input_tokens" in usage:
        prompt += (cached or 0) + written
    if completion is None and total is not None and total > prompt:
        completion = total - prompt
    if completion is not None:
        beside = _beside(prompt, completion, total, thought, (cached or 0) + written)
        completion += beside
        if beside and thought is None:
            thought = beside
    return _with_estimate(Usage(prompt, completion, cached, thought), text, reasoning)


def _beside(prompt: int, completion: int, total: int | None, thought: int | None, cached: int) -> int:
    """Return tokens of reasoning that stand beside those of the completion."""
    rest = (total or 0) - prompt - completion
    if rest > 0:
        # Some totals count the cached part of a prompt that the prompt's own count leaves out.
        return rest if rest != cached or rest == thought else 0
    return thought if total is None and thought is not None and thought > completion else 0


def _with_estimate(usage: Usage, text: str, reasoning: str) -> Usage:
    if not reasoning or usage.reasoning_tokens:
        return usage
    length = len(reasoning) + len(text)
    whole = length / CHARACTERS_PER_TOKEN if usage.completion_tokens is None else usage.completion_tokens
    estimate = math.ceil(whole * len(reasoning) / length)
    return Usage(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, estimate, True)


def told_cost(told: object) -> float | None:
    """Return US dollars that a router says the call cost; None where it says nothing."""
    usage = told if isinstance(told, dict) else {}
    for name in _COST:
        cost = _number(_at(usage, name))
        if cost is not None and cost >= 0:
            # With a key of one's own, OpenRouter's cost is its fee; the provider's bill stands beside it.
            upstream = _number(_at(usage, "cost_details.upstream_inference_cost"))
            return cost + upstream if usage.get("is_byok") is True and upstream else cost
    return None


def _absurd(usage: Mapping[str, Any]) -> bool:
    counts = (_number(_at(usage, name)) for name in (*_PROMPT, *_COMPLETION))
    return any(count is not None and count < 0 for count in counts)


def _first(usage: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        number = _number(_at(usage, name))
        if number is not None and number >= 0:
            return int(number)
    return None


def _at(usage: Mapping[str, Any], path: str) -> object:
    value: object = usage
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _number(value: object) -> float | None:
    """Return a number, or a text that is one; NaN and what no count can be is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and abs(number) < 1e15 else None
