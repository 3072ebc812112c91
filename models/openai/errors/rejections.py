"""Reads from refusals what an endpoint does not take."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from reflex_bench.models.openai.errors.adaptation import DROPPED, NEARLY_GREEDY, Learned
from reflex_bench.models.openai.errors.meanings import word_patterns
from reflex_bench.models.openai.errors.messages import Complaint

_ALIASES: Mapping[str, str] = {
    "stop": r"stop(?:_sequences?| sequences?)?",
    "tools": r"tools|tool[ _](?:use|calls?|calling|choice)|function calling",
    "seed": r"(?:random_)?seed",
    "max_tokens": r"max_tokens",
    # As the Responses API calls them.
    "reasoning_effort": r"reasoning[._]effort|reasoning",
    "response_format": r"response_format|text\.format",
    "include": r"include|encrypted[_ ]content",
}
"""How refusals call a field, where not by its name alone."""

_UNSUPPORTED_CODES = {
    *(
        "unsupported_parameter",
        "unsupported_value",
        "unknown_parameter",
        "extra_forbidden",
        "value_error.extra",
    ),
    "unexpected_parameter",
}
_NUMBER = re.compile(r"(?<![\w.\-])\d[\d,_]*(?![\w\-]|\.\d)")


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    return word_patterns("refusals.yaml")


def _says(name: str, text: str) -> re.Match[str] | None:
    """Return where a text is worded as the patterns of this name."""
    return _patterns()[name].search(text)


def learn(known: Learned, complaint: Complaint, body: Mapping[str, Any]) -> Learned:
    """Return what is known after a refusal: `known` itself where nothing could be sent otherwise.

    Args:
        known: what the refused body was made with.
        complaint: what the refusal says.
        body: what was refused.
    """
    for rule in (_roles, _content, _stream, _tokens, _temperature, _stops, _fields):
        learned = rule(known, complaint, body)
        if learned != known:
            return learned
    return known


def _roles(known: Learned, complaint: Complaint, body: Mapping[str, Any]) -> Learned:
    said, roles = f"{complaint.words} {complaint.param}", [turn["role"] for turn in body.get("messages", ())]
    if _says("alternate", said) and roles:
        # Templates that know no system role count it as one of the turns that must alternate.
        optional = re.search(r"optional|after (?:the )?system", said, re.IGNORECASE)
        merged = known if optional or "system" not in roles else replace(known, system="merged")
        return replace(merged, alternating=True)
    if _says("first", said) and roles[:1] != ["user"]:
        return replace(known, user_first=True, system=known.system and "merged")
    refused = (_says("unsupported", said) or _says("no_role", said)) and _says("system", said)
    by_place = _says("no_role", said) and re.search(r"\brole\b", said)
    if not (refused or by_place) or not {"system", "developer"} & set(roles):
        return known
    instead = re.search(
        r"(?:use|instead|try)\b.{0,30}\bdeveloper|developer\b.{0,30}\binstead", said, re.IGNORECASE
    )
    return replace(known, system="developer" if instead and "system" in roles else "merged")


def _content(known: Learned, complaint: Complaint, body: Mapping[str, Any]) -> Learned:
    said = [turn["content"] or "" for turn in body.get("messages", ())]
    blank = any(not text or text != text.rstrip() for text in said)
    return replace(known, filled=True) if blank and _says("empty", complaint.words) else known


def _stream(known: Learned, complaint: Complaint, body: Mapping[str, Any]) -> Learned:
    return (
        replace(known, streamed=True) if "stream" not in body and _says("stream", complaint.words) else known
    )


def _tokens(known: Learned, complaint: Complaint, body: Mapping[str, Any]) -> Learned:
    name = "max_completion_tokens" if known.renamed else "max_tokens"
    said, sent = complaint.said or complaint.message, int(body.get(name) or 0)
    if not sent or not _says("token_field", f"{said} {complaint.param}") or _wants_rename(known, complaint):
        return known
    numbers = {int(re.sub(r"\D", "", each)) for each in _NUMBER.findall(said)}
    lower, higher = {each for each in numbers if 0 < each < sent}, {each for each in numbers if each > sent}
    if higher and _says("too_few", said) and not (lower and _says("too_many", said)):
        return replace(known, fewest_tokens=min(higher))
    if lower and _says("too_many", said):
        return replace(known, most_tokens=max(lower))
    return known


def _wants_rename(known: Learned, complaint: Complaint) -> bool:
    unlike = _says("unsupported", complaint.words) or complaint.all_names & _UNSUPPORTED_CODES
    return bool(unlike) and not known.renamed and "max_completion_tokens" in complaint.words


def _temperature(known: Learned, complaint: Complaint, body: Mapping[str, Any]) -> Learned:
    said, sent = complaint.said or complaint.message, body.get("temperature")
    if sent is None or "temperature" not in f"{said} {complaint.param}":
        return known
    allowed = _says("one_temperature", said)
    if allowed and not _says("unsupported", complaint.words):
        return replace(known, temperature=float(allowed[1] or allowed[2]))
    if sent == 0 and _says("positive", said):
        return replace(known, temperature=NEARLY_GREEDY)
    return known


def _stops(known: Learned, complaint: Complaint, body: Mapping[str, Any]) -> Learned:
    said, stops = complaint.said or complaint.message, body.get("stop") or ()
    if not stops or not re.search(rf"\b{_ALIASES['stop']}\b", f"{said} {complaint.param}"):
        return known
    if re.search(r"white ?space", said, re.IGNORECASE):
        fewer = replace(known, stops_with_text=True)
        return fewer if fewer != known and any(stop.isspace() for stop in stops) else known.without("stop")
    count = _says("stop_count", said)
    if count and 0 < int(count[1]) < len(stops):
        return replace(known, most_stops=int(count[1]))
    invalid = re.search(r"invalid|too (?:long|many)|at most|must be", said, re.IGNORECASE)
    return known.without("stop") if invalid else known


def _fields(known: Learned, complaint: Complaint, body: Mapping[str, Any]) -> Learned:
    named = unsupported_name(complaint, body)
    if named == "max_tokens":
        return known if known.renamed else replace(known, renamed=True)
    return known.without(named) if named else known


def unsupported_name(complaint: Complaint, sent: Collection[str]) -> str | None:
    """Return the sent field that a refusal names as one that the endpoint does not take; None where it names none."""
    if not complaint.all_names & _UNSUPPORTED_CODES and not _says(
        "unsupported", complaint.said or complaint.message
    ):
        return None
    candidates = [name for name in ("max_tokens", *DROPPED) if name in sent]
    named = complaint.param.rpartition(".")[2]
    if named in candidates:
        return named
    found = {
        name: re.search(
            rf"\b(?:{_ALIASES.get(name, name)})\b", complaint.said or complaint.message, re.IGNORECASE
        )
        for name in candidates
    }
    mentioned = [(match.start(), name) for name, match in found.items() if match]
    return min(mentioned)[1] if mentioned else None
