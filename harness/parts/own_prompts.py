"""Prompts of a person's own, as a configuration names them, and an environment that has them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.envs.base import Environment, Prompts
from reflex_bench.envs.prompts.own import with_texts

_MAX_SIZE = 1_000_000
"""Characters of a file; the longest that ships has 20,000."""


def read_prompts(setting: Any) -> Any:
    """Return `{name, text}` for the name of a file, or of one in `configs/prompts`; anything else as it is.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        ValueError: it is a mapping of other keys.
    """
    if isinstance(setting, Mapping) and set(setting) != {"name", "text"}:
        raise ValueError("name a YAML file, or prompts that ship with the package")
    if not isinstance(setting, str):
        return setting
    path = Path(setting)
    if not path.is_file():
        shipped = {
            each.stem: each
            for each in sorted(Path(str(files("reflex_bench.configs"))).glob("prompts/*.yaml"))
        }
        if setting.removesuffix(".yaml") not in shipped:
            raise unknown("prompts (a YAML file, or a shipped name)", setting[:200], shipped)
        path = shipped[setting.removesuffix(".yaml")]
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the prompts {setting[:200]}: {error}") from None
    if len(text) > _MAX_SIZE:
        raise UsageError(f"the prompts {setting[:200]} have {len(text):,} characters; at most {_MAX_SIZE:,}")
    return {"name": path.name, "text": text}


def with_prompts(environment: Environment, own: Mapping[str, str] | None) -> Environment:
    """Return the environment with the texts of a file in place of its own; the environment itself where there are none.

    Raises:
        UsageError: the texts cannot be put in that place; with file and line.
    """
    if own is None:
        return environment
    texts = with_texts(environment.prompts, own["text"], own["name"])

    def prompts(_: Any) -> Prompts:
        return texts

    # A copy whose class differs in this one attribute: everything else of it, optional parts too, stays what it is.
    kind = type(environment)
    changed = copy.copy(environment)
    changed.__class__ = cast(
        Any, type(kind.__name__, (kind,), {"__slots__": (), "prompts": property(prompts)})
    )
    return changed
