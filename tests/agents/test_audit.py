"""The rules by which a reflection is remembered or not, on real examples and on what reflectors were seen to write."""

from dataclasses import replace

import pytest
from growth import grows_linearly

from reflex_bench.agents.base import Step, Trajectory
from reflex_bench.agents.reflection.audit import RULES, WRITTEN, Written, audit
from reflex_bench.envs.base import Task
from reflex_bench.envs.prompts import load, parse_example

HOUSEHOLD = (
    *("go to", "open", "close", "take", "move", "put", "clean"),
    *("heat", "cool", "use", "examine", "look", "inventory"),
)
QUESTIONS = ("Search", "Lookup", "look up", "Finish")
ROOM = (
    "You are in a room. You see a desk 1, a drawer 2, a drawer 1, and a shelf 1.\n\n"
    "Your task is to: put some mug on shelf."
)
PLAYED = Trajectory(
    Task("t1", "put", "put some mug on shelf", "00"),
    1,
    (),
    ROOM,
    (
        Step(1, "go to desk 1", "", "go to desk 1", "On the desk 1, you see a cup 3."),
        Step(2, "go to drawer 1", "", "go to drawer 1", "The drawer 1 is closed."),
    ),
    "step_limit",
)
SOUND = "I never opened drawer 1. Next time I should open drawer 1 and drawer 2 before I give up."
READ = Trajectory(
    Task("q1", "bridge", "Where was the designer of the Harrowgill Viaduct born?", "00"),
    2,
    (),
    "Question: Where was the designer of the Harrowgill Viaduct born?",
    (
        Step(
            1,
            "",
            "",
            "Search[Harrowgill Viaduct]",
            "It was designed by the engineer Orla Penhallick in 1868.",
        ),
        Step(2, "", "", "Search[Orla]", "Could not find [Orla]. Similar: [Orla Penhallick; Orla Fenn]."),
    ),
    "step_limit",
)


def failed(text, *earlier, played=PLAYED, cap=30, verbs=HOUSEHOLD, written=WRITTEN):
    return audit(text, played, earlier, cap, verbs, written)


def test_a_sound_reflection_fails_no_rule():
    assert failed(SOUND) == ()


@pytest.mark.parametrize(("name", "verbs"), [("alfworld", HOUSEHOLD), ("hotpotqa", QUESTIONS)])
def test_the_worked_reflections_of_the_prompts_pass(name, verbs):
    for episode, reflection in load(name).reflection_examples:
        turns = parse_example(episode).turns
        seen = [*(turn[0] for turn in turns[1:]), parse_example(episode).closing]
        steps = tuple(
            Step(number, said, "", said.rpartition("Action: ")[2], after)
            for number, ((_, said), after) in enumerate(zip(turns, seen, strict=True), 1)
        )
        played = Trajectory(Task("x", "y", "z", "00"), 1, (), turns[0][0], steps, "failure")
        assert failed(reflection, played=played, verbs=verbs) == ()


@pytest.mark.parametrize("text", ["42", "", "$32.15", "I should try harder next time.", "No."])
def test_an_answer_an_empty_text_and_a_vague_wish_cite_nothing_and_ask_for_nothing(text):
    assert set(failed(text)) >= {"cites_trajectory", "actionable"}


def test_a_verbatim_repeat_fails_and_so_does_one_in_other_letter_case_and_spacing():
    assert failed(SOUND, SOUND) == ("not_repeated",)
    assert failed(SOUND.upper().replace(" ", "  "), "other", SOUND) == ("not_repeated",)
    assert failed(f"Again: {SOUND}", SOUND) == ("not_repeated",)


