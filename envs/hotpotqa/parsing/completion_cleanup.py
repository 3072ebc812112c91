"""Removes invented observations and code fences from a completion."""

from __future__ import annotations

import re

from reflex_bench.envs.completions.labels import COLON, OBSERVATION
from reflex_bench.envs.hotpotqa.parsing.marks import LABEL, PREFIX

_BARE_LABEL = re.compile(
    r"(?:thought|action|(?P<observation>observation)) ?[0-9]{0,6}[ \t*_`]{0,4}$", re.IGNORECASE
)
_GLUED = re.compile(
    rf"[\]］】〕][ \t*_`.]{{0,4}}(?:{OBSERVATION}) ?[0-9]{{0,6}}{COLON}|</?(?:observation|information|result)s?>",
    re.IGNORECASE,
)
_FENCE = "```"
DECORATION = " \t\n*_`#>~•-"


def before_observation(text: str, repairs: list[str]) -> str:
    """Return the text before the first observation that the model invented, on a line or behind an action."""
    position = 0
    for line in text.split("\n"):
        label = _label(line)
        if label and label["observation"]:
            repairs.append("cut_invented_observation")
            return text[:position]
        glued = _GLUED.search(line)
        if glued:
            repairs.append("cut_invented_observation")
            return text[: position + glued.start() + (glued[0][0] != "<")]
        position += len(line) + 1
    return text


def without_fences(text: str, repairs: list[str]) -> str:
    """Return the text without the lines that open or close a code fence."""
    if _FENCE not in text:
        return text
    lines = text.split("\n")
    kept = [
        line
        for line in lines
        if not (line.lstrip().startswith(_FENCE) and "[" not in line and "{" not in line)
    ]
    if len(kept) < len(lines):
        repairs.append("code_fence")
    return "\n".join(kept)


def prose(text: str) -> str:
    """Return a thought: the text without blank lines, labels and the decoration of labels."""
    lines = []
    for line in text.split("\n"):
        label = _label(line)
        bare = (line[label.end() :] if label else line).strip()
        bare = bare.strip("*_`").strip() if label or not bare.strip("*_`#>- ") else bare
        if bare:
            lines.append(bare)
    return "\n".join(lines)


def _label(line: str) -> re.Match[str] | None:
    """Return the label that a line begins with: with a colon, or alone on its line."""
    prefix = PREFIX.match(line)
    at = prefix.end() if prefix else 0
    return LABEL.match(line, at) or _BARE_LABEL.match(line, at)
