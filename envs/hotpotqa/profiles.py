"""Observation profiles: three wordings of answers over the same corpus and the same actions.

`reflex` (default) shows the true sentences of the data, says where a search shows the whole page, forgets the lookup
with every search, clears the page on a miss, and tells "nothing found" from "nothing more".

`react` says what ReAct's `WikiEnv` says (ysymyth/ReAct@6bdb3a1, wikienv.py), `reflexion` what Reflexion's agents say
through LangChain's `DocstoreExplorer` (noahshinn/reflexion@218cf0e with langchain 0.0.162), their habits included:
naive sentences and doubled full stops in `react`, a lookup that runs on across searches in `reflexion`. Not
reproduced, because they are failures of the program and no semantics: blocked requests as empty observations, crashes
on backslashes and their rewriting, unescaped queries, endless disambiguation, page titles replaced by suggestions,
and (in `reflexion`) deleted line breaks, quoted searches that never match, and one text for every other exception.
The letter case of verbs is not checked, and an empty Search or Lookup is no action.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reflex_bench.envs.hotpotqa.corpus.corpus import Missing
from reflex_bench.envs.hotpotqa.corpus.documents import Document, fold, join_sentences

# Sentences shown by a search (ReAct, wikienv.py).
SHOWN = 5

WHOLE_PAGE = "(whole page shown)"
"""Ends what a search shows in the profile `reflex` where a lookup could find nothing more."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The texts and habits of one profile.

    Attributes:
        name: for the record.
        max_steps: step cap of the original driver.
        similar: titles that a miss lists.
        opened: (query, page) -> observation of a search that found its page.
        missed: (query, miss) -> observation of a search that did not.
        units: page -> what a lookup walks through.
        miss_clears_page: whether a lookup after a miss finds no page.
        search_resets_lookup: whether a repeated keyword starts anew on a new page.
        folds_keyword: whether two keywords that differ in letter case are the same.
        hit: lookup result, with `number`, `total` and `text`.
        none: lookup that finds nothing.
        exhausted: lookup past the last result.
        no_page: lookup without a page.
        invalid: answer to anything else, with `command`.
        verdicts: answers to Finish: (right, wrong, not told).
        answers_unread: whether `invalid` also answers a reply without an action; else the text of the prompts does.
    """

    name: str
    max_steps: int
    similar: int
    opened: Callable[[str, Document], str]
    missed: Callable[[str, Missing], str]
    units: Callable[[Document], tuple[str, ...]]
    miss_clears_page: bool
    search_resets_lookup: bool
    folds_keyword: bool
    hit: str
    none: str
    exhausted: str
    no_page: str
    invalid: str
    verdicts: tuple[str, str, str]
    answers_unread: bool = True


def _true_sentences(page: Document) -> tuple[str, ...]:
    return tuple(sentence.strip() for sentence in page.sentences if sentence.strip())


def _reflex_opened(query: str, page: Document) -> str:
    sentences = [sentence for sentence in page.sentences if sentence.strip()]
    text = join_sentences(sentences[:SHOWN]).strip()
    # Most pages are short: without the note a reader cannot know that looking further down is in vain.
    text = (f"{text} {WHOLE_PAGE}" if len(sentences) <= SHOWN else text) if text else "The page is empty."
    # A page under another title than was asked for is never opened in silence.
    return text if fold(query) == fold(page.title) else f"(Page: {page.name}) {text}"


def _reflex_missed(query: str, miss: Missing) -> str:
    return f"Could not find [{query}]." + (f" Similar: [{'; '.join(miss.similar)}]." if miss.similar else "")


def react_sentences(page: Document) -> tuple[str, ...]:
    """Split as ReAct does: at line breaks and at every full stop with a space, each piece with a full stop appended."""
    lines = [line.strip() for line in page.text.split("\n")]
    pieces = [piece.strip() for line in lines for piece in line.split(". ")]
    return tuple(f"{piece}." for piece in pieces if piece)


def _react_opened(query: str, page: Document) -> str:
    return " ".join(react_sentences(page)[:SHOWN])


def _react_missed(query: str, miss: Missing) -> str:
    # WikiEnv asks again for an ambiguous title in brackets, and its answer names what it asked for.
    asked = f"[{query}]" if miss.ambiguous else query
    return f"Could not find {asked}. Similar: {list(miss.similar)}."


def paragraphs(page: Document) -> tuple[str, ...]:
    """Split as LangChain does: at empty lines."""
    return tuple(page.text.split("\n\n"))


def _reflexion_opened(query: str, page: Document) -> str:
    return paragraphs(page)[0]


def _reflexion_missed(query: str, miss: Missing) -> str:
    return f"Could not find [{query}]. Similar: {list(miss.similar)}"


REFLEX = Profile(
    name="reflex",
    max_steps=7,
    similar=5,
    opened=_reflex_opened,
    missed=_reflex_missed,
    units=_true_sentences,
    miss_clears_page=True,
    search_resets_lookup=True,
    folds_keyword=True,
    hit="(Result {number} / {total}) {text}",
    none="No results.",
    exhausted="No more results.",
    no_page="No page is open. Search for one first.",
    invalid="Not an action. The actions are Search[title], Lookup[words] and Finish[answer].",
    verdicts=("The answer is correct.", "The answer is wrong.", "The answer has been handed in."),
    answers_unread=False,
)

REACT = Profile(
    name="react",
    max_steps=7,
    similar=5,
    opened=_react_opened,
    missed=_react_missed,
    units=react_sentences,
    miss_clears_page=False,
    search_resets_lookup=True,
    folds_keyword=False,
    hit="(Result {number} / {total}) {text}",
    none="No more results.\n",
    exhausted="No more results.\n",
    no_page="No more results.\n",
    invalid="Invalid action: {command}",
    verdicts=("Episode finished, reward = 1\n", "Episode finished, reward = 0\n", "Episode finished\n"),
)

REFLEXION = Profile(
    name="reflexion",
    max_steps=6,
    similar=10,
    opened=_reflexion_opened,
    missed=_reflexion_missed,
    units=paragraphs,
    miss_clears_page=True,
    search_resets_lookup=False,
    folds_keyword=True,
    hit="(Result {number}/{total}) {text}",
    none="No Results",
    exhausted="No More Results",
    no_page=(
        "The last page Searched was not found, so you cannot Lookup a keyword in it. "
        "Please try one of the similar pages given."
    ),
    invalid="Invalid Action. Valid Actions are Lookup[<topic>] Search[<topic>] and Finish[<answer>].",
    verdicts=("Answer is CORRECT", "Answer is INCORRECT", "Answer received"),
)

PROFILES = {profile.name: profile for profile in (REFLEX, REACT, REFLEXION)}


def matching(units: Sequence[str], keyword: str) -> tuple[str, ...]:
    """Return the units that contain the keyword, whatever the letter case."""
    wanted = keyword.lower()
    return tuple(unit for unit in units if wanted in unit.lower())