def test_an_earlier_reflection_with_a_new_lesson_is_no_repeat():
    assert failed(f"{SOUND} I can skip desk 1, because there is only cup 3 on it.", SOUND) == ()
    assert failed(SOUND, "Next time I should open drawer 1.") == ()


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Step 2 was in vain. Next time I should open drawer 1.", ()),
        ("Step 3 was in vain. Next time I should open drawer 1.", ("cites_trajectory",)),
        ("Steps 1 and 2 were in vain. Next time I should open drawer 1.", ()),
        ("Steps 2-9 were in vain. Next time I should open drawer 1.", ("cites_trajectory",)),
        ("I saw a cup 3. Next time I should take cup 3.", ()),
        ("I saw a cup 4. Next time I should open drawer 1.", ("cites_trajectory",)),
        ("Next time I should open drawer 7.", ("cites_trajectory",)),
        ("Next time I should open drawer (2).", ()),
        ("I only looked at the desk. Next time I should open the drawers.", ()),
        ("The mug is in fridge 1. Next time I should open fridge 1.", ("cites_trajectory",)),
    ],
)
def test_only_steps_and_things_that_occurred_are_cited(text, rules):
    assert failed(text) == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("I was at desk 1, and that was that.", ("actionable",)),
        ("I was at desk 1. Next time I should think harder.", ("actionable",)),
        ("I was at desk 1. Open the other one first.", ()),
        ("I was at desk 1. Next time I must write every name with its number.", ()),
        ("I was at desk 1. Next time the shelf comes first.", ()),
    ],
)
def test_an_instruction_names_an_action_or_a_place_of_this_environment(text, rules):
    assert failed(text) == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("All 30 steps went by at desk 1. Next time I should open drawer 1.", ()),
        ("Next time I should look into drawer 1 for 31 steps.", ("within_limits",)),
        ("Next time I need fifty more steps to open drawer 1.", ("within_limits",)),
        ("Next time I should open drawer 1 with as many steps as it takes.", ("within_limits",)),
        ("Next time I should Browse[drawer 1].", ("within_limits",)),
        ("Next time I should use the command 'unlock drawer 1'.", ("within_limits",)),
        ("Next time I should use the command 'open drawer 1'.", ()),
        ("The command 'unlock drawer 1' did nothing. Next time I should open drawer 1.", ()),
        ("Next time I should open drawer 1 and never say 'unlock drawer 1'.", ()),
    ],
)
def test_nothing_is_asked_for_that_one_attempt_does_not_allow(text, rules):
    assert failed(text) == rules


def test_without_a_known_cap_and_without_known_actions_nothing_is_out_of_bounds():
    assert failed("Next time I should Browse[drawer 1] for 99 steps.", cap=None, verbs=()) == ()


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("In attempt 1 I opened nothing.", True, True),
        ("In attempt 3 I want to open it.", False, True),
        ("In my fourth attempt I opened nothing.", False, False),
        ("In the previous two attempts I opened nothing.", False, True),
        ("In my last three attempts I opened nothing.", False, False),
        ("As in earlier attempts I opened nothing.", False, True),
        ("My previous reflection told me so.", False, True),
        ("The same as before.", False, True),
        ("In the last attempt I opened nothing.", True, True),
    ],
)
def test_only_attempts_and_notes_that_exist_are_spoken_of(text, first, second):
    whole = f"{text} Next time I should open drawer 1."
    assert (failed(whole) == ()) is first
    assert (failed(whole, "an older note", played=replace(PLAYED, trial=2)) == ()) is second
    assert {*failed(whole), *failed(whole, "an older note", played=replace(PLAYED, trial=2))} <= {
        "known_history"
    }


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Orla alone is no title. Next time I should search Orla Penhallick.", ()),
        ("The Harrowgill Viaduct leads to the engineer. Next time I should look up born.", ()),
        ("Sundry Cove.", ("cites_trajectory", "actionable")),
        ("The answer is Sundry Cove. Next time I should use Finish[Sundry Cove].", ("cites_trajectory",)),
        ("Next time I should Click[Orla Penhallick].", ("within_limits",)),
    ],
)
def test_pages_that_were_read_or_listed_count_as_things(text, rules):
    assert failed(text, played=READ, verbs=QUESTIONS) == rules


