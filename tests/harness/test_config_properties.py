"""Whatever a configuration file or a `key=value` says is taken, or refused on one line and at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from broken import SOME_BYTES, TEXTS, VALUES, examples, spoilt, torn
from hypothesis import example, given
from hypothesis import strategies as st

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.planning.config import Config
from reflex_bench.harness.planning.resolving import resolve

pytestmark = pytest.mark.slow

SETTINGS = {
    "environment": {"name": "alfworld", "split": "procedural"},
    "tasks": 6,
    "model": {"temperature": 0.4},
    "arms": {"react": None, "short": {"reflector": "reflexion", "memory": {"size": 1}}},
    "limits": {"max_steps": 9},
}
WRITTEN = yaml.safe_dump(SETTINGS).encode()


def bomb(depth: int) -> bytes:
    """YAML whose aliases stand for ten times as many parts with every line."""
    lines = [b"environment: {name: alfworld, a0: &a0 [x, x]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, depth)]
    return b", ".join(lines) + b"}\n"


def told(read: Callable[[], Config]) -> str | None:
    """What is said by a refusal; None where the configuration is taken."""
    try:
        read()
    except UsageError as error:
        text = str(error)
        assert "\n" not in text
        assert len(text) < 10_000
        return text
    return None


# Node by node, what PyYAML reads ends in a dozen kinds of exceptions.
HARD = (
    b"trials: 2024-99-99\n",
    b"trials: !!int x\n",
    b"trials: !!int ''\n",
    b"trials: !!bool x\n",
    b"trials: !!timestamp x\n",
    b"trials: !!binary \xc3\xa4\n",
    b"trials: " + b"9" * 5000 + b"\n",
    b"? [1]\n: 2\n",
    b"1: 2\n",
    b"a: &a [*a]\n",
    b"a: &a {b: *a}\n",
    b"<<: 1\n",
    b"[" * 20_000,
    b"a: " + b"{b: " * 300 + b"1" + b"}" * 300,
    b"- " * 20_000,
    b"\xff\xfe",
    b"\x00",
    b"\xef\xbb\xbftrials: 2\n",
    b"--- 1\n--- 2\n",
    b"arms: {short: reflexion}\n",
    b"arms: {short: [reflexion]}\n",
    b"arms: {1: {}}\n",
    b"model: [\xed\xa0\x80]\n",
)


@pytest.mark.parametrize("data", HARD)
def test_a_hard_file_is_taken_or_refused_on_one_line(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(data)
    said = told(lambda: resolve([str(file)], {}))
    if data == b"\xef\xbb\xbftrials: 2\n":
        assert said is None
    else:
        assert said


@examples(200)
@given(
    spoilt(SETTINGS)
    | torn(WRITTEN)
    | TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass"))
    | SOME_BYTES
)
def test_any_file_is_a_configuration_or_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(data)
    told(lambda: resolve([str(file)], {}))


KEYS = st.sampled_from(
    ["trials", "arms", "limits.max_steps", "model", "memory.size", "environment", "a.b.c", "", "."]
)


@examples(60)
@given(KEYS, TEXTS | VALUES.map(str) | st.sampled_from([data.decode("utf-8", "replace") for data in HARD]))
@example("arms", "{short: reflexion}")
@example("arms", "{react: , short: {reflector: reflexion, memory: {size: 1}}}" + " " * 300)
@example("trials", "\x00")
@example("a" + ".a" * 5000, "1")
@example("x" * 300, "1")
@example("\ud800", "1")
def test_any_pair_of_key_and_value_is_taken_or_refused(key: str, value: str) -> None:
    said = told(lambda: resolve([f"{key}={value}"], {}))
    if (key, value[:1]) == ("arms", "{") and value.endswith("  "):
        assert said is None


@examples(100)
@given(TEXTS)
@example("a" * 300)
@example("\x00")
@example("a\n\n.yaml")
def test_any_name_of_a_configuration_is_found_or_refused(name: str) -> None:
    told(lambda: resolve([name], {}))


@pytest.mark.parametrize("source", ["file", "pair"])
def test_a_bomb_of_aliases_is_refused_at_once(tmp_path: Path, source: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(bomb(12))
    pair = bomb(12).decode().replace(": ", "=", 1)
    started = time.process_time()
    assert told(lambda: resolve([str(file) if source == "file" else pair], {}))
    assert time.process_time() - started < 5


def test_aliases_that_stay_small_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("arms:\n  one: &one {reflector: reflexion}\n  two: {<<: *one, memory: {size: 1}}\n")
    config: Any = resolve([str(file)], {})
    assert config.arms["two"].reflector == "reflexion"
