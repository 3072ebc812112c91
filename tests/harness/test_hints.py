"""What messages and notes tell a person to type is something that the command line takes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import typer.main

from reflex_bench.cli.main import app
from reflex_bench.harness.planning.resolving import resolve

ROOT = Path(__file__).parents[2]
SECTIONS = "model|endpoint|limits|memory|layout"
KEY = re.compile(rf"(?<!agents\.)\b(?:{SECTIONS})\.[a-z_]+(?:\.[a-z_]+)*(?![\w(])")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
COMMAND = re.compile(r"`reflex ([a-z-]+)")
OF_SERVERS = {"--jinja", "--enable-auto-tool-choice"}  # llama.cpp's, and vLLM's


def messages() -> Iterator[tuple[str, str]]:
    """The place and text of every string that is no docstring, but for those of other programs' commands."""
    for folder in ("agents", "cli", "core", "envs", "harness", "models"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            if file.name in ("manifest.py", "package.py"):  # they call git, pip and uv
                continue
            tree = ast.parse(file.read_text(encoding="utf-8"))
            told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", node.value


def flags_and_commands() -> tuple[set[str], set[str]]:
    group = typer.main.get_command(app)
    flags, commands = {"--help"}, set(group.commands)  # type: ignore[attr-defined]
    left = [group]
    while left:
        command = left.pop()
        flags |= {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}
        left += getattr(command, "commands", {}).values()
    return flags, commands


def test_every_flag_and_command_in_a_message_exists() -> None:
    flags, commands = flags_and_commands()
    named = [(where, flag) for where, text in messages() for flag in FLAG.findall(text)]
    assert len(named) > 40
    assert [(where, flag) for where, flag in named if flag not in flags | OF_SERVERS] == []
    called = [(where, name) for where, text in messages() for name in COMMAND.findall(text)]
    assert len(called) > 5
    assert [(where, name) for where, name in called if name not in commands] == []


def test_every_key_in_a_message_is_one_that_a_configuration_has() -> None:
    shown = {key for _, text in messages() for key in KEY.findall(text)}
    assert {"endpoint.check_model", "model.max_tokens_ceiling", "memory.size"} <= shown
    settings = resolve([], {}).model_dump()
    missing = set()
    for key in shown:
        place: object = settings
        for part in key.split("."):
            place = place.get(part, missing) if isinstance(place, dict) else None
        if place is missing:
            missing.add(key)
    assert missing == set()
