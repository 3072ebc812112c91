"""The simulated model behind the protocol: it sees messages, temperature and seed, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflex_bench.agents.messages import opening, reflecting, transcript
from reflex_bench.core.errors import UsageError
from reflex_bench.core.shared_texts import MEMORY_HEADER
from reflex_bench.envs import prompts
from reflex_bench.models.base import Message, Request, ToolCall
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.simulated import model as simulated

ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a bed 1, a desk 1, a drawer 2, a drawer 1, "
    "a garbagecan 1, a shelf 2, a shelf 1, and a sidetable 1.\n\nYour task is to: put some mug on shelf."
)
TEXTS = prompts.load("alfworld")
MODEL = simulated.create("", ModelOptions())


def first_turn(*memory: str, temperature: float = 0.0, seed: int | None = None) -> Request:
    return Request(opening(TEXTS, "put", ROOM, memory), temperature, seed=seed)


def test_the_same_messages_get_the_same_reply_at_temperature_0_whatever_the_seed() -> None:
    replies = {MODEL.complete(first_turn(seed=seed)).text for seed in (None, 0, 1, 2, 3)}
    assert len(replies) == 1


def test_above_temperature_0_the_seed_decides_and_k_samples_differ() -> None:
    texts = [MODEL.complete(first_turn(temperature=0.7, seed=seed)).text for seed in range(12)]
    assert len(set(texts)) > 4
    assert texts == [MODEL.complete(first_turn(temperature=0.7, seed=seed)).text for seed in range(12)]


def test_it_sees_only_what_a_request_holds() -> None:
    request = first_turn("The mug 1 was in drawer 1.", temperature=0.7, seed=5)
    copied = Request(
        tuple(Message(message.role, str(message.content)) for message in request.messages), 0.7, seed=5
    )
    assert simulated.create("", ModelOptions()).complete(copied) == MODEL.complete(request)


def test_nothing_but_memory_and_task_decides_how_a_trial_begins() -> None:
    request = first_turn("The mug 1 was in drawer 1.", temperature=0.7, seed=5)
    task = request.messages[-1].content.partition(MEMORY_HEADER)
    bare = (Message("system", "Play."), Message("user", task[1] + task[2]))
    assert MODEL.complete(replace(request, messages=bare)).text == MODEL.complete(request).text


def test_usage_is_an_estimate_of_four_characters_a_token_and_the_cost_is_unknown() -> None:
    messages = (Message("system", "12345678"), Message("user", "123456789"))
    reply = MODEL.complete(Request(messages))
    assert (reply.usage.prompt_tokens, reply.usage.cached_tokens, reply.cost) == (2 + 3, None, None)
    assert reply.usage.completion_tokens == -(-len(reply.text) // 4)
    assert "estimated" in MODEL.settings()["tokens"]


def test_the_estimate_counts_what_is_sent_the_running_text_calls_and_definitions_of_tools() -> None:
    call = ToolCall("Look", '{"a": 1}')
    turns = (Message("user", "x", text="12345678"), Message("assistant", "1234", call=call, call_id="c1"))
    reply = MODEL.complete(Request(turns, tools=({"a": 123},)))
    assert reply.usage.prompt_tokens == 2 + (4 + 4 + 8) // 4 + len('[{"a": 123}]') // 4


def test_stop_sequences_and_the_limit_cut_the_reply() -> None:
    whole = MODEL.complete(first_turn()).text
    assert (
        MODEL.complete(replace(first_turn(), stop=("zzz", "I start"))).text == whole.partition("I start")[0]
    )
    short = MODEL.complete(replace(first_turn(), max_tokens=5))
    assert (short.text, short.finish) == (whole[:20], "length")
    assert MODEL.complete(first_turn()).finish == "stop"


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (Message("user", "Hello"),),
        (Message("user", "Here is your task.\nWhich town is older?"),),
        (Message("user", "Here is your task.\nWhich town is older?\nSTATUS: FAILED\n\nReflection:"),),
    ],
)
def test_what_it_does_not_know_it_says_it_does_not_know(messages: tuple[Message, ...]) -> None:
    assert MODEL.complete(Request(messages)).text == simulated.UNKNOWN


def test_a_conversation_that_ends_with_the_request_for_a_reflection_gets_one() -> None:
    turns = [
        ("think: A desk, then.", "OK."),
        ("go to desk 1", "You arrive at desk 1. On the desk 1, you see a pen 1."),
    ]
    episode = transcript(ROOM, [*turns, ("give up", "")], "STATUS: FAILED (you gave up)")
    reply = MODEL.complete(Request(reflecting(TEXTS, episode, ())))
    assert reply.text.startswith("I gave up")
    assert "desk 1: no mug there" in reply.text


def test_it_says_that_it_is_simulated_and_that_there_is_only_one_of_it() -> None:
    assert MODEL.simulated
    assert MODEL.name == "simulated"
    assert list(MODEL.check()) == []
    with pytest.raises(UsageError, match="there is one simulated model"):
        simulated.create("large", ModelOptions())
