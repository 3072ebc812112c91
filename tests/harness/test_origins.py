"""Where each value of a configuration comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflex_bench.cli.bench import nest
from reflex_bench.harness.planning.origins import BUILT_IN, values_of, variables_of
from reflex_bench.harness.planning.project_file import read_project
from reflex_bench.harness.planning.resolving import resolve, resolve_sources
from reflex_bench.harness.planning.sources import SettingSource


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Origins and values by key, for a folder's defaults, sources and flags."""
    monkeypatch.chdir(tmp_path)

    def origins(project: str, sources: list[str], **flags: Any) -> dict[str, tuple[str, str]]:
        Path("reflex.yaml").write_text(project)
        dotted = {name.replace("__", "."): value for name, value in flags.items()}
        config, read = resolve_sources(sources, nest(dotted), read_project(tmp_path))
        read += [
            SettingSource(nest({name: value}), pair=True, origin=f"--{name}")
            for name, value in dotted.items()
        ]
        return {each.key: (each.value, each.origin) for each in values_of(config, read)}

    return origins


def test_the_last_source_that_speaks_of_a_setting_is_named(told: Any) -> None:
    Path("mine.yaml").write_text("history: 2\nmodel: {temperature: 0.2}\n")
    found = told(
        "trials: 5\nhistory: 1\nmodel: {temperature: 0.1, max_tokens: 99}\n",
        ["paper", "mine.yaml", "model.temperature=0.3", "seed=0"],
        trials=7,
    )
    assert found["trials"] == ("7", "--trials")
    assert found["history"] == ("2", "mine.yaml")
    assert found["model.temperature"] == ("0.3", "-c")
    assert found["model.max_tokens"] == ("99", "reflex.yaml")
    assert found["audit"] == ('"count"', "profile paper")
    # Said aloud, a value at its default is not the built-in one.
    assert found["seed"] == ("0", "-c")
    assert found["step_evaluator"] == ("0", BUILT_IN)
    assert found["arms"] == ('["react", "reflexion"]', BUILT_IN)


def test_a_value_that_is_given_as_a_whole_is_that_of_who_gave_it(told: Any) -> None:
    found = told("memory: {size: 5}\n", ["endpoint.prices={input: 1, output: 2}"], memory="strategy")
    assert found["endpoint.prices.input"] == ("1.0", "-c")
    assert found["memory.kind"] == ('"strategy"', "--memory")
    assert found["memory.size"] == ("5", "reflex.yaml")


def test_what_an_arm_plays_with_is_its_own_word_or_a_later_one_of_all_arms(told: Any) -> None:
    project = "arms: {react: , reflexion: {memory: {size: 1}, step_evaluator: 2}}\nreflector: structured\n"
    found = told(project, ["arms.reflexion.memory.size=4"], memory__size=6, step_evaluator=3)
    assert found["arms"][1] == "-c"
    # Within one layer an arm's own setting holds; a later layer wins also where it speaks of all arms.
    assert found["arms.reflexion.memory.size"] == ("4", "-c")
    assert found["step_evaluator"] == ("3", "--step_evaluator")
    assert found["arms.reflexion.reflector"] == ('"structured"', "reflex.yaml")
    # The arm of that name retries plainly whatever is said.
    assert found["arms.react.reflector"] == ('"none"', BUILT_IN)


def test_no_password_in_an_address_is_shown(told: Any) -> None:
    found = told("", [], endpoint__base_url="https://me:hush@host/v1")
    assert found["endpoint.base_url"][0] == '"https://…@host/v1"'


def test_variables_are_named_with_whether_they_are_set_and_never_with_their_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "hush")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TEAM"):
        monkeypatch.delenv(name, raising=False)
    config = resolve(
        ["model.model=groq/a", "reflection.model=openai/b", "endpoint.headers={x-team: '${TEAM}'}"], {}
    )
    assert variables_of(config) == {
        "GROQ_API_KEY": True,
        "OPENAI_API_KEY": False,
        "OPENAI_BASE_URL": False,
        "TEAM": False,
    }
    assert "OPENAI_BASE_URL" not in variables_of(
        resolve(["model.model=openai/b", "endpoint.base_url=http://h/v1"], {})
    )
    assert variables_of(resolve([], {})) == {}
