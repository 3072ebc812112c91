"""HTTP client behind `openai/<name>`: connections, time-outs, and secrets."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from reflex_bench.models.base import CHARACTERS_PER_TOKEN
from reflex_bench.models.openai.secrets import expanded, variable, variables_in
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.pacing import RateLimiter

if TYPE_CHECKING:
    import httpx2
    import openai


def open_client(
    url: str, key: str, options: ModelOptions, limiter: RateLimiter | None = None
) -> openai.OpenAI:
    """Return a client for any number of threads; each call waits until the limiter lets it begin.

    A call is in flight from when its request is sent until its answer is read to the end: what its thread computes
    before and after keeps no other call waiting.
    """
    import httpx2
    import openai

    def begin(request: httpx2.Request) -> None:
        if limiter:
            limiter.acquire(len(request.content) / CHARACTERS_PER_TOKEN)

    def bound(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.SyncByteStream):
            release = limiter.release if limiter else None
            response.stream = _with_deadline(response.stream, options.timeout, release)

    connections = options.max_connections
    return openai.OpenAI(
        api_key=key,
        base_url=url,
        # Left to `reflex_bench.models.retrying`: the client knows nothing of other calls, nor of a run's end.
        max_retries=0,
        default_headers=expanded(options.headers) or None,
        default_query=expanded(options.query) or None,
        http_client=openai.DefaultHttpxClient(
            # Followed in `reflex_bench.models.openai.endpoint`, which looks where a key is sent.
            follow_redirects=False,
            # Waiting for a free connection is no fault of the server's: it has no time-out.
            timeout=httpx2.Timeout(options.timeout, connect=min(10.0, options.timeout), pool=None),
            limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
            event_hooks={"request": [begin], "response": [bound]},
        ),
    )


def _with_deadline(
    stream: httpx2.SyncByteStream, timeout: float, release: Callable[[], None] | None
) -> httpx2.SyncByteStream:
    """Return a body with a time-out as a whole: the client's own bounds only the wait for each piece of it.

    Args:
        stream: the body.
        timeout: seconds from now.
        release: is called when the body is closed.
    """
    import httpx2

    end = time.monotonic() + timeout

    class Deadline(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            for piece in stream:
                yield piece
                if time.monotonic() > end:
                    raise httpx2.ReadTimeout("the body came too slowly")

        def close(self) -> None:
            stream.close()
            if release:
                release()

    return Deadline()


def is_address(url: str) -> bool:
    """Return whether a URL names an HTTP server."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_local(host: str) -> bool:
    """Return whether an endpoint is on this machine or network, where neither key nor price is to be expected."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".localhost"))
    return address.is_loopback or address.is_private or address.is_unspecified


def secrets_of(key: str, url: str, options: ModelOptions | None = None) -> tuple[str, ...]:
    """Return what must never be shown.

    That is the key, a password in the address, headers set in `OPENAI_CUSTOM_HEADERS`, and values that settings take
    from the environment.

    Each also as JSON that escapes slashes writes it. The longest come first, so that none leaves a remainder behind.
    Very short ones are left alone: they are placeholders, and would tear holes into ordinary words.
    """
    headers = os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()
    values = [key, urlsplit(url).password or "", *(line.partition(":")[2].strip() for line in headers)]
    if options:
        names = (*variables_in(options.headers), *variables_in(options.query), *options.variables)
        values.extend(map(variable, names))
    long = [value for value in values if len(value) >= 6]
    return tuple(sorted({*long, *(value.replace("/", "\\/") for value in long)}, key=len, reverse=True))
