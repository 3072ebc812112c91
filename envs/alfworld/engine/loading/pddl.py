"""Reads PDDL text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reflex_bench.core.errors import ReflexError

Expression = str | list["Expression"]

_COMMENT = re.compile(r";[^\n]*")
_TOKEN = re.compile(r"[()]|[^\s()]+")


class UnknownGame(ReflexError):
    """A game file whose rules, wording or shape this engine does not know; the official engine may know it."""


class UnwinnableGame(UnknownGame):
    """A game whose goal nothing can meet; the official engine cannot load it either."""


def clean(text: str) -> str:
    """Return PDDL as the planner reads it: in lower case, without comments."""
    return _COMMENT.sub("", text).lower()


def nest(text: str) -> Expression:
    """Return one parenthesised expression as nested lists of words.

    Raises:
        UnknownGame: the parentheses do not match, or there is more than one expression.
    """
    top: list[Expression] = []
    stack = [top]
    for token in _TOKEN.findall(text):
        if token == "(":
            inner: list[Expression] = []
            stack[-1].append(inner)
            stack.append(inner)
        elif token != ")":
            stack[-1].append(token)
        elif len(stack) > 1:
            stack.pop()
        else:
            raise UnknownGame("PDDL with a closing parenthesis too many")
    if len(stack) != 1 or len(top) != 1:
        raise UnknownGame("PDDL that is not one complete expression")
    return top[0]


def typed(words: Sequence[Expression]) -> Iterator[tuple[str, str]]:
    """Return (name, type) for a list such as `?o ?p - object ?r - receptacle`; what has no type is an `object`."""
    waiting: list[str] = []
    rest = iter(words)
    for word in rest:
        if not isinstance(word, str):
            raise UnknownGame("PDDL with a nested list of names")
        if word != "-":
            waiting.append(word)
            continue
        kind = next(rest, None)
        if not isinstance(kind, str):
            raise UnknownGame("PDDL with a type missing")
        yield from ((name, kind) for name in waiting)
        waiting = []
    yield from ((name, "object") for name in waiting)
