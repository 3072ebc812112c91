"""Reasoning models, empty answers and picky servers, as a person meets them: what is printed, and what is recorded."""

import json

import pytest
from loopback import MODEL, as_json, chat, error, thinking
from overriding import overriding
from reading import rows

from reflex_bench.models.base import Message, Request
from reflex_bench.models.simulated.model import answer

ROOM = 256  # tokens that a reply has at first


def play(call):
    """The simulated player behind a server: it reads the messages of the request, and nothing else."""
    body = call.body
    turns = tuple(Message(turn["role"], turn["content"]) for turn in body["messages"])
    return chat(
        answer(Request(turns, body.get("temperature", 0.7), body["max_tokens"], (), body.get("seed")))
    )


def after_thinking(tokens, field="reasoning_content"):
    """The same player, as a model that thinks for so many tokens before it says the same."""
    return lambda call: as_json(thinking(json.loads(play(call).body), call.body["max_tokens"], tokens, field))


@pytest.fixture
def bench(reflex, loopback, tmp_path):
    """Runs `reflex bench alfworld` on the loopback server, under a name of its own."""

    def run(name, *arguments, **variables):
        usual = ("bench", "alfworld", "--model", f"openai/{MODEL}", "--base-url", loopback.base_url)
        given = ("--run-id", name, "--results", tmp_path, "--quiet", *arguments)
        return reflex(*overriding(usual, *given), **variables)

    return run


@pytest.fixture
def plain(bench, loopback, tmp_path):
    """A run whose model does not think: its trials, and the first table."""
    loopback.answer = play
    done = bench("plain", "--tasks", 3, "--trials", 2)
    assert done.returncode == 0, done.stderr
    return rows(tmp_path / "plain" / "trials.jsonl"), done.stdout


COUNTED = (
    "prompt_tokens",
    "completion_tokens",
    "prompt_characters",
    "repeated_characters",
    "reflection_tokens",
)
COUNTED = (*COUNTED, "reasoning_tokens", "reasoning_estimated", "asked_again", "seconds")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "text"])
def test_a_model_that_thinks_beyond_its_first_room_does_the_same_as_one_that_does_not_think(
    bench, loopback, tmp_path, plain, field
):
    loopback.answer = after_thinking(600, field)
    done = bench("thinks", "--tasks", 3, "--trials", 2)
    assert done.returncode == 0, done.stderr

    def bare(trials):
        return [{name: value for name, value in row.items() if name not in COUNTED} for row in trials]

    trials = rows(tmp_path / "thinks" / "trials.jsonl")
    assert bare(trials) == bare(plain[0])

    def first_table(text, run):
        return text.split("By task type")[0].replace(f"run {run}", "run")

    assert first_table(done.stdout, "thinks") == first_table(plain[1], "plain"), "byte for byte"
    # 256 and 512 leave no room for 600 tokens and an answer; 1,024 do (the reflector begins with 512).
    calls = rows(tmp_path / "thinks" / "calls.jsonl")
    actor = [call for call in calls if call["role"] == "actor"]
    actor.sort(key=lambda call: (call["attempt"], call["call"], call.get("again", 0)))
    assert [call.get("again", 0) for call in actor[:3]] == [0, 1, 2]
    assert {call["reply"]["finish"] for call in actor if call.get("again") != 2} == {"length"}
    assert len(actor) == 3 * len([call for call in actor if call.get("again") == 2])
    assert "Replies asked again, for room" in done.stdout
    assert "… of them reasoning" in done.stdout
    step = next(iter(rows(tmp_path / "thinks" / "trajectories" / "react.trial-1.jsonl")))["trajectory"][0]
    assert step["reasoning"].startswith("hm hm")
    assert "hm hm" not in step["reply"]
    assert all("hm hm" not in str(call.body) for call in loopback.posts), "by default nothing is sent back"


def test_reasoning_is_shown_where_it_is_asked_for(bench, reflex, loopback, tmp_path):
    loopback.answer = after_thinking(4)
    assert bench("short", "--tasks", 1, "--trials", 1, "--arms", "react").returncode == 0
    assert "hm hm hm hm" not in reflex("show", tmp_path / "short").stdout
    assert "  1 reason hm hm hm hm" in reflex("show", tmp_path / "short", "--reasoning").stdout


@pytest.mark.parametrize(("which", "turns"), [("none", 0), ("last", 1), ("all", 3)])
def test_reasoning_is_sent_back_in_the_field_in_which_it_came_where_that_is_wanted(
    bench, loopback, tmp_path, which, turns
):
    loopback.answer = after_thinking(4, "reasoning")
    done = bench(
        *("back", "--tasks", 1, "--trials", 1, "--arms", "react", "--max-steps", 4),
        *("-c", f"model.send_reasoning={which}"),
    )
    assert done.returncode == 0, done.stderr
    sent = [turn for turn in loopback.posts[3].body["messages"] if "reasoning" in turn]
    assert [(turn["role"], turn["reasoning"]) for turn in sent] == [("assistant", "hm hm hm hm ")] * turns


