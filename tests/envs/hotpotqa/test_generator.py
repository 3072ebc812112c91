from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.hotpotqa.generator import twin as generator

SEED, COUNT = 7, 500


def digest(seed: int, count: int) -> str:
    both = [generator.questions(seed, count), generator.encyclopedia(seed, count)]
    return hashlib.sha256(json.dumps(both, ensure_ascii=False).encode()).hexdigest()


def test_the_bytes_do_not_depend_on_the_hash_seed_of_the_process(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys; from reflex_bench.envs.hotpotqa.generator import twin;"
        "twin.write(3, 40, pathlib.Path(sys.argv[1]))"
    )
    for hash_seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        subprocess.run([sys.executable, "-c", code, str(tmp_path / hash_seed)], env=environment, check=True)
    for name in ("questions.json", "encyclopedia.jsonl"):
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "1" / name).read_bytes()


def test_a_known_seed_gives_known_bytes_on_every_machine_and_python() -> None:
    # Changes whenever a table, a sentence or a draw does; results on the old questions are then not comparable.
    assert digest(7, 60) == "af04347316854ab444d8874b2eed7b0a990854aa7a002a8d5ac4630f7ac78bdc"


def test_another_seed_is_another_world() -> None:
    titles = [{page["title"] for page in generator.encyclopedia(seed, 40)} for seed in (1, 2)]
    assert len(titles[0] & titles[1]) < len(titles[0]) / 10


def test_questions_have_the_official_distractor_schema() -> None:
    questions = generator.questions(SEED, COUNT)
    assert len(questions) == COUNT
    assert len({question["_id"] for question in questions}) == COUNT
    assert [question["_id"] for question in questions] == sorted(question["_id"] for question in questions)
    for question in questions:
        assert list(question) == ["_id", "question", "answer", "type", "level", "supporting_facts", "context"]
        assert question["type"] in ("bridge", "comparison")
        assert question["level"] in ("easy", "medium", "hard")
        paragraphs = dict(question["context"])
        assert len(question["context"]) == len(paragraphs) == 10
        gold = {title for title, _ in question["supporting_facts"]}
        assert len(gold) == 2
        for title, number in question["supporting_facts"]:
            assert 0 <= number < len(paragraphs[title])


def test_every_paragraph_is_a_page_of_the_encyclopedia_word_for_word() -> None:
    pages = {page["title"]: page["sentences"] for page in generator.encyclopedia(SEED, COUNT)}
    for question in generator.questions(SEED, COUNT):
        for title, sentences in question["context"]:
            assert pages[title] == sentences


def test_four_questions_in_five_are_bridges_of_many_forms() -> None:
    asked = generator.compose(SEED, COUNT).asked
    bridges = [one for one in asked if one.draft.type == "bridge"]
    assert len(bridges) == 400
    assert len({one.draft.form for one in bridges}) > 150
    assert len({one.record["question"] for one in asked}) == COUNT


@pytest.mark.parametrize("count", [1, 2, 5, 33, 200])
def test_any_number_of_questions_can_be_had(count: int) -> None:
    assert len(generator.questions(11, count)) == count


def test_five_hundred_questions_come_with_several_hundred_pages_and_a_larger_count_with_more() -> None:
    assert 600 < len(generator.encyclopedia(SEED, COUNT)) < 1000
    assert len(generator.encyclopedia(SEED, 1000)) > 1.8 * len(generator.encyclopedia(SEED, COUNT))


def test_five_hundred_questions_take_less_than_five_seconds() -> None:
    start = time.process_time()
    generator.compose(SEED + 1, COUNT)
    assert time.process_time() - start < 5


def test_changing_what_was_returned_changes_nothing_for_the_next_caller() -> None:
    generator.questions(5, 10)[0]["context"].clear()
    generator.encyclopedia(5, 10)[0]["sentences"].clear()
    assert len(generator.questions(5, 10)[0]["context"]) == 10
    assert all(page["sentences"] for page in generator.encyclopedia(5, 10))


def test_written_files_hold_what_the_functions_return_and_nothing_else_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "twin"
    questions, pages = generator.write(5, 20, folder)
    assert json.loads(questions.read_text(encoding="utf-8")) == generator.questions(5, 20)
    lines = pages.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == generator.encyclopedia(5, 20)
    assert sorted(path.name for path in folder.iterdir()) == ["encyclopedia.jsonl", "questions.json"]


def test_writing_to_what_is_no_folder_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write to .*file"):
        generator.write(5, 20, tmp_path / "file")


def test_no_questions_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="cannot generate 0 questions"):
        generator.questions(7, 0)
