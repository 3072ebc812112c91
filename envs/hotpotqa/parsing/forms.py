"""Actions that are written without brackets: `Action Input:` on a line of its own, `Search: …`, `Final Answer: …`."""

from __future__ import annotations

import re

from reflex_bench.envs.completions import labels
from reflex_bench.envs.completions.values import value_at
from reflex_bench.envs.hotpotqa.parsing.argument import CALL, line_end
from reflex_bench.envs.hotpotqa.parsing.marks import GAP, LABEL, VERB, FoundAction, prefix_end
from reflex_bench.envs.hotpotqa.parsing.verbs import plain_argument, verb_of

MAX_ANSWER = 300
"""Characters of an answer without brackets; what is longer is prose."""

_I = re.IGNORECASE
_DECORATION = " \t*_`"
_VERB_ALONE = re.compile(rf"{GAP}[\"'`]?([A-Za-z][A-Za-z_ ]{{1,30}}?)[\"'`]?{GAP}[.:]?{GAP}$")
_INPUT = re.compile(
    rf"(?:{labels.INPUT}|input|query|entity|title|keywords?|words|answer|argument){GAP}\d{{0,6}}{GAP}{labels.COLON}",
    _I,
)
_BEFORE_INPUT = re.compile(r"[\s*_`]*(?:json\s*(?=\{))?")
_VERB_COLON = re.compile(rf"{VERB}(?: for)?{GAP}{labels.COLON}", _I)
_VERB_FREE = re.compile(
    rf"\[?{VERB}\]?(?:[ \t]+(?:for|with|the answer|answer|up|by answering|page|title)(?=[ \t:\"'“]))*"
    r"[ \t:,*_`–—-]+(?=\S)",
    _I,
)
# `Finish` ends the task: "finish the search" is no answer.
_NO_ANSWER = re.compile(
    r"(?:the|this|that|my|your|our|it|task|with|by|now|here|and|up|searching|question)\b", _I
)
_ANSWER = re.compile(rf"(?:{labels.ANSWER}){GAP}{labels.COLON}{GAP}", _I)
_INLINE_ANSWER = re.compile(rf"(?<=[.!?。！？]) ?(?:final answer|最终答案){GAP}{labels.COLON}{GAP}", _I)
_ANSWER_TAG = re.compile(r"<(answer|final_answer|finish)(?:\s[^<>\n]{0,60})?>([^<>]*)(?:</\1>|$)", _I)
_ACTION_TAG = re.compile(r"<(search|look_?up)(?:\s[^<>\n]{0,60})?>([^<>\n]+)(?:</\1>|$)", _I)
_NAMED_TAG = re.compile(
    rf"<\w{{1,20}}\s+(?:name|type|tool|action)=[\"']?{VERB}[\"']?[^<>\n]{{0,60}}>([^<>]+)", _I
)
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}\n]*)\}")
_FULL_STOP = re.compile(r"(?<=[a-z]{5})\.$")


def action_input(text: str, start: int, at: int, stop: int, repairs: tuple[str, ...]) -> FoundAction | None:
    """Return `Action: Search`, then `Action Input: …` or an object on the next line that is not blank."""
    written = _VERB_ALONE.match(text, at, stop)
    verb = verb_of(written[1]) if written else None
    following = stop + 1
    while verb and following < len(text):
        end = line_end(text, following)
        if text[following:end].strip():
            begin = prefix_end(text, following, end)
            label = _INPUT.match(text, begin, end)
            if label is None and text[begin : begin + 1] != "{":
                return None
            named = ("action_name",) if written and written[1].lower() != verb.lower() else ()
            return _behind_input(text, start, label.end() if label else begin, verb, (*repairs, *named))
        following = end + 1
    return None


def _behind_input(text: str, start: int, at: int, verb: str, repairs: tuple[str, ...]) -> FoundAction | None:
    at = _BEFORE_INPUT.match(text, at).end()  # type: ignore[union-attr] # it matches nothing, too
    end = line_end(text, at)
    value = value_at(text, at) if text[at : at + 1] == "{" else None
    if value:
        end = value[1]
    elif LABEL.match(text, at):
        return None
    argument, more = plain_argument(verb, text[at:end].strip(_DECORATION))
    return FoundAction(start, end, verb, argument, (*repairs, "action_input", *more))


def colon_form(text: str, start: int, at: int, stop: int, repairs: tuple[str, ...]) -> FoundAction | None:
    """Return `Search: …`."""
    written = _VERB_COLON.match(text, at, stop)
    return _to_line_end(text, start, written, stop, repairs) if written else None


def free_form(text: str, start: int, at: int, stop: int, repairs: tuple[str, ...]) -> FoundAction | None:
    """Return `Search …`, `Search for …`, `Finish with …`, behind a label."""
    written = _VERB_FREE.match(text, at, stop)
    if written is None:
        return None
    if verb_of(written[1]) == "Finish" and _NO_ANSWER.match(text, written.end()):
        return None
    return _to_line_end(text, start, written, stop, repairs)


def _to_line_end(
    text: str, start: int, written: re.Match[str], stop: int, repairs: tuple[str, ...]
) -> FoundAction | None:
    verb = verb_of(written[1]) or ""
    rest = text[written.end() : stop].strip(_DECORATION)
    label = _INPUT.match(rest)
    rest = rest[label.end() :].strip(_DECORATION) if label else rest
    if not rest:
        return None
    argument, more = plain_argument(verb, _FULL_STOP.sub("", re.sub(r"</?\w{1,20}>", "", rest)))
    return FoundAction(start, stop, verb, argument, (*repairs, "colon_form", *more))


def handed_in(text: str) -> FoundAction | None:
    """Return `Final Answer: …`, `<answer>…</answer>` or `\\boxed{…}` as Finish; `<search>…</search>` as Search."""
    if CALL.search(text):
        return None
    for tag, name in ((_NAMED_TAG, None), (_ACTION_TAG, None), (_ANSWER_TAG, "Finish")):
        found = tag.search(text)
        if found and (found[2].strip() or name):
            verb = name or verb_of(found[1]) or "Search"
            return _answer(found.start(), found.end(), verb, found[2], ("tag",))
    start = 0
    while start < len(text):
        stop = line_end(text, start)
        label = _ANSWER.match(text, prefix_end(text, start, stop), stop)
        if label:
            begin = label.end()
            while begin < len(text) and text[begin] in " \t\n*_`":
                begin += 1
            end = line_end(text, begin)
            if begin < end and not LABEL.match(text, begin):
                return _answer(start, end, "Finish", text[begin:end], ("answer_label",))
            return None
        inline = _INLINE_ANSWER.search(text, start, stop)
        if inline and text[inline.end() : stop].strip():
            repairs = ("inline_action", "answer_label")
            return _answer(inline.start(), stop, "Finish", text[inline.end() : stop], repairs)
        start = stop + 1
    boxed = _BOXED.search(text)
    return _answer(boxed.start(), boxed.end(), "Finish", boxed[1], ("tag",)) if boxed else None


def _answer(start: int, end: int, verb: str, written: str, repairs: tuple[str, ...]) -> FoundAction | None:
    boxed = _BOXED.fullmatch(written.strip(" \t\n*_`$"))
    argument, more = plain_argument(verb, boxed[1] if boxed else written.strip(" \t\n*_`"))
    return FoundAction(start, end, verb, argument, (*repairs, *more)) if len(argument) <= MAX_ANSWER else None
