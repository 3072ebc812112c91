"""What of a reply is reasoning and what is the answer, whatever the form; and where stops apply."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from loopback import Loopback, chat, completion

from reflex_bench.models.base import Message, Request
from reflex_bench.models.openai.model import OpenAIModel
from reflex_bench.models.openai.reasoning import sent_back, split_text
from reflex_bench.models.openai.usage import read_usage

Connect = Callable[..., OpenAIModel]


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("go to desk 1", "go to desk 1", ""),
        ("<think>\nI go.\n</think>\n\ngo to desk 1", "go to desk 1", "I go."),
        ("Okay, I should go.\n</think>\n\ngo to desk 1", "go to desk 1", "Okay, I should go."),
        ("<think>\n\n</think>\n\ngo to desk 1", "go to desk 1", ""),
        ("<think>a</think>\n<think>b</think>\ngo to desk 1", "go to desk 1", "a\n\nb"),
        ("<seed:think>I go</seed:think>go to desk 1", "go to desk 1", "I go"),
        ("◁think▷I go◁/think▷go to desk 1", "go to desk 1", "I go"),
        ("[THINK]I go[/THINK]go to desk 1", "go to desk 1", "I go"),
        ("Sure.\n<think>hm</think>\ngo to desk 1", "Sure.\n\ngo to desk 1", "hm"),
        ("<think>\nI should go to desk 1 and then", "", "I should go to desk 1 and then"),
        ("<THINKING>x</THINKING>look", "look", "x"),
        ("<think>a</think><think>b", "", "a\nb"),
        (
            "<|channel|>analysis<|message|>We go.<|end|><|start|>assistant<|channel|>final<|message|>go to desk 1",
            "go to desk 1",
            "We go.",
        ),
        ("analysisWe need to go.assistantfinalgo to desk 1", "go to desk 1", "We need to go."),
        ("<|channel|>analysis<|message|>We go", "", "We go"),
        # A whole turn within: what is to be made of it, the reader of texts decides.
        ("<think>Action: Search[A]</think>", "<think>Action: Search[A]</think>", "Action: Search[A]"),
        ("2 < 3 and <b>bold</b>", "2 < 3 and <b>bold</b>", ""),
    ],
)
def test_marks_of_reasoning_in_a_text_are_understood(text: str, answer: str, reasoning: str) -> None:
    split = split_text(text)
    assert (split.text, split.reasoning) == (answer, reasoning)


INSIDE = "<think>\nThe room.\nYou are in the middle.\nObservation 1: a lamp\n</think>\n\ngo to desk 1\nYou see a lamp."


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_a_reply_is_never_cut_at_a_stop_inside_its_reasoning(
    loopback: Loopback, connect: Connect, api: str
) -> None:
    loopback.play(chat(INSIDE) if api == "chat" else completion(INSIDE))
    reply = connect(api=api).complete(Request((Message("user", "x"),), stop=("\nYou ", "\nObservation")))
    assert reply.text == "go to desk 1"
    assert reply.reasoning == "The room.\nYou are in the middle.\nObservation 1: a lamp"


def test_an_answer_that_speaks_of_thinking_is_cut_at_its_stops_all_the_same(
    loopback: Loopback, connect: Connect
) -> None:
    loopback.play(chat("<think>Hm.</think>look\nYou see: think"))
    assert connect().complete(Request((Message("user", "x"),), stop=("\nYou ",))).text == "look"


@pytest.mark.parametrize(
    ("message", "form"),
    [
        ({"reasoning_content": "I go."}, "reasoning_content"),
        ({"reasoning": "I go.", "reasoning_content": None}, "reasoning"),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "I go."}]}, "reasoning_details"),
        ({"reasoning_details": [{"type": "reasoning.summary", "summary": "I go."}]}, "reasoning_details"),
        ({"thinking": "I go."}, "thinking"),
    ],
)
def test_every_field_of_reasoning_is_read_and_sent_back_as_it_came(
    loopback: Loopback, connect: Connect, message: dict[str, object], form: str
) -> None:
    loopback.play(chat("look", **message))
    reply = connect().complete(Request((Message("user", "x"),)))
    assert (reply.text, reply.reasoning, reply.reasoning_form) == ("look", "I go.", form)
    turn = Message("assistant", reply.text, reply.reasoning_data or reply.reasoning, reply.reasoning_form)
    connect().complete(Request((Message("user", "x"), turn, Message("user", "y"))))
    assert loopback.posts[1].body["messages"][1] == {
        "role": "assistant",
        "content": "look",
        form: message[form],
    }


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": "I go."},
        {"type": "thinking", "thinking": [{"type": "text", "text": "I "}, {"type": "text", "text": "go."}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I go."}]},
        {"type": "reasoning", "text": "I go."},
    ],
)
def test_parts_of_reasoning_in_the_content_are_no_text(
    loopback: Loopback, connect: Connect, part: dict[str, object]
) -> None:
    loopback.play(chat([part, {"type": "text", "text": "look"}]))
    reply = connect().complete(Request((Message("user", "x"),)))
    assert (reply.text, reply.reasoning, reply.reasoning_form) == ("look", "I go.", "content")
    said, more = sent_back(reply.text, reply.reasoning_data, reply.reasoning_form)
    assert (said, more) == ("<think>\nI go.\n</think>\n\nlook", {})


def test_a_stop_that_ends_replies_inside_their_reasoning_is_applied_here_instead(
    loopback: Loopback, connect: Connect
) -> None:
    def stopping(call: object) -> object:
        # As servers do that look for stops in the reasoning, too.
        stopped = "stop" in call.body  # type: ignore[attr-defined]
        return chat(
            "" if stopped else "look\nYou see", reasoning_content="The room." if stopped else "Whole."
        )

    loopback.answer = stopping  # type: ignore[assignment]
    model = connect()
    asked = Request((Message("user", "x"),), stop=("\nYou ",))
    assert [model.complete(asked).text for _ in range(2)] == ["look", "look"]
    assert ["stop" in call.body for call in loopback.posts] == [True, False, False]
    assert model.settings()["changed_parameters"] == {"stop": "left out"}


def test_a_reply_that_begins_with_a_stop_is_the_models_and_no_fault_of_the_server(
    loopback: Loopback, connect: Connect
) -> None:
    loopback.answer = lambda call: chat("" if "stop" in call.body else "\nObservation: a lamp")
    reply = connect().complete(Request((Message("user", "x"),), stop=("\nObservation",)))
    assert (reply.text, reply.finish, len(loopback.posts), len(reply.lost)) == ("", "stop", 2, 1)


@pytest.mark.parametrize(
    "finish", ["content_filter: violence", "SAFETY", "sensitive", "RECITATION", "refusal", "Content-Filter"]
)
def test_a_withheld_reply_is_a_content_filter_under_every_name(
    loopback: Loopback, connect: Connect, finish: str
) -> None:
    from reflex_bench.core.errors import ModelError

    loopback.play(chat("I was", finish))
    with pytest.raises(ModelError, match="content filter"):
        connect().complete(Request((Message("user", "x"),)))


@pytest.mark.parametrize("finish", ["model_length", "MAX_TOKENS", "max_output_tokens", "length"])
def test_the_end_of_the_room_has_one_name(loopback: Loopback, connect: Connect, finish: str) -> None:
    loopback.play(chat("go to", finish))
    assert connect().complete(Request((Message("user", "x"),))).finish == "length"


def test_an_unknown_ending_is_no_silent_empty_reply(loopback: Loopback, connect: Connect) -> None:
    loopback.play(chat("", "strange"), chat("look", "strange"))
    reply = connect(max_retries=1).complete(Request((Message("user", "x"),)))
    assert (reply.text, reply.finish, len(loopback.posts)) == ("look", "strange", 2)


def test_reasoning_that_no_server_counts_is_estimated_from_the_lengths_and_marked() -> None:
    # 30 of 40 characters were reasoning: of 8 tokens, 6.
    told = read_usage({"prompt_tokens": 5, "completion_tokens": 8}, "a" * 10, "b" * 30)
    assert (told.reasoning_tokens, told.reasoning_estimated) == (6, True)
    counted = read_usage(
        {"prompt_tokens": 5, "completion_tokens": 8, "completion_tokens_details": {"reasoning_tokens": 5}},
        "a",
        "b",
    )
    assert (counted.reasoning_tokens, counted.reasoning_estimated) == (5, False)


def test_a_stream_is_put_together_with_its_reasoning_its_calls_and_its_usage(
    loopback: Loopback, connect: Connect
) -> None:
    def event(**delta: object) -> dict[str, object]:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}

    def call(arguments: str, **more: object) -> dict[str, object]:
        return event(tool_calls=[{"index": 0, "function": {"arguments": arguments, **more}}])

    chunks: list[object] = [
        event(role="assistant", content=None, reasoning_content="I "),
        event(reasoning_content="go."),
        event(content="lo"),
        event(content="ok"),
        call('{"a":', name="Search"),
        call(" 1}"),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 4}},
    ]
    body = ": OPENROUTER PROCESSING\n\n" + "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    answer = chat("").but(body=body.encode(), headers={"Content-Type": "text/event-stream"})
    # One that breaks off before its end is no reply.
    torn = answer.but(body=body[: body.index("tool_calls")].encode())
    loopback.play(torn, answer.but(body=body.encode() + b"data: [DONE]\n\n"))
    reply = connect().complete(Request((Message("user", "x"),)))
    assert (reply.text, reply.reasoning, reply.finish, len(loopback.posts)) == ("look", "I go.", "stop", 2)
    assert [(each.name, each.arguments) for each in reply.calls] == [("Search", '{"a": 1}')]
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (7, 4)
