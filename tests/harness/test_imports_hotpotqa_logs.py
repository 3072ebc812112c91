from __future__ import annotations

from pathlib import Path

import pytest
from reflexion_logs import FERRY, HEADER, LIGHTHOUSE, TOWNS, attempt, react, record, trial, write

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.importing.hotpotqa_logs import Record, read_log

PLAIN = "Context: \nQuestion: {question}\n"


def only(root: Path, text: str, section: str = "INCORRECT", task: tuple[str, str] = LIGHTHOUSE) -> Record:
    """The one agent of a file with one trial."""
    log = trial(1, {section: [record(task, text)]}, "Correct: 0, Incorrect: 1")
    (logged,) = read_log(write(root, "CoT/no_context/base", "100_questions_1_trials.txt", log))
    (found,) = logged.records.values()
    return found


def test_an_agent_without_memory_is_its_question_and_its_attempt(tmp_path: Path) -> None:
    found = only(tmp_path, PLAIN + attempt("Otto Kessler", "INCORRECT", "It was Otto."))
    assert (found.question, found.gold, found.section) == (*LIGHTHOUSE, "INCORRECT")
    assert [(step.thought, step.action, step.observation) for step in found.steps] == [
        ("It was Otto.", "Finish[Otto Kessler]", "Answer is INCORRECT")
    ]
    assert (found.answer, found.memory) == ("Otto Kessler", ())


def test_an_older_attempt_behind_the_current_one_is_memory_and_not_the_answer(tmp_path: Path) -> None:
    older = attempt("Orlan", "INCORRECT", "Orlan, I guess.")
    found = only(tmp_path, f"{PLAIN}{attempt('Tessel', 'CORRECT')}\nReflections: \n{older}", "CORRECT", TOWNS)
    assert found.answer == "Tessel"
    assert found.memory == (older,)
    assert found.question == "Which town is older, Orlan or Tessel?"


def test_reflections_behind_the_attempt_are_one_a_line(tmp_path: Path) -> None:
    text = f"{PLAIN}{attempt('1870', 'INCORRECT')}\nReflections: I guessed Finish[1869].\nI guessed again."
    found = only(tmp_path, text, task=FERRY)
    assert (found.answer, found.memory) == ("1870", ("I guessed Finish[1869].", "I guessed again."))
    assert found.question == 'In what year did "The Ferry" close?'


def test_a_last_trial_before_the_current_one_is_memory_and_not_the_answer(tmp_path: Path) -> None:
    older = f"{LIGHTHOUSE[0]}\n{attempt('Otto Kessler', 'INCORRECT')}"
    text = (
        f"Solve a task.\nBelow is the last trial.\nQuestion: {older}\n(END PREVIOUS TRIAL)\n\nA plan follows.\n"
        "Reflections:\n- I trusted a name. Question: was it his?\n\nQuestion: {question}\n"
        + attempt("Ilse Varga", "CORRECT")
    )
    found = only(tmp_path, text, "CORRECT")
    assert (found.question, found.answer) == LIGHTHOUSE
    assert found.memory[0] == older
    assert found.memory[1].startswith("I trusted a name.")


def test_a_header_glued_to_the_question_is_cut_off_even_where_it_stands_twice(tmp_path: Path) -> None:
    text = (
        f"Question: {{question}}{HEADER}{HEADER}\nReflections:\n- I looped.\n- I looped again.\n{react('Bo')}"
    )
    found = only(tmp_path, text)
    assert found.question == LIGHTHOUSE[0]
    assert found.memory == ("I looped.", "I looped again.")
    assert [step.action for step in found.steps] == ["Search[x]", "Finish[Bo]"]


def test_gold_paragraphs_with_blank_lines_stand_before_a_question_in_the_middle_of_a_line(
    tmp_path: Path,
) -> None:
    text = "Context: Merrin has a lighthouse.\n\nIlse Varga was an engineer. Question: {question}\n"
    found = only(tmp_path, text + attempt("Varga", "INCORRECT"))
    assert (found.question, found.answer, found.memory) == (LIGHTHOUSE[0], "Varga", ())


def test_an_observation_keeps_its_lines(tmp_path: Path) -> None:
    found = only(tmp_path, f"Question: {{question}}\n{react('Bo')}")
    assert found.steps[0].observation == "A page.\n\nIts second part: Action of the sea.\nFin."


def test_an_agent_that_never_finished_has_no_answer(tmp_path: Path) -> None:
    found = only(tmp_path, f"Question: {{question}}\n{react(None, searches=6)}", "HALTED")
    assert (found.answer, len(found.steps)) == (None, 6)


def test_an_agent_carried_on_without_its_attempt_has_no_steps(tmp_path: Path) -> None:
    found = only(tmp_path, f"Question: {{question}}{HEADER}\nReflections:\n- I looped.", "CORRECT")
    assert (found.question, found.steps, found.memory) == (LIGHTHOUSE[0], (), ("I looped.",))


def test_an_agent_printed_under_two_outcomes_counts_once(tmp_path: Path) -> None:
    text = record(LIGHTHOUSE, f"Question: {{question}}\n{react('Bo', searches=5)}")
    other = record(FERRY, f"Question: {{question}}\n{react(None, searches=6)}")
    log = trial(1, {"INCORRECT": [text], "HALTED": [text, other]}, "Correct: 0, Incorrect: 1, Halted: 1")
    (found,) = read_log(write(tmp_path, "ReAct/base", "100_questions_1_trials.txt", log))
    assert [each.section for each in found.records.values()] == ["INCORRECT", "HALTED"]
    assert found.printed == {"CORRECT": 0, "INCORRECT": 1, "HALTED": 1}


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "ReAct/base", "100_questions_1_trials.txt", "Trial 1: 34 correct")
    with pytest.raises(UsageError, match="no log of the Reflexion authors"):
        read_log(file)


def test_an_agent_without_a_gold_answer_is_refused(tmp_path: Path) -> None:
    log = trial(1, {"CORRECT": [PLAIN + attempt("1871", "CORRECT")]}, "Correct: 1, Incorrect: 0")
    file = write(tmp_path, "CoT/no_context/base", "100_questions_1_trials.txt", log)
    with pytest.raises(
        UsageError, match="trial 1: the last CORRECT agent has no line with its correct answer"
    ):
        read_log(file)
