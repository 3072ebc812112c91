"""The client of one model in one role: what it asks, counts and hands out from the journal, and where it stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from small_world import Scripted

from reflex_bench.agents.base import CallLimit
from reflex_bench.core.errors import ContextOverflow, ModelError, RunStopped
from reflex_bench.core.jsonl import read_lines
from reflex_bench.envs.base import Action
from reflex_bench.harness.planning.roles import RoleConfig
from reflex_bench.harness.running.role_client import RoleClient, derive_seed, sent_back
from reflex_bench.harness.storage.journal import Call, Journal
from reflex_bench.models.base import Message, Reply, Usage

CALL = Call("attempt", 0, "react", "n1", 1, 0, "actor")
QUESTION = (Message("user", "0123456789"),)

Client = Callable[..., RoleClient]


def read(text: str) -> Action:
    """An action is a number with a full stop: without the stop, more text would change it."""
    digits = text.strip().partition(".")[0]
    return Action(command=digits) if digits.isdigit() else Action(error="no_action")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """Makes clients of one run; `fresh` reads the journal again, as another process would."""
    file, journals = tmp_path / "calls.jsonl", []

    def make(model: Scripted, fresh: bool = False, **more: Any) -> RoleClient:
        if fresh or not journals:
            journals.append(Journal(file, None, {"n1"} if fresh else None))
        role = RoleConfig(**more.pop("role", {}))
        given = {"call": CALL, "sample": "sample", "limit": 10, "stopping": threading.Event(), **more}
        return RoleClient(model.complete, role, journals[-1], **given)

    yield make
    for journal in journals:
        journal.close()


def cut(text: str, **more: Any) -> Reply:
    return Reply(text, Usage(10, 4, 0), "length", 0.25, **more)


def rooms(model: Scripted) -> list[int]:
    return [request.max_tokens for request in model.asked]


def test_it_counts_calls_tokens_dollars_and_characters(client: Client) -> None:
    first = Reply("1", Usage(100, 20, 60, 5, True), "stop", 0.125)
    second = Reply("2", Usage(130, 10, 100, 3, False), "stop", 0.5)
    ask = client(Scripted([first, second]))
    ask(QUESTION, 1)
    ask((*QUESTION, Message("assistant", "1"), Message("user", "No.")), 2)
    spent = ask.spent
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens, spent.cached_tokens) == (
        2,
        230,
        30,
        160,
    )
    assert (spent.reasoning_tokens, spent.reasoning_estimated, spent.cost) == (8, 5, 0.625)
    # Ten characters, and then fourteen, of which the first ten stood there before.
    assert (spent.prompt_characters, spent.repeated_characters) == (24, 10)


def test_two_roles_of_a_trial_count_apart(client: Client) -> None:
    actor, reflector = client(Scripted(["1", "2"])), client(Scripted(["why"]))
    actor(QUESTION, 1)
    actor(QUESTION, 2)
    reflector(QUESTION, 1)
    assert (actor.spent.calls, actor.spent.cost) == (2, 1.0)
    assert (reflector.spent.calls, reflector.spent.cost) == (1, 0.5)


@pytest.mark.parametrize("place", [0, 1])
def test_a_sum_with_an_unknown_part_is_unknown(client: Client, place: int) -> None:
    replies = [Reply("1", Usage(10, 2, 0), "stop", 0.5)] * 2
    replies[place] = Reply("1", Usage(10, None, None), "stop", None)
    ask = client(Scripted(replies))
    ask(QUESTION, 1)
    ask(QUESTION, 2)
    spent = ask.spent
    assert (spent.prompt_tokens, spent.completion_tokens, spent.cached_tokens, spent.cost) == (
        20,
        None,
        None,
        None,
    )


def test_a_reply_cut_off_before_its_answer_is_asked_for_with_twice_the_room_up_to_the_ceiling(
    client: Client,
) -> None:
    model = Scripted([cut(""), cut(" "), Reply("7", Usage(10, 9, 0), "stop", 0.5)])
    ask = client(model, role={"max_tokens": 4, "max_tokens_ceiling": 10})
    assert ask(QUESTION, 1).text == "7"
    assert rooms(model) == [4, 8, 10]
    # One call of the agent, and all three answers are paid for.
    assert (ask.spent.calls, ask.spent.asked_again, ask.spent.cut_off) == (1, 1, 0)
    assert (ask.spent.prompt_tokens, ask.spent.completion_tokens, ask.spent.cost) == (30, 17, 1.0)


def test_a_reply_that_is_cut_off_at_the_ceiling_is_taken_and_counted_as_cut_off(client: Client) -> None:
    model = Scripted([cut(""), cut("")])
    ask = client(model, role={"max_tokens": 4, "max_tokens_ceiling": 8})
    assert ask(QUESTION, 1).text == ""
    assert (rooms(model), ask.spent.asked_again, ask.spent.cut_off) == ([4, 8], 1, 1)


def test_a_text_without_an_action_gets_twice_the_room_twice_and_no_more(client: Client) -> None:
    model = Scripted([cut("I wonder")] * 3)
    ask = client(model, role={"max_tokens": 4, "max_tokens_ceiling": 1000}, read=read)
    ask(QUESTION, 1)
    assert (rooms(model), ask.spent.cut_off) == ([4, 8, 16], 1)


@pytest.mark.parametrize(
    ("text", "asked"), [("12.", 1), ("12", 2)], ids=["a whole action", "one that may go on"]
)
def test_an_action_is_asked_for_again_only_where_more_text_would_change_it(
    client: Client, text: str, asked: int
) -> None:
    model = Scripted([cut(text), "12."])
    client(model, role={"max_tokens": 4}, read=read)(QUESTION, 1)
    assert len(model.asked) == asked


def test_a_cut_off_reply_is_whole_in_a_role_that_does_not_act(client: Client) -> None:
    model = Scripted([cut("Look first")])
    ask = client(model, role={"max_tokens": 4})
    assert ask(QUESTION, 1).text == "Look first"
    assert (ask.spent.asked_again, ask.spent.cut_off) == (0, 0)


@pytest.mark.parametrize("failure", [ContextOverflow("too long"), ModelError("never", "not_recorded")])
def test_where_more_room_is_not_to_be_had_the_reply_is_taken_as_it_was_cut(
    client: Client, failure: ModelError
) -> None:
    ask = client(Scripted([cut(""), failure]), role={"max_tokens": 4})
    assert ask(QUESTION, 1).finish == "length"
    assert (ask.spent.calls, ask.spent.asked_again, ask.spent.cut_off) == (1, 1, 1)


def test_another_fault_of_the_second_request_is_a_fault_of_the_call(client: Client) -> None:
    ask = client(Scripted([cut(""), ModelError("down", "server")]), role={"max_tokens": 4})
    with pytest.raises(ModelError, match="down"):
        ask(QUESTION, 1)


def test_an_answered_call_is_handed_out_from_the_journal_and_counted_as_if_it_were_new(
    client: Client,
) -> None:
    first = client(Scripted([cut(""), "7"]), role={"max_tokens": 4})
    first(QUESTION, 1)
    silent = Scripted([])
    second = client(silent, fresh=True, role={"max_tokens": 4})
    assert second(QUESTION, 1).text == "7"
    assert (silent.asked, second.spent) == ([], first.spent)


@pytest.mark.parametrize("other", ["question", "number", "role"])
def test_a_call_that_differs_from_the_recorded_one_is_made(client: Client, other: str) -> None:
    client(Scripted(["7"]))(QUESTION, 1)
    model = Scripted(["8", "9"])
    about = Call("attempt", 0, "react", "n1", 1, 0, "reflector") if other == "role" else CALL
    ask = client(model, fresh=True, call=about)
    question = (Message("user", "another"),) if other == "question" else QUESTION
    if other == "number":
        assert ask(QUESTION, 1).text == "7"
    assert ask(question, 1).text == "8"


def test_the_journal_says_which_call_it_was(client: Client, tmp_path: Path) -> None:
    ask = client(Scripted([cut(""), "7", "8"]), role={"max_tokens": 4})
    ask(QUESTION, 3)
    ask(QUESTION, 5)
    told = [
        (row["attempt"], row["role"], row["call"], row["step"], row.get("again", 0))
        for row in read_lines(tmp_path / "calls.jsonl")
    ]
    assert told == [
        ("attempt", "actor", 1, 3, 0),
        ("attempt", "actor", 1, 3, 1),
        ("attempt", "actor", 2, 5, 0),
    ]


def test_after_its_limit_of_calls_it_asks_no_more(client: Client) -> None:
    model = Scripted(["1", "2"])
    ask = client(model, limit=2)
    ask(QUESTION, 1)
    ask(QUESTION, 2)
    with pytest.raises(CallLimit, match="2 model calls"):
        ask(QUESTION, 3)
    assert (len(model.asked), ask.spent.calls) == (2, 2)


def test_once_the_run_stops_it_hands_out_what_is_recorded_and_asks_nothing_new(client: Client) -> None:
    client(Scripted(["7"]))(QUESTION, 1)
    stopping, silent = threading.Event(), Scripted([])
    stopping.set()
    ask = client(silent, fresh=True, stopping=stopping)
    assert ask(QUESTION, 1).text == "7"
    with pytest.raises(RunStopped):
        ask(QUESTION, 2)
    assert silent.asked == []


def test_empty_answers_are_paid_for_whether_the_call_succeeds_or_not(client: Client) -> None:
    empty = Reply("", Usage(10, 4, 0), "stop", 0.25)
    failure = ModelError("nothing but empty answers", "empty")
    failure.lost = (empty, empty)
    ask = client(Scripted([Reply("7", Usage(10, 2, 0), "stop", 0.5, lost=(empty,)), failure]))
    ask(QUESTION, 1)
    with pytest.raises(ModelError):
        ask(QUESTION, 2)
    assert (ask.spent.calls, ask.spent.lost_calls) == (1, 3)
    assert (ask.spent.prompt_tokens, ask.spent.completion_tokens, ask.spent.cost) == (40, 14, 1.25)


def test_a_request_carries_the_settings_of_its_role(client: Client) -> None:
    model = Scripted(["7"])
    tool = {"type": "function", "function": {"name": "name"}}
    role = {"temperature": 0.2, "max_tokens": 33, "top_p": 0.9, "extra_body": {"mirostat": 2}}
    client(model, role=role, tools=(tool,), in_one=True)(QUESTION, 1, stop=("\n",))
    [request] = model.asked
    assert (request.messages, request.temperature, request.max_tokens) == (QUESTION, 0.2, 33)
    assert (request.stop, request.tools, request.in_one) == (("\n",), (tool,), True)
    assert request.more == {"top_p": 0.9, "mirostat": 2}


def test_every_call_has_a_seed_of_its_own_that_another_run_of_the_sample_has_too(client: Client) -> None:
    def seeds(**more: Any) -> list[int | None]:
        model = Scripted(["1", "2"])
        ask = client(model, fresh=True, **more)
        ask(QUESTION, 1)
        ask(QUESTION, 2)
        return [request.seed for request in model.asked]

    once = seeds(call=Call("a", 0, "react", "n1", 1, 0, "actor"))
    assert len(set(once)) == 2
    assert seeds(call=Call("b", 0, "other", "n1", 1, 0, "actor")) == once
    assert not set(once) & set(seeds(call=Call("c", 0, "react", "n1", 1, 0, "reflector")))
    assert not set(once) & set(seeds(call=Call("d", 0, "react", "n1", 1, 0, "actor"), sample="another"))


def test_a_seed_is_31_bits_of_a_hash() -> None:
    # printf 's/actor/1' | sha256sum begins with 145b50e2; shifted to the right by one bit.
    assert derive_seed("s", "actor", 1) == 0x145B50E2 >> 1
    assert all(derive_seed("s", "actor", number) < 2**31 for number in range(1000))


CONVERSATION = (
    Message("user", "Which?"),
    Message("assistant", "1", reasoning="low", form="content"),
    Message("user", "No."),
    Message("assistant", "2", reasoning="higher", form="content"),
    Message("user", "No."),
)


@pytest.mark.parametrize(
    ("which", "reasoning"),
    [("none", ["", ""]), ("last", ["", "higher"]), ("all", ["low", "higher"])],
)
def test_reasoning_is_sent_back_of_no_turn_of_the_last_one_or_of_all(
    which: Any, reasoning: Sequence[str]
) -> None:
    sent = sent_back(CONVERSATION, which)
    assert [turn.content for turn in sent] == [turn.content for turn in CONVERSATION]
    own = [turn for turn in sent if turn.role == "assistant"]
    assert [turn.reasoning for turn in own] == reasoning
    assert [turn.form for turn in own] == ["content" if each else "" for each in reasoning]


def test_what_the_role_sends_back_is_what_the_model_is_asked_with(client: Client) -> None:
    model = Scripted(["3"])
    client(model, role={"send_reasoning": "last"})(CONVERSATION, 3)
    assert [turn.reasoning for turn in model.asked[0].messages] == ["", "", "", "higher", ""]
