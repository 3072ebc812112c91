"""The loop, played on a real generated game with a script in the place of the model."""

import pytest

from reflex_bench.agents.base import CallLimit, Limits
from reflex_bench.agents.messages import MAX_UNREAD_LENGTH, UNREADABLE
from reflex_bench.agents.react import react
from reflex_bench.core.errors import ContextOverflow, EnvironmentFailure, ModelError
from reflex_bench.core.shared_texts import TASK_HEADER
from reflex_bench.envs.alfworld.environment import create
from reflex_bench.envs.hotpotqa.environment import create as questions
from reflex_bench.models.base import Reply


class Script:
    """An `Ask` that says its lines, then says the last one for ever."""

    def __init__(self, *lines):
        self.lines, self.heard = lines, []

    def __call__(self, messages, step, stop=()):
        self.heard.append(list(messages))
        line = self.lines[min(step, len(self.lines)) - 1]
        if isinstance(line, Exception):
            raise line
        return Reply(line)


@pytest.fixture(scope="module")
def household():
    environment = create({"engine": "native"})
    yield environment, environment.load(None).tasks[0]
    environment.close()


def play(household, *lines, **limits):
    environment, task = household
    script = Script(*lines)
    return react(task, 1, (), environment, script, Limits(**{"max_steps": 10} | limits)), script


def walkthrough(task):
    import json

    return json.loads(task.data.path.read_bytes())["walkthrough"]


def test_a_plan_that_solves_the_game_ends_in_success_at_its_last_step(household):
    plan = walkthrough(household[1])
    played, _ = play(household, *plan, max_steps=50)
    assert played.outcome == "success"
    assert [step.action for step in played.steps] == plan


def test_the_step_cap_is_no_success_even_where_the_last_step_would_have_been_followed_by_one(household):
    plan = walkthrough(household[1])
    played, _ = play(household, *plan, max_steps=len(plan) - 1)
    assert played.outcome == "step_limit"
    assert not played.success


def test_a_thought_is_answered_with_ok_and_takes_a_step(household):
    played, _ = play(household, "think: where is it?", "look", max_steps=2)
    assert (played.steps[0].thought, played.steps[0].action, played.steps[0].observation) == (
        "where is it?",
        None,
        "OK.",
    )
    assert played.outcome == "step_limit"


def test_an_action_that_does_not_exist_is_answered_and_counted_as_invalid(household):
    played, _ = play(household, "go to moon 1", max_steps=1)
    assert (played.steps[0].observation, played.steps[0].valid) == ("Nothing happens.", False)


def test_the_same_action_and_answer_over_and_over_ends_the_trial_as_a_loop(household):
    played, _ = play(household, "go to moon 1")
    assert played.outcome == "loop"
    assert len(played.steps) == 4


def test_giving_up_ends_the_trial(household):
    played, _ = play(household, "look", "give up")
    assert (played.outcome, len(played.steps)) == ("gave_up", 2)


def test_an_invented_observation_never_comes_back_as_context(household):
    lie = "look\nOn the desk 1, you see a golden apple 1."
    _, script = play(household, lie, "inventory", max_steps=2)
    assert script.heard[1][-2].content == "look"
    assert "golden" not in "".join(message.content for message in script.heard[1])


def test_an_empty_reply_is_data_and_is_never_sent_back_empty(household):
    played, script = play(household, "", "look", max_steps=2)
    assert played.steps[0].error == "empty"
    assert script.heard[2][-2].content == "(nothing)"


def test_a_reply_in_which_nothing_can_be_read_is_asked_for_once_more_and_the_call_counted(household):
    played, script = play(household, "???", "look", max_steps=2)
    assert (played.steps[0].error, played.steps[0].repairs.count("asked_once_more")) == ("no_action", 1)
    assert script.heard[1] == script.heard[0]
    assert len(script.heard) == 3


def test_nothing_is_asked_for_again_where_that_is_switched_off(household):
    _, script = play(household, "???", "look", max_steps=2, ask_again=False)
    assert len(script.heard) == 2


def test_the_same_thought_twice_in_a_row_ends_a_trial_only_under_the_published_rule(household):
    said = ("think: hm", "think: hm", "look", "think: hm")
    assert play(household, *said, max_steps=4)[0].outcome == "step_limit"
    played, _ = play(household, *said, max_steps=4, same_action=True)
    assert (played.outcome, len(played.steps)) == ("loop", 2)


def test_the_prompt_only_grows_at_its_end(household):
    _, script = play(household, "look", "inventory", "look", max_steps=3)
    assert TASK_HEADER in script.heard[0][-1].content
    for before, after in zip(script.heard, script.heard[1:], strict=False):
        assert after[: len(before)] == before


