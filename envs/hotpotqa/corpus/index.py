"""BM25 index over pages: the titles nearest to a query.

Lucene's variant (Kamphuis et al., 2020) through `bm25s`, k1 1.2 and b 0.75, with the title counted twice. Okapi's own
idf falls to zero and below in corpora as small as ten pages and is not used. Ties go by title.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reflex_bench.envs.hotpotqa.corpus.documents import Document

K1 = 1.2
B = 0.75
# Part of the cache's key: changes with everything that changes an index for the same pages.
VERSION = "1"
# Below this, building takes less time than it is worth to keep files for.
LEAST_CACHED = 2000

_WORD = re.compile(r"\w+")
# Scores are compared to this precision, so that the order does not hang on a rounding error.
_PRECISION = 1e-5


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(char for char in plain if not unicodedata.combining(char)))


class Index:
    """Ranks pages against queries; safe to use from several threads.

    Args:
        engine: a `bm25s.BM25` with an index, None where no page has a word.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    @classmethod
    def build(cls, documents: Sequence[Document]) -> Index:
        """Indexes pages, which must be sorted by title: ties go by position."""
        import bm25s

        vocabulary: dict[str, int] = {}
        pages: list[list[int]] = []
        for page in documents:
            title = words(page.name)
            tokens = title + title + words(page.text)
            pages.append([vocabulary.setdefault(token, len(vocabulary)) for token in tokens])
        if not vocabulary:
            return cls(None)
        engine = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numpy")
        engine.index((pages, vocabulary), show_progress=False)
        return cls(engine)

    def save(self, folder: Path) -> None:
        """Writes the index; readers see all of it or nothing."""
        if self._engine is None:
            return
        draft: Path | None = None
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(prefix=f".{folder.name[:16]}-", dir=folder.parent))
            self._engine.save(str(draft), show_progress=False)
            os.replace(draft, folder)
        except OSError:
            # Another process was faster, or nothing can be written there: the index in memory serves as well.
            if draft is not None:
                shutil.rmtree(draft, ignore_errors=True)

    @classmethod
    def load(cls, folder: Path) -> Index | None:
        """Return the index in `folder`; None where there is none that can be read."""
        import bm25s

        try:
            return cls(
                bm25s.BM25.load(str(folder), load_corpus=False, allow_pickle=False, show_progress=False)
            )
        except (OSError, ValueError, KeyError, TypeError, EOFError):
            return None

    def top(self, query: str, count: int) -> list[int]:
        """Return positions of the `count` best pages with at least one word of the query, best first."""
        import numpy

        tokens = words(query)
        if self._engine is None or count < 1 or not tokens:
            return []
        ids = self._engine.get_tokens_ids(tokens)
        if not ids:
            return []
        scores = self._engine.get_scores_from_ids(ids)
        least = 0.0
        if len(scores) > count:
            least = float(numpy.partition(scores, len(scores) - count)[len(scores) - count]) - _PRECISION
        chosen = numpy.flatnonzero(scores > max(least, 0.0))
        rounded = numpy.round(scores[chosen].astype("float64") / _PRECISION)
        order = numpy.lexsort((chosen, -rounded))
        return [int(position) for position in chosen[order][:count]]


def open_index(documents: Sequence[Document], sha256: str, cache: Path) -> Index:
    """Return the index of these pages, from the cache where it is there, else built and (for large ones) kept.

    Args:
        documents: sorted by title.
        sha256: of the pages; the cache's key.
        cache: the cache folder of the project.
    """
    if len(documents) < LEAST_CACHED:
        return Index.build(documents)
    folder = cache / "hotpotqa" / "bm25" / f"{sha256}-{VERSION}"
    found = Index.load(folder) if folder.is_dir() else None
    if found is not None:
        return found
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
    built = Index.build(documents)
    built.save(folder)
    return built
