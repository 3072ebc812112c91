"""Pages of an encyclopedia, and the normal form of titles and queries."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reflex_bench.envs.hotpotqa.corpus.sentences import split_sentences

_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŋ": "n"}
)
"""Letters that Unicode does not take apart into a plain letter and an accent, as English redirects write them."""
_APOSTROPHES = re.compile(r"(?<=\w)['’ʻʼ`´](?=\w)")
_PUNCTUATION = re.compile(r"[^\w()]+|_")
_ARTICLE = re.compile(r"(?:the|an?) (?=\w)")

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“", "「": "」"}


@dataclass(frozen=True, slots=True)
class Document:
    """One page.

    Attributes:
        title: as in the data, HTML entities and all; supporting facts name it so.
        sentences: in order, as in the data: those after the first usually begin with their own white space.
        redirects: other titles that lead here.
    """

    title: str
    sentences: tuple[str, ...]
    redirects: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The title to show."""
        return html.unescape(self.title)

    @property
    def text(self) -> str:
        """The whole page."""
        return join_sentences(self.sentences)


def join_sentences(sentences: Iterable[str]) -> str:
    """Return sentences as running text; a space only where the data has no white space of its own."""
    text = ""
    for sentence in sentences:
        gap = " " if text and sentence and not text[-1].isspace() and not sentence[0].isspace() else ""
        text += gap + sentence
    return text


def document(record: Mapping[str, Any]) -> Document:
    """Return a page from `{title, sentences | text, redirects?}`.

    Raises:
        ValueError: says what is wrong with the record.
    """
    title, sentences, text = record.get("title"), record.get("sentences"), record.get("text")
    if not isinstance(title, str) or not title.strip():
        raise ValueError("`title` must be a text that is not empty")
    if isinstance(text, str) and sentences is None:
        sentences = split_sentences(text)
    redirects = record.get("redirects") or ()
    for name, value in (("sentences", sentences), ("redirects", redirects)):
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise ValueError(
                f"`{name}` must be a list of texts" + (", or `text` a text" if name == "sentences" else "")
            )
    return Document(title, tuple(sentences or ()), tuple(redirects))


def fold(title: str) -> str:
    """Return the form in which titles and queries are compared.

    HTML entities resolved, NFKC, case folded, `_` read as a space, white space collapsed, one pair of quotation marks
    round the whole dropped (231 of 231 quoted searches in the published Reflexion logs found nothing for want of this).
    """
    text = unicodedata.normalize("NFKC", html.unescape(title)).casefold().replace("_", " ")
    return unquoted(" ".join(text.split()))


def unquoted(text: str) -> str:
    """Return the text without one pair of quotation marks round the whole."""
    bare = text.strip()
    return bare[1:-1].strip() if len(bare) > 2 and _QUOTES.get(bare[0]) == bare[-1] else bare


def without_parenthesis(folded: str) -> str:
    """Return a folded title without the parenthesis at its end, e.g. `mercury` for `mercury (planet)`."""
    start = folded.rfind(" (")
    return folded[:start] if start > 0 and folded.endswith(")") else folded


def loosened(folded: str) -> str:
    """Return a folded title without accents, `&`, punctuation and articles: redirects usually cover these.

    Wikipedia keeps redirects for such spellings ("Wikipedia:Redirect", section "Purposes of redirects": other
    spellings or punctuation, and titles in ASCII). A parenthesis stays as it is: it tells pages apart.

    Args:
        folded: from `fold`.
    """
    apart = unicodedata.normalize("NFKD", folded.translate(_LETTERS))
    plain = "".join(char for char in apart if not unicodedata.combining(char))
    plain = _APOSTROPHES.sub("", plain).replace("&", " and ")
    words = " ".join(_PUNCTUATION.sub(" ", plain).split())
    article = _ARTICLE.match(words)
    return words[article.end() :] if article else words
