"""Normalises characters that look like others or like nothing."""

from __future__ import annotations

import re

# Soft hyphen, joiners, zero-width and direction marks, variation selectors, byte order mark, tags. A joiner between
# letters of a script that needs it stays.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
_BLANK = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_LINE_BREAK = re.compile("\r\n|[\r\x85\u2028\u2029]")
_WIDE = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {0x3002: ".", 0x3001: ",", 0xFE52: "."}


def tidy(text: str, repairs: list[str]) -> str:
    """Return the text with ordinary line breaks and blanks, and without signs that nobody sees."""
    if text.isascii() and "\r" not in text:
        return text
    tidied = _LINE_BREAK.sub("\n", text)
    if tidied != text:
        repairs.append("line_endings")
    text = tidied
    if not text.isascii():
        tidied = _BLANK.sub(" ", _INVISIBLE.sub("", text))
        if tidied != text:
            repairs.append("invisible_signs")
    return tidied


def narrow(text: str) -> str:
    """Return the text with full-width letters, digits and signs as ordinary ones; as long as before, sign for sign."""
    return text if text.isascii() else text.translate(_WIDE)
