"""Observations against what the original programs said.

`data/hotpotqa/hotpotqa_env_vectors.jsonl` holds traces of ReAct's WikiEnv and LangChain's DocstoreExplorer on pages
written for the purpose. What is deliberately not reproduced stands in `NOT_REPRODUCED`, with what happens instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from reflex_bench.envs.base import Task
from reflex_bench.envs.hotpotqa.corpus.corpus import Corpus, Found, LocalCorpus, Missing
from reflex_bench.envs.hotpotqa.corpus.documents import Document
from reflex_bench.envs.hotpotqa.episode import HotpotEpisode
from reflex_bench.envs.hotpotqa.profiles import PROFILES, REFLEX
from reflex_bench.envs.hotpotqa.questions import Question
from reflex_bench.envs.hotpotqa.scoring import SuccessRule

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "hotpotqa" / "hotpotqa_env_vectors.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
# vector -> {number of the step: observation here}; the original crashed on, or rewrote, backslashes in a page.
NOT_REPRODUCED: dict[str, dict[int, str]] = {
    "backslash-u-in-page-crashes": {0: r"The escape \u00e9 is shown in this text. More text.."},
    "backslash-x-in-page-crashes": {0: r"Use the path \x in this text. More text.."},
    "backslash-n-in-page-becomes-newline": {0: r"The macro \nu is a greek letter here. More text.."},
    # Verbs are accepted in any letter case, so this is a search (of a wiki that has nothing).
    "invalid-counts-a-step": {0: "Could not find x. Similar: []."},
}
# Answered by the corpus with an EnvironmentFailure, see test_hotpotqa_wikipedia.py.
NO_OBSERVATION = "http-403-page-is-silently-an-empty-observation"


class Html(HTMLParser):
    """Texts of the search results, paragraphs and lists of a MediaWiki page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.results: list[str] = []
        self.paragraphs: list[str] = []
        self.lists: list[str] = []
        self._into: list[str] | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("div", "p", "ul"):
            self._into = {"div": self.results, "p": self.paragraphs, "ul": self.lists}[tag]
            self._into.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("div", "p", "ul"):
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into[-1] += data


class RecordedWiki:
    """The pages of a vector, found by the address that WikiEnv asked for."""

    kind = "recorded"
    size = None
    sha256 = None

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = pages

    def find(self, query: str, similar: int) -> Found | Missing:
        page = Html(self._pages.get(query.replace(" ", "+"), ""))
        texts = page.paragraphs + page.lists
        if any("may refer to:" in text for text in texts):
            return Missing(tuple(Html(self._pages[f"[{query}]"]).results[:similar]), ambiguous=True)
        if not texts:
            return Missing(tuple(page.results[:similar]))
        return Found(Document(query, ("\n".join(text for text in texts if len(text.split(" ")) > 2),)))


class RecordedDocstore:
    """The pages of a vector; on a miss its stand-in for Wikipedia listed every title."""

    kind = "recorded"
    size = None
    sha256 = None

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = pages

    def find(self, query: str, similar: int) -> Found | Missing:
        if query in self._pages:
            return Found(Document(query, (self._pages[query],)))
        return Missing(tuple(self._pages)[:similar])


def episode(corpus: Corpus, profile: str, answer: str = "gold", tells_verdict: bool = True) -> HotpotEpisode:
    task = Task("q1", "bridge", "Where?", "", Question(answer, (), ()))
    return HotpotEpisode(task, corpus, PROFILES[profile], SuccessRule(), tells_verdict)


NO_PAGE = (
    "The last page Searched was not found, so you cannot Lookup a keyword in it. "
    "Please try one of the similar pages given."
)
REACT = [v for v in VECTORS if v["impl"].startswith("react") and v["name"] != NO_OBSERVATION]
DOCSTORE = [v for v in VECTORS if v["impl"].startswith("langchain")]


@pytest.mark.parametrize("vector", REACT, ids=lambda v: v["name"])
def test_the_react_profile_says_what_wikienv_said(vector: dict[str, Any]) -> None:
    played = episode(RecordedWiki(vector["pages"]), "react")
    for number, step in enumerate(vector["trace"]):
        result = played.step(step["action"])
        expected = NOT_REPRODUCED.get(vector["name"], {}).get(number, step.get("obs"))
        assert result.observation == expected
        if "error" not in step:
            assert result.done is step["done"]
            assert played.result()["answer"] == step["answer"]


@pytest.mark.parametrize("vector", DOCSTORE, ids=lambda v: v["name"])
def test_the_reflexion_profile_says_what_docstore_explorer_said(vector: dict[str, Any]) -> None:
    played = episode(RecordedDocstore(vector["docs"]), "reflexion")
    for step in vector["trace"]:
        verb, argument = step["action"]
        observation = played.step(f"{verb.capitalize()}[{argument}]").observation
        # Reflexion's agent turned the ValueError into its own text.
        assert observation == step.get("obs", NO_PAGE)