def test_a_model_that_only_thinks_is_named_with_the_key_to_change_and_is_no_result(
    bench, reflex, loopback, tmp_path
):
    loopback.answer = after_thinking(10**9)
    done = bench(
        "only", "--tasks", 2, "--trials", 1, "--arms", "react", "-c", "model.max_tokens_ceiling=1024"
    )
    assert done.returncode == 1
    assert "model.max_tokens_ceiling" in done.stderr
    said = " ".join(done.stdout.split())
    assert "react never acted, and what it scored is no result: all 2 replies were cut off" in said
    trials = rows(tmp_path / "only" / "trials.jsonl")
    assert {row["outcome"] for row in trials} == {"cut_off"}
    assert [row["cut_off"] for row in trials] == [1, 1]
    assert len(loopback.posts) == 2 * 3, "256, 512 and 1,024 tokens"
    assert sorted(call.body["max_tokens"] for call in loopback.posts) == [256, 256, 512, 512, 1024, 1024]


def test_a_server_that_answers_with_nothing_makes_errors_and_no_failures(bench, loopback, tmp_path):
    loopback.answer = lambda call: chat("")
    done = bench("dead", "--tasks", 2, "--trials", 1, "--arms", "react", "-c", "endpoint.max_retries=1")
    assert done.returncode == 1
    assert "2 trials ended in an error" in done.stderr
    trials = rows(tmp_path / "dead" / "trials.jsonl")
    assert {row["outcome"] for row in trials} == {"error"}
    assert all("keeps sending an empty answer" in row["error"] for row in trials)
    # What was answered was paid for: it stands in the journal, and is no reply that a resumed run would use.
    calls = rows(tmp_path / "dead" / "calls.jsonl")
    assert [call["lost"] for call in calls] == [True] * 4
    assert [row["prompt_tokens"] for row in trials] == [24, 24]


def test_an_empty_answer_that_is_followed_by_a_good_one_leaves_its_tokens_and_no_other_trace(
    bench, loopback, tmp_path, plain
):
    loopback.play(chat(""))
    loopback.answer = play
    done = bench("once", "--tasks", 3, "--trials", 2)
    assert done.returncode == 0, done.stderr
    trials = rows(tmp_path / "once" / "trials.jsonl")
    keys = ("arm", "task", "trial", "outcome", "digest", "calls")
    assert [[row[key] for key in keys] for row in trials] == [[row[key] for key in keys] for row in plain[0]]
    first = next(row for row in trials if "lost_calls" in row)
    assert (first["lost_calls"], first["prompt_tokens"]) == (1, 12 * (first["calls"] + 1))


def no_system(call):
    if any(turn["role"] == "system" for turn in call.body["messages"]):
        return error(400, "System role not supported", type="BadRequestError", code=400)
    return play(call)


def test_a_template_without_a_system_role_is_played_by_and_a_resumed_run_knows_it(
    bench, reflex, loopback, tmp_path
):
    loopback.answer = no_system
    done = bench("gemma", "--tasks", 2, "--trials", 2, "--max-workers", 1, "--token-limit", 60)
    assert done.returncode == 1
    assert "the token limit of 60 is reached" in done.stderr
    refused = [call for call in loopback.posts if call.body["messages"][0]["role"] == "system"]
    assert len(refused) == 1
    again = reflex("resume", tmp_path / "gemma", "--quiet", "--token-limit", 10**9)
    assert again.returncode == 0, again.stderr
    refused = [call for call in loopback.posts if call.body["messages"][0]["role"] == "system"]
    assert len(refused) == 1, "what was learned is known"
    told = json.loads((tmp_path / "gemma" / "run.json").read_text())["models"][f"openai/{MODEL}"]
    assert told["changed_parameters"] == {"system role": "merged into the first user message"}
    assert "system role merged into the first user message" in " ".join(again.stdout.split())
    assert not [row for row in rows(tmp_path / "gemma" / "trials.jsonl") if row["outcome"] == "error"]


