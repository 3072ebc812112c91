"""HTTP client behind `openai/<name>`: connections, time-outs, and secrets."""

from __future__ import annotations

import ipaddress
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from reflex_bench.core.errors import UsageError
from reflex_bench.models.base import CHARACTERS_PER_TOKEN
from reflex_bench.models.local_server import is_loopback
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
    before and after keeps no other call waiting. A server on this machine is reached past all proxies.

    Raises:
        UsageError: a proxy or a certificate that a variable names cannot be used.
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
    with _surroundings_usable():
        http = openai.DefaultHttpxClient(
            trust_env=not is_loopback(url),
            # Followed in `reflex_bench.models.openai.endpoint`, which looks where a key is sent.
            follow_redirects=False,
            # Waiting for a free connection is no fault of the server's: it has no time-out.
            timeout=httpx2.Timeout(options.timeout, connect=min(10.0, options.timeout), pool=None),
            limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
            event_hooks={"request": [begin], "response": [bound]},
        )
    return openai.OpenAI(
        api_key=key,
        base_url=url,
        # Left to `reflex_bench.models.retrying`: the client knows nothing of other calls, nor of a run's end.
        max_retries=0,
        default_headers=expanded(options.headers) or None,
        default_query=expanded(options.query) or None,
        http_client=http,
    )


@contextmanager
def _surroundings_usable() -> Iterator[None]:
    """Raise `UsageError` where an HTTP client cannot be made of what the environment says of proxies, certificates."""
    try:
        yield
    except (ImportError, ValueError) as error:
        names = ", ".join(name for name, _ in proxies()) or "the proxy of this system"
        socks = (
            "a SOCKS proxy needs the package socksio: `pip install socksio`; else "
            if "socks" in str(error)
            else ""
        )
        raise UsageError(
            f"{names}: such a proxy cannot be used: {socks}give an http:// address, or take the variable away"
        ) from None
    except OSError as error:  # ssl.SSLError, too
        # A file comes before a folder.
        named = next((name for name in _CERTIFICATES if os.environ.get(name)), None)
        told = f"{named}={os.environ[named]}" if named else "the certificates of this system"
        raise UsageError(
            f"{told}: no certificates can be read there ({error.strerror or error}); name a file in PEM format"
        ) from None


_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY")


def proxies() -> list[tuple[str, str]]:
    """Return the variables that name a proxy, as they are written, with its address but for a password."""
    found = []
    for name in (each for upper in _PROXIES for each in (upper, upper.lower())):
        if value := os.environ.get(name):
            found.append((name, re.sub(r"//[^/@]*@", "//…@", value)))
    return found


def by_way_of(url: str) -> str:
    """Return, for a message, that an endpoint is reached through a proxy; empty where it is not."""
    scheme = urlsplit(url).scheme.upper()
    used = [
        f"{name}={value}" for name, value in proxies() if name.upper() in ("ALL_PROXY", f"{scheme}_PROXY")
    ]
    if not used or is_loopback(url) or proxy_bypass(urlsplit(url).hostname or ""):
        return ""
    return f" through the proxy {used[-1]}"


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
