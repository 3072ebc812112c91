"""Prints where the output cannot hold every character: a redirect on Windows, a terminal of plain ASCII."""

from __future__ import annotations

import codecs
import io
import os
import sys


def wants_color() -> bool:
    """Return whether standard output is to have colours and weights: `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` hold."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and not is_dumb()


def is_dumb() -> bool:
    """Return whether the terminal understands no control sequences."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


_NAME = "reflex.stand_in"

_STAND_INS = {
    **dict.fromkeys("─━═–—−‐‑", "-"),
    **dict.fromkeys("│┃", "|"),
    **dict.fromkeys("├└", "+"),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("“”„", '"'),
    "·": "-",
    "•": "*",
    "×": "x",
    "…": "...",
    "→": "->",
    "≥": ">=",
    "≤": "<=",
    "±": "+/-",
}
"""Plain characters for those that tables and messages are set with; any other becomes a question mark."""


def print_in_any_encoding() -> None:
    """Lets standard output and standard error replace what their encoding cannot hold, instead of failing."""
    codecs.register_error(_NAME, _stand_in)
    for stream in (sys.stdout, sys.stderr):
        # Under a locale of plain C, Python writes UTF-8 and gives back the bytes of file names: nothing can fail there.
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding, stream.errors) != (
            "utf-8",
            "surrogateescape",
        ):
            stream.reconfigure(errors=_NAME)


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wanted = error.object[error.start : error.end]
    return "".join(_STAND_INS.get(character, "?") for character in wanted), error.end