def test_every_rule_can_fail_alone_and_has_words_for_the_reflector():
    alone = {
        failed("Next time I should open drawer 7."),
        failed("I was at desk 1."),
        failed("Next time I should open drawer 1 within 99 steps."),
        failed("As in earlier attempts, next time I should open drawer 1."),
        failed(SOUND, SOUND),
        failed("I left drawer 1 closed. Next time I should go to drawer 1."),
        failed(SOUND, written=Written(lines=("- open drawer 1", "- open drawer 2"))),
        failed(SOUND, written=Written(whole=False)),
        failed("I went to desk 1 and then " * 3 + "I should open drawer 1."),
        failed(SOUND, written=Written(sources=(f"An example. {SOUND}",))),
    }
    assert alone == {(rule,) for rule in RULES}
    assert all(RULES.values())


@pytest.mark.parametrize("part", ["a ", "A", "step 1 and ", "[", "'say '"])
def test_auditing_takes_time_in_proportion_to_the_length_of_the_text(part):
    assert grows_linearly(lambda length: failed(part * (length // len(part))), 4_000)


TRIED = replace(
    PLAYED,
    opening=ROOM.replace("a shelf 1", "a shelf 2, and a shelf 1"),
    steps=(
        *PLAYED.steps,
        Step(3, "", "", "take mug 1 from desk 1", "Nothing happens.", False),
        Step(4, "", "", "go to shelf 1", "On the shelf 1, you see a mug 3."),
    ),
)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (
            "I tried to take mug 1 from desk 1, which failed. Next time I will go to shelf 1 and take mug 3.",
            (),
        ),
        ("I wanted mug 1. Next time I should not look for mug 1, but take mug 3.", ()),
        ("I wanted mug 1. Next time I should take mug 1 from shelf 1.", ("cites_trajectory", "new_action")),
        ("I tried to take mug 7 from desk 1. Next time I should take mug 3.", ("cites_trajectory",)),
        ("Next time I should search shelves 1 and 2, and drawers 1 and 2.", ()),
        ("Next time I should search shelves 1 and 7.", ("cites_trajectory",)),
        ("Next time I should search shelves 7.", ("cites_trajectory",)),
        ("Next time I should open the drawers 1, 2 and 3.", ("cites_trajectory",)),
        ("Next time I should open drawers 1, 2 and go to shelf 2.", ()),
        ("Next time I should open desk 1, 2 shelves and drawer 1.", ()),
    ],
)
def test_what_the_agent_named_in_vain_may_be_told_of_and_lists_and_plurals_are_read(text, rules):
    assert failed(text, played=TRIED) == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Ich habe drawer 1 nie geöffnet. Beim nächsten Mal öffne ich zuerst drawer 1 und drawer 2.", ()),
        ("Ich habe die Schublade 1 nicht geöffnet. Nächstes Mal muss ich das mit drawer 2 tun.", ()),
        # Short, and without a word of English.
        ("Ich war nur bei desk 1. Ich sollte drawer 1 öffnen.", ()),
        ("我没有打开drawer 1。下次我应该先打开drawer 1和drawer 2。", ()),
        ("Je n'ai pas ouvert le drawer 1. La prochaine fois je dois ouvrir les deux, et pas les autres.", ()),
        (
            "Ich habe drawer 1 nie geöffnet. Beim nächsten Mal öffne ich zuerst drawer 7.",
            ("cites_trajectory",),
        ),
        ("我没有打开drawer 7。下次我应该先打开drawer 7。", ("cites_trajectory",)),
        (
            "Ich habe nicht gut gespielt und sollte das nächste Mal besser spielen.",
            ("cites_trajectory", "actionable"),
        ),
        ("下次我应该更加努力。", ("cites_trajectory", "actionable")),
    ],
)
def test_what_is_asked_for_need_not_be_asked_for_in_english(text, rules):
    assert failed(text) == rules


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", ["alfworld", "hotpotqa"])
def test_the_reflection_of_an_example_is_copied_wherever_else_it_is_written(name, number):
    prompts = load(name)
    sources = tuple(text for pair in prompts.reflection_examples for text in pair)
    sources += (prompts.instruction, prompts.reflection_instruction)
    whole = prompts.reflection_examples[number][1]
    for text in (whole, f"{SOUND} {whole.split('. ')[0]}."):
        assert "copied_example" in failed(text, written=Written(sources=sources))
    assert failed(SOUND, written=Written(sources=sources)) == ()


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        # Eight words in a row of an example, and seven.
        ("Next time I should open drawer 1 or one two three four five six seven eight.", True),
        ("Next time I should open drawer 1 or one two three four five six seven.", False),
        # The list of the room, and the task.
        ("I was in a room: a desk 1, a drawer 2, a drawer 1, and a shelf 1. Open drawer 1 next time.", True),
        ("I had to put some mug on shelf and find it. Next time I should open drawer 1.", False),
        # What was seen in the trial may be quoted, though it stands in an example, too.
        ("On the desk 1, you see a cup 3. Next time I should open drawer 1.", False),
        # The name of something that there was in an example alone.
        ("The Harrow Bell was not there. Next time I should open drawer 1.", True),
    ],
)
def test_eight_words_in_a_row_or_a_foreign_name_are_copied(text, copied):
    example = "One two three four five six seven eight, said The Harrow Bell. On the desk 1, you see a cup 3."
    assert ("copied_example" in failed(text, written=Written(sources=(example,)))) is copied


