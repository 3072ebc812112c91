"""Scans the lines of a reply for its thoughts and its first command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from reflex_bench.envs.alfworld.parsing.commands import (
    MAX_LENGTH,
    command_in,
    command_of_call,
    is_placeholder,
    surplus,
    undress,
)
from reflex_bench.envs.alfworld.parsing.near_misses import near_miss
from reflex_bench.envs.base import Action
from reflex_bench.envs.completions import labels
from reflex_bench.envs.completions.calls import as_mapping
from reflex_bench.envs.completions.characters import narrow
from reflex_bench.envs.completions.intents import announced

THINK = "think:"

OBSERVATION = re.compile(
    rf"OK\.?$|Nothing happens|(?:{labels.OBSERVATION})\b|-= |Your task is to|STATUS:|In it, you see"
    r"|There's nothing special"
    r"|You (?:arrive|open|close|pick|move|put|clean|heat|cool|turn|slice|see|are (?:not )?carrying)"
    r"|You are (?:facing|in the middle)|On the [a-z]+ \d+, you see|The [a-z]+ \d+ is (?:open|closed)"
    r"|This (?:is an? |[a-z]+ \d+ is o)|</?(?:observation|information|result)s?>",
    re.IGNORECASE,
)
FENCE = re.compile(r"(?:```|~~~)[\w-]*$")
_GAP = r"[ *_`]{0,4}"
_INLINE = re.compile(
    rf"(?<![^\s。.;；,，!！])[*_]{{0,3}}(?:{labels.ACTION}){_GAP}\d{{0,6}}{_GAP}{labels.COLON}|(?<!\S)>(?!\S)",
    re.IGNORECASE,
)
_CLOSING_TAG = re.compile(r"\s*</\w{1,30}>$")
_THOUGHT_LABEL = re.compile(rf"(?:{labels.THOUGHT}){_GAP}\d{{0,6}}{_GAP}{labels.COLON}\s*", re.IGNORECASE)
_INPUT_LABEL = re.compile(rf"(?:{labels.INPUT}|input){_GAP}\d{{0,6}}{_GAP}{labels.COLON}\s*", re.IGNORECASE)


@dataclass
class Reading:
    """What has been found so far in one completion.

    Attributes:
        thoughts: in order.
        repairs: so far.
        near: the admissible commands, where a near miss may be read as one of them.
        labelled: whether a thought stood behind its label.
        meant_to_act: whether something was marked as an action.
        listing: whether the lines of a list belong to a plan or thought above them.
    """

    thoughts: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    near: Sequence[str] = ()
    labelled: bool = False
    meant_to_act: bool = False
    listing: bool = False

    def thought(self) -> str:
        return " ".join(filter(None, self.thoughts))

    def cut(self, lines: Sequence[str]) -> None:
        """Name what is ignored behind the command."""
        for line in lines:
            if not line or FENCE.match(line) or not any(map(str.isalnum, line)):
                continue
            if OBSERVATION.match(line.lstrip("> ")):
                self.repairs.append("cut_invented_observation")
            else:
                further = command_in(line)[0] is not None
                self.repairs.append("extra_actions" if further else "trailing_text")

    def action(self, command: str | None) -> Action:
        error = None
        if command is None:
            if self.meant_to_act:
                error = "unknown_action"
            elif not (self.labelled and self.thought()):
                error = "empty" if self.labelled else "no_action"
        elif is_placeholder(command):
            command, error = None, "placeholder"
        return Action(self.thought(), command, error, tuple(self.repairs))


def thoughts_before(text: str, reading: Reading) -> None:
    """Takes what stands before an action in an envelope of its own as thoughts."""
    for line in filled_lines(re.sub(r"<[|｜/]{0,2}[\w:▁ -]{1,40}[|｜]?>", "", text)):
        if not FENCE.match(line) and any(map(str.isalnum, line)):
            _think(line.lstrip("*_`#> "), reading, alone=False)


def filled_lines(text: str) -> list[str]:
    """Return the lines of a text that are not empty, without the blanks around them."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def in_lines(text: str, reading: Reading) -> Action:
    """Return the action in the first line that holds one, and the thoughts in the lines before it."""
    lines = text.splitlines()
    if lines and not lines[0].strip() and not reading.repairs:
        reading.repairs.append("empty_first_line")
    lines = filled_lines(text)
    for number, line in enumerate(lines):
        if FENCE.match(line):
            if "code_fence" not in reading.repairs:
                reading.repairs.append("code_fence")
            continue
        command = _line(line, reading, lines[number + 1 :])
        if command is not None:
            reading.cut(lines[number + 1 :])
            return reading.action(command)
    return reading.action(None)


