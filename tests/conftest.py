"""Fixtures for every test."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Last in line, so that it shadows nothing: tests say `from loopback import Loopback`.
sys.path.append(str(Path(__file__).parent))

from loopback import Loopback

from reflex_bench.envs.alfworld.official.package import missing_engine

# How long an example takes is the machine's affair, which may be busy.
# A change lands or does not for what it is, not for the examples that were drawn that day.
settings.register_profile("reflex", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("reflex")

MAX_LENGTH = ("test_load_and_chaos.py", "test_readme.py", "test_engine_official.py", "test_slow_run.py")
"""Files with the longest tests, as `--durations` prints them."""


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    """An OpenAI-compatible server on this machine, and the script that it plays."""
    with Loopback() as server:
        yield server


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs the official engine where that is not installed."""
    if item.get_closest_marker("official") and (missing := missing_engine()):
        pytest.skip(missing)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as fast what starts no process and loads no large data, and put it last.

    Files are handed to the cores in this order. Those with the longest tests come first, so that no core is left with
    one of them at the end.
    """
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        if folder in ("agents", "envs", "harness", "models") and not any(
            map(item.get_closest_marker, ("official", "slow"))
        ):
            item.add_marker("fast")
    slow = {item.path for item in items if not item.get_closest_marker("fast")}
    items.sort(key=lambda item: (item.path not in slow, item.path.name not in MAX_LENGTH))
