"""Probes what an endpoint can do, by three calls and by what it tells of itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from reflex_bench.core.errors import ModelError, ReflexError, RunStopped
from reflex_bench.models.base import Message, Reply, Request
from reflex_bench.models.openai.model import OpenAIModel

ROOM = 1024
"""Most tokens of each reply: a reasoning model needs some hundreds before it answers."""

STOP = "five"
COUNT = Request(
    (
        Message("system", "You do exactly what you are asked, and say nothing else."),
        Message(
            "user", "Write the numbers from one to nine in English words, in one line, with commas between."
        ),
    ),
    max_tokens=ROOM,
    stop=(STOP,),
    seed=7,
)
CALL = Request(
    (Message("user", "How warm is it in Oslo right now? Call the tool to find out."),),
    max_tokens=ROOM,
    tools=(
        {
            "type": "function",
            "function": {
                "name": "temperature_in",
                "description": "Tells the temperature in a city, in degrees Celsius.",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                    "additionalProperties": False,
                },
            },
        },
    ),
)
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"planet_name": {"type": "string"}, "moon_count": {"type": "integer"}},
    "required": ["planet_name", "moon_count"],
    "additionalProperties": False,
}
# The keys stand in the schema alone: a model that is not held to it does not come upon them.
STRUCTURED = Request(
    (
        Message(
            "user",
            "Which planet has rings that one can see with a small telescope, and how many moons has it?",
        ),
    ),
    max_tokens=ROOM,
    more={
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "planet", "strict": True, "schema": dict(SCHEMA)},
        }
    },
)


@dataclass(frozen=True, slots=True)
class Ability:
    """One thing that an endpoint can do or not.

    Attributes:
        what: its name.
        can: `not told` where neither an answer nor the endpoint itself shows it.
        said: how that was seen; may be "".
    """

    what: str
    can: Literal["yes", "no", "not told"]
    said: str = ""


def probe(model: OpenAIModel, more: Mapping[str, Any]) -> Iterator[Ability]:
    """Yield what the endpoint of a model can do; makes three calls, which are paid for.

    Args:
        model: whose `check` has passed.
        more: further fields of every request.

    Raises:
        RunStopped, ModelError: the first call failed, so nothing can be found out.
    """
    counted = model.complete(replace(COUNT, more=more))
    yield from _of_plain_call(model, counted)
    yield _tools(model, _attempt(model, replace(CALL, more=more)))
    yield _structured(model, _attempt(model, replace(STRUCTURED, more={**more, **STRUCTURED.more})))
    length, source = model.context_length
    yield (
        Ability("context", "yes", f"{length:,} tokens, {source}")
        if length
        else Ability("context", "not told")
    )


def _attempt(model: OpenAIModel, request: Request) -> Reply | ReflexError:
    try:
        return model.complete(request)
    except (ModelError, RunStopped) as error:
        return error


def _changed(model: OpenAIModel) -> Mapping[str, str]:
    changed: Mapping[str, str] = model.settings()["changed_parameters"]
    return changed


def _of_plain_call(model: OpenAIModel, reply: Reply) -> Iterator[Ability]:
    changed, usage = _changed(model), reply.usage
    is_text = model.settings()["api"] == "completions"
    if is_text:
        yield Ability("system role", "no", "the conversation is sent as one text")
    elif "system role" in changed:
        yield Ability("system role", "no", changed["system role"])
    else:
        yield Ability("system role", "yes")
    yield _stop(reply, changed)
    if "seed" in changed:
        yield Ability("seed", "no", "left out: replies cannot be asked for by seed")
    else:
        yield Ability("seed", "yes", "taken; whether it decides the reply, an endpoint does not tell")
    if usage.prompt_tokens is None:
        yield Ability("usage", "not told", "tokens and cost of calls will be unknown")
    else:
        yield Ability("usage", "yes", f"{usage.prompt_tokens} + {usage.completion_tokens} tokens")
    if usage.cached_tokens is None:
        yield Ability("cached tokens", "not told")
    else:
        yield Ability("cached tokens", "yes", f"{usage.cached_tokens} of {usage.prompt_tokens}")
    yield _reasoning(reply)


def _stop(reply: Reply, changed: Mapping[str, str]) -> Ability:
    here = "replies are cut here instead"
    if "stop" in changed:
        return Ability("stop", "no", f"{changed['stop']}; {here}")
    if reply.cut_here:
        return Ability("stop", "no", f"taken and not heeded; {here}")
    if reply.finish != "length" and "four" in reply.text.lower():
        return Ability("stop", "yes")
    return Ability("stop", "not told", "the reply did not come to the stop")


def _reasoning(reply: Reply) -> Ability:
    tokens = reply.usage.reasoning_tokens
    if reply.reasoning:
        where = {"text": "with marks in the text", "content": "as parts of the content"}
        return Ability("reasoning", "yes", where.get(reply.reasoning_form, f"in {reply.reasoning_form}"))
    if tokens or reply.reasoning_data:
        return Ability("reasoning", "yes", f"{tokens or 'some'} tokens, which are not shown")
    return Ability("reasoning", "no", "none came") if tokens == 0 else Ability("reasoning", "not told")


def _tools(model: OpenAIModel, reply: Reply | ReflexError) -> Ability:
    if model.settings()["api"] == "completions":
        return Ability("tools", "no", "text completions have none")
    if isinstance(reply, ReflexError):
        return Ability("tools", "no", str(reply))
    if "tools" in _changed(model):
        return Ability("tools", "no", "refused")
    if not reply.calls:
        return Ability("tools", "no", "the request was taken, and no call came")
    named = reply.calls[0].name == "temperature_in" and _json(reply.calls[0].arguments).keys() == {"city"}
    return (
        Ability("tools", "yes")
        if named
        else Ability("tools", "no", "the call that came is not to the tool's form")
    )


def _structured(model: OpenAIModel, reply: Reply | ReflexError) -> Ability:
    what = "structured output"
    if isinstance(reply, ReflexError):
        return Ability(what, "no", str(reply))
    if "response_format" in _changed(model):
        return Ability(what, "no", "refused")
    answer = _json(reply.text)
    fits = answer.keys() == SCHEMA["properties"].keys() and type(answer["moon_count"]) is int
    if fits and isinstance(answer["planet_name"], str):
        return Ability(what, "yes", "the reply keeps to the JSON schema")
    if reply.finish == "length":
        return Ability(what, "not told", f"the reply did not end within {ROOM:,} tokens")
    return Ability(what, "no", "the schema was taken, and the reply does not keep to it")


def _json(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
