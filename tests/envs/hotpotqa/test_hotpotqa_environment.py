"""The environment as the harness sees it, and its prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs import prompts
from reflex_bench.envs.base import Environment, Example, Task
from reflex_bench.envs.hotpotqa import splits
from reflex_bench.envs.hotpotqa.corpus.corpus import LocalCorpus, read_pages
from reflex_bench.envs.hotpotqa.environment import create
from reflex_bench.envs.hotpotqa.episode import HotpotEpisode
from reflex_bench.envs.hotpotqa.profiles import REFLEX
from reflex_bench.envs.hotpotqa.questions import Question
from reflex_bench.envs.hotpotqa.scoring import SuccessRule

DATA = Path(__file__).parents[2] / "data" / "hotpotqa"
REAL = Path(__file__).parents[4] / "shared" / "data" / "hotpotqa"

ORM = "Orm is a river. It is old. (whole page shown)"
HALE = "Hale is a doctor. It is old. (whole page shown)"


def record(identity: str, own: str, answer: str, kind: str = "bridge") -> dict[str, Any]:
    return {
        "_id": identity,
        "question": f"What is {own}?",
        "answer": answer,
        "type": kind,
        "level": "easy",
        "supporting_facts": [[own, 0], ["Everywhere", 0]],
        "context": [[own, [f"{own} is a {answer}.", " It is old."]], ["Everywhere", ["It is here."]]],
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "dev.json"
    rows = [
        record("q2", "Corvel", "lake"),
        record("q1", "Orm", "river"),
        record("q3", "Hale", "doctor", "comparison"),
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def started(environment: Environment, identity: str) -> Any:
    (task,) = (task for task in environment.load().tasks if task.id == identity)
    return environment.start(task)


def test_a_question_is_played_from_file_to_result(data: Path) -> None:
    environment = create({"data": str(data)})
    split = environment.load()
    assert [task.id for task in split.tasks] == ["q1", "q2", "q3"]
    episode = started(environment, "q1")
    assert episode.reset() == "Question: What is Orm?"
    action = environment.read_action("Thought: look.\nAction: Search[orm]", "repair")
    assert action.command is not None
    assert episode.step(action.command).observation == ORM
    last = episode.step("Finish[a river]")
    assert (last.won, last.done, last.observation) == (True, True, "The answer is correct.")
    assert episode.result() == {
        "answer": "a river",
        "gold_answer": "river",
        "em": 1.0,
        "f1": 1.0,
        "precision": 1.0,
        "recall": 1.0,
        "gold_pages": 2,
        "gold_pages_reached": 1,
        "forced_finish": False,
    }
    episode.close()
    environment.close()


def test_gold_that_the_questions_lack_is_counted(tmp_path: Path) -> None:
    whole = record("q1", "Orm", "river")
    half = {
        **record("q2", "Hale", "doctor"),
        "context": [["Hale", ["Hale is a doctor."]], ["Far", ["It is far."]]],
    }
    none = {**record("q3", "Corvel", "The"), "supporting_facts": [["Nowhere", 0]]}
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([whole, half, none]), encoding="utf-8")
    environment = create({"data": str(path)})
    # Everywhere, which the second question lacks, came with the others.
    assert environment.load().notes == (
        "gold pages of 1 of 3 questions are not in the corpus",
        "gold pages of 2 of 3 questions are not among the question's own paragraphs, which are what cot-gold is shown",
        "the gold answers of 1 of 3 questions have no word that is scored, so that an empty answer is right",
    )
    assert create({"data": str(path), "task_ids": ("q1",)}).load().notes == ()


def test_the_split_corpus_is_the_whole_file_whatever_is_selected(data: Path) -> None:
    whole, part = create({"data": data}), create({"data": data, "task_ids": ["q1"]})
    assert len(part.load().tasks) == 1
    assert part.settings() == whole.settings()
    assert whole.settings()["corpus_size"] == 4
    assert started(part, "q1").step("Search[Hale]").observation == HALE


def test_the_question_corpus_is_the_question_s_own(data: Path) -> None:
    environment = create({"data": data, "corpus": "question"})
    episode = started(environment, "q1")
    assert (
        episode.step("Search[Hale is old]").observation
        == "Could not find [Hale is old]. Similar: [Orm; Everywhere]."
    )
    assert episode.step("Search[Orm]").observation == ORM
    assert environment.settings()["corpus"] == "question"


def test_a_corpus_from_a_file(data: Path, tmp_path: Path) -> None:
    pages = tmp_path / "pages.jsonl"
    pages.write_text('{"title": "Lake Corvel", "text": "A lake. Deep.", "redirects": ["Corvel"]}\n')
    environment = create({"data": data, "corpus": f"file:{pages}"})
    seen = started(environment, "q2").step("Search[Corvel]").observation
    assert seen == "(Page: Lake Corvel) A lake. Deep. (whole page shown)"
    assert environment.settings()["corpus_size"] == 1


def test_on_miss_best_opens_the_nearest_page(data: Path) -> None:
    episode = started(create({"data": data, "on_miss": "best"}), "q1")
    assert episode.step("Search[who is a doctor]").observation == f"(Page: Hale) {HALE}"
    assert episode.step("Search[qqq]").observation == "Could not find [qqq]."


def test_settings_tell_what_must_be_the_same(data: Path) -> None:
    environment = create({"data": data, "profile": "react", "success": "f1>=0.5", "feedback": "none"})
    settings = dict(environment.settings())
    assert len(settings.pop("corpus_sha256")) == 64
    assert settings == {
        "profile": "react",
        "success": "f1>=0.5",
        "feedback": "none",
        "corpus": "split",
        "corpus_size": 4,
        "on_miss": "similar",
        "titles": "as redirects",
    }
    assert environment.feedback == "none"
    assert started(environment, "q1").step("Finish[river]").observation == "Episode finished\n"


def test_step_limits_come_from_the_profile() -> None:
    assert (create({}).max_steps, create({"profile": "reflexion"}).max_steps) == (7, 6)


def test_trials_of_a_task_share_nothing(data: Path) -> None:
    environment = create({"data": data})
    first = started(environment, "q1")
    first.step("Search[Orm]")
    first.step("Lookup[old]")
    second = started(environment, "q1")
    assert second.step("Lookup[old]").observation == REFLEX.no_page
    assert second.result()["gold_pages_reached"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"splitt": "procedural"},
            "unknown option of the environment 'hotpotqa': 'splitt'; did you mean 'split'",
        ),
        ({"split": "dev"}, "unknown HotPotQA split 'dev'"),
        (
            {"seed": -1},
            "environment 'hotpotqa': option 'seed' is -1: Input should be greater than or equal to 0",
        ),
        ({"task_ids": "q1"}, "environment 'hotpotqa': option 'task_ids' is 'q1'"),
        (
            {"profile": "paper"},
            "environment 'hotpotqa': option 'profile' is 'paper': Input should be 'reflex', 'react' or 'reflexion'",
        ),
        ({"feedback": "model"}, "environment 'hotpotqa': option 'feedback' is 'model'"),
        ({"corpus": "wiki"}, "unknown corpus 'wiki'; known: split, question, file:PATH, wikipedia"),
        ({"corpus": "wikipedia", "on_miss": "best"}, "on_miss=best does not go with corpus=wikipedia"),
        ({"wikipedia_url": "file:///etc/passwd"}, "environment 'hotpotqa': option 'wikipedia_url'"),
        ({"success": "f2"}, "unknown success rule 'f2'"),
        ({"sample": "reflexion"}, "unknown sample 'reflexion'; did you mean 'reflexion-100'"),
    ],
)
def test_a_bad_option_is_named_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        create(options)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("corpus", ["split", "question"])
def test_questions_without_paragraphs_need_another_corpus(tmp_path: Path, corpus: str) -> None:
    bare = {key: value for key, value in record("q1", "Orm", "river").items() if key != "context"}
    path = tmp_path / "dev.jsonl"
    path.write_text(json.dumps(bare) + "\n")
    with pytest.raises(UsageError, match="carries no paragraphs; give corpus=file:PATH or corpus=wikipedia"):
        create({"data": path, "corpus": corpus}).load()


def test_a_corpus_that_is_not_there_is_found_out_at_loading(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the corpus"):
        create({"data": data, "corpus": f"file:{tmp_path / 'none.jsonl'}"}).load()


def test_the_default_is_the_invented_world() -> None:
    environment = create({"seed": 4})
    split = environment.load()
    assert split.name == "procedural:seed=4"
    assert {task.type for task in split.tasks} == {"bridge", "comparison"}
    assert environment.load(3, seed=9) == splits.subset(split, 3, 9)
    # Every gold page can be opened by its title, and the gold answer is a success.
    for task in environment.load(20).tasks:
        episode = environment.start(task)
        for title in task.data.gold_titles:
            episode.step(f"Search[{title}]")
        assert episode.step(f"Finish[{task.data.answer}]").won
        assert episode.result()["gold_pages_reached"] == episode.result()["gold_pages"] == 2


def test_the_invented_world_grows_with_the_tasks_that_are_wanted() -> None:
    environment = create({"seed": 4})
    assert len(environment.load(130).tasks) == 130
    assert environment.settings()["corpus_size"] > create({"seed": 4}).settings()["corpus_size"]


@pytest.mark.skipif(not REAL.is_dir(), reason="needs the real questions, which are not part of the project")
def test_on_real_questions_every_gold_page_opens_by_its_title_and_every_answer_wins() -> None:
    environment = create({"data": REAL / "distractor_100.jsonl"})
    for task in environment.load().tasks:
        episode = environment.start(task)
        for title in sorted(task.data.gold_titles):
            episode.step(f'Search["{title}"]')
        result = episode.result()
        assert result["gold_pages_reached"] == result["gold_pages"]
        command = environment.read_action(f"Action 3: Finish[{task.data.answer}]", "repair").command
        assert command is not None
        assert episode.step(command).won


TEXTS = prompts.load("hotpotqa")


def replay(example: Example) -> None:
    """Plays an example again and compares every observation with the episode's own."""
    corpus = LocalCorpus("file", read_pages(DATA / "example_pages.jsonl"))
    question = example.turns[0][0]
    environment = create({})
    task = Task("example", "bridge", question.removeprefix("Question: "), "", Question("", (), ()))
    episode = HotpotEpisode(task, corpus, REFLEX, SuccessRule(), True)
    seen = episode.reset()
    for shown, said in example.turns:
        assert shown == seen
        action = environment.read_action(said, "strict")
        assert action.command is not None
        assert action.thought
        seen = episode.step(action.command).observation
    if example.closing:
        assert seen == example.closing.split("\n")[0]


