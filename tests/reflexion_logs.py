"""Small result files in the layouts of the Reflexion authors, about questions that nobody asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

LIGHTHOUSE = ("Who built the Merrin lighthouse?", "Ilse Varga")
TOWNS = (" Which town is older, Orlan or Tessel?", "Tessel")
FERRY = ('In what year did "The Ferry" close? ', "1871")

HEADER = (
    "You have attempted to answer following question before and failed. The following reflection(s) give a plan to "
    "avoid failing in the same way."
)


def attempt(answer: str, verdict: str, thought: str = "Let's see.") -> str:
    return f"Thought: {thought}\nAction: Finish[{answer}]\nObservation: Answer is {verdict}"


def react(answer: str | None, verdict: str = "INCORRECT", searches: int = 1) -> str:
    """So many searches, the first of which sees three lines, and a finish unless the answer is None."""
    lines = []
    for number in range(1, searches + 1):
        seen = (
            "A page.\n\nIts second part: Action of the sea.\nFin." if number == 1 else "Could not find [x]."
        )
        lines += [
            f"Thought {number}: I look.",
            f"Action {number}: Search[x]",
            f"Observation {number}: {seen}",
        ]
    if answer is not None:
        last = searches + 1
        lines += [
            f"Thought {last}: I know.",
            f"Action {last}: Finish[{answer}]",
            f"Observation {last}: Answer is {verdict}",
        ]
    return "\n".join(lines)


def record(task: tuple[str, str], body: str) -> str:
    """An agent whose printed text has `{question}` where its question stands."""
    question, gold = task
    return f"{body.replace('{question}', question)}\nCorrect answer: {gold}\n\n"


def trial(number: int, sections: Mapping[str, Sequence[str]], summary: str) -> str:
    text = f"\n{'#' * 40}\nBEGIN TRIAL {number}\nTrial summary: {summary}\n{'#' * 39}\n"
    for name, records in sections.items():
        text += f"------------- BEGIN {name} AGENTS {'-' * (20 - len(name))}\n\n{''.join(records)}"
    return text


def write(root: Path, folder: str, file: str, *trials: str) -> Path:
    path = root / "hotpotqa_runs" / "root" / folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(trials), encoding="utf-8", newline="\n")
    return path


def write_games(
    root: Path, folder: str, trials: Sequence[Mapping[str, tuple[bool, Sequence[str]]]]
) -> list[Path]:
    """ALFWorld: for every trial the state of every game after it, as (solved, memory)."""
    paths = []
    for number, games in enumerate(trials):
        path = root / "alfworld_runs" / "root" / folder / f"env_results_trial_{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        states = [
            {"name": name, "memory": list(memory), "is_success": solved}
            for name, (solved, memory) in games.items()
        ]
        path.write_text(json.dumps(states, indent=4), encoding="utf-8")
        paths.append(path)
    return paths
