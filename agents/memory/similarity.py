"""Text similarity, for retrieval and for recognising duplicates.

`tfidf` compares words, needs nothing, and is the default. The others compare meanings: `wordllama` (static embeddings
that come with its package), `sentence-transformers/<model>` and `endpoint/<model>` (an OpenAI-compatible endpoint).
"""

from __future__ import annotations

import importlib
import json
import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from reflex_bench.core import parts
from reflex_bench.core.errors import RunStopped, UsageError, unknown
from reflex_bench.models.openai import model as openai
from reflex_bench.models.openai.client import open_client, secrets_of
from reflex_bench.models.openai.endpoint import NO_KEY
from reflex_bench.models.openai.errors.faults import error_message, one_line, public_url, redact, rejection
from reflex_bench.models.options import ModelOptions

DIGITS = 6
"""Scores are rounded to so many, so that texts that are equally alike tie on every machine."""

_BATCH = 64  # texts in one request; servers allow from some dozens to 2048


class Similarity(Protocol):
    """A measure of likeness. `scores` may be called from several threads at once.

    Attributes:
        name: as in the configuration.
    """

    @property
    def name(self) -> str: ...

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how alike the query is to each text: 1 for the same, 0 for nothing in common; rounded to `DIGITS`.

        Raises:
            RunStopped: an endpoint does not answer; without it, nothing can be remembered.
        """
        ...


def best(ranks: Sequence[Any], size: int) -> list[int]:
    """Return the places of the `size` > 0 highest ranks, in ascending order; of equal ranks the later place wins."""
    return sorted(sorted(range(len(ranks)), key=lambda place: (ranks[place], place))[-size:])


class _Index(NamedTuple):
    texts: tuple[str, ...]
    idf: Mapping[str, float]
    postings: Mapping[str, list[tuple[int, float]]]


class TfIdf:
    """Cosine similarity of terms weighted by frequency and rarity (Salton & Buckley, 1988).

    A term that occurs tf > 0 times in a text, and in df of the n texts, weighs

        (1 + ln tf) * (1 + ln((1 + n) / (1 + df)))

    and each text's weights are scaled to length 1, as in scikit-learn's `TfidfVectorizer` with `sublinear_tf` and
    `smooth_idf`: this idf acts as if one more text held every term once, and leaves some weight to a term that all
    texts have. Terms of the query that no text has count for nothing.

    Terms are words (runs of letters and digits, without regard to case) and pairs of neighbouring words: pairs count
    because "a cloth and not a towel" is not "a towel and not a cloth", single digits because `drawer 1` is not
    `drawer 2`. The logarithm keeps a list of twenty cabinets from being all that a text is about.
    """

    name = "tfidf"

    def __init__(self) -> None:
        self._last = _index(())

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Similarity.scores`."""
        index = self._last
        if index.texts != tuple(texts):
            self._last = index = _index(texts)
        out = [0.0] * len(texts)
        for term, weight in _weights(query, index.idf).items():
            for place, other in index.postings[term]:
                out[place] += weight * other
        return [round(score, DIGITS) for score in out]


def _index(texts: Sequence[str]) -> _Index:
    frequency = Counter(term for text in texts for term in set(_terms(text)))
    idf = {term: 1 + math.log((1 + len(texts)) / (1 + df)) for term, df in frequency.items()}
    postings: dict[str, list[tuple[int, float]]] = {term: [] for term in idf}
    for place, text in enumerate(texts):
        for term, weight in _weights(text, idf).items():
            postings[term].append((place, weight))
    return _Index(tuple(texts), idf, postings)


def _weights(text: str, idf: Mapping[str, float]) -> dict[str, float]:
    counts = Counter(term for term in _terms(text) if term in idf)
    raw = {term: (1 + math.log(tf)) * idf[term] for term, tf in counts.items()}
    length = math.sqrt(math.fsum(weight * weight for weight in raw.values()))
    return {term: weight / length for term, weight in raw.items()}


def _terms(text: str) -> list[str]:
    words = re.findall(r"\w+", text.casefold())
    return words + [f"{first} {second}" for first, second in pairwise(words)]


Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""A vector for each text, all of one dimension; they need not have length 1."""


class Embeddings:
    """Cosine similarity of vectors.

    Args:
        name: as in the configuration.
        embed: is asked once for each text.
    """

    def __init__(self, name: str, embed: Embed) -> None:
        self.name = name
        self._embed = embed
        self._known: dict[str, Any] = {}
        self._lock = threading.Lock()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Similarity.scores`."""
        import numpy as np

        with self._lock:
            new = [text for text in dict.fromkeys((query, *texts)) if text not in self._known]
            for text, vector in zip(new, self._embed(new) if new else (), strict=True):
                array = np.asarray(vector, dtype=float)
                self._known[text] = array / (np.linalg.norm(array) or 1.0)
        return [round(float(self._known[text] @ self._known[query]), DIGITS) for text in texts]


