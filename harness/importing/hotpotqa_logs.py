"""Reads the text files of HotPotQA trials that the authors of Reflexion published (noahshinn/reflexion).

A file holds trials; a trial lists its agents by outcome; an agent is printed as its prompt and scratchpad and ends with
the gold answer. What stands around the attempt differs between agents and strategies:

1. question, attempt, then `Reflections:` and what earlier trials left behind (CoT with `last_trial` or `reflexion`);
2. the last trial up to `(END PREVIOUS TRIAL)`, a reflection, and only then question and attempt (CoT with
   `last_trial_and_reflexion`);
3. question with the header of the reflections glued to it, the reflections, the attempt (ReAct with `reflexion`);
4. question and attempt alone (base runs).

Agents that were solved earlier are printed again in every later trial, in some files without their attempt; some agents
are printed under two outcomes, and some are missing from a trial altogether.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reflex_bench.core.errors import UsageError

_TRIAL = re.compile(
    r"^#+\nBEGIN TRIAL (\d{1,6})\nTrial summary: Correct: (\d{1,9}), Incorrect: (\d{1,9})(?:, Halted: (\d{1,9}))?\n#+$",
    re.MULTILINE,
)
_SECTION = re.compile(r"^-+ ?BEGIN (CORRECT|INCORRECT|HALTED) AGENTS ?-+$", re.MULTILINE)
_GOLD = re.compile(r"^Correct answer: (.*)$", re.MULTILINE)
_ATTEMPT = re.compile(r"^Thought(?: 1)?:", re.MULTILINE)
_FIELD = re.compile(r"^(Thought|Action|Observation)(?: \d+)?: ?", re.MULTILINE)
_FINISH = re.compile(r"Finish\[(.+)\]", re.DOTALL)
_PREVIOUS_ENDS = "(END PREVIOUS TRIAL)"
_MEMORY = "Reflections:"
_MEMORY_HEADER = "You have attempted to answer following question before and failed."


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """One thought, the action after it and what came back; empty where a log breaks off."""

    thought: str
    action: str = ""
    observation: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One agent after one trial.

    Attributes:
        question: without the white space around it.
        gold: the gold answer, as printed.
        section: `CORRECT`, `INCORRECT` or `HALTED`.
        steps: of the attempt; empty where the log only carries the agent on.
        memory: what earlier trials had left in its prompt.
    """

    question: str
    gold: str
    section: str
    steps: tuple[LoggedStep, ...]
    memory: tuple[str, ...]

    @property
    def answer(self) -> str | None:
        """What the last `Finish[…]` of the attempt says; None where there is none."""
        found = [_FINISH.fullmatch(step.action) for step in self.steps]
        return next((match[1] for match in reversed(found) if match), None)


@dataclass(frozen=True, slots=True)
class LoggedTrial:
    """One trial of all agents.

    Attributes:
        number: from 1.
        printed: the counts of its summary by section, which need not be those of its records.
        records: by question; the first where an agent is printed twice.
    """

    number: int
    printed: dict[str, int]
    records: dict[str, Record]


def read_log(file: Path) -> tuple[LoggedTrial, ...]:
    """Return all trials of a file.

    Raises:
        UsageError: it is not one of these files, or a record in it cannot be read.
    """
    try:
        text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None
    before, *parts = _TRIAL.split(text)
    if not parts or before.strip():
        raise UsageError(
            f"{file}: no log of the Reflexion authors; one begins with BEGIN TRIAL and a summary"
        )
    trials = []
    for at in range(0, len(parts), 5):
        number, correct, incorrect, halted, body = parts[at : at + 5]
        records: dict[str, Record] = {}
        for record in _records(body, f"{file}, trial {number}"):
            # An agent that finished wrongly with its last step stands under INCORRECT and again under HALTED.
            records.setdefault(record.question, record)
        printed = {"CORRECT": int(correct), "INCORRECT": int(incorrect), "HALTED": int(halted or 0)}
        trials.append(LoggedTrial(int(number), printed, records))
    if not any(trial.records for trial in trials):
        raise UsageError(f"{file}: none of its trials lists an agent")
    if [trial.number for trial in trials] != sorted({trial.number for trial in trials}):
        raise UsageError(f"{file}: its trials are not in order")
    return tuple(trials)


def _records(body: str, where: str) -> Iterator[Record]:
    _, *sections = _SECTION.split(body)
    for at in range(0, len(sections), 2):
        name, text = sections[at : at + 2]
        parts = _GOLD.split(text)
        if parts.pop().strip():
            raise UsageError(f"{where}: the last {name} agent has no line with its correct answer")
        for printed, gold in zip(parts[::2], parts[1::2], strict=True):
            yield _record(printed, gold, name, where)


def _record(printed: str, gold: str, section: str, where: str) -> Record:
    previous, _, current = printed.rpartition(_PREVIOUS_ENDS)
    begins = _ATTEMPT.search(current)
    head = current[: begins.start()] if begins else current
    attempt, _, behind = current[len(head) :].partition("\n" + _MEMORY)
    before, asked, rest = head.rpartition("Question: ")
    if not asked:
        raise UsageError(f"{where}: a {section} agent has no question")
    line, _, under = rest.partition("\n")
    question = line.partition(_MEMORY_HEADER)[0].strip()
    # Reflections are listed behind dashes before an attempt and one a line after it; an older attempt is one text.
    listed = [behind] if _ATTEMPT.search(behind) else behind.split("\n")
    memory = (
        previous.rpartition("Question: ")[2],
        *before.partition(_MEMORY)[2].split("\n- "),
        *under.partition(_MEMORY)[2].split("\n- "),
        *listed,
    )
    kept = tuple(text for text in (each.strip() for each in memory) if text)
    return Record(question, gold.strip(), section, _steps(attempt), kept)


def _steps(attempt: str) -> tuple[LoggedStep, ...]:
    steps: list[LoggedStep] = []
    parts = _FIELD.split(attempt)
    for name, text in zip(parts[1::2], map(str.strip, parts[2::2]), strict=True):
        if name == "Thought":
            steps.append(LoggedStep(text))
        elif name == "Action":
            steps[-1] = LoggedStep(steps[-1].thought, text)
        else:
            steps[-1] = LoggedStep(steps[-1].thought, steps[-1].action, text)
    return tuple(steps)