@pytest.mark.parametrize("example", TEXTS.examples[""], ids=lambda example: example.turns[0][0][10:40])
def test_worked_examples_are_what_the_environment_says(example: Example) -> None:
    replay(example)
    assert example.turns[-1][1].split("\n")[1].startswith("Action: Finish[")


@pytest.mark.parametrize("number", range(len(TEXTS.reflection_examples)))
def test_reflection_examples_are_what_the_environment_says(number: int) -> None:
    episode, reflection = TEXTS.reflection_examples[number]
    assert episode.split("\n")[-1].startswith("STATUS: FAILED (")
    replay(prompts.parse_example(episode))
    assert 100 < len(reflection) < 600


def test_examples_have_the_note_of_a_whole_page_in_the_profile_that_gives_it_and_in_no_other() -> None:
    def texts(profile: str) -> str:
        shown = create({"profile": profile}).prompts
        return repr((shown.examples, shown.reflection_examples))

    assert texts("reflex").count("(whole page shown)") == 11 + 4
    assert texts("react") == texts("reflexion") == texts("reflex").replace(" (whole page shown)", "")


def test_prompts_have_all_that_an_agent_needs() -> None:
    assert 4 <= len(TEXTS.examples[""]) <= 6
    assert TEXTS.stop == ("\nObservation",)
    for verb in ("Search[", "Lookup[", "Finish["):
        assert verb in TEXTS.instruction
        assert verb in TEXTS.invalid_observation
    assert TEXTS.thought_form.format("x") + "\n" + TEXTS.action_form.format("y") == "Thought: x\nAction: y"


@pytest.mark.skipif(not REAL.is_dir(), reason="needs the real questions, which are not part of the project")
def test_examples_share_no_title_with_real_questions() -> None:
    ours = {page.title for page in read_pages(DATA / "example_pages.jsonl")}
    for name in ("distractor_100.jsonl", "train_easy_medium_200.jsonl"):
        assert not ours & {page.title for page in splits.file(REAL / name).pages()}


def test_examples_share_no_title_with_the_invented_world() -> None:
    ours = {page.title for page in read_pages(DATA / "example_pages.jsonl")}
    for seed in (0, 1):
        assert not ours & {page.title for page in splits.procedural(seed).encyclopedia}
