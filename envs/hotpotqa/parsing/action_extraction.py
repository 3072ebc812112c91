"""Finds the first action in a completion from which reasoning, invented observations and fences are gone.

What counts, in this order: a line that begins with an action, or with the label `Action:` and one (also in the middle
of a line); else an action behind another label, at the very end of a line after a full sentence, or announced; else an
unknown verb alone on its line. A verb in running prose is none of these. `forms` knows the actions without brackets.
"""

from __future__ import annotations

import re

from reflex_bench.envs.completions.intents import announced
from reflex_bench.envs.hotpotqa.parsing import forms
from reflex_bench.envs.hotpotqa.parsing.argument import (
    CALL,
    OPENING,
    Argument,
    argument_on_line,
    argument_over_lines,
    family,
    line_end,
)
from reflex_bench.envs.hotpotqa.parsing.marks import GAP, LABEL, VERB, FoundAction, prefix_end
from reflex_bench.envs.hotpotqa.parsing.verbs import plain_argument, verb_of

_I = re.IGNORECASE | re.ASCII
_BLANKS = " \t*_`"

_VERB = re.compile(rf"(?:{VERB}|((?:final[ _])?answer)(?={GAP}\[))({GAP})([{re.escape(OPENING)}])", _I)
_UNKNOWN = re.compile(r"([A-Za-z_]{1,30})\[")
_OTHER_LABEL = re.compile(rf"[^\W\d_]{{2,20}}(?: [^\W\d_]{{2,20}})?{GAP}[0-9]{{0,6}}{GAP}[:：]")
_INLINE_LABEL = re.compile(rf"\baction{GAP}[0-9]{{0,6}}{GAP}[:：]", _I)
_AFTER_SENTENCE = re.compile(rf"[.!?:;。！？：；→]{GAP}{VERB}{GAP}[{re.escape(OPENING)}]", _I)


def first_call(text: str) -> FoundAction | None:
    """Return the first action in the text, None where there is none."""
    aside: FoundAction | None = None
    unknown: FoundAction | None = None
    after_label = False
    start = 0
    while start <= len(text):
        stop = line_end(text, start)
        call = at_line_start(text, start, stop, after_label) or _behind_inline_label(text, start, stop)
        if call is not None:
            return call
        aside = aside or _behind_other_label(text, start, stop) or _behind_sentence(text, start, stop)
        aside = aside or _announced(text, start, stop)
        unknown = unknown or _unknown_alone(text, start, stop)
        if text[start:stop].strip():
            after_label = is_action_label(text[start:stop])
        start = stop + 1
    return aside or forms.handed_in(text) or unknown


def labelled_call(text: str, last_line: bool = False) -> FoundAction | None:
    """Return the first action that stands behind a label, or in a tag, with nothing but itself on its line.

    Args:
        text: a model's reasoning.
        last_line: whether the action must be the last thing in the text.
    """
    after_label = False
    start = 0
    while start <= len(text):
        stop = line_end(text, start)
        at = prefix_end(text, start, stop)
        label = LABEL.match(text, at, stop)
        marked = after_label or (label and label["action"]) or "<action" in text[start:at]
        call = at_line_start(text, start, stop, after_label) if marked else None
        rest = text[call.end :] if call and last_line else text[call.end : stop] if call else "x"
        if call and not re.sub(r"</?\w{1,20}>", "", rest).strip(" \t\n*_`.,]"):
            return call
        if text[start:stop].strip():
            after_label = is_action_label(text[start:stop])
        start = stop + 1
    return None


def begins_anew(line: str) -> bool:
    """Return whether a line starts with a label or a call, so that no argument reaches into it."""
    at = prefix_end(line, 0, len(line))
    return LABEL.match(line, at) is not None or CALL.match(line, at) is not None


def is_action_label(line: str) -> bool:
    """Return whether a line is a label for an action and nothing else."""
    label = LABEL.match(line, prefix_end(line, 0, len(line)))
    return label is not None and bool(label["action"]) and not line[label.end() :].strip(_BLANKS)


def at_line_start(text: str, start: int, stop: int, after_label: bool) -> FoundAction | None:
    """Return the action with which a line begins, or its label for an action and one."""
    at = prefix_end(text, start, stop)
    repairs = _prefix_repairs(text[start:at])
    label = LABEL.match(text, at, stop)
    if label is None:
        spacing = ("spacing",) if after_label else ()
        call = call_at(text, start, at, stop, repairs + spacing, labelled=after_label)
        call = call or forms.colon_form(text, start, at, stop, repairs)
        if call or not after_label:
            return call
        return _unknown_at(text, start, at, stop, repairs) or forms.free_form(text, start, at, stop, repairs)
    if not label["action"]:
        return None
    behind = prefix_end(text, label.end(), stop)
    repairs += _label_repairs(label) + _prefix_repairs(text[label.end() : behind])
    return (
        call_at(text, start, behind, stop, repairs, labelled=True)
        or forms.action_input(text, start, behind, stop, repairs)
        or forms.colon_form(text, start, behind, stop, repairs)
        or _unknown_at(text, start, behind, stop, repairs)
        or forms.free_form(text, start, behind, stop, repairs)
    )


