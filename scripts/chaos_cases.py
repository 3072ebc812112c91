"""The cases of the failure campaign: what a server does, to which posts, and what has to come of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from math import inf
from typing import Any

from chaos_server import Post, play
from loopback import Answer, Call, as_json, chat, error, models, page

KEY, HALF, ESCAPED = "THE-KEY", "HALF-KEY", "ESCAPED-KEY"
"""Stand in answers for the key that was sent: whole, half masked, and as JSON may write it with escapes alone."""

When = Callable[[Post], bool]
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Case:
    """One way for a server to fail.

    Attributes:
        name: what goes wrong.
        when: which posts are answered wrongly.
        answer: the wrong answer, or what makes it.
        posts: how often an affected call is posted, retries included; None where the server cannot know.
        exit: exit code of `reflex bench`.
        seen: pattern of the last line on stderr; "" for silence.
        error: pattern of the error on every trial that has one; "" for no such trial.
        data: for faults that are data and no errors: whether trials and calls of the affected tasks show it.
        options: further arguments of `reflex bench`.
        waits: seconds from the first post of an affected call to its second: at least, at most.
        listing: the answer to `GET /models`.
        gone: the wrong answer is no answer: seconds for which the server is not there at all.
        absent: it is not there from the beginning.
        jumps: whether our wall clock jumps a day to and fro meanwhile.
        learned: pattern of what is said once that the server is sent otherwise; the run is then compared without
            tables, which say so, too.
        matched: whether the posts of a call can be told by its request, as they are sent as they were asked for.
    """

    name: str
    when: When
    answer: Answer | Callable[[Call], Answer] = field(default_factory=Answer)
    posts: int | None = 2
    exit: int = 0
    seen: str = ""
    error: str = ""
    data: Callable[[Rows, Rows], bool] | None = None
    options: Sequence[object] = ()
    waits: tuple[float, float] = (0.0, inf)
    listing: Answer | None = None
    gone: float | None = None
    absent: bool = False
    jumps: bool = False
    learned: str = ""
    matched: bool = True


def once(times: int = 1, request: int = 5) -> When:
    """One request, the first times it is posted."""
    return lambda post: post.request == request and post.before < times


def every(count: int, times: float = inf) -> When:
    """Every `count`-th post, unless its call was posted `times` times before."""
    return lambda post: post.number % count == 0 and post.before < times


def in_task(number: int, turns: int = 0) -> When:
    """Every post of one task, from so many messages on."""
    return lambda post: post.task == number and len(post.call.body["messages"]) >= turns


def after(posts: int) -> When:
    """Every post but the first ones: the endpoint is dead from then on."""
    return lambda post: post.number > posts


def indiscreet(answer: Answer, key: str) -> Answer:
    """An answer with the key in it, wherever something stands for it, and in a header."""
    half = key[:9] + "*" * 8 + key[-4:] if key.startswith("sk-") else key[:4] + "*" * 8 + key[-4:]
    escaped = "".join(f"\\u{ord(sign):04x}" for sign in key)
    body = answer.body
    for name, value in ((ESCAPED, escaped), (HALF, half), (KEY, key)):
        body = body.replace(name.encode(), value.encode())
    return answer.but(body=body, headers={**answer.headers, "X-Sent": f"Bearer {key}"})


def limited(**headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return error(429, f"Rate limit reached for {KEY}", named, code="rate_limit_exceeded")


def until(seconds: float, behind: float = 0.0) -> Callable[[Call], Answer]:
    """A 429 with a date so many seconds from now, by a server whose clock is `behind` ours by so many."""

    def answer(call: Call) -> Answer:
        now = time.time() - behind
        return limited(retry_after=formatdate(now + seconds, usegmt=True), date=formatdate(now, usegmt=True))

    return answer


def altered(change: Callable[[dict[str, Any]], None]) -> Callable[[Call], Answer]:
    """The proper reply, changed."""

    def answer(call: Call) -> Answer:
        data = json.loads(play(call).body)
        change(data)
        return as_json(data)

    return answer


def _tells(key: str) -> Callable[[dict[str, Any]], None]:
    def tell(data: dict[str, Any]) -> None:
        data |= {"model": key, "system_fingerprint": f"fp_{key}", "id": key}
        data["choices"][0]["message"]["reasoning_content"] = f"Bearer {key}"

    return tell


def _cut_short(data: dict[str, Any]) -> None:
    choice = data["choices"][0]
    choice["finish_reason"] = "length"
    choice["message"]["content"] = choice["message"]["content"][:9]


def _says(text: str | None) -> Callable[[dict[str, Any]], None]:
    return lambda data: data["choices"][0]["message"].update(content=text)


def _all(key: str, value: object) -> Callable[[Rows, Rows], bool]:
    return lambda trials, calls: all(row[key] == value for row in trials)


def _told(trials: Rows, calls: Rows) -> bool:
    return any("[key]" in call["reply"].get("reasoning", "") for call in calls)


def _asked_again(trials: Rows, calls: Rows) -> bool:
    """What was cut off was not executed: the call was made again, with more room."""
    return any(row.get("asked_again") for row in trials) and any(call.get("again") for call in calls)


def mended(name: str, answer: Answer | Callable[[Call], Answer], times: int = 1, **more: Any) -> Case:
    """A fault that goes away: nobody sees anything of it."""
    return Case(
        f"{name}, {'once' if times == 1 else f'{times} times'}", once(times), answer, times + 1, **more
    )


def errs(
    name: str, answer: Answer | Callable[[Call], Answer], error: str, posts: int = 3, **more: Any
) -> Case:
    """A fault that stays with one task: its trials are errors, the others go on."""
    return Case(f"{name}, on one task", in_task(2), answer, posts, 1, ERRORS, error, **more)


def stops(
    name: str, answer: Answer | Callable[[Call], Answer], seen: str, posts: int | None = 1, **more: Any
) -> Case:
    """A fault of the endpoint, from the twentieth call on, that ends the run."""
    return Case(name, after(20), answer, posts, 1, seen + STOPPED, **more)


def refused(name: str, seen: str, **more: Any) -> Case:
    """A fault that shows before the first call."""
    return Case(f"{name}, at the start", every(1), posts=None, exit=2, seen=seen, **more)


def data(
    name: str,
    when: When,
    answer: Answer | Callable[[Call], Answer],
    shows: Callable[[Rows, Rows], bool],
    **more: Any,
) -> Case:
    """A fault that is data: asked once, recorded as it came."""
    return Case(name, when, answer, **{"posts": 1, **more}, data=shows)


FILTERED = error(400, f"flagged {KEY}", code="content_filter")
TOO_LONG = error(400, f"too long for {KEY}", code="context_length_exceeded", type="invalid_request_error")
NO_MODEL = error(404, f"The model does not exist for {KEY}", code="model_not_found")
BAD_KEY = error(401, f"Incorrect API key provided: {KEY} ({HALF})", code="invalid_api_key")
QUOTA = error(429, f"You exceeded your quota, {KEY}", code="insufficient_quota", type="insufficient_quota")
BROKEN = error(500, f"the server is on fire \x1b[31m{KEY}", type="server_error")
BUSY = error(503, f"no capacity for {HALF}")
HTML = f"<html><head><title>502 Bad Gateway {KEY}</title></head><body>{HALF} <script>alert(1)</script>"
ERRORS = r"\d+ trials? ended in an error; try again with: reflex resume "
STOPPED = r".*; go on with: reflex resume "
LIMITED = r"answers 429, too many requests: \d+ at a time for now$"
"""What a run says when an endpoint first refuses a call for its rate limit."""
DEAD = r"4 trials in a row ended in errors; the last: "
PLAIN = {"Content-Type": "text/html"}
ECHOES = (BROKEN, page(HTML, 502), BUSY, error(500, f"authorization: Bearer {KEY}", code=KEY, param=HALF))


def _with(name: str, value: object) -> tuple[str, str]:
    """Arguments that set a value of the configuration."""
    return "-c", f"{name}={value}"


def _echo(call: Call) -> Answer:
    return ECHOES[len(call.body["messages"]) % len(ECHOES)]


def _reset(call: Call) -> Answer:
    return play(call).but(reset_after=30)


def _late(call: Call) -> Answer:
    return play(call).but(wait=3.0)


PATIENT = _with("endpoint.patience", 3)
UNRETRIED = (*_with("endpoint.max_retries", 0), *_with("limits.stop_after_errors", 99))
CASES = (
    mended("429, retry-after 1 s", limited(retry_after="1"), waits=(1, 3), seen=LIMITED),
    mended("429, retry-after a date", until(2.5), waits=(1.4, 4), seen=LIMITED),
    mended("429, retry-after-ms 300", limited(retry_after_ms="300"), waits=(0.3, 2), seen=LIMITED),
    mended("429 without retry-after", limited(), 4, seen=LIMITED, options=_with("endpoint.max_retries", 1)),
    *(
        mended(f"429, retry-after {value}", limited(retry_after=value), waits=(0, 3), seen=LIMITED)
        for value in ("soon", "-5", "nan")
    ),
    Case("429, every 5th post", every(5), limited(retry_after="0.1"), None, seen=LIMITED),
    stops("429 for good", limited(), "", None, error="rate limit", options=PATIENT),
    stops("429, retry-after 10 days", limited(retry_after="864000"), "", None, error="rate limit", options=PATIENT),
    stops("429, no credit left", QUOTA, "quota or credit"),
    mended("408", error(408, "slow"), waits=(0.25, 3)),
    mended("409", error(409, "conflict"), waits=(0.25, 3)),
    mended("500", BROKEN, waits=(0.25, 3)),
    errs("500", BROKEN, "500: the server is on fire"),
    mended("502", page(HTML, 502), 2),
    # Posts may come in step: the two retries of a call would then be a fifth post each.
    Case("503, every 5th post", every(5, times=2), BUSY, posts=None),
    stops("503 for good: a dead endpoint", BUSY, DEAD, 3, error="503: no capacity"),
    refused("refused", "no server answers at ", absent=True),
    Case("refused, for 1 s", once(), gone=1.0, posts=None, options=_with("endpoint.max_retries", 4)),
    stops("refused, for good", BUSY, DEAD, None, gone=inf, error="connection to"),
    mended("reset mid-body", _reset),
    errs("reset mid-body", _reset, "connection to"),
    mended("time-out", _late),
    errs("time-out", _late, "did not answer within 2 s", 2, options=_with("endpoint.max_retries", 1)),
    Case("slow drip, within the time-out", once(), lambda call: play(call).but(drip=0.002), posts=1),
    mended("slow drip, beyond the time-out", lambda call: play(call).but(drip=0.02)),
    Case("wrong content type", every(3), lambda call: play(call).but(headers=PLAIN), 1),
    mended("invalid JSON", lambda call: play(call).but(body=play(call).body[:-9])),
    errs("invalid JSON", Answer(f'{{"choices": [{KEY}'.encode()), "not JSON"),
    mended("HTML page with status 200", page(HTML)),
    errs("HTML page with status 200", page(HTML), "an HTML page titled '502 Bad Gateway"),
    mended("an error in a 200", as_json({"error": {"message": f"overloaded {KEY}"}})),
    mended("says gzip, is none", Answer(b"plain", headers={"Content-Encoding": "gzip"})),
    data("missing usage", in_task(2), altered(lambda reply: reply.pop("usage")), _all("prompt_tokens", None)),
    data("truncated by length", once(), altered(_cut_short), _asked_again),
    errs("content filter in an error", FILTERED, "content filter refused the prompt", 1),
    errs("content filter in the reply", chat("", finish="content_filter"), "content filter withheld", 1),
    data("context overflow", in_task(2, turns=8), TOO_LONG, _all("outcome", "context_limit")),
    errs("400", error(400, f"bad request {KEY}"), "refuses the request", 1),
    errs("422", error(422, "not like this"), "refuses the request", 1),
    refused("model not found", "did you mean 'loopback-2'", listing=models("loopback-2", KEY)),
    stops("model not found, later", NO_MODEL, "has no model 'loopback'"),
    refused("wrong key", "refuses the key in OPENAI_API_KEY", listing=BAD_KEY),
    stops("wrong key, later", BAD_KEY, "refuses the key in OPENAI_API_KEY"),
    data("the key in proper replies", every(2), altered(_tells(KEY)), _told),
    data("the key in proper replies, with escapes", every(2), altered(_tells(ESCAPED)), _told),
    *(
        Case(f"the key in errors {n}", every(9), _echo, None, 1, ERRORS, "5..: ", options=UNRETRIED)
        for n in (1, 2)
    ),
    mended("429, server's clock a day behind", until(1.5, behind=86400), waits=(0, 4), seen=LIMITED),
    mended("429, server's clock a day ahead", until(1.5, behind=-86400), waits=(0, 4), seen=LIMITED),
    Case("429, our clock jumps a day to and fro", every(15), until(1.5), None, seen=LIMITED, jumps=True, waits=(0, 30)),
)  # fmt: skip
