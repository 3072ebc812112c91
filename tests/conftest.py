"""Fixtures for every test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Last in line, so that it shadows nothing: tests say `from loopback import Loopback`.
sys.path.append(str(Path(__file__).parent))

from loopback import Loopback

from reflex_bench.envs.alfworld.package import missing_engine


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    """An OpenAI-compatible server on this machine, and the script that it plays."""
    with Loopback() as server:
        yield server


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs the official engine where that is not installed."""
    if item.get_closest_marker("official") and (missing := missing_engine()):
        pytest.skip(missing)
