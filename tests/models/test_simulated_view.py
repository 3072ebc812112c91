"""What the simulated player makes of a transcript, and what it writes down afterwards."""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random

import pytest

from reflex_bench.envs.alfworld.official.package import package_folder
from reflex_bench.models.simulated import household_notes as notes
from reflex_bench.models.simulated.household_view import Goal, View, read_view

KINDS = {
    "pick_and_place_simple": "put",
    "pick_clean_then_place_in_recep": "clean",
    "pick_heat_then_place_in_recep": "heat",
    "pick_cool_then_place_in_recep": "cool",
    "pick_two_obj_and_place": "puttwo",
    "look_at_obj_in_light": "examine",
}


def room(task: str) -> str:
    return (
        "You are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, "
        f"a countertop 1, a fridge 1, a microwave 1, a sidetable 1, and a sinkbasin 1.\n\nYour task is to: {task}."
    )


def templates() -> list[tuple[str, str]]:
    """The task sentences of the alfworld package, read from its source."""
    source = (Path(package_folder()) / "gen" / "goal_library.py").read_text(encoding="utf-8")
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Subscript):
            name = ast.literal_eval(target.slice)
            if name in KINDS:
                found += [(KINDS[name], sentence) for sentence in ast.literal_eval(node.value)["templates"]]
    return found


def test_every_task_sentence_of_the_package_is_understood() -> None:
    sentences = templates()
    assert len(sentences) == 12
    for kind, sentence in sentences:
        task = sentence.format(obj="mug", recep="sidetable", toggle="desklamp")
        target = "desklamp" if kind == "examine" else "sidetable"
        assert read_view(room(task), []).goal == Goal(kind, "mug", target)


def test_a_task_of_another_kind_is_not_taken_for_one_of_these() -> None:
    assert read_view(room("put a clean slice of apple in fridge"), []).goal is None


def test_the_transcript_tells_where_everything_is() -> None:
    view = read_view(
        room("put a clean mug in sidetable"),
        [
            ("think: I look.", "OK."),
            ("go to cabinet 2", "You arrive at cabinet 2. The cabinet 2 is closed."),
            (
                "open cabinet 2",
                "You open the cabinet 2. The cabinet 2 is open. In it, you see a mug 1, and a cup 2.",
            ),
            ("take mug 1 from cabinet 2", "You pick up the mug 1 from the cabinet 2."),
            ("go to cabinet 1", "You arrive at cabinet 1. The cabinet 1 is closed."),
            ("clean mug 1 with sinkbasin 1", "Nothing happens."),
            ("go to sinkbasin 1", "You arrive at sinkbasin 1. On the sinkbasin 1, you see nothing."),
            ("> clean mug 1 with sinkbasin 1", "You clean the mug 1 using the sinkbasin 1."),
            ("go to sidetable 1", "You arrive at sidetable 1. On the sidetable 1, you see a desklamp 1."),
            ("think: Done soon.\nmove mug 1 to sidetable 1", "You move the mug 1 to the sidetable 1."),
            ("use desklamp 1", "You turn on the desklamp 1."),
        ],
    )
    assert view.places[0] == "cabinet 2"
    assert (view.at, view.holding, view.first_thought) == ("sidetable 1", "", "I look.")
    assert view.contents == {
        "cabinet 2": ["cup 2"],
        "sinkbasin 1": [],
        "sidetable 1": ["desklamp 1", "mug 1"],
    }
    assert view.first_seen == {"mug 1": "cabinet 2", "cup 2": "cabinet 2", "desklamp 1": "sidetable 1"}
    assert view.visited == ["cabinet 2", "cabinet 1", "sinkbasin 1", "sidetable 1"]
    assert (view.closed, view.lit) == ({"cabinet 1"}, {"desklamp 1"})
    assert (view.placed, view.treated) == ([("mug 1", "sidetable 1")], {("clean", "mug 1")})
    assert view.refused == {"clean mug 1 with sinkbasin 1": 1}