def test_a_long_name_may_be_told_of_three_times_and_anything_else_not():
    long = "The Second Battle of Upper Harrow"
    read = replace(READ, steps=(*READ.steps, Step(3, "", "", f"Search[{long}]", f"{long} was long.")))
    text = f"I opened {long}. {long} names no place. Next time I should look up place in {long}."
    assert failed(text, played=read, verbs=QUESTIONS) == ()
    loop = (
        "I went there and looked again and again. " * 3
        + "Next time I should look up born in Orla Penhallick."
    )
    assert failed(loop, played=read, verbs=QUESTIONS) == ("repeats_itself",)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        # Done already, in other words and forms; and the same with something new beside it.
        ("Next time I should search Harrowgill Viaduct first.", True),
        ("Next time I should begin with the Harrowgill Viaduct again.", True),
        ("Next time I should start by searching for Orla.", True),
        ("Next time I should search Harrowgill Viaduct and then Search[Orla Penhallick].", False),
        ("Next time I should search Harrowgill Viaduct and look up born there.", False),
        # The page of this title was listed, and another than the one that was not found.
        ("Next time I should search Orla Fenn.", False),
        # What names no action together with a thing cannot be judged.
        ("Next time I should think about the Harrowgill Viaduct.", False),
        ("I searched Harrowgill Viaduct. Next time I should search Orla Penhallick.", False),
    ],
)
def test_a_reflection_asks_for_something_that_its_trial_did_not_do(text, same):
    assert ("new_action" in failed(text, played=READ, verbs=QUESTIONS)) is same


def test_looking_up_is_nothing_new_on_a_page_that_was_shown_whole():
    whole = replace(READ.steps[0], observation=f"{READ.steps[0].observation} (whole page shown)")
    text = "Next time I should search Harrowgill Viaduct and look up born there."
    assert failed(text, played=replace(READ, steps=(whole,)), verbs=QUESTIONS) == ("new_action",)


def test_a_title_with_a_parenthesis_is_another_than_the_one_that_was_not_found():
    missed = Step(1, "", "", "Search[Orm river]", "Could not find [Orm river]. Similar: [Orm (river); Orm].")
    played = replace(READ, steps=(missed,))
    assert failed("Next time I should search Orm (river).", played=played, verbs=QUESTIONS) == ()
