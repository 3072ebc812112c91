"""Policies, and messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.business.asking import Ask, Function

MAX_CLAUSES = 5
STEM = 5
"""Letters by which two words count as the same: "refund" and "refunds"."""
_WORD = re.compile(r"[a-z]{3,}")


def policies(ask: Ask) -> dict[str, Any]:
    """Return the clauses that share most words with a query; none where none shares any."""
    wanted = _stems(ask["query"])
    scored = []
    for row in ask.store.all("policies"):
        score = len(wanted & _stems(f"{row['clause']} {row['text']}"))
        if score:
            scored.append((-score, row["clause"], row["text"]))
    return {"clauses": [{"clause": clause, "text": text} for _, clause, text in sorted(scored)[:MAX_CLAUSES]]}


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in _WORD.findall(text.lower())}


def message(ask: Ask) -> dict[str, Any]:
    """Send a message."""
    id = ask.new("MSG")
    ask.store.insert("outbox", id, ask["to"], ask["subject"], ask["body"], ask.at)
    return {"message_id": id, "to": ask["to"]}


TOOLS: Mapping[str, Function] = {"tool_policies_v1": policies, "tool_message_v1": message}
