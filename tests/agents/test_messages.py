from reflex_bench.agents.messages import merged, opening, reflecting, transcript
from reflex_bench.core.shared_texts import MEMORY_HEADER, TASK_HEADER
from reflex_bench.envs.prompts import load, parse_example
from reflex_bench.models.base import Message

PROMPTS = load("alfworld")


def test_with_nothing_remembered_the_prompt_holds_no_trace_of_a_memory():
    plain = opening(PROMPTS, "clean", "You are in a room.", ())
    assert MEMORY_HEADER not in "".join(message.content for message in plain)
    assert plain[-1].content.endswith(f"{TASK_HEADER}\nYou are in a room.")


def test_a_memory_changes_only_the_last_message_so_that_prefix_caches_keep_working():
    plain = opening(PROMPTS, "clean", "You are in a room.", ())
    recalled = opening(PROMPTS, "clean", "You are in a room.", ("Look in the fridge.", "Take the mug."))
    assert plain[:-1] == recalled[:-1]
    assert recalled[-1].content.index("Look in the fridge.") < recalled[-1].content.index("Take the mug.")
    assert recalled[-1].content.index("Take the mug.") < recalled[-1].content.index(TASK_HEADER)


def test_roles_alternate_after_the_system_message():
    roles = [message.role for message in opening(PROMPTS, "puttwo", "You are in a room.", ("Try again.",))]
    assert roles[0] == "system"
    assert roles[1:] == ["user", "assistant"] * (len(roles) // 2 - 1) + ["user"]


def test_neighbours_of_one_role_are_joined():
    turns = [Message("user", "a"), Message("user", "b"), Message("assistant", "c")]
    assert merged(turns) == (Message("user", "a\n\nb"), Message("assistant", "c"))


def test_an_example_is_read_into_turns_and_a_closing_observation():
    example = parse_example("A room.\nTwo lines.\n> think: x\nOK.\n> take it\n> now\nYou have it.")
    assert example.turns == (("A room.\nTwo lines.", "think: x"), ("OK.", "take it\nnow"))
    assert example.closing == "You have it."


def test_a_transcript_marks_every_line_of_the_agent():
    text = transcript("A room.", [("think: x\ngo", "There."), ("", "Nothing happens.")], "STATUS: FAILED")
    assert text == "A room.\n> think: x\n> go\nThere.\n> \nNothing happens.\nSTATUS: FAILED"


def test_the_reflector_sees_earlier_reflections_after_the_failed_trial():
    last = reflecting(PROMPTS, "the episode", ("first lesson", "second lesson"))[-1].content
    assert last.index("the episode") < last.index("first lesson") < last.index("second lesson")
    assert last.endswith("Reflection:")
