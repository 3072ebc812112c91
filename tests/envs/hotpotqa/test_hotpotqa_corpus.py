"""Resolving queries, ranking titles, and the cache of the index."""

from __future__ import annotations

import json
import math
import random
import threading
from collections import Counter
from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.hotpotqa.corpus.corpus import Found, LocalCorpus, Missing, read_pages
from reflex_bench.envs.hotpotqa.corpus.documents import Document, fold, loosened
from reflex_bench.envs.hotpotqa.corpus.index import LEAST_CACHED, Index, words
from reflex_bench.envs.hotpotqa.corpus.sentences import split_sentences

REAL = Path(__file__).parents[4] / "shared" / "data" / "hotpotqa" / "distractor_100.jsonl"
PAGES = (
    Document("Corvel Lake", ("A lake.",), redirects=("Lake Corvel", "Merrow")),
    Document("Merrow (singer)", ("A singer.",)),
    Document("Orm (river)", ("A river.",)),
    Document("Orm (town)", ("A town on the river Orm.",)),
    Document("Orm Castle", ("A castle in Orm.",)),
    Document("Bo &amp; Co &quot;Ltd&quot;", ("A firm.",)),
    Document("Viva", ("A magazine.",), redirects=("V",)),
    Document("VIVA", ("A broadcaster.",), redirects=("V",)),
    Document("Zoë Straße", ("A street.",)),
    Document("Halden (hill)", ("A hill.",)),
    Document("O'Neill's Bar", ("A bar.",)),
    Document("Saint Ore", ("A saint.",)),
    Document("Saint Oré", ("A village.",)),
)
CORPUS = LocalCorpus("split", PAGES)
LAKE = PAGES[0]


def title(query: str) -> str | None:
    found = CORPUS.find(query, 5)
    return found.document.title if isinstance(found, Found) else None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Corvel Lake", "Corvel Lake"),
        ("  corvel   LAKE ", "Corvel Lake"),
        ("Corvel_Lake", "Corvel Lake"),
        ('"Corvel Lake"', "Corvel Lake"),
        ("'Corvel Lake'", "Corvel Lake"),
        ("“Corvel Lake”", "Corvel Lake"),
        ("Ｃｏｒｖｅｌ Lake", "Corvel Lake"),
        ("Bo & Co \"Ltd\"", "Bo &amp; Co &quot;Ltd&quot;"),
        ("Bo &amp; Co &quot;Ltd&quot;", "Bo &amp; Co &quot;Ltd&quot;"),
        ("zoë strasse", "Zoë Straße"),
        ("Lake Corvel", "Corvel Lake"),
        # A declared redirect comes before a title without its parenthesis.
        ("Merrow", "Corvel Lake"),
        ("Merrow (singer)", "Merrow (singer)"),
        ("Halden", "Halden (hill)"),
        # Titles that differ in letter case only: the one that is written exactly so.
        ("Viva", "Viva"),
        ("VIVA", "VIVA"),
        ("viva", None),
        ("V", None),
        ("Orm", None),
        ("Corvel", None),
        # Accents, `&`, punctuation and an article in front, where one page is left.
        ("Zoe Strasse", "Zoë Straße"),
        ("The Bo and Co, Ltd.", "Bo &amp; Co &quot;Ltd&quot;"),
        ("Lake-Corvel!", "Corvel Lake"),
        ("An Orm Castle", "Orm Castle"),
        ("O Neill s Bar", None),
        ("ONeills Bar", "O'Neill's Bar"),
        ("Saint Øre", None),
        ("saint oré", "Saint Oré"),
        ("Saint-Ore", None),
        # What tells pages apart stays: no parenthesis is dropped or made up, and no word left out.
        ("Orm river", None),
        ("Merrow singer", None),
        ("The", None),
        ("", None),
        ('"', None),
    ],
)  # fmt: skip
def test_a_query_is_resolved_in_the_fixed_order(query: str, expected: str | None) -> None:
    assert title(query) == expected


