"""Defaults of a working directory: `reflex.yaml`, or `[tool.reflex]` in its `pyproject.toml`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.planning.sources import SettingSource, read_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

YAML_FILE, TOML_FILE = "reflex.yaml", "pyproject.toml"
TABLE = f"[tool.reflex] in {TOML_FILE}"


def read_project(folder: Path) -> SettingSource | None:
    """Return the defaults that a folder gives, with the keys of a configuration file; None where it gives none.

    Raises:
        UsageError: both files give some, or one cannot be read.
    """
    table = _table(folder / TOML_FILE)
    path = folder / YAML_FILE
    if not path.is_file():
        return None if table is None else SettingSource(table, origin=TABLE)
    if table is not None:
        raise UsageError(f"{YAML_FILE} and {TABLE} both give defaults; keep one of them")
    return SettingSource(read_file(path, YAML_FILE), origin=YAML_FILE)


def _table(path: Path) -> dict[str, Any] | None:
    """Return the table of a `pyproject.toml`. A file that does not speak of it may be broken: it is not ours."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if b"reflex" not in content:
        return None
    try:
        tool = tomllib.loads(content.decode("utf-8")).get("tool", {})
    except (ValueError, RecursionError) as error:
        if b"tool.reflex" not in content:
            return None
        raise UsageError(f"{TOML_FILE}: not readable as TOML: {' '.join(str(error).split())[:300]}") from None
    table = tool.get("reflex") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{TABLE}: a table of settings is wanted")
    return table
