"""What is left of a reflector's reply: whole sentences, at most four, each once."""

import pytest
from growth import grows_linearly

from reflex_bench.agents.reflection.tidying import MAX_SENTENCES, tidied

ONE, TWO = "I never opened drawer 1.", "Next time I should open drawer 1 first."


def left(reply, finish="stop", continued=False):
    found = tidied(reply, finish, continued)
    return found.text, found.repairs


def test_a_reply_of_whole_sentences_is_left_as_it_is():
    assert left(f"  {ONE}\n{TWO}\n") == (f"{ONE} {TWO}", ())
    assert left(f"{ONE}\n\n{TWO}") == (f"{ONE} {TWO}", ())
    assert left("") == ("", ())


@pytest.mark.parametrize(
    "more",
    [
        "\n\nQuestion: What is the capital of Greece?",
        "\n \nYou are in the middle of a room.",
        "\nSTATUS: FAILED (you gave up)",
        " Here is your task.\nQuestion: Which is older?",
        " > Thought: I need the page.",
        "\n```\n```python\n# Reflections",
        "\nAction: Search[Orm]",
    ],
)
def test_what_runs_on_into_another_episode_is_cut_and_named(more):
    assert left(f"{ONE} {TWO}{more}", "length", continued=True) == (f"{ONE} {TWO}", ("run_on",))


def test_a_text_that_is_continued_ends_at_the_first_blank_line_after_text_and_an_answer_does_not():
    reply = f"\n\n{ONE}\n\n{TWO}"
    assert left(reply, continued=True) == (ONE, ("run_on",))
    assert left(reply) == (f"{ONE} {TWO}", ())


def test_nothing_is_cut_where_nothing_stands_before_it():
    assert left("Thought: I was at desk 1.", continued=True) == ("Thought: I was at desk 1.", ())


@pytest.mark.parametrize(
    ("tail", "finish", "dropped"),
    [
        ("Then I should go to", "length", True),
        ("Then I should go to shelf 3", "length", True),
        ("Then I should go to", "stop", True),
        ("Then I should open drawer 2,", "stop", True),
        ("Then I should open drawer 2", "stop", False),
        ("Then I should use Lookup[born]", "stop", False),
        ("Then I should say 'open drawer 2.'", "length", False),
    ],
)
def test_a_sentence_that_breaks_off_is_dropped(tail, finish, dropped):
    whole = f"{ONE} {TWO}"
    assert left(f"{whole} {tail}", finish) == (
        (whole, ("truncated_tail",)) if dropped else (f"{whole} {tail}", ())
    )


def test_where_the_only_sentence_breaks_off_it_is_kept_for_the_record_and_called_so():
    found = tidied("Next time I should go to", "length")
    assert (found.text, found.whole, found.repairs) == ("Next time I should go to", False, ())
    assert tidied(ONE, "length").whole


def test_every_sentence_stands_once_and_at_most_four_stand_at_all():
    assert left(f"{ONE} {TWO} " * 9) == (f"{ONE} {TWO}", ("repeated_sentences",))
    assert left(f"{ONE} {ONE.upper()} {TWO}") == (f"{ONE} {TWO}", ("repeated_sentences",))
    many = [f"Drawer {number} was closed." for number in range(1, 8)]
    assert left(" ".join(many)) == (" ".join(many[:MAX_SENTENCES]), ("extra_sentences",))
    assert left("我没有打开drawer 1。下次我应该先打开drawer 2！", "length")[1] == ()


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>Which drawer?</think>\n{ONE}",
        f"[THINK]Which drawer?[/THINK]{ONE}",
        f"◁think▷Which drawer?◁/think▷{ONE}",
        f"<|channel|>analysis<|message|>Why?<|end|><|start|>assistant<|channel|>final<|message|>{ONE}<|return|>",
        f"analysis: which?<|channel|>final<|message|>{ONE}",
    ],
)
def test_reasoning_and_the_marks_of_channels_are_no_part_of_a_reflection(reply):
    assert left(reply) == (ONE, ("reasoning_block",))


@pytest.mark.parametrize("reply", ["[THINK]Which drawer?", "<|channel|>analysis<|message|>Which drawer?"])
def test_of_reasoning_without_an_end_nothing_is_left(reply):
    assert left(reply)[0] == ""


@pytest.mark.parametrize("label", ["Reflection: ", "**Reflection:** ", "reflection:\n"])
def test_the_label_that_was_asked_for_is_no_part_of_it(label):
    assert left(f"{label}{ONE}") == (ONE, ())


@pytest.mark.parametrize("part", ["a. ", "A ", "\n\n", "> ", "`", "<|channel|>", "[THINK]", "。"])
def test_tidying_takes_time_in_proportion_to_the_length_of_the_reply(part):
    assert grows_linearly(lambda length: tidied(part * (length // len(part)), "length", True), 4_000)
