"""The MediaWiki corpus against a wiki on the loopback interface."""

from __future__ import annotations

import json
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from reflex_bench.core.errors import EnvironmentFailure, UsageError
from reflex_bench.envs.base import Task
from reflex_bench.envs.hotpotqa.corpus.corpus import Found, Missing
from reflex_bench.envs.hotpotqa.corpus.wikipedia import Wikipedia
from reflex_bench.envs.hotpotqa.episode import HotpotEpisode
from reflex_bench.envs.hotpotqa.profiles import PROFILES
from reflex_bench.envs.hotpotqa.questions import Question
from reflex_bench.envs.hotpotqa.scoring import SuccessRule

Answer = tuple[int, dict[str, str], bytes]
EXTRACTS = {
    "Corvel Lake": "Corvel Lake is a lake. It was dammed in 1871.\n\n\n== Dam ==\nThe dam is 12 m high.",
    "AT&T #1": "AT&T is a firm.",
}


class Wiki:
    """A MediaWiki with a few pages; `script` holds answers that are given first."""

    def __init__(self) -> None:
        self.script: list[Answer] = []
        self.asked: list[dict[str, str]] = []
        self.agents: list[str] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
                owner.asked.append(query)
                owner.agents.append(self.headers["User-Agent"])
                status, headers, body = owner.script.pop(0) if owner.script else owner.answer(query)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/w/api.php"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def answer(self, query: dict[str, str]) -> Answer:
        if "srsearch" in query:
            hits = [{"ns": 0, "title": f"{query['srsearch']} {n}"} for n in range(1, 9)]
            return ok({"search": hits[: int(query["srlimit"])]})
        title = {"corvel": "Corvel Lake"}.get(query["titles"], query["titles"])
        if query["prop"] == "links":
            return ok(
                {"pages": [{"title": title, "links": [{"title": "Orm (river)"}, {"title": "Orm (town)"}]}]}
            )
        if title == "Orm":
            return ok(
                {
                    "pages": [
                        {"title": title, "extract": "Orm may refer to:", "pageprops": {"disambiguation": ""}}
                    ]
                }
            )
        if title in EXTRACTS:
            return ok({"pages": [{"title": title, "extract": EXTRACTS[title], "revisions": [{"revid": 7}]}]})
        return ok({"pages": [{"title": title, "missing": True}]})

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def ok(query: dict[str, Any]) -> Answer:
    return (
        200,
        {"Content-Type": "application/json"},
        json.dumps({"batchcomplete": True, "query": query}).encode(),
    )


@pytest.fixture
def wiki() -> Iterator[Wiki]:
    server = Wiki()
    yield server
    server.close()


@pytest.fixture
def corpus(wiki: Wiki, tmp_path: Path) -> Callable[..., Wikipedia]:
    def made(**options: Any) -> Wikipedia:
        return Wikipedia(tmp_path / "snapshot.jsonl", wiki.url, pause=0.01, **options)

    return made


def test_a_page_comes_as_sentences_that_join_to_its_text(corpus: Callable[..., Wikipedia]) -> None:
    found = corpus().find("Corvel Lake", 5)
    assert isinstance(found, Found)
    assert found.document.title == "Corvel Lake"
    assert found.document.text == EXTRACTS["Corvel Lake"]
    assert [s.strip() for s in found.document.sentences] == [
        "Corvel Lake is a lake.",
        "It was dammed in 1871.",
        "== Dam ==",
        "The dam is 12 m high.",
    ]


def test_requests_name_themselves_and_follow_redirects(wiki: Wiki, corpus: Callable[..., Wikipedia]) -> None:
    found = corpus().find("corvel", 5)
    assert isinstance(found, Found)
    assert found.document.title == "Corvel Lake"
    assert wiki.asked[0]["redirects"] == "1"
    assert all(agent.startswith("reflex-bench/") and "https://" in agent for agent in wiki.agents)


def test_special_characters_are_escaped_and_quotes_dropped(
    wiki: Wiki, corpus: Callable[..., Wikipedia]
) -> None:
    assert isinstance(corpus().find('"Corvel Lake"', 5), Found)
    assert wiki.asked[-1]["titles"] == "Corvel Lake"
    assert isinstance(corpus().find("A+B & C=D", 2), Missing)
    assert wiki.asked[-2]["titles"] == "A+B & C=D"


def test_a_query_that_no_title_can_be_is_searched_for(wiki: Wiki, corpus: Callable[..., Wikipedia]) -> None:
    # `|` would ask for two pages, `#` for a section.
    for query in ("Corvel Lake|Orm", "AT&T #1", "x" * 300):
        assert isinstance(corpus().find(query, 5), Missing)
    assert all("titles" not in query for query in wiki.asked)
    assert corpus().find("", 5) == Missing(())


