"""Reads JSON as models write it: with comments around it, single quotes, a comma too many, or cut off."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_LENGTH = 20_000
"""Characters of one value; a longer one is no action."""

_DECODER = json.JSONDecoder(strict=False)
_STRING = re.compile(
    r"""\"(?:[^"\\]|\\.)*\"|'((?:[^'\\\n]|\\.|'(?!\s*[:,}\]]))*)'(?=\s*[:,}\]])""", re.DOTALL
)
_BARE_KEY = re.compile(r"([{,]\s*)([A-Za-z_]\w{0,40})\s*:")
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_PYTHON_WORD = re.compile(r"\b(True|False|None)\b")


def value_at(text: str, start: int) -> tuple[Any, int] | None:
    """Return the JSON object or list that begins at `start`, and the index behind it; None for none. Never raises."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    end, closers = _extent(text, start)
    written = text[start:end]
    if closers is None or len(written) > MAX_LENGTH:
        return None
    try:
        return _DECODER.decode(_mended(written) + closers), end
    except (ValueError, RecursionError):
        return None


def _extent(text: str, start: int) -> tuple[int, str | None]:
    """Return where the value ends, and what is missing at its end; None for brackets that do not pair."""
    open_brackets: list[str] = []
    quote = ""
    index = start
    stop = min(len(text), start + MAX_LENGTH + 1)
    while index < stop:
        sign = text[index]
        if quote:
            if sign == "\\":
                index += 1
            elif sign == quote:
                quote = ""
        elif sign == '"' or (sign == "'" and text[index - 1] in "{[,: \n"):
            quote = sign
        elif sign in "{[":
            open_brackets.append("}" if sign == "{" else "]")
        elif sign in "}]":
            if not open_brackets or open_brackets.pop() != sign:
                return index, None
            if not open_brackets:
                return index + 1, ""
        index += 1
    closing = '"' if quote else ""
    return stop, closing + "".join(reversed(open_brackets))


def _mended(written: str) -> str:
    pieces: list[str] = []
    position = 0
    for string in _STRING.finditer(written):
        pieces.append(_outside(written[position : string.start()]))
        single = string[1]
        pieces.append(string[0] if single is None else json.dumps(single.replace("\\'", "'")))
        position = string.end()
    rest = written[position:]
    pieces.append(rest if '"' in rest else _outside(rest))
    return _TRAILING_COMMA.sub("", "".join(pieces).rstrip().rstrip(","))


def _outside(text: str) -> str:
    text = _PYTHON_WORD.sub(lambda word: _PYTHON[word[1]], text)
    return _BARE_KEY.sub(r'\1"\2":', text)