LAKE = Document(
    "Corvel Lake",
    (
        "Corvel Lake is a lake near St. Orm.",
        " It was dammed in 1871.",
        " The dam is 12 m high.",
        " Dr. Hale built the dam.",
        " ",
        " It freezes in winter.",
        " Fishing is banned.",
    ),
)
TOWN = Document(
    "Corvel (town)", ("Corvel is a town.", " Its dam burst in 1902.", " The dam was not rebuilt.")
)
PAGES = LocalCorpus("split", [LAKE, TOWN, Document("Empty", ("",))])


def observations(profile: str, *commands: str) -> list[str]:
    played = episode(PAGES, profile)
    return [played.step(command).observation for command in commands]


def test_the_reflex_profile_shows_five_true_sentences() -> None:
    assert observations("reflex", "Search[corvel lake]") == [
        "Corvel Lake is a lake near St. Orm. It was dammed in 1871. The dam is 12 m high. Dr. Hale built the dam. "
        "It freezes in winter."
    ]


def test_the_reflex_profile_names_a_page_that_has_another_title() -> None:
    town = "Corvel is a town. Its dam burst in 1902. The dam was not rebuilt. (whole page shown)"
    assert observations("reflex", "Search[Corvel]", "Search[Corvel (town)]", "Search[the Corvel lake]") == [
        f"(Page: Corvel (town)) {town}",
        town,
        f"(Page: Corvel Lake) {observations('reflex', 'Search[Corvel Lake]')[0]}",
    ]


def test_a_search_says_that_the_whole_page_is_shown_where_no_lookup_could_find_more() -> None:
    def shown(profile: str, *sentences: str) -> str:
        played = episode(LocalCorpus("split", [Document("Dam", sentences)]), profile)
        return played.step("Search[Dam]").observation

    five = ("One.", " Two.", " Three.", " Four.", " Five.")
    assert shown("reflex", *five) == "One. Two. Three. Four. Five. (whole page shown)"
    assert shown("reflex", *five, " ", "") == "One. Two. Three. Four. Five. (whole page shown)"
    assert shown("reflex", *five, " Six.") == "One. Two. Three. Four. Five."
    assert shown("react", *five) == "One. Two. Three. Four. Five.."
    assert shown("reflexion", *five) == "One. Two. Three. Four. Five."


def test_the_reflex_profile_tells_no_results_from_no_more() -> None:
    assert observations(
        "reflex", "Lookup[dam]", "Search[Corvel Lake]", *["Lookup[DAM]"] * 4, "Lookup[bridge]"
    ) == [
        "No page is open. Search for one first.",
        observations("reflex", "Search[Corvel Lake]")[0],
        "(Result 1 / 3) It was dammed in 1871.",
        "(Result 2 / 3) The dam is 12 m high.",
        "(Result 3 / 3) Dr. Hale built the dam.",
        "No more results.",
        "No results.",
    ]


def test_a_changed_keyword_restarts_the_lookup() -> None:
    seen = observations("reflex", "Search[Corvel Lake]", "Lookup[dam]", "Lookup[winter]", "Lookup[dam]")
    assert seen[1:] == [
        "(Result 1 / 3) It was dammed in 1871.",
        "(Result 1 / 1) It freezes in winter.",
        "(Result 1 / 3) It was dammed in 1871.",
    ]


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("reflex", "(Result 1 / 2) Its dam burst in 1902."),
        ("react", "(Result 1 / 2) Its dam burst in 1902."),
        # A habit of the original that the profile keeps (Future-House/aviary#99).
        ("reflexion", "No More Results"),
    ],
)
def test_the_same_lookup_on_a_second_page(profile: str, expected: str) -> None:
    seen = observations(profile, "Search[Corvel Lake]", "Lookup[dam]", "Search[Corvel (town)]", "Lookup[dam]")
    assert seen[3] == expected


@pytest.mark.parametrize(
    ("profile", "miss", "lookup"),
    [
        ("reflex", "Could not find [The dams]. Similar: [Empty].", "No page is open. Search for one first."),
        ("react", "Could not find The dams. Similar: ['Empty'].", "(Result 2 / 3) The dam is 12 m high."),
        ("reflexion", "Could not find [The dams]. Similar: ['Empty']", PROFILES["reflexion"].no_page),
    ],
)
def test_what_a_miss_leaves_behind(profile: str, miss: str, lookup: str) -> None:
    class Corvels(RecordedDocstore):
        def find(self, query: str, similar: int) -> Found | Missing:
            return PAGES.find(query, similar) if "Lake" in query else Missing(("Empty",))

    played = episode(Corvels({}), profile)
    seen = [
        played.step(c).observation
        for c in ("Search[Corvel Lake]", "Lookup[dam]", "Search[The dams]", "Lookup[dam]")
    ]
    assert seen[2:] == [miss, lookup]


