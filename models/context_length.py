"""Context length of a model, where its endpoint tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reflex_bench.models.local_server import told_at, told_beside

if TYPE_CHECKING:
    import openai

_LISTED = ("max_model_len", "context_length", "context_window", "max_context_length")
"""Of an entry of `GET /models`: vLLM; OpenRouter and Together; Groq; Mistral."""


def context_length(client: openai.OpenAI, url: str, name: str, is_local: bool) -> tuple[int | None, str]:
    """Return how many tokens a conversation may have, and who says so; (None, "") where nobody does.

    A server on this machine or network is also asked in its own way. llama.cpp's `GET /props` tells the size that it
    was started with, its list of models only that of the training (tools/server/README.md). Ollama's `POST /api/show`
    tells what the model can take, not what the server is set to (API reference, "Show model details").

    Args:
        client: the endpoint's.
        url: the endpoint.
        name: the model's name there.
        is_local: whether the endpoint is on this machine or network.
    """
    props = told_beside(client, url, "/props") if is_local else {}
    settings = props.get("default_generation_settings")
    if isinstance(settings, Mapping) and (served := _tokens(settings.get("n_ctx"))):
        return served, "as llama.cpp's /props says"
    entry = _entry(told_at(client, "/models"), name)
    for key in _LISTED:
        if listed := _tokens(entry.get(key)):
            return listed, f"as {key} in its list of models says"
    facts = told_beside(client, url, "/api/show", {"model": name}).get("model_info") if is_local else None
    for key, value in facts.items() if isinstance(facts, Mapping) else ():
        if key.endswith(".context_length") and (can := _tokens(value)):
            return (
                can,
                "which the model can take; Ollama itself is often set to fewer (OLLAMA_CONTEXT_LENGTH)",
            )
    return None, ""


def _entry(listing: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the model's entry in a list of models; the only one counts whatever its name."""
    data = listing.get("data")
    entries = [each for each in data if isinstance(each, Mapping)] if isinstance(data, list) else []
    named = [each for each in entries if each.get("id") in (name, f"{name}:latest", f"models/{name}")]
    return (named or (entries if len(entries) == 1 else [{}]))[0]


def _tokens(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None
