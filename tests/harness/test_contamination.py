from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from synthetic_runs import REFLEXION, chains, write_run

from reflex_bench.envs import prompts
from reflex_bench.envs.alfworld import environment as alfworld
from reflex_bench.envs.base import Example, Prompts, Task
from reflex_bench.envs.hotpotqa import environment as questions
from reflex_bench.harness.checks.contamination import Overlap, overlapping_tasks, overlaps, recogniser
from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.measures import without_overlap
from reflex_bench.harness.storage.run_data import read_run

ROOM = "You are in the middle of a room. Looking quickly around you, you see a bed 1, and a desk 1."
GOAL = "Your task is to: put a pen in desk."
EXAMPLES = Prompts(
    instruction="",
    examples={
        "put": (
            Example((("something else", "look"),)),
            Example(((f"{ROOM}\n\n{GOAL}", "go to desk 1"),), "Done."),
        ),
        "": (Example((("Question: Who built the\nMerrin  lighthouse?", "Search[Merrin]"),)),),
    },
    thought_observation="",
    invalid_observation="",
    reflection_instruction="",
    reflection_examples=(("Question: Which town is older?\n> Finish[x]", "I guessed."),),
)

ROOM_AND_GOAL = recogniser(alfworld.create({}))


def task(text: str, identity: str = "t") -> Task:
    return Task(identity, "put", text, "00")


def test_a_room_and_goal_in_an_example_is_found_whatever_the_white_space(tmp_path: Path) -> None:
    opening = f"-= Welcome to TextWorld, ALFRED! =-\n\n{ROOM.replace(' a desk', '  a desk')}\n\n\n{GOAL}"
    assert overlaps(EXAMPLES, [(task("put a pen in desk"), opening)], ROOM_AND_GOAL) == (
        Overlap("t", "examples[put][2]", "room and goal"),
    )


def test_the_same_goal_in_another_room_or_another_goal_in_the_room_is_none() -> None:
    other_room = f"{ROOM.replace('bed 1', 'bed 2')}\n\n{GOAL}"
    other_goal = f"{ROOM}\n\n{GOAL.replace('pen', 'book')}"
    assert (
        overlaps(
            EXAMPLES,
            [(task("put a pen in desk"), other_room), (task("put a book in desk"), other_goal)],
            ROOM_AND_GOAL,
        )
        == ()
    )


def test_a_question_in_an_example_or_a_reflection_example_is_found() -> None:
    tasks = [
        (task("who built the Merrin lighthouse?", "a"), "Question: …"),
        (task("Which town is older?", "b"), ""),
        (task("Which town is smaller?", "c"), ""),
        (task("", "d"), ""),
    ]
    assert overlaps(EXAMPLES, tasks) == (
        Overlap("a", "examples[1]", "text"),
        Overlap("b", "reflection_examples[1]", "text"),
    )
    assert recogniser(questions.create({}))(tasks[1][0], "") == ("question", "Which town is older?")


def test_the_games_from_which_the_own_examples_were_played_are_found_and_no_others() -> None:
    """The comments of the prompts name game 40 of seed 20260 above a reflection example, and 52 above one of `put`."""
    environment = alfworld.create({"split": "procedural:generator=1,seed=20260"})
    opened = []
    for game in environment.load(60).tasks:
        episode = environment.start(game)
        opened.append((game, episode.reset()))
        episode.close()
    environment.close()
    found = overlaps(prompts.load("alfworld"), opened, ROOM_AND_GOAL)
    texts = {game.id: opening for game, opening in opened}
    shown = {
        (overlap.example, texts[overlap.task].rpartition("Your task is to: ")[2].strip()) for overlap in found
    }
    assert ("examples[put][1]", "put a tissuebox in garbagecan.") in shown
    assert ("reflection_examples[1]", "clean some cloth and put it in toilet.") in shown


def test_the_tables_name_the_overlap_and_score_with_and_without_it(tmp_path: Path) -> None:
    # react solves t000 and t001 of five, reflexion t000 to t003; the examples show t000 and, to reflexion alone, t004.
    rows = chains("react", [1, 1, None, None, None], 2) + chains("reflexion", [1, 2, 2, 2, None], 2)
    found = [
        Overlap("t000", "examples[put][1]", "room and goal"),
        Overlap("t004", "reflection_examples[1]", "question", ("reflexion",)),
    ]
    arms = {"react": {}, "reflexion": REFLEXION}
    info = {"contamination": [asdict(overlap) for overlap in found]}
    run = read_run(write_run(tmp_path / "run", rows, arms=arms, tasks=5, trials=2, **info))
    assert overlapping_tasks(run.info, "react") == {"t000"}
    assert overlapping_tasks(run.info, "reflexion") == {"t000", "t004"}
    assert without_overlap(run, "reflexion", ["t000", "t004"]) == (0.8, 1.0)
    (note,) = [note for note in notes(run) if "Worked examples" in note]
    assert note == (
        "Worked examples in the prompts show 2 tasks of the split (t000, t004); solved within the last trial with and "
        "without them: react 40.0% and 33.3%, reflexion 80.0% and 100.0%."
    )


def test_a_run_without_overlap_or_without_the_check_says_nothing_of_it(tmp_path: Path) -> None:
    rows = chains("react", [1], 1)
    for name, info in (("unchecked", {}), ("clean", {"contamination": []})):
        run = read_run(write_run(tmp_path / name, rows, arms={"react": {}}, tasks=1, trials=1, **info))
        assert not any("examples" in note for note in notes(run))