def test_looking_at_a_place_nearby_is_being_there() -> None:
    view = read_view(
        room("put some mug on sidetable"),
        [
            ("go to cabinet 1", "You arrive at cabinet 1. The cabinet 1 is closed."),
            ("go to cabinet 2", "Nothing happens."),
            ("examine cabinet 2", "The cabinet 2 is closed."),
        ],
    )
    assert (view.at, view.refused_here) == ("cabinet 2", set())


STOPPED = "STATUS: FAILED (you gave up)"
CUPBOARD = ("go to cabinet 1", "You arrive at cabinet 1. The cabinet 1 is closed.")
SINK = ("go to sinkbasin 1", "You arrive at sinkbasin 1. On the sinkbasin 1, you see a mug 1.")
TAKE = ("take mug 1 from sinkbasin 1", "You pick up the mug 1 from the sinkbasin 1.")
TABLE = (
    "go to sidetable 1",
    "You arrive at sidetable 1. On the sidetable 1, you see a cup 1, and a desklamp 1.",
)
PUT = ("move mug 1 to sidetable 1", "You move the mug 1 to the sidetable 1.")
CUP = ("take cup 1 from sidetable 1", "You pick up the cup 1 from the sidetable 1.")
NO_NUMBER = ("take mug from sinkbasin 1", "Nothing happens.")


def after(task: str, *turns: tuple[str, str]) -> View:
    return read_view(room(task), turns)


@pytest.mark.parametrize(
    ("view", "cause", "advice"),
    [
        (
            after("put a clean mug in sidetable", SINK, TAKE, TABLE, PUT),
            "I put the mug 1 in place without having cleaned it.",
            "Next time I must clean it with sinkbasin 1 first, before I bring it to sidetable 1.",
        ),
        (
            after("put some mug on sidetable", CUPBOARD),
            "I never found a mug, because I left cabinet 1 closed.",
            "Next time I should open it: cabinet 1.",
        ),
        (
            after("put some mug on cabinet", TABLE, CUP),
            "I took the cup 1, but the task asks for a mug.",
            "Next time only a mug counts, and not a cup.",
        ),
        (
            after("put two mug in sidetable", SINK, TAKE, TABLE, PUT),
            "only one mug was in place, but two are asked for.",
            "Next time I must bring a second mug to sidetable 1 as well.",
        ),
        (
            after("look at mug under the desklamp", TABLE, SINK, TAKE),
            "I held the mug 1 but never switched on a desklamp.",
            "I remember that the mug 1 was in sinkbasin 1 and the desklamp 1 was on sidetable 1.",
        ),
        (
            after("put some mug on sidetable", SINK, NO_NUMBER, NO_NUMBER),
            "the command 'take mug from sinkbasin 1' did nothing, 2 times, because I left out the number.",
            "I remember that the mug 1 was in sinkbasin 1.",
        ),
        (
            after("put some mug on cabinet", TABLE),
            "I had not seen a mug in the one place I went to.",
            "I can skip sidetable 1: no mug there.",
        ),
    ],
)
def test_a_reflection_names_the_cause_and_what_to_do(view: View, cause: str, advice: str) -> None:
    text = notes.write(view, STOPPED, (), Random(0))
    assert text.startswith("I gave up")
    assert cause in text
    assert advice in text


def test_a_reflection_is_never_the_repetition_of_an_earlier_one() -> None:
    view = after("put some mug on cabinet", TABLE)
    first = notes.write(view, STOPPED, (), Random(0))
    again = notes.write(view, STOPPED, (first,), Random(0))
    assert again != first
    assert again.endswith(first)


def test_notes_are_read_as_sentences_whoever_wrote_them() -> None:
    read_back = notes.read(
        "- I took a cup instead of a mug. Next time open drawer 2 first! "
        "The mug 3 is on the shelf 1; don't search desk 1."
    )
    assert read_back.where == {"mug 3": "shelf 1"}
    assert (read_back.prefer, read_back.skip) == (["drawer 2"], {"desk 1"})
    assert read_back.cured == {"lookalike", "unopened"}


def test_a_closed_drawer_that_is_only_mentioned_is_no_advice() -> None:
    assert notes.read("I did not open drawer 1.") == notes.Notes()
