"""Likeness: numbers worked out by hand and by scikit-learn, and the extras where they are installed."""

from __future__ import annotations

import importlib.util
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from loopback import Answer, Call, Loopback, as_json, error

from reflex_bench.agents.memory.similarity import Embeddings, TfIdf, best, build
from reflex_bench.core.errors import RunStopped, UsageError
from reflex_bench.models.options import ModelOptions

NOTES = (
    "I took the cup from shelf 2, shelf 3 and shelf 1.",
    "Next time look in the fridge first; the cup was in fridge 1.",
    "Take a cloth and not a towel.",
)


def test_rare_terms_weigh_more_by_the_formula_worked_out_by_hand() -> None:
    # Terms: red, cup, "red cup" and red, pan, "red pan". n = 2. `red` has df 2: 1 + ln(3/3) = 1; all others have
    # df 1: 1 + ln(3/2) = 1.405465. Both texts have the length sqrt(1 + 2 * 1.405465 ** 2) = sqrt(4.950664), and only
    # `red` in common: 1 / 4.950664.
    assert TfIdf().scores("Red cup!", ["red cup", "red pan"]) == [1.0, 0.201993]


def test_a_term_that_comes_again_adds_only_its_logarithm() -> None:
    # One text, so every idf is 1 + ln(2/2) = 1. Terms: a (twice: 1 + ln 2 = 1.693147), b, "a a", "a b".
    # Length sqrt(1.693147 ** 2 + 3) = 2.422136; the query is `a` alone: 1.693147 / 2.422136.
    assert TfIdf().scores("a", ["a a b"]) == [0.69903]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("put a cup in the fridge", [0.098734, 0.558295, 0.186095]),
        ("clean a cloth", [0.0, 0.0, 0.581505]),
        ("take a towel and not a cloth", [0.034723, 0.0, 0.962093]),
        ("SHELF 2", [0.501142, 0.0, 0.0]),
    ],
)
def test_scores_are_those_of_scikit_learn(query: str, expected: list[float]) -> None:
    # scikit-learn 1.9.1: TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), token_pattern=r"\w+").
    assert TfIdf().scores(query, NOTES) == pytest.approx(expected, abs=1e-6)


def test_what_has_nothing_in_common_scores_zero() -> None:
    assert TfIdf().scores("xyzzy", NOTES) == [0.0, 0.0, 0.0]
    assert TfIdf().scores("", NOTES) == [0.0, 0.0, 0.0]
    assert TfIdf().scores("cup", ["", "cup"]) == [0.0, 1.0]
    assert TfIdf().scores("cup", []) == []


def test_the_order_of_words_matters() -> None:
    one, other = "a cloth and not a towel", "a towel and not a cloth"
    assert TfIdf().scores(one, [one, other])[1] < 0.9


def test_scores_do_not_depend_on_what_was_asked_before_or_by_whom() -> None:
    measure, pools = TfIdf(), [NOTES, NOTES[:2], (*NOTES, "cup"), ()]
    asked = [(query, pool) for query in ("cup", "a towel", "shelf 3") for pool in pools] * 20
    random.Random(1).shuffle(asked)
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(lambda pair: measure.scores(*pair), asked))
    assert got == [TfIdf().scores(query, pool) for query, pool in asked]


def test_the_best_are_the_highest_and_of_equals_the_later() -> None:
    assert best([0.1, 0.9, 0.5, 0.5], 2) == [1, 3]
    assert best([0.5, 0.5, 0.5], 2) == [1, 2]


# Embeddings.


def letters(text: str) -> list[float]:
    """How often a, b and c come: an embedding that can be checked by hand."""
    return [float(text.count(letter)) for letter in "abc"]


def embedding(call: Call) -> Answer:
    """An endpoint's embeddings, last text first: only the index says which is which."""
    data = [{"index": n, "embedding": letters(text)} for n, text in enumerate(call.body["input"])]
    return as_json({"object": "list", "model": call.body["model"], "data": data[::-1]})


def at(server: Loopback, **options: float) -> Embeddings:
    measure = build(
        "endpoint/tiny", ModelOptions(**{"base_url": server.base_url, "max_retries": 0, **options})
    )
    assert isinstance(measure, Embeddings)
    return measure


