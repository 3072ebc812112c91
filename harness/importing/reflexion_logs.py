"""Imports the result files that the authors of Reflexion published (Shinn et al., 2023; noahshinn/reflexion).

ALFWorld: one JSON file a trial with the state of every game after it. HotPotQA: text, see `hotpotqa_logs`. Neither has
official ids of its tasks: ALFWorld's games stay `env_<n>`, and questions are called after the sha256 of their text
unless a question file tells their ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.importing.hotpotqa_logs import LoggedTrial, read_log
from reflex_bench.harness.importing.hotpotqa_rows import identities, rows_of_arm
from reflex_bench.harness.importing.rows_of_others import file_hash, imported_arm, imported_row, write_import

REPOSITORY = "https://github.com/noahshinn/reflexion"
STRATEGIES: Mapping[str, Mapping[str, Any]] = {
    "base": {"reflector": "none", "memory": "none", "memory_size": 0},
    "last_trial": {"reflector": "none", "memory": "last trial", "memory_size": 1},
    "reflexion": {"reflector": "reflexion", "memory": "all reflections", "memory_size": "unlimited"},
    "last_trial_and_reflexion": {
        "reflector": "reflexion",
        "memory": "last trial and newest reflection",
        "memory_size": 1,
    },
}
"""What HotPotQA's arms remember, by folder: `hotpotqa_runs/agents.py` of the repository."""

_ALFWORLD_FILE = re.compile(r"env_results_trial_(\d+)\.json")
_ALFWORLD_ARMS = {"base_run_logs": "base", "reflexion_run_logs": "reflexion"}
# `alfworld_runs/alfworld_trial.py` shows the last three.
_ALFWORLD_MEMORY: Mapping[str, Mapping[str, Any]] = {
    "base": STRATEGIES["base"],
    "reflexion": {"reflector": "reflexion", "memory": "sliding", "memory_size": 3},
}
_ALFWORLD_NOTES = (
    "Published logs: verdicts and reflections only. The files do not name the model (the paper: GPT-3), the step cap, "
    "or the games' ids and types.",
    "The base files hold reflections of trials 1 to 4, too; whether they were shown to it cannot be told.",
    "One reflection example of the original prompt shows a room and goal of this split; without ids its games cannot "
    "be named.",
)
# Folder -> name of the run, agent, step cap, where its pages come from.
_AGENTS = {
    ("CoT", "no_context"): ("cot", "CoT", 1, "none"),
    ("CoT", "context"): ("cot-context", "CoT with gold context", 1, "gold paragraphs"),
    ("ReAct",): ("react", "ReAct", 6, "live Wikipedia"),
}


@dataclass(frozen=True, slots=True)
class _State:
    """A game after a trial."""

    solved: bool
    memory: tuple[str, ...]


def import_reflexion_logs(directory: Path, results: Path, questions: Path | None = None) -> tuple[Path, ...]:
    """Writes one run for ALFWorld and one for each HotPotQA agent, as far as the files are there.

    Args:
        directory: a checkout of the repository, or the folders `alfworld_runs` and `hotpotqa_runs` of one.
        results: where the runs go.
        questions: an official HotPotQA file that has the questions; tasks then have its ids, and the runs can be
            compared with runs on those.

    Raises:
        UsageError: no such files are there, or they contradict themselves.
    """
    made = [*_import_alfworld(directory, results), *_import_hotpotqa(directory, results, questions)]
    if not made:
        raise UsageError(
            f"{directory}: no results of the Reflexion authors; expected alfworld_runs/…/base_run_logs/"
            "env_results_trial_0.json or hotpotqa_runs/…/ReAct/base/100_questions_5_trials.txt beneath it"
        )
    return tuple(made)


def _import_alfworld(directory: Path, results: Path) -> Iterable[Path]:
    files: dict[str, dict[int, Path]] = {}
    for file in sorted(directory.rglob("env_results_trial_*.json")):
        number, arm = _ALFWORLD_FILE.fullmatch(file.name), _ALFWORLD_ARMS.get(file.parent.name)
        if number and arm and files.setdefault(arm, {}).setdefault(int(number[1]) + 1, file) != file:
            raise UsageError(
                f"{file}: trial {number[0]} of {arm} is there twice; name one copy of the repository"
            )
    if not files:
        return
    rows: list[dict[str, Any]] = []
    for arm, trials in files.items():
        if sorted(trials) != list(range(1, len(trials) + 1)):
            raise UsageError(
                f"{directory}: a trial of ALFWorld's {arm} arm is missing between first and last"
            )
        rows += _alfworld_rows(arm, [_states(trials[number]) for number in sorted(trials)])
    if len(files) == 2 and len({file_hash(trials[1]) for trials in files.values()}) == 1:
        for row in rows:
            if row["trial"] == 1:
                row["attempt"] = f"base+reflexion/{row['task']}/1"
    known = {"agent": "ReAct", "evaluator": "environment", "feedback": "environment"}
    yield write_import(
        results / "reflexion-alfworld",
        rows,
        arms={
            arm: imported_arm(len(trials), **known, **_ALFWORLD_MEMORY[arm])
            for arm, trials in sorted(files.items())
        },
        environment={"name": "alfworld", "feedback": "environment", "settings": {}},
        split={
            "name": "valid_unseen",
            "task_ids": {row["task"] for row in rows},
            "notes": list(_ALFWORLD_NOTES),
        },
        source=_source(directory, [file for trials in files.values() for file in trials.values()]),
    )


