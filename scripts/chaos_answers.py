"""Further cases of the failure campaign: answers that have to be understood by what they say, and picky servers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from chaos_cases import (
    DEAD,
    KEY,
    LIMITED,
    PATIENT,
    Case,
    When,
    _all,
    _asked_again,
    _says,
    _with,
    altered,
    data,
    errs,
    every,
    in_task,
    limited,
    mended,
    once,
    stops,
)
from chaos_server import Post, play
from loopback import Answer, Call, as_json, chat, error, page, thinking

GUIDELINES = f"Content violates usage guidelines. Key: {KEY}, failed check: X"
PROXY = "litellm.ContentPolicyViolationError: the response was filtered due to the prompt"
MODERATED = {"message": "openai/x requires moderation. Your input was flagged", "code": 403}
DAILY = [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota",
          "details": [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
                      {"retryDelay": "37s"}]}}]  # fmt: skip
TOO_MUCH = "Request too large for loopback on tokens per min (TPM): Limit 30000, Requested 342389."


def _ends(reason: str, text: str | None = "go to") -> Callable[[Call], Answer]:
    def change(reply: dict[str, Any]) -> None:
        reply["choices"][0] |= {"finish_reason": reason}
        reply["choices"][0]["message"]["content"] = text

    return altered(change)


def _shouts(reply: dict[str, Any]) -> None:
    reply["choices"][0]["finish_reason"] = "STOP"
    reply["usage"] = {"prompt_tokens": "12", "completion_tokens": 3.0}


def _thinks(tokens: int) -> Callable[[Call], Answer]:
    return lambda call: as_json(thinking(json.loads(play(call).body), call.body["max_tokens"], tokens))


def _cut_in_the_middle(call: Call) -> Answer:
    """The proper reply without its last signs, unless it has twice the room that it has at first."""
    said = json.loads(play(call).body)["choices"][0]["message"]["content"]
    return chat(said[:-2], "length") if call.body["max_tokens"] <= 256 else chat(said)


def _streamed(call: Call) -> Answer:
    said = json.loads(play(call).body)
    choice = {"index": 0, "delta": said["choices"][0]["message"], "finish_reason": "stop"}
    events = [{**said, "choices": [choice], "usage": None}, {"choices": [], "usage": said["usage"]}]
    body = ": waiting\n\n" + "".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"
    return Answer(body.encode(), headers={"Content-Type": "text/event-stream"})


def _torn_stream(call: Call) -> Answer:
    return Answer(b'data: {"choices": [{"index": 0, "delta": {"content": "go to"}}]}\n\n')


def _with_mark(call: Call) -> Answer:
    return Answer(b"\xef\xbb\xbf" + play(call).body)


def _lost(trials: Any, calls: Any) -> bool:
    """The empty answer is counted, and what came of the trial is not scored through it."""
    return any(row.get("lost_calls") for row in trials) and all(row["outcome"] != "error" for row in trials)


def _cut_off(trials: Any, calls: Any) -> bool:
    return all(row["outcome"] == "cut_off" for row in trials)


def sent(holds: Callable[[dict[str, Any]], object]) -> When:
    """Posts whose body is as a picky server does not take it."""
    return lambda post: bool(holds(post.call.body))


def picky(name: str, holds: Callable[[dict[str, Any]], object], answer: Answer, learned: str) -> Case:
    """A server that refuses a part of every request: it is sent otherwise, which is said once, and the run goes on."""
    return Case(name, sent(holds), answer, None, learned=f"from here on: {learned}$", matched=False)


def _system(body: dict[str, Any]) -> bool:
    return bool(body["messages"][0]["role"] == "system")


def _elsewhere(post: Post) -> bool:
    return not post.call.path.endswith("/")


QUOTA = "quota or credit"
EMPTY = altered(_says(""))
ROOM = _with("model.max_tokens_ceiling", 512)
NEVER = "react never acted, and what it scored is no result"
ANSWERS = (
    # Content that is not wanted is an error of one task, whatever its status and wording.
    errs("403 about content", error(403, GUIDELINES), "content filter", 1),
    errs("400 about content", error(400, "Content Exists Risk"), "content filter", 1),
    errs("400 about content, in Chinese", error(400, "输入包含敏感内容", code="1301"), "content filter", 1),
    errs("400 about content, from a proxy", error(400, PROXY, code="400"), "content filter", 1),
    errs("200 about content", as_json({"error": MODERATED}), "content filter", 1),
    errs("withheld as `sensitive`", _ends("sensitive"), "content filter withheld", 1),
    errs("a refusal in place of the content", chat(None, refusal="I cannot"), "content filter withheld", 1),
    # Nothing is no answer, and half of one is none. It is asked for again without the stops, which is another request.
    stops("empty content for good: a dead server", EMPTY, DEAD, 2, error="keeps sending an empty answer"),
    errs("empty content", EMPTY, "keeps sending an empty answer", 2),
    errs("no content", altered(_says(None)), "keeps sending an empty answer", 2),
    data("empty content, once", once(), EMPTY, _lost),
    data("no content, once", once(), altered(_says(None)), _lost),
    mended("ended as `network_error`", _ends("network_error")),
    errs("ended as `abort`", _ends("abort"), "the endpoint broke off: abort"),
    errs("ended as `insufficient_system_resource`", _ends("insufficient_system_resource", ""), "broke off"),
    mended("no choices", as_json({"id": "x", "choices": None, "model": "m"})),
    mended("a stream that breaks off", _torn_stream),
    # Reasoning.
    data("thinks beyond its first room, on one task", in_task(2), _thinks(600), _asked_again),
    data("only thinks, on one task", in_task(2), _thinks(10**6), _cut_off, options=ROOM),
    Case("only thinks, everywhere", every(1), _thinks(10**6), 1, 1, NEVER, data=_cut_off,
         options=(*ROOM, "--arms", "react")),
    data("cut off in mid-action, on one task", in_task(2), _cut_in_the_middle, _asked_again),
    # Waiting, and what no waiting mends.
    mended("429 within a 200", as_json({"error": {"message": "Too Many Requests", "code": 429}}), seen=LIMITED),
    mended("429, retry-after 1s", limited(retry_after="1s"), waits=(1, 3), seen=LIMITED),
    mended("429, the pause in words", error(429, "Please try again in 644ms."), waits=(0.6, 2), seen=LIMITED),
    mended("429, the pause in the body", as_json([{"error": {"code": 429, "details": [{"retryDelay": "0.7s"}]}}], 429),
           waits=(0.7, 2), seen=LIMITED),
    mended("429, x-ratelimit-reset-tokens", limited(x_ratelimit_reset_tokens="800ms"), waits=(0.8, 2), seen=LIMITED),
    errs("429 for a request that never fits", error(429, TOO_MUCH), "no waiting mends that", 1, options=PATIENT),
    errs("424", error(424, "CUDA out of memory"), "keeps failing"),
    mended("498", error(498, "capacity exceeded")),
    # What ends a run at once.
    stops("429, the day's quota, in a list", as_json(DAILY, 429), QUOTA),
    stops("200, no credit left", as_json({"error": {"message": "Insufficient credits", "code": 402}}), QUOTA),
    stops("400, account in arrears", error(400, "Access denied", code="Arrearage"), QUOTA),
    stops("429, no credit left, in Chinese", error(429, "您的账户已欠费", code="1113"), QUOTA),
    stops("200, wrong key", as_json({"base_resp": {"status_code": 1004, "status_msg": "no"}}), "refuses the key"),
    stops("404, a page", page(f"<html><title>not here {KEY}</title></html>", 404), "is the address right"),
    stops("a redirect to another host", Answer(b"", 307, {"Location": "http://elsewhere.invalid/v1/chat/completions"}),
          "sends elsewhere; if that address is right, give it: --base-url http://elsewhere.invalid/v1"),
    stops("Ollama's own answers", as_json({"message": {"content": "look"}, "done": True}), "address to give ends in"),
    # The prompt is too long.
    *(
        data(f"context overflow, {how}", in_task(2, turns=8), answer, _all("outcome", "context_limit"))
        for how, answer in (
            ("in Chinese", error(400, "输入超出模型上下文长度限制")),
            ("in a list", as_json([{"error": {"message": "The input token count (9) exceeds the maximum"}}], 400)),
            ("wrapped twice", error(400, "Provider error", metadata={"raw": '{"error": "prompt is too long"}'})),
            ("as text", Answer(b"Request Entity Too Large", 413)),
        )
    ),
    # Odd forms of proper answers.
    Case("a stream in place of a reply", every(3), _streamed, 1),
    Case("a byte order mark", every(3), _with_mark, 1),
    Case("STOP in capitals, counts as texts", every(3), altered(_shouts), 1),
    # Picky servers: each is refused once, and plays.
    picky("no system role", _system, error(400, "System role not supported"), "system role merged into the first .*"),
    picky("no system role, from a template", _system, error(500, "Only user and assistant roles are supported!"),
          "system role merged into the first .*"),
    picky("no stops", lambda body: "stop" in body, error(400, "Argument not supported on this model: stop"),
          "stop left out"),
    picky("another name for max_tokens", lambda body: "max_tokens" in body,
          error(400, "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
          "max_tokens sent as max_completion_tokens"),
    picky("at most 4,096 tokens, at least 300", lambda body: body["max_tokens"] < 300,
          error(400, "Invalid 'max_tokens': below minimum value. Expected a value >= 300", param="max_tokens"),
          "max_tokens at least 300"),
    picky("streams only", lambda body: not body.get("stream"), error(400, "This model only support stream mode"),
          "stream sent"),
    Case("a redirect on the same host", _elsewhere, Answer(b"", 307, {"Location": "/v1/chat/completions/"}), None,
         matched=False),
)  # fmt: skip