@pytest.mark.skipif(not REAL.is_file(), reason="needs the real questions, which are not part of the project")
def test_of_a_thousand_real_titles_no_two_are_one_without_accents_punctuation_and_article() -> None:
    lines = REAL.read_text(encoding="utf-8").splitlines()
    titles = {fold(name) for line in lines for name, _ in json.loads(line)["context"]}
    assert (len(titles), len(set(map(loosened, titles)))) == (1000, 1000)
    assert sum(loosened(name) != name for name in titles) == 262


def test_an_ambiguous_query_lists_its_pages_first() -> None:
    assert CORPUS.find("Orm", 3) == Missing(("Orm (river)", "Orm (town)", "Orm Castle"), ambiguous=True)
    assert CORPUS.find("viva", 1) == Missing(("VIVA",), ambiguous=True)


def test_a_miss_lists_the_nearest_titles_without_entities() -> None:
    assert CORPUS.find("ltd firm", 5) == Missing(('Bo & Co "Ltd"',))
    assert CORPUS.find("qqq", 5) == Missing(())
    assert CORPUS.find("?!", 5) == Missing(())
    assert CORPUS.find("a lake", 0) == Missing(())


def test_the_best_match_is_there_for_who_asks() -> None:
    best = CORPUS.best("castle near the river orm")
    assert best is not None
    assert best.title == "Orm Castle"
    assert CORPUS.best("qqq") is None


def test_an_empty_corpus_finds_nothing() -> None:
    corpus = LocalCorpus("question", [])
    assert (corpus.find("x", 5), corpus.best("x"), corpus.size) == (Missing(()), None, 0)


def test_the_hash_is_of_the_pages_and_not_of_their_order() -> None:
    assert LocalCorpus("split", reversed(PAGES)).sha256 == CORPUS.sha256
    assert LocalCorpus("split", PAGES[1:]).sha256 != CORPUS.sha256
    assert LocalCorpus("split", (*PAGES, PAGES[0])).size == len(PAGES)


def invented(count: int, seed: int = 5) -> list[Document]:
    """Pages of nonsense with a word distribution like that of language."""
    dice = random.Random(seed)
    syllables = ["ba", "ko", "ri", "tu", "sel", "mon", "dra", "vi", "on", "ta", "lu", "esk"]
    vocabulary = ["".join(dice.choices(syllables, k=dice.randint(1, 4))) for _ in range(3000)]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]
    pages = []
    for number in range(count):
        name = " ".join(dice.choices(vocabulary, k=2)).title() + f" {number}"
        text = dice.choices(vocabulary, weights, k=dice.randint(20, 60))
        pages.append(Document(name, (f"{name} is {' '.join(text)}.",)))
    return sorted(pages, key=lambda page: page.title)


def plain_bm25(pages: list[Document], query: str, count: int) -> list[int]:
    """Lucene's BM25 by the book: the sum over query words of idf · tf / (tf + k1 (1 - b + b · length / mean))."""
    tokens = [words(page.title) * 2 + words(page.text) for page in pages]
    mean = sum(map(len, tokens)) / len(tokens)
    frequencies = [Counter(page) for page in tokens]
    scores = []
    for position, counts in enumerate(frequencies):
        score = 0.0
        for word in words(query):
            df = sum(word in other for other in frequencies)
            idf = math.log(1 + (len(pages) - df + 0.5) / (df + 0.5))
            tf = counts[word]
            score += idf * tf / (tf + 1.2 * (1 - 0.75 + 0.75 * len(tokens[position]) / mean))
        scores.append((-round(score, 5), position))
    return [position for score, position in sorted(scores)[:count] if score < 0]


def test_ranking_agrees_with_plain_bm25() -> None:
    pages = invented(300)
    index = Index.build(pages)
    dice = random.Random(1)
    for page in dice.sample(pages, 12):
        query = " ".join(dice.sample(words(page.text), 3))
        assert index.top(query, 5) == plain_bm25(pages, query, 5)


def test_ties_go_by_title() -> None:
    pages = [Document(f"Page {letter}", ("The same text.",)) for letter in "dbca"]
    found = LocalCorpus("split", pages).find("same text", 3)
    assert found == Missing(("Page a", "Page b", "Page c"))


def test_accents_do_not_hide_a_title() -> None:
    assert CORPUS.find("Zoe street", 1) == Missing(("Zoë Straße",))


