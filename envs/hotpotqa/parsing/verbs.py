"""Search, Lookup and Finish by their names, with their arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reflex_bench.envs.base import Action
from reflex_bench.envs.completions.calls import as_mapping

VERBS = ("Search", "Lookup", "Finish")
ARGUMENT_NAMES = {"Search": "entity", "Lookup": "keyword", "Finish": "answer"}
"""Of the native tools' parameters."""
PLACEHOLDERS = {
    "Search": ("title", "entity", "topic"),
    "Lookup": ("words", "keyword", "topic"),
    "Finish": ("answer",),
}
"""What stands in brackets in an instruction: the project's own, ReAct's (`Search[entity]`) and Reflexion's
(`Lookup[<topic>]`). Whoever writes these words has copied the instruction."""

_KNOWN = {
    **dict.fromkeys(("search", "searchpage", "searchtitle", "searchwikipedia", "wikipediasearch"), "Search"),
    **dict.fromkeys(("lookup", "lookupkeyword", "lookupwords"), "Lookup"),
    **dict.fromkeys(("finish", "answer", "finalanswer", "submit", "submitanswer", "finishanswer"), "Finish"),
}
_NO_LETTER = re.compile(r"[\W_]+")
_NAMESPACE = re.compile(r"^(?:functions?|tools?|actions?|default_api|api)[.:/]")
_KEYWORD = re.compile(
    r"(?:entity|query|q|title|keywords?|words?|text|input|term|topic|(?:final_)?answer|page|name|string|search_query"
    r"|search_term|value|content|phrase)\s*(?P<sign>[=:])\s*(?P<value>\"[^\"]*\"|'[^']*'|“[^”]*”|.+)",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "「": "」", "`": "`", "„": "“"}


def verb_of(name: str) -> str | None:
    """Return the verb that a name stands for, whatever its letter case, blanks and namespace.

    None for any other name.
    """
    return _KNOWN.get(_NO_LETTER.sub("", _NAMESPACE.sub("", name.strip().lower())))


def split_command(command: str) -> tuple[str, str] | None:
    """Return (verb, argument) of a canonical command, in any letter case; None where it is none."""
    head, bracket, tail = command.strip().partition("[")
    verb = head.strip().capitalize()
    if not bracket or not tail.endswith("]") or verb not in VERBS:
        return None
    return verb, tail[:-1].strip()


def checked(thought: str, verb: str, argument: str, actions: Sequence[str], repairs: Sequence[str]) -> Action:
    """Return the action, or the error where the verb is not allowed, or its argument is missing or a placeholder."""
    # A command is one line, whatever counts as a line break.
    argument = " ".join(argument.split()) if len(argument.splitlines()) > 1 else argument.strip()
    error = None
    if verb not in actions:
        error = "unknown_action"
    elif not argument and verb != "Finish":
        error = "empty_argument"
    elif is_placeholder(verb, argument):
        error = "placeholder"
    if error:
        return Action(thought, error=error, repairs=tuple(repairs))
    return Action(thought, f"{verb}[{argument}]", repairs=tuple(repairs))


def is_placeholder(verb: str, argument: str) -> bool:
    """Return whether an argument is the word that the instruction has in its place: `title`, `<title>` or `TITLE`."""
    if len(argument) > 20:
        return False
    word = argument.strip("<>{}\"'`…. ")
    return word.lower() in PLACEHOLDERS.get(verb, ()) and (word.islower() or word.isupper())


def value_of(verb: str, arguments: Mapping[str, Any] | str) -> tuple[str | None, tuple[str, ...]]:
    """Return the argument of a call, and what had to be repaired; None where there is not exactly one text."""
    if isinstance(arguments, str):
        return arguments, ()
    value = arguments.get(ARGUMENT_NAMES[verb])
    if value is not None:
        return (value, ()) if isinstance(value, str) else (None, ())
    texts = [item for item in arguments.values() if isinstance(item, str)]
    return (texts[0], ("argument_name",)) if len(texts) == 1 else (None, ())


def plain_argument(verb: str, text: str, bracket: str = "") -> tuple[str, tuple[str, ...]]:
    """Return an argument without JSON, its name, quotation marks and a second pair of brackets around it.

    Args:
        verb: whose argument it is.
        text: as it was written.
        bracket: the opening bracket before it; "" where there was none. In square brackets quotation marks stay.
    """
    text = text.strip()
    if text.startswith("{"):
        value, repairs = value_of(verb, as_mapping(text))
        return (text, ()) if value is None else (value, ("tool_call", *repairs))
    repairs = ()
    keyword = _KEYWORD.match(text) if "=" in text or bracket in ("(", "（", "{") else None
    if keyword and (keyword["sign"] == "=" or bracket in ("(", "（", "{")):
        text, repairs = keyword["value"].strip(), ("argument_name",)
    if (
        (bracket not in ("[", "［", "【", "〔") or repairs)
        and len(text) > 1
        and _QUOTES.get(text[0]) == text[-1]
    ):
        return text[1:-1].strip(), (*repairs, "quotes")
    if len(text) > 2 and text[0] in "[［" and text[-1] in "]］" and not re.search(r"[\[\]［］]", text[1:-1]):
        return text[1:-1].strip(), (*repairs, "stray_bracket")
    return text, repairs