def call_at(
    text: str,
    start: int,
    at: int,
    stop: int,
    repairs: tuple[str, ...],
    labelled: bool,
    one_line: bool = False,
) -> FoundAction | None:
    """Return the action with brackets that begins at `at`."""
    verb = _VERB.match(text, at, stop)
    if verb is None:
        return None
    kinds = family(verb.group(4))
    # "Search (the film) is …" is prose: without a label, other brackets must be closed at the end of their line.
    prose_like = verb.group(4) not in "[［【〔" and not labelled
    argument = argument_on_line(text, verb.end(), kinds)
    if argument is None and not one_line and not prose_like:
        argument = argument_over_lines(text, verb.end(), kinds, begins_anew)
    if argument is None or (prose_like and text[argument.end : stop].strip(" \t*_`.]")):
        return None
    return _made(start, verb, argument, repairs)


def _made(start: int, verb: re.Match[str], argument: Argument, repairs: tuple[str, ...]) -> FoundAction:
    written, gap, bracket = verb[1] or verb[2], verb[3], verb[4]
    name = verb_of(written) or written
    renamed = written.lower() != name.lower()
    more: tuple[str, ...] = ("action_name",) if renamed else ()
    more += ("letter_case",) if written != name and not renamed and "letter_case" not in repairs else ()
    more += ("spacing",) if " " in gap or "\t" in gap else ()
    more += ("markdown",) if gap.strip() and "markdown" not in repairs else ()
    more += ("other_punctuation",) if bracket != "[" and "other_punctuation" not in repairs else ()
    text, plain = plain_argument(name, argument.text, bracket)
    return FoundAction(start, argument.end, name, text, repairs + more + argument.repairs + plain)


def _unknown_at(text: str, start: int, at: int, stop: int, repairs: tuple[str, ...]) -> FoundAction | None:
    verb = _UNKNOWN.match(text, at, stop)
    if verb is None:
        return None
    argument = argument_on_line(text, verb.end(), family("["))
    if argument is None:
        return None
    return FoundAction(start, argument.end, verb.group(1), argument.text, repairs + argument.repairs)


def _unknown_alone(text: str, start: int, stop: int) -> FoundAction | None:
    at = prefix_end(text, start, stop)
    call = _unknown_at(text, start, at, stop, _prefix_repairs(text[start:at]))
    return call if call and not text[call.end : stop].strip(" \t*_`.") else None


def _behind_inline_label(text: str, start: int, stop: int) -> FoundAction | None:
    label = _INLINE_LABEL.search(text, start, stop)
    if label is None:
        return None
    at = prefix_end(text, label.end(), stop)
    return call_at(text, label.start(), at, stop, ("inline_action",), labelled=True, one_line=True)


def _behind_other_label(text: str, start: int, stop: int) -> FoundAction | None:
    label = _OTHER_LABEL.match(text, prefix_end(text, start, stop), stop)
    if label is None:
        return None
    at = prefix_end(text, label.end(), stop)
    return _alone(call_at(text, start, at, stop, ("wrong_label",), labelled=False, one_line=True), text, stop)


def _behind_sentence(text: str, start: int, stop: int) -> FoundAction | None:
    sentence = _AFTER_SENTENCE.search(text, start, stop)
    if sentence is None:
        return None
    at = prefix_end(text, sentence.start() + 1, stop)
    return _alone(call_at(text, at, at, stop, ("inline_action",), labelled=False, one_line=True), text, stop)


def _announced(text: str, start: int, stop: int) -> FoundAction | None:
    place = announced(text[start:stop]) if "[" in text[start:stop] else None
    if place is None:
        return None
    return call_at(text, start, start + place[0], stop, ("inline_action",), labelled=False, one_line=True)


def _alone(call: FoundAction | None, text: str, stop: int) -> FoundAction | None:
    """Return the call, where nothing but further calls follows it on its line."""
    if call is None:
        return None
    rest = text[call.end : stop].strip(" \t*_`.,")
    return call if not rest or CALL.match(rest) else None


def _prefix_repairs(prefix: str) -> tuple[str, ...]:
    if not prefix.strip():
        return ()
    bare = prefix.replace("->", "→").replace("=>", "→")
    repairs: tuple[str, ...] = ("tag",) if "<" in bare else ("prompt_prefix",) if ">" in bare else ()
    signs = set(re.sub(r"<[^<>]*>", "", bare)) - set(" \t>")
    repairs += ("markdown",) if signs & set("*_`#~•-0123456789") else ()
    return repairs + (("leading_sign",) if signs - set("*_`#~•-0123456789.)[") else ())


def _label_repairs(label: re.Match[str]) -> tuple[str, ...]:
    word, sign = label["action"], label["sign"]
    other = ("other_punctuation",) if sign != ":" else ()
    if word.lower() != "action":
        return ("wrong_label", *other)
    repairs: tuple[str, ...] = ("letter_case",) if word != "Action" else ()
    repairs += ("spacing",) if label[0].endswith((" :", "\t:")) else ()
    return repairs + (("step_number",) if label["number"] else ()) + other
