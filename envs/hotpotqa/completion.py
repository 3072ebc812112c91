"""Takes out of a completion what is no turn of the agent: reasoning tags, invented observations, code fences."""

from __future__ import annotations

import re

from reflex_bench.envs.hotpotqa.calls import LABEL, PREFIX

_TAG = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
_BARE_LABEL = re.compile(r"(thought|action|observation) ?[0-9]{0,6}[ \t*_`]{0,4}$", re.IGNORECASE)
_GLUED = re.compile(r"[\]］】〕][ \t*_`.]{0,4}observation ?[0-9]{0,6}[:：]", re.IGNORECASE)
_FENCE = "```"
DECORATION = " \t\n*_`#>~•-"


def without_reasoning(text: str, repairs: list[str]) -> tuple[str, bool]:
    """The text outside reasoning tags, and whether a tag was never closed.

    A closing tag without an opening one drops all text before it: some chat templates write the opening tag themselves.
    """
    kept: list[str] = []
    depth, start = 0, 0
    for tag in _TAG.finditer(text):
        if tag.group(1):
            if depth == 0:
                kept.clear()
            depth = max(0, depth - 1)
            repairs.append("reasoning_removed")
        else:
            if depth == 0:
                kept.append(text[start : tag.start()])
            depth += 1
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept), depth > 0


def before_observation(text: str, repairs: list[str]) -> str:
    """The text before the first line that claims to be an observation, or before one glued to the end of an action."""
    position = 0
    for line in text.split("\n"):
        label = _label(line)
        if label and label.group(1).lower() == "observation":
            repairs.append("cut_invented_observation")
            return text[:position]
        glued = _GLUED.search(line)
        if glued:
            repairs.append("cut_invented_observation")
            return text[: position + glued.start() + 1]
        position += len(line) + 1
    return text


def without_fences(text: str, repairs: list[str]) -> str:
    """The text without the lines that open or close a code fence."""
    if _FENCE not in text:
        return text
    lines = text.split("\n")
    kept = [line for line in lines if not (line.lstrip().startswith(_FENCE) and "[" not in line)]
    if len(kept) < len(lines):
        repairs.append("code_fence")
    return "\n".join(kept)


def prose(text: str) -> str:
    """A thought: the text without blank lines, labels and the decoration of labels."""
    lines = []
    for line in text.split("\n"):
        label = _label(line)
        bare = (line[label.end() :] if label else line).strip()
        bare = bare.strip("*_`").strip() if label or not bare.strip("*_`#>- ") else bare
        if bare:
            lines.append(bare)
    return "\n".join(lines)


def _label(line: str) -> re.Match[str] | None:
    """The label that a line begins with: with a colon, or alone on its line."""
    prefix = PREFIX.match(line)
    at = prefix.end() if prefix else 0
    return LABEL.match(line, at) or _BARE_LABEL.match(line, at)
