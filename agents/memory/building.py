"""Builds the memory that a configuration names, whichever package it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from reflex_bench.agents.memory import similarity
from reflex_bench.agents.memory.base import Memory
from reflex_bench.agents.memory.similarity import Similarity
from reflex_bench.core import parts
from reflex_bench.models.options import ModelOptions


def build(
    kind: str = "sliding",
    size: int = 3,
    endpoint: ModelOptions | None = None,
    compare: Callable[[str, ModelOptions | None], Similarity] = similarity.build,
    options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Memory:
    """Return an empty memory as a configuration describes it.

    Args:
        kind: the name of a memory.
        size: how many texts a trial is shown; 0 shows none. For memories that have such an option.
        endpoint: how to reach an endpoint for embeddings, if `similarity` names one.
        compare: makes the similarity of its name.
        options: of a memory of another package.
        settings: further options of the kind; None takes the kind's own default.

    Raises:
        UsageError: no such kind, or an option that the kind does not have.
    """
    part = parts.find("memories", kind)
    given = {name: value for name, value in settings.items() if value is not None} | dict(options or {})
    model = part.states("Options")
    if model is None:
        parts.check_no_options(part, given)
        return cast(Memory, part.call(given))
    if "size" in model.model_fields:
        given.setdefault("size", size)
    checked = parts.checked_options(part.title, model, given)
    if not parts.takes_similarity(part):
        return cast(Memory, part.call(checked))
    return cast(Memory, part.call(checked, compare(checked.similarity, endpoint)))
