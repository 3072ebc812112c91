"""Whatever is given to be imported becomes a run or is refused on one line that names the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from broken import SOME_BYTES, TEXTS, examples, spoilt, spoilt_lines, torn
from growth import grows_linearly
from hypothesis import example, given
from hypothesis import strategies as st
from reflexion_logs import HEADER, LIGHTHOUSE, TOWNS, attempt, react, record, trial, write

from reflex_bench.core.errors import EnvironmentFailure, UsageError
from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.engine.loading.pddl import UnknownGame
from reflex_bench.envs.alfworld.generator.first.game import generate_one
from reflex_bench.envs.alfworld.official.data import load_official
from reflex_bench.envs.hotpotqa import splits
from reflex_bench.envs.hotpotqa.corpus.corpus import Found, LocalCorpus, Missing, read_pages
from reflex_bench.envs.hotpotqa.corpus.snapshot import Snapshot
from reflex_bench.envs.hotpotqa.corpus.wikipedia import Wikipedia
from reflex_bench.harness.importing.hotpotqa_logs import read_log
from reflex_bench.harness.importing.mapped_rows import import_rows, read_map
from reflex_bench.harness.importing.reflexion_logs import import_reflexion_logs
from reflex_bench.harness.storage.run_data import read_run

pytestmark = pytest.mark.slow

ROWS = [
    {"id": "a", "score": 1.0, "n": 1, "by": {"name": "x"}, "kind": "put"},
    {"id": "b", "score": 0, "n": 1, "by": {"name": "y"}, "kind": "heat"},
]
MAP = "task=id,success=score>=1,trial=n,arm=by.name,type=kind"
GAMES = [
    {"name": "env_0", "memory": ["I looked nowhere."], "is_success": False},
    {"name": "env_1", "memory": [], "is_success": True, "skip": False},
]
LOG = trial(
    1,
    {
        "CORRECT": [record(TOWNS, "Question: {question}\n" + attempt("Tessel", "CORRECT"))],
        "INCORRECT": [
            record(LIGHTHOUSE, "Question: {question}" + HEADER + "\nReflections:\n- Look.\n" + react("x"))
        ],
    },
    "Correct: 1, Incorrect: 1",
)
NO_FILE = TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")) | SOME_BYTES


def refused(read: Callable[[], object], named: str) -> str | None:
    """What a reader says that refuses; None where it reads."""
    try:
        read()
    except UsageError as error:
        text = str(error)
        assert "\n" not in text
        assert named in text
        return text
    return None


@examples(150)
@given(spoilt_lines(ROWS) | torn("".join(json.dumps(row) + "\n" for row in ROWS).encode()) | NO_FILE)
@example(json.dumps(ROWS[0] | {"n": 10**400}).encode())
@example(json.dumps(ROWS[0] | {"id": "\ud800"}).encode())
@example(json.dumps(ROWS[0] | {"kind": "\ud800"}).encode())
@example(b"[" * 20_000)
def test_any_rows_become_a_run_or_are_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "others.jsonl"
    file.write_bytes(data)
    mapping = read_map(MAP)
    if refused(lambda: import_rows(file, mapping, tmp_path / "run"), "others.jsonl") is None:
        assert len(read_run(tmp_path / "run").trials)


@examples(200)
@given(
    TEXTS
    | st.lists(st.sampled_from(["task", "success", "=", ",", "a.b", ">=", "1", " "]), max_size=12).map(
        "".join
    )
)
def test_any_map_names_task_and_success_or_is_refused(text: str) -> None:
    found: list[dict[str, str]] = []
    if refused(lambda: found.append(read_map(text)), "--map") is None:
        assert found[0]["task"]
        assert found[0]["success"]


@examples(100)
@given(spoilt(GAMES) | torn(json.dumps(GAMES).encode()) | NO_FILE)
@example(b"[]")
@example(b"[" * 20_000)
@example(b'[{"name": "\\ud800", "memory": [], "is_success": true}]')
def test_any_games_of_the_reflexion_authors_become_a_run_or_are_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "alfworld_runs" / "root" / "base_run_logs" / "env_results_trial_0.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    if refused(lambda: import_reflexion_logs(tmp_path, tmp_path / "runs"), file.name) is None:
        assert len(read_run(tmp_path / "runs" / "reflexion-alfworld").trials)


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "base_run_logs" / "env_results_trial_0.json").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"cannot read .*env_results_trial_0\.json: Is a directory"):
        import_reflexion_logs(tmp_path, tmp_path / "runs")


@st.composite
def rearranged(draw: st.DrawFn) -> bytes:
    """The lines of a log with some lost, doubled, moved or put in."""
    lines = LOG.split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        other = draw(
            st.sampled_from(lines) | st.sampled_from(["Action: x", "Observation 1: y", "Correct answer:", ""])
        )
        lines[at : at + draw(st.integers(0, 2))] = [other] * draw(st.integers(0, 2))
    return "\n".join(lines).encode()


@examples(200)
@given(rearranged() | torn(LOG.encode()) | NO_FILE)
@example(LOG.replace("TRIAL 1", "TRIAL " + "9" * 5000).encode())
@example(LOG.replace("Correct: 1", "Correct: " + "9" * 5000).encode())
@example(b"\xc3")
@example(LOG.partition("-----")[0].encode())
def test_any_log_of_the_reflexion_authors_is_read_or_refused(tmp_path: Path, data: bytes) -> None:
    file = write(tmp_path, "ReAct/base", "100_questions_1_trials.txt", "")
    file.write_bytes(data)
    if refused(lambda: read_log(file), file.name) is None:
        refused(lambda: import_reflexion_logs(tmp_path, tmp_path / "runs"), "")


@pytest.mark.parametrize(
    "piece",
    ["#", "#\nBEGIN TRIAL 1", "Thought 1: ", "Question: ", "Reflections:\n- ", "Correct answer: ", "-"],
)
def test_a_log_takes_time_in_proportion_to_its_length(tmp_path: Path, piece: str) -> None:
    file = tmp_path / "log.txt"

    def read(length: int) -> None:
        file.write_text(LOG + piece * (length // len(piece)))
        refused(lambda: read_log(file), "log.txt")

    assert grows_linearly(read, 5_000)


FACT = {"question": "Who?", "answer": "x", "type": "bridge", "level": "hard"}
QUESTIONS = [
    {"_id": "a", **FACT, "supporting_facts": [["T", 0]], "context": [["T", ["One.", " Two."]]]},
    {"id": "b", **FACT, "supporting_facts": {"title": ["T"], "sent_id": [0]}, "context": None},
]
PAGES = [
    {"title": "T", "sentences": ["One.", " Two."], "redirects": ["U"]},
    {"title": "V", "text": "One. Two."},
]


@examples(150)
@given(spoilt(QUESTIONS) | spoilt_lines(QUESTIONS) | torn(json.dumps(QUESTIONS).encode()) | NO_FILE)
def test_any_question_file_is_read_or_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "asked.json"
    file.write_bytes(data)
    refused(lambda: splits.file(file), "asked.json")


@examples(100)
@given(spoilt_lines(PAGES) | torn(json.dumps(PAGES[0]).encode()) | NO_FILE)
def test_any_file_of_pages_can_be_searched_or_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(data)

    def search() -> None:
        corpus = LocalCorpus("file", read_pages(file), tmp_path)
        assert corpus.find("T", 3)

    refused(search, "pages.jsonl")


ANSWER = {
    "query": {
        "pages": [{"title": "T", "extract": "One. Two.", "pageprops": {"x": ""}, "links": [{"title": "U"}]}]
    }
}


def offline(file: Path, query: str) -> Found | Missing | str:
    """What a wiki says that has nothing but a snapshot; the request, where that is not in it."""
    try:
        return Wikipedia(file, offline=True).find(query, 3)
    except EnvironmentFailure as error:
        return str(error).rpartition(": ")[2]


@examples(150)
@given(spoilt(ANSWER))
@example(json.dumps({"query": {"pages": [{"pageprops": None, "extract": None}]}}).encode())
@example(json.dumps({"query": {"pages": [{"extract": "One."}]}}).encode())
@example(b"[" * 20_000)
def test_any_answer_of_a_wiki_in_a_snapshot_is_a_page_or_none(tmp_path: Path, answer: bytes) -> None:
    file = tmp_path / "wiki.jsonl"
    file.write_bytes(b"")
    request = str(offline(file, "T")).encode()
    good = b'{"request": "another", "time": "t", "answer": {"query": {}}}\n'
    file.write_bytes(good + b'{"request": "' + request + b'", "time": "t", "answer": ' + answer + b"}\n")
    assert offline(file, "T")
    assert len(Snapshot(file).sha256()) == 64


@examples(60)
@given(TEXTS)
@example("half \ud800 of a pair")
def test_any_query_can_be_put_into_a_request(tmp_path: Path, query: str) -> None:
    file = tmp_path / "wiki.jsonl"
    found = offline(file, query)
    assert isinstance(found, Missing) or found.isascii()


@examples(80)
@given(spoilt(json.loads(generate_one(0, 0).game)) | SOME_BYTES)
@example(b"[" * 20_000)
@example(json.dumps({"grammar": 'Your task is to: x"', "solvable": True, "walkthrough": 7}).encode())
def test_any_game_file_is_played_or_refused(tmp_path: Path, data: bytes) -> None:
    with suppress(UnknownGame):
        assert Game.from_json(data).reset().observation
    folder = tmp_path / "json_2.1.1" / "valid_seen"
    for name, content in (("a", data), ("b", generate_one(0, 1).game)):
        file = folder / f"pick_and_place_simple-{name}" / "trial" / "game.tw-pddl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    assert len(load_official("valid_seen", tmp_path).tasks) in (1, 2)


def test_a_grammar_without_an_end_is_searched_in_time_in_proportion_to_its_length(tmp_path: Path) -> None:
    file = tmp_path / "json_2.1.1" / "valid_seen" / "pick_and_place_simple-a" / "trial" / "game.tw-pddl"
    file.parent.mkdir(parents=True)

    def load(length: int) -> None:
        grammar = "Your task is to: " * (length // 17)
        file.write_text(json.dumps({"grammar": grammar, "solvable": True}))
        assert load_official("valid_seen", tmp_path).tasks[0].text == ""

    assert grows_linearly(load, 8_000)
