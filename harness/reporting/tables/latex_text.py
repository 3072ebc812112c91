"""Text that others wrote, as LaTeX: nothing in it is a command, and long words may be broken."""

from __future__ import annotations

import re

from reflex_bench.core.control_characters import strip_control_chars

MAX_WORD = 14
"""Characters after which a word may be broken."""

_COMMANDS = (
    r"\textbackslash{} \textasciitilde{} \textasciicircum{} \textless{} \textgreater{} \textbar{} -- --- "
    r"$\geq$ $\leq$ $\times$ $-$ \ldots{} $\cdot$"
)
_LATEX = {mark: "\\" + mark for mark in "&%$#_{}"}
_LATEX |= zip("\\~^<>|–—≥≤×−…·", _COMMANDS.split(), strict=True)


def breakable(text: str) -> str:
    """Return a text as `escape` does, whose long words may be broken: after a mark in them, or every few characters."""
    words = re.split(r"(\s+)", strip_control_chars(text))
    return _guarded("".join(r"\allowbreak{}".join(map(_escaped, pieces(word))) for word in words))


def pieces(word: str) -> list[str]:
    """Return the parts of a word that stay on one line; a short word is one."""
    if len(word) <= MAX_WORD:
        return [word]
    parts = re.findall(r"[^/:=,_.-]+[/:=,_.-]*|[/:=,_.-]+", word)
    return [
        piece for part in parts for piece in (re.findall(r".{1,8}", part) if len(part) > MAX_WORD else [part])
    ]


def escape(text: str) -> str:
    """Return a text of which no character is a command, on one line."""
    return _guarded(_escaped(strip_control_chars(text)))


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in text)


def _guarded(text: str) -> str:
    # A bracket or a star that opens a row would be read as the argument of the `\\` before it.
    return "{" + text + "}" if text.startswith(("[", "*")) else text
