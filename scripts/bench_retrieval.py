#!/usr/bin/env python
"""Measures HotPotQA's retrieval on invented text, beside a plain-Python BM25 in the same run.

    scripts/bench_retrieval.py [--pages 66000] [--queries 200]

66,000 is about the number of different paragraphs in the distractor development set. Times are of this machine; the
ratio is what can be compared.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import math
import random
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from reflex_bench.envs.hotpotqa.corpus.corpus import LocalCorpus, Missing
from reflex_bench.envs.hotpotqa.corpus.documents import Document
from reflex_bench.envs.hotpotqa.corpus.index import K1, B, words


def invented(count: int, seed: int = 0) -> list[Document]:
    """Pages of about 90 words whose frequencies fall off as in language (Zipf)."""
    dice = random.Random(seed)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el")]
    vocabulary = ["".join(dice.choices(syllables, k=dice.randint(1, 4))) for _ in range(120_000)]
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(vocabulary))))
    pages = []
    for number in range(count):
        title = " ".join(dice.choices(vocabulary, k=2)).title() + f" {number}"
        text = " ".join(dice.choices(vocabulary, cum_weights=weights, k=dice.randint(30, 150)))
        pages.append(Document(title, (f"{title} is {text}.",)))
    return pages


class PlainBM25:
    """The same ranking from dictionaries of postings."""

    def __init__(self, pages: list[Document]) -> None:
        counts = [Counter(words(page.title) * 2 + words(page.text)) for page in pages]
        lengths = [count.total() for count in counts]
        mean = sum(lengths) / len(lengths)
        postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for position, count in enumerate(counts):
            for word, tf in count.items():
                postings[word].append((position, tf))
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for word, entries in postings.items():
            idf = math.log(1 + (len(pages) - len(entries) + 0.5) / (len(entries) + 0.5))
            self._postings[word] = [
                (position, idf * tf / (tf + K1 * (1 - B + B * lengths[position] / mean)))
                for position, tf in entries
            ]

    def top(self, query: str, count: int) -> list[int]:
        scores: defaultdict[int, float] = defaultdict(float)
        for word in words(query):
            for position, weight in self._postings.get(word, ()):
                scores[position] += weight
        return heapq.nsmallest(count, scores, key=lambda position: (-round(scores[position], 4), position))


T = TypeVar("T")


def timed(action: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def milliseconds(search: Callable[[str], object], queries: list[str]) -> list[float]:
    """Of each query the best of three, so that other work on the machine counts less; sorted."""
    return sorted(1000 * min(timed(partial(search, query))[0] for _ in range(3)) for query in queries)


def similar(corpus: LocalCorpus, query: str) -> list[str]:
    outcome = corpus.find(query, 5)
    return list(outcome.similar) if isinstance(outcome, Missing) else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=66_000)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    pages = sorted(invented(options.pages), key=lambda page: page.title)
    dice = random.Random(1)
    # Like real queries: a name that is no title, or a few words, frequent ones among them.
    queries = [
        f"{page.title.rsplit(' ', 1)[0]} {' '.join(dice.sample(page.text.split(), 3))}"
        for page in dice.sample(pages, options.queries)
    ]
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        corpus_time, corpus = timed(lambda: LocalCorpus("split", pages, cache))
        build_time, _ = timed(lambda: corpus.find(queries[0], 5))
        again = LocalCorpus("split", pages, cache)
        load_time, _ = timed(lambda: again.find(queries[0], 5))
        ours = milliseconds(lambda query: again.find(query, 5), queries)
        titles = milliseconds(
            lambda query: again.find(query, 5), [page.title for page in pages[: options.queries]]
        )
        plain_build, plain = timed(lambda: PlainBM25(pages))
        theirs = milliseconds(lambda query: plain.top(query, 5), queries)
        same = sum([pages[n].name for n in plain.top(query, 5)] == similar(again, query) for query in queries)
    print(f"pages                     {len(pages)}")
    print(f"corpus (titles, hash)     {corpus_time:.1f} s")
    print(f"index, built and kept     {build_time:.1f} s   plain Python {plain_build:.1f} s")
    print(f"index, from the cache     {load_time:.2f} s")
    p95 = int(0.95 * len(ours))
    print(f"search that misses        median {statistics.median(ours):.2f} ms, 95 % {ours[p95]:.2f} ms")
    print(f"search that hits a title  median {statistics.median(titles):.3f} ms")
    print(f"plain Python BM25         median {statistics.median(theirs):.2f} ms, 95 % {theirs[p95]:.2f} ms")
    print(f"ratio of medians          {statistics.median(theirs) / statistics.median(ours):.1f} times faster")
    print(f"same five titles          {same} of {len(queries)}")


if __name__ == "__main__":
    main()
