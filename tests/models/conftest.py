"""Fixtures for the tests of models."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest
from clock import Clock
from loopback import MODEL, Loopback

from reflex_bench.models.openai.model import OpenAIModel
from reflex_bench.models.options import ModelOptions


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The only clock there is, for models opened with `stopping=clock`."""
    made = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: made.now)
    return made


@pytest.fixture
def connect(loopback: Loopback) -> Iterator[Callable[..., OpenAIModel]]:
    """Opens a model at the loopback server; two retries, two seconds, little patience unless told otherwise."""
    with ExitStack() as stack:

        def opened(
            name: str = MODEL, key: str = "", url: str = loopback.base_url, **options: object
        ) -> OpenAIModel:
            given = ModelOptions(**{"timeout": 2.0, "max_retries": 2, "patience": 2.0, **options})
            return stack.enter_context(closing(OpenAIModel(name, url, key, given)))

        yield opened
