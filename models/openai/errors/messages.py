"""Extracts the message of an error body: objects, lists, JSON within texts, plain text, pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

_MESSAGE_LIMIT = 300
_READ_LIMIT = 4000  # characters of an error body that are looked at
_MAX_DEPTH = 12  # wrappings in one another

_MESSAGES = frozenset((
    "message", "msg", "error", "errors", "error_msg", "error_message", "errormessage", "err_msg", "errmsg",
    "detail", "details", "description", "error_description", "status_msg", "reason", "reasons", "title", "raw",
    "suppliererror", "failure_reason", "cause", "metadata",
))  # fmt: skip
"""Keys, in lower case, whose texts are something said to a person."""

_NAMES = frozenset((
    "code", "type", "status", "error_code", "errorcode", "err_code", "error_type", "errortype", "reason",
    "reasons", "quotaid", "kind", "status_code", "statuscode", "__type", "blockreason", "block_reason",
    "finish_reason",
))  # fmt: skip
"""Keys whose values name a fault."""

_ECHOES = frozenset((
    "input", "flagged_input", "inputs", "request", "messages", "prompt", "ctx", "url", "headers", "body",
    "params", "user_id", "id", "request_id", "doc_url", "documentation_url", "links",
))  # fmt: skip
"""Keys under which a request is repeated, or that say nothing about a fault: a prompt must not be read as an error."""

_PAGE = re.compile(r"\s*<(?:!doctype|html|head|title|body|center|script|meta)\b", re.IGNORECASE)
_SPOKEN_STATUS = re.compile(r"\b(?:error|status|http)(?: ?code)?:? ([45]\d\d)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What an error body says; "" where it says nothing.

    Attributes:
        message: for a person, on one line.
        code, type, param: the outermost that are told.
        said: every text in it, also those of inner errors.
        names: every code, type and status in it, in lower case.
        status: the HTTP status that the body itself tells, 0 where it tells none: a proxy may answer with another.
        retry_delay: `retryDelay` or `retry_after` of the body, as it stands there.
    """

    message: str = ""
    code: str = ""
    type: str = ""
    param: str = ""
    said: str = ""
    names: frozenset[str] = frozenset()
    status: int = 0
    retry_delay: str = ""

    @property
    def words(self) -> str:
        """Everything that was said, and the names of the faults."""
        return " ".join((self.said or self.message, *sorted(self.all_names)))

    @property
    def all_names(self) -> frozenset[str]:
        """Every code, type and status, in lower case."""
        return self.names | {each.lower() for each in (self.code, self.type) if each}


def one_line(text: str, limit: int = _MESSAGE_LIMIT) -> str:
    """Return text as one line of printable characters, cut to `limit` characters; of an HTML page only the title."""
    text = text[:_READ_LIMIT]
    if _PAGE.match(text):
        title = re.search(r"<title[^>]*>(.*?)</title", text, re.IGNORECASE | re.DOTALL)
        text = f"an HTML page titled {' '.join(title[1].split())!r}" if title else "an HTML page"
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def is_page(content: bytes) -> bool:
    """Return whether a body is an HTML page."""
    return _PAGE.match(as_text(content[:_READ_LIMIT])) is not None


def as_text(content: bytes) -> str:
    """Return a body as text.

    UTF-8, with or without a byte order mark, else Latin-1, in which every byte is a letter.
    """
    content = content.removeprefix(b"\xef\xbb\xbf").removeprefix("ï»¿".encode())
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


@dataclass
class _Found:
    texts: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    params: list[str] = field(default_factory=list)
    own: dict[str, str] = field(default_factory=dict)
    statuses: list[int] = field(default_factory=list)
    delay: str = ""


def error_message(data: Any) -> Complaint:
    """Reads an error body, or a value that was one, with all errors that it wraps.

    Known forms: OpenAI's (`error.message`), FastAPI's (`detail`, also as a list), Ollama's and xAI's (`error` as text),
    Google's (a list), OpenRouter's (`metadata.raw` as JSON in a text), MiniMax's (`base_resp`), a stream's, plain text.
    """
    if isinstance(data, bytes):
        text = as_text(data[:200_000])
        parsed = _json(text.removeprefix("data:") if text.startswith("data:") else text)
        if parsed is None:
            found = _Found([text[:_READ_LIMIT]])
            return _complaint(found, one_line(text))
        data = parsed
    found = _Found()
    _walk(data, "", 0, found)
    shown = one_line(": ".join(_distinct(found.texts)))
    if not shown and data and not found.names:
        shown = one_line(data if isinstance(data, str) else json.dumps(data))
    return _complaint(found, shown)


def _complaint(found: _Found, message: str) -> Complaint:
    said = " ".join(found.texts)[:_READ_LIMIT]
    spoken = [int(match[1]) for match in _SPOKEN_STATUS.finditer(said)]
    return Complaint(
        message=message,
        code=found.own.get("code", ""),
        type=found.own.get("type", ""),
        param=found.params[0] if found.params else "",
        said=said,
        names=frozenset(name.lower() for name in found.names),
        # The innermost error is the one that happened.
        status=(found.statuses or spoken or [0])[-1],
        retry_delay=found.delay,
    )


def _json(text: str) -> Any:
    """Return the object or list that a text holds; None where it holds none."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _walk(value: Any, key: str, depth: int, found: _Found) -> None:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        # What is said out here comes before what is said within.
        for name, each in sorted(value.items(), key=lambda item: isinstance(item[1], dict | list)):
            _take(str(name), each, key, depth, found)
    elif isinstance(value, list):
        for each in value[:20]:
            _walk(each, key, depth + 1, found)
    elif isinstance(value, str) and (key in _MESSAGES or not key):
        inner = _json(value[:200_000])
        if inner is not None:
            _walk(inner, key, depth + 1, found)
        elif value.strip():
            found.texts.append(value[:_READ_LIMIT])


def _take(name: str, value: Any, above: str, depth: int, found: _Found) -> None:
    key = name.lower()
    if key in _ECHOES and not (key == "body" and isinstance(value, dict)):
        return
    if key in _NAMES and isinstance(value, str | int) and not isinstance(value, bool):
        _name(key, value, above, found)
    if key in ("param", "parameter", "field", "loc") and value:
        loc = ".".join(map(str, value)) if isinstance(value, list) else str(value)
        found.params.append(one_line(loc, 100))
    if key in ("retrydelay", "retry_after", "retryafter") and isinstance(value, str | int | float):
        found.delay = found.delay or str(value)
    if key == "filtered" and value is True:
        found.names.append("content_filter")
    if isinstance(value, dict | list) or (isinstance(value, str) and key in _MESSAGES):
        _walk(value, key, depth + 1, found)


def _name(key: str, value: str | int, above: str, found: _Found) -> None:
    told = one_line(str(value), 100)
    found.own.setdefault("type" if "type" in key else key, told)
    # The numbers of this wrapper mean something of their own.
    found.names.append(f"base_resp.{told}" if above == "base_resp" else told)
    if told.isdecimal() and 400 <= int(told[:4]) < 600:
        found.statuses.append(int(told))


def _distinct(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts that are not said in one before."""
    so_far = ""
    for text in texts:
        line = one_line(text)
        if line and line not in so_far:
            so_far += f"{line}\n"
            yield line
