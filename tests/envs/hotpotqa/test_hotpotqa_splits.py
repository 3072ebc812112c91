"""Reading questions, official samples, and what is refused."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.hotpotqa import splits
from reflex_bench.envs.hotpotqa.corpus.documents import Document
from reflex_bench.envs.hotpotqa.questions import Question, task
from reflex_bench.envs.sampling import Sampling

REAL = Path(__file__).parents[4] / "shared" / "data" / "hotpotqa"

OFFICIAL: dict[str, Any] = {
    "_id": "q1",
    "question": " Who built\nthe dam of Corvel Lake? ",
    "answer": "Dr. Hale",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Corvel Lake", 1], ["Bo &amp; Co", 0]],
    "context": [["Corvel Lake", ["A lake.", " With a dam."]], ["Bo &amp; Co", ["A firm."]]],
}
HUB: dict[str, Any] = {
    **{key: OFFICIAL[key] for key in ("question", "answer", "type", "level")},
    "id": "q1",
    "supporting_facts": {"title": ["Corvel Lake", "Bo &amp; Co"], "sent_id": [1, 0]},
    "context": {
        "title": ["Corvel Lake", "Bo &amp; Co"],
        "sentences": [["A lake.", " With a dam."], ["A firm."]],
    },
}


def test_both_schemas_give_the_same_task() -> None:
    one, other = task(OFFICIAL), task(HUB)
    assert one == other
    assert one.data == other.data == Question(
        "Dr. Hale",
        (("Corvel Lake", 1), ("Bo &amp; Co", 0)),
        (Document("Corvel Lake", ("A lake.", " With a dam.")), Document("Bo &amp; Co", ("A firm.",))),
        "hard",
    )  # fmt: skip
    assert (one.id, one.type, one.text) == ("q1", "bridge", "Who built the dam of Corvel Lake?")


@pytest.mark.parametrize(
    "change",
    [{"question": "Who?"}, {"answer": "Hale"}, {"type": "comparison"}, {"context": OFFICIAL["context"][:1]}],
)
def test_the_fingerprint_changes_with_the_task(change: dict[str, Any]) -> None:
    assert task({**OFFICIAL, **change}).fingerprint != task(OFFICIAL).fingerprint


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["list", "lines", "bom"])
def test_official_files_are_lists_or_lines(tmp_path: Path, form: str) -> None:
    records = [{**OFFICIAL, "_id": "b"}, {**HUB, "id": "a"}]
    text = json.dumps(records, indent=1) if form == "list" else "\n".join(map(json.dumps, records)) + "\n\n"
    source = splits.file(write(tmp_path / "dev.json", ("\ufeff" if form == "bom" else "") + text))
    assert [each.id for each in source.tasks] == ["b", "a"]
    split = splits.choose(source)
    assert [each.id for each in split.tasks] == ["a", "b"]
    assert split.name == "file:dev.json"


BAD = [
    ('{"_id": "x"', "line 2: not JSON"),
    ("7", "line 2: a int, not an object"),
    (json.dumps({**OFFICIAL, "_id": None}), "line 2: no `_id` or `id`"),
    (json.dumps({**OFFICIAL, "_id": "q2", "question": " "}), "line 2: no `question`"),
    (json.dumps({key: OFFICIAL[key] for key in ("_id", "question", "type")}), "line 2: no `answer`"),
    (json.dumps({**OFFICIAL, "_id": 1.5}), "line 2: the id is the float 1.5; it must be"),
    (json.dumps({**OFFICIAL, "_id": "q2", "answer": " "}), "line 2: no `answer`"),
    (
        json.dumps({**OFFICIAL, "_id": "q2", "answer": ["Paris"]}),
        'line 2: `answer` is the list ["Paris"]; it must be',
    ),
    (
        json.dumps({**OFFICIAL, "_id": "q2", "answer": 1998}),
        "line 2: `answer` is the int 1998; it must be one text",
    ),
    (json.dumps({**OFFICIAL, "_id": "q2", "answer": True}), "line 2: `answer` is the bool true"),
    (json.dumps({**OFFICIAL, "_id": "q2", "type": "yesno"}), "line 2: `type` is 'yesno'"),
    (json.dumps({**OFFICIAL, "_id": "q2", "type": "compositional"}), "line 2: `type` is 'compositional'"),
    (
        json.dumps({**OFFICIAL, "_id": "q2", "supporting_facts": [["A"]]}),
        "line 2: `supporting_facts` is neither",
    ),
    (json.dumps({**OFFICIAL, "_id": "q2", "supporting_facts": [["A", "0"]]}), "a fact is"),
    (
        json.dumps({**OFFICIAL, "_id": "q2", "context": [["A", "text"]]}),
        "line 2: `context` holds the page 'A'",
    ),
    (
        json.dumps({**OFFICIAL, "_id": "q2", "context": {"title": ["A"], "sentences": []}}),
        "line 2: `context` is neither",
    ),
    (json.dumps(OFFICIAL), "line 2: the id 'q1' stands at line 1 too"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_malformed_record_is_named_by_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "dev.jsonl", json.dumps(OFFICIAL) + "\n" + line + "\n")
    with pytest.raises(UsageError) as raised:
        splits.file(path)
    assert "1 malformed" in str(raised.value)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_id_may_be_a_whole_number(tmp_path: Path) -> None:
    rows = [{**OFFICIAL, "_id": 17}, {**OFFICIAL, "_id": 0}]
    source = splits.file(write(tmp_path / "dev.json", json.dumps(rows)))
    assert [each.id for each in source.tasks] == ["17", "0"]


def test_a_parquet_file_is_named_with_the_way_to_json_lines_which_is_read(tmp_path: Path) -> None:
    import pandas

    rows = [{**OFFICIAL, "supporting_facts": {"title": ["A"], "sent_id": [0]},
             "context": {"title": ["A"], "sentences": [["It is."]]}}]  # fmt: skip
    pandas.DataFrame(rows).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(UsageError, match="is Parquet; write it as JSON lines first") as raised:
        splits.file(tmp_path / "x.parquet")
    lines = tmp_path / "questions.jsonl"
    said = str(raised.value).partition(": pandas.")[2]
    assert said == "read_parquet(FILE).to_json('questions.jsonl', orient='records', lines=True)"
    pandas.read_parquet(tmp_path / "x.parquet").to_json(lines, orient="records", lines=True)
    assert splits.file(lines).tasks[0].data.facts == (("A", 0),)


def test_every_malformed_record_is_counted_and_the_first_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "dev.jsonl", "{}\n" * 7)
    with pytest.raises(UsageError, match=r"7 malformed: line 1: .*; line 5: .*; and 2 more"):
        splits.file(path)


@pytest.mark.parametrize(
    ("text", "message"), [("", "has no questions"), ("[]", "has no questions"), ("[{", "is not JSON")]
)
def test_a_file_without_questions_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        splits.file(write(tmp_path / "dev.json", text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*none\.json: No such file"):
        splits.file(tmp_path / "none.json")


def test_published_samples_are_the_positions_of_their_authors() -> None:
    # From pandas' sample(100, random_state=42) and ReAct's notebook.
    reflexion, react = splits.positions("reflexion-100"), splits.positions("react-500")
    assert reflexion[:3] == [4367, 1867, 3504]
    assert react[:10] == [3687, 6238, 5388, 3522, 3824, 2866, 1551, 2544, 1557, 5762]
    assert (len(set(reflexion)), len(set(react))) == (100, 500)


def numbered(count: int) -> splits.QuestionSource:
    records = (
        {**OFFICIAL, "_id": f"q{n:04}", "type": "comparison" if n % 5 == 0 else "bridge"}
        for n in range(count)
    )
    return splits.QuestionSource("dev", tuple(map(task, records)))


def test_a_published_sample_is_taken_by_position_and_sorted_by_id() -> None:
    split = splits.choose(numbered(7405), sample="react-500")
    assert len(split.tasks) == 500
    assert {"q3687", "q6238", "q5388"} <= {each.id for each in split.tasks}
    assert [each.id for each in split.tasks] == sorted(each.id for each in split.tasks)
    assert split.name == "dev/react-500"


def test_a_published_sample_of_something_else_is_refused() -> None:
    with pytest.raises(
        UsageError, match="needs the 7405 development questions in their official order; dev has 9"
    ):
        splits.choose(numbered(9), sample="react-500")
    with pytest.raises(UsageError, match="unknown sample 'react-50'; did you mean 'react-500'"):
        splits.positions("react-50")


def test_tasks_are_chosen_by_id_and_type() -> None:
    source = numbered(20)
    assert [t.id for t in splits.choose(source, task_ids=("q0007", "q0003", "q0007")).tasks] == [
        "q0003",
        "q0007",
    ]
    assert [t.id for t in splits.choose(source, task_type="comparison").tasks] == [
        "q0000",
        "q0005",
        "q0010",
        "q0015",
    ]
    with pytest.raises(UsageError, match="unknown task 'q0099'"):
        splits.choose(source, task_ids=("q0099",))
    with pytest.raises(UsageError, match="no tasks of the type comparison"):
        splits.choose(source, task_ids=("q0001",), task_type="comparison")


@pytest.mark.parametrize("sampling", ["stratified", "legacy"])
def test_a_smaller_draw_is_part_of_every_larger_one(sampling: Sampling) -> None:
    split = splits.choose(numbered(50))
    draws = [{t.id for t in splits.subset(split, count, 7, sampling).tasks} for count in (5, 20, 50)]
    assert [len(draw) for draw in draws] == [5, 20, 50]
    assert draws[0] < draws[1] < draws[2]
    assert draws[0] != {t.id for t in splits.subset(split, 5, 8, sampling).tasks}
    assert splits.subset(split, None, 7, sampling) == split
    for count in (0, 51):
        with pytest.raises(UsageError, match=f"cannot take {count} tasks; .* has 50"):
            splits.subset(split, count, 7, sampling)


def test_a_sample_has_each_type_and_level_in_proportion() -> None:
    # `numbered` makes every fifth question a comparison: 10 of 50.
    taken = splits.subset(splits.choose(numbered(50)), 15, 0)
    assert Counter(task.type for task in taken.tasks) == {"bridge": 12, "comparison": 3}
    assert taken.notes[-1] == "15 of 50 tasks were taken, in proportion to type and level, drawn by seed 0"


def test_the_draw_of_older_runs_is_still_made() -> None:
    # What version 0.1.0 drew: random.Random(7).shuffle of the tasks in the order of their ids.
    ids = [f"q{n:04}" for n in range(50)]
    random.Random(7).shuffle(ids)
    taken = splits.subset(splits.choose(numbered(50)), 5, 7, "legacy")
    assert [task.id for task in taken.tasks] == sorted(ids[:5])


@pytest.mark.parametrize(
    ("name", "seed", "expected"),
    [
        ("procedural", None, ("procedural", 0)),
        ("procedural", 7, ("procedural", 7)),
        ("procedural:seed=7", None, ("procedural", 7)),
        ("procedural:seed=7", 7, ("procedural", 7)),
        ("distractor", 3, ("distractor", 3)),
        ("fullwiki", None, ("fullwiki", 0)),
    ],
)
def test_split_names(name: str, seed: int | None, expected: tuple[str, int]) -> None:
    assert splits.parse_name(name, seed) == expected


@pytest.mark.parametrize(
    ("name", "seed", "message"),
    [
        ("distracter", None, "unknown HotPotQA split 'distracter'; did you mean 'distractor'"),
        ("procedural:seed=x", None, "write it like procedural:seed=7"),
        ("procedural:size=7", None, "write it like procedural:seed=7"),
        ("distractor:seed=7", None, "write it like procedural:seed=7"),
        ("procedural:seed=7", 8, "the split is 'procedural:seed=7' but the seed is 8"),
    ],
)
def test_bad_split_names(name: str, seed: int | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        splits.parse_name(name, seed)


def test_the_invented_world_grows_until_there_are_enough_of_a_type() -> None:
    source = splits.procedural(3, wanted=40, task_type="comparison")
    assert sum(each.type == "comparison" for each in source.tasks) >= 40
    assert len(splits.procedural(3).tasks) == splits.DEFAULT_COUNT
    titles = {page.title for page in source.encyclopedia}
    assert {title for each in source.tasks for title, _ in each.data.facts} <= titles


def test_without_a_network_the_hub_is_a_usage_error(tmp_path: Path) -> None:
    code = (
        "from reflex_bench.envs.hotpotqa import splits\n"
        "from reflex_bench.core.errors import UsageError\n"
        "try: splits.hub('distractor')\n"
        "except UsageError as error: print(error)\n"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert ran.stdout.startswith("cannot load hotpotqa/hotpot_qa (distractor) from the hub: ")
    assert "give the official file" in ran.stdout
    assert ran.stdout.count("\n") == 1


@pytest.mark.skipif(not REAL.is_dir(), reason="needs the real questions, which are not part of the project")
def test_real_questions_load_and_their_facts_stand_in_their_pages() -> None:
    source = splits.file(REAL / "distractor_100.jsonl")
    assert len(source.tasks) == 100
    assert sum(each.type == "comparison" for each in source.tasks) == 15
    assert sum(len(each.data.facts) for each in source.tasks) == 249
    assert len({page.title for page in source.pages()}) == 1000
    for each in source.tasks:
        pages = {page.title: page for page in each.data.pages}
        assert all(index < len(pages[title].sentences) for title, index in each.data.facts)
