"""Live Wikipedia as a corpus, through the MediaWiki API, with a snapshot of every answer.

Facts behind the choices: default clients are refused with 403 (NeMo-Agent-Toolkit#2156), so the requests name
themselves as the Wikimedia User-Agent policy asks; guessing a title from suggestions opens wrong pages
(goldsmith/Wikipedia#186, #295, #304), so nothing is guessed. Trouble with the network is an `EnvironmentFailure` and
never an observation.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from datetime import datetime, timezone
from email.message import Message
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import EnvironmentFailure
from reflex_bench.envs.hotpotqa.corpus.corpus import Found, Missing
from reflex_bench.envs.hotpotqa.corpus.documents import Document, unquoted
from reflex_bench.envs.hotpotqa.corpus.sentences import split_sentences
from reflex_bench.envs.hotpotqa.corpus.snapshot import Snapshot

ENGLISH = "https://en.wikipedia.org/w/api.php"
USER_AGENT = (
    "reflex-bench/0.1 (https://pypi.org/project/reflex-bench/; language-agent evaluation) python-urllib"
)
# Characters that no title may hold; a query with one can only be searched for.
_NO_TITLE = frozenset("[]{}|#<>\n")
_BUSY = frozenset({429, 500, 502, 503, 504})
_MAX_PAUSE = 60.0


class Wikipedia:
    """A corpus that asks a MediaWiki.

    Args:
        snapshot: file that keeps every answer; a query that is in it is answered from it.
        base_url: the `api.php` of the wiki.
        offline: answer from the snapshot alone.
        attempts: how often a request is tried while the server is busy or out of reach.
        pause: seconds before the second attempt, doubled for each further one; a longer `Retry-After` counts.
        timeout: seconds for one request.
    """

    kind = "wikipedia"
    size: int | None = None

    def __init__(
        self,
        snapshot: Path,
        base_url: str = ENGLISH,
        offline: bool = False,
        attempts: int = 4,
        pause: float = 1.0,
        timeout: float = 20.0,
    ) -> None:
        self._snapshot = Snapshot(snapshot)
        self._base_url = base_url
        self._offline = offline
        self._attempts = attempts
        self._pause = pause
        self._timeout = timeout
        # The API's etiquette asks for one request at a time.
        self._lock = threading.Lock()

    @property
    def sha256(self) -> str | None:
        """Of the snapshot, where nothing but the snapshot is asked."""
        return self._snapshot.sha256() if self._offline else None

    def find(self, query: str, similar: int) -> Found | Missing:
        """Return the page with this title (redirects followed), else what the wiki's own search finds."""
        # No address can hold half a surrogate pair.
        title = " ".join(unquoted(query.encode("utf-8", "replace").decode()).split())
        if title and len(title.encode()) <= 255 and not _NO_TITLE & set(title):
            page = self._page(title)
            if "disambiguation" in (page.get("pageprops") or ()):
                return Missing(self._links(title, similar), ambiguous=True)
            extract = page.get("extract")
            if isinstance(extract, str) and extract.strip():
                return Found(Document(str(page.get("title", title)), tuple(split_sentences(extract))))
        return Missing(self._search(title, similar) if title else ())

    def _page(self, title: str) -> dict[str, Any]:
        answer = self._ask(
            {
                "prop": "extracts|pageprops|revisions",
                "explaintext": "1",
                "exsectionformat": "wiki",
                "ppprop": "disambiguation",
                "rvprop": "ids|timestamp",
                "redirects": "1",
                "titles": title,
            }
        )
        pages = _list(answer, "pages")
        return pages[0] if pages else {}

    def _links(self, title: str, count: int) -> tuple[str, ...]:
        answer = self._ask(
            {"prop": "links", "plnamespace": "0", "pllimit": "max", "redirects": "1", "titles": title}
        )
        pages = _list(answer, "pages")
        links = _list(pages[0], "links") if pages else []
        return tuple(str(link["title"]) for link in links if "title" in link)[:count]

    def _search(self, query: str, count: int) -> tuple[str, ...]:
        answer = self._ask({"list": "search", "srsearch": query[:300], "srlimit": str(count), "srprop": ""})
        return tuple(str(hit["title"]) for hit in _list(answer, "search") if "title" in hit)[:count]

    def _ask(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Return the `query` part of the API's answer."""
        full = {"action": "query", "format": "json", "formatversion": "2", **parameters}
        request = urllib.parse.urlencode(sorted(full.items()))
        with self._lock:
            answer = self._snapshot.get(request)
            if answer is None and self._offline:
                raise EnvironmentFailure(
                    f"Wikipedia: not in the snapshot {self._snapshot.path.name}: {request}"
                )
            if answer is None:
                answer = self._fetched(request)
                self._snapshot.add(request, datetime.now(timezone.utc).isoformat(timespec="seconds"), answer)
        query: dict[str, Any] = answer["query"]
        return query

    def _fetched(self, request: str) -> dict[str, Any]:
        trouble = "not asked"
        for attempt in range(1, self._attempts + 1):
            wait = self._pause * 2 ** (attempt - 1)
            try:
                return _answer(self._open(request))
            except urllib.error.HTTPError as error:
                trouble = f"HTTP {error.code}"
                wait = max(wait, _retry_after(error.headers))
                error.close()
                if error.code not in _BUSY or wait > _MAX_PAUSE:
                    break
            except (OSError, http.client.HTTPException) as error:
                trouble = f"{type(error).__name__}: {getattr(error, 'reason', error)}"
            if attempt < self._attempts:
                time.sleep(wait)
        raise EnvironmentFailure(f"Wikipedia did not answer: {trouble}")

    def _open(self, request: str) -> bytes:
        url = f"{self._base_url}?{request}"
        headers = {"User-Agent": USER_AGENT, "Accept": "application/json"}
        with urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=self._timeout
        ) as reply:
            body: bytes = reply.read()
        return body


def _answer(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise EnvironmentFailure("Wikipedia answered with something that is not JSON") from None
    if isinstance(answer, dict) and isinstance(answer.get("query"), dict):
        return answer
    error = answer.get("error") if isinstance(answer, dict) else None
    detail = f": {error.get('code', '')}" if isinstance(error, dict) else " without a result"
    raise EnvironmentFailure(f"Wikipedia answered with an error{detail}")


def _retry_after(headers: Message) -> float:
    try:
        return max(0.0, float(headers.get("Retry-After", "")))
    except ValueError:
        return 0.0


def _list(answer: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    value = answer.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
