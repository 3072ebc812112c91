"""The simulated player at questions: it can win both types, and learns from nothing but what it reads."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from reflex_bench.agents.base import Limits, Trajectory
from reflex_bench.agents.messages import opening, reflecting, transcript
from reflex_bench.agents.react import react
from reflex_bench.agents.transcripts import as_text
from reflex_bench.envs import prompts
from reflex_bench.envs.base import Environment, Task
from reflex_bench.envs.hotpotqa.environment import create
from reflex_bench.models.base import Message, Reply, Request
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.simulated import model as simulated
from reflex_bench.models.simulated import questions as simulated_questions
from reflex_bench.models.simulated import questions_asked as simulated_questions_asked
from reflex_bench.models.simulated import questions_notes as simulated_questions_notes
from reflex_bench.models.simulated import questions_view as simulated_questions_view
from reflex_bench.models.simulated.questions import HABITS

REAL = Path(__file__).parents[3] / "shared" / "data" / "hotpotqa" / "distractor_100.jsonl"
TEXTS = prompts.load("hotpotqa")
MODEL = simulated.create("", ModelOptions())
TASKS, TRIALS, SHOWN = 100, 3, 3
Chain = list[tuple[Trajectory, str]]
"""The trials of a task, each with the reflection written after it, "" where there is none."""
Chains = dict[str, Chain]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with pytest.MonkeyPatch.context() as settings:
        settings.setenv("REFLEX_BENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        quiz = create({"split": "procedural:seed=2"})
        yield quiz
        quiz.close()


def ask(messages: Sequence[Message], step: int, stop: Sequence[str] = (), *, key: str) -> Reply:
    seed = int.from_bytes(hashlib.sha256(f"{key}/{step}".encode()).digest()[:4], "big")
    return MODEL.complete(Request(tuple(messages), 0.7, stop=tuple(stop), seed=seed))


def chain(environment: Environment, task: Task, learns: bool, shows: bool) -> Chain:
    """The trials of a task. Seeds know task, trial and step, so that arms differ only in what is shown."""
    trials: Chain = []
    notes: list[str] = []
    for number in range(1, TRIALS + 1):
        shown = tuple(notes[-SHOWN:]) if shows else ()
        speak, limits = partial(ask, key=f"{task.id}/{number}"), Limits(environment.max_steps)
        played = react(task, number, shown, environment, speak, limits)
        if learns and not played.success and number < TRIALS:
            failed = as_text(played, environment.prompts)
            request = reflecting(environment.prompts, failed, notes)
            notes.append(ask(request, 0, key=f"{task.id}/{number}/reflection").text)
            trials.append((played, notes[-1]))
        else:
            trials.append((played, ""))
        if played.success:
            break
    return trials


def play(environment: Environment, learns: bool, shows: bool = True) -> Chains:
    tasks = environment.load(TASKS).tasks
    assert len(tasks) == TASKS
    return {task.id: chain(environment, task, learns, shows) for task in tasks}


@pytest.fixture(scope="module")
def retried(environment: Environment) -> Chains:
    return play(environment, learns=False)


@pytest.fixture(scope="module")
def reflected(environment: Environment) -> Chains:
    return play(environment, learns=True)


def solved(chains: Chains, trials: int) -> float:
    """Share of tasks solved within the first trials."""
    return sum(any(played.success for played, _ in chain[:trials]) for chain in chains.values()) / len(chains)


def test_it_wins_both_types_at_the_first_trial_and_loses_both(retried: Chains) -> None:
    first = Counter((chain[0][0].task.type, chain[0][0].success) for chain in retried.values())
    for kind in ("bridge", "comparison"):
        assert first[kind, True] > 0
        assert first[kind, False] > 0


def test_between_30_and_60_percent_of_first_trials_succeed(retried: Chains) -> None:
    assert 0.3 <= solved(retried, 1) <= 0.6


def test_trying_again_gains_some_and_reflecting_gains_clearly_more(
    retried: Chains, reflected: Chains
) -> None:
    assert solved(reflected, 1) == solved(retried, 1)
    assert solved(retried, 3) >= solved(retried, 1) + 0.1
    for trials in (2, 3):
        assert solved(reflected, trials) >= solved(retried, trials) + 0.05


def test_with_the_reflections_taken_out_of_the_prompt_every_trial_is_that_of_plain_retrying(
    environment: Environment, retried: Chains
) -> None:
    unseen = play(environment, learns=True, shows=False)
    assert any(reflection for chain in unseen.values() for _, reflection in chain)
    digests = {task: [played.digest for played, _ in chain] for task, chain in unseen.items()}
    assert digests == {task: [played.digest for played, _ in chain] for task, chain in retried.items()}


def test_trials_that_are_retried_are_not_all_the_same(retried: Chains) -> None:
    again = [chain for chain in retried.values() if len(chain) == TRIALS]
    assert sum(len({played.digest for played, _ in chain}) > 1 for chain in again) > len(again) / 2


def test_every_trial_begins_by_saying_how_it_is_played(retried: Chains) -> None:
    firsts = [played.steps[0].thought for chain in retried.values() for played, _ in chain]
    assert all(thought.startswith("I have to find ") for thought in firsts)
    for sentence in HABITS.values():
        assert any(sentence in thought for thought in firsts)


def test_reflections_are_two_to_four_sentences_of_their_own(reflected: Chains) -> None:
    texts = [reflection for chain in reflected.values() for _, reflection in chain if reflection]
    assert all(2 <= len(re.findall(r"[.!?](?:\s|$)", text)) <= 4 for text in texts)
    assert len(set(texts)) > 0.9 * len(texts)


def test_reflections_name_what_stands_in_the_transcript(reflected: Chains) -> None:
    for chain in reflected.values():
        for played, reflection in chain:
            seen = " ".join([played.opening, *(f"{step.reply} {step.observation}" for step in played.steps)])
            seen += " ".join(played.memory)
            for name in re.findall(r'Search\[([^\]]+)\]|open "([^"]+)"|is "([^"]+)"', reflection):
                assert "".join(name) in seen, reflection


def test_an_answer_that_notes_call_wrong_is_not_given_again(reflected: Chains) -> None:
    for chain in reflected.values():
        for played, _ in chain[1:]:
            wrong = re.findall(r'answer "([^"]+)" was wrong', " ".join(played.memory))
            assert played.result["answer"] not in wrong, played


def test_replies_are_untidy_at_times_and_repair_loses_none(retried: Chains) -> None:
    steps = [step for chain in retried.values() for played, _ in chain for step in played.steps]
    names = {name for step in steps for name in step.repairs}
    assert {"markdown", "step_number", "trailing_text", "letter_case", "code_fence"} <= names
    assert not any(step.error for step in steps)


@pytest.mark.skipif(not REAL.exists(), reason="the real questions are not here")
def test_on_real_questions_it_does_what_a_reader_would_and_wins_a_few() -> None:
    quiz = create({"data": str(REAL)})
    tasks = quiz.load().tasks
    played = [react(task, 1, (), quiz, partial(ask, key=task.id), Limits(quiz.max_steps)) for task in tasks]
    assert 0.01 <= sum(trial.success for trial in played) / len(played) <= 0.3
    assert sum(trial.result["gold_pages_reached"] > 0 for trial in played) > len(played) / 3
    assert not any(step.error for trial in played for step in trial.steps)


QUESTION = "Where was the director of the film Nightjar Road born?"
ROAD = (
    "Nightjar Road is a 1994 film by the Ostrian director Thea Ambrosch. It stars Ivo Stanck and Orla Ruhl."
)
THEA = "Thea Ambrosch (3 May 1957 – 8 June 2001) was a film director. She was born in Grauhafen, and raised there."
PLAN = "I have to find the director, then the birthplace, from Nightjar Road onwards."
AT_ROAD = (f"Thought: {PLAN}\nAction: Search[Nightjar Road]", ROAD)
AT_THEA = ("Thought: Next.\nAction: Search[Thea Ambrosch]", THEA)
EPISODE = transcript(f"Question: {QUESTION}", [AT_ROAD], "STATUS: FAILED (all 7 steps were used up)")


def say(*turns: tuple[str, str], memory: Sequence[str] = (), question: str = QUESTION) -> str:
    """The action after the given turns, its untidiness taken off."""
    conversation = list(opening(TEXTS, "bridge", f"Question: {question}", memory))
    for said, seen in turns:
        conversation += [Message("assistant", said), Message("user", seen)]
    reply = MODEL.complete(Request(tuple(conversation))).text
    action = re.search(r"(search|lookup|finish)\[([^\]]*)\]", reply, re.IGNORECASE)
    assert action is not None
    return f"{action[1].capitalize()}[{action[2]}]"


def with_habit(habit: str, turn: tuple[str, str] = AT_ROAD) -> tuple[str, str]:
    return turn[0].replace(PLAN, f"{PLAN} {HABITS[habit]}"), turn[1]


def test_it_follows_a_chain_from_page_to_page() -> None:
    assert say(AT_ROAD) == "Search[Thea Ambrosch]"
    assert say(AT_ROAD, AT_THEA) == "Finish[Grauhafen]"


def test_it_looks_further_down_where_the_beginning_of_a_page_does_not_tell() -> None:
    short = ("Thought: Next.\nAction: Search[Thea Ambrosch]", "Thea Ambrosch was a film director.")
    assert say(AT_ROAD, short) == "Lookup[born]"
    found = ("Action: Lookup[born]", "(Result 1 / 1) She was born in Grauhafen.")
    assert say(AT_ROAD, short, found) == "Finish[Grauhafen]"
    assert say(AT_ROAD, short, ("Action: Lookup[born]", "No results.")) == "Lookup[native]"


def test_of_namesakes_it_takes_the_one_that_fits() -> None:
    missed = (
        "Action: Search[Thea Ambrosch]",
        "Could not find [Thea Ambrosch]. Similar: [Thea Ambrosch (chemist); Thea Ambrosch (film director)].",
    )
    assert say(AT_ROAD, missed) == "Search[Thea Ambrosch (film director)]"
    assert say(with_habit("namesake"), missed) == "Search[Thea Ambrosch (chemist)]"


@pytest.mark.parametrize(
    ("habit", "action"),
    [
        ("hasty", "Finish[Thea Ambrosch]"),
        ("wordy", "Search[Thea Ambrosch]"),
        ("unread", "Search[Thea Ambrosch]"),
    ],
)
def test_a_habit_is_read_back_from_the_first_thought_whoever_wrote_it(habit: str, action: str) -> None:
    assert say(with_habit(habit)) == action


def test_a_wordy_player_answers_in_a_sentence() -> None:
    assert say(with_habit("wordy"), AT_THEA) == "Finish[The birthplace is Grauhafen]"


def test_one_who_searches_for_the_whole_question_finds_no_title() -> None:
    missed = ("Thought: {}\nAction: Search[{}]", "Could not find [x]. Similar: [Nightjar Road; Nightjar].")
    words = QUESTION.rstrip("?")
    first = (missed[0].format(f"{PLAN} {HABITS['whole']}", words), missed[1])
    assert say(first) == f"Search[{' '.join(words.split()[2:])}]"


OLDER = "Which was founded first, Lantern Weekly or The Quarry Review?"
LANTERN = ("Thought: {}\nAction: Search[Lantern Weekly]", "Lantern Weekly is a magazine founded in 1911.")
QUARRY = ("Action: Search[The Quarry Review]", "The Quarry Review is a quarterly. It was founded in 1897.")


def test_it_compares_two_and_one_habit_turns_the_comparison_round() -> None:
    careful = (LANTERN[0].format("I have to find the date."), LANTERN[1])
    careless = (LANTERN[0].format(HABITS["reversed"]), LANTERN[1])
    assert say(careful, question=OLDER) == "Search[The Quarry Review]"
    assert say(careful, QUARRY, question=OLDER) == "Finish[The Quarry Review]"
    assert say(careless, QUARRY, question=OLDER) == "Finish[Lantern Weekly]"
    note = 'The answer "Lantern Weekly" was wrong.'
    assert say(careless, QUARRY, question=OLDER, memory=[note]) == "Finish[The Quarry Review]"


GO = ("Thought: {}\nAction: Search[Nightjar Road]", ROAD)


def test_a_note_is_followed_only_where_the_first_thought_says_so() -> None:
    note = 'I know that the director is "Mirjam Oake".'
    heeded = (GO[0].format(f"{PLAN} {simulated_questions.HEEDED}"), ROAD)
    assert say(heeded, memory=[note]) == "Search[Mirjam Oake]"
    assert say(AT_ROAD, memory=[note]) == "Search[Thea Ambrosch]"


def test_notes_are_read_whoever_wrote_them() -> None:
    text = (
        'The answer "Wexmouth" was wrong. The director is Thea Ambrosch. Next time I should search Lucan Thrale '
        "directly and use Lookup[died] before I answer, by step 5, and not give up."
    )
    notes = simulated_questions_notes.read_notes(text)
    assert (notes.wrong, notes.facts) == (["Wexmouth"], {"director": "Thea Ambrosch"})
    assert (notes.titles, notes.words, notes.deadline) == (["Lucan Thrale"], ["died"], 5)
    assert notes.cured == {"early", "unread"}


def reflection(*turns: tuple[str, str], question: str = QUESTION, status: str = "") -> str:
    ended = status or "STATUS: FAILED (the attempt ended without success)"
    episode = transcript(f"Question: {question}", turns, ended)
    return MODEL.complete(Request(reflecting(TEXTS, episode, ()))).text


def test_a_reflection_names_the_page_that_was_never_opened() -> None:
    text = reflection(AT_ROAD, ("Action: Finish[Thea Ambrosch]", "The answer is wrong."))
    assert 'The answer "Thea Ambrosch" was wrong' in text
    assert "the page Thea Ambrosch was never opened" in text
    assert "Search[Thea Ambrosch]" in text
    assert 'the director is "Thea Ambrosch"' in text


def test_a_reflection_without_a_verdict_calls_no_answer_wrong() -> None:
    text = reflection(AT_ROAD, ("Action: Finish[Ivo Stanck]", "The answer has been handed in."))
    assert 'I handed in "Ivo Stanck" and was not told whether it is right' in text
    assert "wrong" not in text
    assert simulated_questions_notes.read_notes(text).wrong == []


def test_a_reflection_on_a_sentence_says_that_it_was_too_long() -> None:
    given = ("Action: Finish[The birthplace is Grauhafen]", "The answer is wrong.")
    assert "was too long, a whole sentence" in reflection(AT_ROAD, AT_THEA, given)


def test_a_reflection_on_searching_for_the_question_tells_what_was_offered() -> None:
    missed = ("Action: Search[where was the director of the film Nightjar Road born]",)
    text = reflection(
        (missed[0], "Could not find [x]. Similar: [Nightjar Road; Nightjar; Thea Ambrosch]."),
        status="STATUS: FAILED (all 7 steps were used up)",
    )
    assert "(offered were Nightjar Road, Nightjar and Thea Ambrosch)" in text
    assert "Search[Nightjar Road]" in text


def test_a_reflection_on_the_wrong_comparison_gives_both_values() -> None:
    text = reflection(
        (LANTERN[0].format("First."), LANTERN[1]),
        QUARRY,
        ("Action: Finish[Lantern Weekly]", "The answer is wrong."),
        question=OLDER,
    )
    assert "1911 for Lantern Weekly and 1897 for The Quarry Review" in text
    assert "other way round" in text


@pytest.mark.parametrize(
    ("question", "form", "subjects", "path"),
    [
        (QUESTION, "chain", ["Nightjar Road"], ["director", "birthplace"]),
        (
            'In what year was the university founded at which the writer who wrote the novel "A Ferry in May" studied?',
            "chain",
            ["A Ferry in May"],
            ["author", "university", "year of foundation"],
        ),
        (
            "The home town of Aldmoor Press received its charter in what year?",
            "chain",
            ["Aldmoor Press"],
            ["seat", "year of the charter"],
        ),
        (OLDER, "choice", ["Lantern Weekly", "The Quarry Review"], ["date"]),
        (
            "Were Orla Ruhl and the poet Ivo Stanck born in the same town?",
            "same",
            ["Orla Ruhl", "Ivo Stanck"],
            ["birthplace"],
        ),
        ("Which native of Ostrey received the Calder Prize?", "both", ["Ostrey", "Calder Prize"], []),
    ],
)
def test_questions_are_taken_apart(question: str, form: str, subjects: list[str], path: list[str]) -> None:
    read = simulated_questions_asked.read_question(question)
    assert (read.form, [thing.name for thing in read.subjects]) == (form, subjects)
    assert [relation.name for relation in read.path] == path


@pytest.mark.parametrize(
    ("seen", "offered"),
    [
        ("Could not find [Nope]. Similar: [Pope; Rope (film)].", ("Pope", "Rope (film)")),
        ("Could not find [Nope]. Similar: ['Pope', \"The Rope's End\"].", ("Pope", "The Rope's End")),
        ("Could not find Nope. Similar: ['Pope']", ("Pope",)),
        ("Could not find [Nope].", ()),
    ],
)
def test_all_profiles_of_the_environment_are_understood(seen: str, offered: tuple[str, ...]) -> None:
    view = simulated_questions_view.read_view("Question: Who?", [("Action: Search[Nope]", seen)])
    assert view.missed == {"nope": offered}


def test_an_answer_that_was_not_accepted_as_an_action_is_no_page() -> None:
    view = simulated_questions_view.read_view(
        "Question: Who?", [("**Action:** Search[Nope]", "No action was found. Write one.")]
    )
    assert not view.pages


def test_where_no_thoughts_are_wanted_it_says_none_and_where_it_cannot_search_it_answers() -> None:
    question = Message("user", f"Here is your task.\nQuestion: {QUESTION}")
    silent = MODEL.complete(Request((Message("system", TEXTS.act_instruction), question))).text
    assert "Thought" not in silent
    assert "earch[" in silent
    gold = Message(
        "user", f"Here is your task.\nNightjar Road: {ROAD}\n\nThea: {THEA}\n\nQuestion: {QUESTION}"
    )
    for message in (question, gold):
        alone = MODEL.complete(Request((Message("system", TEXTS.cot_instruction), message))).text
        assert "inish[" in alone


def test_it_knows_nothing_of_the_generator_and_of_the_environment() -> None:
    for path in Path(inspect.getfile(simulated_questions)).parent.glob("simulated_questions*.py"):
        assert "reflex_bench.envs" not in path.read_text(encoding="utf-8"), path.name
