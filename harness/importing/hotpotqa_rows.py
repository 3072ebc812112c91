"""Converts the published HotPotQA records to rows of a run, scored again with the official metric."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reflex_bench.agents.base import Step
from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Split, Task
from reflex_bench.envs.hotpotqa.scoring import Score, answer_score
from reflex_bench.harness.checks.contamination import Overlap
from reflex_bench.harness.importing.hotpotqa_logs import LoggedTrial, Record
from reflex_bench.harness.importing.rows_of_others import imported_row

_REFLECTION_EXAMPLES = ("The Rome Protocols were signed by", "Kam Heskin")
"""Words of the two questions in the original reflection prompt (`REFLECTIONS` in `hotpotqa_runs/prompts.py`)."""
_NOTE = "Published logs: model and temperature are those of run parameters stored in the repository, not of the logs."


@dataclass(frozen=True, slots=True)
class Questions:
    """The tasks of the published runs.

    Attributes:
        tasks: by their text.
        notes: for the split.
    """

    tasks: Mapping[str, Task]
    notes: tuple[str, ...]

    def split(self) -> dict[str, Any]:
        """Return the split as `run.json` describes it."""
        ordered = tuple(sorted(self.tasks.values(), key=lambda task: task.id))
        split = Split("reflexion-100", ordered, self.notes)
        return {
            "name": split.name,
            "fingerprint": split.fingerprint,
            "task_ids": [task.id for task in ordered],
            "notes": list(split.notes),
        }

    def overlaps(self, arms: Iterable[str]) -> list[dict[str, Any]]:
        """Return the questions that stand in the original reflection examples, seen by these arms."""
        reflecting = tuple(arms)
        found = (
            Overlap(task.id, f"reflection_examples[{number}]", "question", reflecting)
            for number, words in enumerate(_REFLECTION_EXAMPLES, 1)
            for text, task in self.tasks.items()
            if words in text and reflecting
        )
        return [asdict(overlap) for overlap in found]


def identities(texts: Iterable[str], file: Path | None) -> Questions:
    """Return tasks for the questions of the logs.

    Args:
        texts: as printed in the logs.
        file: an official HotPotQA file that has them all; None names them after the sha256 of their text.

    Raises:
        UsageError: the file is not readable or lacks a question.
    """
    folded = {_fold(text) for text in texts}
    if file is None:
        digests = {text: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in folded}
        named = {text: Task(f"q-{digest[:12]}", "", text, digest) for text, digest in digests.items()}
        return Questions(named, (_NOTE,))
    from reflex_bench.envs.hotpotqa import splits

    tasks = {task.text: task for task in splits.file(file).tasks}
    for text in sorted(folded - tasks.keys()):
        raise UsageError(
            f"{file}: lacks the question {text!r} of the logs; the HotPotQA development set has it"
        )
    return Questions({text: tasks[text] for text in folded}, (_NOTE,))


def rows_of_arm(arm: str, trials: Sequence[LoggedTrial], known: Questions) -> Iterable[dict[str, Any]]:
    """Yield one row for each attempt; agents carried on after a success have none, nor have agents the log lost.

    Raises:
        UsageError: a verdict of the log contradicts the exact match of its answer, or an earlier verdict.
    """
    for question in sorted({question for trial in trials for question in trial.records}):
        task, row = known.tasks[_fold(question)], None
        for trial in trials:
            record = trial.records.get(question)
            if record is None:
                continue
            where = f"{arm}, trial {trial.number}, {question!r}"
            if row is not None and row["success"]:
                if record.section != "CORRECT":
                    raise UsageError(f"{where}: solved in trial {row['trial']}, and {record.section} now")
                continue
            later = _row(arm, task, trial.number, record, where)
            if row is not None:
                # A failed agent reflects when its next trial begins, so the last failure was not reflected on.
                row["reflected"] = "reflexion" in arm
                row["reflection"] = later["memory"][-1] if "reflexion" in arm and later["memory"] else None
                yield row
            row = later
        if row is not None:
            yield row


def _row(arm: str, task: Task, number: int, record: Record, where: str) -> dict[str, Any]:
    score = answer_score(record.answer, record.gold) if record.steps else Score()
    if bool(score.em) != (record.section == "CORRECT"):
        raise UsageError(f"{where}: printed as {record.section}, but exact match is {score.em:.0f}")
    steps = [
        Step(
            number=at,
            reply=f"Thought: {step.thought}\nAction: {step.action}",
            thought=step.thought,
            action=step.action or None,
            observation=step.observation,
            valid=not step.observation.startswith("Invalid Action"),
        )
        for at, step in enumerate(record.steps, 1)
    ]
    known = {
        "task_type": task.type or None,
        "steps": len(steps),
        "thoughts": len(steps),
        "invalid_actions": sum(not step.valid for step in steps),
        "unparsed": sum(step.action is None for step in steps),
        "repairs": 0,
        "memory_shown": len(record.memory) if record.memory or number == 1 or arm == "base" else None,
        "reflected": False,
        "digest": _digest(steps),
        "result": {"answer": record.answer, "gold_answer": record.gold, **asdict(score)},
        "text": task.text,
        "memory": list(record.memory),
        "opening": f"Question: {task.text}",
        "trajectory": [asdict(step) for step in steps],
    }
    if record.section == "HALTED":
        # The agents halt after six steps, or when their prompt has grown past 3,896 tokens.
        known["outcome"] = "step_limit" if len(steps) >= 6 else "context_limit"
    return imported_row(arm, task.id, number, bool(score.em), known)


def _digest(steps: Sequence[Step]) -> str:
    text = json.dumps([[step.action, step.observation] for step in steps], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _fold(text: str) -> str:
    return " ".join(text.split())
