"""What an endpoint's errors mean, without letting a secret through."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from reflex_bench.harness.errors import ContextOverflow, ModelError, ReflexError, RunStopped

_MESSAGE_LIMIT = 300

# What keys look like, also where a server shows one half masked (`sk-abc***xyz`) and where it is not the one
# that was sent.
_KEY_LIKE = re.compile(r"\bsk-[\w*.\-]{4,}|(?i:\bbearer)\s+[\w*.\-]{8,}")

# `context_length_exceeded` is said by OpenAI, vLLM and llama_cpp.server, `exceed_context_size_error` by
# llama.cpp; the words are for proxies that pass on nothing but the message.
_OVERFLOW_CODES = {"context_length_exceeded", "exceed_context_size_error"}
_OVERFLOW_WORDS = re.compile(
    r"context[ _](?:length|size|window)|prompt is too long|input is too long", re.IGNORECASE
)

_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "credit_balance_too_low"}

_UNSUPPORTED_CODES = {"unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden"}
_UNSUPPORTED_WORDS = re.compile(
    r"unsupported|not support|n't support|unrecognized|unexpected keyword|not permitted"
    r"|unknown (?:parameter|field|argument|name)",
    re.IGNORECASE,
)
_REPLACEMENTS: dict[str, str | None] = {
    "max_tokens": "max_completion_tokens",
    "temperature": None,
    "stop": None,
    "seed": None,
}


def pause_asked(headers: Mapping[str, str]) -> float | None:
    """Seconds after which an answer's headers say that the endpoint may be asked again; None: they do not.

    `Retry-After` is in seconds or a date (RFC 9110, section 10.2.3), `retry-after-ms` OpenAI's finer form. A date is
    measured from the answer's own `Date`: the clock of this machine may be wrong, or be set right in between.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        then = parsedate_to_datetime(headers.get("retry-after", ""))
        now = parsedate_to_datetime(headers["date"]) if "date" in headers else datetime.now(timezone.utc)
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class Complaint:
    """What an error body says; "" where it says nothing."""

    message: str = ""
    code: str = ""
    type: str = ""
    param: str = ""


def one_line(text: str, limit: int = _MESSAGE_LIMIT) -> str:
    """Text as one line of printable characters, cut to `limit` characters; of an HTML page only the title."""
    text = text[:4000]
    if text.lstrip()[:1] == "<":
        title = re.search(r"<title[^>]*>(.*?)</title", text, re.IGNORECASE | re.DOTALL)
        text = f"an HTML page titled {' '.join(title[1].split())!r}" if title else "an HTML page"
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """Text with every secret, and everything that looks like a key, replaced by `[key]`."""
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return _KEY_LIKE.sub("[key]", text)


def public_url(url: str) -> str:
    """An address without the parts that may hold secrets: user, password, query, fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def complaint_in(data: Any) -> Complaint:
    """Reads an error body: OpenAI's (`error.message`), FastAPI's (`detail`), Ollama's (`error` as text)."""
    if isinstance(data, bytes):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError):
            return Complaint(one_line(data[:4000].decode("utf-8", "replace")))
    if not isinstance(data, dict):
        return Complaint(one_line(str(data or "")))
    error = data.get("error") or data.get("detail") or data
    if not isinstance(error, dict):
        return Complaint(one_line(error if isinstance(error, str) else json.dumps(error)))
    message = error.get("message") or error.get("msg") or error.get("detail") or ""
    return Complaint(
        one_line(message if isinstance(message, str) else json.dumps(message)),
        *(_word(error, key) for key in ("code", "type", "param")),
    )


def _word(error: dict[str, Any], key: str) -> str:
    value = error.get(key)
    return one_line(str(value), 100) if isinstance(value, str | int) else ""


def unsupported(complaint: Complaint, sent: Collection[str]) -> tuple[str, str | None] | None:
    """The sent parameter that an endpoint does not take, and what to call it instead (None: leave it out).

    Reasoning models refuse `max_tokens` (they want `max_completion_tokens`), `temperature` and `stop`; some
    servers refuse `seed`.

    Args:
        complaint: of an answer with status 400 or 422.
        sent: the names that were sent.
    """
    if complaint.code not in _UNSUPPORTED_CODES and not _UNSUPPORTED_WORDS.search(complaint.message):
        return None
    candidates = [name for name in _REPLACEMENTS if name in sent]
    named = complaint.param.rpartition(".")[2]
    if named not in candidates:
        found = {name: re.search(rf"\b{name}\b", complaint.message) for name in candidates}
        mentioned = [(match.start(), name) for name, match in found.items() if match]
        if not mentioned:
            return None
        named = min(mentioned)[1]
    return named, _REPLACEMENTS[named]


def is_overflow(status: int, complaint: Complaint) -> bool:
    """Whether the prompt was longer than the model's context window."""
    if status not in (400, 413, 422, 500):
        return False
    if {complaint.code, complaint.type} & _OVERFLOW_CODES or _OVERFLOW_WORDS.search(complaint.message):
        return True
    return status == 413 and "rate" not in complaint.code


def refusal(status: int, complaint: Complaint, endpoint: str, model: str, has_key: bool) -> ReflexError:
    """The error for an answer that is none.

    Args:
        status: the HTTP status.
        complaint: what the body says.
        endpoint: the address without secrets.
        model: the name that was asked for.
        has_key: whether a key was sent.

    Returns:
        `RunStopped` where no other call could succeed either, `ContextOverflow`, or a `ModelError`.
    """
    said = f"{status}: {complaint.message or complaint.code or 'no reason given'}"
    if is_overflow(status, complaint):
        return ContextOverflow(f"the prompt does not fit into the model's context ({said})")
    if "content_filter" in (complaint.code, complaint.type) or (
        status == 403 and "flagged" in complaint.message
    ):
        return ModelError(f"the endpoint's content filter refused the prompt ({said})", kind="content_filter")
    if status in (401, 403):
        fault = (
            "refuses the key in OPENAI_API_KEY" if has_key else "wants a key, and OPENAI_API_KEY is not set"
        )
        return RunStopped(f"{endpoint} {fault} ({said})")
    if status == 402 or {complaint.code, complaint.type} & _QUOTA_CODES:
        return RunStopped(
            f"{endpoint} takes no more calls on this account: its quota or credit is used up ({said})"
        )
    if status in (404, 405):
        hint = "" if urlsplit(endpoint).path else "; addresses of this kind usually end in /v1"
        return RunStopped(f"{endpoint} has no model {model!r}, or not this API ({said}){hint}")
    if status == 429 or (status == 413 and "rate" in complaint.code):
        return ModelError(f"{endpoint} keeps refusing for its rate limit ({said})", kind="rate_limit")
    if status >= 500 or status == 409:
        return ModelError(f"{endpoint} keeps failing ({said})", kind="server")
    if status == 408:
        return ModelError(f"{endpoint} gave up waiting ({said})", kind="timeout")
    return ModelError(f"{endpoint} refuses the request ({said})", kind="bad_request")
