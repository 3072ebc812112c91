"""The help of every command: each option with its default, in words that are whole at 80 columns."""

from __future__ import annotations

import re
from typing import Literal, get_args, get_origin

import pytest
from typer.testing import CliRunner

from reflex_bench.cli import options
from reflex_bench.cli.main import app
from reflex_bench.envs.alfworld.environment import Options as AlfworldOptions
from reflex_bench.envs.hotpotqa.environment import Options as HotpotqaOptions
from reflex_bench.envs.tools.environment import Options as ToolsOptions
from reflex_bench.harness.planning.config import Config

COMMANDS = (
    *(
        "",
        "bench",
        "resume",
        "table",
        "compare",
        "list",
        "show",
        "verify",
        "rescore",
        "plot",
        "models",
        "doctor",
        "config",
        "prompts",
    ),
    *("data", "data generate", "data fetch", "data list", "data clean"),
    *("import", "import rows", "import reflexion-logs"),
    *("tools", "tools list", "tools check", "tools openapi"),
)


def help_of(command: str, monkeypatch, width: int = 80) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERMINAL_WIDTH", str(width))
    done = CliRunner().invoke(app, [*command.split(), "--help"])
    assert done.exit_code == 0, done.output
    return done.output


def options_in(text: str) -> dict[str, str]:
    """The help of each option, on one line."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        cells = line.strip("│ ").split()
        if not line.startswith("│"):
            name = ""
        elif match := re.match(r"│ (?:\*  |   )?(--[a-z-]+)", line):
            name = match[1]
            found[name] = " ".join(cells[1:])
        elif name:
            found[name] += " " + " ".join(cells)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_shows_its_default_or_that_it_is_required(command: str, monkeypatch) -> None:
    found = options_in(help_of(command, monkeypatch))
    assert "--help" in found
    for name, text in found.items():
        if name not in ("--help", "--install-completion", "--show-completion"):  # the parser's own
            assert re.search(r"\[(default: [^\]]+|required)\]", text), (name, text)


@pytest.mark.parametrize("command", COMMANDS)
def test_at_80_columns_no_word_is_broken(command: str, monkeypatch) -> None:
    narrow = help_of(command, monkeypatch)
    assert "…" not in narrow.replace(", …", "")
    assert max(map(len, narrow.splitlines())) <= 80
    wide = set(re.findall(r"[^\s│]+", help_of(command, monkeypatch, width=300)))
    assert set(re.findall(r"[^\s│╭╮╰╯─]+", narrow)) <= wide


def test_every_command_is_read_here() -> None:
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    assert known == {command.split()[0] for command in COMMANDS if command}


def test_the_defaults_of_bench_are_those_of_the_configuration(monkeypatch) -> None:
    found = options_in(help_of("bench", monkeypatch))
    environments = {**ToolsOptions().model_dump(), **AlfworldOptions().model_dump()}
    environments |= HotpotqaOptions().model_dump()
    compared = 0
    for parameter, setting in options.SETTINGS.items():
        shown = re.search(r"\[default: ([^\]]+)\]", found["--" + parameter.replace("_", "-")])
        assert shown
        value: object = Config()
        if setting.startswith("environment."):
            value = environments[setting.removeprefix("environment.")]
        elif setting == "arms":
            value = ",".join(Config().arms)
        else:
            for name in setting.split("."):
                value = getattr(value, name)
        if value in (None, ()):
            assert not re.fullmatch(r"[\d.]+", shown[1]), parameter
        else:
            compared += 1
            assert shown[1].split(";")[0] == str(value), parameter
    assert compared >= 16
    first = "on" if Config().share_first_trial else "off"
    assert f"[default: {first}]" in found["--share-first-trial"]
    assert "ALFWorld 30, HotPotQA 7" in found["--max-steps"]


def test_the_help_of_a_choice_names_every_value(monkeypatch) -> None:
    found = options_in(help_of("bench", monkeypatch))
    compared = 0
    for parameter, setting in options.SETTINGS.items():
        *sections, name = setting.split(".")
        for model in (AlfworldOptions, HotpotqaOptions) if sections == ["environment"] else (Config,):
            for section in sections if model is Config else ():
                model = model.model_fields[section].annotation
            field = model.model_fields.get(name)
            kinds = [] if field is None else [field.annotation, *get_args(field.annotation)]
            for value in (value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)):
                compared += 1
                assert re.search(rf"\b{value}\b", found["--" + parameter.replace("_", "-")]), (
                    parameter,
                    value,
                )
    assert compared >= 12


def test_the_options_of_bench_stand_in_groups_and_examples_at_the_end(monkeypatch) -> None:
    text = help_of("bench", monkeypatch)
    groups = (options.TASKS, options.MODEL, options.REFLEXION, options.LIMITS, options.OUTPUT, "Examples")
    places = [text.index(group) for group in groups]
    assert places == sorted(places)
    for example in re.findall(r"^ *reflex bench .*", text.partition("Examples")[2], re.MULTILINE):
        assert example.strip().split()[2] in ("alfworld", "hotpotqa")
