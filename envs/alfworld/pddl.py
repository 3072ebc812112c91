"""Reads PDDL text, and recognises the domain: the rules that a game file brings along."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from reflex_bench.harness.errors import ReflexError

Expression = str | list["Expression"]

_COMMENT = re.compile(r";[^\n]*")
_TOKEN = re.compile(r"[()]|[^\s()]+")

# sha256 of the actions that `rules` implements, as `_digest` writes them. Their text has not changed since data 2.1.1;
# `help` came with data 2.1.2 (alfworld/data/alfred.pddl, scripts/patch_tw-pddl.py).
_ACTIONS = "a31f51b4980a82020f3d48e11d18b2919d58efbcdc5ee6523387713ee9587513"
_HELP = "c6dc27f7dd17033ba559d86ea665cac13bdedf3053a4171549134da047ce2171"
_TYPES = {"agent", "location", "receptacle", "object", "rtype", "otype"}
_SECTIONS = {":requirements", ":types", ":predicates", ":functions", ":action"}


class UnknownGame(ReflexError):
    """A game file whose rules, wording or shape this engine does not know; the official engine may know it."""


def clean(text: str) -> str:
    """PDDL as the planner reads it: in lower case, without comments."""
    return _COMMENT.sub("", text).lower()


def nest(text: str) -> Expression:
    """One parenthesised expression as nested lists of words.

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
    """(name, type) for a list such as `?o ?p - object ?r - receptacle`; what has no type is an `object`."""
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


@lru_cache(maxsize=16)
def has_help(domain: str) -> bool:
    """Whether a known domain includes `help`; nothing else distinguishes the known ones.

    Args:
        domain: the PDDL domain of a game file. Comments, case, white space and the order of actions do not matter.

    Raises:
        UnknownGame: the rules are not those that this engine plays by.
    """
    expression = nest(clean(domain))
    if not isinstance(expression, list) or expression[:2] != ["define", ["domain", "alfred"]]:
        raise UnknownGame("a domain that is not ALFWorld's")
    actions: dict[str, Expression] = {}
    for part in expression[2:]:
        if not isinstance(part, list) or len(part) < 2 or str(part[0]) not in _SECTIONS:
            raise UnknownGame(f"a domain with an unknown section: {str(part)[:60]}")
        if part[0] == ":types" and {name for name, _ in typed(part[1:])} != _TYPES:
            raise UnknownGame("a domain with other types than ALFWorld's")
        if part[0] == ":action":
            if str(part[1]) in actions:
                raise UnknownGame(f"a domain that defines the action {part[1]} twice")
            actions[str(part[1])] = part
    help_action = actions.pop("help", None)
    if _digest(*(actions[name] for name in sorted(actions))) != _ACTIONS:
        raise UnknownGame("a domain whose actions are not those of data 2.1.1 to 2.1.3 or of package 0.4.2")
    if help_action is not None and _digest(help_action) != _HELP:
        raise UnknownGame("a domain with another `help` than the known one")
    return help_action is not None


def _digest(*actions: Expression) -> str:
    return hashlib.sha256(repr(actions).encode()).hexdigest()
