"""Adapts requests to what a server has refused before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

DROPPED = (
    *(
        "temperature",
        "stop",
        "seed",
        "tools",
        "response_format",
        "top_p",
        "top_k",
        "min_p",
        "repetition_penalty",
    ),
    *("reasoning_effort", "stream_options", "tool_choice", "include", "store"),
)
"""Fields that can be left out. `max_tokens` is not among them: without it a reply has no end."""

APPLIED_HERE = "applied here"

BEGIN = "Begin."
"""The first user message where a conversation would begin with the assistant's."""

NOTHING = "(nothing)"
"""In place of an empty message."""

NEARLY_GREEDY = 0.01
"""Sent for 0 where a server wants more than that: the most likely token has all the weight but for near ties."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What is sent otherwise, in the order in which it is applied; None or False as asked for.

    Attributes:
        dropped: fields that are left out; what `stop` would have done is done here.
        renamed: `max_tokens` is called `max_completion_tokens`.
        temperature: the single one that is allowed, or the smallest.
        most_tokens, fewest_tokens: limits of `max_tokens`.
        most_stops: how many stops may be sent; the others are applied here.
        stops_with_text: stops of white space alone are not sent.
        system: `merged` into the first user message, or sent as `developer`.
        alternating: neighbours of one role are joined.
        user_first: what comes before the first user message is put into one.
        filled: an empty message is sent with a word in it.
        streamed: the reply is asked for as a stream.
    """

    dropped: tuple[str, ...] = ()
    renamed: bool = False
    temperature: float | None = None
    most_tokens: int | None = None
    fewest_tokens: int | None = None
    most_stops: int | None = None
    stops_with_text: bool = False
    system: str | None = None
    alternating: bool = False
    user_first: bool = False
    filled: bool = False
    streamed: bool = False

    def described(self) -> dict[str, str]:
        """Return what differs from what was asked for, for people and for `recalled`."""
        told = dict.fromkeys(self.dropped, "left out")
        if self.renamed:
            told["max_tokens"] = "max_completion_tokens"
        if self.temperature is not None:
            told["temperature"] = f"sent as {self.temperature:g}"
        for name, value in (("at most", self.most_tokens), ("at least", self.fewest_tokens)):
            if value is not None:
                told[f"max_tokens {name}"] = str(value)
        if self.most_stops is not None:
            told["stops at most"] = str(self.most_stops)
        told |= {label: said for name, (label, said) in _SAID.items() if getattr(self, name) is True}
        if self.system:
            told["system role"] = _SYSTEM_SAID[self.system]
        return told

    @staticmethod
    def recalled(told: Mapping[str, Any]) -> Learned:
        """Return what `described` told, in an earlier process; what cannot be read is learned again."""
        known = {name for name, said in told.items() if said == "left out" and name in DROPPED}
        sent_as = re.fullmatch(r"sent as (\d+(?:\.\d+)?)", str(told.get("temperature", "")))
        system = next((how for how, said in _SYSTEM_SAID.items() if told.get("system role") == said), None)
        return Learned(
            dropped=tuple(name for name in told if name in known),
            renamed=told.get("max_tokens") == "max_completion_tokens",
            temperature=float(sent_as[1]) if sent_as else None,
            most_tokens=_whole(told.get("max_tokens at most")),
            fewest_tokens=_whole(told.get("max_tokens at least")),
            most_stops=_whole(told.get("stops at most")),
            system=system,
            **{name: told.get(label) == said for name, (label, said) in _SAID.items()},
        )

    def news(self, before: Learned) -> dict[str, str]:
        """Return what was not yet known before, as `described` tells it."""
        known = before.described()
        return {name: said for name, said in self.described().items() if known.get(name) != said}

    def without(self, name: str) -> Learned:
        """With a field left out from here on."""
        return self if name in self.dropped else replace(self, dropped=(*self.dropped, name))


_SAID: Mapping[str, tuple[str, str]] = {
    "stops_with_text": ("stops of white space", APPLIED_HERE),
    "alternating": ("neighbours of one role", "joined"),
    "user_first": ("first message", "made the user's"),
    "filled": ("empty messages", "sent with a word in them"),
    "streamed": ("stream", "sent"),
}
_SYSTEM_SAID = {"merged": "merged into the first user message", "developer": "sent as developer"}


def _whole(value: object) -> int | None:
    return int(str(value)) if str(value).isdecimal() else None


def shaped(body: Mapping[str, Any], learned: Learned) -> dict[str, Any]:
    """Return a request's body as the endpoint takes it.

    Args:
        body: as asked for; its `messages` are not changed.
        learned: what the endpoint refused.
    """
    if learned == Learned():
        return dict(body)
    made = dict(body)
    if "messages" in made:
        made["messages"] = list(_messages(made["messages"], learned))
    if learned.temperature is not None and "temperature" in made:
        floor = learned.temperature == NEARLY_GREEDY
        made["temperature"] = max(learned.temperature, made["temperature"]) if floor else learned.temperature
    if "max_tokens" in made:
        at_least = max(made["max_tokens"], learned.fewest_tokens or 1)
        made["max_tokens"] = min(at_least, learned.most_tokens or at_least)
    stops = [each for each in made.get("stop", ()) if not (learned.stops_with_text and each.isspace())]
    stops = stops[: learned.most_stops]
    made = (
        made | {"stop": stops} if stops else {name: value for name, value in made.items() if name != "stop"}
    )
    if learned.streamed:
        made |= {"stream": True, "stream_options": {"include_usage": True}}
    if learned.renamed and "max_tokens" in made:
        made["max_completion_tokens"] = made.pop("max_tokens")
    return {name: value for name, value in made.items() if name not in learned.dropped}


def _messages(turns: list[dict[str, Any]], learned: Learned) -> Iterator[dict[str, Any]]:
    if learned.system == "developer":
        turns = [{**turn, "role": "developer"} if turn["role"] == "system" else turn for turn in turns]
    if learned.system == "merged" or learned.user_first:
        turns = _system_merged(turns)
    if learned.user_first and turns and turns[0]["role"] == "assistant":
        turns = [{"role": "user", "content": BEGIN}, *turns]
    if learned.filled:
        turns = [{**turn, "content": (turn["content"] or "").rstrip() or NOTHING} for turn in turns]
    if not (learned.alternating or learned.system == "merged"):
        yield from turns
        return
    before: dict[str, Any] | None = None
    for turn in turns:
        if before is not None and before["role"] == turn["role"]:
            before = {**before, "content": f"{before['content']}\n\n{turn['content']}"}
            continue
        if before is not None:
            yield before
        before = turn
    if before is not None:
        yield before


def _system_merged(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """System texts at the head of the first user message, as templates without that role expect them."""
    said = [turn["content"] for turn in turns if turn["role"] in ("system", "developer")]
    others = [turn for turn in turns if turn["role"] not in ("system", "developer")]
    if not said:
        return others
    at = next((place for place, turn in enumerate(others) if turn["role"] == "user"), None)
    if at != 0:
        return [{"role": "user", "content": "\n\n".join(said)}, *others]
    return [{"role": "user", "content": "\n\n".join((*said, others[0]["content"]))}, *others[1:]]
