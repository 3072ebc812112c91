"""Finds the first action in a completion from which reasoning, invented observations and fences are gone.

What counts, in this order: a line that begins with an action, or with the label `Action:` and one (also in the middle
of a line); else an action behind another label, or at the very end of a line after a full sentence; else an unknown
verb alone on its line. A verb in running prose is none of these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reflex_bench.envs.hotpotqa.brackets import (
    CALL,
    OPENING,
    Argument,
    argument_on_line,
    argument_over_lines,
    family,
    line_end,
)

_I = re.IGNORECASE | re.ASCII
_GAP = r"[ \t*_`]{0,4}"
LABEL = re.compile(rf"(thought|action[ _]input|action|observation){_GAP}([0-9]{{0,6}}){_GAP}([:：])", _I)
# What may stand before a label or an action: emphasis, quoting, bullets, a list number, a tag.
PREFIX = re.compile(r"[ \t*_`#~•>→-]*(?:[0-9]{1,3}[.)][ \t]|<[a-z_]{1,20}>)?[ \t*_`]*", _I)

_VERB = re.compile(rf"(search|lookup|finish)({_GAP})([{re.escape(OPENING)}])", _I)
_VERB_ALONE = re.compile(rf"(search|lookup|finish){_GAP}$", _I)
_VERB_COLON = re.compile(rf"(search|lookup|finish){_GAP}[:：]", _I)
_UNKNOWN = re.compile(r"([A-Za-z_]{1,30})\[")
_OTHER_LABEL = re.compile(rf"[^\W\d_]{{2,20}}{_GAP}[0-9]{{0,6}}{_GAP}[:：]")
_INLINE_LABEL = re.compile(rf"\baction{_GAP}[0-9]{{0,6}}{_GAP}[:：]", _I)
_AFTER_SENTENCE = re.compile(
    rf"[.!?:;。！？：；→]{_GAP}(?:search|lookup|finish){_GAP}[{re.escape(OPENING)}]", _I
)


@dataclass(frozen=True, slots=True)
class Call:
    """An action: what precedes `start` is the thought, what follows `end` is surplus."""

    start: int
    end: int
    verb: str
    argument: str
    repairs: tuple[str, ...]


def first_call(text: str) -> Call | None:
    """The first action in the text, None where there is none."""
    aside: Call | None = None
    unknown: Call | None = None
    after_label = False
    start = 0
    while start <= len(text):
        stop = line_end(text, start)
        call = _at_line_start(text, start, stop, after_label) or _behind_inline_label(text, start, stop)
        if call is not None:
            return call
        aside = aside or _behind_other_label(text, start, stop) or _behind_sentence(text, start, stop)
        unknown = unknown or _unknown_alone(text, start, stop)
        if text[start:stop].strip():
            after_label = _is_action_label(text[start:stop])
        start = stop + 1
    return aside or unknown


def begins_anew(line: str) -> bool:
    """Whether a line starts with a label or a call, so that no argument reaches into it."""
    at = _prefix_end(line, 0, len(line))
    return LABEL.match(line, at) is not None or CALL.match(line, at) is not None


def _prefix_end(text: str, start: int, stop: int) -> int:
    match = PREFIX.match(text, start, stop)
    return match.end() if match else start


def _is_action_label(line: str) -> bool:
    label = LABEL.match(line, _prefix_end(line, 0, len(line)))
    return (
        label is not None and label.group(1).lower() == "action" and not line[label.end() :].strip(" \t*_`")
    )


def _at_line_start(text: str, start: int, stop: int, after_label: bool) -> Call | None:
    at = _prefix_end(text, start, stop)
    repairs = _prefix_repairs(text[start:at])
    label = LABEL.match(text, at, stop)
    if label is None:
        call = _call_at(
            text, start, at, stop, repairs + (("spacing",) if after_label else ()), labelled=after_label
        )
        return call or (_unknown_at(text, start, at, stop, repairs) if after_label else None)
    if label.group(1).lower() != "action":
        return None
    behind = _prefix_end(text, label.end(), stop)
    repairs += _label_repairs(label) + _prefix_repairs(text[label.end() : behind])
    return (
        _call_at(text, start, behind, stop, repairs, labelled=True)
        or _action_input(text, start, behind, stop, repairs)
        or _colon_form(text, start, behind, stop, repairs)
        or _unknown_at(text, start, behind, stop, repairs)
    )


def _call_at(
    text: str,
    start: int,
    at: int,
    stop: int,
    repairs: tuple[str, ...],
    labelled: bool,
    one_line: bool = False,
) -> Call | None:
    verb = _VERB.match(text, at, stop)
    if verb is None:
        return None
    kinds = family(verb.group(3))
    # "Search (the film) is …" is prose: without a label, round brackets must be closed at the end of their line.
    prose_like = verb.group(3) in "(（" and not labelled
    argument = argument_on_line(text, verb.end(), kinds)
    if argument is None and not one_line and not prose_like:
        argument = argument_over_lines(text, verb.end(), kinds, begins_anew)
    if argument is None or (prose_like and text[argument.end : stop].strip(" \t*_`.")):
        return None
    return _made(start, verb, argument, repairs)


def _made(start: int, verb: re.Match[str], argument: Argument, repairs: tuple[str, ...]) -> Call:
    name = verb.group(1).capitalize()
    more: tuple[str, ...] = ("letter_case",) if verb.group(1) != name and "letter_case" not in repairs else ()
    more += ("spacing",) if " " in verb.group(2) or "\t" in verb.group(2) else ()
    more += ("markdown",) if verb.group(2).strip() and "markdown" not in repairs else ()
    more += ("other_punctuation",) if verb.group(3) != "[" and "other_punctuation" not in repairs else ()
    return Call(start, argument.end, name, argument.text, repairs + more + argument.repairs)


def _action_input(text: str, start: int, at: int, stop: int, repairs: tuple[str, ...]) -> Call | None:
    """`Action: Search`, then `Action Input: …` on the next line that is not blank."""
    verb = _VERB_ALONE.match(text, at, stop)
    following = stop + 1
    while verb and following < len(text):
        end = line_end(text, following)
        if text[following:end].strip():
            label = LABEL.match(text, _prefix_end(text, following, end), end)
            if label is None or " input" not in label.group(1).lower().replace("_", " "):
                return None
            argument = text[label.end() : end].strip(" \t*_`")
            return Call(start, end, verb.group(1).capitalize(), argument, (*repairs, "action_input"))
        following = end + 1
    return None


def _colon_form(text: str, start: int, at: int, stop: int, repairs: tuple[str, ...]) -> Call | None:
    verb = _VERB_COLON.match(text, at, stop)
    if verb is None:
        return None
    argument = text[verb.end() : stop].strip(" \t*_`")
    return Call(start, stop, verb.group(1).capitalize(), argument, (*repairs, "colon_form"))


def _unknown_at(text: str, start: int, at: int, stop: int, repairs: tuple[str, ...]) -> Call | None:
    verb = _UNKNOWN.match(text, at, stop)
    if verb is None:
        return None
    argument = argument_on_line(text, verb.end(), family("["))
    if argument is None:
        return None
    return Call(start, argument.end, verb.group(1), argument.text, repairs + argument.repairs)


def _unknown_alone(text: str, start: int, stop: int) -> Call | None:
    at = _prefix_end(text, start, stop)
    call = _unknown_at(text, start, at, stop, _prefix_repairs(text[start:at]))
    return call if call and not text[call.end : stop].strip(" \t*_`.") else None


def _behind_inline_label(text: str, start: int, stop: int) -> Call | None:
    label = _INLINE_LABEL.search(text, start, stop)
    if label is None:
        return None
    at = _prefix_end(text, label.end(), stop)
    return _call_at(text, label.start(), at, stop, ("inline_action",), labelled=True, one_line=True)


def _behind_other_label(text: str, start: int, stop: int) -> Call | None:
    label = _OTHER_LABEL.match(text, _prefix_end(text, start, stop), stop)
    if label is None:
        return None
    at = _prefix_end(text, label.end(), stop)
    return _alone(
        _call_at(text, start, at, stop, ("wrong_label",), labelled=False, one_line=True), text, stop
    )


def _behind_sentence(text: str, start: int, stop: int) -> Call | None:
    sentence = _AFTER_SENTENCE.search(text, start, stop)
    if sentence is None:
        return None
    at = _prefix_end(text, sentence.start() + 1, stop)
    return _alone(_call_at(text, at, at, stop, ("inline_action",), labelled=False, one_line=True), text, stop)


def _alone(call: Call | None, text: str, stop: int) -> Call | None:
    """The call, where nothing but further calls follows it on its line."""
    if call is None:
        return None
    rest = text[call.end : stop].strip(" \t*_`.,")
    return call if not rest or CALL.match(rest) else None


def _prefix_repairs(prefix: str) -> tuple[str, ...]:
    repairs = ("prompt_prefix",) if ">" in prefix.replace("->", "") and "<" not in prefix else ()
    return repairs + (("markdown",) if prefix.strip(" \t>") else ())


def _label_repairs(label: re.Match[str]) -> tuple[str, ...]:
    repairs: tuple[str, ...] = ("letter_case",) if label.group(1) != "Action" else ()
    repairs += ("step_number",) if label.group(2) else ()
    repairs += ("other_punctuation",) if label.group(3) != ":" else ()
    return repairs
