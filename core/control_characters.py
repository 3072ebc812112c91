"""Removes control characters from texts of others, for a terminal."""

from __future__ import annotations

import re

_CONTROLS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)|\x1b[@-_]?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]"
    r"|[\U000e0000-\U000e007f]",
    re.DOTALL,
)


def strip_control_chars(text: str) -> str:
    """Return the text on one line, without control sequences and without marks that reorder or hide text."""
    return _CONTROLS.sub("", text).replace("\n", " ").replace("\t", " ")
