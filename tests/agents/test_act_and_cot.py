"""Agents that think less, or act less, than ReAct."""

import pytest

from reflex_bench.agents.act import act, without_thoughts
from reflex_bench.agents.base import Limits
from reflex_bench.agents.cot import cot, cot_gold
from reflex_bench.envs.alfworld.environment import create as alfworld
from reflex_bench.envs.hotpotqa.environment import create as hotpotqa
from reflex_bench.models.base import Reply


class Script:
    """An `Ask` that says one line and keeps what it heard."""

    def __init__(self, line):
        self.line, self.heard = line, []

    def __call__(self, messages, step, stop=()):
        self.heard.append(list(messages))
        return Reply(self.line)


@pytest.fixture(scope="module")
def quiz():
    environment = hotpotqa({})
    yield environment, environment.load(10).tasks[0]
    environment.close()


def test_the_examples_of_act_are_those_of_react_without_their_thoughts():
    environment = alfworld({})
    thoughtful, thoughtless = environment.prompts, without_thoughts(environment)
    for kind, examples in thoughtful.examples.items():
        for whole, stripped in zip(examples, thoughtless.examples[kind], strict=True):
            said = [reply for _, reply in whole.turns if not reply.startswith("think:")]
            assert [reply for _, reply in stripped.turns] == said
            assert stripped.turns[0][0] == whole.turns[0][0], (
                "the task itself must not go with the first thought"
            )
    assert "think" not in thoughtless.instruction.lower()
    environment.close()


def test_act_plays_with_these_prompts(quiz):
    environment, task = quiz
    script = Script("Action: Search[nothing]")
    act(task, 1, (), environment, script, Limits(max_steps=1))
    assert not [turn for turn in script.heard[0] if turn.role == "assistant" and "Thought" in turn.content]


def test_chain_of_thought_has_one_turn_and_its_answer_is_scored(quiz):
    environment, task = quiz
    script = Script(f"Thought: I know it.\nAction: Finish[{task.data.answer}]")
    played = cot(task, 1, (), environment, script, Limits(max_steps=7))
    assert (played.outcome, len(script.heard)) == ("success", 1)
    assert (played.steps[0].thought, played.result["em"]) == ("I know it.", 1)


def test_a_turn_without_an_answer_is_no_wrong_answer(quiz):
    environment, task = quiz
    played = cot(task, 1, (), environment, Script("Action: Search[somewhere]"), Limits(max_steps=7))
    assert (played.outcome, played.result["answer"]) == ("step_limit", None)


def test_the_gold_paragraphs_stand_above_the_question_only_where_they_are_asked_for(quiz):
    environment, task = quiz
    alone, helped = Script("Action: Finish[x]"), Script("Action: Finish[x]")
    cot(task, 1, (), environment, alone, Limits(max_steps=7))
    cot_gold(task, 1, (), environment, helped, Limits(max_steps=7))
    gold = [page for page in task.data.pages if page.title in task.data.gold_titles]
    assert len(gold) == 2
    for page in gold:
        assert page.text in helped.heard[0][-1].content
        assert page.text not in alone.heard[0][-1].content