def test_an_endpoint_is_asked_for_vectors_and_their_cosine_is_the_score(loopback: Loopback) -> None:
    loopback.answer = embedding
    # (1, 1, 0) with (1, 0, 0): 1 / sqrt 2; with (0, 0, 2): 0; with (2, 2, 0): 1; with nothing: 0.
    assert at(loopback).scores("ab", ["a", "cc", "abab", "x"]) == [0.707107, 0.0, 1.0, 0.0]
    (call,) = loopback.posts
    assert call.path == "/v1/embeddings"
    assert call.body == {
        "model": "tiny",
        "input": ["ab", "a", "cc", "abab", "x"],
        "encoding_format": "float",
    }


def test_each_text_is_embedded_once_and_many_go_in_batches(loopback: Loopback) -> None:
    loopback.answer = embedding
    measure = at(loopback)
    texts = [f"a{number}" for number in range(100)]
    measure.scores("b", texts)
    measure.scores("c", [*texts, "new"])
    sent = [text for call in loopback.posts for text in call.body["input"]]
    assert sorted(sent) == sorted(["b", "c", "new", *texts])
    assert max(len(call.body["input"]) for call in loopback.posts) == 64


def test_the_key_is_sent_and_comes_out_nowhere(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-91c2d4e8")
    loopback.play(error(401, "Incorrect API key provided: canary-91c2d4e8, not sk-0123456789"))
    with pytest.raises(RunStopped, match="refuses the key") as caught:
        at(loopback).scores("a", ["b"])
    assert loopback.posts[0].headers["authorization"] == "Bearer canary-91c2d4e8"
    assert "canary" not in str(caught.value)
    assert "0123" not in str(caught.value)
    assert caught.value.__context__ is None


MALFORMED = {
    "one too few": as_json({"data": [{"index": 0, "embedding": [1.0]}]}),
    "lengths differ": as_json({"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}),
    "no number": as_json({"data": [{"index": n, "embedding": ["x"]} for n in range(2)]}),
    "not finite": Answer(b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}'),
    "no data": as_json({"object": "list"}),
    "no json": Answer(b"<html>"),
    "a list": as_json([1, 2]),
}


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED.keys())
def test_an_answer_that_is_none_stops_the_run(loopback: Loopback, answer: Answer) -> None:
    loopback.play(answer)
    with pytest.raises(RunStopped, match="something else than 2 embeddings"):
        at(loopback).scores("a", ["b"])


def test_a_dead_endpoint_stops_the_run_and_says_where_it_was_looked_for() -> None:
    with Loopback() as server:
        measure = at(server)
    with pytest.raises(RunStopped, match=r"127\.0\.0\.1"):
        measure.scores("a", ["b"])


def test_an_endpoint_that_recovers_was_asked_again(loopback: Loopback) -> None:
    loopback.answer = embedding
    loopback.play(error(429, "slow down", {"retry-after-ms": "10"}))
    assert at(loopback, max_retries=1).scores("a", ["a"]) == [1.0]


def test_an_address_that_is_none_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(UsageError, match="base URL"):
        build("endpoint/tiny", ModelOptions(base_url="localhost"))


# What a configuration names.


def test_without_a_name_it_is_tf_idf() -> None:
    assert build().name == "tfidf"


@pytest.mark.parametrize("spec", ["endpoint", "endpoint/", "sentence-transformers"])
def test_a_similarity_with_a_model_wants_its_name(spec: str) -> None:
    with pytest.raises(UsageError, match="names no model"):
        build(spec)


@pytest.mark.parametrize(
    ("spec", "near"), [("tf-idf", "tfidf"), ("wordlama", "wordllama"), ("tfidf/x", "tfidf")]
)
def test_an_unknown_similarity_is_named_with_the_nearest(spec: str, near: str) -> None:
    with pytest.raises(UsageError, match=f"unknown similarity '{spec}'; did you mean '{near}'"):
        build(spec)


@pytest.mark.parametrize(
    ("spec", "module"),
    [("wordllama", "wordllama"), ("sentence-transformers/all-MiniLM-L6-v2", "sentence_transformers")],
)
def test_a_missing_package_is_named(spec: str, module: str) -> None:
    if importlib.util.find_spec(module):
        pytest.skip(f"{module} is installed")
    with pytest.raises(UsageError, match=f"pip install {spec.partition('/')[0]}$"):
        build(spec)


def test_wordllama_finds_the_note_that_means_the_same() -> None:
    pytest.importorskip("wordllama", reason="an extra")
    measure = build("wordllama")
    notes = ["The play was written by a Dane.", "Search the refrigerator before the cupboards."]
    scores = measure.scores("look in the fridge", notes)
    assert scores[1] > 0.3 > scores[0]
    # The vector of a text is its own, whatever it was embedded together with.
    assert scores == [build("wordllama").scores("look in the fridge", [note])[0] for note in notes]