def _line(line: str, reading: Reading, after: Sequence[str]) -> str | None:
    """Return the command in a line, if there is one; what else it holds goes into the reading."""
    command, repairs = command_in(line)
    if command is not None and "numbering" in repairs and (reading.listing or _labelled(after)):
        reading.thoughts.append(line)  # a step of a plan
        return None
    if command is not None:
        reading.repairs.extend(repairs)
        return command
    plain = narrow(line)
    start, repairs = undress(plain)
    if OBSERVATION.match(plain, start) and ">" not in plain[start:]:
        reading.repairs.append("cut_invented_observation")
        return None
    label = _THOUGHT_LABEL.match(plain, start)
    reading.listing = label is not None and not plain[label.end() :].strip("*_ ")
    acting = "action_label" in repairs or "prompt_prefix" in repairs
    if not label:
        reading.meant_to_act |= acting
        command = _over_two_lines(line[start:], after, reading) if "action_label" in repairs else None
        command = command or (near(line[start:], reading, not acting) if reading.near else None)
        if command is not None:
            reading.repairs.extend(repairs)
            return command
    before, command, inline = _split(line[start:], reading)
    reading.repairs.extend(name for name in repairs if name not in ("quotes", "brackets"))
    if OBSERVATION.match(before):
        reading.repairs.append("cut_invented_observation")
    else:
        _think(before, reading, alone=command is None)
    reading.repairs.extend(inline)
    return command


def _labelled(lines: Sequence[str]) -> bool:
    """Return whether a command stands behind a label further down."""
    return any("action_label" in command_in(line)[1] for line in lines)


def near(text: str, reading: Reading, announced: bool) -> str | None:
    """Return the admissible command that a text is a near miss of, named as a repair; see `near_miss`."""
    meant = near_miss(text, reading.near, announced)
    if meant is not None:
        reading.repairs.append("near_miss")
    return meant


def _over_two_lines(name: str, after: Sequence[str], reading: Reading) -> str | None:
    """Return `Action: go to`, then `Action Input: desk 1`."""
    following = narrow(after[0]) if after else ""
    label = _INPUT_LABEL.match(following, undress(following)[0]) if len(following) <= MAX_LENGTH else None
    if label is None or len(name) > MAX_LENGTH:
        return None
    value = after[0][label.end() :].strip(" *_`")
    command = command_of_call(name.strip(" *_`\"'[]()."), as_mapping(value.strip("\"'")))
    if command is None and reading.near:
        command = near_miss(f"{name} {value}", reading.near)
    reading.repairs.extend(["action_input"] * (command is not None))
    return command


def _think(text: str, reading: Reading, alone: bool) -> None:
    label = _THOUGHT_LABEL.match(narrow(text))
    if label:
        if not text.startswith(THINK):
            reading.repairs.append("thought_label")
        if reading.labelled:
            reading.repairs.append("joined_thoughts")
        reading.labelled = True
        text = text[label.end() :].lstrip("*_ ")
    elif alone and not reading.meant_to_act:
        reading.repairs.append("unlabelled_thought")
    reading.thoughts.append(
        _CLOSING_TAG.sub("", text.rstrip("*_ ")) if text.endswith(">") else text.rstrip("*_ ")
    )


def _split(text: str, reading: Reading) -> tuple[str, str | None, list[str]]:
    """Thought, command and repairs of a line such as `Thought: … Action: go to desk 1` or `OK. > look > inventory`."""
    plain = narrow(text)
    place = announced(plain)
    if place is not None and not _THOUGHT_LABEL.match(plain):
        command, repairs = command_in(plain[slice(*place)])
        if command is not None:
            return text[: place[0]].rstrip(' `"*“'), command, ["inline_action", *repairs]
    marks = [mark.start() for mark in _INLINE.finditer(plain)]
    if marks and not _THOUGHT_LABEL.match(plain):
        marks.insert(0, 0)  # of a chain of commands that is too long to be one
    for mark, stop in zip(marks, (*marks[1:], len(text)), strict=False):
        written = plain[mark:stop].strip("*_ ")
        command, repairs = command_in(written)
        if (
            command is None
            and reading.near
            and (command := near(written[undress(written)[0] :], reading, False))
        ):
            repairs = undress(written)[1]
        if command is not None:
            return text[:mark].strip(), command, ["inline_action", *repairs, *surplus(plain[stop:])]
    return text, None, []
