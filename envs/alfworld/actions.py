"""Reads the action out of what a model wrote for ALFWorld.

A turn is one line: a command of the game, or `think: …`, which the game answers with "OK." and which costs a
step (as in ReAct's ALFWorld code, Yao et al., 2023). `give up` is a command that the agent loop knows, not
the game. Which grammar a game speaks (`put … in/on …` or `move … to …`) is not decided here.

`strict` takes the first line that is not empty, if it has exactly that form. `repair` also takes the untidy
replies of real models and names every liberty. Neither guesses: a command consists of words that the model
wrote, in their order, and what is no command is an error. The names of the repairs:

=========================== ==================================================================================
`empty_first_line`          the reply began with an empty line
`reasoning_block`           `<think>…</think>` was taken as the thought
`code_fence`                a line of backticks was skipped
`prompt_prefix`             `> ` before the line, copied from the marks of a transcript
`numbering`                 `1.`, `2)`, `Step 3:` or a bullet before the line
`markdown`                  asterisks, backticks, underscores or `#` round the line
`action_label`              `Action:`, `Act 2:`, `Command:` before the command
`thought_label`             `Thought:`, `Think 1:` or the like instead of `think:`
`quotes`, `brackets`        round the command
`full_stop`                 punctuation after the command
`letter_case`               capital letters in the command
`spaces`                    runs of blanks in the command
`article`                   `the`, `a`, `an` in the command
`inline_action`             thought and marked action on one line were split
`joined_thoughts`           a further `think:` line before any command
`unlabelled_thought`        a line of prose before the command, kept as thought
`extra_text`                words after the command on its own line, cut
`extra_lines`               a line after the first command, cut; once for every line
`cut_invented_observation`  a line that only the game may say (`OK.` too), cut; once for every line
=========================== ==================================================================================

`strict` uses only the first and the last two. Errors: `empty`, `no_action` (prose), `unknown_action` (meant
as an action, but of no known form), `unclosed_reasoning` (`<think>` never ends: the reply was cut off).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reflex_bench.envs.base import Action, ParsePolicy

THINK = "think:"
GIVE_UP = "give up"

_LONGEST_COMMAND = 200  # characters; a longer line is prose, which also keeps the patterns below linear
_NAME = r"(?!the |an? )[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,2}(?: \d+)?"
_COMMAND = re.compile(
    rf"(?:look|inventory|help|{GIVE_UP}|(?:go to|open|close|use|examine) {_NAME}"
    rf"|take {_NAME}(?: from {_NAME})?|(?:clean|heat|cool|slice) {_NAME} with {_NAME}"
    rf"|(?:move {_NAME} to|put {_NAME} (?:in/on|into|onto|in|on)) {_NAME})"
)
# Only after a number, or a command without objects, is it clear where the command ends and the remark begins.
_REMARK = re.compile(
    r"(?<=\d)(?=[.,;:!]| ?\(| ?-{1,2} | (?:and|then|to|so|because|in order)\b)|(?<=look|tory)(?=[.,;!]| ?\()"
)
_ARTICLE = re.compile(r"\b(?:the|an?) ")
_OBSERVATION = re.compile(
    r"OK\.?$|Nothing happens|Observation\b|-= |Your task is to|STATUS:|In it, you see|There's nothing special"
    r"|You (?:arrive|open|close|pick|move|put|clean|heat|cool|turn|slice|see|are (?:not )?carrying)"
    r"|You are (?:facing|in the middle)|On the [a-z]+ \d+, you see|The [a-z]+ \d+ is (?:open|closed)"
    r"|This (?:is an? |[a-z]+ \d+ is o)",
    re.IGNORECASE,
)
_REASONING = re.compile(r"\s*<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_REASONING_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"(?:```|~~~)[\w-]*$")
_ACTION_LABEL = re.compile(r"(?:next )?(?:action|act|command)(?: ?\d+)?\s*:\s*", re.IGNORECASE)
_INLINE = re.compile(r"(?<!\S)[*_]*(?:action|act|command)(?: ?\d+)?\s*:|(?<!\S)>(?!\S)", re.IGNORECASE)
_THOUGHT_LABEL = re.compile(r"(?:think|thoughts?|thinking|reasoning|plan)(?: ?\d+)?\s*:\s*", re.IGNORECASE)
_BEFORE = (
    ("prompt_prefix", re.compile(r">+\s*")),
    ("numbering", re.compile(r"(?:(?:step )?\d+[.):]|[-•*])\s+", re.IGNORECASE)),
    ("markdown", re.compile(r"[*_`#~]+\s*")),
    ("quotes", re.compile(r"[\"'“”‘’«]+\s*")),
    ("brackets", re.compile(r"[\[({<]+\s*")),
    ("action_label", _ACTION_LABEL),
)
_AFTER = {
    **dict.fromkeys("*_`~#", "markdown"),
    **dict.fromkeys("\"'“”‘’»", "quotes"),
    **dict.fromkeys("])}>", "brackets"),
    **dict.fromkeys(".,;:!", "full_stop"),
}


def read_action(completion: str, policy: ParsePolicy) -> Action:
    """Finds the thought and the command in a completion. Never raises; takes time linear in its length.

    Args:
        completion: what the model wrote.
        policy: `strict` or `repair`, see the module.
    """
    opened, ended = _REASONING.match(completion), _REASONING_END.search(completion)
    if opened and not ended:
        return Action(thought=completion[opened.end() :].strip(), error="unclosed_reasoning")
    reading = _Reading()
    if policy == "repair" and ended:
        reading.repairs.append("reasoning_block")
        reading.thoughts.append(completion[opened.end() if opened else 0 : ended.start()].strip())
        completion = completion[ended.end() :].lstrip()
    lines = [line.strip() for line in completion.splitlines()]
    filled = [line for line in lines if line]
    if not filled:
        return Action(thought=reading.thought(), error="empty", repairs=tuple(reading.repairs))
    if not lines[0]:
        reading.repairs.append("empty_first_line")
    return _strict(filled, reading) if policy == "strict" else _repair(filled, reading)


@dataclass
class _Reading:
    """What has been found so far in one completion."""

    thoughts: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    labelled: bool = False
    meant_to_act: bool = False

    def thought(self) -> str:
        return " ".join(filter(None, self.thoughts))

    def cut(self, lines: list[str]) -> None:
        for line in lines:
            if _FENCE.match(line):
                continue
            invented = _OBSERVATION.match(line.lstrip("> "))
            self.repairs.append("cut_invented_observation" if invented else "extra_lines")

    def action(self, command: str | None) -> Action:
        error = None
        if command is None:
            if self.meant_to_act:
                error = "unknown_action"
            elif not (self.labelled and self.thought()):
                error = "empty" if self.labelled else "no_action"
        return Action(self.thought(), command, error, tuple(self.repairs))


def _strict(lines: list[str], reading: _Reading) -> Action:
    line = lines[0]
    reading.cut(lines[1:])
    if line.startswith(THINK):
        reading.labelled = True
        reading.thoughts.append(line[len(THINK) :].strip())
        return reading.action(None)
    reading.meant_to_act = True
    return reading.action(line if len(line) <= _LONGEST_COMMAND and _COMMAND.fullmatch(line) else None)


def _repair(lines: list[str], reading: _Reading) -> Action:
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            reading.repairs.append("code_fence")
            continue
        command = _line(line, reading)
        if command is not None:
            reading.cut(lines[number + 1 :])
            return reading.action(command)
    return reading.action(None)


def _line(line: str, reading: _Reading) -> str | None:
    """The command in a line, if there is one; what else it holds goes into the reading."""
    command, repairs = _command(line)
    if command is not None:
        reading.repairs.extend(repairs)
        return command
    start, repairs = _undress(line)
    text = line[start:]
    if _OBSERVATION.match(text):
        reading.repairs.append("cut_invented_observation")
        return None
    if not _THOUGHT_LABEL.match(text):
        reading.meant_to_act |= "action_label" in repairs or "prompt_prefix" in repairs
    before, command, inline = _split(text)
    reading.repairs.extend(name for name in repairs if name not in ("quotes", "brackets"))
    _think(before, reading, alone=command is None)
    reading.repairs.extend(inline)
    return command


def _think(text: str, reading: _Reading, alone: bool) -> None:
    label = _THOUGHT_LABEL.match(text)
    if label:
        if not text.startswith(THINK):
            reading.repairs.append("thought_label")
        if reading.labelled:
            reading.repairs.append("joined_thoughts")
        reading.labelled = True
        text = text[label.end() :].lstrip("*_ ")
    elif alone and not reading.meant_to_act:
        reading.repairs.append("unlabelled_thought")
    reading.thoughts.append(text.rstrip("*_ "))


def _split(text: str) -> tuple[str, str | None, list[str]]:
    """Thought, command and repairs of a line such as `Thought: … Action: go to desk 1`."""
    for mark in _INLINE.finditer(text):
        if len(text) - mark.start() > _LONGEST_COMMAND:
            continue
        command, repairs = _command(text[mark.start() :].lstrip("*_ "))
        if command is not None:
            return text[: mark.start()].strip(), command, ["inline_action", *repairs]
    return text, None, []


def _undress(line: str) -> tuple[int, list[str]]:
    """Where the words of a line begin, and what stands before them."""
    position, repairs = 0, []
    while True:
        for name, pattern in _BEFORE:
            found = pattern.match(line, position)
            if found:
                position = found.end()
                repairs.append(name)
                break
        else:
            return position, list(dict.fromkeys(repairs))


def _command(line: str) -> tuple[str | None, list[str]]:
    """The command that a line is, and the liberties it took to see it; None for any other line."""
    if len(line) > _LONGEST_COMMAND:
        return None, []
    if line[-1:].isalnum() and _COMMAND.fullmatch(line) and not _ARTICLE.search(line):
        return line, []  # as most are: what follows would find nothing to do
    start, repairs = _undress(line)
    end = len(line)
    while end > start and (line[end - 1] in _AFTER or line[end - 1].isspace()):
        end -= 1
        if not line[end].isspace():
            repairs.append(_AFTER[line[end]])
    text = line[start:end]
    for name, tidy in (("spaces", " ".join(text.split())), ("letter_case", " ".join(text.lower().split()))):
        if tidy != text:
            repairs.append(name)
            text = tidy
    for cut in (len(text), *(remark.start() for remark in _REMARK.finditer(text))):
        command = _ARTICLE.sub("", text[:cut])
        if _COMMAND.fullmatch(command):
            repairs.extend(["article"] * (len(command) < cut) + ["extra_text"] * (cut < len(text)))
            return command, list(dict.fromkeys(repairs))
    return None, []
