"""The texts that put ALFWorld before a model: their shape, their cost, and that the game really says what they say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from reflex_bench.agents.messages import opening, reflecting
from reflex_bench.envs import prompts
from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.generator import Recipe, generate_one
from reflex_bench.envs.alfworld.parsing.actions import read_action
from reflex_bench.envs.base import Example, Prompts

TYPES = ["put", "clean", "heat", "cool", "examine", "puttwo"]
SEED = 20260


@pytest.fixture(scope="module")
def alfworld() -> Prompts:
    return prompts.load("alfworld")


def episodes(texts: Prompts) -> Iterator[tuple[int, Example, bool]]:
    """Every episode with the number of its game and whether it was won, in the order of the file."""
    source = files(prompts).joinpath("alfworld.yaml").read_text(encoding="utf-8")
    numbers = map(int, re.findall(r"# game (\d+)", source))
    for examples in texts.examples.values():
        for example in examples:
            yield next(numbers), example, True
    for episode, _ in texts.reflection_examples:
        yield next(numbers), prompts.parse_example(episode), False
    assert next(numbers, None) is None


def test_every_task_type_has_two_examples_of_its_own(alfworld: Prompts) -> None:
    assert list(alfworld.examples) == TYPES
    assert all(len(examples) == 2 for examples in alfworld.examples.values())
    assert len({examples[0].turns[0] for examples in alfworld.examples.values()}) == len(TYPES)


@pytest.mark.parametrize("kind", TYPES)
def test_an_example_is_short_and_begins_with_a_plan(alfworld: Prompts, kind: str) -> None:
    for example in alfworld.examples[kind]:
        said = [turn[1] for turn in example.turns]
        assert said[0].startswith("think: ")
        assert 6 <= len(said) <= 14


@pytest.mark.parametrize("kind", TYPES)
def test_the_prompt_of_a_type_stays_under_four_thousand_characters(alfworld: Prompts, kind: str) -> None:
    conversation = opening(alfworld, kind, "", ())
    assert sum(len(message.content) for message in conversation) < 4000


def test_everything_the_agent_says_in_the_episodes_is_of_the_exact_form(alfworld: Prompts) -> None:
    for _, example, _ in episodes(alfworld):
        for _, said in example.turns:
            action = read_action(said, "strict")
            assert action.error is None
            assert not action.repairs


def test_the_forms_in_which_turns_are_kept_are_those_of_the_examples(alfworld: Prompts) -> None:
    assert read_action(alfworld.thought_form.format("a plan"), "strict").thought == "a plan"
    assert read_action(alfworld.action_form.format("go to desk 1"), "strict").command == "go to desk 1"


def test_the_game_says_every_word_that_the_episodes_let_it_say(alfworld: Prompts) -> None:
    for number, example, won in episodes(alfworld):
        game = Game.from_json(json.loads(generate_one(Recipe(SEED, generator=1), number).game))
        answer = game.reset().observation.split("\n\n", 1)[1].strip()
        for seen, said in example.turns:
            assert seen == answer
            if said.startswith("think:"):
                answer = alfworld.thought_observation
            elif said == "give up":
                answer = ""
            else:
                answer = game.step(said).observation
        assert example.closing.removesuffix("\n").startswith(answer)
        assert game.won is won


def test_examples_belong_to_the_type_they_stand_under(alfworld: Prompts) -> None:
    numbers = [number for number, _, won in episodes(alfworld) if won]
    assert [generate_one(Recipe(SEED, generator=1), number).type for number in numbers] == [
        kind for kind in TYPES for _ in range(2)
    ]


def test_reflection_examples_tell_a_failure_and_two_to_four_sentences_about_it(alfworld: Prompts) -> None:
    assert len(alfworld.reflection_examples) == 2
    for episode, reflection in alfworld.reflection_examples:
        assert "STATUS: FAILED (" in episode.splitlines()[-1]
        assert 2 <= len(re.findall(r"[.!?](?:\s|$)", reflection)) <= 4
        assert "Next time" in reflection


def test_a_reflectors_conversation_ends_with_the_failed_attempt(alfworld: Prompts) -> None:
    system, user = reflecting(alfworld, "the failed attempt", ("an earlier note",))
    assert system.content == alfworld.reflection_instruction
    assert user.content.index("the failed attempt") > user.content.index(alfworld.reflection_examples[1][1])
