"""No code of the harness or of the command line knows an environment, or a number that one measures, by its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflex_bench.core.built_in import BUILT_IN
from reflex_bench.envs.alfworld import metrics as of_games
from reflex_bench.envs.hotpotqa import metrics as of_answers

ROOT = Path(__file__).parents[1]
COMMON = {"tools"}
"""Names of environments that are also words of the code: native tools, functools."""
ENVIRONMENTS = sorted({*BUILT_IN["environments"]} - COMMON)
METRICS = (*of_games.METRICS, *of_answers.METRICS)
MEASURES = {metric.key for metric in METRICS} | {
    place.removeprefix("result.")
    for metric in METRICS
    for place in (metric.value, metric.per)
    if "result." in place
}

EXCEPTIONS = {
    "harness/checks/doctor.py": "checks the official engine and data of this machine",
    "harness/storage/earlier_runs.py": "knows what runs of earlier versions do not say",
    "harness/importing/hotpotqa_rows.py": "makes rows of published logs",
    "harness/planning/layers.py": "has the name of the default environment",
    "harness/storage/manifest.py": "names the distributions whose versions are recorded",
    "harness/importing/paper_claims.py": "checks statements of a paper against its published logs",
    "harness/reporting/reference.py": "has published results",
    "harness/reporting/tables/reference_grid.py": "sets published results beside a run's",
    "harness/importing/reflexion_logs.py": "imports published logs",
    "harness/reporting/tables/styles.py": "has the tables of papers, by the names that are typed",
    "cli/data.py": "lists the official games of this machine",
}
"""Modules that may name one, by their place, and why."""


def words(file: Path, folder: str) -> Iterator[str]:
    """The names and texts in the code of a file; of the command line, no texts of several words: those are help."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    described = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in described:
                if folder != "cli" or not re.search(r"\s", text):
                    yield text
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ImportFrom(module=str(name)):
                yield name


def named(file: Path, folder: str) -> set[str]:
    environments = re.compile("|".join(ENVIRONMENTS), re.IGNORECASE)
    found = {word for word in words(file, folder) if environments.search(word)}
    if folder == "harness":
        found |= {word for word in words(file, folder) if word.removeprefix("result.") in MEASURES}
    return found


def test_the_names_that_are_looked_for_are_those_of_the_environments() -> None:
    assert ENVIRONMENTS == ["alfworld", "hotpotqa"]
    assert sorted({*ENVIRONMENTS, *COMMON}) == sorted(BUILT_IN["environments"])
    assert {"em", "f1", "plan_length", "path_efficiency", "gold_pages_reached"} <= MEASURES


@pytest.mark.parametrize("folder", ["harness", "cli"])
def test_no_code_outside_the_exceptions_names_an_environment_or_its_metrics(folder: str) -> None:
    naming = {
        str(file.relative_to(ROOT)): found
        for file in (ROOT / folder).rglob("*.py")
        if (found := named(file, folder))
    }
    assert {name: found for name, found in naming.items() if name not in EXCEPTIONS} == {}
    # What names none any longer is no exception.
    assert sorted(naming) == sorted(name for name in EXCEPTIONS if name.startswith(f"{folder}/"))
