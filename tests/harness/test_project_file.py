"""Defaults of a working directory: where they stand, what wins over them, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.planning.project_file import read_project
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.harness.planning.sources import read_source

YAML = "trials: 5\nmodel: {temperature: 0.1, max_tokens: 99}\n"
TOML = "[project]\nname = 'x'\n\n[tool.reflex]\ntrials = 5\nmodel = {temperature = 0.1, max_tokens = 99}\n"


@pytest.mark.parametrize(
    ("name", "text", "origin"),
    [("reflex.yaml", YAML, "reflex.yaml"), ("pyproject.toml", TOML, "[tool.reflex] in pyproject.toml")],
)
def test_defaults_of_the_folder_win_over_the_built_in_ones_and_over_nothing_else(
    tmp_path: Path, name: str, text: str, origin: str
) -> None:
    (tmp_path / name).write_text(text)
    project = read_project(tmp_path)
    assert project is not None
    assert project.origin == origin
    config = resolve(["model.temperature=0.4"], {"trials": 7}, project)
    assert (config.trials, config.model.temperature, config.model.max_tokens, config.seed) == (7, 0.4, 99, 0)
    # A profile is given on the command line, too: Reflexion's own has audit=count and 3 reflections.
    (tmp_path / name).write_text(text.replace("trials", "history").replace("5", "2"))
    config = resolve(["paper"], {}, read_project(tmp_path))
    assert (config.history, config.audit) == (2, "count")


def test_arms_of_the_folder_are_run_unless_others_are_named(tmp_path: Path) -> None:
    (tmp_path / "reflex.yaml").write_text("arms: {short: {reflector: reflexion, memory: {size: 1}}}\n")
    project = read_project(tmp_path)
    config = resolve([], {}, project)
    assert (list(config.arms), config.arms["short"].memory and config.arms["short"].memory.size) == (
        ["short"],
        1,
    )
    assert list(resolve([], {"arms": "react,short"}, project).arms) == ["react", "short"]
    of_all = resolve([], {"memory": {"size": 2}}, project).arms["short"].memory
    assert of_all is not None
    assert of_all.size == 2


def test_options_of_another_environment_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "reflex.yaml").write_text("trials: 2\nenvironment: {name: alfworld, split: valid_unseen}\n")
    project = read_project(tmp_path)
    same = resolve([], {"environment": {"name": "alfworld"}}, project)
    assert same.environment == {"name": "alfworld", "split": "valid_unseen"}
    other = resolve([], {"environment": {"name": "hotpotqa"}}, project)
    assert (other.environment, other.trials) == ({"name": "hotpotqa"}, 2)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": "[project]\nname = 'reflex'\n"},
        # Broken, and none of ours.
        {"pyproject.toml": "[project\nname = 'reflex-fan'\n"},
        {"pyproject.toml": "tool = 'reflex'\n"},
        {"reflex.yml": YAML},
    ],
)
def test_a_folder_without_defaults_has_none(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert read_project(tmp_path) is None


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"reflex.yaml": YAML, "pyproject.toml": TOML},
            "reflex.yaml and [tool.reflex] in pyproject.toml both give",
        ),
        ({"reflex.yaml": "trails: 5\n"}, "reflex.yaml: unknown setting 'trails'; did you mean 'trials'?"),
        ({"reflex.yaml": "trials: 0\n"}, "reflex.yaml: trials: input should be greater than or equal to 1"),
        ({"reflex.yaml": "- 1\n"}, "reflex.yaml: a configuration is a mapping"),
        ({"reflex.yaml": "a: [\n"}, "reflex.yaml: not readable as YAML"),
        ({"reflex.yaml": "trials: 1\ntrials: 2\n"}, "the key 'trials' is given twice"),
        ({"pyproject.toml": "[tool.reflex]\ntrials = \n"}, "pyproject.toml: not readable as TOML"),
        (
            {"pyproject.toml": "[tool]\nreflex = 3\n"},
            "[tool.reflex] in pyproject.toml: a table of settings is wanted",
        ),
        (
            {"pyproject.toml": "[tool.reflex]\ntrials = 2020-01-01\n"},
            "[tool.reflex] in pyproject.toml: trials: input should be a valid integer",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line_that_names_the_file(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError) as caught:
        resolve([], {}, read_project(tmp_path))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["providers", "reference/react", "react", "reference/reflexion.yaml"])
def test_tables_that_ship_with_the_package_are_no_configurations(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_source(name)
    assert "paper" in str(caught.value)
    assert "reference/agentbench" not in str(caught.value)
