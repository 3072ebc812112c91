"""Fixtures for every test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Last in line, so that it shadows nothing: tests say `from loopback import Loopback`.
sys.path.append(str(Path(__file__).parent))

from loopback import Loopback


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    """An OpenAI-compatible server on this machine, and the script that it plays."""
    with Loopback() as server:
        yield server