def test_a_missing_page_lists_what_the_wiki_finds(corpus: Callable[..., Wikipedia]) -> None:
    assert corpus().find("Nowhere", 3) == Missing(("Nowhere 1", "Nowhere 2", "Nowhere 3"))


def test_a_disambiguation_page_is_a_list(corpus: Callable[..., Wikipedia]) -> None:
    assert corpus().find("Orm", 5) == Missing(("Orm (river)", "Orm (town)"), ambiguous=True)


def test_the_snapshot_answers_without_a_net(wiki: Wiki, corpus: Callable[..., Wikipedia]) -> None:
    queries = ["Corvel Lake", "Orm", "Nowhere"]
    live = [corpus().find(query, 5) for query in queries]
    asked = len(wiki.asked)
    assert [corpus().find(query, 5) for query in queries] == live
    assert len(wiki.asked) == asked
    wiki.close()
    offline = corpus(offline=True)
    assert [offline.find(query, 5) for query in queries] == live
    with pytest.raises(EnvironmentFailure, match=r"not in the snapshot snapshot.jsonl: .*titles=Elsewhere"):
        offline.find("Elsewhere", 5)


def test_the_snapshot_keeps_revision_and_time_and_has_a_hash(
    corpus: Callable[..., Wikipedia], tmp_path: Path
) -> None:
    live = corpus()
    live.find("Corvel Lake", 5)
    (record,) = map(json.loads, (tmp_path / "snapshot.jsonl").read_text().splitlines())
    assert record["answer"]["query"]["pages"][0]["revisions"] == [{"revid": 7}]
    assert record["time"].endswith("+00:00")
    assert live.sha256 is None
    before = corpus(offline=True).sha256
    assert before is not None
    assert len(before) == 64
    live.find("Orm", 5)
    assert corpus(offline=True).sha256 != before


def test_a_torn_snapshot_line_is_asked_for_again(
    wiki: Wiki, corpus: Callable[..., Wikipedia], tmp_path: Path
) -> None:
    corpus().find("Corvel Lake", 5)
    path = tmp_path / "snapshot.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert isinstance(corpus().find("Corvel Lake", 5), Found)
    assert len(wiki.asked) == 2
    assert isinstance(corpus(offline=True).find("Corvel Lake", 5), Found)


def test_a_file_that_is_no_snapshot_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello\nworld\n")
    with pytest.raises(UsageError, match="is no snapshot"):
        Wikipedia(path)


BUSY: Answer = (429, {"Retry-After": "0"}, b"slow down")


def test_a_busy_wiki_is_asked_again(wiki: Wiki, corpus: Callable[..., Wikipedia]) -> None:
    wiki.script = [BUSY, (503, {}, b""), BUSY]
    assert isinstance(corpus().find("Corvel Lake", 5), Found)
    assert len(wiki.asked) == 4


@pytest.mark.parametrize(
    ("answers", "message", "asked"),
    [
        ([BUSY] * 4, "HTTP 429", 4),
        ([(429, {"Retry-After": "3600"}, b"")], "HTTP 429", 1),
        ([(403, {}, b"Please set a user-agent and respect our robot policy")], "HTTP 403", 1),
        ([(200, {}, b"<html>Please set a user-agent</html>")], "not JSON", 1),
        ([(200, {}, b'{"error": {"code": "ratelimited", "info": "x"}}')], "with an error: ratelimited", 1),
        ([(200, {}, b"[]")], "without a result", 1),
        ([(200, {"Content-Length": "900"}, b"{")] * 4, "IncompleteRead", 4),
    ],
)
def test_trouble_is_a_failure_of_the_environment_and_is_not_kept(
    wiki: Wiki, corpus: Callable[..., Wikipedia], answers: list[Answer], message: str, asked: int
) -> None:
    wiki.script = list(answers)
    task = Task("q1", "bridge", "Where?", "", Question("gold", (), ()))
    episode = HotpotEpisode(task, corpus(), PROFILES["react"], SuccessRule(), True)
    with pytest.raises(EnvironmentFailure, match=message):
        episode.step("Search[Corvel Lake]")
    assert len(wiki.asked) == asked
    wiki.script = []
    assert episode.step("Search[Corvel Lake]").observation.startswith(
        "Corvel Lake is a lake. It was dammed in 1871."
    )


def test_a_wiki_out_of_reach_is_a_failure_of_the_environment(
    wiki: Wiki, corpus: Callable[..., Wikipedia]
) -> None:
    wiki.close()
    with pytest.raises(EnvironmentFailure, match="Wikipedia did not answer: URLError"):
        corpus(attempts=2).find("Corvel Lake", 5)