def _states(file: Path) -> dict[str, _State]:
    """Return the state of every game after a trial.

    `skip` stands in files of newer code and says nothing about the result.
    """
    from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

    class Game(BaseModel):
        model_config = ConfigDict(extra="forbid", strict=True)
        name: str
        memory: list[str]
        is_success: bool
        skip: bool = False

    try:
        games = TypeAdapter(list[Game]).validate_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(
            f"{file}: not a result file of the Reflexion authors: {place}: {first['msg']}"
        ) from None
    states = {game.name: _State(game.is_success, tuple(game.memory)) for game in games}
    if not games:
        raise UsageError(f"{file}: holds no game")
    if len(states) != len(games):
        raise UsageError(f"{file}: a game is there twice")
    return states


def _alfworld_rows(arm: str, trials: Sequence[Mapping[str, _State]]) -> Iterable[dict[str, Any]]:
    for task in sorted({task for states in trials for task in states}):
        before, solved = _State(False, ()), False
        for trial, states in enumerate(trials, 1):
            after = states.get(task)
            if after is None:
                continue
            if solved:
                if not after.solved:
                    raise UsageError(
                        f"ALFWorld's {arm} arm: {task} was solved before trial {trial}, not after it"
                    )
                continue
            solved = after.solved
            reflected = len(after.memory) > len(before.memory)
            known: dict[str, Any] = {
                "reflected": reflected,
                "reflection": after.memory[-1] if reflected else None,
            }
            if arm == "reflexion":
                known |= {"memory": list(before.memory[-3:]), "memory_shown": len(before.memory[-3:])}
            yield imported_row(arm, task, trial, solved, known)
            before = after


def _hotpotqa_folders(directory: Path) -> dict[tuple[str, ...], dict[str, Path]]:
    """Return the folders of logs by kind of agent (`_AGENTS`) and by arm."""
    folders: dict[tuple[str, ...], dict[str, Path]] = {}
    for folder in sorted({file.parent for file in directory.rglob("*_trials*.txt")}):
        for kind in _AGENTS:
            if folder.name in STRATEGIES and folder.parent.parts[-len(kind) :] == kind:
                if folder.name in folders.setdefault(kind, {}):
                    raise UsageError(f"{folder}: is there twice; name one copy of the repository")
                folders[kind][folder.name] = folder
    return folders


def _hotpotqa_arm(arm: str, trials: int, agent: str, max_steps: int) -> dict[str, Any]:
    return imported_arm(
        trials,
        agent=agent,
        model="text-davinci-003",
        temperature=0.0,
        evaluator="environment",
        feedback="oracle",
        max_steps=max_steps,
        parse="strict",
        **STRATEGIES[arm],
    )


def _import_hotpotqa(directory: Path, results: Path, questions: Path | None) -> Iterable[Path]:
    for kind, strategies in _hotpotqa_folders(directory).items():
        name, agent, max_steps, corpus = _AGENTS[kind]
        logs = {arm: _merged(strategies[arm]) for arm in STRATEGIES if arm in strategies}
        asked = {question for log in logs.values() for trial in log for question in trial.records}
        known = identities(asked, questions)
        rows = [row for arm, log in logs.items() for row in rows_of_arm(arm, log, known)]
        files = [file for folder in strategies.values() for file in folder.glob("*_trials*.txt")]
        yield write_import(
            results / f"reflexion-hotpotqa-{name}",
            rows,
            arms={arm: _hotpotqa_arm(arm, len(log), agent, max_steps) for arm, log in logs.items()},
            environment={
                "name": "hotpotqa",
                "feedback": "oracle",
                "settings": {"corpus": corpus, "success": "em"},
            },
            split=known.split(),
            source=_source(directory, files),
            contamination=known.overlaps(arm for arm in logs if STRATEGIES[arm]["reflector"] == "reflexion"),
        )


def _merged(folder: Path) -> tuple[LoggedTrial, ...]:
    """Return all trials of an arm.

    Its files repeat one another's trials, and their names do not say which they hold.
    """
    trials: dict[int, LoggedTrial] = {}
    for file in sorted(folder.glob("*_trials*.txt")):
        for trial in read_log(file):
            if trials.setdefault(trial.number, trial) != trial:
                raise UsageError(
                    f"{file}: its trial {trial.number} is not that of another file in the folder"
                )
    if sorted(trials) != list(range(1, len(trials) + 1)):
        raise UsageError(f"{folder}: trials are missing between the first and the last")
    return tuple(trials[number] for number in sorted(trials))


def _source(directory: Path, files: Iterable[Path]) -> dict[str, Any]:
    hashes = {file.relative_to(directory).as_posix(): file_hash(file) for file in sorted(files)}
    return {"repository": REPOSITORY, "files": hashes}
