"""Every flag of `reflex bench` arrives, over every profile and whatever an arm of a file says, and changes no other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

from reflex_bench.cli.bench import configured
from reflex_bench.cli.main import app
from reflex_bench.harness.planning.config import Config

OWN = """
arms:
  react:
  mine: {agent: act, reflector: reflexion, evaluator: model, step_evaluator: 2, actor: {temperature: 0.1},
         memory: {kind: strategy, size: 2, half_life: 3}, evaluation: {model: openai/judge}}
"""
FLAGS: Mapping[str, tuple[str, str, Any]] = {
    "--trials": ("9", "trials", 9),
    "-n": ("9", "trials", 9),
    "--seed": ("9", "seed", 9),
    "--tasks": ("9", "tasks", 9),
    "--split": ("procedural:seed=9", "environment.split", "procedural:seed=9"),
    "--task-id": ("9", "environment.task_ids", ["9"]),
    "--task-type": ("look", "environment.task_type", "look"),
    "--engine": ("official", "environment.engine", "official"),
    "--sample": ("react-500", "environment.sample", "react-500"),
    "--corpus": ("question", "environment.corpus", "question"),
    "--offline": ("", "environment.offline", True),
    "--profile": ("react", "environment.profile", "react"),
    "--faults": ("storm", "environment.faults", "storm"),
    "--world": ("carried", "environment.world", "carried"),
    "--success": ("contains", "environment.success", "contains"),
    "--model": ("openai/x", "model.model", "openai/x"),
    "-m": ("openai/x", "model.model", "openai/x"),
    "--base-url": ("http://127.0.0.1:9/v1", "endpoint.base_url", "http://127.0.0.1:9/v1"),
    "--api": ("completions", "endpoint.api", "completions"),
    "--temperature": ("1.25", "model.temperature", 1.25),
    "--parse": ("strict", "limits.parse", "strict"),
    "--actions": ("tools", "limits.actions", "tools"),
    "--memory-size": ("9", "memory.size", 9),
    "--memory": ("retrieval", "memory.kind", "retrieval"),
    "--evaluator": ("heuristic", "evaluator", "heuristic"),
    "--no-share-first-trial": ("", "share_first_trial", False),
    "--max-steps": ("9", "limits.max_steps", 9),
    "--max-connections": ("9", "limits.max_connections", 9),
    "--max-workers": ("9", "limits.max_workers", 9),
    "--cost-limit": ("9", "limits.cost", 9.0),
    "--token-limit": ("9", "limits.tokens", 9),
    "--time-limit": ("9m", "limits.time", 540.0),
}
"""Each flag with a value that no profile has, the setting, and what it must then be."""

ELSEWHERE = {
    *("--samples", "--arms", "--data", "--first", "--memory-from", "--share-first-trial"),
    *("--seeds", "--config", "-c", "--results", "--run-id", "--dry-run", "--quiet", "-q", "--help", "-h"),
}
"""Flags with a test of their own below, or that are no setting."""

SOURCES = ("", "paper", "production", "upstream-code", "own.yaml")


def parsed(*words: str) -> Config:
    """The configuration that a command line comes to, read by the command's own parser."""
    command = typer.main.get_command(app).commands["bench"]  # type: ignore[attr-defined]
    given = command.make_context("bench", ["alfworld", *words]).params
    return configured(given.pop("environment"), list(given["config"] or []), given["results"], given)


def dotted(value: Any, before: str = "") -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {before: value}
    return {
        name: each
        for key in value
        for name, each in dotted(value[key], f"{before}.{key}".lstrip(".")).items()
    }


@pytest.fixture
def source(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    if request.param != "own.yaml":
        return ["-c", request.param] if request.param else []
    (tmp_path / "own.yaml").write_text(OWN)
    return ["-c", str(tmp_path / "own.yaml")]


def test_every_flag_is_tried_here() -> None:
    command = typer.main.get_command(app).commands["bench"]  # type: ignore[attr-defined]
    options = {name for each in command.params if each.param_type_name == "option" for name in each.opts}
    assert options - {"--help", "-h"} == set(FLAGS) | ELSEWHERE - {"--help", "-h"}


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("source", SOURCES, indirect=True)
def test_every_flag_over_every_profile_arrives_and_changes_no_other(source: list[str], flag: str) -> None:
    word, setting, value = FLAGS[flag]
    before = dotted(parsed(*source).model_dump())
    config = parsed(*source, flag, *([word] if word else []))
    after = dotted(config.model_dump())
    assert after[setting] == value
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    last = setting.rpartition(".")[2]
    assert {name for name in changed - {setting} if not name.startswith(("arms.", f"{setting}."))} == set()
    # An arm of a profile that says otherwise of the same thing takes what the flag says.
    for arm, own in config.arms.items():
        if setting.startswith("memory.") and own.memory is not None:
            assert getattr(own.memory, last) == value, arm
        elif setting in ("evaluator", "agent"):
            assert getattr(own, setting) in (None, value), arm
        elif setting.startswith("model."):
            assert getattr(own.actor, last) in (None, value), arm
            assert own.evaluation == parsed(*source).arms[arm].evaluation
        else:
            assert own == parsed(*source).arms[arm], arm


@pytest.mark.parametrize("source", SOURCES[:-1], indirect=True)
def test_flags_that_exclude_or_name_others_arrive(source: list[str], tmp_path: Path) -> None:
    assert list(parsed(*source, "--arms", "reflexion").arms) == ["reflexion"]
    assert parsed(*source, "--samples", "4").samples == 4
    assert parsed(*source, "--tasks", "2", "--first").environment["sampling"] == "first"
    assert parsed(*source, "--share-first-trial", "-c", "share_first_trial=false").share_first_trial
    assert parsed(*source, "--data", str(tmp_path)).environment["data"] == str(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    assert parsed(*source, "--memory-from", str(tmp_path)).memory_from == str(tmp_path)
