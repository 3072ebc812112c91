"""The guide from a served model to a paper: each of its commands, in order, in an empty folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from loopback import MODEL, chat

from reflex_bench.models.base import Message, Request
from reflex_bench.models.simulated.model import answer

GUIDE = (Path(__file__).parents[2] / "docs" / "first_paper.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8080/v1"


def play(call):
    """A player behind a real server: it reads the messages of the request, and nothing else."""
    body = call.body
    messages = tuple(Message(turn["role"], turn["content"]) for turn in body["messages"])
    wanted = Request(
        messages, body.get("temperature", 0), body.get("max_tokens", 256), (), body.get("seed", 0)
    )
    return chat(answer(wanted))


def test_every_command_of_the_guide_runs_in_an_empty_folder_with_a_served_model(reflex, loopback, tmp_path):
    loopback.answer = play
    (settings,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    assert f"openai/{MODEL}" in settings
    (tmp_path / "reflex.yaml").write_text(settings.replace(ADDRESS, loopback.base_url))
    blocks = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
    commands = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    assert len(commands) >= 15
    printed = {}
    for command in commands:
        words = shlex.split(command.replace(ADDRESS, loopback.base_url))
        assert words.pop(0) == "reflex"
        if words[0] == "plot":
            pytest.importorskip("matplotlib", reason="matplotlib draws the pictures")
        done = reflex(*words, cwd=tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        printed[command] = done.stdout
    assert sum(call.method == "POST" for call in loopback.calls) > 100
    table = next(text for command, text in printed.items() if command == "reflex table mine warmer")
    assert "(a) temperature 1.0, not 0.7." in table
    assert "SIMULATED" not in table
    assert list((tmp_path / "results" / "mine" / "plots").iterdir())