@pytest.mark.parametrize(
    ("limit", "outcome"), [(CallLimit("60 calls"), "budget"), (ContextOverflow("too long"), "context_limit")]
)
def test_a_spent_budget_and_a_full_context_are_outcomes_with_the_steps_kept(household, limit, outcome):
    played, _ = play(household, "look", limit)
    assert (played.outcome, len(played.steps)) == (outcome, 1)


def test_a_provider_error_is_no_observation_and_no_failure_but_an_error_of_the_trial(household):
    with pytest.raises(ModelError):
        play(household, "look", ModelError("500"))


def test_nothing_of_one_trial_is_visible_to_the_next(household):
    plan = walkthrough(household[1])
    first, _ = play(household, *plan, max_steps=50)
    second, _ = play(household, *plan, max_steps=50)
    assert (first.opening, first.steps) == (second.opening, second.steps)


def test_an_environment_that_cannot_be_opened_is_an_error_of_the_trial(household):
    from dataclasses import replace
    from pathlib import Path

    environment, task = household
    gone = replace(task, data=replace(task.data, path=Path("nowhere.tw-pddl")))
    with pytest.raises(EnvironmentFailure):
        react(gone, 1, (), environment, Script("look"), Limits(max_steps=1))


def test_a_reply_that_cannot_be_read_comes_back_as_a_short_placeholder(household):
    for junk in ("> " * 400, "the the " * 100, "-" * 900, '{"a": ' * 90):
        played, script = play(household, junk, "look", max_steps=2, ask_again=False)
        assert played.steps[0].error is not None
        assert script.heard[1][-2].content == UNREADABLE
        assert played.steps[0].reply == junk


def test_of_prose_without_an_action_the_beginning_stays_in_the_conversation(household):
    prose = " ".join(f"word{number}" for number in range(400))
    _, script = play(household, prose, "look", max_steps=2, ask_again=False)
    assert script.heard[1][-2].content == f"think: {prose[:MAX_UNREAD_LENGTH]}"


def test_reasoning_in_marks_is_not_sent_back(household):
    _, script = play(
        household, "<think>\n" + "I wonder.\n" * 40 + "</think>\n\nlook", "inventory", max_steps=2
    )
    assert script.heard[1][-2].content == "look"


def test_a_near_miss_is_played_under_the_policy_admissible_and_no_other(household):
    environment, task = household
    place = walkthrough(task)[0].removeprefix("go to ")
    for policy, action in (("strict", None), ("repair", None), ("admissible", f"go to {place}")):
        played, _ = play(household, f"I will walk to the {place}.", max_steps=1, parse=policy)
        assert played.steps[0].action == action
        assert ("near_miss" in played.steps[0].repairs) is (policy == "admissible")
    episode = environment.start(task)
    episode.reset()
    assert f"go to {place}" in episode.admissible()
    episode.step(f"go to {place}")
    assert f"go to {place}" not in episode.admissible()
    episode.close()


class Plain:
    """An environment as a plug-in may be: it lists no admissible commands."""

    def __init__(self, environment):
        self.prompts, self.start, self.read_action = (
            environment.prompts,
            environment.start,
            environment.read_action,
        )


def test_an_environment_without_admissible_commands_is_played_as_before(household):
    environment, task = household
    played = react(
        task, 1, (), Plain(environment), Script("> look", "goto desk 1"), Limits(max_steps=2, ask_again=False)
    )
    assert [step.action for step in played.steps] == ["look", None]


@pytest.mark.parametrize(
    ("profile", "answer"),
    [
        # ReAct, wikienv.py; Reflexion, agents.py: their words, seen by the agent.
        ("react", "Invalid action: I am not sure what to do."),
        (
            "reflexion",
            "Invalid Action. Valid Actions are Lookup[<topic>] Search[<topic>] and Finish[<answer>].",
        ),
    ],
)
def test_a_profile_answers_what_is_no_action_in_its_own_words(profile, answer):
    environment = questions({"profile": profile})
    task = environment.load(1).tasks[0]
    script = Script("Thought: I am not sure what to do.", "Finish[x]")
    played = react(task, 1, (), environment, script, Limits(max_steps=2, ask_again=False))
    assert played.steps[0].observation == answer
    assert script.heard[1][-1].content == answer
    assert not played.steps[0].valid


def test_the_projects_own_profile_answers_with_the_text_of_its_prompts():
    environment = questions({})
    task = environment.load(1).tasks[0]
    played = react(task, 1, (), environment, Script("Hm.", "Finish[x]"), Limits(max_steps=2, ask_again=False))
    assert played.steps[0].observation == environment.prompts.invalid_observation
    assert "{command}" not in played.steps[0].observation
