"""The name of a request: what the journal is searched by."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from reflex_bench.models.base import Request


def request_hash(request: Request) -> str:
    """SHA-256 (64 hex digits) over everything that decides a reply: messages, temperature, max_tokens, stop
    and seed.

    The JSON it is taken over is canonical (sorted keys, no spaces, ASCII), so that machines and Python
    versions agree.
    """
    content: dict[str, Any] = {
        "messages": [[message.role, message.content] for message in request.messages],
        "temperature": float(request.temperature),
        "max_tokens": request.max_tokens,
        "stop": list(request.stop),
        "seed": request.seed,
    }
    if request.tools:
        content["tools"] = list(request.tools)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