def test_a_miss_without_similar_titles_lists_none() -> None:
    assert observations("reflex", "Search[zzz]") == ["Could not find [zzz]."]
    assert observations("reflex", "Search[Empty]") == ["The page is empty."]


@pytest.mark.parametrize(
    ("profile", "right", "wrong"),
    [
        ("reflex", "The answer is correct.", "The answer is wrong."),
        ("react", "Episode finished, reward = 1\n", "Episode finished, reward = 0\n"),
        ("reflexion", "Answer is CORRECT", "Answer is INCORRECT"),
    ],
)
def test_the_verdict_is_told_only_with_oracle_feedback(profile: str, right: str, wrong: str) -> None:
    def finished(answer: str, tells_verdict: bool) -> tuple[str, bool, bool]:
        result = episode(PAGES, profile, "The Gold", tells_verdict).step(f"Finish[{answer}]")
        return result.observation, result.won, result.done

    assert finished("gold.", True) == (right, True, True)
    assert finished("silver", True) == (wrong, False, True)
    told = finished("gold.", False), finished("silver", False)
    assert [verdict[1:] for verdict in told] == [(True, True), (False, True)]
    assert told[0][0] == told[1][0]


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        ("reflex", "Not an action. The actions are Search[title], Lookup[words] and Finish[answer]."),
        ("react", "Invalid action: Compare[{a}]"),
        (
            "reflexion",
            "Invalid Action. Valid Actions are Lookup[<topic>] Search[<topic>] and Finish[<answer>].",
        ),
    ],
)
def test_a_command_that_is_no_action_is_not_valid(profile: str, text: str) -> None:
    result = episode(PAGES, profile).step("Compare[{a}]")
    assert (result.observation, result.valid, result.done) == (text, False, False)


def test_profiles_have_the_step_limits_of_their_originals() -> None:
    assert {name: profile.max_steps for name, profile in PROFILES.items()} == {
        "reflex": 7,
        "react": 7,
        "reflexion": 6,
    }
    assert {name: profile.similar for name, profile in PROFILES.items()} == {
        "reflex": 5,
        "react": 5,
        "reflexion": 10,
    }


def test_an_episode_knows_nothing_of_another() -> None:
    first, second = episode(PAGES, "reflex"), episode(PAGES, "reflex")
    first.step("Search[Corvel Lake]")
    first.step("Finish[gold]")
    assert second.step("Lookup[dam]").observation == REFLEX.no_page
    assert second.result()["answer"] is None


def test_the_result_counts_gold_pages_and_scores_officially() -> None:
    facts = (("Corvel Lake", 1), ("Corvel Lake", 2), ("Bo &amp; Co", 0))
    pages = LocalCorpus("split", [LAKE, TOWN, Document("Bo &amp; Co", ("Bo & Co is a firm.",))])
    task = Task("q1", "bridge", "Where?", "", Question("the river bank", facts, ()))
    played = HotpotEpisode(task, pages, REFLEX, SuccessRule("f1", 0.8), True)
    assert played.reset() == "Question: Where?"
    assert (played.result()["answer"], played.result()["forced_finish"]) == (None, True)
    played.step("Search[Corvel (town)]")
    assert (played.result()["gold_pages"], played.result()["gold_pages_reached"]) == (2, 0)
    played.step("Search[Bo & Co]")
    assert played.result()["gold_pages_reached"] == 1
    played.step("Search[corvel lake]")
    played.step("Search[Corvel Lake]")
    assert played.result()["gold_pages_reached"] == 2
    assert played.step("Finish[bank of river]").won is True
    # tokens: bank, of, river against river, bank
    assert {
        key: played.result()[key] for key in ("answer", "em", "precision", "recall", "forced_finish")
    } == {
        "answer": "bank of river",
        "em": 0.0,
        "precision": pytest.approx(2 / 3),
        "recall": 1.0,
        "forced_finish": False,
    }
    assert played.result()["f1"] == pytest.approx(0.8)


def test_the_empty_answer_is_an_answer_and_not_a_success() -> None:
    played = episode(PAGES, "reflex", answer="The The")
    result = played.step("Finish[]")
    assert (result.won, result.done) == (False, True)
    assert (played.result()["answer"], played.result()["em"], played.result()["forced_finish"]) == (
        "",
        1.0,
        False,
    )
