"""Finds the one admissible command that a near miss means (policy `admissible`).

A command and a near miss are both taken apart into an action and the things it names; words for the same action are
one ("pick up" is "take", "turn on" is "use"), articles and the sign # do not count, a number may be glued to its name.
A thing may lack its number, and the last thing may be missing, as long as one admissible command alone fits. Nothing is
guessed from similar spelling, and a command that names another thing than is there fits none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reflex_bench.envs.alfworld.parsing.commands import MAX_LENGTH
from reflex_bench.envs.completions.characters import narrow

_ACTIONS = (
    ("inventory", r"(?:check|show|view|see|open|look at|look in)?(?: my| your)? ?(?:inventory|inv)|i"),
    ("look", r"look(?: around| about)?(?: the room| room)?|observe(?: the room| room)?"),
    ("help", r"help"),
    ("give up", r"give up|i give up"),
    (
        "go to",
        r"(?:go|walk|move|head|navigate|proceed|travel|return|come|run|step)(?: back| over)? ?(?:to|towards?)"
        r"|goto|approach|visit",
    ),
    ("take", r"take|pick up|pick|grab|get|collect|retrieve|fetch|remove"),
    ("put", r"put down|put|place|move|set down|set|drop|leave|store|insert|lay|deposit"),
    ("use", r"use|turn on|switch on|toggle on|toggle|activate|light"),
    ("open", r"open up|open"),
    ("close", r"close|shut"),
    ("examine", r"examine|look at|look in|look inside|look on|look closely at|inspect|check|view|read"),
    ("clean", r"clean|wash|rinse"),
    ("heat", r"heat up|heat|warm up|warm|microwave"),
    ("cool", r"cool down|cool off|cool|chill|refrigerate"),
    ("slice", r"slice|cut up|cut"),
)
_VERBS = tuple((name, re.compile(rf"(?:{pattern})(?![a-z])")) for name, pattern in _ACTIONS)
_LEAD = re.compile(
    r"(?:(?:so|then|now|next|first|okay|ok|well|alright|therefore|thus|finally|please)[, ]+)*"
    r"(?:(?:i|we)(?:['’]ll| will| shall| am going to| are going to|['’]m going to|['’]re going to| now)"
    r"|let['’]s|let us|let me|lets|i)\s+(?:(?:now|first|then|next|try to|go ahead and)\s+)*"
)
_FILLER = re.compile(r"\b(?:the|an?|my|your|number|no\.?)\s+|#\s*")
_GLUED = re.compile(r"(?<=[a-z])[ _-]?(?=[0-9])")
_BETWEEN = re.compile(
    r"\s*\b(?:in/on|into|onto|inside|from|out of|off|with|using|in|on|at|to)\b\s*|\s*,\s*(?=[a-z])"
)
_THING = re.compile(r"([a-z][a-z' -]*?)(?: ([0-9]+))?")
_BACK = re.compile(r"(pick|turn|switch|put) (.{1,60}) (up|on|down)")
# Where a further command follows: the first is meant.
_FURTHER = re.compile(r"(?<=[0-9])\s*(?:[,;>]|\bthen\b|\band\b)")
_END = " \t.!,;:*_`\"'”»)]}>"

Parts = tuple[str, tuple[tuple[str, str], ...]]


def near_miss(written: str, admissible: Sequence[str], announced: bool = False) -> str | None:
    """Return the one admissible command that is meant; None where there is none, or more than one.

    Args:
        written: a line, or what stands behind a label.
        admissible: the commands that the game would accept now.
        announced: whether words such as "I will" may stand before it.
    """
    if len(written) > MAX_LENGTH:
        return None
    text = " ".join(narrow(written).lower().split()).strip(_END)
    lead = _LEAD.match(text) if announced else None
    if lead:
        text = text[lead.end() :]
    for words in dict.fromkeys((text, _FURTHER.split(text, maxsplit=1)[0])):
        meant = [parts for parts in _readings(words) if parts is not None]
        fitting = {command for command in admissible for parts in meant if _fits(parts, command)}
        if fitting:
            return fitting.pop() if len(fitting) == 1 else None
    return None


def _readings(text: str) -> list[Parts | None]:
    back = _BACK.fullmatch(text)
    texts = (text, f"{back[1]} {back[3]} {back[2]}") if back else (text,)
    return [_parts(one, name, verb) for one in texts for name, verb in _VERBS]


def _parts(text: str, name: str, verb: re.Pattern[str]) -> Parts | None:
    """Return a text taken apart as this action; None where it is none."""
    found = verb.match(text)
    if found is None:
        return None
    rest = _GLUED.sub(" ", _FILLER.sub("", text[found.end() :].replace("_", " ")).strip())
    if not rest:
        return name, ()
    things = [_THING.fullmatch(piece.strip()) for piece in _BETWEEN.split(rest)]
    if not all(things):
        return None
    return name, tuple((thing[1].replace(" ", ""), thing[2] or "") for thing in things if thing)


def _fits(parts: Parts, command: str) -> bool:
    """Return whether a near miss can mean this command."""
    name, things = parts
    whole = [reading for reading in _readings(command) if reading and reading[0] == name]
    if name in ("inventory", "look", "help", "give up"):
        return not things and command == name
    for _, named in whole:
        if not things or len(things) > len(named) or (len(things) < len(named) and name == "go to"):
            continue
        if all(
            word == known and number in ("", count)
            for (word, number), (known, count) in zip(things, named, strict=False)
        ):
            return not (command.startswith("move ") and name == "go to")
    return False