def test_any_field_header_and_query_is_sent_and_no_secret_reaches_the_disk(bench, loopback, tmp_path):
    loopback.answer = play
    secret = "canary-of-the-settings-0123"
    done = bench(
        *("fields", "--tasks", 1, "--trials", 1, "--arms", "react", "--max-steps", 2),
        *("-c", "endpoint.extra_body={chat_template_kwargs: {enable_thinking: false}, user: '${WHO}'}"),
        *(
            "-c",
            "endpoint.headers={X-Team: '${WHO}', X-Plain: a}",
            "-c",
            "endpoint.query={api-version: '2026-01'}",
        ),
        *("-c", "model.top_p=0.95", "-c", "model.top_k=20", "-c", "model.seed=false"),
        *("-c", "model.reasoning_effort=low", "-c", "model.max_tokens=300"),
        WHO=secret,
    )
    assert done.returncode == 0, done.stderr
    call = loopback.posts[0]
    assert call.path == "/v1/chat/completions?api-version=2026-01"
    assert (call.headers["x-team"], call.headers["x-plain"]) == (secret, "a")
    wanted = {"chat_template_kwargs": {"enable_thinking": False}, "user": secret, "top_p": 0.95, "top_k": 20}
    wanted |= {"reasoning_effort": "low", "max_tokens": 300}
    assert {name: call.body[name] for name in wanted} == wanted
    assert "seed" not in call.body
    files = [path for path in (tmp_path / "fields").rglob("*") if path.is_file()]
    assert not [path for path in files if secret.encode() in path.read_bytes()]
    info = json.loads((tmp_path / "fields" / "run.json").read_text())
    arm = info["arms"]["react"]
    assert (arm["top_p"], arm["reasoning_effort"], arm["seed"]) == (0.95, "low", False)
    assert arm["extra_body"] == {"chat_template_kwargs": {"enable_thinking": False}, "user": "${WHO}"}
    assert arm["headers"] == {"X-Team": "${WHO}", "X-Plain": "a"}


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("endpoint.headers={Authorization: 'Bearer canary-0123456789'}", "write ${NAME}"),
        ("endpoint.extra_body={api_key: canary-0123456789}", "write ${NAME}"),
        ("endpoint.extra_body={temperature: 1}", "set model.temperature instead"),
        ("endpoint.extra_body={day: 2026-01-01}", "no JSON value"),
        ("endpoint.extra_body={x: .nan}", "no number in JSON"),
        ("endpoint.headers={X-Team: '${NOBODY_SET_THIS}'}", "NOBODY_SET_THIS is not set"),
        ("endpoint.extra_body={user: '${NOBODY_SET_THIS}'}", "NOBODY_SET_THIS is not set"),
        ("model.reasoning_effort=much", "reasoning_effort"),
    ],
)
def test_a_setting_that_cannot_be_sent_is_one_line_before_anything_is_paid_for(
    bench, loopback, setting, said
):
    done = bench("wrong", "--tasks", 1, "-c", setting)
    assert done.returncode == 2
    assert said in done.stderr
    assert "canary" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert loopback.posts == []


def test_a_name_that_is_not_listed_is_used_where_the_hint_says_so(bench, loopback):
    loopback.answer = play
    done = bench("named", "--tasks", 1, "--trials", 1, "--model", "openai/m:free")
    assert done.returncode == 2
    hint = done.stderr[done.stderr.index("-c ") + 3 :].split(")")[0]
    assert bench("named", "--tasks", 1, "--trials", 1, "--model", "openai/m:free", "-c", hint).returncode == 0


def test_a_prompt_that_never_fits_is_no_result_and_the_servers_words_are_kept(
    bench, reflex, loopback, tmp_path
):
    loopback.answer = lambda call: error(400, "This model's maximum context length is 1000 tokens.", code=400)
    done = bench("long", "--tasks", 2, "--trials", 1)
    assert done.returncode == 1
    assert "react never acted" in done.stderr
    compared = " ".join(reflex("compare", tmp_path / "long").stdout.split())
    assert "react never acted, and what it scored is no result" in compared
    assert "Nothing follows from these numbers: react and reflexion never acted." in compared
    assert "neither more nor fewer" not in compared
    row = next(iter(rows(tmp_path / "long" / "trajectories" / "react.trial-1.jsonl")))
    assert "maximum context length is 1000 tokens" in row["remark"]


def test_content_that_one_task_may_not_have_is_an_error_of_that_task(bench, reflex, loopback, tmp_path):
    shown = []

    def fussy(call):
        said = [turn["content"] for turn in call.body["messages"]]
        if not shown:
            shown.append(said[-1])  # where the first task is given
        if shown[0] in said:
            return as_json({"code": "permission", "error": "Content violates usage guidelines."}, 403)
        return play(call)

    loopback.answer = fussy
    done = bench(
        "fussy", "--tasks", 4, "--trials", 1, "--arms", "react", "--max-workers", 1, OPENAI_API_KEY="k"
    )
    assert done.returncode == 1
    assert "1 trial ended in an error" in done.stderr
    trials = rows(tmp_path / "fussy" / "trials.jsonl")
    assert len(trials) == 4, "the run goes on"
    assert sum(row["outcome"] == "error" for row in trials) == 1
    # Resumed twice, it has been refused three times: that is how it stays, and nothing is owed.
    asked = []
    for code in (1, 0, 0):
        before = len(loopback.posts)
        done = reflex("resume", tmp_path / "fussy", "-q", OPENAI_API_KEY="k")
        assert done.returncode == code, done.stderr
        asked.append(len(loopback.posts) - before)
    assert asked == [1, 1, 0]
    assert "react: 1 trial refused for good" in " ".join(done.stdout.split())
    assert done.stderr == ""
    assert len(rows(tmp_path / "fussy" / "trials.jsonl")) == 4
