"""Number of calls at a time that a server on this machine takes.

llama.cpp's server plays every call in one of its slots, which keeps what it computed of the last prompt: a chain whose
calls find their slot again pays for the new end of its prompt alone. More calls than slots wait in the server's own
queue, where they time out, and push one another's prompts out of the slots. `GET /props` tells the slots
(`total_slots`; llama.cpp, tools/server/README.md). A slot is not asked for by number (`id_slot`): the server itself
picks the one with the longest common prefix (`--slot-prompt-similarity`), which is the chain's own as long as no more
chains run than there are slots.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

if TYPE_CHECKING:
    import openai

HOSTED = 16
"""Calls at a time at an endpoint that is not on this machine, unless told otherwise."""
LOCAL = 2
"""Calls at a time at a server on this machine that does not tell its slots, unless told otherwise."""

_TIMEOUT = 5.0  # seconds


def is_loopback(url: str) -> bool:
    """Return whether an endpoint is on this very machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def default_connections(url: str) -> int:
    """Return how many calls at a time an endpoint gets before it was asked for its slots."""
    return LOCAL if is_loopback(url) else HOSTED


def slots_of(client: openai.OpenAI, url: str) -> int | None:
    """Return how many slots a llama.cpp server has.

    Args:
        client: the endpoint's.
        url: the endpoint; `/props` lies beside its `/v1`.

    Returns:
        None where the server does not say, as most other servers.
    """
    slots = told_beside(client, url, "/props").get("total_slots")
    return slots if type(slots) is int and slots > 0 else None


def told_beside(
    client: openai.OpenAI, url: str, path: str, body: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """Return what a server tells at a path beside its `/v1`; see `told_at`.

    Args:
        client: the endpoint's.
        url: the endpoint.
        path: beside its `/v1`.
        body: what is posted; None: nothing, the path is only read.
    """
    parts = urlsplit(url)
    folder = parts.path.rstrip("/").removesuffix("/v1")
    return told_at(client, urlunsplit((parts.scheme, parts.netloc, f"{folder}{path}", parts.query, "")), body)


def told_at(client: openai.OpenAI, address: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """Return the JSON object that a server answers within a few seconds; {} where it answers anything else.

    Args:
        client: the endpoint's.
        address: as a whole, or a path below the endpoint.
        body: what is posted; None: nothing, the address is only read.
    """
    import httpx2
    import openai

    impatient = client.with_options(max_retries=0, timeout=_TIMEOUT)
    try:
        if body is None:
            answer = impatient.get(address, cast_to=httpx2.Response)
        else:
            answer = impatient.post(address, cast_to=httpx2.Response, body=dict(body))
        found = json.loads(answer.content)
    except (openai.OpenAIError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def connections(client: openai.OpenAI, url: str, asked: int | None) -> tuple[int, list[str]]:
    """Return how many calls at a time an endpoint gets, and what the person should know about that.

    Args:
        client: the endpoint's.
        url: the endpoint.
        asked: the number that the person gave, which is taken in any case; None where none was given.
    """
    slots = slots_of(client, url) if is_loopback(url) else None
    if asked is None or slots is None or asked <= slots:
        return asked or slots or default_connections(url), []
    return asked, [
        f"the server has {slots} slot{'s' * (slots > 1)}, and --max-connections asks for {asked} calls at a time: "
        f"{asked - slots} of them will wait in the server, where they may time out, and push prompts out of its cache"
    ]
