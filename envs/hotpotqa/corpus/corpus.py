"""Corpus that the agent searches, and the fixed order in which a query is resolved to a page.

1. Query and titles are folded (`documents.fold`).
2. The page with this title. Where titles differ in letter case only, the one that is written exactly so.
3. The page that declares this title as a redirect.
4. The only page whose title is this one with a parenthesis behind it.
5. The only page whose title or redirect is this one but for accents, `&` or "and", punctuation, or an article in front
   (`documents.loosened`), as Wikipedia's own redirects lead there.
6. Otherwise a miss, with the titles that BM25 finds nearest.

A page is never opened on mere similarity. A query that fits several pages at 2 to 5 is a miss that lists them first.
"""

from __future__ import annotations

import hashlib
import html
import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.cache import cache_folder
from reflex_bench.envs.hotpotqa.corpus.documents import (
    Document,
    document,
    fold,
    loosened,
    without_parenthesis,
)
from reflex_bench.envs.hotpotqa.corpus.index import Index, open_index


@dataclass(frozen=True, slots=True)
class Found:
    """The page that a query leads to."""

    document: Document


@dataclass(frozen=True, slots=True)
class Missing:
    """No page, or no single one.

    Attributes:
        similar: titles to show, best first.
        ambiguous: the query fits several pages; they lead the list.
    """

    similar: tuple[str, ...] = ()
    ambiguous: bool = False


class Corpus(Protocol):
    """A set of pages; `find` may be called from several threads at once.

    Attributes:
        kind: `question`, `split`, `file` or `wikipedia`.
        size: number of pages, None where nobody knows.
        sha256: of all pages, None where they are not fixed.
    """

    @property
    def kind(self) -> str: ...

    @property
    def size(self) -> int | None: ...

    @property
    def sha256(self) -> str | None: ...

    def find(self, query: str, similar: int) -> Found | Missing:
        """Resolves a query; a miss carries at most `similar` titles.

        Raises:
            EnvironmentFailure: the corpus could not be reached.
        """
        ...


class LocalCorpus:
    """Pages in memory.

    Args:
        kind: for the record.
        pages: of several with one title the first counts.
        cache: folder for the index of large corpora; None for the project's own.
    """

    def __init__(self, kind: str, pages: Iterable[Document], cache: Path | None = None) -> None:
        unique: dict[str, Document] = {}
        for page in pages:
            unique.setdefault(page.title, page)
        self.kind = kind
        self._pages = tuple(unique[title] for title in sorted(unique))
        self.size: int = len(self._pages)
        self.sha256: str = _digest(self._pages)
        self._cache = cache
        self._index: Index | None = None
        self._lock = threading.Lock()
        self._titles: dict[str, list[Document]] = defaultdict(list)
        self._redirects: dict[str, list[Document]] = defaultdict(list)
        self._bases: dict[str, list[Document]] = defaultdict(list)
        self._loosened: dict[str, list[Document]] = defaultdict(list)
        for page in self._pages:
            title = fold(page.title)
            self._titles[title].append(page)
            if without_parenthesis(title) != title:
                self._bases[without_parenthesis(title)].append(page)
            redirects = dict.fromkeys(map(fold, page.redirects))
            for redirect in redirects:
                self._redirects[redirect].append(page)
            for name in dict.fromkeys(map(loosened, (title, *redirects))):
                self._loosened[name].append(page)

    def holds(self, title: str) -> bool:
        """Return whether a page has this title, or is led to from it."""
        return fold(title) in self._titles or fold(title) in self._redirects

    def find(self, query: str, similar: int) -> Found | Missing:
        """Resolves a query in the order that the module's text gives."""
        wanted = fold(query)
        names = (self._titles, self._redirects, self._bases)
        for known, name in (*((each, wanted) for each in names), (self._loosened, loosened(wanted))):
            # Nothing but punctuation is left of some queries: that is no name.
            pages = known.get(name, []) if name else []
            exact = [page for page in pages if page.name == html.unescape(query).strip()]
            if len(pages) == 1 or len(exact) == 1:
                return Found((exact or pages)[0])
            if pages:
                return Missing(self._similar(query, similar, pages), ambiguous=True)
        return Missing(self._similar(query, similar, ()))

    def best(self, query: str) -> Document | None:
        """Return the page that BM25 puts first, None where no page shares a word with the query."""
        positions = self._opened().top(query, 1)
        return self._pages[positions[0]] if positions else None

    def _similar(self, query: str, count: int, first: Sequence[Document]) -> tuple[str, ...]:
        ranked = [self._pages[position] for position in self._opened().top(fold(query), count)]
        return tuple(dict.fromkeys(page.name for page in (*first, *ranked)))[:count]

    def _opened(self) -> Index:
        with self._lock:
            if self._index is None:
                self._index = open_index(self._pages, self.sha256, self._cache or cache_folder())
            return self._index


def _digest(pages: Iterable[Document]) -> str:
    digest = hashlib.sha256()
    for page in pages:
        row = json.dumps([page.title, page.sentences, page.redirects], ensure_ascii=False)
        digest.update(row.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def read_pages(path: Path) -> list[Document]:
    """Return pages from JSON lines, each `{title, sentences | text, redirects?}`.

    Raises:
        UsageError: the file is not there, or a line is not such a page.
    """
    pages = []
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    pages.append(_page(path, number, line))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the corpus {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    if not pages:
        raise UsageError(
            f"the corpus {path} has no pages; a line is {{title, sentences or text, redirects?}}"
        )
    return pages


def _page(path: Path, number: int, line: str) -> Document:
    try:
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError("not a JSON object")
        return document(record)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path}, line {number}: {error}; a page is {{title, sentences or text, redirects?}}"
        ) from None
