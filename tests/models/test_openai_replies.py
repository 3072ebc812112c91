"""What goes out over a real socket, and what is made of the replies that come back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from loopback import Answer, Loopback, as_json, chat, completion, usage

from reflex_bench.models.base import Message, Request, ToolCall, Usage
from reflex_bench.models.openai.model import OpenAIModel
from reflex_bench.models.openai.wire import as_text
from reflex_bench.models.prices import Prices

Connect = Callable[..., OpenAIModel]

TALK = (
    Message("system", "Play."),
    Message("user", "You see a desk 1."),
    Message("assistant", "think: look there\ngo to desk 1"),
    Message("user", "On the desk 1, you see nothing."),
)


def asked(text: str = "hello", **fields: object) -> Request:
    return Request((Message("user", text),), **fields)


def test_a_chat_request_carries_everything_that_decides_the_reply(
    loopback: Loopback, connect: Connect
) -> None:
    connect(key="key-of-the-test").complete(Request(TALK, 0.7, 99, ("\n", "END"), seed=5))
    (call,) = loopback.posts
    assert call.path == "/v1/chat/completions"
    assert call.headers["authorization"] == "Bearer key-of-the-test"
    assert call.body == {
        "model": "loopback",
        "messages": [{"role": turn.role, "content": turn.content} for turn in TALK],
        "temperature": 0.7,
        "max_tokens": 99,
        "stop": ["\n", "END"],
        "seed": 5,
    }


def test_what_a_request_leaves_open_is_not_sent(loopback: Loopback, connect: Connect) -> None:
    connect().complete(asked())
    assert set(loopback.posts[0].body) == {"model", "messages", "temperature", "max_tokens"}


def test_seeds_are_folded_into_the_range_that_every_server_takes(
    loopback: Loopback, connect: Connect
) -> None:
    connect().complete(asked(seed=2**63 + 17))
    assert loopback.posts[0].body["seed"] == 17


def test_a_reply_brings_text_usage_finish_model_and_fingerprint(loopback: Loopback, connect: Connect) -> None:
    loopback.play(chat(" go to desk 1 ", "stop", usage(120, 7, 96)).but(wait=0.05))
    reply = connect().complete(asked())
    assert reply.text == " go to desk 1 "
    assert reply.usage == Usage(120, 7, 96)
    assert (reply.finish, reply.model, reply.server) == ("stop", "loopback-2026-01-01", "fp_loopback")
    assert reply.cost is None
    assert 0.05 <= reply.seconds < 2.0


def test_reasoning_is_no_part_of_the_text(loopback: Loopback, connect: Connect) -> None:
    loopback.play(chat("look", reasoning_content="Let me think.", reasoning="Let me think."))
    parts = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "go "},
        {"type": "text", "text": "on"},
    ]
    loopback.play(chat(parts))
    model = connect()
    assert [model.complete(asked()).text for _ in range(2)] == ["look", "go on"]


@pytest.mark.parametrize("content", ["", None])
def test_no_text_is_a_reply_with_empty_text(
    loopback: Loopback, connect: Connect, content: str | None
) -> None:
    loopback.play(chat(content, "length"))
    reply = connect().complete(asked())
    assert (reply.text, reply.finish) == ("", "length")
    assert len(loopback.posts) == 1


def test_missing_or_absurd_usage_is_unknown_and_not_zero(loopback: Loopback, connect: Connect) -> None:
    odd = {"prompt_tokens": "12", "completion_tokens": -1, "prompt_tokens_details": {"cached_tokens": True}}
    loopback.play(
        chat("a", tokens={}), chat("b", tokens=odd), as_json({"choices": [{"message": {"content": "c"}}]})
    )
    model = connect(prices=Prices(1.0, 1.0))
    replies = [model.complete(asked()) for _ in range(3)]
    assert [reply.text for reply in replies] == ["a", "b", "c"]
    assert [reply.usage for reply in replies] == [Usage(None, None, None)] * 3
    assert [reply.cost for reply in replies] == [None] * 3


def test_cost_follows_the_prices_given(loopback: Loopback, connect: Connect) -> None:
    loopback.play(chat("a", tokens=usage(1000, 200, 400)))
    # 600 at 2 dollars, 400 at 0.5, 200 at 8, a million each: 1200 + 200 + 1600 = 3000 millionths.
    reply = connect(prices=Prices(2.0, 8.0, 0.5)).complete(asked())
    assert reply.cost == pytest.approx(0.003)


def test_text_ends_at_the_first_stop_whatever_the_server_does(loopback: Loopback, connect: Connect) -> None:
    loopback.play(chat("go to desk 1\nObservation: a lamp\n5", "length"))
    reply = connect().complete(asked(stop=("1", "2", "3", "4", "\nObservation")))
    assert loopback.posts[0].body["stop"] == ["1", "2", "3", "4"]
    assert (reply.text, reply.finish) == ("go to desk ", "stop")
    loopback.play(chat("go to a desk\nObservation: a lamp\n5", "length"))
    assert connect().complete(asked(stop=("1", "2", "3", "4", "\nObservation"))).text == "go to a desk"


def test_half_a_surrogate_pair_does_not_reach_the_journal(loopback: Loopback, connect: Connect) -> None:
    raw = b'{"choices":[{"finish_reason":"stop","message":{"content":"a\\ud83d b \\ud83d\\ude00 \\u00e9"}}]}'
    loopback.play(Answer(raw))
    assert connect().complete(asked()).text == "a? b 😀 é"


def test_a_conversation_becomes_one_text_in_which_each_turn_reads_as_it_says() -> None:
    written = (
        Message("system", "Play."),
        Message("user", "Seen.", text="Observation 1: Seen."),
        Message("assistant", "Thought:", text="Thought 2:"),
    )
    assert as_text(written) == "Play.\nObservation 1: Seen.\nThought 2:"


def test_a_request_for_a_reflection_stands_in_the_text_as_it_is() -> None:
    assert as_text((Message("system", "Look back."), Message("user", "It failed.\n\nReflection:"))) == (
        "Look back.\nIt failed.\n\nReflection:"
    )


def test_the_completions_api_sends_one_text_and_strips_one_leading_space(
    loopback: Loopback, connect: Connect
) -> None:
    loopback.play(completion("  go to desk 1\nSTATUS lamp 1", "length", usage(40, 9, 30)))
    reply = connect(api="completions").complete(Request(TALK, 0.0, 50, ("\nSTATUS",), seed=1))
    (call,) = loopback.posts
    assert call.path == "/v1/completions"
    assert call.body["prompt"] == as_text(TALK)
    assert call.body["stop"] == ["\nSTATUS"]
    assert "messages" not in call.body
    assert (reply.text, reply.finish, reply.usage) == (" go to desk 1", "stop", Usage(40, 9, 30))


def test_a_running_text_goes_through_chat_as_one_message(loopback: Loopback, connect: Connect) -> None:
    connect().complete(Request((*TALK, Message("assistant", "", text=">")), in_one=True))
    text = f"{as_text(TALK)}\n>"
    assert loopback.posts[0].body["messages"] == [{"role": "user", "content": text}]


def test_what_was_done_with_tools_is_sent_as_calls_and_their_results(
    loopback: Loopback, connect: Connect
) -> None:
    call = ToolCall("Search", '{"entity": "Velm"}')
    connect().complete(
        Request(
            (
                Message("user", "Where is Velm?"),
                Message("assistant", "", call=call, call_id="call00001"),
                Message("tool", "A town.", call_id="call00001"),
            )
        )
    )
    function = {"name": "Search", "arguments": '{"entity": "Velm"}'}
    assert loopback.posts[0].body["messages"] == [
        {"role": "user", "content": "Where is Velm?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call00001", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "A town.", "tool_call_id": "call00001"},
    ]


def test_what_a_template_demands_of_messages_leaves_calls_and_their_results_apart(
    loopback: Loopback, connect: Connect
) -> None:
    talk = [Message("system", "Play."), Message("user", "Where is Velm?")]
    for number in ("call00001", "call00002"):
        talk.append(Message("assistant", "", call=ToolCall("Search", "{}"), call_id=number))
        talk.append(Message("tool", "", call_id=number))
    refusals = [
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "message content must not be empty",
    ]
    loopback.play(*(as_json({"error": {"message": text}}, 400) for text in refusals))
    connect().complete(Request(tuple(talk)))
    turns = loopback.posts[-1].body["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "tool", "assistant", "tool"]
    assert [turn["content"] for turn in turns[1:]] == ["(nothing)"] * 4
    assert [turn.get("tool_call_id") for turn in turns] == [None, None, "call00001", None, "call00002"]


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_half_a_surrogate_pair_in_a_prompt_is_posted_as_a_question_mark(
    connect: Connect, loopback: Loopback, api: str
) -> None:
    connect(api=api).complete(asked("a page with \ud800 in it, and ü"))
    assert "a page with ? in it, and ü" in str(loopback.posts[0].body)


def test_sixty_four_threads_share_one_client_and_all_their_calls_run_at_once(
    connect: Connect, loopback: Loopback
) -> None:
    together = threading.Barrier(64, timeout=20)

    def echo(call: object) -> Answer:
        together.wait()
        return chat(call.body["messages"][0]["content"])

    loopback.answer = echo
    model = connect(timeout=30.0, max_connections=64)
    with ThreadPoolExecutor(64) as pool:
        texts = list(pool.map(lambda number: model.complete(asked(f"say {number}")).text, range(128)))
    assert texts == [f"say {number}" for number in range(128)]
    assert loopback.busiest == 64


def test_calls_beyond_the_connections_wait_and_do_not_time_out(loopback: Loopback, connect: Connect) -> None:
    loopback.answer = lambda call: chat("ok").but(wait=0.5)
    model = connect(max_connections=2, timeout=2.0, max_retries=0)
    with ThreadPoolExecutor(12) as pool:
        texts = list(pool.map(lambda number: model.complete(asked(str(number))).text, range(12)))
    assert texts == ["ok"] * 12
    assert loopback.busiest == 2


def test_closing_twice_is_harmless(connect: Connect) -> None:
    model = connect()
    model.close()
    model.close()
    assert model.settings()["kind"] == "openai"
