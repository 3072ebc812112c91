"""Turns an endpoint's errors into ours, without letting a secret through."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit, urlunsplit

from reflex_bench.core.errors import ContextOverflow, ModelError, ReflexError, RunStopped
from reflex_bench.models.openai.errors.meanings import meaning_of
from reflex_bench.models.openai.errors.messages import Complaint, error_message, one_line
from reflex_bench.models.openai.errors.rejections import unsupported_name
from reflex_bench.models.openai.errors.retry_after import retry_after

__all__ = [
    "Complaint",
    "error_message",
    "one_line",
    "public_url",
    "redact",
    "rejection",
    "retry_after",
    "unsupported",
]

# What keys look like, also where a server shows one half masked (`sk-abc***xyz`) and where it is not the one
# that was sent.
_KEY_LIKE = re.compile(r"\bsk-[\w*.\-]{4,}|(?i:\bbearer)\s+[\w*.\-]{8,}")


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return text with every secret, and everything that looks like a key, replaced by `[key]`."""
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return _KEY_LIKE.sub("[key]", text)


def public_url(url: str) -> str:
    """Return an address without the parts that may hold secrets: user, password, query, fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def unsupported(complaint: Complaint, sent: Collection[str]) -> tuple[str, str | None] | None:
    """Return the sent parameter that an endpoint does not take, and what to call it instead (None: leave it out).

    Args:
        complaint: of an answer with an error.
        sent: the names that were sent.
    """
    named = unsupported_name(complaint, sent)
    if named is None:
        return None
    return named, "max_completion_tokens" if named == "max_tokens" else None


def rejection(status: int, complaint: Complaint, endpoint: str, model: str, has_key: bool) -> ReflexError:
    """Return the error for an answer that is none.

    Args:
        status: the HTTP status; 200 for an error within an answer that claims success.
        complaint: what the body says.
        endpoint: the address without secrets.
        model: the name that was asked for.
        has_key: whether a key was sent.

    Returns:
        `RunStopped` where no other call could succeed either, `ContextOverflow`, or a `ModelError`.
    """
    meaning = meaning_of(status, complaint)
    said = f"{status}: {complaint.message or complaint.code or 'no reason given'}"
    if meaning == "context_overflow":
        return ContextOverflow(f"the prompt does not fit into the model's context ({said})")
    fatal = _fatal(meaning, endpoint, model, has_key)
    if fatal:
        hint = "" if urlsplit(endpoint).path else "; addresses of this kind usually end in /v1"
        return RunStopped(f"{fatal} ({said}){hint if meaning in ('no_model', 'wrong_address') else ''}")
    words = {
        "content_filter": "the endpoint's content filter refused the prompt",
        "never_fits": f"one request takes more than {endpoint} allows in a minute: no waiting mends that",
        "rate_limit": f"{endpoint} keeps refusing for its rate limit",
        "server": f"{endpoint} keeps failing",
        "timeout": f"{endpoint} gave up waiting",
    }
    told = words.get(meaning, f"{endpoint} refuses the request")
    return ModelError(f"{told} ({said})", kind=meaning)


def _fatal(meaning: str, endpoint: str, model: str, has_key: bool) -> str:
    """Return why no other call could succeed; "" where one could."""
    return {
        "no_account": f"{endpoint} does not serve this account",
        "bad_key": f"{endpoint} refuses the key in OPENAI_API_KEY"
        if has_key
        else f"{endpoint} wants a key, and OPENAI_API_KEY is not set",
        "no_credit": f"{endpoint} takes no more calls on this account: its quota or credit is used up",
        "no_model": f"{endpoint} has no model {model!r}, or not this API",
        "wrong_address": f"{endpoint} does not know this path: is the address right? It has no model {model!r}, or not "
        "this API",
    }.get(meaning, "")
