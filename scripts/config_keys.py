"""Writes docs/configuration_keys.md: every key of a configuration with its default and meaning, from the code."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from reflex_bench.envs.alfworld.environment import Options as AlfworldOptions
from reflex_bench.envs.hotpotqa.environment import Options as HotpotqaOptions
from reflex_bench.harness.planning.config import Config

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration_keys.md"
HEAD = """# Every key of a configuration

`scripts/config_keys.py` makes this page from the code. `reflex config` prints the values that hold here and now, and
where each comes from; [configuration.md](configuration.md) shows how they are set.
"""


def page() -> str:
    """Return the page as Markdown."""
    parts: list[tuple[str, str, type[BaseModel]]] = [
        ("Of a run", "", Config),
        ("Of ALFWorld", "environment.", AlfworldOptions),
        ("Of HotPotQA", "environment.", HotpotqaOptions),
    ]
    tables = (f"\n## {title}\n\n{_table(list(_rows(model, before)))}" for title, before, model in parts)
    return HEAD + "".join(tables)


def _table(rows: list[tuple[str, str, str]]) -> str:
    lines = [f"| `{key}` | {default} | {meaning} |" for key, default, meaning in rows]
    return "\n".join(["| key | default | meaning |", "|---|---|---|", *lines]) + "\n"


def _rows(model: type[BaseModel], before: str) -> Iterator[tuple[str, str, str]]:
    told = _docstrings(model)
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from _rows(type(default), f"{before}{name}.")
            continue
        yield f"{before}{name}", _shown(default), " ".join(told.get(name, "").split()).replace("|", "\\|")


def _shown(default: Any) -> str:
    if isinstance(default, dict):
        return f"`{', '.join(map(str, default))}`" if default else "empty"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return "none" if default is None or default == () else f"`{default}`"


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return what stands beneath every field of a model and of those that it is made from."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if not issubclass(each, BaseModel) or each is BaseModel:
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(each))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
                continue
            if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                found[field.target.id] = re.sub(r"\s+", " ", str(text.value.value))
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
