"""What several tests of the harness need."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Registers `Numbers` and `Scripted`; returns a folder for a run."""
    info = tmp_path / "package" / "small_world-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: small-world\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[reflex_bench.environments]\nnumbers = small_world:create\n"
        "[reflex_bench.models]\nscripted = small_world:open_model\n"
    )
    monkeypatch.syspath_prepend(info.parent)
    return tmp_path / "run"