def test_the_index_of_a_large_corpus_is_built_once(tmp_path: Path) -> None:
    pages = invented(LEAST_CACHED)
    first = LocalCorpus("split", pages, cache=tmp_path)
    expected = [first.find(f"{page.text[:40]}", 5) for page in pages[:20]]
    (folder,) = (tmp_path / "hotpotqa" / "bm25").iterdir()
    assert folder.name.startswith(first.sha256)
    stamps = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert not any(name.endswith((".pkl", ".pickle")) for name in stamps)

    second = LocalCorpus("split", pages, cache=tmp_path)
    assert [second.find(f"{page.text[:40]}", 5) for page in pages[:20]] == expected
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == stamps

    LocalCorpus("split", [*pages[1:], LAKE], cache=tmp_path).find("zzz ba", 5)
    assert len(list((tmp_path / "hotpotqa" / "bm25").iterdir())) == 2


def test_a_damaged_index_is_built_again(tmp_path: Path) -> None:
    pages = invented(LEAST_CACHED)
    expected = LocalCorpus("split", pages, cache=tmp_path).find("ba ko ri", 5)
    (folder,) = (tmp_path / "hotpotqa" / "bm25").iterdir()
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:50])
    assert LocalCorpus("split", pages, cache=tmp_path).find("ba ko ri", 5) == expected
    assert (folder / "vocab.index.json").stat().st_size > 1000


def test_an_unwritable_cache_is_no_obstacle(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    corpus = LocalCorpus("split", invented(LEAST_CACHED), cache=blocked)
    assert isinstance(corpus.find("ba ko ri", 5), Missing)


def test_threads_share_one_corpus() -> None:
    corpus = LocalCorpus("split", invented(400))
    results: list[Found | Missing] = []
    threads = [threading.Thread(target=lambda: results.append(corpus.find("ba ko ri", 5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(result == results[0] for result in results)


def test_pages_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    rows = [
        {"title": "A", "sentences": ["One.", " Two."], "redirects": ["Alpha"]},
        {"title": "B", "text": "Dr. Hale came from the U.S. in 1902. He stayed! Why? No one knows."},
    ]
    path.write_text("".join(json.dumps(row) + "\n\n" for row in rows), encoding="utf-8")
    first, second = read_pages(path)
    assert (first.sentences, first.redirects) == (("One.", " Two."), ("Alpha",))
    assert second.sentences == (
        "Dr. Hale came from the U.S. in 1902.",
        " He stayed!",
        " Why?",
        " No one knows.",
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: "),
        ("[1]", "line 2: not a JSON object"),
        ('{"title": ""}', "line 2: `title` must be a text that is not empty"),
        ('{"title": "A"}', "line 2: `sentences` must be a list of texts, or `text` a text"),
        ('{"title": "A", "sentences": "x"}', "line 2: `sentences` must be a list of texts"),
        ('{"title": "A", "text": "x", "redirects": [1]}', "line 2: `redirects` must be a list of texts"),
    ],
)
def test_a_bad_page_is_named_by_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text('{"title": "A", "text": "x"}\n' + line + "\n")
    with pytest.raises(UsageError, match=message) as raised:
        read_pages(path)
    assert "\n" not in str(raised.value)


def test_a_corpus_file_that_is_not_there_or_empty_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the corpus .*none\.jsonl: No such file"):
        read_pages(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(UsageError, match="has no pages"):
        read_pages(tmp_path / "empty.jsonl")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two. Three.", 3),
        ("He met J. Smith in St. Orm. It rained.", 2),
        ("It cost 3.5 million. that is, a lot.", 1),
        ("He said \"Go.\" She went. (So did he.) They met.", 4),
        ("Line one\nLine two\n\n\n== Head ==\nText here.", 4),
        ("No end", 1),
        ("", 0),
        (" \n ", 0),
    ],
)  # fmt: skip
def test_sentences_are_split_and_join_to_the_text_again(text: str, count: int) -> None:
    sentences = split_sentences(text)
    assert len(sentences) == count
    assert "".join(sentences) == text.rstrip()


def test_folding_is_stable() -> None:
    for page in PAGES:
        assert fold(fold(page.title)) == fold(page.title)
