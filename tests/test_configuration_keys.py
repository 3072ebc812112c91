"""The page of configuration keys is what the code makes of it today, and names every key."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from reflex_bench.harness.planning.config import Config

ROOT = Path(__file__).parent.parent


def test_the_page_of_configuration_keys_is_made_from_the_code() -> None:
    spec = importlib.util.spec_from_file_location("config_keys", ROOT / "scripts" / "config_keys.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (ROOT / "docs" / "configuration_keys.md").read_text(encoding="utf-8")
    assert module.page() == written, "run: .venv/bin/python scripts/config_keys.py"
    for key in (*Config.model_fields, "limits.max_steps", "memory.kind", "environment.split", "layout.form"):
        assert f"| `{key}" in written
