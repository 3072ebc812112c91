"""Keys from `.env`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.planning.env_file import read_env_file


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what a test sets, whichever way it is set."""
    monkeypatch.setenv("REFLEX_TRIED_SET", "exported")
    for name in ("REFLEX_TRIED_NEW", "REFLEX_TRIED_BARE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_variables_of_the_file_are_set_and_an_exported_one_wins(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        '# keys\nexport REFLEX_TRIED_NEW="sk-1 # not a comment"\nREFLEX_TRIED_SET=file\nREFLEX_TRIED_BARE\n'
    )
    read_env_file(tmp_path)
    assert os.environ["REFLEX_TRIED_NEW"] == "sk-1 # not a comment"
    assert os.environ["REFLEX_TRIED_SET"] == "exported"
    assert "REFLEX_TRIED_BARE" not in os.environ


def test_where_there_is_no_file_nothing_happens(tmp_path: Path) -> None:
    read_env_file(tmp_path)
    (tmp_path / ".env").mkdir()  # as Python's own virtual environments are sometimes called
    read_env_file(tmp_path)


def test_a_file_that_is_no_text_is_refused_and_its_content_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"OPENAI_API_KEY=sk-\xff\xfe")
    with pytest.raises(
        UsageError, match=r"\.env in this folder cannot be read: it is no UTF-8 text"
    ) as error:
        read_env_file(tmp_path)
    assert "sk-" not in str(error.value)