class Endpoint:
    """`Embed` by the `/embeddings` of an OpenAI-compatible endpoint; the key is read from `OPENAI_API_KEY`.

    Args:
        model: as the endpoint knows it.
        options: where it is, and how patiently it is asked.

    Raises:
        UsageError: address or key cannot be one.
    """

    def __init__(self, model: str, options: ModelOptions) -> None:
        # A chat model refuses an address or a key that is none; embeddings are asked for with the same two.
        openai.create(model, options).close()
        self._model, self._options = model, options
        provider = options.all_providers()["openai"]
        self._url, self._key = options.base_url or provider.address, provider.key_value
        self._secrets = secrets_of(self._key, self._url)
        self._endpoint = public_url(self._url)

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of some texts.

        Raises:
            RunStopped: no usable answer, after the client's own retries.
        """
        with open_client(self._url, self._key or NO_KEY, self._options) as client:
            client = client.with_options(max_retries=self._options.max_retries)
            batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
            return [vector for batch in batches for vector in self._ask(client, batch)]

    def _ask(self, client: Any, texts: Sequence[str]) -> list[list[float]]:
        import httpx2
        from openai import APIStatusError, OpenAIError

        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            content = client.post("/embeddings", body=body, cast_to=httpx2.Response).content
        except APIStatusError as error:
            complaint = error_message(self._without_secrets(error.response.content))
            said = str(rejection(error.status_code, complaint, self._endpoint, self._model, bool(self._key)))
        except OpenAIError as error:
            said = f"{self._endpoint} does not answer: {one_line(str(error.__cause__ or error))}"
        else:
            vectors = _read_vectors(content, len(texts))
            if vectors is not None:
                return vectors
            said = f"{self._endpoint} answered with something else than {len(texts)} embeddings"
        # Raised out here, the error drags no exception along that holds the request and its key.
        raise RunStopped(redact(f"the memory cannot compare texts: {said}", self._secrets))

    def _without_secrets(self, content: bytes) -> bytes:
        for secret in self._secrets:
            content = content.replace(secret.encode(), b"[key]")
        return content


def _read_vectors(content: bytes, count: int) -> list[list[float]] | None:
    """Return the vectors of an answer, in the order of the texts; None where it is malformed."""
    try:
        items = sorted(json.loads(content)["data"], key=lambda item: item["index"])
        vectors = [[float(number) for number in item["embedding"]] for item in items]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    finite = all(math.isfinite(number) for vector in vectors for number in vector)
    return vectors if finite and len(vectors) == count and len(set(map(len, vectors))) == 1 else None


def tfidf(name: str, options: ModelOptions) -> TfIdf:
    """Return the similarity of words."""
    _without_name("tfidf", name)
    return TfIdf()


def wordllama(name: str, options: ModelOptions) -> Embeddings:
    """Return the similarity of the static embeddings of WordLlama."""
    _without_name("wordllama", name)
    package = _package("wordllama")
    # The package brings its weights, but unless it is told where they are it asks a hub for the tokenizer.
    model = package.WordLlama.load(cache_dir=Path(package.__file__).parent, disable_download=True)
    return Embeddings("wordllama", _one_by_one(model.embed))


def sentence_transformers(name: str, options: ModelOptions) -> Embeddings:
    """Return the similarity of the embeddings of a model that runs here."""
    spec = _with_name("sentence-transformers", name)
    model = _package("sentence-transformers").SentenceTransformer(name)
    return Embeddings(spec, _one_by_one(lambda texts: model.encode(texts, show_progress_bar=False)))


def endpoint(name: str, options: ModelOptions) -> Embeddings:
    """Return the similarity of the embeddings of an OpenAI-compatible endpoint."""
    return Embeddings(_with_name("endpoint", name), Endpoint(name, options))


def _without_name(kind: str, name: str) -> None:
    if name:
        raise unknown("similarity", f"{kind}/{name}", parts.names("similarities"))


def _with_name(kind: str, name: str) -> str:
    if not name:
        raise UsageError(f"similarity {kind!r} names no model; write {kind}/<model>")
    return f"{kind}/{name}"


def _one_by_one(embed: Callable[[list[str]], Any]) -> Embed:
    """Padding to the longest of a batch shifts the last digits, and batches depend on who comes first."""
    return lambda texts: [embed([text])[0] for text in texts]


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name.replace("-", "_"))
    except ImportError as error:
        raise UsageError(
            f"similarity {name!r} needs the package {name} ({error}): pip install {name}"
        ) from None


def build(spec: str = "tfidf", options: ModelOptions | None = None) -> Similarity:
    """Return the similarity that a configuration names.

    Args:
        spec: its name, or `<name>/<what it is to use>`: `tfidf`, `endpoint/<model>`, …
        options: where an endpoint is; without a base URL, `OPENAI_BASE_URL` counts.

    Raises:
        UsageError: no such similarity, its package is missing, or it names no model.
    """
    kind, _, name = spec.partition("/")
    if kind not in parts.names("similarities"):
        raise unknown("similarity", spec, parts.names("similarities"))
    made: Similarity = parts.find("similarities", kind).call(name, options or ModelOptions())
    return made
